//! The recurrent encoder: h_t = f(x_t, h_{t−1}), and the context c is its last state.

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens};
use burn::module::Module;
use burn::tensor::Tensor;
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
    pub(crate) fn embed(&self, source: &Tokens, lent: Lent<'_>) -> Tensor<3> {
        self.embedding.as_ref().unwrap_or(lent.embedding).forward(source.ids.clone())
    }

    pub(crate) fn read(
        &self,
        source: &Tokens,
        vectors: Tensor<3>,
        lent: Lent<'_>,
        noise: &mut Noise,
    ) -> Memory {
        let network = self.network.as_ref().unwrap_or(lent.network);
        let vectors = dropout(vectors, self.dropout, noise); // [B, T, C]
        let read = network.forward(vectors, source.mask.clone(), None, self.reading, noise);
        let identities = source.identities.clone();
        Memory { states: read.states, mask: source.mask.clone(), summary: read.last, identities }
    }
}
