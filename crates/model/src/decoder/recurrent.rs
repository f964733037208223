//! The recurrent decoder: s_i = f(s_{i−1}, y_{i−1}) or f(c, s_{i−1}, y_{i−1}), p(y_i) = softmax(W s_i + b).

use crate::bridge::Bridge;
use crate::memory::{Memory, Tokens};
use crate::output::Output;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use gatto_nn::recurrent::{CellState, Network, Reading};
use gatto_nn::{Embedding, Noise, dropout};

/// Token vectors, recurrent layers, and the output layer.
#[derive(Module, Debug)]
pub(crate) struct RecurrentDecoder {
    pub(crate) embedding: Embedding,
    pub(crate) network: Network,
    /// How the context becomes the first state; without one it starts from zeros.
    pub(crate) bridge: Option<Bridge>,
    pub(crate) output: Output,
    /// Whether the context stands beside every input.
    #[module(skip)]
    pub(crate) fed_at_every_step: bool,
    #[module(skip)]
    pub(crate) dropout: f64,
}

/// What the encoder may use as its own.
#[derive(Clone, Copy)]
pub(crate) struct Lent<'a> {
    pub(crate) embedding: &'a Embedding,
    pub(crate) network: &'a Network,
}

/// What is carried from step to step.
#[derive(Clone, Debug)]
pub(crate) struct RecurrentState {
    /// One state per layer.
    layers: Vec<CellState>,
    /// The context c [B, width], where it is fed at every step.
    context: Option<Tensor<2>>,
}

impl RecurrentState {
    pub(crate) fn select(&self, rows: Tensor<1, Int>) -> Self {
        let select = |part: Tensor<2>| part.select(0, rows.clone());
        Self {
            layers: self.layers.iter().map(|state| state.map(select)).collect(),
            context: self.context.clone().map(select),
        }
    }
}

impl RecurrentDecoder {
    pub(crate) fn start(&self, memory: Option<&Memory>, batch: usize, device: &Device) -> RecurrentState {
        let zeros = || self.network.zeros(batch, device);
        let layers = match (&self.bridge, memory) {
            (Some(bridge), Some(memory)) => bridge.forward(&memory.summary, zeros()),
            _ => zeros(),
        };
        let context = memory.filter(|_| self.fed_at_every_step).and_then(Memory::context);
        RecurrentState { layers, context }
    }

    pub(crate) fn advance(
        &self,
        tokens: &Tokens,
        state: RecurrentState,
        noise: &mut Noise,
    ) -> (Tensor<3>, RecurrentState) {
        let [_, time] = tokens.ids.dims();
        let mut input = dropout(self.embedding.forward(tokens.ids.clone()), self.dropout, noise); // [B, T, C]
        if let Some(context) = &state.context {
            let repeated = context.clone().unsqueeze_dim::<3>(1).repeat_dim(1, time); // [B, T, width]
            input = Tensor::cat(vec![input, repeated], 2); // [B, T, C + width]
        }
        let written =
            self.network.forward(input, tokens.mask.clone(), Some(state.layers), Reading::Forward, noise);
        let features = dropout(written.states, self.dropout, noise); // [B, T, H]
        (features, RecurrentState { layers: written.last, context: state.context })
    }

    pub(crate) fn project(&self, features: Tensor<2>) -> Tensor<2> {
        self.output.forward(features, &self.embedding)
    }

    pub(crate) fn lend(&self) -> Lent<'_> {
        Lent { embedding: &self.embedding, network: &self.network }
    }
}
