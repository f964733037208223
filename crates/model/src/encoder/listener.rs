//! The listener (Chan et al., 2016): recurrent layers over the frames of a sound, the upper ones at half the pace of the one
//! below. Its context c is the last state.

use super::sounds::identities;
use crate::memory::Memory;
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::sound::SoundBatch;
use gatto_nn::Noise;
use gatto_nn::recurrent::Pyramid;

/// A pyramid of recurrent layers.
#[derive(Module, Debug)]
pub(crate) struct ListenerEncoder {
    pub(crate) pyramid: Pyramid,
    /// Frames of the sound that a state stands for.
    #[module(skip)]
    pub(crate) frames_per_state: usize,
}

impl ListenerEncoder {
    /// Reads frames [B, T, bands].
    pub(crate) fn read(&self, sounds: &SoundBatch, frames: Tensor<3>, noise: &mut Noise) -> Memory {
        let read = self.pyramid.forward(frames, &sounds.lengths, noise);
        Memory {
            summary: read.last,
            frames_per_state: self.frames_per_state,
            ..Memory::of_positions(read.states, read.mask, read.lengths, identities(sounds))
        }
    }
}
