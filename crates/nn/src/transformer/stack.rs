//! A stack of layers, over whole sequences or column by column.

use super::NormOrder;
use super::columns::{Columns, Readable};
use super::exists::Exists;
use super::layer::{Layer, Surroundings};
use super::looks::Looks;
use super::step::{Norm, ReadyNorm, Room};
use crate::attention::Sight;
use crate::positions::{Place, PositionSettings, Positions};
use crate::sharing::{Fan, ids, row_ids};
use crate::{Activation, Initial, LayerNorm, Noise, Preparing, dropout};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use std::sync::Arc;

/// The choices that make a stack.
#[derive(Clone, Copy, Debug)]
pub struct StackSettings {
    /// C.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// H.
    pub heads: usize,
    /// F.
    pub inner: usize,
    /// Whether attention has queries, keys and values of its own, and not the vectors themselves.
    pub projected: bool,
    /// Whether a column sees itself and those before it only.
    pub causal: bool,
    /// Width of the source that the layers look at, if there is one.
    pub source: Option<usize>,
    /// Where norms stand.
    pub norm: NormOrder,
    /// Of the feed-forward blocks.
    pub activation: Activation,
    /// How columns know where they stand.
    pub positions: PositionSettings,
    /// Dropout on what a sublayer adds.
    pub dropout: f64,
    /// Dropout on token vectors.
    pub embedding_dropout: f64,
    /// Dropout on attention weights.
    pub attention_dropout: f64,
    /// Dropout inside feed-forward blocks.
    pub activation_dropout: f64,
}

/// Layers of self-attention.
#[derive(Module, Debug)]
pub struct Stack {
    pub(super) positions: Positions,
    pub(super) layers: Vec<Layer>,
    /// Behind the last layer, where norms stand before.
    pub(super) norm: Option<LayerNorm>,
    /// The same laid ready for one column after the other.
    #[module(skip)]
    pub(super) ready_norm: ReadyNorm,
    #[module(skip)]
    pub(super) settings: StackSettings,
}

/// What a stack has read, for the columns that follow.
#[derive(Clone, Debug, Default)]
pub struct StackState {
    /// Own keys and values of every layer.
    pub(super) own: Columns,
    /// The source as every layer sees it, and where it exists.
    pub(super) source: Vec<Readable>,
    pub(super) source_mask: Option<Exists>,
    pub(super) fan: Fan,
    pub(super) gaps: Option<Gaps>,
    /// Columns so far.
    pub time: usize,
    pub(super) room: Room,
}

/// Own columns that do not exist.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// Columns behind the last of these exist.
    pub(super) exists: Exists,
    /// How many of a row's first do not.
    pub(super) padding: Vec<usize>,
}

/// What a stack made.
#[derive(Clone, Debug)]
pub struct StackOutput {
    /// [B, T, C].
    pub states: Tensor<3>,
    /// Where each layer's columns looked among themselves.
    pub weights: Looks,
    /// Where each layer's columns looked at the source.
    pub cross_weights: Looks,
    /// For the columns that follow.
    pub state: StackState,
}

impl StackState {
    /// Where it lives; `None` while there is nothing in it.
    pub fn device(&self) -> Option<Device> {
        self.own.device().or_else(|| self.source.first().map(|part| part.tensors.keys.device()))
    }

    /// The state with only these rows, in this order. Nothing that belongs to sentences is touched where the rows go on belonging
    /// to theirs as before, as the hypotheses of a beam do.
    pub fn select(mut self, rows: &[usize]) -> Self {
        let stays = self.own.rows() == Some(rows.len()) && self.fan.stays(rows);
        if let Some(mask) = self.source_mask.as_ref().filter(|_| !stays) {
            let (sentences, fan) = self.fan.select(rows);
            if let Some(ids) = row_ids(&sentences, mask.tensor.dims()[0], &mask.tensor.device()) {
                self.source = self.source.iter().map(|part| part.map(|x| x.select(0, ids.clone()))).collect();
                self.source_mask = Some(mask.select(ids));
            }
            self.fan = fan;
        }
        self.gaps = self.gaps.map(|Gaps { exists, padding }| Gaps {
            exists: exists.select(ids(rows, &exists.tensor.device())),
            padding: rows.iter().map(|&row| padding[row]).collect(),
        });
        Self { own: self.own.select(rows), ..self }
    }
}

