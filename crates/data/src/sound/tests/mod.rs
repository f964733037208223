//! What holds from a file to a batch.

mod damage;
mod files;
mod golden;
mod lists;
mod pauses;
mod prepared;
mod resample;
mod stream;

use super::*;

/// `seconds` of a tone.
fn tone(rate: u32, hertz: f64, seconds: f64) -> Sound {
    let count = (f64::from(rate) * seconds) as usize;
    let angle = |n: usize| std::f64::consts::TAU * hertz * n as f64 / f64::from(rate);
    Sound { samples: (0..count).map(|n| (0.5 * angle(n).sin()) as f32).collect(), rate }
}

/// Something that is never the same twice, from -0.25 to 0.25.
fn rustle(count: usize, seed: u64) -> Vec<f32> {
    use rand::Rng;
    let mut rng = crate::random::generator(seed, 7);
    (0..count).map(|_| (rng.next_u32() >> 8) as f32 / (1u32 << 25) as f32 - 0.25).collect()
}
