//! One column of a stack at prediction, over plain slices: the fused twin of the layers' passes.
//!
//! Token after token the same weights are multiplied by a few rows. What is small beside that when whole sequences
//! are read (new tensors, copies of keys and values, passes for a bias, a residual or an activation) is most of the
//! time here. So the weights and what goes with them are laid ready once, products end where their results belong, and
//! keys and values stay where they were made.

use super::columns::Readable;
use super::layer::Layer;
use super::looks::Looks;
use super::stack::{Stack, StackOutput, StackState};
use super::{NormOrder, StackSettings};
use crate::attention::MultiHead;
use crate::flex::{Operand, plain};
use crate::norm::EPSILON;
use crate::positions::Place;
use crate::{LayerNorm, Linear};
use burn::tensor::Tensor;
use gatto_kernels::attention::{Column, Piece, forward_column};
use gatto_kernels::prepared::{Map, Prepared, forward_all};
use gatto_kernels::{Ending, norm};
use std::sync::Arc;

/// A layer laid ready for one column after the other.
#[derive(Debug)]
pub(super) struct LayerStep {
    /// Queries, keys and values of its own columns.
    own: [Affine; 3],
    output: Affine,
    norm: Norm,
    cross: Option<CrossStep>,
    inner: Affine,
    outer: Affine,
    feed_forward_norm: Norm,
}

/// How it looks at a source.
#[derive(Debug)]
struct CrossStep {
    query: Affine,
    output: Affine,
    norm: Norm,
}

/// y = x W + b.
#[derive(Debug)]
struct Affine {
    weight: Arc<Prepared>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Affine {
    /// None where the map is not ready.
    fn new(map: &Linear) -> Option<Self> {
        Some(Self { weight: map.prepared()?, bias: values(&map.bias.val())? })
    }

    fn ending(&self) -> Ending<'_> {
        Ending::bias(Some(&self.bias))
    }

    fn map<'a>(&'a self, ending: Ending<'a>, to: &'a mut [f32]) -> Map<'a> {
        Map { weight: &self.weight, ending, to }
    }

    /// x += y of these rows.
    fn add(&self, rows: &[f32], x: &mut [f32]) {
        forward_all(rows, [self.map(Ending { add: true, ..self.ending() }, x)]);
    }
}

impl Norm {
    fn new(norm: &LayerNorm) -> Option<Self> {
        Some(Self { scale: values(&norm.scale.val())?, shift: values(&norm.shift.val())? })
    }

    fn apply(&self, x: &mut [f32]) {
        norm::in_place(x, &self.scale, &self.shift, EPSILON);
    }
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Option<Vec<f32>> {
    Some(Operand::of(tensor)?.values.slice().to_vec())
}

impl LayerStep {
    /// None where its weights are not ready, or attention has no maps.
    pub(super) fn new(layer: &Layer) -> Option<Self> {
        let [query, key, value, output] = maps(&layer.attention)?;
        let cross = match (&layer.cross, &layer.cross_norm) {
            (Some(cross), Some(norm)) => {
                let [query, _, _, output] = maps(cross)?;
                Some(CrossStep { query, output, norm: Norm::new(norm)? })
            }
            _ => None,
        };
        Some(Self {
            own: [query, key, value],
            output,
            norm: Norm::new(&layer.attention_norm)?,
            cross,
            inner: Affine::new(&layer.feed_forward.inner)?,
            outer: Affine::new(&layer.feed_forward.outer)?,
            feed_forward_norm: Norm::new(&layer.feed_forward_norm)?,
        })
    }
}

fn maps(attention: &MultiHead) -> Option<[Affine; 4]> {
    let [query, key, value, output] = attention.maps()?.map(Affine::new);
    Some([query?, key?, value?, output?])
}

/// Rows that all layers work on.
struct Room {
    /// What goes from layer to layer: [R, C].
    x: Vec<f32>,
    /// What a sublayer reads, where a norm stands before it.
    normed: Vec<f32>,
    queries: Vec<f32>,
    context: Vec<f32>,
    /// [R, F].
    inner: Vec<f32>,
    order: NormOrder,
}

impl Room {
    /// What a sublayer with this norm reads.
    fn before(&mut self, norm: &Norm) -> &[f32] {
        match self.order {
            NormOrder::Post => &self.x,
            NormOrder::Pre => {
                self.normed.copy_from_slice(&self.x);
                norm.apply(&mut self.normed);
                &self.normed
            }
        }
    }

