//! One recurrent layer over all its steps.
//!
//! Where the mask is 0 the state is carried over unchanged, h_t = m·h′ + (1 − m)·h_{t−1}, so that
//! padding at the end of a sentence reaches neither its states nor its last state.

use super::cell::step;
use super::{Cell, CellState, fused};
use crate::prepared::ReadyLayer;
use burn::tensor::Tensor;

/// The weights of one layer in one direction.
#[derive(Clone, Debug)]
pub struct LayerWeights {
    /// W_x: [I, G·H].
    pub input: Tensor<2>,
    /// W_h: [H, G·H].
    pub recurrent: Tensor<2>,
    /// b: [G·H], for the GRU [4·H].
    pub bias: Tensor<1>,
    /// The same made ready for prediction.
    pub(crate) ready: ReadyLayer,
}

impl LayerWeights {
    /// Weights as they are.
    pub fn new(input: Tensor<2>, recurrent: Tensor<2>, bias: Tensor<1>) -> Self {
        Self { input, recurrent, bias, ready: ReadyLayer::default() }
    }
}

/// What a layer reads.
#[derive(Clone, Debug)]
pub struct LayerInput {
    /// x: [B, T, I].
    pub x: Tensor<3>,
    /// 1 where a position exists, 0 on padding: [B, T].
    pub mask: Tensor<2>,
    /// The state before the first step.
    pub first: CellState,
    /// Whether to run from the last position to the first.
    pub reverse: bool,
}

/// What a layer leaves behind.
#[derive(Clone, Debug)]
pub struct LayerOutput {
    /// h at every position: [B, T, H]. On padding, the state carried over.
    pub states: Tensor<3>,
    /// The state after the last step in running order.
    pub last: CellState,
}

/// Runs a layer: the fused form where the CPU has it, the plain form elsewhere.
pub fn layer(kind: Cell, input: LayerInput, weights: LayerWeights) -> LayerOutput {
    match fused::layer(kind, &input, &weights) {
        Some(output) => output,
        None => layer_plain(kind, input, weights),
    }
}

/// The layer in plain tensor operations: the reference for the fused form, and what runs on other devices.
pub fn layer_plain(kind: Cell, input: LayerInput, weights: LayerWeights) -> LayerOutput {
    let LayerInput { x, mask, first, reverse } = input;
    let [batch, time, features] = x.dims();
    let gates = weights.input.dims()[1];
    let width = gates / kind.gates();
    let projected = x.reshape([batch * time, features]).matmul(weights.input)
        + weights.bias.clone().narrow(0, 0, gates).unsqueeze(); // [B·T, G·H]
    let projected = projected.reshape([batch, time, gates]); // [B, T, G·H]
    let candidate_bias = (kind.bias_blocks() > kind.gates()).then(|| weights.bias.narrow(0, gates, width)); // [H]

    let mut states = vec![None; time];
    let mut state = first;
    let order: Box<dyn Iterator<Item = usize>> =
        if reverse { Box::new((0..time).rev()) } else { Box::new(0..time) };
    for t in order {
        let now = projected.clone().narrow(1, t, 1).reshape([batch, gates]); // [B, G·H]
        let next = step(kind, now, &state, weights.recurrent.clone(), candidate_bias.clone());
        let exists = mask.clone().narrow(1, t, 1); // [B, 1]
        state = next.zip(&state, |new, old| old.clone() + (new - old) * exists.clone());
        states[t] = Some(state.hidden.clone().unsqueeze_dim::<3>(1)); // [B, 1, H]
    }
    let states = Tensor::cat(states.into_iter().flatten().collect(), 1); // [B, T, H]
    LayerOutput { states, last: state }
}
