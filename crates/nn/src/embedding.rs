//! A vector for every token.

use crate::Initial;
use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor};

/// A table of token vectors, [V, C].
#[derive(Module, Debug)]
pub struct Embedding {
    /// One row per token.
    pub weight: Param<Tensor<2>>,
}

impl Embedding {
    /// A table for `vocabulary` tokens; vectors start with length about one.
    pub fn new(vocabulary: usize, width: usize, initial: &mut Initial) -> Self {
        Self { weight: initial.normal([vocabulary, width], (width as f64).sqrt().recip()) }
    }

    /// The vectors of `tokens` [B, T], as [B, T, C].
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        burn::tensor::module::embedding(self.weight.val(), tokens)
    }

    /// Width of a vector, C.
    pub fn width(&self) -> usize {
        self.weight.dims()[1]
    }
}
