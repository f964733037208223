//! Features from a language model of both directions (Peters et al., 2018):
//! γ Σ_j s_j h_j over its layers j, with s = softmax(w), w and γ learned by the task.
//!
//! The token vectors are layer 0, each twice, where they are as wide as a direction.

use crate::memory::Tokens;
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use gatto_nn::recurrent::{Network, Reading};
use gatto_nn::{Embedding, Noise, dropout};

/// The language model, and how its layers are mixed.
#[derive(Module, Debug)]
pub(crate) struct Features {
    pub(crate) embedding: Embedding,
    pub(crate) network: Network,
    /// w: one number per layer.
    pub(crate) mixture: Param<Tensor<1>>,
    /// γ.
    pub(crate) scale: Param<Tensor<1>>,
    #[module(skip)]
    pub(crate) dropout: f64,
}

impl Features {
    /// The features of every token: [B, T, 2·H].
    pub(crate) fn forward(&self, source: &Tokens, noise: &mut Noise) -> Tensor<3> {
        let framed = source.behind_start();
        let vectors = self.embedding.forward(framed.ids.clone());
        let read = dropout(vectors.clone(), self.dropout, noise);
        let read = self.network.forward(read, framed.mask.clone(), None, Reading::Forward, noise);
        let twice = Tensor::cat(vec![vectors.clone(), vectors], 2); // [B, T + 1, 2·C]
        let layers = [twice].into_iter().chain(read.levels);
        let [batch, time, width] = read.states.dims();
        let weights = softmax(self.mixture.val(), 0);
        let count = self.mixture.dims()[0];
        let used: Vec<Tensor<3>> = layers.filter(|layer| layer.dims()[2] == width).collect();
        let skipped = used.len().saturating_sub(count);
        let mixed = used
            .into_iter()
            .skip(skipped)
            .enumerate()
            .fold(Tensor::zeros([batch, time, width], &weights.device()), |sum, (number, layer)| {
                sum + layer * weights.clone().narrow(0, number, 1).reshape([1, 1, 1])
            });
        (mixed * self.scale.val().reshape([1, 1, 1])).narrow(1, 1, time - 1)
    }
}
