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
    let time = x.dims()[1];
    let mut states = vec![None; time];
    let mut state = first;
    for t in running(time, reverse) {
        let now = x.clone().narrow(1, t, 1).squeeze_dim::<2>(1); // [B, I]
        state = plain_step(kind, now, mask.clone().narrow(1, t, 1), &state, &weights);
        states[t] = Some(state.hidden.clone().unsqueeze_dim::<3>(1)); // [B, 1, H]
    }
    let states = Tensor::cat(states.into_iter().flatten().collect(), 1); // [B, T, H]
    LayerOutput { states, last: state }
}

/// The steps in running order.
pub(super) fn running(time: usize, reverse: bool) -> impl Iterator<Item = usize> {
    (0..time).map(move |step| if reverse { time - 1 - step } else { step })
}

/// One step of a layer: x [B, I], of rows that `exists` [B, 1].
pub(super) fn plain_step(
    kind: Cell,
    x: Tensor<2>,
    exists: Tensor<2>,
    state: &CellState,
    weights: &LayerWeights,
) -> CellState {
    let gates = weights.input.dims()[1];
    let width = gates / kind.gates();
    let bias = weights.bias.clone().narrow(0, 0, gates).unsqueeze();
    let projected = x.matmul(weights.input.clone()) + bias; // [B, G·H]
    let candidate_bias =
        (kind.bias_blocks() > kind.gates()).then(|| weights.bias.clone().narrow(0, gates, width)); // [H]
    let next = step(kind, projected, state, weights.recurrent.clone(), candidate_bias);
    next.zip(state, |new, old| old.clone() + (new - old) * exists.clone())
}
