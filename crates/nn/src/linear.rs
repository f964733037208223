//! y = x W + b.

use crate::Initial;
use burn::module::{Module, Param};
use burn::tensor::Tensor;

/// An affine map with weight [I, O] and bias [O].
#[derive(Module, Debug)]
pub struct Linear {
    /// W: [I, O].
    pub weight: Param<Tensor<2>>,
    /// b: [O].
    pub bias: Param<Tensor<1>>,
}

impl Linear {
    /// A map from `input` to `output` features.
    pub fn new(input: usize, output: usize, initial: &mut Initial) -> Self {
        Self { weight: initial.glorot([input, output]), bias: initial.constant([output], 0.0) }
    }

    /// Applies the map to the last dimension.
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        burn::tensor::module::linear(x, self.weight.val(), Some(self.bias.val()))
    }
}
