//! How hypotheses of different length are compared.

use crate::Hypothesis;

/// What log p of a sequence is divided by. n counts all of its tokens: the given ones, those that were
/// chosen, and the end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Normalisation {
    /// Nothing: short sequences are at an advantage.
    #[default]
    None,
    /// n^α; with α = 1 the mean log p of a token.
    Power(f64),
    /// ((5 + n) / 6)^α (Wu et al., 2016, equation 14).
    Wu(f64),
}

impl Normalisation {
    /// The divisor of a sequence of `n` tokens; an empty one is taken as one token.
    pub fn divisor(self, n: usize) -> f64 {
        let n = n.max(1) as f64;
        match self {
            Self::None => 1.0,
            Self::Power(alpha) => n.powf(alpha),
            Self::Wu(alpha) => ((5.0 + n) / 6.0).powf(alpha),
        }
    }

    /// The normalised log p of a sequence.
    pub fn score(self, hypothesis: &Hypothesis) -> f64 {
        let sum: f64 = hypothesis.log_probabilities.iter().map(|&log| f64::from(log)).sum();
        sum / self.divisor(hypothesis.log_probabilities.len())
    }

    /// What no continuation of a sequence with log p = `sum` can exceed, if it ends with `shortest` to
    /// `longest` tokens. The sum can only fall, and as it is not above 0, nothing is better for it than
    /// the largest divisor; the divisors rise or fall with n, so that is the first or the last of them.
    pub(super) fn bound(self, sum: f64, shortest: usize, longest: usize) -> f64 {
        sum / self.divisor(shortest).max(self.divisor(longest))
    }
}

/// The least that a source position counts as covered: one that was never looked at costs much, but
/// hypotheses stay comparable.
const LEAST: f64 = 1e-6;

/// β Σ_i log min(Σ_t a_ti, 1), never above 0 (Wu et al., 2016): `covered` has Σ_t a_ti of every position.
pub(super) fn coverage(beta: f64, covered: &[f32]) -> f64 {
    if beta <= 0.0 {
        return 0.0;
    }
    beta * covered.iter().map(|&sum| f64::from(sum).clamp(LEAST, 1.0).ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_those_of_the_formulas() {
        assert_eq!(Normalisation::None.divisor(7), 1.0);
        assert_eq!(Normalisation::Power(1.0).divisor(7), 7.0);
        assert_eq!(Normalisation::Power(0.5).divisor(9), 3.0);
        assert_eq!(Normalisation::Power(1.0).divisor(0), 1.0);
        assert_eq!(Normalisation::Wu(1.0).divisor(7), 2.0);
        assert_eq!(Normalisation::Wu(2.0).divisor(13), 9.0);
    }

    #[test]
    fn nothing_exceeds_the_bound() {
        for normalisation in [
            Normalisation::None,
            Normalisation::Power(0.7),
            Normalisation::Power(-0.7),
            Normalisation::Wu(1.3),
        ] {
            let bound = normalisation.bound(-3.0, 4, 9);
            let best = (4..=9).map(|n| -3.0 / normalisation.divisor(n)).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(bound, best, "{normalisation:?}");
        }
    }

    #[test]
    fn coverage_beyond_one_is_worth_nothing_more() {
        assert_eq!(coverage(0.5, &[1.0, 7.0]), 0.0);
        assert!((coverage(0.5, &[0.25, 2.0]) - 0.5 * 0.25f64.ln()).abs() < 1e-12);
        assert!(coverage(0.5, &[0.0]).is_finite());
        assert_eq!(coverage(0.0, &[0.0]), 0.0);
    }
}
