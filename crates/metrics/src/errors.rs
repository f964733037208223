//! Error rates by edit distance: how many substitutions S, deletions D and insertions I make the output of
//! a reference of N units,
//!
//! ```text
//! rate = (S + D + I) / N        over a corpus  Σ (S + D + I) / Σ N
//! ```
//!
//! for words (WER), characters (CER) and phonemes (PER). 0 is best; more than 1 is possible, as an output may
//! be longer than its reference. If all references are empty, each insertion counts 1, as in jiwer.
//!
//! Words and phonemes are what white space of any kind separates. Characters are Unicode scalar values, as in
//! jiwer, not what a reader takes for one: ä may be one or two. White space within a line is characters too,
//! that at its ends is not.

use crate::category::CATEGORIES;
use crate::distance::{Way, shortest};
use crate::input::{InputError, by_line};
use crate::symbols::Symbols;
use crate::translation::References;
use std::borrow::Cow;
use std::hash::Hash;
use std::iter::Sum;
use std::ops::AddAssign;

/// What errors are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Words: the word error rate, WER.
    #[default]
    Words,
    /// Unicode scalar values: the character error rate, CER.
    Characters,
    /// Phonemes, with white space between them: the phoneme error rate, PER.
    Phonemes,
}

/// How errors are counted.
///
/// ```
/// # use gatto_metrics::{ErrorRate, Unit, translation::References};
/// let rate = ErrorRate { lowercase: true, ..ErrorRate::of(Unit::Words) };
/// let found = rate.corpus(&["il gatto sul tavolo"], &References::single(&["Il gatto è sul tavolo"]))?;
/// assert_eq!((found.deletions, found.edits(), found.length), (1, 1, 5));
/// assert_eq!(found.rate(), 0.2);
/// # Ok::<(), gatto_metrics::InputError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorRate {
    /// What is counted.
    pub unit: Unit,
    /// Whether upper and lower case are the same.
    pub lowercase: bool,
    /// Whether punctuation is left out: every character of a Unicode category P.
    pub strip_punctuation: bool,
}

/// Errors, and the length that they are measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Units of the reference that the output has another one for.
    pub substitutions: usize,
    /// Units of the reference that the output lacks.
    pub deletions: usize,
    /// Units of the output that the reference lacks.
    pub insertions: usize,
    /// Units of the reference.
    pub length: usize,
}

impl ErrorRate {
    /// Errors in a unit, of the text as it is.
    pub fn of(unit: Unit) -> Self {
        Self { unit, ..Self::default() }
    }

    /// The errors of a corpus. Of several references for an output the one with the lowest rate counts, the
    /// first of equals.
    pub fn corpus(
        &self,
        outputs: &[impl AsRef<str> + Sync],
        references: &References<'_>,
    ) -> Result<Edits, InputError> {
        Ok(self.lines(outputs, references)?.into_iter().sum())
    }

    /// The errors of each line of a corpus.
    pub fn lines(
        &self,
        outputs: &[impl AsRef<str> + Sync],
        references: &References<'_>,
    ) -> Result<Vec<Edits>, InputError> {
        by_line(outputs, references, |output, references| self.line(output, references))
    }

    /// The errors of one output against the best of its references; none without references.
    pub fn line(&self, output: &str, references: &[&str]) -> Edits {
        let output = self.cleaned(output);
        let against = |reference: &str| match self.unit {
            Unit::Words | Unit::Phonemes => compare(output.split_whitespace(), reference.split_whitespace()),
            Unit::Characters => compare(output.trim().chars(), reference.trim().chars()),
        };
        let edits = references.iter().map(|reference| against(&self.cleaned(reference)));
        edits.reduce(|best, next| if next.is_better(&best) { next } else { best }).unwrap_or_default()
    }

    fn cleaned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        if self.lowercase {
            text = Cow::Owned(text.to_lowercase());
        }
        if self.strip_punctuation {
            text = Cow::Owned(text.chars().filter(|c| !CATEGORIES.punctuation.has(*c)).collect());
        }
        text
    }
}

fn compare<T: Eq + Hash>(output: impl Iterator<Item = T>, reference: impl Iterator<Item = T>) -> Edits {
    let mut symbols = Symbols::new();
    let (reference, output) = (symbols.numbers(reference), symbols.numbers(output));
    let Way { substitutions, deletions, insertions } = shortest(&reference, &output);
    Edits { substitutions, deletions, insertions, length: reference.len() }
}

impl Edits {
    /// All errors.
    pub fn edits(&self) -> usize {
        self.substitutions + self.deletions + self.insertions
    }

    /// Errors for each unit of the references.
    pub fn rate(&self) -> f64 {
        self.edits() as f64 / self.length.max(1) as f64
    }

    /// Whether the rate is lower, without rounding.
    fn is_better(&self, other: &Self) -> bool {
        self.edits() * other.length.max(1) < other.edits() * self.length.max(1)
    }
}

impl AddAssign for Edits {
    fn add_assign(&mut self, more: Self) {
        self.substitutions += more.substitutions;
        self.deletions += more.deletions;
        self.insertions += more.insertions;
        self.length += more.length;
    }
}

impl Sum for Edits {
    fn sum<I: Iterator<Item = Self>>(lines: I) -> Self {
        lines.fold(Self::default(), |mut sum, line| {
            sum += line;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNITS: [Unit; 3] = [Unit::Words, Unit::Characters, Unit::Phonemes];

    #[test]
    fn the_best_reference_counts_and_the_first_of_equals() {
        let words = ErrorRate::of(Unit::Words);
        // One error of three words, of five, and of four twice.
        let found = words.line("a b c d", &["a b c", "a b c d e", "a b c x", "a b d d"]);
        assert_eq!((found.deletions, found.length), (1, 5));
        let tied = words.line("a b", &["a c", "b b"]);
        assert_eq!((tied.substitutions, tied.insertions, tied.length), (1, 0, 2));
        assert_eq!(words.line("a", &[]), Edits::default());
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let error = ErrorRate::default().corpus(&["a", "b", "c"], &References::single(&["a"]));
        assert_eq!(error, Err(InputError::Counts { outputs: 3, references: 1 }));
    }

    #[test]
    fn case_and_punctuation_may_be_left_out() {
        let plain = ErrorRate::of(Unit::Words);
        let edits = |rate: ErrorRate| rate.line("wo ist die — katze", &["Wo ist die Katze?"]).edits();
        assert_eq!(edits(plain), 3);
        assert_eq!(edits(ErrorRate { lowercase: true, ..plain }), 2);
        assert_eq!(edits(ErrorRate { strip_punctuation: true, ..plain }), 2);
        assert_eq!(edits(ErrorRate { lowercase: true, strip_punctuation: true, ..plain }), 0);
    }

    proptest! {
        #[test]
        fn rates_keep_to_their_bounds(lines in prop::collection::vec((".{0,20}", ".{0,20}"), 0..6)) {
            let (outputs, references): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
            for unit in UNITS {
                let rate = ErrorRate { lowercase: true, ..ErrorRate::of(unit) };
                let found = rate.corpus(&outputs, &References::single(&references)).expect("one length");
                prop_assert!(found.substitutions + found.deletions <= found.length);
                prop_assert!(found.rate() >= 0.0 && found.rate().is_finite());
                let same = rate.corpus(&outputs, &References::single(&outputs)).expect("one length");
                prop_assert_eq!(same.edits(), 0);
            }
        }
    }
}
