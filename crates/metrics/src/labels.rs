//! How well labels are told: accuracy, and for each label precision P, recall R and F₁ = 2PR / (P + R).
//!
//! A figure whose denominator is 0 is 0. Macro-F₁ is the mean of F₁ over the labels that are a reference or
//! an answer at least once, as scikit-learn has it.

use std::collections::BTreeMap;

/// Answers counted by label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    labels: BTreeMap<String, LabelCount>,
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

    /// Counts one more pair.
    pub fn count(&mut self, answer: &str, reference: &str) {
        let right = usize::from(answer == reference);
        self.total += 1;
        self.right += right;
        self.of_label(answer).told += 1;
        let reference = self.of_label(reference);
        reference.gold += 1;
        reference.right += right;
    }

    fn of_label(&mut self, name: &str) -> &mut LabelCount {
        self.labels.entry(name.to_owned()).or_default()
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
        self.labels.values().map(LabelCount::f1).sum::<f64>() / self.labels.len().max(1) as f64
    }

    /// The labels that occur, in the order of their names.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &LabelCount)> {
        self.labels.iter().map(|(name, count)| (name.as_str(), count))
    }
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
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let all = LabelCounts::of([("x", "x"), ("y", "y")]);
        assert_eq!((all.accuracy(), all.macro_f1()), (1.0, 1.0));
    }
}
