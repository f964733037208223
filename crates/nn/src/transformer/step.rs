//! One column of a stack at prediction, over plain slices: the fused twin of the layers' passes.
//!
//! Token after token the same weights are multiplied by a few rows. What is small beside that when whole sequences
//! are read (new tensors, copies of keys and values, passes for a bias, a residual or an activation) is most of the
//! time here. So the weights and what goes with them are laid ready once, products end where their results belong, and
//! keys and values stay where they were made.

use super::columns::Readable;
use super::exists::Exists;
use super::layer::Layer;
use super::looks::Looks;
use super::stack::{Stack, StackOutput, StackState};
use super::{NormOrder, StackSettings};
use crate::attention::MultiHead;
use crate::flex::{Values, plain};
use crate::norm::EPSILON;
use crate::positions::Place;
use crate::{LayerNorm, Linear, Preparing, ReadyMap};
use burn::module::Param;
use burn::tensor::Tensor;
use gatto_kernels::attention::{Column, Mask, Piece, forward_column};
use gatto_kernels::prepared::forward_all;
use gatto_kernels::{Ending, emptied, norm};
use std::sync::Arc;

/// A layer laid ready for one column after the other.
#[derive(Debug)]
pub(super) struct LayerStep {
    /// Queries, keys and values of its own columns.
    own: [ReadyMap; 3],
    output: ReadyMap,
    norm: Norm,
    cross: Option<CrossStep>,
    inner: ReadyMap,
    outer: ReadyMap,
    feed_forward_norm: Norm,
}

/// How it looks at a source.
#[derive(Debug)]
struct CrossStep {
    query: ReadyMap,
    output: ReadyMap,
    norm: Norm,
}

#[derive(Debug)]
pub(super) struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Norm {
    pub(super) fn new(norm: &LayerNorm, how: Preparing<'_>) -> Option<Self> {
        let values = |parameter: &Param<Tensor<1>>| Some(how.values(parameter)?.slice().to_vec());
        Some(Self { scale: values(&norm.scale)?, shift: values(&norm.shift)? })
    }

    fn apply(&self, x: &mut [f32]) {
        norm::in_place(x, &self.scale, &self.shift, EPSILON);
    }
}

impl LayerStep {
    /// None where its weights are not ready, or attention has no maps.
    pub(super) fn new(layer: &Layer, how: Preparing<'_>) -> Option<Self> {
        let [query, key, value, output] = maps(&layer.attention)?;
        let cross = match (&layer.cross, &layer.cross_norm) {
            (Some(cross), Some(norm)) => {
                let [query, _, _, output] = maps(cross)?;
                Some(CrossStep { query, output, norm: Norm::new(norm, how)? })
            }
            _ => None,
        };
        Some(Self {
            own: [query, key, value],
            output,
            norm: Norm::new(&layer.attention_norm, how)?,
            cross,
            inner: layer.feed_forward.inner.ready()?,
            outer: layer.feed_forward.outer.ready()?,
            feed_forward_norm: Norm::new(&layer.feed_forward_norm, how)?,
        })
    }
}

fn maps(attention: &MultiHead) -> Option<[ReadyMap; 4]> {
    let [query, key, value, output] = attention.maps()?.map(Linear::ready);
    Some([query?, key?, value?, output?])
}

/// What the layers work with, besides the rows themselves. It goes with a state from step to step, so that none asks for
/// memory; a copy of the state has its own.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// What a sublayer reads, where a norm stands before it: [R, C].
    normed: Vec<f32>,
    /// [R, C].
    queries: Vec<f32>,
    /// [R, C].
    context: Vec<f32>,
    /// [R, F].
    inner: Vec<f32>,
    /// Where a layer looked: [R, H, S].
    weights: Vec<f32>,
    /// The sentence of each row.
    owners: Vec<u32>,
    /// Which of its own columns exist: [R, S].
    exists: Vec<f32>,
    pieces: Vec<Piece<'static>>,
}

