//! Layer norm: y = (x − μ) / √(σ² + ε) ⊙ γ + β, with μ and σ² over the features of each row
//! (Ba et al., 2016).

use crate::flex::{Gradient, Operand, Values, operation};
use crate::noise::mask;
use crate::{Initial, Noise, add_dropped};
use burn::module::{Module, Param};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::dropout::{Dropout, apply};
use gatto_kernels::norm as kernel;
use std::sync::Arc;

/// ε: keeps a row without variance finite.
pub(crate) const EPSILON: f32 = 1e-5;

/// The scale γ and the shift β, each `[C]`.
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// γ.
    pub scale: Param<Tensor<1>>,
    /// β.
    pub shift: Param<Tensor<1>>,
}

impl LayerNorm {
    /// A norm that changes nothing but mean and variance, for rows of `width`.
    pub fn new(width: usize, initial: &mut Initial) -> Self {
        Self { scale: initial.constant([width], 1.0), shift: initial.constant([width], 0.0) }
    }

    /// Normalises every row of `x` `[B, T, C]`.
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let [batch, time, width] = x.dims();
        layer_norm(x.reshape([batch * time, width]), self.scale.val(), self.shift.val())
            .reshape([batch, time, width])
    }

    /// Normalises `residual` + [`dropout`](crate::dropout) of `x`, each `[B, T, C]`: what stands behind a sublayer.
    pub fn of_sum(&self, residual: Tensor<3>, x: Tensor<3>, rate: f64, noise: &mut Noise) -> Tensor<3> {
        let [batch, time, width] = x.dims();
        let [residual, x] = [residual, x].map(|x| x.reshape([batch * time, width]));
        norm_of_sum(residual, x, self.scale.val(), self.shift.val(), rate, noise)
            .reshape([batch, time, width])
    }
}

/// Normalises the rows of `residual` + dropout of `x`, each `[N, C]`.
pub fn norm_of_sum(
    residual: Tensor<2>,
    x: Tensor<2>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    rate: f64,
    noise: &mut Noise,
) -> Tensor<2> {
    let mut ahead = noise.clone();
    match fused_sum(&residual, &x, &scale, &shift, rate, &mut ahead) {
        Some(y) => {
            *noise = ahead;
            y
        }
        None => layer_norm(add_dropped(residual, x, rate, noise), scale, shift),
    }
}

/// The same in plain tensor operations.
pub fn norm_of_sum_plain(
    residual: Tensor<2>,
    x: Tensor<2>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    rate: f64,
    noise: &mut Noise,
) -> Tensor<2> {
    let x = match noise.draw(rate, x.shape().num_elements()) {
        Some(drawn) => x.clone() * mask(&x, drawn),
        None => x,
    };
    layer_norm_plain(residual + x, scale, shift)
}

/// Normalises the rows of `x` `[N, C]`.
pub fn layer_norm(x: Tensor<2>, scale: Tensor<1>, shift: Tensor<1>) -> Tensor<2> {
    match fused(&x, &scale, &shift) {
        Some(y) => y,
        None => layer_norm_plain(x, scale, shift),
    }
}

/// The norm in plain tensor operations.
pub fn layer_norm_plain(x: Tensor<2>, scale: Tensor<1>, shift: Tensor<1>) -> Tensor<2> {
    let centred = x.clone() - x.mean_dim(1); // [N, C]
    let variance = centred.clone().powf_scalar(2.0).mean_dim(1); // [N, 1]
    centred / (variance + EPSILON).sqrt() * scale.unsqueeze() + shift.unsqueeze()
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    x: Values,
    scale: Values,
    tape: Arc<kernel::Tape>,
    shape: [usize; 2],
}

impl Gradient<3> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let [rows, width] = self.shape;
        let found = kernel::backward(self.x.slice(), self.scale.slice(), &self.tape, output);
        [
            Some((found.x, Shape::new([rows, width]))),
            Some((found.gamma, Shape::new([width]))),
            Some((found.beta, Shape::new([width]))),
        ]
    }
}

fn fused(x: &Tensor<2>, scale: &Tensor<1>, shift: &Tensor<1>) -> Option<Tensor<2>> {
    let shape = x.dims();
    let operands = [Operand::of(x)?, Operand::of(scale)?, Operand::of(shift)?];
    let [x, scale, shift] = operands.each_ref().map(|operand| operand.values.clone());
    let kernel::Normed { y, tape } = kernel::forward(x.slice(), scale.slice(), shift.slice(), EPSILON);
    Some(operation(operands, y, shape, || Kept { x, scale, tape: Arc::new(tape), shape }))
}

/// What the backward pass of a normalised sum reads again; the mask is drawn again.
#[derive(Clone, Debug)]
struct KeptSum {
    sum: Arc<Vec<f32>>,
    scale: Values,
    tape: Arc<kernel::Tape>,
    drawn: Option<Dropout>,
    shape: [usize; 2],
}

impl Gradient<4> for KeptSum {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 4] {
        let [rows, width] = self.shape;
        let found = kernel::backward(&self.sum, self.scale.slice(), &self.tape, output);
        let of_x = match self.drawn {
            Some(Dropout { key, offset, rate }) => apply(key, offset, rate, &found.x),
            None => found.x.clone(),
        };
        [
            Some((found.x, Shape::new([rows, width]))),
            Some((of_x, Shape::new([rows, width]))),
            Some((found.gamma, Shape::new([width]))),
            Some((found.beta, Shape::new([width]))),
        ]
    }
}

/// `None` at prediction as well, where the sum need not be kept.
fn fused_sum(
    residual: &Tensor<2>,
    x: &Tensor<2>,
    scale: &Tensor<1>,
    shift: &Tensor<1>,
    rate: f64,
    noise: &mut Noise,
) -> Option<Tensor<2>> {
    let shape = x.dims();
    let operands = [Operand::of(residual)?, Operand::of(x)?, Operand::of(scale)?, Operand::of(shift)?];
    if !operands.iter().any(Operand::is_tracked) {
        return None;
    }
    let [residual, x, scale, shift] = operands.each_ref().map(|operand| operand.values.clone());
    let drawn = noise.draw(rate, shape[0] * shape[1]);
    let (residual, x, shift) = (residual.slice(), x.slice(), shift.slice());
    let kernel::NormedSum { sum, y, tape } =
        kernel::forward_sum(residual, x, drawn, scale.slice(), shift, EPSILON);
    let (sum, tape) = (Arc::new(sum), Arc::new(tape));
    Some(operation(operands, y, shape, || KeptSum { sum, scale, tape, drawn, shape }))
}
