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
    pub(crate) fn read(
        &self,
        source: &Tokens,
        vectors: Tensor<3>,
        lent: Lent<'_>,
        noise: &mut Noise,
    ) -> Memory {
        let Some(network) = self.network.as_ref().or(lent.network) else {
            unreachable!("what an encoder has not, the decoder lends")
        };
        let mut vectors = dropout(vectors, self.dropout, noise); // [B, T, C]
        if let Some(features) = lent.features {
            let features = dropout(features.forward(source, noise), self.dropout, noise);
            vectors = Tensor::cat(vec![vectors, features], 2); // [B, T, C + 2·H]
        }
        let read = network.forward(vectors, source.mask.clone(), None, self.reading, noise);
        Memory { summary: read.last, ..Memory::new(read.states, source) }
    }
}
