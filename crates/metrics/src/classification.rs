//! How well labels are told: accuracy, and for each label precision P, recall R and F₁ = 2PR / (P + R).
//!
//! A figure whose denominator is 0 is 0. Averages are over the labels that are a reference or an answer at
//! least once, as scikit-learn has them: *macro* each label the same, *weighted* each as often as it is a
//! reference, *micro* all answers together, which for one label per example is the accuracy.

use crate::figures::{Figures, share};
use crate::input::{InputError, check_counts};
use std::collections::BTreeMap;

/// Answers counted by label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    labels: BTreeMap<String, LabelCount>,
    /// How often each answer was given for each reference.
    answers: BTreeMap<String, BTreeMap<String, usize>>,
    right: usize,
    total: usize,
}

/// The answers around one label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCount {
    /// Times that it was told rightly.
    pub right: usize,
    /// Times that it was told.
    pub told: usize,
    /// Times that it should have been told.
    pub gold: usize,
}

impl LabelCounts {
    /// Compares answers with their references, pair by pair.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut found = Self::default();
        for (answer, reference) in pairs {
            found.count(answer, reference);
        }
        found
    }

    /// Compares two lists, which must have as many answers as references.
    pub fn of_lists(answers: &[impl AsRef<str>], references: &[impl AsRef<str>]) -> Result<Self, InputError> {
        check_counts(answers.len(), references.len())?;
        let pairs = answers.iter().zip(references);
        Ok(Self::of(pairs.map(|(answer, reference)| (answer.as_ref(), reference.as_ref()))))
    }

    /// Counts one more pair.
    pub fn count(&mut self, answer: &str, reference: &str) {
        let right = usize::from(answer == reference);
        self.total += 1;
        self.right += right;
        entry(&mut self.labels, answer).told += 1;
        let label = entry(&mut self.labels, reference);
        label.gold += 1;
        label.right += right;
        *entry(entry(&mut self.answers, reference), answer) += 1;
    }

    /// Right answers.
    pub fn right(&self) -> usize {
        self.right
    }

    /// All answers.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The share of right answers.
    pub fn accuracy(&self) -> f64 {
        share(self.right, self.total)
    }

    /// The mean of F₁ over all labels that occur.
    pub fn macro_f1(&self) -> f64 {
        self.macro_average().f1
    }

    /// The mean over all labels that occur.
    pub fn macro_average(&self) -> Figures {
        Figures::macro_average(self.labels.values())
    }

    /// The mean over all labels, each as often as it should be told.
    pub fn weighted_average(&self) -> Figures {
        Figures::weighted_average(self.labels.values())
    }

    /// The figures of all answers together.
    pub fn micro_average(&self) -> Figures {
        Figures::micro_average(self.labels.values())
    }

    /// The labels that occur, in the order of their names.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &LabelCount)> {
        self.labels.iter().map(|(name, count)| (name.as_str(), count))
    }

    /// Which labels were told for which, in the order of their names.
    pub fn confusion(&self) -> ConfusionMatrix {
        let labels: Vec<String> = self.labels.keys().cloned().collect();
        let of_pair = |reference: &str, answer: &str| self.answers.get(reference)?.get(answer).copied();
        let row = |reference: &String| -> Vec<usize> {
            labels.iter().map(|answer| of_pair(reference, answer).unwrap_or(0)).collect()
        };
        ConfusionMatrix { counts: labels.iter().map(row).collect(), labels }
    }
}

/// The value of a name, made with its first mention.
fn entry<'a, T: Default>(map: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    map.entry(name.to_owned()).or_default()
}

impl LabelCount {
    /// How many of those told are right.
    pub fn precision(&self) -> f64 {
        share(self.right, self.told)
    }

    /// How many of those that should be told are.
    pub fn recall(&self) -> f64 {
        share(self.right, self.gold)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        share(2 * self.right, self.told + self.gold)
    }

    /// All three.
    pub fn figures(&self) -> Figures {
        Figures { precision: self.precision(), recall: self.recall(), f1: self.f1() }
    }
}

