//! log Σ exp(x) of a whole vocabulary: the part of search that takes its time, so several numbers at once.

use gatto_kernels::maths::exp;
use pulp::{Simd, WithSimd};

/// Numbers that are worked on side by side: a power of two.
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
    // In pairs, of which none waits for another; none of them is NaN.
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        for lane in 0..count {
            let other = found[lane + count];
            found[lane] = if other > found[lane] { other } else { found[lane] };
        }
    }
    rest.iter().copied().fold(found[0], f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn huge_scores_do_not_overflow() {
        assert!((log_sum_exp(&[1e4, 1e4]) - (1e4 + 2f32.ln())).abs() < 1e-3);
        assert_eq!(log_sum_exp(&[f32::NEG_INFINITY; 2]), f32::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f32::NEG_INFINITY, 3.0]), 3.0);
        assert!(log_sum_exp(&[f32::NAN, 3.0]).is_nan());
    }

    #[test]
    fn the_largest_is_found_wherever_it_stands() {
        for count in 0..70 {
            let mut row = vec![f32::NAN; count];
            assert_eq!(largest(&row), f32::NEG_INFINITY);
            for place in 0..count {
                row.fill(-3.0);
                row[place] = -2.0;
                if count > 7 {
                    row[(place + 7) % count] = f32::NAN;
                }
                assert_eq!(largest(&row), -2.0, "{place} of {count}");
            }
        }
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
