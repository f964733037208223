//! The Transformer's encoder for sounds (Dong et al., 2018): convolutions make one vector of a few frames, and every state
//! has heard all of them. Its context c is the mean of all states.

use super::sounds::identities;
use super::transformer::mean;
use crate::memory::Memory;
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::sound::SoundBatch;
use gatto_nn::hearing::SoundFront;
use gatto_nn::recurrent::{CellState, existing, masked};
use gatto_nn::transformer::{Stack, StackState};
use gatto_nn::{Linear, Noise, Preparing};

/// Convolutions, a linear map of what they leave, and layers of self-attention.
#[derive(Module, Debug)]
pub(crate) struct SoundTransformerEncoder {
    pub(crate) front: SoundFront,
    pub(crate) projection: Linear,
    pub(crate) stack: Stack,
    /// Frames of the sound that a state stands for.
    #[module(skip)]
    pub(crate) frames_per_state: usize,
}

impl SoundTransformerEncoder {
    /// Reads frames [B, T, bands].
    pub(crate) fn read(&self, sounds: &SoundBatch, frames: Tensor<3>, noise: &mut Noise) -> Memory {
        let (heard, lengths) = self.front.forward(frames, &sounds.lengths); // [B, T′, F′·C]
        let projected = self.projection.forward(heard); // [B, T′, width]
        let [_, time, width] = projected.dims();
        let mask = existing(&lengths, time, &projected.device());
        // The stack multiplies token vectors by √width, and these are none.
        let vectors = masked(projected * (width as f64).sqrt().recip(), &mask);
        let read = self.stack.forward(vectors, Some(&mask), StackState::default(), noise);
        let summary = vec![CellState { hidden: mean(&read.states, &mask), cell: None }];
        Memory {
            summary,
            heads: read.weights.tensors(),
            frames_per_state: self.frames_per_state,
            ..Memory::of_positions(read.states, mask, lengths, identities(sounds))
        }
    }

    pub(crate) fn prepare(&mut self, how: Preparing<'_>) {
        self.front.prepare(how);
        self.projection.prepare(how);
        self.stack.prepare(how);
    }
}
