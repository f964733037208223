//! Random numbers that depend on nothing but their seed and stream, on every machine.

use rand::SeedableRng;
pub use rand::rngs::ChaCha8Rng;

/// The generator of one stream of a seed. Streams of one seed are independent of each other, so
/// that the tenth epoch can be shuffled, or the millionth example made, without the ones before.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(stream);
    generator
}
