//! Precision, recall and F₁, and their averages over labels. A figure whose denominator is 0 is 0.

use crate::classification::LabelCount;

/// Precision P, recall R, and their harmonic mean F₁ = 2PR / (P + R); or averages of the three.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// How much of what was told is right.
    pub precision: f64,
    /// How much of what should be told is.
    pub recall: f64,
    /// The harmonic mean of both; in an average, the average of these.
    pub f1: f64,
}

impl Figures {
    /// The figures of `right` things among those told and those that should be.
    pub(crate) fn of(right: usize, told: usize, gold: usize) -> Self {
        let (precision, recall) = (share(right, told), share(right, gold));
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        Self { precision, recall, f1 }
    }

    /// The mean, each the same; zeros if there are none.
    pub fn mean(figures: impl IntoIterator<Item = Self>) -> Self {
        weighted_mean(figures.into_iter().map(|figures| (figures, 1)))
    }

    /// The mean over labels, each the same.
    pub(crate) fn macro_average<'a>(counts: impl Iterator<Item = &'a LabelCount>) -> Self {
        Self::mean(counts.map(LabelCount::figures))
    }

    /// The mean over labels, each as often as it should be told.
    pub(crate) fn weighted_average<'a>(counts: impl Iterator<Item = &'a LabelCount>) -> Self {
        weighted_mean(counts.map(|count| (count.figures(), count.gold)))
    }

    /// The figures of all labels together.
    pub(crate) fn micro_average<'a>(counts: impl Iterator<Item = &'a LabelCount>) -> Self {
        let (mut right, mut told, mut gold) = (0, 0, 0);
        for count in counts {
            right += count.right;
            told += count.told;
            gold += count.gold;
        }
        Self::of(right, told, gold)
    }
}

fn weighted_mean(figures: impl Iterator<Item = (Figures, usize)>) -> Figures {
    let (mut sum, mut total) = (Figures::default(), 0);
    for (figures, weight) in figures {
        total += weight;
        sum.precision += figures.precision * weight as f64;
        sum.recall += figures.recall * weight as f64;
        sum.f1 += figures.f1 * weight as f64;
    }
    let total = total.max(1) as f64;
    Figures { precision: sum.precision / total, recall: sum.recall / total, f1: sum.f1 / total }
}

/// A part of a whole, 0 if there is no whole.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
