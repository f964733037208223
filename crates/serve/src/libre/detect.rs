//! The language of a text, among those that the models here read: the one whose vocabulary fits it best.
//!
//! A vocabulary that was learnt from a language has its words whole, or nearly so; of words of another it knows only
//! small pieces, or nothing:
//!
//! ```text
//! fit = (1 − unknown / tokens) · min(1, words / tokens)
//! ```
//!
//! It is 1 where every word is one known token. Languages that share a vocabulary are told apart by nothing.

use gatto_data::tokens::{Tokenizer, UNKNOWN};
use std::collections::BTreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// How well a text fits languages, from 0 to 100, the best first; each language by its code and a vocabulary that reads
/// it. What fits several languages equally is none of them for sure.
pub(super) fn confidences<'a>(
    readers: impl Iterator<Item = (&'a str, &'a Tokenizer)>,
    text: &str,
) -> Vec<(String, f64)> {
    let mut fits: BTreeMap<&str, f64> = BTreeMap::new();
    for (language, tokenizer) in readers {
        let fit = fits.entry(language).or_default();
        *fit = fit.max(fit_of(tokenizer, text));
    }
    let sum: f64 = fits.values().sum();
    let confidence = |(language, fit): (&str, f64)| {
        let share = if sum > 0.0 { fit / sum } else { 0.0 };
        (language.to_owned(), (100.0 * fit * share).round())
    };
    let mut found: Vec<(String, f64)> = fits.into_iter().map(confidence).collect();
    found.sort_by(|left, right| right.1.total_cmp(&left.1)); // of equals, the first by name
    found
}

fn fit_of(tokenizer: &Tokenizer, text: &str) -> f64 {
    let tokens = tokenizer.encode(text);
    let words = text.unicode_words().count();
    if tokens.is_empty() || words == 0 {
        return 0.0;
    }
    let count = tokens.len() as f64;
    let unknown = tokens.iter().filter(|&&token| token == UNKNOWN).count() as f64;
    (1.0 - unknown / count) * (words as f64 / count).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatto_data::tokens::{Kind, Recipe};

    fn tokenizer(kind: Kind, text: &str) -> Tokenizer {
        let recipe = Recipe { kind, size: 400, min_frequency: 1, ..Recipe::default() };
        Tokenizer::train(&recipe, vec![text.to_owned(); 20]).unwrap()
    }

    #[test]
    fn a_text_is_of_the_language_whose_words_it_has() {
        for kind in [Kind::Word, Kind::Bpe] {
            let english = tokenizer(kind, "the cat is on the table and the dog is under the chair");
            let italian = tokenizer(kind, "il gatto è sul tavolo e il cane è sotto la sedia");
            let readers = || [("it", &italian), ("en", &english)].into_iter();
            let found = confidences(readers(), "the dog is on the chair");
            assert_eq!(found[0].0, "en", "{found:?}");
            assert!(found[0].1 > 50.0 && found[0].1 > found[1].1, "{found:?}");
            assert_eq!(confidences(readers(), "il cane è sul tavolo")[0].0, "it");
            let nothing = confidences(readers(), " ... ");
            assert!(nothing.iter().all(|(_, confidence)| *confidence == 0.0), "{nothing:?}");
        }
    }

    #[test]
    fn one_vocabulary_tells_nothing_apart() {
        let both = tokenizer(Kind::Word, "the cat il gatto");
        let found = confidences([("en", &both), ("it", &both)].into_iter(), "the cat");
        assert_eq!(found, [("en".to_owned(), 50.0), ("it".to_owned(), 50.0)]);
    }
}
