//! Numbers to test with.

/// So many numbers from −1 to 1, other ones for another seed.
pub(crate) fn values(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 1000) as f32 / 500.0 - 1.0).collect()
}
