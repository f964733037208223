//! How far chance may have moved a figure: confidence intervals.
//!
//! For a mean, or a ratio of sums such as an error rate, the percentile bootstrap: as many examples as there
//! are, drawn with replacement, give a figure; the middle 95 % of the figures of 1000 such draws are the
//! interval (Efron and Tibshirani 1993, *An Introduction to the Bootstrap*, chapter 13). For a share of right
//! answers alone, Wilson's interval needs no draws.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// From where to where a figure may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The percentile bootstrap. The same settings and examples give the same interval, on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many times to draw.
    pub resamples: usize,
    /// The share of draws that the interval holds, from 0 to 1.
    pub confidence: f64,
    /// Where the random numbers start.
    pub seed: u64,
}

impl Bootstrap {
    /// 1000 draws, of which the interval holds 95 %.
    pub fn new(seed: u64) -> Self {
        Self { resamples: 1000, confidence: 0.95, seed }
    }

    /// The interval of the mean of the examples' values; `None` without examples.
    pub fn mean(&self, values: &[f64]) -> Option<Interval> {
        let pairs: Vec<_> = values.iter().map(|&value| (value, 1.0)).collect();
        self.ratio(&pairs)
    }

    /// The interval of Σ numerators / Σ denominators, one of each from every example. A draw whose
    /// denominators sum to zero says nothing and is left out; `None` if no draw is left.
    pub fn ratio(&self, examples: &[(f64, f64)]) -> Option<Interval> {
        if examples.is_empty() {
            return None;
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut draw = || {
            let (mut numerator, mut denominator) = (0.0, 0.0);
            for _ in examples {
                let (part, whole) = examples[random.random_range(0..examples.len())];
                numerator += part;
                denominator += whole;
            }
            (denominator != 0.0).then(|| numerator / denominator)
        };
        self.middle((0..self.resamples).filter_map(|_| draw()).collect())
    }

    /// The interval of any figure of the numbers of examples that were drawn, counted from 0 and below
    /// `examples`. Every draw has random numbers of its own, so that they are made on all cores. A draw that
    /// has no figure is left out; `None` if none is left.
    pub fn interval_of(
        &self,
        examples: usize,
        figure: impl Fn(&[usize]) -> Option<f64> + Sync,
    ) -> Option<Interval> {
        if examples == 0 {
            return None;
        }
        let draw = |drawn: &mut Vec<usize>, number: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(number as u64);
            drawn.clear();
            drawn.extend((0..examples).map(|_| random.random_range(0..examples)));
            figure(drawn)
        };
        let draws = (0..self.resamples).into_par_iter().map_init(Vec::new, draw);
        self.middle(draws.flatten().collect())
    }

    /// From where to where the middle of some figures lies.
    fn middle(&self, mut figures: Vec<f64>) -> Option<Interval> {
        figures.sort_by(f64::total_cmp);
        let outside = (1.0 - self.confidence.clamp(0.0, 1.0)) / 2.0;
        Some(Interval { low: quantile(&figures, outside)?, high: quantile(&figures, 1.0 - outside)? })
    }
}

/// The interval that holds 95 % of 1000 draws, of Σ numerators / Σ denominators: [`Bootstrap::ratio`].
///
/// ```
/// # use gatto_metrics::{Edits, interval};
/// let lines = [Edits { deletions: 1, length: 4, ..Edits::default() }, Edits { length: 6, ..Edits::default() }];
/// let errors = lines.map(|line| (line.edits() as f64, line.length as f64));
/// let found = interval(&errors, 1).expect("examples");
/// assert_eq!((found.low, found.high), (0.0, 0.25));
/// ```
pub fn interval(examples: &[(f64, f64)], seed: u64) -> Option<Interval> {
    Bootstrap::new(seed).ratio(examples)
}

/// The value below which a share of sorted values lies, between two of them in proportion.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(place as usize)?;
    let above = sorted.get(place as usize + 1).copied().unwrap_or(below);
    Some(below + (above - below) * place.fract())
}

