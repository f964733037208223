//! The look of a layer at a source at every step (Bahdanau et al., 2015; Luong et al., 2015).
//!
//! Letters besides those of the layer: `S` positions of the source, `A` width of a key, `C` width of a state of
//! the source. A state `h` asks `q = h W_q`, and gets
//!
//! `e_s = vᵀ tanh(q + k_s)`, `α = softmax(e)` over the positions that exist, `c = Σ_s α_s h_s`.
//!
//! The state before a step asks for the context that stands behind the input of that step; or the state after it,
//! for the input of the next step, where the first has zeros. Of the context the last `F` values stand there, as a
//! rule all.

use rayon::prelude::*;
use std::borrow::Cow;

use super::{Args, Tape};
use crate::additive;
use crate::maths::{exp, vectorised};
use crate::packed::Weights;
use crate::product::{View, ViewMut, multiply, product, split_rows, zeros};

/// What is looked at, and how it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// `S`: positions of the longest source.
    pub positions: usize,
    /// `A`: width of a key and of a query.
    pub width: usize,
    /// `C`: width of a state of the source, and so of a context.
    pub context: usize,
    /// `[B, S, A]`: the keys.
    pub keys: &'a [f32],
    /// `[B, S, C]`: the states of the source.
    pub states: &'a [f32],
    /// `[B, S]`: 0 where a position does not exist.
    pub mask: &'a [f32],
    /// `[H, A]`: what makes a query of a state.
    pub w_q: &'a [f32],
    /// `[A]`: v.
    pub vector: &'a [f32],
    /// Whether the state after a step asks, and not the one before it.
    pub after: bool,
    /// `F`: how many of a context's last values stand behind the input.
    pub fed: usize,
}

/// The gradients of what [`Look`] holds, in the same shapes.
#[derive(Clone, Debug, Default)]
pub struct LookGradients {
    /// `[B, S, A]`.
    pub keys: Vec<f32>,
    /// `[B, S, C]`.
    pub states: Vec<f32>,
    /// `[H, A]`.
    pub w_q: Vec<f32>,
    /// `[A]`.
    pub vector: Vec<f32>,
}

impl<'a> Look<'a> {
    /// Panics unless every slice has the length that the sizes ask for.
    pub(super) fn check(&self, batch: usize, width: usize) {
        let (positions, states) = (self.positions, self.context);
        assert_eq!(self.keys.len(), batch * positions * self.width, "recurrent: keys are not [B, S, A]");
        assert_eq!(self.states.len(), batch * positions * states, "recurrent: states are not [B, S, C]");
        assert_eq!(self.mask.len(), batch * positions, "recurrent: the source's mask is not [B, S]");
        assert_eq!(self.w_q.len(), width * self.width, "recurrent: w_q is not [H, A]");
        assert_eq!(self.vector.len(), self.width, "recurrent: the vector is not [A]");
        assert!(self.fed <= states, "recurrent: more of a context is fed than there is");
    }

    /// How many values of a context stand before those that are fed.
    fn unfed(&self) -> usize {
        self.context - self.fed
    }

    /// W_q as a matrix.
    fn of_query(&self, width: usize) -> View<'a> {
        View::new(self.w_q, width, self.width)
    }

    /// Keys `[S, A]`, states `[S, C]` and mask `[S]` of a sentence.
    fn sentence(&self, row: usize) -> [&'a [f32]; 3] {
        let of = |all: &'a [f32], width: usize| {
            let each = self.positions * width;
            &all[row * each..][..each]
        };
        [of(self.keys, self.width), of(self.states, self.context), of(self.mask, 1)]
    }
}

/// What the forward pass keeps of its looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    /// `[B, T, A]`.
    queries: Vec<f32>,
    /// `[B, T, S]`: α; zeros on padding.
    weights: Vec<f32>,
    /// `[B, T, C]`; zeros on padding.
    contexts: Vec<f32>,
    /// `[B, T, H]`: the states that asked, if they are those after the steps; else the tape has them.
    asked: Vec<f32>,
}

impl Looked {
    pub(super) fn new(args: &Args<'_>) -> Self {
        let steps = args.shape.batch * args.shape.steps;
        let Some(look) = args.look else { return Self::default() };
        Self {
            queries: zeros(steps * look.width),
            weights: zeros(steps * look.positions),
            contexts: zeros(steps * look.context),
            asked: zeros(if look.after { steps * args.shape.width } else { 0 }),
        }
    }

