//! Dropout from counter-based random numbers: as a mask, applied to values, or on its way into a residual stream.
//!
//! The number at place `n` of a stream is a hash of `(key, n)`: nothing is carried from one to the next, so
//! that any part can be made on any thread, again in the backward pass, and eight or sixteen at once.
//! The hash is two rounds of Wellons' `lowbias32` over the low half of `n`, keyed before each round by
//! words that SplitMix64 draws from the key and the high half of `n`. It is meant for dropout, not for secrets.

use rayon::prelude::*;

use crate::maths::vectorised;
use crate::pieces::{PIECE, changed};

/// Values of a mask that one task writes.
const CHUNK: usize = 1 << 16;

/// A part of a stream, and how much of what it meets is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// The stream.
    pub key: u64,
    /// The place in the stream of the first value.
    pub offset: u64,
    /// The probability of a zero, 0 ≤ rate < 1.
    pub rate: f32,
}

/// Writes the factors of dropout (Srivastava et al. 2014): 0 with probability `rate`, else `1 / (1 − rate)`.
/// Value `i` depends on `key` and `offset + i` alone, not on how the call is cut.
///
/// # Panics
/// If `rate` is not in 0 ≤ rate < 1.
pub fn keep_mask(key: u64, offset: u64, rate: f32, out: &mut [f32]) {
    let factors = Factors::new(Dropout { key, offset, rate });
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| {
        factors.each(
            index * CHUNK,
            chunk,
            #[inline(always)]
            |value, factor| *value = factor,
        );
    });
}

/// `x ⊙ m` with the `m` of [`keep_mask`], which is not stored; applied to the gradient of this it is its backward pass.
///
/// # Panics
/// As [`keep_mask`].
pub fn apply(key: u64, offset: u64, rate: f32, x: &[f32]) -> Vec<f32> {
    let factors = Factors::new(Dropout { key, offset, rate });
    changed(x, PIECE, |index, piece| factors.apply(index * PIECE, piece))
}

/// `residual + x ⊙ m` with the `m` of [`keep_mask`]. Backwards the residual gets the gradient as it is, and `x` gets it
/// through [`apply`].
///
/// # Panics
/// As [`keep_mask`], and if `residual` and `x` differ in length.
pub fn add(residual: &[f32], x: &[f32], key: u64, offset: u64, rate: f32) -> Vec<f32> {
    assert_eq!(residual.len(), x.len(), "dropout: residual and x differ in length");
    let factors = Factors::new(Dropout { key, offset, rate });
    changed(x, PIECE, |index, piece| {
        factors.apply(index * PIECE, piece);
        let residual = &residual[index * PIECE..][..piece.len()];
        vectorised(
            #[inline(always)]
            || piece.iter_mut().zip(residual).for_each(|(value, residual)| *value += residual),
        );
    })
}

/// The factors of a [`Dropout`], ready to be made anywhere in its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    key: u64,
    offset: u64,
    /// Hashes below it become zeros.
    threshold: u32,
    /// `1 / (1 − rate)`.
    pub(crate) keep: f32,
}

impl Factors {
    pub(crate) fn new(Dropout { key, offset, rate }: Dropout) -> Self {
        assert!((0.0..1.0).contains(&rate), "dropout: the rate {rate} is not in 0 ≤ rate < 1");
        // A rate below one leaves at least 2⁻²⁴ of the range, so that this cannot overflow.
        let threshold = (f64::from(rate) * 4_294_967_296.0) as u32;
        Self { key, offset, threshold, keep: 1.0 / (1.0 - rate) }
    }

    /// Multiplies `values` by the factors from place `from` on, on the calling thread.
    pub(crate) fn apply(self, from: usize, values: &mut [f32]) {
        self.each(
            from,
            values,
            #[inline(always)]
            |value, factor| *value *= factor,
        );
    }

    /// Calls `change(value, factor)` for every value, with the factors from place `from` on.
    #[inline(always)]
    fn each(self, from: usize, values: &mut [f32], change: impl Fn(&mut f32, f32) + Copy) {
        let Self { key, offset, threshold, keep } = self;
        let mut done = 0;
        while done < values.len() {
            let from = offset.wrapping_add((from + done) as u64);
            // Up to where the high half of the counter changes.
            let left = (1u64 << 32) - (from & 0xFFFF_FFFF);
            let count = left.min((values.len() - done) as u64) as usize;
            let keys = keys(key, (from >> 32) as u32);
            let part = &mut values[done..][..count];
            vectorised(
                #[inline(always)]
                move || {
                    for (i, value) in part.iter_mut().enumerate() {
                        let number = hash(keys, (from as u32).wrapping_add(i as u32));
                        change(value, if number >= threshold { keep } else { 0.0 });
                    }
                },
            );
            done += count;
        }
    }
}

