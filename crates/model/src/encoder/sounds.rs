//! Sounds as tensors.

use burn::tensor::{Device, Tensor, TensorData};
use gatto_data::random::mixed;
use gatto_data::sound::SoundBatch;

/// The frames of every sound: [B, T, bands].
pub(super) fn frames_of(sounds: &SoundBatch, device: &Device) -> Tensor<3> {
    let shape = [sounds.rows, sounds.frames, sounds.bands];
    Tensor::from_data(TensorData::new(sounds.values.clone(), shape), device)
}

/// A number for each sound that depends on its frames alone.
pub(super) fn identities(sounds: &SoundBatch) -> Vec<u64> {
    let of_row = |row| sounds.row(row).iter().fold(0, |sum, value| mixed(sum, u64::from(value.to_bits())));
    (0..sounds.rows).map(of_row).collect()
}
