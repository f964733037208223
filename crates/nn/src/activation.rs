//! What stands between the two maps of a feed-forward block.

use crate::Noise;
use crate::flex::{Gradient, Operand, Values, operation_keeping};
use crate::noise::mask;
use burn::tensor::{Shape, Tensor};
use gatto_kernels::activation as kernel;
use gatto_kernels::dropout::Dropout;
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

/// [`dropout`](crate::dropout) of the activation of every value.
pub fn activate_dropped<const D: usize>(
    x: Tensor<D>,
    activation: Activation,
    rate: f64,
    noise: &mut Noise,
) -> Tensor<D> {
    match noise.draw(rate, x.shape().num_elements()) {
        Some(drawn) => match fused_dropped(&x, activation, drawn) {
            Some(y) => y,
            None => {
                let y = activate_plain(x, activation);
                y.clone() * mask(&y, drawn)
            }
        },
        None => activate(x, activation),
    }
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    /// The input; or the output where that is enough, which whoever reads it keeps anyway.
    values: Values,
    activation: kernel::Activation,
    drawn: Option<Dropout>,
    shape: Shape,
}

impl Gradient<1> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        let (activation, kept) = (self.activation, self.values.slice());
        let gradient = match self.drawn {
            Some(drawn) => kernel::backward_dropped(activation, kept, output, drawn),
            None => kernel::backward(activation, kept, output),
        };
        [Some((gradient, self.shape.clone()))]
    }
}

fn fused<const D: usize>(x: &Tensor<D>, activation: Activation) -> Option<Tensor<D>> {
    let operand = Operand::of(x)?;
    let y = kernel::forward(activation.kernel(), operand.values.slice());
    Some(node(x, operand, y, activation, None))
}

fn fused_dropped<const D: usize>(x: &Tensor<D>, activation: Activation, drawn: Dropout) -> Option<Tensor<D>> {
    let operand = Operand::of(x)?;
    let y = kernel::forward_dropped(activation.kernel(), operand.values.slice(), drawn);
    Some(node(x, operand, y, activation, Some(drawn)))
}

fn node<const D: usize>(
    x: &Tensor<D>,
    operand: Operand,
    y: Vec<f32>,
    activation: Activation,
    drawn: Option<Dropout>,
) -> Tensor<D> {
    let before = operand.values.clone();
    operation_keeping([operand], y, x.dims(), |y| Kept {
        values: if activation == Activation::Relu { y } else { before },
        activation: activation.kernel(),
        drawn,
        shape: x.shape(),
    })
}
