//! ROUGE: how much of a reference summary an output shares with it, with the scores of Google's `rouge-score`.
//!
//! Counted in n-grams (ROUGE-1, ROUGE-2), or in the words of a longest common subsequence (LCS): of the whole
//! texts (ROUGE-L), or for each sentence of the reference of the union of its LCS with every sentence of the
//! output (ROUGE-Lsum). With a match of c of the output's n and the reference's m,
//!
//! ```text
//! P = c / n     R = c / m     F = 2PR / (P + R)
//! ```
//!
//! (Lin 2004, *ROUGE: A Package for Automatic Evaluation of Summaries*.)
//!
//! Words are runs of a–z and 0–9 in lower case, and everything else is space between them, as in the original:
//! letters with accents split words, and text in other scripts has none. Sentences are parted by line feeds.

use crate::figures::Figures;
use crate::input::{InputError, by_line};
use crate::porter::stem;
use crate::subsequence::{common_length, common_places};
use crate::symbols::Symbols;
use crate::translation::References;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;

/// How ROUGE is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rouge {
    /// Whether forms of a word are the same: words of more than three letters are cut down to their stems by
    /// Porter's stemmer, which knows English only.
    pub stem: bool,
}

/// The scores of one output, or their means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RougeScores {
    /// ROUGE-1, of single words.
    pub one: Figures,
    /// ROUGE-2, of pairs of words.
    pub two: Figures,
    /// ROUGE-L, of the longest common subsequence.
    pub longest: Figures,
    /// ROUGE-Lsum, of longest common subsequences by sentence.
    pub longest_by_sentence: Figures,
}

impl Rouge {
    /// The mean over the lines of a corpus.
    pub fn corpus(
        &self,
        outputs: &[impl AsRef<str> + Sync],
        references: &References<'_>,
    ) -> Result<RougeScores, InputError> {
        Ok(RougeScores::mean(&self.lines(outputs, references)?))
    }

    /// The scores of each line of a corpus.
    pub fn lines(
        &self,
        outputs: &[impl AsRef<str> + Sync],
        references: &References<'_>,
    ) -> Result<Vec<RougeScores>, InputError> {
        by_line(outputs, references, |output, references| self.line(output, references))
    }

    /// The scores of one output. Of several references each score takes the one with the largest F, the first
    /// of equals; without references all are zero.
    pub fn line(&self, output: &str, references: &[&str]) -> RougeScores {
        let mut symbols = Symbols::new();
        let output = self.read(output, &mut symbols);
        let scores = references.iter().map(|reference| score(&output, &self.read(reference, &mut symbols)));
        scores.reduce(RougeScores::best).unwrap_or_default()
    }

    fn read(&self, text: &str, symbols: &mut Symbols<String>) -> Summary {
        let sentences = text.split('\n').filter(|sentence| !sentence.is_empty());
        let sentences: Vec<_> = sentences.map(|sentence| symbols.numbers(self.words(sentence))).collect();
        Summary { words: sentences.concat(), sentences }
    }

    fn words(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
        let shaped = |word: &str| if self.stem && word.len() > 3 { stem(word) } else { word.to_owned() };
        words.filter(|word| !word.is_empty()).map(shaped).collect()
    }
}

impl RougeScores {
    /// The mean of each score; zeros if there are none.
    pub fn mean(lines: &[Self]) -> Self {
        let mean = |score: fn(&Self) -> Figures| Figures::mean(lines.iter().map(score));
        Self {
            one: mean(|line| line.one),
            two: mean(|line| line.two),
            longest: mean(|line| line.longest),
            longest_by_sentence: mean(|line| line.longest_by_sentence),
        }
    }

    fn best(self, next: Self) -> Self {
        let better = |first: Figures, next: Figures| if next.f1 > first.f1 { next } else { first };
        Self {
            one: better(self.one, next.one),
            two: better(self.two, next.two),
            longest: better(self.longest, next.longest),
            longest_by_sentence: better(self.longest_by_sentence, next.longest_by_sentence),
        }
    }
}

