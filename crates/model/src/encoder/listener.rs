//! The listener (Chan et al., 2016): recurrent layers over the frames of a sound, the upper ones at half the pace of the one
//! below. Its context c is the last state. Convolutions may stand before the layers.

use super::sounds::identities;
use crate::memory::Memory;
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::sound::SoundBatch;
use gatto_nn::hearing::SoundFront;
use gatto_nn::recurrent::Pyramid;
use gatto_nn::{Noise, Preparing};

/// Convolutions, if any, and a pyramid of recurrent layers.
#[derive(Module, Debug)]
pub(crate) struct ListenerEncoder {
    pub(crate) front: Option<SoundFront>,
    pub(crate) pyramid: Pyramid,
    /// Frames of the sound that a state stands for.
    #[module(skip)]
    pub(crate) frames_per_state: usize,
}

impl ListenerEncoder {
    /// Reads frames [B, T, bands].
    pub(crate) fn read(&self, sounds: &SoundBatch, frames: Tensor<3>, noise: &mut Noise) -> Memory {
        let (heard, lengths) = match &self.front {
            Some(front) => front.forward(frames, &sounds.lengths),
            None => (frames, sounds.lengths.clone()),
        };
        let read = self.pyramid.forward(heard, &lengths, noise);
        Memory {
            summary: read.last,
            frames_per_state: self.frames_per_state,
            ..Memory::of_positions(read.states, read.mask, read.lengths, identities(sounds))
        }
    }

    pub(crate) fn prepare(&mut self, how: Preparing<'_>) {
        self.front.iter_mut().for_each(|front| front.prepare(how));
        self.pyramid.prepare(how);
    }
}