    /// The parts of `count` sentences each.
    pub(super) fn split(&mut self, batch: usize, count: usize) -> impl Iterator<Item = LookedRows<'_>> {
        split_rows(&mut self.queries, batch, count)
            .zip(split_rows(&mut self.weights, batch, count))
            .zip(split_rows(&mut self.contexts, batch, count))
            .zip(split_rows(&mut self.asked, batch, count))
            .map(|(((queries, weights), contexts), asked)| LookedRows { queries, weights, contexts, asked })
    }

    /// The contexts that the cell has read, `[B, T, C]`: those of the steps, or of the steps before them.
    fn read(&self, args: &Args<'_>, look: &Look<'_>) -> Cow<'_, [f32]> {
        if !look.after {
            return Cow::Borrowed(&self.contexts);
        }
        let mut read = zeros(self.contexts.len());
        let each = args.shape.steps * look.context;
        let sentences = read.chunks_exact_mut(each.max(1)).zip(self.contexts.chunks_exact(each.max(1)));
        for (read, contexts) in sentences {
            for (before, t) in args.positions().zip(args.positions().skip(1)) {
                let context = &contexts[before * look.context..][..look.context];
                read[t * look.context..][..look.context].copy_from_slice(context);
            }
        }
        Cow::Owned(read)
    }
}

/// W_q and the weights of what is fed of the context, which every step multiplies by.
pub(super) struct LookWeights<'a> {
    query: Weights<'a>,
    fed: Weights<'a>,
}

impl<'a> LookWeights<'a> {
    pub(super) fn new(args: &'a Args<'a>, weights: fn(View<'a>, usize) -> Weights<'a>) -> Option<Self> {
        let steps = args.shape.steps;
        args.look.map(|look| Self {
            query: weights(look.of_query(args.shape.width), steps),
            fed: weights(args.of_fed(), steps),
        })
    }

    /// The transposes, for the way back.
    pub(super) fn transposed(args: &'a Args<'a>) -> Option<Self> {
        let steps = args.shape.steps;
        args.look.map(|look| Self {
            query: Weights::new(look.of_query(args.shape.width).transposed(), steps),
            fed: Weights::new(args.of_fed().transposed(), steps),
        })
    }
}

/// What some sentences keep of their looks: a part of [`Looked`].
pub(super) struct LookedRows<'a> {
    queries: &'a mut [f32],
    weights: &'a mut [f32],
    contexts: &'a mut [f32],
    asked: &'a mut [f32],
}

impl LookedRows<'_> {
    /// Looks at step `t` for the sentences from `first` on, whose states `[count, H]` ask.
    pub(super) fn ask(
        &mut self,
        args: &Args<'_>,
        weights: &LookWeights<'_>,
        [first, t]: [usize; 2],
        states: View<'_>,
    ) {
        let (Some(look), steps, (count, width)) = (args.look, args.shape.steps, states.shape()) else {
            return;
        };
        let queries = &mut self.queries[t * look.width..];
        weights.query.multiply(
            ViewMut::strided(queries, count, look.width, steps * look.width),
            states,
            false,
        );
        if look.after {
            for row in 0..count {
                self.asked[(row * steps + t) * width..][..width].copy_from_slice(states.row(row));
            }
        }
        vectorised(
            #[inline(always)]
            || {
                for row in (0..count).filter(|row| args.mask[(first + row) * steps + t] != 0.0) {
                    let at = row * steps + t;
                    let query = &self.queries[at * look.width..][..look.width];
                    let shares = &mut self.weights[at * look.positions..][..look.positions];
                    let context = &mut self.contexts[at * look.context..][..look.context];
                    one(&look, first + row, query, shares, context);
                }
            },
        );
    }

    /// Adds what comes of the contexts of step `t` to the sums `gates` `[count, G·H]`.
    pub(super) fn enter(&self, args: &Args<'_>, weights: &LookWeights<'_>, t: usize, gates: ViewMut<'_>) {
        let (Some(look), steps) = (args.look, args.shape.steps) else { return };
        let row = steps * look.context;
        let count = self.contexts.len() / row.max(1);
        let fed = View::strided(&self.contexts[t * look.context + look.unfed()..], count, look.fed, row);
        weights.fed.multiply(gates, fed, true);
    }

    /// The context `[C]` of step `at`, counted over all sentences of this part, and its weights `[S]`.
    pub(super) fn found(&self, at: usize, [context, positions]: [usize; 2]) -> (&[f32], &[f32]) {
        (&self.contexts[at * context..][..context], &self.weights[at * positions..][..positions])
    }
}

