//! What is wanted of an output beside being a translation: how it begins, what it says and what it does not.

use gatto_data::Frames;
use gatto_data::images::Pixels;
use gatto_data::tokens::{END, Kind, PAD, SEPARATOR, START, Tokenizer, UNKNOWN};
use gatto_search::{Required, Wanted};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Constraints on one output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Constraints {
    /// The text that it begins with.
    pub prefix: String,
    /// The tokens that it begins with, by their numbers, in place of a text: one that ends inside a word cannot always be
    /// written as text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefix_tokens: Vec<u32>,
    /// Phrases that must appear.
    pub must: Vec<String>,
    /// Phrases that must not appear. One that the model cannot write anyway is no mistake.
    pub never: Vec<String>,
}

/// What is to be read.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// A text.
    Text(&'a str),
    /// An image, prepared as the model's configuration says.
    Image(&'a Pixels),
    /// A sound, prepared as the model's configuration says.
    Sound(&'a Frames),
}

impl Asked<'_> {
    /// What it is, in a word.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Image(_) => "an image",
            Self::Sound(_) => "a sound",
        }
    }
}

impl<'a> From<&'a str> for Asked<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Pixels> for Asked<'a> {
    fn from(image: &'a Pixels) -> Self {
        Self::Image(image)
    }
}

impl<'a> From<&'a Frames> for Asked<'a> {
    fn from(frames: &'a Frames) -> Self {
        Self::Sound(frames)
    }
}

/// A source, and the constraints on its output.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The source.
    pub source: Asked<'a>,
    /// What is wanted of its output.
    pub constraints: &'a Constraints,
}

impl<'a> Request<'a> {
    /// A source whose output is free.
    pub fn free(source: impl Into<Asked<'a>>) -> Self {
        static NONE: Constraints = Constraints {
            prefix: String::new(),
            prefix_tokens: Vec::new(),
            must: Vec::new(),
            never: Vec::new(),
        };
        Self::new(source, &NONE)
    }

    /// A source whose output is constrained.
    pub fn new(source: impl Into<Asked<'a>>, constraints: &'a Constraints) -> Self {
        Self { source: source.into(), constraints }
    }
}

/// Why constraints cannot be met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintProblem {
    /// A phrase has no tokens.
    #[error("a phrase that must or must not appear is empty; leave it out")]
    Empty,
    /// A beginning is given twice.
    #[error("the beginning is given as a text and as tokens; leave one of them out")]
    TwoBeginnings,
    /// A token of the beginning is none that is written.
    #[error(
        "token {token} cannot begin an output: the model writes tokens from {UNKNOWN} to {last}, and none of its marks"
    )]
    NoToken {
        /// The token.
        token: u32,
        /// The last of the vocabulary.
        last: usize,
    },
    /// A phrase has something that is not in the vocabulary.
    #[error("`{phrase}` cannot be written: `{part}` is not in the vocabulary of the model; take other words")]
    CannotWrite {
        /// The phrase, or the beginning.
        phrase: String,
        /// What of it is not in the vocabulary.
        part: String,
    },
    /// A phrase must appear and must not.
    #[error("`{must}` must appear, and `{never}` in it must not; leave one of them out")]
    Contradiction {
        /// The phrase that must appear.
        must: String,
        /// What of it must not.
        never: String,
    },
    /// The beginning, or a phrase behind it, is longer than outputs may be.
    #[error(
        "`{phrase}` needs {needed} tokens with what stands before it and the end, and at most {most} are written; \
         raise `max_length`, or ask for less"
    )]
    NoRoom {
        /// The phrase, or the beginning.
        phrase: String,
        /// The tokens that are needed.
        needed: usize,
        /// The most that are written.
        most: usize,
    },
}

impl Constraints {
    /// Refuses what cannot be met, whatever the source.
    pub fn check(&self, tokenizer: &Tokenizer) -> Result<(), ConstraintProblem> {
        self.wanted(tokenizer, 0, usize::MAX).map(drop)
    }

