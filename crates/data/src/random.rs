//! Random numbers that depend on nothing but their seed and stream, on every machine.

use rand::SeedableRng;
pub use rand::rngs::ChaCha8Rng;

/// A number that depends on all of `key` and `number`, and looks like neither (SplitMix64): a new
/// key for a part of what `key` is for.
pub fn mixed(key: u64, number: u64) -> u64 {
    let mut z = key.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A key as a number from 0 to below 1.
pub fn share(key: u64) -> f64 {
    (key >> 11) as f64 / (1u64 << 53) as f64
}

/// The generator of one stream of a seed. Streams of one seed are independent of each other, so
/// that the tenth epoch can be shuffled, or the millionth example made, without the ones before.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(stream);
    generator
}
