//! A text as sentences, and what stands between them.

use unicode_segmentation::UnicodeSegmentation;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// What stays as it is: space, markup.
    Kept(&'a str),
    /// What is translated: a sentence without the space around it.
    Sentence(String),
}

/// The pieces of a text, and how sentences become part of it again.
#[derive(Debug)]
pub(super) struct Composition<'a> {
    pieces: Vec<Piece<'a>>,
    /// How a translation is written into the text.
    written: fn(&str) -> String,
}

impl<'a> Composition<'a> {
    pub(super) fn new(pieces: Vec<Piece<'a>>, written: fn(&str) -> String) -> Self {
        Self { pieces, written }
    }

    /// A plain text.
    pub(super) fn of_text(text: &'a str) -> Self {
        let mut pieces = Vec::new();
        for sentence in sentences(text) {
            split(sentence, &mut pieces, |inner| inner.to_owned());
        }
        Self::new(pieces, str::to_owned)
    }

    /// What is translated, in order.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Kept(_) => None,
            Piece::Sentence(text) => Some(text.clone()),
        })
    }

    /// The text with these translations in place of its sentences.
    pub(super) fn with<'b>(&self, mut translations: impl Iterator<Item = &'b str>) -> String {
        let piece = |piece: &Piece<'_>| match piece {
            Piece::Kept(text) => (*text).to_owned(),
            Piece::Sentence(_) => translations.next().map(self.written).unwrap_or_default(),
        };
        self.pieces.iter().map(piece).collect()
    }
}

/// The sentences of each line, with the space behind them.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').flat_map(|line| line.split_sentence_bounds())
}

/// A sentence without the space around it, which is kept; one without letters or digits is kept whole.
pub(super) fn split<'a>(sentence: &'a str, pieces: &mut Vec<Piece<'a>>, read: impl Fn(&str) -> String) {
    let inner = sentence.trim();
    if !inner.chars().any(char::is_alphanumeric) {
        pieces.push(Piece::Kept(sentence));
        return;
    }
    let before = sentence.len() - sentence.trim_start().len();
    let (space, rest) = sentence.split_at(before);
    let (_, behind) = rest.split_at(inner.len());
    pieces.extend([Piece::Kept(space), Piece::Sentence(read(inner)), Piece::Kept(behind)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        Composition::of_text(text).sentences().collect()
    }

    fn shouted(text: &str) -> String {
        let composition = Composition::of_text(text);
        let loud: Vec<String> = composition.sentences().map(|sentence| sentence.to_uppercase()).collect();
        composition.with(loud.iter().map(String::as_str))
    }

    #[test]
    fn what_stands_between_sentences_stays() {
        let text = "  the cat is here.  Where is it?\n\n\ton the table\r\n -- \nend";
        assert_eq!(read(text), ["the cat is here.", "Where is it?", "on the table", "end"]);
        assert_eq!(shouted(text), "  THE CAT IS HERE.  WHERE IS IT?\n\n\tON THE TABLE\r\n -- \nEND");
        for text in ["", " ", "\n", "...", "a", "猫。犬"] {
            assert_eq!(shouted(text), text.to_uppercase());
        }
    }

    #[test]
    fn missing_translations_do_no_harm() {
        assert_eq!(Composition::of_text("one. Two.").with([].into_iter()), " ");
    }
}
