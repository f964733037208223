//! Calibration: whether answers given with confidence p are right with frequency p.
//!
//! Confidences are sorted into bins of equal width, bin b of B for (b/B, (b+1)/B], and 0 in the first. With
//! n_b examples, mean confidence c_b and accuracy a_b in bin b, and n examples in all,
//!
//! ```text
//! expected calibration error  ECE = Σ_b n_b/n |a_b − c_b|
//! maximum calibration error   MCE = max_b |a_b − c_b|             over bins with examples
//! Brier score of the answer         1/n Σ_i (confidence_i − [answer i is right])²
//! ```
//!
//! (Guo et al. 2017, *On Calibration of Modern Neural Networks*; Brier 1950.) All are 0 at best.

use crate::input::InputError;

/// Confidence and accuracy, bin by bin.
///
/// ```
/// # use gatto_metrics::Calibration;
/// let answers = [(0.9, true), (0.8, true), (0.7, false), (0.4, false)];
/// let found = Calibration::of(&answers, 2)?;
/// assert_eq!(found.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [1, 3]);
/// assert!((found.expected_error() - 0.2).abs() < 1e-12);
/// # Ok::<(), gatto_metrics::InputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The bins, that of the lowest confidence first.
    pub bins: Vec<CalibrationBin>,
    /// The Brier score of the answer given: the mean square of confidence less 1 if it is right, 0 if not.
    pub brier: f64,
}

/// The examples whose confidence falls into one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CalibrationBin {
    /// How many there are.
    pub count: usize,
    /// Their mean confidence, 0 if there are none.
    pub confidence: f64,
    /// The share of right answers, 0 if there are none.
    pub accuracy: f64,
}

impl Calibration {
    /// Sorts answers, each a confidence and whether it is right, into bins of equal width.
    pub fn of(answers: &[(f64, bool)], bins: usize) -> Result<Self, InputError> {
        if bins == 0 {
            return Err(InputError::NoBins);
        }
        let mut found = Self { bins: vec![CalibrationBin::default(); bins], brier: 0.0 };
        for (number, &(confidence, right)) in (1..).zip(answers) {
            if !(0.0..=1.0).contains(&confidence) {
                return Err(InputError::Confidence { number, value: confidence });
            }
            let right = f64::from(right);
            let bin = &mut found.bins[bin_of(confidence, bins)];
            bin.count += 1;
            bin.confidence += confidence;
            bin.accuracy += right;
            found.brier += (confidence - right).powi(2);
        }
        for bin in &mut found.bins {
            let count = bin.count.max(1) as f64;
            bin.confidence /= count;
            bin.accuracy /= count;
        }
        found.brier /= answers.len().max(1) as f64;
        Ok(found)
    }

    /// The mean over examples of how far accuracy and confidence are apart in their bin, 0 without examples.
    pub fn expected_error(&self) -> f64 {
        let sum: f64 = self.bins.iter().map(|bin| bin.count as f64 * bin.gap()).sum();
        sum / self.count().max(1) as f64
    }

    /// The largest distance of accuracy and confidence in a bin, 0 without examples.
    pub fn maximum_error(&self) -> f64 {
        // A bin without examples has no gap.
        self.bins.iter().map(CalibrationBin::gap).fold(0.0, f64::max)
    }

    /// All examples.
    pub fn count(&self) -> usize {
        self.bins.iter().map(|bin| bin.count).sum()
    }
}

impl CalibrationBin {
    /// How far accuracy and confidence are apart.
    pub fn gap(&self) -> f64 {
        (self.accuracy - self.confidence).abs()
    }
}

/// The bin of a confidence, counted from 0.
pub(crate) fn bin_of(confidence: f64, bins: usize) -> usize {
    // A division for each edge, so that 0.3 falls on the edge of 3/10.
    (1..bins).take_while(|&edge| (edge as f64 / bins as f64) < confidence).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_belong_to_the_bin_below() {
        let edges = [0.0, 0.1, 0.2, 0.3, 0.6, 0.7, 1.0];
        let found = Calibration::of(&edges.map(|edge| (edge, true)), 10).expect("probabilities");
        let counts: Vec<_> = found.bins.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [2, 1, 1, 0, 0, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for value in [-0.1, 1.0 + 1e-9, f64::INFINITY] {
            let error = Calibration::of(&[(0.5, true), (value, true)], 5);
            assert_eq!(error, Err(InputError::Confidence { number: 2, value }));
        }
        let error = Calibration::of(&[(f64::NAN, true)], 5).expect_err("no number");
        assert_eq!(error.to_string(), "confidence 1 is NaN; give a probability, from 0 to 1");
        assert_eq!(Calibration::of(&[], 0), Err(InputError::NoBins));
    }

    proptest! {
        #[test]
        fn errors_keep_to_their_bounds(
            answers in prop::collection::vec((0.0..=1.0, any::<bool>()), 0..50),
            bins in 1_usize..30,
        ) {
            let found = Calibration::of(&answers, bins).expect("probabilities");
            prop_assert_eq!((found.bins.len(), found.count()), (bins, answers.len()));
            let (expected, maximum) = (found.expected_error(), found.maximum_error());
            prop_assert!(0.0 <= expected && expected <= maximum + 1e-12 && maximum <= 1.0 + 1e-12);
            prop_assert!((0.0..=1.0).contains(&found.brier));
            let sure: Vec<_> = answers.iter().map(|(_, right)| (f64::from(*right), *right)).collect();
            let sure = Calibration::of(&sure, bins).expect("probabilities");
            prop_assert_eq!((sure.expected_error(), sure.brier), (0.0, 0.0));
        }
    }
}