/// How often each label was told for each: a row for each reference, a column for each answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfusionMatrix {
    /// The labels of rows and columns, in the order of their names.
    pub labels: Vec<String>,
    /// `counts[reference][answer]`, by the places of the labels.
    pub counts: Vec<Vec<usize>>,
}

impl ConfusionMatrix {
    /// How often `answer` was told where `reference` was right; 0 for labels that do not occur.
    pub fn count(&self, answer: &str, reference: &str) -> usize {
        let place = |label: &str| self.labels.binary_search_by(|other| other.as_str().cmp(label)).ok();
        let found = || self.counts.get(place(reference)?)?.get(place(answer)?).copied();
        found().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
    }

    /// Checked against scikit-learn's `classification_report`.
    #[test]
    fn every_label_has_its_figures() {
        let answers = ["a", "a", "b", "b", "b", "d"];
        let references = ["a", "b", "b", "b", "c", "c"];
        let found = LabelCounts::of(answers.into_iter().zip(references));
        assert_eq!((found.right(), found.total()), (3, 6));
        near(found.accuracy(), 0.5);
        let figures: Vec<_> = found
            .labels()
            .map(|(name, label)| (name, label.precision(), label.recall(), label.gold))
            .collect();
        let expected =
            [("a", 0.5, 1.0, 1), ("b", 2.0 / 3.0, 2.0 / 3.0, 3), ("c", 0.0, 0.0, 2), ("d", 0.0, 0.0, 0)];
        assert_eq!(figures, expected);
        near(found.labels().map(|(_, label)| label.f1()).next().expect("a label"), 2.0 / 3.0);
        near(found.macro_f1(), (2.0 / 3.0 + 2.0 / 3.0) / 4.0);
    }

    #[test]
    fn nothing_and_all_right_are_no_exception() {
        let none = LabelCounts::default();
        assert_eq!((none.accuracy(), none.macro_f1(), none.labels().count()), (0.0, 0.0, 0));
        assert_eq!((none.micro_average(), none.weighted_average()), Default::default());
        assert_eq!(none.confusion(), ConfusionMatrix::default());
        let all = LabelCounts::of([("x", "x"), ("y", "y")]);
        assert_eq!((all.accuracy(), all.macro_f1()), (1.0, 1.0));
    }

    #[test]
    fn confusion_has_a_row_for_each_reference() {
        let found = LabelCounts::of([("b", "a"), ("b", "a"), ("a", "a"), ("c", "b")]).confusion();
        assert_eq!(found.labels, ["a", "b", "c"]);
        assert_eq!(found.counts, [[1, 2, 0], [0, 0, 1], [0, 0, 0]]);
        assert_eq!((found.count("b", "a"), found.count("a", "b"), found.count("d", "a")), (2, 0, 0));
    }

    #[test]
    fn lists_must_be_of_one_length() {
        let error = LabelCounts::of_lists(&["a", "b"], &["a"]).expect_err("different lengths");
        assert_eq!(error, InputError::Counts { outputs: 2, references: 1 });
        assert!(error.to_string().starts_with("2 outputs but 1 references"), "{error}");
    }

    proptest! {
        #[test]
        fn figures_keep_to_their_bounds(pairs in prop::collection::vec(("[a-d]", "[a-e]"), 1..30)) {
            let (answers, references): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let found = LabelCounts::of_lists(&answers, &references).expect("one length");
            for figures in [found.macro_average(), found.weighted_average(), found.micro_average()] {
                for value in [figures.precision, figures.recall, figures.f1] {
                    prop_assert!((0.0..=1.0 + 1e-12).contains(&value), "{}", value);
                }
            }
            prop_assert!((found.micro_average().f1 - found.accuracy()).abs() < 1e-12);
            prop_assert!((found.weighted_average().recall - found.accuracy()).abs() < 1e-12);
            let matrix = found.confusion();
            let diagonal: usize = matrix.labels.iter().map(|label| matrix.count(label, label)).sum();
            prop_assert_eq!(diagonal, found.right());
            prop_assert_eq!(matrix.counts.iter().flatten().sum::<usize>(), found.total());
            let same = LabelCounts::of_lists(&references, &references).expect("one length");
            prop_assert_eq!((same.accuracy(), same.macro_f1()), (1.0, 1.0));
        }
    }
}