impl Clone for Room {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Where norms stand, and what a sublayer reads for it.
struct Norms<'a> {
    order: NormOrder,
    normed: &'a mut Vec<f32>,
}

impl Norms<'_> {
    /// What a sublayer with this norm reads.
    fn before<'a>(&'a mut self, norm: &Norm, x: &'a [f32]) -> &'a [f32] {
        match self.order {
            NormOrder::Post => x,
            NormOrder::Pre => {
                self.normed.clear();
                self.normed.extend_from_slice(x);
                norm.apply(self.normed);
                self.normed
            }
        }
    }

    /// What stands behind a sublayer with this norm.
    fn behind(&self, norm: &Norm, x: &mut [f32]) {
        if self.order == NormOrder::Post {
            norm.apply(x);
        }
    }
}

impl Stack {
    /// [`Stack::forward`] of one column; gives the state back where that form is to be taken.
    #[allow(clippy::result_large_err, reason = "no error: the state goes on either way")]
    pub(super) fn step(&self, x: &Tensor<3>, mut state: StackState) -> Result<StackOutput, StackState> {
        let [rows, time, width] = x.dims();
        let Some(mut vectors) = Values::of(x).filter(|_| time == 1).map(|x| x.slice().to_vec()) else {
            return Err(state);
        };
        let mut looks = [Looks::default(), Looks::default()];
        if !self.step_in_place(&mut vectors, &mut state, Some(&mut looks)) {
            return Err(state);
        }
        let [weights, cross_weights] = looks;
        Ok(StackOutput { states: plain(vectors, [rows, 1, width]), weights, cross_weights, state })
    }

    /// Reads one column of token vectors `x` [R, C] behind what `state` has read, and leaves its states there. Tells whether it
    /// did: else nothing has changed, and [`Stack::forward`] can do it. It can where weights are ready, on the CPU.
    ///
    /// Where the heads looked, at the stack's own columns and at the source, goes to `looks`, if someone wants to know. Then, and
    /// where positions are told by what distances add to scores, memory is asked for; else a step has what the steps before it had.
    pub fn step_in_place(
        &self,
        x: &mut [f32],
        state: &mut StackState,
        mut looks: Option<&mut [Looks; 2]>,
    ) -> bool {
        let StackSettings { width, heads, inner, norm: order, .. } = self.settings;
        let (rows, first) = (x.len() / width, state.time);
        if rows == 0 || !self.can_step(state) {
            return false;
        }
        let head = width / heads;
        let scale = (head as f64).sqrt().recip() as f32;
        let keys = first + 1;
        let mut room = std::mem::take(&mut state.room);
        let Room { normed, queries, context, inner: inside, weights, owners, exists, pieces } = &mut room;
        queries.resize(rows * width, 0.0);
        context.resize(rows * width, 0.0);
        inside.resize(rows * inner, 0.0);
        owners.clear();
        owners.extend(state.fan.owners(rows));
        let mut norms = Norms { order, normed };

        let large = (width as f64).sqrt() as f32;
        x.iter_mut().for_each(|value| *value *= large);
        let padding = state.gaps.as_ref().map(|gaps| gaps.padding.as_slice());
        self.positions.add_in_place(x, Place { first, padding });
        let bias = self.positions.bias(first, 1, keys).and_then(|bias| Values::of(&bias));
        let own_mask = state.gaps.as_ref().map(|gaps| {
            gaps.exists.widened(keys, exists);
            Mask { exists: &exists[..], columns: keys, rows: None }
        });
        let source_mask = state.source_mask.as_ref().and_then(|mask| mask.of_rows(owners));

        state.own.begin(self.layers.len(), width, rows);
        let steps = self.layers.iter().filter_map(|layer| Some((layer, layer.step.0.as_deref()?)));
        for (depth, (layer, step)) in steps.enumerate() {
            let [own_keys, own_values] = state.own.last_mut(depth);
            let [query, key, value] = &step.own;
            let asked = [
                query.to(query.ending(), queries),
                key.to(key.ending(), own_keys),
                value.to(value.ending(), own_values),
            ];
            forward_all(norms.before(&step.norm, x), asked);
            let [own_keys, _] = state.own.last_mut(depth);
            self.positions.turn_in_place(queries, first);
            self.positions.turn_in_place(own_keys, first);
            let of_queries = self.own_bias(queries, [rows, width], first, f64::from(scale));
            let bias = bias.as_ref().or(of_queries.as_ref()).map(Values::slice);
            let mut seen = emptied(std::mem::take(pieces));
            state.own.of_layer(depth, &mut seen);
            let column = Column { heads, width: head, scale, pieces: &seen, mask: own_mask, bias };
            look(queries, &column, context, weights, looks.as_mut().map(|[own, _]| own));
            *pieces = emptied(seen);
            layer.attention.mask_rows(context, width);
            step.output.add(context, x);
            norms.behind(&step.norm, x);

            let source = state.source.get(depth).and_then(|source| source.piece(Some(owners)));
            if let (Some(cross), Some(piece)) = (&step.cross, source) {
                forward_all(norms.before(&cross.norm, x), [cross.query.to(cross.query.ending(), queries)]);
                let pieces = [piece];
                let column =
                    Column { heads, width: head, scale, pieces: &pieces, mask: source_mask, bias: None };
                look(queries, &column, context, weights, looks.as_mut().map(|[_, of_source]| of_source));
                layer.cross.iter().for_each(|cross| cross.mask_rows(context, width));
                cross.output.add(context, x);
                norms.behind(&cross.norm, x);
            }

            let activation = Some(self.settings.activation.kernel());
            let ending = Ending { activation, ..step.inner.ending() };
            forward_all(norms.before(&step.feed_forward_norm, x), [step.inner.to(ending, inside)]);
            step.outer.add(inside, x);
            norms.behind(&step.feed_forward_norm, x);
        }
        self.ready_norm.0.iter().for_each(|norm| norm.apply(x));
        state.room = room;
        state.time += 1;
        true
    }

