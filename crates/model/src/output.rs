//! The output layer: o = s W + b, one score per token.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use gatto_nn::{Embedding, Initial, linear};

/// Weight `[H, V]` (or the target tokens' vectors, transposed) and bias `[V]`.
#[derive(Module, Debug)]
pub(crate) struct Output {
    /// `None` where the token vectors do double duty (Press & Wolf, 2017).
    weight: Option<Param<Tensor<2>>>,
    bias: Param<Tensor<1>>,
}

impl Output {
    pub(crate) fn new(width: usize, vocabulary: usize, tied: bool, initial: &mut Initial) -> Self {
        Self {
            weight: (!tied).then(|| initial.glorot([width, vocabulary])),
            bias: initial.constant([vocabulary], 0.0),
        }
    }

    pub(crate) fn forward(&self, features: Tensor<2>, embedding: &Embedding) -> Tensor<2> {
        let weight = match &self.weight {
            Some(weight) => weight.val(),
            None => embedding.weight.val().transpose(),
        };
        linear(features, weight, self.bias.val())
    }
}
