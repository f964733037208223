//! Where the last look was, as the next one knows it (Chorowski et al., 2015): the weights of the step before are convolved
//! along the source,
//!
//! ```text
//! f_t = F ∗ α_(t−1),   e_ti = vᵀ tanh(W_q s_t + W_k h_i + U f_ti)
//! ```
//!
//! so that the score can tell what has just been looked at from what comes next, even where both sound the same.
//!
//! `B` sources, `S` positions, `N` width of the window, `C` channels, `A` width of a key.

use crate::{Initial, linear_map};
use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, TensorData};

/// The sizes of a convolution over weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrailSettings {
    /// C: how many features a position gets.
    pub channels: usize,
    /// N: how many positions are seen; odd.
    pub width: usize,
}

/// A convolution over the weights of the last look.
#[derive(Module, Debug)]
pub struct Trail {
    /// F: [N, C].
    filter: Param<Tensor<2>>,
    /// U: [C, A].
    key: Param<Tensor<2>>,
}

impl Trail {
    /// For keys of width `key`.
    pub fn new(settings: TrailSettings, key: usize, initial: &mut Initial) -> Self {
        let TrailSettings { channels, width } = settings;
        Self { filter: initial.glorot([width, channels]), key: initial.glorot([channels, key]) }
    }

    /// What is added to keys, from weights [B, S]: [B, S, A].
    pub(super) fn forward(&self, weights: &Tensor<2>) -> Tensor<3> {
        let ([batch, positions], [width, _], [_, key]) =
            (weights.dims(), self.filter.dims(), self.key.dims());
        let device = weights.device();
        let around = Tensor::zeros([batch, width / 2], &device);
        let padded = Tensor::cat(vec![around.clone(), weights.clone(), around], 1); // [B, S + N − 1]
        let seen = (0..positions).flat_map(|at| (at..at + width).map(|at| at as i64));
        let seen: Vec<i64> = seen.collect();
        let seen = Tensor::<1, Int>::from_data(TensorData::new(seen, [positions * width]), &device);
        let seen = padded.select(1, seen).reshape([batch * positions, width]);
        let features = linear_map(seen, self.filter.val()); // [B·S, C]
        linear_map(features, self.key.val()).reshape([batch, positions, key])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn every_position_sees_the_weights_around_it() {
        let device = Device::flex();
        let mut initial = Initial::new(1, &device);
        let mut trail = Trail::new(TrailSettings { channels: 1, width: 3 }, 1, &mut initial);
        trail.filter = initial.given(vec![1.0, 10.0, 100.0], [3, 1]);
        trail.key = initial.given(vec![2.0], [1, 1]);
        let weights = Tensor::<2>::from_data([[0.5f32, 0.25, 0.0, 0.25], [0.0, 0.0, 1.0, 0.0]], &device);
        let found = trail.forward(&weights).try_into_vec_as::<f32>().unwrap();
        assert_eq!(found, [60.0, 6.0, 50.5, 5.0, 0.0, 200.0, 20.0, 2.0]);
    }
}
