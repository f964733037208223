//! y = x W + b.

use crate::flex::{Gradient, Operand, Values, operation};
use crate::{Initial, Preparing, Ready, ReadyMap};
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
    #[module(skip)]
    ready: Ready,
}

impl Linear {
    /// A map from `input` to `output` features.
    pub fn new(input: usize, output: usize, initial: &mut Initial) -> Self {
        let (weight, bias) = (initial.glorot([input, output]), initial.constant([output], 0.0));
        Self { weight, bias, ready: Ready::default() }
    }

    /// Makes the weight ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.ready = Ready::new(&self.weight, false, how);
    }

    /// The map of plain rows, if its weight was made ready.
    pub fn ready(&self) -> Option<ReadyMap> {
        ReadyMap::new(&self.ready, &self.bias.val())
    }

    /// Applies the map to every row: `[…, I]` → `[…, O]`.
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        let [input, output] = self.weight.dims();
        let mut shape = x.dims();
        let rows = shape.iter().product::<usize>() / input.max(1);
        shape[D - 1] = output;
        let x = x.reshape([rows, input]);
        let y = self.ready.forward(&x, Some(&self.bias.val()));
        y.unwrap_or_else(|| linear(x, self.weight.val(), self.bias.val())).reshape(shape)
    }
}

/// x W + b: `x` `[N, I]`, `weight` `[I, O]`, `bias` `[O]` → `[N, O]`.
pub fn linear(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    match fused(&x, &weight, &bias, false) {
        Some(y) => y,
        None => linear_plain(x, weight, bias),
    }
}

/// x Wᵀ + b, with `weight` `[O, I]`: token vectors as output layer.
pub fn linear_transposed(x: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    match fused(&x, &weight, &bias, true) {
        Some(y) => y,
        None => linear_plain(x, weight.transpose(), bias),
    }
}

/// x W: `x` `[N, I]`, `weight` `[I, O]` → `[N, O]`.
pub(crate) fn linear_map(x: Tensor<2>, weight: Tensor<2>) -> Tensor<2> {
    if x.is_autodiff() || weight.is_autodiff() {
        return x.matmul(weight);
    }
    let zeros = Tensor::zeros([weight.dims()[1]], &x.device());
    linear(x, weight, zeros)
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
        let kernel::Shape { rows, input, output: out, transposed } = self.shape;
        let found = kernel::backward(self.shape, self.x.slice(), self.weight.slice(), output);
        let weight = if transposed { [out, input] } else { [input, out] };
        [
            Some((found.x, Shape::new([rows, input]))),
            Some((found.weight, Shape::new(weight))),
            Some((found.bias, Shape::new([out]))),
        ]
    }
}

fn fused(x: &Tensor<2>, weight: &Tensor<2>, bias: &Tensor<1>, transposed: bool) -> Option<Tensor<2>> {
    let ([rows, input], [output]) = (x.dims(), bias.dims());
    let shape = kernel::Shape { rows, input, output, transposed };
    let operands = [Operand::of(x)?, Operand::of(weight)?, Operand::of(bias)?];
    let [x, weight, bias] = operands.each_ref().map(|operand| operand.values.clone());
    let forward =
        if operands.iter().any(Operand::is_tracked) { kernel::forward } else { kernel::forward_steady };
    let y = forward(shape, x.slice(), weight.slice(), bias.slice());
    Some(operation(operands, y, [rows, output], || Kept { shape, x, weight }))
}