/// The look of one query: its shares `[S]` and its context `[C]`.
#[inline(always)]
fn one(look: &Look<'_>, sentence: usize, query: &[f32], shares: &mut [f32], context: &mut [f32]) {
    let [keys, states, mask] = look.sentence(sentence);
    let mut largest = f32::NEG_INFINITY;
    for (s, share) in shares.iter_mut().enumerate().filter(|(s, _)| mask[*s] != 0.0) {
        *share = additive::score(query, &keys[s * look.width..][..look.width], look.vector);
        largest = largest.max(*share);
    }
    let mut sum = 0.0;
    for (share, exists) in shares.iter_mut().zip(mask) {
        *share = if *exists != 0.0 { exp(*share - largest) } else { 0.0 };
        sum += *share;
    }
    // A source without any position gives a context of zeros.
    let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    for (s, share) in shares.iter_mut().enumerate() {
        *share *= scale;
        if *share != 0.0 {
            add(context, *share, &states[s * look.context..][..look.context]);
        }
    }
}

/// `to += scale · from`.
#[inline(always)]
fn add(to: &mut [f32], scale: f32, from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += scale * from);
}

/// The gradients that the way back through the steps finds, before the products over all of them.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// `[B, T, A]`: of the queries.
    queries: Vec<f32>,
    /// `[B, T, C]`: of the contexts.
    contexts: Vec<f32>,
    /// `[B, S, A]`.
    keys: Vec<f32>,
    /// `[B, A]`: each sentence's share of the vector's, so that their sum does not depend on the threads.
    vectors: Vec<f32>,
}

impl Found {
    pub(super) fn new(args: &Args<'_>) -> Self {
        let steps = args.shape.batch * args.shape.steps;
        let Some(look) = args.look else { return Self::default() };
        Self {
            queries: zeros(steps * look.width),
            contexts: zeros(steps * look.context),
            keys: zeros(look.keys.len()),
            vectors: zeros(args.shape.batch * look.width),
        }
    }

    /// The parts of `count` sentences each.
    pub(super) fn split(&mut self, batch: usize, count: usize) -> impl Iterator<Item = FoundRows<'_>> {
        split_rows(&mut self.queries, batch, count)
            .zip(split_rows(&mut self.contexts, batch, count))
            .zip(split_rows(&mut self.keys, batch, count))
            .zip(split_rows(&mut self.vectors, batch, count))
            .map(|(((queries, contexts), keys), vectors)| FoundRows { queries, contexts, keys, vectors })
    }

    /// All gradients of the look, and that of the weights of what is fed, `[F, G·H]`, which is added to `w_x`.
    pub(super) fn finish(
        self,
        args: &Args<'_>,
        tape: &Tape,
        d_gates: View<'_>,
        w_x: &mut Vec<f32>,
    ) -> LookGradients {
        let Some(look) = args.look else { return LookGradients::default() };
        let (steps, rows) = (args.shape.steps, args.shape.batch * args.shape.steps);
        let read = tape.looked.read(args, &look);
        let fed = View::new(&read, rows, look.context).columns(look.unfed(), look.fed);
        w_x.extend(product(fed.transposed(), d_gates)); // [F, G·H]
        let asked = if look.after { &tape.looked.asked } else { &tape.before };
        let asked = View::new(asked, rows, args.shape.width);
        let w_q = product(asked.transposed(), View::new(&self.queries, rows, look.width)); // [H, A]

        let mut states = zeros(look.states.len()); // [B, S, C]
        let [sentence, shares, d_contexts] =
            [look.positions * look.context, steps * look.positions, steps * look.context];
        states.par_chunks_mut(sentence.max(1)).enumerate().for_each(|(b, states)| {
            let shares = View::new(&tape.looked.weights[b * shares..][..shares], steps, look.positions);
            let d_contexts = View::new(&self.contexts[b * d_contexts..][..d_contexts], steps, look.context);
            let to = ViewMut::strided(states, look.positions, look.context, look.context);
            multiply(to, shares.transposed(), d_contexts, false);
        });
        let mut vector = vec![0.0; look.width];
        self.vectors.chunks_exact(look.width.max(1)).for_each(|share| add(&mut vector, 1.0, share));
        LookGradients { keys: self.keys, states, w_q, vector }
    }
}

