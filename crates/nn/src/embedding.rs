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
    /// A table for `vocabulary` tokens, each number drawn with this standard deviation. At 1, tokens
    /// are far apart from the start, which recurrent layers learn from fastest; a table that is an
    /// output layer as well wants 1 / √width, or its scores start too large.
    pub fn new(vocabulary: usize, width: usize, deviation: f64, initial: &mut Initial) -> Self {
        Self { weight: initial.normal([vocabulary, width], deviation) }
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
