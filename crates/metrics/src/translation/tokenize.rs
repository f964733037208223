//! How BLEU parts a line into tokens: the tokenizers of sacreBLEU that need no further data.

use super::TranslationError;
use super::text::{is_space, joined};
use crate::category::CATEGORIES;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// How a line is parted into tokens.
///
/// ```
/// use gatto_metrics::translation::Tokenizer;
/// let line = "It costs &quot;3,50&quot; (at-home).";
/// assert_eq!(Tokenizer::V13a.tokenize(line), "It costs \" 3,50 \" ( at-home ) .");
/// assert_eq!(Tokenizer::None.tokenize(line), line);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tokenizer {
    /// `13a`: punctuation of Western languages, as the script mteval-v13a does it.
    #[default]
    V13a,
    /// `intl`: all punctuation and symbols of Unicode, as the script mteval-v14 does it.
    International,
    /// `char`: every character.
    Characters,
    /// `zh`: Chinese characters and punctuation one by one, the rest like `13a`.
    Chinese,
    /// `none`: only white space parts tokens.
    None,
}

impl Tokenizer {
    /// Every tokenizer.
    pub const ALL: [Self; 5] = [Self::V13a, Self::International, Self::Characters, Self::Chinese, Self::None];

    /// The name, as in a signature.
    pub fn name(self) -> &'static str {
        match self {
            Self::V13a => "13a",
            Self::International => "intl",
            Self::Characters => "char",
            Self::Chinese => "zh",
            Self::None => "none",
        }
    }

    /// The tokens of a line, one space apart.
    pub fn tokenize(self, line: &str) -> String {
        joined(&self.separate(line))
    }

    /// The line with white space between all tokens, and perhaps too much of it.
    pub(super) fn separate(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::V13a => separate_western(&format!(" {} ", unescape_13a(line))).into(),
            Self::International => separate_international(line).into(),
            Self::Characters => pad_each(line, |_| true).into(),
            Self::Chinese => separate_western(&pad_each(line.trim_matches(is_space), is_chinese)).into(),
            Self::None => line.into(),
        }
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Tokenizer {
    type Err = TranslationError;

    fn from_str(name: &str) -> Result<Self, TranslationError> {
        let found = Self::ALL.into_iter().find(|tokenizer| tokenizer.name() == name);
        found.ok_or_else(|| TranslationError::Tokenizer { name: name.to_owned() })
    }
}

/// Which of two neighbours gets white space on both sides.
enum Padded {
    First,
    Second,
}

/// White space around one of two neighbours, wherever they are such a pair. Pairs are looked for
/// from left to right, and a character belongs to one pair at most.
fn pad_pairs(text: &str, padded: Padded, is_pair: impl Fn(char, char) -> bool) -> String {
    let mut separated = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text.chars();
    let Some(mut first) = rest.next() else { return separated };
    while let Some(second) = rest.next() {
        if !is_pair(first, second) {
            separated.push(first);
            first = second;
            continue;
        }
        match padded {
            Padded::First => separated.extend([' ', first, ' ', second]),
            Padded::Second => separated.extend([first, ' ', second, ' ']),
        }
        match rest.next() {
            Some(next) => first = next,
            None => return separated,
        }
    }
    separated.push(first);
    separated
}

/// White space around each character of a kind.
pub(super) fn pad_each(text: &str, is_kind: impl Fn(char) -> bool) -> String {
    let mut separated = String::with_capacity(text.len() + text.len() / 2);
    for character in text.chars() {
        if is_kind(character) {
            separated.extend([' ', character, ' ']);
        } else {
            separated.push(character);
        }
    }
    separated
}

/// Replaces a text wherever it occurs; free where it does not.
pub(super) fn replace<'a>(text: Cow<'a, str>, from: &str, to: &str) -> Cow<'a, str> {
    if text.contains(from) { text.replace(from, to).into() } else { text }
}

/// Turns the escapes of XML for `"`, `&`, `<` and `>` back, one after the other.
pub(super) fn unescape(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('&') {
        return text;
    }
    let escapes = [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")];
    escapes.into_iter().fold(text, |text, (escape, character)| replace(text, escape, character))
}

fn unescape_13a(line: &str) -> Cow<'_, str> {
    let steps = [("<skipped>", ""), ("-\n", ""), ("\n", " ")];
    unescape(steps.into_iter().fold(line.into(), |line, (from, to)| replace(line, from, to)))
}

/// ASCII punctuation but for `'`, `,`, `-` and `.`.
pub(super) fn is_western_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() && !matches!(character, '\'' | ',' | '-' | '.')
}

/// The part that the tokenizers `13a`, `zh` and that of TER share: punctuation stands alone, a full
/// stop or comma only where it is not between digits, a hyphen only behind a digit.
fn separate_western(text: &str) -> String {
    separate_stops(pad_each(text, is_western_punctuation))
}

/// Full stops, commas and hyphens, of a text whose other punctuation stands alone already.
pub(super) fn separate_stops(mut text: String) -> String {
    let is_stop = |character| matches!(character, '.' | ',');
    if text.contains(is_stop) {
        text = pad_pairs(&text, Padded::Second, |a, b| is_stop(b) && !a.is_ascii_digit());
        text = pad_pairs(&text, Padded::First, |a, b| is_stop(a) && !b.is_ascii_digit());
    }
    if text.contains('-') {
        text = pad_pairs(&text, Padded::Second, |a, b| b == '-' && a.is_ascii_digit());
    }
    text
}

/// Punctuation stands alone unless it is between numbers, symbols always.
fn separate_international(line: &str) -> String {
    let categories = &*CATEGORIES;
    let (is_mark, is_number) = (|c| categories.punctuation.has(c), |c| categories.number.has(c));
    let behind = pad_pairs(line, Padded::Second, |a, b| is_mark(b) && !is_number(a));
    let before = pad_pairs(&behind, Padded::First, |a, b| is_mark(a) && !is_number(b));
    pad_each(&before, |c| categories.symbol.has(c))
}

/// What sacreBLEU takes for Chinese. The range from U+2001 is not; it was meant to begin at
/// U+20000, and with it go dashes, quotation marks, arrows and mathematical signs.
fn is_chinese(character: char) -> bool {
    matches!(character,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for tokenizer in Tokenizer::ALL {
            assert_eq!(tokenizer.name().parse(), Ok(tokenizer));
        }
        let unknown = "14a".parse::<Tokenizer>().unwrap_err();
        assert_eq!(unknown.to_string(), "`14a` is not a tokenizer; choose one of 13a, intl, char, zh, none");
    }

    #[test]
    fn categories_are_those_of_unicode() {
        let categories = &*CATEGORIES;
        assert!(['.', '-', '«', '。', '_'].iter().all(|&c| categories.punctuation.has(c)));
        assert!(['+', '$', '€', '°', '😀'].iter().all(|&c| categories.symbol.has(c)));
        assert!(['0', '½', '٣', 'Ⅷ'].iter().all(|&c| categories.number.has(c)));
        assert!(!['a', ' ', '字', '\u{301}'].iter().any(|&c| {
            categories.punctuation.has(c) || categories.symbol.has(c) || categories.number.has(c)
        }));
    }
}
