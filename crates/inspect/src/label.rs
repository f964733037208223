//! Tokens as text of a picture: nothing in them may move the cursor, break a line or turn its neighbours around.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A token made visible on one line: white space and control characters as signs. Characters that change the
/// direction of what follows become U+FFFD too: a token has its own direction, and no other.
pub(crate) fn visible(text: &str) -> String {
    if text.is_empty() {
        return "∅".to_owned();
    }
    let blank = text.chars().all(|character| character == ' ');
    let sign = |character: char| match character {
        ' ' if blank => '␣',
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '↵',
        '\t' => '⇥',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ if character.is_control() || turns(character) => '\u{fffd}',
        _ => character,
    };
    text.chars().map(sign).collect()
}

/// The first `most` characters (as a reader counts them), the last of them `…` if some were left out.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.grapheme_indices(true).nth(most) {
        None => visible(text),
        Some(_) => visible(&text.graphemes(true).take(most.saturating_sub(1)).collect::<String>()) + "…",
    }
}

/// A token in exactly `width` columns of a terminal: cut with `…`, or filled with spaces before it or after it.
pub(crate) fn fit(text: &str, width: usize, align: Align) -> String {
    let mut shown = visible(text);
    if shown.width() > width {
        let mut cut = String::new();
        for piece in shown.graphemes(true) {
            if cut.width() + piece.width() + 1 > width {
                break;
            }
            cut.push_str(piece);
        }
        cut.push('…');
        shown = if width == 0 { String::new() } else { cut };
    }
    let spaces = width.saturating_sub(shown.width());
    let (before, after) = match align {
        Align::Left => (0, spaces),
        Align::Right => (spaces, 0),
        Align::Middle => (spaces / 2, spaces - spaces / 2),
    };
    format!("{}{}{}", " ".repeat(before), isolate(&shown), " ".repeat(after))
}

/// Where a text stands in a wider column.
#[derive(Clone, Copy)]
pub(crate) enum Align {
    Left,
    Right,
    Middle,
}

/// The columns of a terminal that a token fills.
pub(crate) fn columns(text: &str) -> usize {
    visible(text).width()
}

/// Text with a right-to-left part, isolated (U+2068 … U+2069) from what stands beside it.
///
/// Without this a terminal that knows right-to-left scripts takes the numbers behind an Arabic or Hebrew token as
/// a part of it, and shows the row in reverse; and an exclamation mark that ends the token would stand at the
/// wrong side of it. Text without such a part is left alone, so that it holds no invisible characters. Both sides
/// of an arrow are isolated by themselves: between two right-to-left texts it would point the wrong way.
pub(crate) fn isolate(text: &str) -> String {
    let isolated = |part: &str| match part.chars().any(is_right_to_left) {
        true => format!("\u{2068}{part}\u{2069}"),
        false => part.to_owned(),
    };
    text.split(ARROW).map(isolated).collect::<Vec<_>>().join(ARROW)
}

/// What titles have between source and target.
const ARROW: &str = " → ";

/// Whether a character is written from right to left: the blocks that Unicode sets aside for such scripts.
fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Whether a character sets the direction of others: marks, embeddings, overrides and isolates.
fn turns(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The width of a line of text in a wide proportional font, guessed: there is no font to measure here.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let em = |character: char| match (character, character.width().unwrap_or(0)) {
        (_, 0) => 0.0,
        ('i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!', _) => 0.34,
        ('m' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '→' | '▁' | '+' | '−' | '×', _) => 0.9,
        (_, 2..) => 1.0,
        _ if character.is_uppercase() => 0.72,
        _ => 0.63,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// As much of a line as fits into `width` pixels.
pub(crate) fn cut(text: &str, font: f64, width: f64) -> String {
    let mut most = text.chars().count().min(500);
    let mut line = shorten(text, most);
    while most > 1 && text_width(&line, font) > width {
        most -= 1;
        line = shorten(text, most);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_or_the_text_becomes_a_sign() {
        assert_eq!(visible(" "), "␣");
        assert_eq!(visible("a b\n\t"), "a b↵⇥");
        assert_eq!(visible("\u{1b}[2J\u{9b}\u{202e}x\u{7}"), "\u{fffd}[2J\u{fffd}\u{fffd}x\u{fffd}");
        assert_eq!(visible(""), "∅");
        // A joiner is part of how the word is written.
        assert_eq!(visible("می\u{200c}خواهم"), "می\u{200c}خواهم");
    }

    #[test]
    fn tokens_are_cut_between_characters() {
        assert_eq!(fit("tavolo", 6, Align::Left), "tavolo");
        assert_eq!(fit("tavolino", 6, Align::Left), "tavol…");
        assert_eq!(fit("机器学习", 6, Align::Left), "机器… ");
        assert_eq!(fit("机器学习", 8, Align::Right), "机器学习");
        assert_eq!(fit("e\u{301}e\u{301}e\u{301}", 2, Align::Left), "e\u{301}…");
        assert_eq!(fit("on", 5, Align::Middle), " on  ");
        assert_eq!(fit("on", 5, Align::Right), "   on");
        assert_eq!(fit("on", 0, Align::Right), "");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("abcd", 4), "abcd");
    }

    #[test]
    fn right_to_left_tokens_are_isolated() {
        assert_eq!(fit("قطة!", 6, Align::Left), "\u{2068}قطة!\u{2069}  ");
        assert_eq!(fit("cat!", 6, Align::Left), "cat!  ");
        assert_eq!(isolate("قطة → cat → חתול"), "\u{2068}قطة\u{2069} → cat → \u{2068}חתול\u{2069}");
    }
}
