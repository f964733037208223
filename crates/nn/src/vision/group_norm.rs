//! Group norm (Wu & He, 2018): y = (x − μ) / √(σ² + ε) ⊙ γ + β, with μ and σ² over all pixels of an image and the
//! channels of a group. An image does not depend on its company, as it would with batch norm.

use crate::Initial;
use crate::norm::EPSILON;
use burn::module::{Module, Param};
use burn::tensor::Tensor;

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
    group_norm_plain(x, scale, shift, groups, residual, relu)
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
