//! A stack of layers, over whole sequences or column by column.

use super::NormOrder;
use super::columns::{Columns, Readable};
use super::layer::{Layer, Surroundings};
use super::looks::Looks;
use crate::attention::Sight;
use crate::positions::{Place, PositionSettings, Positions};
use crate::sharing::{Fan, row_ids};
use crate::{Activation, Initial, LayerNorm, Noise, Preparing, dropout};
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};

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
    pub(super) source_mask: Option<Tensor<2>>,
    pub(super) fan: Fan,
    /// 1 where an own column exists [B, S], if some do not, and how many of a row's first do not. Columns behind the
    /// last of the mask exist.
    pub(super) gaps: Option<(Tensor<2>, Vec<usize>)>,
    /// Columns so far.
    pub time: usize,
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

    /// The state with only these rows, in this order.
    pub fn select(&self, rows: &[usize], ids: &Tensor<1, Int>) -> Self {
        let mask = |mask: &Tensor<2>| mask.clone().select(0, ids.clone());
        let (sentences, fan) = self.fan.select(rows);
        let count = self.source_mask.as_ref().map_or(0, |mask| mask.dims()[0]);
        let of_source = row_ids(&sentences, count, &ids.device());
        let source_mask = self.source_mask.clone();
        Self {
            own: self.own.select(rows),
            source: match &of_source {
                Some(ids) => self.source.iter().map(|part| part.map(|x| x.select(0, ids.clone()))).collect(),
                None => self.source.clone(),
            },
            source_mask: match of_source {
                Some(ids) => source_mask.map(|mask| mask.select(0, ids)),
                None => source_mask,
            },
            fan,
            gaps: self
                .gaps
                .as_ref()
                .map(|(exists, padding)| (mask(exists), rows.iter().map(|&row| padding[row]).collect())),
            time: self.time,
        }
    }
}

impl Stack {
    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.layers.iter_mut().for_each(|layer| layer.prepare(how));
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
        StackState { source_mask: Some(mask.clone()), source, ..StackState::default() }
    }

    /// Before the first column of rows that end together: `mask` [B, T] is 1 where a column exists, and
    /// the first `padding` of each row do not.
    pub fn ending_together(mask: Tensor<2>, padding: Vec<usize>) -> StackState {
        StackState { gaps: Some((mask, padding)), ..StackState::default() }
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
        let StackState { own, source, source_mask, fan, gaps, time: first } = state;
        let [batch, time, width] = x.dims();
        let keys = first + time;
        let gaps = gaps.map(|(exists, padding)| match keys - exists.dims()[1].min(keys) {
            0 => (exists, padding),
            new => (Tensor::cat(vec![exists, Tensor::ones([batch, new], &x.device())], 1), padding),
        });
        let place = Place { first, padding: gaps.as_ref().map(|(_, padding)| padding.as_slice()) };
        let sight = Sight {
            mask: gaps.as_ref().map(|(exists, _)| exists.clone()).or_else(|| match self.settings.causal {
                true => None,
                false => mask.cloned(),
            }),
            causal: self.settings.causal.then_some(first),
            bias: self.positions.bias(first, time, keys),
        };
        let scaled = x * (width as f64).sqrt();
        let mut x = dropout(self.positions.add(scaled, place), self.settings.embedding_dropout, noise);
        let (mut after, mut weights, mut cross_weights) = (Vec::new(), Looks::default(), Looks::default());
        for (depth, layer) in self.layers.iter().enumerate() {
            let seen = Sight { mask: source_mask.clone(), ..Sight::default() };
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
        let state = StackState { own, source, source_mask, fan, gaps, time: keys };
        StackOutput { states, weights, cross_weights, state }
    }
}
