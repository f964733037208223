//! y = x W + b.

use crate::Initial;
use crate::flex::{Gradient, Operand, Values, operation};
use burn::module::{Module, Param};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::linear as kernel;

/// An affine map with weight `[I, O]` and bias `[O]`.
#[derive(Module, Debug)]
pub struct Linear {
    /// W: `[I, O]`.
    pub weight: Param<Tensor<2>>,
    /// b: `[O]`.
    pub bias: Param<Tensor<1>>,
}

impl Linear {
    /// A map from `input` to `output` features.
    pub fn new(input: usize, output: usize, initial: &mut Initial) -> Self {
        Self { weight: initial.glorot([input, output]), bias: initial.constant([output], 0.0) }
    }

    /// Applies the map to every row: `[N, I]` → `[N, O]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        linear(x, self.weight.val(), self.bias.val())
    }
}

/// x W + b: `x` `[N, I]`, `weight` `[I, O]`, `bias` `[O]` → `[N, O]`.
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    match fused(&x, &weight, &bias) {
        Some(y) => y,
        None => linear_plain(x, weight, bias),
    }
}

/// The map in plain tensor operations.
pub fn linear_plain(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    x.matmul(weight) + bias.unsqueeze()
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    shape: kernel::Shape,
    x: Values,
    weight: Values,
}

impl Gradient<3> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let kernel::Shape { rows, input, output: out } = self.shape;
        let found = kernel::backward(self.shape, self.x.slice(), self.weight.slice(), output);
        [
            Some((found.x, Shape::new([rows, input]))),
            Some((found.weight, Shape::new([input, out]))),
            Some((found.bias, Shape::new([out]))),
        ]
    }
}

fn fused(x: &Tensor<2>, weight: &Tensor<2>, bias: &Tensor<1>) -> Option<Tensor<2>> {
    let ([rows, input], [_, output]) = (x.dims(), weight.dims());
    let shape = kernel::Shape { rows, input, output };
    let operands = [Operand::of(x)?, Operand::of(weight)?, Operand::of(bias)?];
    let [x, weight, bias] = operands.each_ref().map(|operand| operand.values.clone());
    let y = kernel::forward(shape, x.slice(), weight.slice(), bias.slice());
    Some(operation(operands, y, [rows, output], || Kept { shape, x, weight }))
}