impl Stack {
    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.layers.iter_mut().for_each(|layer| layer.prepare(how));
        self.ready_norm = ReadyNorm(self.norm.as_ref().and_then(|norm| Norm::new(norm, how)).map(Arc::new));
        self.positions.prepare(how);
    }

    /// Has a head of a layer, both counted from 0, give nought from now on: one that looks at the source, or one that looks
    /// at the stack's own columns. Whether there is such a head.
    pub fn mask(&mut self, layer: usize, head: usize, of_source: bool) -> bool {
        let Some(layer) = self.layers.get_mut(layer) else { return false };
        match (of_source, &mut layer.cross) {
            (true, Some(cross)) => cross.mask(head),
            (true, None) => false,
            (false, _) => layer.attention.mask(head),
        }
    }

    /// A stack with first values from `initial`.
    pub fn new(settings: StackSettings, initial: &mut Initial) -> Self {
        Self {
            positions: Positions::new(settings.positions, initial),
            layers: (0..settings.layers).map(|_| Layer::new(&settings, initial)).collect(),
            norm: (settings.norm == NormOrder::Pre).then(|| LayerNorm::new(settings.width, initial)),
            ready_norm: ReadyNorm::default(),
            settings,
        }
    }

    /// C.
    pub fn width(&self) -> usize {
        self.settings.width
    }

    /// Before the first column, beside a source [B, S, …] that exists where `mask` [B, S] is 1.
    pub fn beside(&self, states: &Tensor<3>, mask: &Tensor<2>) -> StackState {
        let seen = self.layers.iter().filter_map(|layer| layer.source(states));
        let source = seen.map(Readable::new).collect();
        StackState { source_mask: Some(Exists::new(mask.clone())), source, ..StackState::default() }
    }

    /// Before the first column of rows that end together: `mask` [B, T] is 1 where a column exists, and
    /// the first `padding` of each row do not.
    pub fn ending_together(mask: Tensor<2>, padding: Vec<usize>) -> StackState {
        StackState { gaps: Some(Gaps { exists: Exists::new(mask), padding }), ..StackState::default() }
    }

    /// Reads token vectors `x` [B, T, C] behind what `state` has read. `mask` [B, T] tells which exist;
    /// a stack that sees no later columns has no use for it, since padding comes last.
    pub fn forward(
        &self,
        x: Tensor<3>,
        mask: Option<&Tensor<2>>,
        state: StackState,
        noise: &mut Noise,
    ) -> StackOutput {
        let state = match noise.key() {
            None => match self.step(&x, state) {
                Ok(output) => return output,
                Err(state) => state,
            },
            Some(_) => state,
        };
        let StackState { own, source, source_mask, fan, gaps, time: first, room } = state;
        let [batch, time, width] = x.dims();
        let keys = first + time;
        let gaps = gaps.map(|Gaps { exists, padding }| match keys - exists.tensor.dims()[1].min(keys) {
            0 => Gaps { exists, padding },
            new => {
                let ones = Tensor::ones([batch, new], &x.device());
                Gaps { exists: Exists::new(Tensor::cat(vec![exists.tensor, ones], 1)), padding }
            }
        });
        let place = Place { first, padding: gaps.as_ref().map(|gaps| gaps.padding.as_slice()) };
        let sight = Sight {
            mask: gaps.as_ref().map(|gaps| gaps.exists.tensor.clone()).or_else(|| {
                match self.settings.causal {
                    true => None,
                    false => mask.cloned(),
                }
            }),
            causal: self.settings.causal.then_some(first),
            bias: self.positions.bias(first, time, keys),
        };
        let scaled = x * (width as f64).sqrt();
        let mut x = dropout(self.positions.add(scaled, place), self.settings.embedding_dropout, noise);
        let (mut after, mut weights, mut cross_weights) = (Vec::new(), Looks::default(), Looks::default());
        for (depth, layer) in self.layers.iter().enumerate() {
            let mask = source_mask.as_ref().map(|mask| mask.tensor.clone());
            let seen = Sight { mask, ..Sight::default() };
            let around = Surroundings {
                first,
                positions: &self.positions,
                before: (&own, depth),
                sight: sight.clone(),
                source: source.get(depth).map(|source| (&source.tensors, seen, &fan)),
            };
            let output = layer.forward(x, around, noise);
            x = output.x;
            after.push(output.own);
            weights.push(output.weights);
            if let Some(looked) = output.cross_weights {
                cross_weights.push(looked);
            }
        }
        let states = match &self.norm {
            Some(norm) => norm.forward(x),
            None => x,
        };
        let own = Columns::new(after);
        let state = StackState { own, source, source_mask, fan, gaps, time: keys, room };
        StackOutput { states, weights, cross_weights, state }
    }
}
