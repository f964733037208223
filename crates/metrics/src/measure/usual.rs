//! The usual figures as measures. All are shares, from 0 to 1, but BLEU, chrF and TER, which are in percent,
//! and perplexity.

use super::{Chance, Measure};
use crate::calibration::bin_of;
use crate::symbols::Symbols;
use crate::translation::{Metric, Score, Statistics, TranslationError};

impl Measure {
    /// The share of examples that are right, with Wilson's interval.
    pub fn share(right: impl IntoIterator<Item = bool>) -> Self {
        let pairs = right.into_iter().map(|right| (f64::from(right), 1.0));
        Self { chance: Chance::Wilson, ..Self::ratio(pairs) }
    }

    /// Σ numerators / Σ denominators, one of each from every example: an error rate, or a share of things of
    /// which an example has several.
    pub fn ratio(examples: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let rows = examples.into_iter().map(|(part, whole)| [(0, part), (1, whole)]);
        Self::new(2, rows, |sums| (sums[1] != 0.0).then(|| sums[0] / sums[1]))
    }

    /// The mean of the examples' values.
    pub fn mean(values: impl IntoIterator<Item = f64>) -> Self {
        Self::ratio(values.into_iter().map(|value| (value, 1.0)))
    }

    /// Perplexity: exp of Σ −log p in nats for each of Σ tokens.
    pub fn perplexity(texts: impl IntoIterator<Item = (f64, usize)>) -> Self {
        let rows = texts.into_iter().map(|(nats, tokens)| [(0, nats), (1, tokens as f64)]);
        Self::new(2, rows, |sums| (sums[1] != 0.0).then(|| (sums[0] / sums[1]).exp()))
    }

    /// BLEU, chrF or TER, from the statistics that the metric made of each line.
    pub fn translation<M: Metric + Send + 'static>(
        metric: M,
        statistics: &Statistics,
    ) -> Result<Self, TranslationError> {
        metric.check(statistics)?;
        let rows = statistics.lines().map(|line| line.iter().copied().enumerate());
        Ok(Self::new(metric.width(), rows, move |sums| Some(metric.score(sums).value())))
    }

    /// F₁ of all things together; an example has some that are told rightly, told, and gold.
    pub fn f1(examples: impl IntoIterator<Item = [usize; 3]>) -> Self {
        let rows =
            examples.into_iter().map(|counts| counts.map(|count| count as f64).into_iter().enumerate());
        Self::new(3, rows, f1_of)
    }

    /// The mean over labels, each the same, of their F₁. Labels are those that are told or gold at least once
    /// among the examples chosen. An example has one or more answers with their references.
    pub fn macro_f1<'a, A>(examples: impl IntoIterator<Item = A>) -> Self
    where
        A: IntoIterator<Item = (&'a str, &'a str)>,
    {
        let mut labels = Symbols::new();
        let mut rows = Vec::new();
        for answers in examples {
            let mut row = Vec::new();
            for (answer, reference) in answers {
                let [answer, reference] = [answer, reference].map(|label| 3 * labels.number(label) as usize);
                row.extend([(answer + 1, 1.0), (reference + 2, 1.0)]);
                if answer == reference {
                    row.push((reference, 1.0));
                }
            }
            rows.push(row);
        }
        Self::new(3 * labels.len(), rows, |sums| {
            let (sum, count) = sums
                .chunks_exact(3)
                .filter_map(f1_of)
                .fold((0.0, 0), |(sum, count), f1| (sum + f1, count + 1));
            (count > 0).then(|| sum / f64::from(count))
        })
    }

    /// The expected calibration error, with so many bins, of answers that are each a confidence and whether
    /// it is right: Σ_b |right answers in bin b − Σ of their confidences| / n.
    pub fn calibration_error(answers: impl IntoIterator<Item = (f64, bool)>, bins: usize) -> Self {
        let rows = answers.into_iter().map(|(confidence, right)| {
            let bin = bin_of(confidence, bins);
            [(0, 1.0), (1 + bin, f64::from(right) - confidence)]
        });
        Self::new(1 + bins, rows, |sums| {
            let apart: f64 = sums[1..].iter().map(|gap| gap.abs()).sum();
            (sums[0] > 0.0).then(|| apart / sums[0])
        })
    }
}

/// F₁ of right, told and gold; `None` if there is nothing of either.
fn f1_of(counts: &[f64]) -> Option<f64> {
    let both = counts[1] + counts[2];
    (both > 0.0).then(|| 2.0 * counts[0] / both)
}