/// A text as numbers of words.
struct Summary {
    words: Vec<u32>,
    sentences: Vec<Vec<u32>>,
}

fn score(output: &Summary, reference: &Summary) -> RougeScores {
    let figures = |common| Figures::of(common, output.words.len(), reference.words.len());
    RougeScores {
        one: by_ngrams(1, &output.words, &reference.words),
        two: by_ngrams(2, &output.words, &reference.words),
        longest: figures(common_length(&output.words, &reference.words)),
        longest_by_sentence: figures(common_by_sentence(output, reference)),
    }
}

fn by_ngrams(n: usize, output: &[u32], reference: &[u32]) -> Figures {
    let mut wanted = counts(reference.windows(n));
    let common = output.windows(n).filter(|ngram| take(&mut wanted, ngram)).count();
    Figures::of(common, output.windows(n).len(), reference.windows(n).len())
}

fn counts<T: Eq + Hash>(things: impl Iterator<Item = T>) -> FxHashMap<T, usize> {
    let mut counts = FxHashMap::default();
    things.for_each(|thing| *counts.entry(thing).or_default() += 1);
    counts
}

/// Takes one of a thing away; whether there was one.
fn take<T: Eq + Hash>(counts: &mut FxHashMap<T, usize>, thing: &T) -> bool {
    let Some(count) = counts.get_mut(thing).filter(|count| **count > 0) else { return false };
    *count -= 1;
    true
}

/// Words of the reference's sentences in the union of their longest common subsequences with the sentences of
/// the output, where no word counts more often than the output has it.
fn common_by_sentence(output: &Summary, reference: &Summary) -> usize {
    let mut left = counts(output.words.iter());
    let mut common = 0;
    for sentence in &reference.sentences {
        let places = output.sentences.iter().flat_map(|other| common_places(sentence, other));
        let union: BTreeSet<usize> = places.collect();
        common += union.into_iter().filter(|place| take(&mut left, &&sentence[*place])).count();
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn figures(scores: &RougeScores) -> [Figures; 4] {
        [scores.one, scores.two, scores.longest, scores.longest_by_sentence]
    }

    #[test]
    fn each_score_takes_its_own_best_reference() {
        let found = Rouge::default().line("the cat sat", &["sat the cat", "the cat on a mat sat"]);
        assert_eq!(found.one.f1, 1.0);
        assert_eq!(found.two.f1, 0.5);
        assert_eq!((found.longest.precision, found.longest.recall), (2.0 / 3.0, 2.0 / 3.0));
        assert_eq!(Rouge::default().line("the cat", &[]), RougeScores::default());
    }

    #[test]
    fn stems_make_forms_the_same() {
        let (output, reference) = ("Cats are hopping", ["the cat hopped"]);
        assert_eq!(Rouge::default().line(output, &reference).one.f1, 0.0);
        assert_eq!(Rouge { stem: true }.line(output, &reference).one.precision, 2.0 / 3.0);
    }

    #[test]
    fn lists_must_be_of_one_length() {
        let error = Rouge::default().corpus(&["a"], &References::single(&["a", "b"]));
        assert_eq!(error, Err(InputError::Counts { outputs: 1, references: 2 }));
    }

    proptest! {
        #[test]
        fn scores_keep_to_their_bounds(
            lines in prop::collection::vec(("[ab\n ]{0,20}|\\PC{0,20}", "[ab\n ]{0,20}"), 0..6),
            stem: bool,
        ) {
            let (outputs, references): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
            let rouge = Rouge { stem };
            let found = rouge.corpus(&outputs, &References::single(&references)).expect("one length");
            for Figures { precision, recall, f1 } in figures(&found) {
                for value in [precision, recall, f1] {
                    prop_assert!((0.0..=1.0).contains(&value), "{}", value);
                }
            }
            for output in &outputs {
                let same = figures(&rouge.line(output, &[output]));
                let words = rouge.words(output).len();
                prop_assert_eq!(same.map(|score| score.f1), [1, 2, 1, 1].map(|n| f64::from(words >= n)));
            }
        }
    }
}