    /// The constraints as tokens, for an output of `shortest` to `longest` tokens.
    pub(crate) fn wanted(
        &self,
        tokenizer: &Tokenizer,
        shortest: usize,
        longest: usize,
    ) -> Result<Wanted, ConstraintProblem> {
        let prefix = self.beginning(tokenizer)?;
        let room = |phrase: &str, tokens: usize| match prefix.len() + tokens < longest {
            true => Ok(()),
            false => Err(ConstraintProblem::NoRoom {
                phrase: phrase.to_owned(),
                needed: prefix.len() + tokens + 1,
                most: longest,
            }),
        };
        match self.prefix_tokens.is_empty() {
            true => room(&self.prefix, 0)?,
            false => room(&tokenizer.decode(&prefix), 0)?,
        }
        let mut phrases = Vec::with_capacity(self.must.len());
        for phrase in &self.must {
            let required = required(tokenizer, phrase)?;
            let opening = Some(required.opening.len()).filter(|&tokens| tokens > 0 && prefix.is_empty());
            room(phrase, opening.map_or(required.tokens.len(), |tokens| tokens.min(required.tokens.len())))?;
            phrases.push(required);
            let contains = |never: &&String| {
                let [must, never] = [phrase, *never].map(|phrase| tokenizer.normalise(phrase));
                let letters = matches!(tokenizer.kind(), Kind::Char | Kind::Byte);
                if letters { must.contains(&never) } else { appears(&must, &never) }
            };
            if let Some(never) = self.never.iter().filter(|never| !never.trim().is_empty()).find(contains) {
                return Err(ConstraintProblem::Contradiction { must: phrase.clone(), never: never.clone() });
            }
        }
        let mut never = Vec::new();
        for phrase in &self.never {
            let tokens = tokenizer.encode(phrase);
            if tokens.is_empty() {
                return Err(ConstraintProblem::Empty);
            }
            // Where pieces can make a word in many ways, the one that was written is forbidden when it was.
            if !has_pieces(tokenizer) && !tokens.contains(&UNKNOWN) {
                never.push(tokens);
            }
        }
        let min_length = shortest.saturating_sub(prefix.len());
        let max_length = longest - prefix.len();
        Ok(Wanted { prefix, min_length, max_length, phrases, never })
    }

    /// Tokens side by side in an output that must not be, if there are any: they have written a phrase that must
    /// not appear, or have made one that must appear a part of another word. What is in the beginning, of
    /// `given` tokens, was asked for, and so is what other phrases are made of.
    pub(crate) fn breach(&self, tokenizer: &Tokenizer, tokens: &[u32], given: usize) -> Option<Vec<u32>> {
        if !has_pieces(tokenizer) || (self.never.is_empty() && self.must.is_empty()) {
            return None;
        }
        let text = tokenizer.decode(tokens);
        let never = self.never.iter().map(|phrase| tokenizer.normalise(phrase));
        let forbidden =
            never.flat_map(|phrase| places(&text, &phrase).collect::<Vec<_>>()).find_map(|place| {
                let length = |count: usize| tokenizer.decode(&tokens[..count]).len();
                let end = (0..=tokens.len()).find(|&count| length(count) >= place.end)?;
                let start = (0..end).rev().find(|&count| length(count) <= place.start)?;
                (end > given).then(|| tokens[start..end].to_vec())
            });
        forbidden.or_else(|| {
            let missing = self.must.iter().filter(|phrase| !appears(&text, &tokenizer.normalise(phrase)));
            let all: Vec<Required> =
                self.must.iter().filter_map(|phrase| required(tokenizer, phrase).ok()).collect();
            let wanted = |window: &[u32]| {
                let holds = |whole: &[u32]| whole.windows(window.len()).any(|part| part == window);
                all.iter().any(|required| holds(&required.tokens) || holds(&required.opening))
            };
            missing
                .filter_map(|phrase| glued(&required(tokenizer, phrase).ok()?, tokens))
                .find(|window| !wanted(window))
        })
    }

    /// The tokens that an output begins with. Where a space belongs to the word behind it, a text has none at the end.
    fn beginning(&self, tokenizer: &Tokenizer) -> Result<Vec<u32>, ConstraintProblem> {
        let text = if has_pieces(tokenizer) { self.prefix.trim_end() } else { &self.prefix };
        if self.prefix_tokens.is_empty() {
            return writable(tokenizer, text);
        }
        if !self.prefix.is_empty() {
            return Err(ConstraintProblem::TwoBeginnings);
        }
        let size = tokenizer.size();
        let is_written =
            |token: u32| (token as usize) < size && ![PAD, START, END, SEPARATOR].contains(&token);
        match self.prefix_tokens.iter().find(|&&token| !is_written(token)) {
            None => Ok(self.prefix_tokens.clone()),
            Some(&token) => Err(ConstraintProblem::NoToken { token, last: size.saturating_sub(1) }),
        }
    }
}

/// Whether tokens are pieces of words, which have the space before them.
fn has_pieces(tokenizer: &Tokenizer) -> bool {
    matches!(tokenizer.kind(), Kind::Bpe | Kind::Unigram)
}

/// The tokens of a phrase inside a sentence and, where they are others, at its beginning.
fn required(tokenizer: &Tokenizer, phrase: &str) -> Result<Required, ConstraintProblem> {
    let phrase = if has_pieces(tokenizer) { phrase.trim() } else { phrase };
    let tokens = writable(tokenizer, phrase)?;
    if tokens.is_empty() {
        return Err(ConstraintProblem::Empty);
    }
    if !has_pieces(tokenizer) || !phrase.chars().next().is_some_and(is_letter_behind_a_space) {
        return Ok(tokens.into());
    }
    Ok(Required { tokens: writable(tokenizer, &format!(" {phrase}"))?, opening: tokens })
}