    /// What stands behind a sublayer with this norm.
    fn behind(&mut self, norm: &Norm) {
        if self.order == NormOrder::Post {
            norm.apply(&mut self.x);
        }
    }
}

/// What the rows of a step look at.
struct Seen<'a> {
    masks: Option<Vec<&'a [f32]>>,
    bias: Option<&'a [f32]>,
}

impl Stack {
    /// [`Stack::forward`] of one column; gives the state back where that form is to be taken.
    #[allow(clippy::result_large_err, reason = "no error: the state goes on either way")]
    pub(super) fn step(&self, x: &Tensor<3>, state: StackState) -> Result<StackOutput, StackState> {
        match self.stepped(x, &state) {
            Some((states, weights, cross_weights, new)) => {
                let mut state = StackState { time: state.time + 1, ..state };
                state.own.push_column(self.settings.width, new);
                Ok(StackOutput { states, weights, cross_weights, state })
            }
            None => Err(state),
        }
    }

    #[allow(clippy::type_complexity, reason = "the parts of an output")]
    fn stepped(
        &self,
        x: &Tensor<3>,
        state: &StackState,
    ) -> Option<(Tensor<3>, Looks, Looks, Vec<[Vec<f32>; 2]>)> {
        let ([rows, time, width], first) = (x.dims(), state.time);
        let StackSettings { heads, causal, norm: order, inner, .. } = self.settings;
        let readable =
            !x.is_autodiff() && state.own.are_plain() && state.source.iter().all(Readable::is_plain);
        if time != 1 || rows == 0 || !causal || !readable {
            return None;
        }
        let steps: Vec<&LayerStep> =
            self.layers.iter().map(|layer| layer.step.0.as_deref()).collect::<Option<_>>()?;
        let head = width / heads;
        let scale = (head as f64).sqrt().recip() as f32;
        let keys = first + 1;
        // What does not exist among the own columns, and where the source does.
        let gaps = match &state.gaps {
            Some((exists, _)) => Some((Operand::of(exists)?.values, exists.dims()[1])),
            None => None,
        };
        let own_masks: Option<Vec<Vec<f32>>> = gaps.as_ref().map(|(exists, columns)| {
            let of_row = |row: &[f32]| {
                let mut row = row.to_vec();
                row.resize(keys, 1.0);
                row
            };
            exists.slice().chunks_exact((*columns).max(1)).map(of_row).collect()
        });
        let bias = self.positions.bias(first, 1, keys);
        let bias = match &bias {
            Some(bias) => Some(Operand::of(bias)?.values),
            None => None,
        };
        let own_seen = Seen {
            masks: own_masks.as_ref().map(|masks| masks.iter().map(Vec::as_slice).collect()),
            bias: bias.as_ref().map(|bias| bias.slice()),
        };
        let owners: Vec<u32> = state.fan.owners(rows);
        let source_mask = match &state.source_mask {
            Some(mask) => Some((Operand::of(mask)?.values, mask.dims()[1])),
            None => None,
        };
        let source_seen = Seen {
            masks: source_mask.as_ref().map(|(mask, columns)| {
                owners.iter().map(|&owner| &mask.slice()[owner as usize * columns..][..*columns]).collect()
            }),
            bias: None,
        };

        let place = Place { first, padding: state.gaps.as_ref().map(|(_, padding)| padding.as_slice()) };
        let mut vectors = values(x)?;
        let large = (width as f64).sqrt() as f32;
        vectors.iter_mut().for_each(|value| *value *= large);
        self.positions.add_in_place(&mut vectors, place)?;
        let mut room = Room {
            x: vectors,
            normed: vec![0.0; if order == NormOrder::Pre { rows * width } else { 0 }],
            queries: vec![0.0; rows * width],
            context: vec![0.0; rows * width],
            inner: vec![0.0; rows * inner],
            order,
        };
        let (mut weights, mut cross_weights) = (Looks::default(), Looks::default());
        let mut new = Vec::with_capacity(steps.len());
        for (depth, step) in steps.into_iter().enumerate() {
            let (mut own_keys, mut own_values) = (vec![0.0; rows * width], vec![0.0; rows * width]);
            let mut queries = std::mem::take(&mut room.queries);
            let [query, key, value] = &step.own;
            let asked = [
                query.map(query.ending(), &mut queries),
                key.map(key.ending(), &mut own_keys),
                value.map(value.ending(), &mut own_values),
            ];
            forward_all(room.before(&step.norm), asked);
            self.positions.turn_in_place(&mut queries, first);
            self.positions.turn_in_place(&mut own_keys, first);
            room.queries = queries;
            let mut pieces = state.own.of_layer(depth)?;
            pieces.push(Piece { keys: &own_keys, values: &own_values, columns: 1, rows: None });
            let of_queries = self.own_bias(&room.queries, [rows, width], first, f64::from(scale));
            let of_queries = match &of_queries {
                Some(bias) => Some(Operand::of(bias)?.values),
                None => None,
            };
            let own_bias = own_seen.bias.or(of_queries.as_ref().map(|bias| bias.slice()));
            let seen = Seen { masks: own_seen.masks.clone(), bias: own_bias };
            look(&mut room, &pieces, &seen, [heads, head], scale, &mut weights);
            drop(pieces);
            self.layers[depth].attention.mask_rows(&mut room.context, width);
            step.output.add(&room.context, &mut room.x);
            room.behind(&step.norm);
            new.push([own_keys, own_values]);

            if let (Some(cross), Some(source)) = (&step.cross, state.source.get(depth)) {
                let mut queries = std::mem::take(&mut room.queries);
                let asked = [cross.query.map(cross.query.ending(), &mut queries)];
                forward_all(room.before(&cross.norm), asked);
                room.queries = queries;
                let piece = source.piece(Some(&owners))?;
                look(&mut room, &[piece], &source_seen, [heads, head], scale, &mut cross_weights);
                self.layers[depth].cross.iter().for_each(|cross| cross.mask_rows(&mut room.context, width));
                cross.output.add(&room.context, &mut room.x);
                room.behind(&cross.norm);
            }

            let mut inner = std::mem::take(&mut room.inner);
            let activation = Some(self.settings.activation.kernel());
            let ending = Ending { activation, ..step.inner.ending() };
            forward_all(room.before(&step.feed_forward_norm), [step.inner.map(ending, &mut inner)]);
            step.outer.add(&inner, &mut room.x);
            room.inner = inner;
            room.behind(&step.feed_forward_norm);
        }
        let states = plain(room.x, [rows, 1, width]);
        let states = match &self.norm {
            Some(norm) => norm.forward(states),
            None => states,
        };
        Some((states, weights, cross_weights, new))
    }

