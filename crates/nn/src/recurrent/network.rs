//! A stack of recurrent layers, in one or both directions, with dropout between them.

use super::{Cell, CellState, LayerInput, LayerLook, LayerWeights, LookingOutput, layer, looking_layer};
use crate::flex::Values;
use crate::prepared::ReadyLayer;
use crate::{Initial, Noise, Preparing, dropout};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

/// The order in which one-directional layers read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// From the first position to the last.
    Forward,
    /// From the last position to the first: the reversed input of Sutskever et al. (2014). States
    /// stay at the positions that they stand for.
    Backward,
}

/// The shape of a [`Network`].
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// Kind of cell.
    pub cell: Cell,
    /// Width of what is read, I.
    pub input: usize,
    /// Width of a layer in one direction, H.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Whether every layer reads in both directions, with its own weights for each.
    pub bidirectional: bool,
    /// Whether the directions stay apart: a layer reads what the one below it made of its own
    /// direction only, so that no state has seen what lies in front of it.
    pub apart: bool,
    /// Dropout on what a layer reads, from the second layer on.
    pub dropout: f64,
}

/// The parameters of one layer in one direction.
#[derive(Module, Debug)]
pub(super) struct Layer {
    input: Param<Tensor<2>>,
    recurrent: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
    #[module(skip)]
    pub(super) ready: ReadyLayer,
    /// `bias` as plain values, once weights are ready.
    #[module(skip)]
    pub(super) ready_bias: Option<Values>,
}

impl Layer {
    fn new(cell: Cell, input: usize, width: usize, initial: &mut Initial) -> Self {
        // An LSTM that starts by remembering: forget gates begin at 1 (Jozefowicz et al., 2015).
        let mut bias = vec![0.0; cell.bias_blocks() * width];
        if cell == Cell::Lstm {
            bias[width..2 * width].fill(1.0);
        }
        Self {
            input: initial.glorot([input, cell.gates() * width]),
            recurrent: initial.orthogonal(width, cell.gates()),
            bias: initial.given(bias, [cell.bias_blocks() * width]),
            ready: ReadyLayer::default(),
            ready_bias: None,
        }
    }

    fn prepare(&mut self, cell: Cell, how: Preparing<'_>) {
        self.ready = ReadyLayer::new(cell, &self.input, &self.recurrent, how);
        self.ready_bias = how.values(&self.bias);
    }

    fn weights(&self) -> LayerWeights {
        LayerWeights {
            input: self.input.val(),
            recurrent: self.recurrent.val(),
            bias: self.bias.val(),
            ready: self.ready.clone(),
        }
    }
}

/// One level of the stack: the parameters of each direction that it reads in.
#[derive(Module, Debug)]
pub(super) struct Level {
    pub(super) forward: Layer,
    pub(super) backward: Option<Layer>,
}

/// A stack of recurrent layers.
#[derive(Module, Debug)]
pub struct Network {
    pub(super) layers: Vec<Level>,
    #[module(skip)]
    pub(super) cell: Cell,
    #[module(skip)]
    width: usize,
    #[module(skip)]
    apart: bool,
    #[module(skip)]
    dropout: f64,
}

/// What a network leaves behind.
#[derive(Clone, Debug)]
pub struct NetworkOutput {
    /// The last layer's states: [B, T, directions · H].
    pub states: Tensor<3>,
    /// The state of every layer after its last step; of both directions side by side.
    pub last: Vec<CellState>,
    /// The states of every layer, the last included.
    pub levels: Vec<Tensor<3>>,
}

impl Network {
    /// A network with first values from `initial`.
    pub fn new(config: &NetworkConfig, initial: &mut Initial) -> Self {
        let NetworkConfig { cell, width, bidirectional, apart, .. } = *config;
        let mut input = config.input;
        let mut layers = Vec::with_capacity(config.layers);
        for _ in 0..config.layers {
            let mut layer = || Layer::new(cell, input, width, initial);
            let level = Level { forward: layer(), backward: bidirectional.then(layer) };
            input = if apart { width } else { level.directions() * width };
            layers.push(level);
        }
        Self { layers, cell, width, apart, dropout: config.dropout }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        for level in &mut self.layers {
            let directions = [Some(&mut level.forward), level.backward.as_mut()];
            directions.into_iter().flatten().for_each(|layer| layer.prepare(self.cell, how));
        }
    }

    /// Reads `x` [B, T, I] where `mask` [B, T] is 1, from the states in `first` (zeros if none).
    pub fn forward(
        &self,
        x: Tensor<3>,
        mask: Tensor<2>,
        first: Option<Vec<CellState>>,
        reading: Reading,
        noise: &mut Noise,
    ) -> NetworkOutput {
        let batch = x.dims()[0];
        let device = x.device();
        let first = first.unwrap_or_else(|| self.zeros(batch, &device));
        let mut last = Vec::with_capacity(self.layers.len());
        let mut levels = Vec::with_capacity(self.layers.len());
        let mut states = x;
        for (depth, (level, first)) in self.layers.iter().zip(first).enumerate() {
            if depth > 0 {
                states = dropout(states, self.dropout, noise);
            }
            let run = |weights: &Layer, direction: usize| {
                let x = match self.apart && depth > 0 {
                    true => states.clone().narrow(2, direction * self.width, self.width),
                    false => states.clone(),
                };
                let reverse = (reading == Reading::Backward) != (direction == 1);
                let input = LayerInput { x, mask: mask.clone(), first: first.clone(), reverse };
                layer(self.cell, input, weights.weights())
            };
            let forward = run(&level.forward, 0);
            states = match &level.backward {
                None => {
                    last.push(forward.last);
                    forward.states
                }
                Some(backward) => {
                    let backward = run(backward, 1);
                    last.push(forward.last.beside(&backward.last));
                    Tensor::cat(vec![forward.states, backward.states], 2) // [B, T, 2·H]
                }
            };
            levels.push(states.clone());
        }
        NetworkOutput { states, last, levels }
    }

    /// Reads `x` [B, T, I] forward as one layer that looks at every step; none where there are more layers.
    pub fn forward_looking(
        &self,
        x: Tensor<3>,
        mask: Tensor<2>,
        first: &[CellState],
        look: LayerLook,
    ) -> Option<LookingOutput> {
        match (&self.layers[..], first) {
            ([Level { forward, backward: None }], [first]) => {
                let input = LayerInput { x, mask, first: first.clone(), reverse: false };
                Some(looking_layer(self.cell, input, look, forward.weights()))
            }
            _ => None,
        }
    }

    /// The states of all layers before anything was read.
    pub fn zeros(&self, batch: usize, device: &Device) -> Vec<CellState> {
        self.layers.iter().map(|_| CellState::zeros(self.cell, batch, self.width, device)).collect()
    }
}

impl Level {
    fn directions(&self) -> usize {
        1 + usize::from(self.backward.is_some())
    }
}
