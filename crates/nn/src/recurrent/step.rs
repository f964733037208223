//! A step of the layers over plain rows at prediction, which asks for no memory: the fused twin of [`Network::forward`] for a single
//! step.

use super::network::{Layer, Level, Network};
use super::{Cell, CellState};
use crate::flex::{Values, plain};
use burn::tensor::Tensor;
use gatto_kernels::recurrent::{StepRoom, step_prepared};

/// What layers carry from step to step as plain values, and what a step works with.
#[derive(Clone, Debug)]
pub struct PlainStates {
    /// h and, of an LSTM, c of each layer: [R, H].
    layers: Vec<[Vec<f32>; 2]>,
    has_cells: bool,
    width: usize,
    room: StepRoom,
}

impl PlainStates {
    /// The states of layers, if they live on the CPU and outside any gradient.
    pub fn new(layers: &[CellState]) -> Option<Self> {
        let values = |tensor: &Tensor<2>| Some(Values::of(tensor)?.slice().to_vec());
        let of_layer = |state: &CellState| {
            Some([values(&state.hidden)?, state.cell.as_ref().map_or(Some(Vec::new()), values)?])
        };
        let (width, has_cells) = (layers.first()?.hidden.dims()[1], layers.first()?.cell.is_some());
        let layers = layers.iter().map(of_layer).collect::<Option<_>>()?;
        Some(Self { layers, has_cells, width, room: StepRoom::default() })
    }

    /// The same as tensors.
    pub fn tensors(&self) -> Vec<CellState> {
        let tensor = |values: &Vec<f32>| plain(values.clone(), [values.len() / self.width, self.width]);
        let of_layer = |[hidden, cell]: &[Vec<f32>; 2]| CellState {
            hidden: tensor(hidden),
            cell: self.has_cells.then(|| tensor(cell)),
        };
        self.layers.iter().map(of_layer).collect()
    }

    /// Only these rows, in this order; `spare` is memory for it.
    pub fn select(&mut self, rows: &[usize], spare: &mut Vec<f32>) {
        self.layers.iter_mut().flatten().for_each(|list| select_rows(list, self.width, rows, spare));
    }

    /// h of the last layer: [R, H].
    pub fn top(&self) -> &[f32] {
        self.layers.last().map_or(&[], |[hidden, _]| hidden)
    }
}

/// Only these rows of a list of rows of this width, in this order.
pub fn select_rows(list: &mut Vec<f32>, width: usize, rows: &[usize], spare: &mut Vec<f32>) {
    if list.is_empty() {
        return;
    }
    spare.clear();
    rows.iter().for_each(|&row| spare.extend_from_slice(&list[row * width..][..width]));
    std::mem::swap(list, spare);
}

impl Network {
    /// Whether [`Network::step_in_place`] can be asked for.
    pub fn can_step_in_place(&self) -> bool {
        let ready = |level: &Level| level.backward.is_none() && level.forward.is_ready();
        self.layers.iter().all(ready)
    }

    /// Reads a plain input [R, I] of every row, and changes the states of all layers.
    pub fn step_in_place(&self, input: &[f32], states: &mut PlainStates) {
        let PlainStates { layers, room, .. } = states;
        for depth in 0..layers.len().min(self.layers.len()) {
            let (below, own) = layers.split_at_mut(depth);
            let x = below.last().map_or(input, |[hidden, _]| hidden);
            if let [[hidden, cell], ..] = own {
                self.layers[depth].forward.step(self.cell, x, [hidden, cell], room);
            }
        }
    }
}

impl Layer {
    fn is_ready(&self) -> bool {
        self.ready.0.is_some() && self.ready_bias.is_some()
    }

    fn step(&self, kind: Cell, x: &[f32], state: [&mut [f32]; 2], room: &mut StepRoom) {
        if let (Some(weights), Some(bias)) = (&self.ready.0, &self.ready_bias) {
            step_prepared(kind, weights, bias.slice(), x, state, room);
        }
    }
}
