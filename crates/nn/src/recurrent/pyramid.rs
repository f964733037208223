//! Recurrent layers that read ever fewer and ever longer stretches of a sound (Chan et al., 2016): from layer j − 1 to
//! layer j, neighbours become one,
//!
//! ```text
//! h_i^j = f([h_2i^(j−1); h_(2i+1)^(j−1)], h_(i−1)^j)
//! ```
//!
//! so that after k such layers a state stands for 2^k frames. Where the number of states is odd, zeros stand for the
//! neighbour that is missing; so do they behind the end of a shorter sound, whatever else is in the batch.
//!
//! `B` sounds, `T` positions, `C` features.

use super::{Cell, CellState, Network, NetworkConfig, Reading};
use crate::{Initial, Noise, Preparing, dropout};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};

/// The shape of a [`Pyramid`].
#[derive(Clone, Debug)]
pub struct PyramidConfig {
    /// Kind of cell.
    pub cell: Cell,
    /// Width of what is read.
    pub input: usize,
    /// Width of a layer in one direction.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// How many of the layers, counted from the last, read two neighbours as one.
    pub halvings: usize,
    /// Whether every layer reads in both directions.
    pub bidirectional: bool,
    /// Dropout on what a layer reads, from the second layer on.
    pub dropout: f64,
}

/// Recurrent layers, each a network of its own.
#[derive(Module, Debug)]
pub struct Pyramid {
    layers: Vec<Network>,
    #[module(skip)]
    halvings: usize,
    #[module(skip)]
    dropout: f64,
}

/// What a pyramid leaves behind.
#[derive(Clone, Debug)]
pub struct PyramidOutput {
    /// The last layer's states, zeros on padding: [B, T / 2^halvings, directions · width].
    pub states: Tensor<3>,
    /// Which of them exist: [B, T / 2^halvings].
    pub mask: Tensor<2>,
    /// How many of each row exist.
    pub lengths: Vec<usize>,
    /// The state of every layer after its last step; of both directions side by side.
    pub last: Vec<CellState>,
}

impl Pyramid {
    /// Layers with first values from `initial`.
    pub fn new(config: &PyramidConfig, initial: &mut Initial) -> Self {
        let PyramidConfig { cell, width, halvings, bidirectional, .. } = *config;
        let plain = config.layers.saturating_sub(halvings);
        let mut input = config.input;
        let layers = (0..config.layers).map(|depth| {
            let read = if depth < plain { input } else { 2 * input };
            input = width * (1 + usize::from(bidirectional));
            let layer = NetworkConfig {
                cell,
                input: read,
                width,
                layers: 1,
                bidirectional,
                apart: false,
                dropout: 0.0,
            };
            Network::new(&layer, initial)
        });
        Self { layers: layers.collect(), halvings, dropout: config.dropout }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.layers.iter_mut().for_each(|layer| layer.prepare(how));
    }

    /// Reads `x` [B, T, C], of which each row has so many positions.
    pub fn forward(&self, x: Tensor<3>, lengths: &[usize], noise: &mut Noise) -> PyramidOutput {
        let device = x.device();
        let plain = self.layers.len().saturating_sub(self.halvings);
        let mut lengths = lengths.to_vec();
        let mut mask = existing(&lengths, x.dims()[1], &device);
        let mut states = masked(x, &mask);
        let mut last = Vec::with_capacity(self.layers.len());
        for (depth, layer) in self.layers.iter().enumerate() {
            if depth > 0 {
                states = dropout(states, self.dropout, noise);
            }
            if depth >= plain {
                states = joined(states); // [B, ⌈T / 2⌉, 2·C]
                lengths.iter_mut().for_each(|length| *length = length.div_ceil(2));
                mask = existing(&lengths, states.dims()[1], &device);
            }
            let read = layer.forward(states, mask.clone(), None, Reading::Forward, noise);
            states = masked(read.states, &mask);
            last.extend(read.last);
        }
        PyramidOutput { states, mask, lengths, last }
    }
}

/// 1 where a position exists, of `time` in each row: [B, T].
pub fn existing(lengths: &[usize], time: usize, device: &Device) -> Tensor<2> {
    let mut mask = vec![0.0f32; lengths.len() * time];
    for (row, &length) in lengths.iter().enumerate() {
        mask[row * time..][..length].fill(1.0);
    }
    Tensor::from_data(TensorData::new(mask, [lengths.len(), time]), device)
}

/// Zeros in place of padding.
pub fn masked(states: Tensor<3>, mask: &Tensor<2>) -> Tensor<3> {
    states * mask.clone().unsqueeze_dim::<3>(2)
}

/// Neighbours as one: [B, T, C] → [B, ⌈T / 2⌉, 2·C].
fn joined(states: Tensor<3>) -> Tensor<3> {
    let [batch, time, width] = states.dims();
    let even = match time % 2 {
        0 => states,
        _ => {
            let missing = Tensor::zeros([batch, 1, width], &states.device());
            Tensor::cat(vec![states, missing], 1)
        }
    };
    even.reshape([batch, time.div_ceil(2), 2 * width])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_and_a_missing_one_is_zeros() {
        let states = Tensor::<3>::from_data(
            TensorData::new((1..=6).map(|n| n as f32).collect::<Vec<_>>(), [1, 3, 2]),
            &Device::flex(),
        );
        let found = joined(states);
        assert_eq!(found.dims(), [1, 2, 4]);
        assert_eq!(found.try_into_vec_as::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
    }

    #[test]
    fn what_stands_behind_a_sound_is_not_heard() {
        let device = Device::flex();
        for (layers, halvings) in [(1, 0), (1, 1), (3, 2), (3, 3)] {
            let config = PyramidConfig {
                cell: Cell::Lstm,
                input: 3,
                width: 4,
                layers,
                halvings,
                bidirectional: true,
                dropout: 0.0,
            };
            let pyramid = Pyramid::new(&config, &mut Initial::new(5, &device));
            let values: Vec<f32> = (0..2 * 11 * 3).map(|n| (n as f32 * 0.7).sin()).collect();
            let both = Tensor::<3>::from_data(TensorData::new(values, [2, 11, 3]), &device);
            for length in 1..=11 {
                let together = pyramid.forward(both.clone(), &[11, length], &mut Noise::none());
                let alone = both.clone().narrow(0, 1, 1).narrow(1, 0, length);
                let alone = pyramid.forward(alone, &[length], &mut Noise::none());
                let positions = length.div_ceil(1 << halvings);
                assert_eq!(together.lengths, [11usize.div_ceil(1 << halvings), positions]);
                assert_eq!(alone.states.dims(), [1, positions, 8]);
                let numbers = |tensor: Tensor<3>| tensor.try_into_vec_as::<f32>().unwrap();
                let heard = numbers(together.states.clone().narrow(0, 1, 1).narrow(1, 0, positions));
                for (one, other) in heard.into_iter().zip(numbers(alone.states)) {
                    assert!((one - other).abs() < 1e-6, "{layers} layers, {halvings} halve, length {length}");
                }
                for (one, other) in together.last.iter().zip(&alone.last) {
                    let row = one.hidden.clone().narrow(0, 1, 1).try_into_vec_as::<f32>().unwrap();
                    let other = other.hidden.clone().try_into_vec_as::<f32>().unwrap();
                    assert!(row.iter().zip(&other).all(|(one, other)| (one - other).abs() < 1e-6));
                }
            }
        }
    }
}
