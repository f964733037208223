//! Group norm (Wu & He, 2018): y = (x − μ) / √(σ² + ε) ⊙ γ + β, with μ and σ² over all pixels of an image and the
//! channels of a group. An image does not depend on its company, as it would with batch norm.

use crate::Initial;
use crate::flex::{Gradient, Operand, Values, operation_keeping};
use crate::norm::EPSILON;
use burn::module::{Module, Param};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::group_norm as kernel;
use std::sync::Arc;

/// The scale γ and the shift β, each `[C]`, of so many groups of channels.
#[derive(Module, Debug)]
pub struct GroupNorm {
    /// γ.
    pub scale: Param<Tensor<1>>,
    /// β.
    pub shift: Param<Tensor<1>>,
    #[module(skip)]
    groups: usize,
}

impl GroupNorm {
    /// A norm that changes nothing but mean and variance. The number of groups divides that of channels.
    pub fn new(channels: usize, groups: usize, initial: &mut Initial) -> Self {
        Self { scale: initial.constant([channels], 1.0), shift: initial.constant([channels], 0.0), groups }
    }

    /// Normalises `x` [B, H, W, C], adds `residual` [B, H, W, C], and then with `relu` keeps what is above zero.
    pub fn forward(&self, x: Tensor<4>, residual: Option<Tensor<4>>, relu: bool) -> Tensor<4> {
        group_norm(x, self.scale.val(), self.shift.val(), self.groups, residual, relu)
    }
}

/// Normalises `x` [B, H, W, C], adds `residual` [B, H, W, C], and then with `relu` keeps what is above zero.
pub fn group_norm(
    x: Tensor<4>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    groups: usize,
    residual: Option<Tensor<4>>,
    relu: bool,
) -> Tensor<4> {
    match fused(&x, &scale, &shift, groups, residual.as_ref(), relu) {
        Some(y) => y,
        None => group_norm_plain(x, scale, shift, groups, residual, relu),
    }
}

/// The norm in plain tensor operations.
pub fn group_norm_plain(
    x: Tensor<4>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    groups: usize,
    residual: Option<Tensor<4>>,
    relu: bool,
) -> Tensor<4> {
    let [batch, height, width, channels] = x.dims();
    let (pixels, inside) = (height * width, channels / groups.max(1));
    let x = x.reshape([batch, pixels, groups, inside]).swap_dims(1, 2); // [B, G, H·W, C / G]
    let x = x.reshape([batch, groups, pixels * inside]);
    let centred = x.clone() - x.mean_dim(2);
    let variance = centred.clone().powf_scalar(2.0).mean_dim(2); // [B, G, 1]
    let normed = centred / (variance + EPSILON).sqrt();
    let normed = normed.reshape([batch, groups, pixels, inside]).swap_dims(1, 2);
    let y = normed.reshape([batch, height, width, channels]) * scale.unsqueeze() + shift.unsqueeze();
    let y = match residual {
        Some(residual) => y + residual,
        None => y,
    };
    if relu { burn::tensor::activation::relu(y) } else { y }
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    shape: kernel::Shape,
    dims: [usize; 4],
    x: Values,
    scale: Values,
    tape: Arc<kernel::Tape>,
    /// The output, if it went through a ReLU.
    y: Option<Values>,
}

impl Kept {
    fn all(&self, output: &[f32], residual: bool) -> [Option<(Vec<f32>, Shape)>; 4] {
        let kept = kernel::Kept {
            shape: self.shape,
            x: self.x.slice(),
            scale: self.scale.slice(),
            tape: &self.tape,
            residual,
            y: self.y.as_ref().map(Values::slice),
        };
        let found = kernel::backward(&kept, output);
        let channels = Shape::new([self.shape.channels]);
        [
            Some((found.x, Shape::new(self.dims))),
            Some((found.scale, channels.clone())),
            Some((found.shift, channels)),
            found.residual.map(|residual| (residual, Shape::new(self.dims))),
        ]
    }
}

impl Gradient<4> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 4] {
        self.all(output, true)
    }
}

/// Without a residual.
impl Gradient<3> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let [x, scale, shift, _] = self.all(output, false);
        [x, scale, shift]
    }
}

fn fused(
    x: &Tensor<4>,
    scale: &Tensor<1>,
    shift: &Tensor<1>,
    groups: usize,
    residual: Option<&Tensor<4>>,
    relu: bool,
) -> Option<Tensor<4>> {
    let dims @ [batch, height, width, channels] = x.dims();
    let shape = kernel::Shape { batch, pixels: height * width, channels, groups };
    let operands = [Operand::of(x)?, Operand::of(scale)?, Operand::of(shift)?];
    let residual = match residual {
        Some(residual) => Some(Operand::of(residual)?),
        None => None,
    };
    let [x, scale, shift] = operands.each_ref().map(|operand| operand.values.clone());
    let kernel::Normed { y, tape } = kernel::forward(&kernel::Args {
        shape,
        x: x.slice(),
        scale: scale.slice(),
        shift: shift.slice(),
        epsilon: EPSILON,
        residual: residual.as_ref().map(|residual| residual.values.slice()),
        relu,
    });
    let remember =
        move |y: Values| Kept { shape, dims, x, scale, tape: Arc::new(tape), y: relu.then_some(y) };
    let [x, scale, shift] = operands;
    Some(match residual {
        Some(residual) => operation_keeping([x, scale, shift, residual], y, dims, remember),
        None => operation_keeping([x, scale, shift], y, dims, remember),
    })
}
