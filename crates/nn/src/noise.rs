//! Dropout, with random numbers that are a function of their key and nothing else.
//!
//! y = x ⊙ m / (1 − p), where m is 0 with probability p and 1 otherwise.

use crate::flex::{Gradient, Operand, operation};
use burn::tensor::{Shape, Tensor, TensorData};
use gatto_kernels::dropout::{Dropout, add, apply, keep_mask};

/// What a forward pass draws from: the key of a training step, or nothing at prediction.
///
/// Two passes with the same key drop the same units, so that a resumed run repeats what an
/// uninterrupted one would have done.
#[derive(Clone, Debug)]
pub struct Noise {
    key: Option<u64>,
    drawn: u64,
}

impl Noise {
    /// No noise: what a model does at prediction.
    pub fn none() -> Self {
        Self { key: None, drawn: 0 }
    }

    /// The noise of one training step.
    pub fn seeded(key: u64) -> Self {
        Self { key: Some(key), drawn: 0 }
    }

    /// The key of a training step; none at prediction.
    pub fn key(&self) -> Option<u64> {
        self.key
    }

    /// The next `count` numbers of the step, to drop at `rate` by; none if nothing is dropped.
    pub(crate) fn draw(&mut self, rate: f64, count: usize) -> Option<Dropout> {
        let key = self.key.filter(|_| rate > 0.0)?;
        let offset = self.drawn;
        self.drawn += count as u64;
        Some(Dropout { key, offset, rate: rate as f32 })
    }
}

/// Drops elements of `x` at `rate` while training, and scales the others to keep the mean.
pub fn dropout<const D: usize>(x: Tensor<D>, rate: f64, noise: &mut Noise) -> Tensor<D> {
    let Some(drawn) = noise.draw(rate, x.shape().num_elements()) else { return x };
    match fused(&x, drawn) {
        Some(y) => y,
        None => x.clone() * mask(&x, drawn),
    }
}

/// `residual` + [`dropout`] of `x`.
pub fn add_dropped<const D: usize>(
    residual: Tensor<D>,
    x: Tensor<D>,
    rate: f64,
    noise: &mut Noise,
) -> Tensor<D> {
    let Some(drawn) = noise.draw(rate, x.shape().num_elements()) else { return residual + x };
    match fused_sum(&residual, &x, drawn) {
        Some(sum) => sum,
        None => residual + x.clone() * mask(&x, drawn),
    }
}

/// What every element is multiplied by.
pub(crate) fn mask<const D: usize>(x: &Tensor<D>, Dropout { key, offset, rate }: Dropout) -> Tensor<D> {
    let mut mask = vec![0.0f32; x.shape().num_elements()];
    keep_mask(key, offset, rate, &mut mask);
    Tensor::from_data(TensorData::new(mask, x.shape()), &x.device())
}

/// What the backward pass draws again.
#[derive(Clone, Debug)]
struct Dropped {
    drawn: Dropout,
    shape: Shape,
}

impl Dropped {
    fn gradient(&self, output: &[f32]) -> Option<(Vec<f32>, Shape)> {
        let Dropout { key, offset, rate } = self.drawn;
        Some((apply(key, offset, rate, output), self.shape.clone()))
    }
}

impl Gradient<1> for Dropped {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        [self.gradient(output)]
    }
}

impl Gradient<2> for Dropped {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 2] {
        [Some((output.to_vec(), self.shape.clone())), self.gradient(output)]
    }
}

fn fused<const D: usize>(x: &Tensor<D>, drawn: Dropout) -> Option<Tensor<D>> {
    let operand = Operand::of(x)?;
    let y = apply(drawn.key, drawn.offset, drawn.rate, operand.values.slice());
    Some(operation([operand], y, x.dims(), || Dropped { drawn, shape: x.shape() }))
}

fn fused_sum<const D: usize>(residual: &Tensor<D>, x: &Tensor<D>, drawn: Dropout) -> Option<Tensor<D>> {
    let operands = [Operand::of(residual)?, Operand::of(x)?];
    let [left, right] = operands.each_ref().map(|operand| operand.values.slice());
    let sum = add(left, right, drawn.key, drawn.offset, drawn.rate);
    Some(operation(operands, sum, x.dims(), || Dropped { drawn, shape: x.shape() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn dropping_keeps_the_mean_and_repeats_with_its_key() {
        let device = Device::flex();
        let ones = || Tensor::<2>::ones([100, 200], &device);
        let drop = |key| dropout(ones(), 0.3, &mut Noise::seeded(key)).into_data();
        let mean = Tensor::<2>::from_data(drop(1), &device).mean().into_scalar::<f32>();
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert_eq!(drop(1), drop(1));
        assert_ne!(drop(1), drop(2));
        assert_eq!(dropout(ones(), 0.3, &mut Noise::none()).into_data(), ones().into_data());
    }

    #[test]
    fn one_key_gives_every_layer_its_own_mask() {
        let device = Device::flex();
        let mut noise = Noise::seeded(3);
        let [a, b] = [(); 2].map(|()| dropout(Tensor::<1>::ones([64], &device), 0.5, &mut noise).into_data());
        assert_ne!(a, b);
    }
}