    /// What distances add to the scores of these queries, where that depends on them.
    fn own_bias(
        &self,
        queries: &[f32],
        [rows, width]: [usize; 2],
        first: usize,
        scale: f64,
    ) -> Option<Tensor<4>> {
        if !self.positions.ask_queries() {
            return None;
        }
        let queries = plain(queries.to_vec(), [rows, 1, width]);
        self.positions.bias_of(&queries, first, first + 1, scale)
    }
}

/// Has the queries look, and leaves where they looked: [R, H, 1, S].
fn look(
    room: &mut Room,
    pieces: &[Piece<'_>],
    seen: &Seen<'_>,
    [heads, width]: [usize; 2],
    scale: f32,
    looks: &mut Looks,
) {
    let keys: usize = pieces.iter().map(|piece| piece.columns).sum();
    let rows = room.queries.len() / (heads * width).max(1);
    let mut weights = vec![0.0; rows * heads * keys];
    let column = Column { heads, width, scale, pieces, masks: seen.masks.as_deref(), bias: seen.bias };
    forward_column(&room.queries, &column, &mut room.context, &mut weights);
    looks.push_plain(weights, [rows, heads, 1, keys]);
}

/// A layer's [`LayerStep`], if its weights are ready.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadyStep(pub(super) Option<Arc<LayerStep>>);