/// The keys of the two rounds, for all counters of one high half.
fn keys(key: u64, high: u32) -> [u32; 2] {
    let mixed = split_mix(split_mix(key).wrapping_add(u64::from(high)));
    [mixed as u32, (mixed >> 32) as u32]
}

/// The output function of SplitMix64 (Steele et al. 2014).
fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[inline(always)]
fn hash([first, second]: [u32; 2], counter: u32) -> u32 {
    low_bias(low_bias(counter ^ first).wrapping_add(second))
}

/// `lowbias32` (C. Wellons, "Prospecting for hash functions", 2018).
#[inline(always)]
fn low_bias(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(key: u64, offset: u64, rate: f32, len: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; len];
        keep_mask(key, offset, rate, &mut out);
        out
    }

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = values.len() as f64;
        values.sum::<f64>() / count
    }

    /// Five standard deviations of the correlation of two independent sequences.
    fn noise_level(len: usize) -> f64 {
        5.0 / (len as f64).sqrt()
    }

    fn correlation(a: &[f32], b: &[f32], rate: f64) -> f64 {
        let variance = rate / (1.0 - rate);
        mean(a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - 1.0) * (f64::from(b) - 1.0))) / variance
    }

    #[test]
    fn mean_and_variance_are_those_of_dropout() {
        let len = 1 << 20;
        for (key, rate) in [(0, 0.1), (1, 0.5), (u64::MAX, 0.9), (77, 0.3)] {
            let values = mask(key, 0, rate, len);
            let variance = f64::from(rate / (1.0 - rate));
            assert!(
                (mean(values.iter().map(|&v| f64::from(v))) - 1.0).abs() < variance.sqrt() * noise_level(len)
            );
            let second = mean(values.iter().map(|&v| (f64::from(v) - 1.0).powi(2)));
            assert!((second / variance - 1.0).abs() < 3.0 * noise_level(len), "{rate}: {second} {variance}");
            assert!(values.iter().all(|&v| v == 0.0 || v == 1.0 / (1.0 - rate)));
        }
        assert!(mask(3, 0, 0.0, 1000).iter().all(|&v| v == 1.0));
    }

    #[test]
    fn values_do_not_depend_on_how_the_call_is_cut() {
        // Across the end of a task and across a change of the high half of the counter.
        for offset in [0, 5, (1 << 32) - 70_000, u64::MAX - 70_000] {
            let whole = mask(9, offset, 0.4, 150_000);
            for (from, len) in [(0, 1), (1, 99_999), (65_535, 3), (69_990, 50), (149_000, 1000)] {
                assert_eq!(mask(9, offset.wrapping_add(from as u64), 0.4, len), whole[from..from + len]);
            }
        }
    }

    #[test]
    fn values_are_multiplied_by_the_mask() {
        let x: Vec<f32> = (0..150_000).map(|i| (i as f32 * 0.37).sin()).collect();
        let residual: Vec<f32> = x.iter().map(|x| 1.0 - x).collect();
        for offset in [0, 77, (1 << 32) - 70_000, u64::MAX - 70_000] {
            for rate in [0.0, 0.4] {
                let mask = mask(9, offset, rate, x.len());
                let expected: Vec<f32> = x.iter().zip(&mask).map(|(x, m)| x * m).collect();
                assert_eq!(apply(9, offset, rate, &x), expected);
                let expected: Vec<f32> = residual.iter().zip(&expected).map(|(r, x)| r + x).collect();
                assert_eq!(add(&residual, &x, 9, offset, rate), expected);
            }
        }
    }

    #[test]
    fn streams_and_places_are_not_correlated() {
        let len = 1 << 18;
        let one = mask(0, 0, 0.5, len);
        for key in (1..64).chain([1 << 32, 1 << 63, u64::MAX]) {
            assert!(correlation(&one, &mask(key, 0, 0.5, len), 0.5).abs() < noise_level(len), "key {key}");
        }
        // One stream against itself: neighbours, rows of usual widths, and the next high half.
        for lag in (1..65).chain([100, 128, 256, 500, 512, 1000, 1024, 2048, 4096, 1 << 16, 1 << 32]) {
            assert!(correlation(&one, &mask(0, lag, 0.5, len), 0.5).abs() < noise_level(len), "lag {lag}");
        }
    }

    #[test]
    fn every_bit_of_the_hash_is_fair() {
        let keys = keys(5, 0);
        for bit in 0..32 {
            let ones = (0..1u32 << 18).filter(|&counter| hash(keys, counter) >> bit & 1 == 1).count();
            assert!((ones as f64 / f64::from(1 << 18) - 0.5).abs() < 0.5 * noise_level(1 << 18), "bit {bit}");
        }
    }
}
