//! log Σ exp(x) of a whole vocabulary: the part of search that takes its time, so several numbers at once.

use pulp::{Simd, WithSimd};

/// Numbers that are worked on side by side.
const LANES: usize = 8;

/// log Σ exp(x), without overflow; not below the largest x, so that no log p is above 0.
pub(crate) fn log_sum_exp(row: &[f32]) -> f32 {
    // Wider instructions round no differently, so the sum does not depend on the machine.
    pulp::Arch::new().dispatch(LogSum(row))
}

/// A closure that only reads would be called through a shim, and not be compiled for the wider instructions.
struct LogSum<'a>(&'a [f32]);

impl WithSimd for LogSum<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f32 {
        let Self(row) = self;
        let largest = largest(row);
        if !largest.is_finite() {
            return largest;
        }
        let (chunks, rest) = row.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for chunk in chunks {
            for (sum, &score) in sums.iter_mut().zip(chunk) {
                *sum += exp(f64::from(score - largest));
            }
        }
        for (sum, &score) in sums.iter_mut().zip(rest) {
            *sum += exp(f64::from(score - largest));
        }
        largest + sums.iter().sum::<f64>().ln() as f32
    }
}

/// The largest number of a row; NaN is none.
#[inline(always)]
pub(crate) fn largest(row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut found = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (found, &score) in found.iter_mut().zip(chunk) {
            *found = if score > *found { score } else { *found };
        }
    }
    found.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

/// exp(x) for x ≤ 0, to the last few bits, in a form that compilers turn into vector instructions:
/// x = k ln 2 + r with |r| ≤ ln 2 / 2, and exp(x) = 2^k exp(r) with exp(r) from its series.
#[inline(always)]
fn exp(x: f64) -> f64 {
    /// Adding it leaves the nearest whole number in the lowest bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    /// ln 2 in two parts, of which the first times k is exact.
    const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
    /// 1 / n! from n = 12 down to 0.
    const SERIES: [f64; 13] = [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let x = if x < -700.0 { -700.0 } else { x }; // 2^k stays a number; NaN stays NaN
    let shifted = x * std::f64::consts::LOG2_E + WHOLE;
    let k = shifted - WHOLE;
    let r = (x - k * LN_2.0) - k * LN_2.1;
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1f64.to_bits()));
    power * SERIES.iter().fold(0.0, |sum, coefficient| sum * r + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exponentials_are_those_of_the_library() {
        for i in 0..700_000 {
            let x = -f64::from(i) / 1000.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-14, "exp({x}) is {} and not {}", exp(x), x.exp());
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f64::NEG_INFINITY) < 1e-300);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn huge_scores_do_not_overflow() {
        assert!((log_sum_exp(&[1e4, 1e4]) - (1e4 + 2f32.ln())).abs() < 1e-3);
        assert_eq!(log_sum_exp(&[f32::NEG_INFINITY; 2]), f32::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f32::NEG_INFINITY, 3.0]), 3.0);
        assert!(log_sum_exp(&[f32::NAN, 3.0]).is_nan());
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_one_number_after_the_other(row in prop::collection::vec(-30f32..30.0, 1..50)) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = row.iter().map(|&score| f64::from(score - largest).exp()).sum();
            prop_assert_eq!(log_sum_exp(&row), largest + sum.ln() as f32);
            prop_assert!(log_sum_exp(&row) >= largest);
        }
    }
}