/// The gradients of some sentences: a part of [`Found`].
pub(super) struct FoundRows<'a> {
    queries: &'a mut [f32],
    contexts: &'a mut [f32],
    keys: &'a mut [f32],
    vectors: &'a mut [f32],
}

impl FoundRows<'_> {
    /// The way back through the look of step `t` for the sentences from `first` on: from the gradients of the gates
    /// that its context entered, `[count, G·H]`, and of the output to those of the look, and of the states that asked,
    /// `d_h` `[count, H]`.
    pub(super) fn step(
        &mut self,
        args: &Args<'_>,
        weights: &LookWeights<'_>,
        (tape, grad_out): (&Tape, &[f32]),
        [first, t]: [usize; 2],
        d_gates: Option<View<'_>>,
        d_h: &mut [f32],
    ) {
        let (Some(look), steps, width) = (args.look, args.shape.steps, args.shape.width) else { return };
        let count = d_h.len() / width.max(1);
        if let Some(d_gates) = d_gates {
            let fed = &mut self.contexts[t * look.context + look.unfed()..];
            let to = ViewMut::strided(fed, count, look.fed, steps * look.context);
            weights.fed.multiply(to, d_gates, false);
        }
        let (out_rows, out_width) = (args.cell.out_rows(steps), args.out_width());
        vectorised(
            #[inline(always)]
            || {
                for row in 0..count {
                    let (sentence, at) = (first + row, row * steps + t);
                    let d_context = &mut self.contexts[at * look.context..][..look.context];
                    if args.mask[sentence * steps + t] == 0.0 {
                        d_context.fill(0.0);
                        continue;
                    }
                    let d_out = &grad_out[(sentence * out_rows + t) * out_width..][..out_width];
                    add(d_context, 1.0, &d_out[..look.context]);
                    let at_all = sentence * steps + t;
                    let keys = look.positions * look.width;
                    OneBack {
                        look: &look,
                        sentence,
                        query: &tape.looked.queries[at_all * look.width..][..look.width],
                        shares: &tape.looked.weights[at_all * look.positions..][..look.positions],
                        context: &tape.looked.contexts[at_all * look.context..][..look.context],
                        d_context,
                        d_shares: &d_out[look.context + width..],
                    }
                    .run(
                        &mut self.queries[at * look.width..][..look.width],
                        &mut self.keys[row * keys..][..keys],
                        &mut self.vectors[row * look.width..][..look.width],
                    );
                }
            },
        );
        let queries = View::strided(&self.queries[t * look.width..], count, look.width, steps * look.width);
        weights.query.multiply(ViewMut::strided(d_h, count, width, width), queries, true);
    }
}

/// The way back through one look.
struct OneBack<'a> {
    look: &'a Look<'a>,
    sentence: usize,
    /// `[A]`.
    query: &'a [f32],
    /// `[S]`: α.
    shares: &'a [f32],
    /// `[C]`, and its gradient.
    context: &'a [f32],
    d_context: &'a [f32],
    /// `[S]`: the gradient of α itself.
    d_shares: &'a [f32],
}

impl OneBack<'_> {
    /// Adds to the gradients of the query `[A]`, the keys `[S, A]` and the vector `[A]`.
    #[inline(always)]
    fn run(self, d_query: &mut [f32], d_keys: &mut [f32], d_vector: &mut [f32]) {
        let Self { look, sentence, query, shares, context, d_context, d_shares } = self;
        let [keys, states, _] = look.sentence(sentence);
        // dL/de_s = α_s (dL/dα_s − Σ_r α_r dL/dα_r), where c brings dL/dc · h_s to dL/dα_s, and Σ_r α_r h_r = c.
        let mean = dot(d_context, context) + dot(d_shares, shares);
        for s in (0..look.positions).filter(|&s| shares[s] != 0.0) {
            let of_share = dot(d_context, &states[s * look.context..][..look.context]) + d_shares[s];
            let gradient = shares[s] * (of_share - mean);
            let key = &keys[s * look.width..][..look.width];
            let d_key = &mut d_keys[s * look.width..][..look.width];
            additive::score_backward(query, key, look.vector, gradient, d_query, d_key, d_vector);
        }
    }
}

/// The inner product, in as many sums as a register holds.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f32>()
}