/// Whether a word that begins so has a space before it: not in scripts that are written without spaces, and not
/// what is no word.
fn is_letter_behind_a_space(letter: char) -> bool {
    let south_east_asia =
        matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    let hangul = matches!(letter, '\u{ac00}'..='\u{d7af}');
    letter.is_alphanumeric() && ((letter < '\u{2e80}' && !south_east_asia) || hangul)
}

/// The tokens of a text that the model can write as it stands.
fn writable(tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>, ConstraintProblem> {
    let tokens = tokenizer.encode(text);
    if !tokens.contains(&UNKNOWN) {
        return Ok(tokens);
    }
    let unknown = tokenizer.encode_with_spans(text).into_iter().find(|(token, _)| *token == UNKNOWN);
    let part = unknown.and_then(|(_, span)| text.get(span)).unwrap_or(text);
    Err(ConstraintProblem::CannotWrite { phrase: text.trim().to_owned(), part: part.to_owned() })
}

/// The tokens of a phrase, and the piece behind it that makes it a part of another word.
fn glued(Required { tokens: inside, opening }: &Required, tokens: &[u32]) -> Option<Vec<u32>> {
    let opens = !opening.is_empty() && tokens.starts_with(opening);
    let place = || (0..tokens.len()).find(|&at| tokens[at..].starts_with(inside));
    let (start, length) = if opens { (0, opening.len()) } else { (place()?, inside.len()) };
    tokens.get(start..=start + length).map(<[u32]>::to_vec)
}

/// Whether a phrase stands in a text as words, and not as a part of words.
fn appears(text: &str, phrase: &str) -> bool {
    places(text, phrase).next().is_some()
}

/// Where it does, in bytes.
fn places<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let joins = |outer: Option<char>, inner: Option<char>| {
        outer.is_some_and(char::is_alphanumeric) && inner.is_some_and(is_letter_behind_a_space)
    };
    text.match_indices(phrase.trim()).filter_map(move |(start, found)| {
        let end = start + found.len();
        let (before, behind) = (text[..start].chars().next_back(), text[end..].chars().next());
        let part = joins(before, found.chars().next()) || joins(behind, found.chars().next_back());
        (!part).then_some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatto_data::tokens::Recipe;

    fn tokenizer(kind: Kind) -> Tokenizer {
        let texts = ["the cat is on the table", "the cats sat on the mat", "a category of cats: the cat"];
        let recipe = Recipe { kind, size: 300, ..Recipe::default() };
        Tokenizer::train(&recipe, texts.map(str::to_owned)).unwrap()
    }

    fn constraints(prefix: &str, must: &[&str], never: &[&str]) -> Constraints {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Constraints {
            prefix: prefix.to_owned(),
            must: own(must),
            never: own(never),
            ..Constraints::default()
        }
    }

    #[test]
    fn words_are_words() {
        let tokenizer = tokenizer(Kind::Word);
        let wanted =
            constraints("the cat ", &["on the mat"], &["sat", "dog"]).wanted(&tokenizer, 4, 9).unwrap();
        assert_eq!(wanted.prefix, tokenizer.encode("the cat"));
        assert_eq!(wanted.phrases, [Required::from(tokenizer.encode("on the mat"))]);
        assert_eq!(wanted.never, [tokenizer.encode("sat")], "what cannot be written needs no rule");
        assert_eq!((wanted.min_length, wanted.max_length), (2, 7));
    }

    #[test]
    fn what_cannot_be_met_is_told() {
        let words = tokenizer(Kind::Word);
        let problem = |prefix: &str, must: &[&str], never: &[&str], longest: usize| {
            constraints(prefix, must, never).wanted(&words, 0, longest).unwrap_err().to_string()
        };
        assert_eq!(
            problem("", &["the dog"], &[], 9),
            "`the dog` cannot be written: `dog` is not in the vocabulary of the model; take other words"
        );
        assert!(problem("a dog", &[], &[], 9).contains("`dog`"));
        let empty = "a phrase that must or must not appear is empty; leave it out";
        assert_eq!([problem("", &[" "], &[], 9), problem("", &[], &[""], 9)], [empty; 2]);
        assert!(problem("the cat", &["the mat"], &[], 4).contains("needs 5 tokens"));
        assert!(problem("", &["the cat sat"], &["cat"], 9).contains("`cat` in it must not"));
        assert!(problem("the cat", &[], &[], 2).contains("needs 3 tokens"));
        assert_eq!(constraints("the cat", &["the mat"], &[]).check(&words), Ok(()));
    }

    #[test]
    fn a_beginning_may_be_given_by_its_tokens() {
        let tokenizer = tokenizer(Kind::Bpe);
        let begun = |prefix_tokens: &[u32]| Constraints {
            prefix_tokens: prefix_tokens.to_vec(),
            ..Constraints::default()
        };
        let letters: Vec<u32> = "cat".chars().flat_map(|c| tokenizer.encode(&c.to_string())).collect();
        assert_ne!(letters, tokenizer.encode("cat"), "no text is cut so");
        let wanted = begun(&letters).wanted(&tokenizer, 0, 9).unwrap();
        assert_eq!((wanted.prefix, wanted.max_length), (letters.clone(), 9 - letters.len()));
        let last = tokenizer.size() as u32;
        for bad in [PAD, START, END, SEPARATOR, last, u32::MAX] {
            let problem = begun(&[letters[0], bad]).check(&tokenizer).unwrap_err();
            assert_eq!(problem, ConstraintProblem::NoToken { token: bad, last: last as usize - 1 });
        }
        assert!(matches!(begun(&letters).wanted(&tokenizer, 0, 3), Err(ConstraintProblem::NoRoom { .. })));
        let both = Constraints { prefix: "the".to_owned(), ..begun(&letters) };
        assert_eq!(both.check(&tokenizer), Err(ConstraintProblem::TwoBeginnings));
    }

    #[test]
    fn pieces_have_a_space_before_them_unless_they_come_first() {
        let tokenizer = tokenizer(Kind::Bpe);
        let wanted = constraints("the ", &["cat"], &["mat"]).wanted(&tokenizer, 0, 20).unwrap();
        assert_eq!(wanted.prefix, tokenizer.encode("the"));
        let required = Required { tokens: tokenizer.encode(" cat"), opening: tokenizer.encode("cat") };
        assert_eq!(wanted.phrases, [required]);
        let sign = constraints("", &[":"], &[]).wanted(&tokenizer, 0, 20).unwrap();
        assert_eq!(sign.phrases, [Required::from(tokenizer.encode(":"))], "signs stand behind a word");
        assert!(wanted.never.is_empty());
    }

    #[test]
    fn what_must_not_appear_is_found_however_it_was_written() {
        let tokenizer = tokenizer(Kind::Bpe);
        let never = constraints("", &[], &["cat"]);
        let breach = |tokens: &[u32], given| never.breach(&tokenizer, tokens, given);
        let whole = tokenizer.encode("the cat is on the mat");
        let window = breach(&whole, 0).unwrap();
        assert_eq!(tokenizer.decode(&window).trim(), "cat");
        let letters: Vec<u32> = " cat".chars().flat_map(|c| tokenizer.encode(&c.to_string())).collect();
        let spelt = [tokenizer.encode("the"), letters.clone(), tokenizer.encode(" is")].concat();
        assert_eq!(tokenizer.decode(&breach(&spelt, 0).unwrap()).trim(), "cat");
        assert_eq!(breach(&spelt, tokenizer.encode("the").len() + letters.len()), None, "it was asked for");
        let again = [spelt.clone(), tokenizer.encode(" cat")].concat();
        let window = breach(&again, tokenizer.encode("the").len() + letters.len()).unwrap();
        assert_eq!(window, tokenizer.encode(" cat"), "but only once");
        assert_eq!(breach(&tokenizer.encode("a category of cats"), 0), None, "these are other words");
    }

    #[test]
    fn what_must_appear_is_no_part_of_another_word() {
        let tokenizer = tokenizer(Kind::Bpe);
        let must = constraints("", &["cat"], &[]);
        let breach = |parts: &[&str]| {
            let tokens: Vec<u32> = parts.iter().flat_map(|part| tokenizer.encode(part)).collect();
            must.breach(&tokenizer, &tokens, 0).map(|tokens| tokenizer.decode(&tokens))
        };
        assert_eq!(breach(&["the", " cat", "e", " is"]).as_deref(), Some(" cate"));
        assert_eq!(breach(&["cat", "e", " is"]).as_deref(), Some("cate"));
        assert_eq!(breach(&["the", " cat", "e", " of the", " cat"]), None, "it stands there as well");
        assert_eq!(breach(&["the", " cat"]), None);
        let both = constraints("", &["cat", "cate"], &[]);
        let tokens = ["the", " cat", "e"].map(|part| tokenizer.encode(part)).concat();
        assert_eq!(both.breach(&tokenizer, &tokens, 0), None, "the other phrase needs it");
    }

    #[test]
    fn a_phrase_appears_as_words() {
        assert!(appears("the cat's mat", "cat"));
        assert!(appears("a cat", "cat") && appears("cat", "cat") && appears("(cat)", "cat"));
        assert!(!appears("concat category", "cat"));
        assert!(appears("大きい猫です", "猫"), "scripts without spaces have no such borders");
        assert!(appears("50 % off", "%") && appears("50% off", "%"));
    }
}
