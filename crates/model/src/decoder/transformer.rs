//! The Transformer's decoder: every column sees those before it, and the source from every layer.

use super::Written;
use crate::memory::{Memory, Tokens};
use crate::output::Output;
use burn::module::Module;
use gatto_nn::transformer::{Stack, StackState};
use gatto_nn::{Embedding, Noise};

/// Token vectors, layers of self-attention, and the output layer.
#[derive(Module, Debug)]
pub(crate) struct TransformerDecoder {
    pub(crate) embedding: Embedding,
    pub(crate) stack: Stack,
    pub(crate) output: Output,
}

/// What is carried from step to step: the keys and values of all layers.
#[derive(Clone, Debug)]
pub(crate) struct TransformerState(StackState);

impl TransformerState {
    pub(crate) fn select(self, rows: &[usize]) -> Self {
        Self(self.0.select(rows))
    }
}

impl TransformerDecoder {
    pub(crate) fn start(&self, memory: Option<&Memory>) -> TransformerState {
        TransformerState(match memory {
            Some(Memory { prefix: Some(prefix), .. }) => prefix.clone(),
            Some(memory) => self.stack.beside(&memory.states, &memory.mask),
            None => StackState::default(),
        })
    }

    /// As [`Decoder::step_in_place`](super::Decoder::step_in_place).
    pub(super) fn step_in_place(
        &self,
        tokens: &[u32],
        state: &mut TransformerState,
        rows: &mut Vec<f32>,
    ) -> bool {
        self.embedding.read(tokens, rows) && self.stack.step_in_place(rows, &mut state.0, None)
    }

    pub(crate) fn advance(
        &self,
        tokens: &Tokens,
        state: TransformerState,
        noise: &mut Noise,
    ) -> (Written, TransformerState) {
        let vectors = self.embedding.forward(tokens.ids.clone()); // [B, T, C]
        let read = self.stack.forward(vectors, None, state.0, noise);
        let written = Written {
            features: read.states,
            alignment: None,
            candidates: None,
            heads: read.weights,
            cross_heads: read.cross_weights,
        };
        (written, TransformerState(read.state))
    }
}