    /// Whether all is there that [`Stack::step_in_place`] needs.
    fn can_step(&self, state: &StackState) -> bool {
        let ready = self.layers.iter().all(|layer| layer.step.0.is_some());
        let masks = state.gaps.iter().map(|gaps| &gaps.exists).chain(&state.source_mask);
        self.settings.causal
            && ready
            && self.norm.is_some() == self.ready_norm.0.is_some()
            && self.positions.can_add_in_place()
            && state.own.are_plain()
            && state.source.iter().all(Readable::is_plain)
            && masks.into_iter().all(Exists::is_plain)
    }

    /// What distances add to the scores of these queries, where that depends on them.
    fn own_bias(
        &self,
        queries: &[f32],
        [rows, width]: [usize; 2],
        first: usize,
        scale: f64,
    ) -> Option<Values> {
        if !self.positions.ask_queries() {
            return None;
        }
        let queries = plain(queries.to_vec(), [rows, 1, width]);
        Values::of(&self.positions.bias_of(&queries, first, first + 1, scale)?)
    }
}

/// Has the queries look, and leaves where they looked, [R, H, 1, S], if someone wants to know.
fn look(
    queries: &[f32],
    column: &Column<'_>,
    context: &mut [f32],
    weights: &mut Vec<f32>,
    looks: Option<&mut Looks>,
) {
    let Column { heads, width, pieces, .. } = *column;
    let keys: usize = pieces.iter().map(|piece| piece.columns).sum();
    let rows = queries.len() / (heads * width).max(1);
    weights.resize(rows * heads * keys, 0.0);
    forward_column(queries, column, context, weights);
    if let Some(looks) = looks {
        looks.push_plain(weights.clone(), [rows, heads, 1, keys]);
    }
}

/// A layer's [`LayerStep`], if its weights are ready.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadyStep(pub(super) Option<Arc<LayerStep>>);

/// The norm behind the last layer, if there is one and it is ready.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadyNorm(pub(super) Option<Arc<Norm>>);