/// Wilson's interval, of 95 %, for a share p = right / total, with z = 1.96 standard deviations:
///
/// ```text
/// (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)
/// ```
///
/// (Wilson 1927.) Without examples it is from 0 to 1.
pub fn wilson(right: usize, total: usize) -> Interval {
    /// The normal distribution's 97.5 % quantile.
    const Z: f64 = 1.959_963_984_540_054;
    if total == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = total as f64;
    let share = right.min(total) as f64 / n;
    let centre = share + Z * Z / (2.0 * n);
    let width = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // Where all are right or none the formula ends at 1 or 0, but for rounding.
    Interval {
        low: if right == 0 { 0.0 } else { ((centre - width) / scale).max(0.0) },
        high: if right >= total { 1.0 } else { ((centre + width) / scale).min(1.0) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 4, 8, 16], q) for q in 0, 0.025, 0.3, 0.5, 0.975, 1
        let expected = [(0.0, 1.0), (0.025, 1.1), (0.3, 2.4), (0.5, 4.0), (0.975, 15.2), (1.0, 16.0)];
        for (share, value) in expected {
            let found = quantile(&[1.0, 2.0, 4.0, 8.0, 16.0], share).expect("values");
            assert!((found - value).abs() < 1e-12, "{found} and not {value}");
        }
        assert_eq!(quantile(&[], 0.5), None);
    }

    /// The mean of n values has a standard error of s/√n, and an interval of ±1.96 of that.
    #[test]
    fn many_examples_have_the_interval_of_a_normal_distribution() {
        let values: Vec<f64> = (0..2000).map(|i| f64::from(i * 7919 % 2000) / 2000.0).collect();
        let error = 1.0 / (12.0_f64 * 2000.0).sqrt();
        let found = Bootstrap { resamples: 4000, ..Bootstrap::new(5) }.mean(&values).expect("values");
        assert!((found.low - (0.5 - 1.96 * error)).abs() < 0.1 * error, "{found:?}");
        assert!((found.high - (0.5 + 1.96 * error)).abs() < 0.1 * error, "{found:?}");
        let half = Bootstrap { confidence: 0.5, ..Bootstrap::new(5) }.mean(&values).expect("values");
        assert!((half.high - half.low - 2.0 * 0.6745 * error).abs() < 0.2 * error, "{half:?}");
    }

    /// These numbers must not change: reports are compared with older ones.
    #[test]
    fn a_seed_has_its_interval() {
        let examples = [(1.0, 4.0), (0.0, 3.0), (2.0, 5.0), (1.0, 1.0), (0.0, 6.0)];
        let found = interval(&examples, 7);
        assert_eq!(found, interval(&examples, 7));
        assert_ne!(found, interval(&examples, 8));
        assert_eq!(found, Some(Interval { low: 1.0 / 22.0, high: 0.4375 }));
    }

    #[test]
    fn draws_on_all_cores_have_the_interval_of_draws_one_by_one() {
        let values: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 500) / 500.0).collect();
        let bootstrap = Bootstrap::new(3);
        let mean = |drawn: &[usize]| Some(drawn.iter().map(|&i| values[i]).sum::<f64>() / drawn.len() as f64);
        let found = bootstrap.interval_of(values.len(), mean).expect("values");
        assert_eq!(bootstrap.interval_of(values.len(), mean), Some(found));
        let expected = bootstrap.mean(&values).expect("values");
        assert!((found.low - expected.low).abs() < 0.005 && (found.high - expected.high).abs() < 0.005);
        assert_eq!(bootstrap.interval_of(0, mean), None);
        assert_eq!(bootstrap.interval_of(5, |_| None), None);
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(interval(&[], 1), None);
        assert_eq!(interval(&[(0.0, 0.0), (1.0, 0.0)], 1), None);
        assert_eq!(Bootstrap { resamples: 0, ..Bootstrap::new(1) }.mean(&[1.0]), None);
        assert_eq!(wilson(0, 0), Interval { low: 0.0, high: 1.0 });
        assert_eq!((wilson(0, 365).low, wilson(365, 365).high), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn intervals_keep_to_their_bounds(
            values in prop::collection::vec(-1e3..1e3, 1..20), seed: u64, right in 0_usize..50, more in 0_usize..50,
        ) {
            let few = Bootstrap { resamples: 50, ..Bootstrap::new(seed) };
            let found = few.mean(&values).expect("values");
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least - 1e-9 <= found.low && found.low <= found.high && found.high <= most + 1e-9);
            let share = right as f64 / (right + more).max(1) as f64;
            let Interval { low, high } = wilson(right, right + more);
            prop_assert!(0.0 <= low && low <= share + 1e-12 && share <= high + 1e-12 && high <= 1.0);
        }
    }
}
