//! The recurrent encoder: h_t = f(x_t, h_{t−1}), and the context c is its last state.

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens};
use burn::module::Module;
use gatto_nn::recurrent::{Network, Reading};
use gatto_nn::{Embedding, Noise, dropout};

/// Token vectors and recurrent layers; `None` where the decoder's do double duty.
#[derive(Module, Debug)]
pub(crate) struct RecurrentEncoder {
    pub(crate) embedding: Option<Embedding>,
    pub(crate) network: Option<Network>,
    #[module(skip)]
    pub(crate) reading: Reading,
    #[module(skip)]
    pub(crate) dropout: f64,
}

impl RecurrentEncoder {
    pub(crate) fn encode(&self, source: &Tokens, lent: Lent<'_>, noise: &mut Noise) -> Memory {
        let embedding = self.embedding.as_ref().unwrap_or(lent.embedding);
        let network = self.network.as_ref().unwrap_or(lent.network);
        let embedded = dropout(embedding.forward(source.ids.clone()), self.dropout, noise); // [B, T, C]
        let read = network.forward(embedded, source.mask.clone(), None, self.reading, noise);
        Memory { states: read.states, mask: source.mask.clone(), summary: read.last }
    }
}
