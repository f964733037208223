//! Where the heads of a stack looked.

use crate::flex::plain;
use burn::tensor::Tensor;

/// Where the heads of each layer looked. What a step leaves is made a tensor only where someone asks for it: few do, and a step is
/// short.
#[derive(Clone, Debug, Default)]
pub struct Looks(Vec<Look>);

#[derive(Clone, Debug)]
enum Look {
    Tensor(Tensor<4>),
    Plain(Vec<f32>, [usize; 4]),
}

impl Looks {
    /// The weights of the next layer.
    pub(super) fn push(&mut self, weights: Tensor<4>) {
        self.0.push(Look::Tensor(weights));
    }

    /// The same as plain values of this shape.
    pub(super) fn push_plain(&mut self, weights: Vec<f32>, shape: [usize; 4]) {
        self.0.push(Look::Plain(weights, shape));
    }

    /// The weights of every layer: [B, H, T, S].
    pub fn tensors(self) -> Vec<Tensor<4>> {
        let tensor = |look| match look {
            Look::Tensor(weights) => weights,
            Look::Plain(weights, shape) => plain(weights, shape),
        };
        self.0.into_iter().map(tensor).collect()
    }
}
