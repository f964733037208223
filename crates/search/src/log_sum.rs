//! log Σ exp(x) of a whole vocabulary: the part of search that takes its time, so several numbers at once.

use pulp::{Simd, WithSimd};

/// Numbers that are worked on side by side.
const LANES: usize = 16;
/// So many of them are summed before the sum is made a longer number, so that little of it is lost.
const SHORT: usize = 16;

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
        for chunks in chunks.chunks(SHORT) {
            let mut short = [0.0; LANES];
            for chunk in chunks {
                for (sum, &score) in short.iter_mut().zip(chunk) {
                    *sum += exp(score - largest);
                }
            }
            for (sum, &short) in sums.iter_mut().zip(&short) {
                *sum += f64::from(short);
            }
        }
        for (sum, &score) in sums.iter_mut().zip(rest) {
            *sum += f64::from(exp(score - largest));
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

/// exp(x) for x ≤ 0, to the last bit or two, in a form that compilers turn into vector instructions:
/// x = k ln 2 + r with |r| ≤ ln 2 / 2, and exp(x) = 2^k exp(r) with exp(r) from Cephes' polynomial.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding it leaves the nearest whole number in the lowest bits.
    const WHOLE: f32 = 12_582_912.0; // 1.5 · 2^23
    /// ln 2 in two parts, of which the first times k is exact.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let x = if x < -87.0 { -87.0 } else { x }; // 2^k stays a normal number; NaN stays NaN
    let shifted = x * std::f32::consts::LOG2_E + WHOLE;
    let k = shifted - WHOLE;
    let r = (x - k * LN_2.0) - k * LN_2.1;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_2e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 0.5;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1f32.to_bits()));
    power * ((p * (r * r) + r) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exponentials_are_those_of_the_library() {
        for i in 0..870_000u32 {
            let x = -(i as f32) / 10_000.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2e-7, "exp({x}) is {} and not {exact}", exp(x));
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(f32::NAN).is_nan());
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
        fn the_sum_is_that_of_one_number_after_the_other(row in prop::collection::vec(-30f32..30.0, 1..900)) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = row.iter().map(|&score| f64::from(score - largest).exp()).sum();
            let exact = f64::from(largest) + sum.ln();
            prop_assert!((f64::from(log_sum_exp(&row)) - exact).abs() < 3e-6);
            prop_assert!(log_sum_exp(&row) >= largest);
        }
    }
}
