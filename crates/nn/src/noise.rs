//! Dropout, with random numbers that are a function of their key and nothing else.
//!
//! y = x ⊙ m / (1 − p), where m is 0 with probability p and 1 otherwise.

use burn::tensor::{Tensor, TensorData};
use gatto_kernels::dropout::keep_mask;

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
}

/// Drops elements of `x` at `rate` while training, and scales the others to keep the mean.
pub fn dropout<const D: usize>(x: Tensor<D>, rate: f64, noise: &mut Noise) -> Tensor<D> {
    let Some(key) = noise.key.filter(|_| rate > 0.0) else { return x };
    let shape = x.shape();
    let mut mask = vec![0.0f32; shape.num_elements()];
    keep_mask(key, noise.drawn, rate as f32, &mut mask);
    noise.drawn += mask.len() as u64;
    let mask = Tensor::from_data(TensorData::new(mask, shape), &x.device());
    x * mask
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
