//! What stands between the two maps of a feed-forward block.

use crate::flex::{Gradient, Operand, Values, operation};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::activation as kernel;
use serde::{Deserialize, Serialize};

/// The list of activations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// max(0, x).
    #[default]
    Relu,
    /// x Φ(x), with the exact distribution function Φ of the normal distribution (Hendrycks & Gimpel, 2016).
    Gelu,
}

impl Activation {
    /// As the kernels call it.
    pub(crate) fn kernel(self) -> kernel::Activation {
        match self {
            Self::Relu => kernel::Activation::Relu,
            Self::Gelu => kernel::Activation::Gelu,
        }
    }
}

/// The activation of every value.
pub fn activate<const D: usize>(x: Tensor<D>, activation: Activation) -> Tensor<D> {
    match fused(&x, activation) {
        Some(y) => y,
        None => activate_plain(x, activation),
    }
}

/// The activation in plain tensor operations.
pub fn activate_plain<const D: usize>(x: Tensor<D>, activation: Activation) -> Tensor<D> {
    match activation {
        Activation::Relu => burn::tensor::activation::relu(x),
        Activation::Gelu => burn::tensor::activation::gelu(x),
    }
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    x: Values,
    activation: kernel::Activation,
    shape: Shape,
}

impl Gradient<1> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        [Some((kernel::backward(self.activation, self.x.slice(), output), self.shape.clone()))]
    }
}

fn fused<const D: usize>(x: &Tensor<D>, activation: Activation) -> Option<Tensor<D>> {
    let operand = Operand::of(x)?;
    let activation = activation.kernel();
    let values = operand.values.clone();
    let y = kernel::forward(activation, values.slice());
    Some(operation([operand], y, x.dims(), || Kept { x: values, activation, shape: x.shape() }))
}
