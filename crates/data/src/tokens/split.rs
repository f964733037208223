//! Cutting text before subwords are learnt or looked up, and the alphabet that spells bytes.
//!
//! Subword models never join what is cut here: letters, digits and marks stay apart, and a space
//! goes with what follows it. This is GPT-2's cut without its list of English contractions.

use std::ops::Range;
use std::sync::LazyLock;

/// [`subword_spans`] as a regular expression, for other programs that read the tokenizer.
pub(super) const SUBWORD_REGEX: &str =
    r" ?\p{Alphabetic}+| ?[^\s\P{N}\p{Alphabetic}]+| ?[^\s\p{Alphabetic}\p{N}]+|\s+(?!\S)|\s+";

/// [`crate::words::spans`] as a regular expression.
pub(super) const WORD_REGEX: &str = r"[\p{Alphabetic}\p{N}_]+(?:['’](?=[\p{Alphabetic}\p{N}]))?|[^\s]";

#[derive(PartialEq)]
enum Class {
    Letter,
    Digit,
    Space,
    Mark,
}

fn class(letter: char) -> Class {
    if letter.is_alphabetic() {
        Class::Letter
    } else if letter.is_numeric() {
        Class::Digit
    } else if letter.is_whitespace() {
        Class::Space
    } else {
        Class::Mark
    }
}

/// Byte ranges that together are the whole text.
pub(super) fn subword_spans(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let length = first_piece(&text[start..])?;
        start += length;
        Some(start - length..start)
    })
}

/// The length of the piece at the start of a text; none if the text is empty.
fn first_piece(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().peekable();
    let (_, mut first) = letters.next()?;
    if first == ' '
        && let Some((_, next)) = letters.next_if(|(_, next)| !next.is_whitespace())
    {
        first = next;
    }
    let wanted = class(first);
    let mut last = 0; // where the last letter of the run starts
    let end = loop {
        match letters.next_if(|(_, letter)| class(*letter) == wanted) {
            Some((at, _)) => last = at,
            None => break letters.peek().map_or(text.len(), |(at, _)| *at),
        }
    };
    // Of several spaces the last belongs to what follows.
    let leave_last = wanted == Class::Space && end < text.len() && last > 0;
    Some(if leave_last { last } else { end })
}

/// The letter that spells each byte in files of byte-level tokenizers: itself if it can be seen, else
/// one from U+0100 on.
pub(super) static ALPHABET: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut hidden = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        seen @ (b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff) => char::from(seen),
        _ => hidden.next().unwrap_or_default(),
    })
});

/// Bytes spelt in the [`ALPHABET`].
pub(super) fn to_alphabet(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| ALPHABET[usize::from(*byte)]).collect()
}

/// The bytes that a word of the [`ALPHABET`] spells; none if a letter is not of it.
pub(super) fn from_alphabet(text: &str) -> Option<Vec<u8>> {
    text.chars()
        .map(|letter| ALPHABET.iter().position(|known| *known == letter).map(|byte| byte as u8))
        .collect()
}

/// Bytes for the eye.
pub(super) fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                ' ' => text.push('▁'),
                '\n' => text.push('↵'),
                letter if letter.is_control() => {
                    letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| text.push_str(&spelt(byte)));
                }
                letter => text.push(letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&spelt(*byte)));
    }
    text
}

/// A byte as character vocabularies spell it: `<0xE2>`.
pub(super) fn spelt(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_the_space_before_them() {
        let cut = |text| subword_spans(text).map(|span| &text[span]).collect::<Vec<_>>();
        assert_eq!(cut("Il gatto, no?"), ["Il", " gatto", ",", " no", "?"]);
        assert_eq!(cut("a   b"), ["a", "  ", " b"]);
        assert_eq!(cut("a \n b2\t\tc  "), ["a", " \n", " b", "2", "\t", "\t", "c", "  "]);
        assert_eq!(cut(" "), [" "]);
        assert_eq!(cut(""), Vec::<&str>::new());
    }

    #[test]
    fn the_alphabet_is_that_of_the_crate() {
        use tokenizers::pre_tokenizers::byte_level::ByteLevel;
        assert_eq!(ByteLevel::alphabet(), ALPHABET.iter().copied().collect());
        assert_eq!(to_alphabet(b"a b\n"), "aĠbĊ");
        assert_eq!(from_alphabet("aĠbĊ").unwrap(), b"a b\n");
        assert_eq!(from_alphabet("a b"), None);
    }

    #[test]
    fn bytes_are_readable() {
        assert_eq!(readable(" è\n".as_bytes()), "▁è↵");
        assert_eq!(readable(b"\xe2\x9f\x00"), "<0xE2><0x9F><0x00>");
    }
}
