//! Dropout masks from counter-based random numbers.
//!
//! The number at place `n` of a stream is a hash of `(key, n)`: nothing is carried from one to the next, so
//! that any part can be made on any thread, again in the backward pass, and eight or sixteen at once.
//! The hash is two rounds of Wellons' `lowbias32` over the low half of `n`, keyed before each round by
//! words that SplitMix64 draws from the key and the high half of `n`. It is meant for dropout, not for secrets.

use rayon::prelude::*;

use crate::maths::vectorised;

/// Values that one task writes.
const CHUNK: usize = 1 << 16;

/// Writes the factors of dropout (Srivastava et al. 2014): 0 with probability `rate`, else `1 / (1 − rate)`.
/// Value `i` depends on `key` and `offset + i` alone, not on how the call is cut.
///
/// # Panics
/// If `rate` is not in 0 ≤ rate < 1.
pub fn keep_mask(key: u64, offset: u64, rate: f32, out: &mut [f32]) {
    assert!((0.0..1.0).contains(&rate), "dropout: the rate {rate} is not in 0 ≤ rate < 1");
    let keep = 1.0 / (1.0 - rate);
    // A rate below one leaves at least 2⁻²⁴ of the range, so that this cannot overflow.
    let threshold = (f64::from(rate) * 4_294_967_296.0) as u32;
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(index, mut chunk)| {
        let mut from = offset.wrapping_add((index * CHUNK) as u64);
        while !chunk.is_empty() {
            // Up to where the high half of the counter changes.
            let left = (1u64 << 32) - (from & 0xFFFF_FFFF);
            let (part, rest) = chunk.split_at_mut(left.min(chunk.len() as u64) as usize);
            let keys = keys(key, (from >> 32) as u32);
            vectorised(
                #[inline(always)]
                || {
                    for (i, value) in part.iter_mut().enumerate() {
                        let number = hash(keys, (from as u32).wrapping_add(i as u32));
                        *value = if number >= threshold { keep } else { 0.0 };
                    }
                },
            );
            from = from.wrapping_add(left);
            chunk = rest;
        }
    });
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
