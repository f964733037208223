//! The backward pass of attention.

use rayon::prelude::*;

use super::{Args, Bias, Block, Sentence, softmax};
use crate::dropout::Factors;
use crate::maths::vectorised;
use crate::product::{View, ViewMut, multiply, split_rows, sum_rows, zeros};

/// The gradients of the inputs, in their shapes.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[B, T, H·D]`.
    pub q: Vec<f32>,
    /// `[B, S, H·D]`.
    pub k: Vec<f32>,
    /// `[B, S, H·D]`.
    pub v: Vec<f32>,
    /// `[H, T, S]` or `[B, H, T, S]` as the bias is, if there is one.
    pub bias: Option<Vec<f32>>,
}

/// The gradients, from that of the context, `[B, T, H·D]`; `weights` as [`super::forward`] returned them. Of the bias
/// only its form is looked at.
///
/// # Panics
/// As [`super::forward`].
pub fn backward(args: &Args<'_>, weights: &[f32], context: &[f32]) -> Gradients {
    args.check();
    let (shape, factors) = (args.shape, args.factors());
    assert_eq!(weights.len(), shape.batch * shape.square(), "attention: the weights are not [B, H, T, S]");
    assert_eq!(context.len(), args.q.len(), "attention: the gradient is not [B, T, H·D]");
    let (mut q, mut k, mut v) = (zeros(args.q.len()), zeros(args.k.len()), zeros(args.v.len()));
    let mut bias = zeros(if args.bias.is_some() { weights.len() } else { 0 }); // [B, H, T, S]
    if !shape.is_empty() {
        let sentences: Vec<Found<'_>> = split_rows(&mut q, shape.batch, 1)
            .zip(split_rows(&mut k, shape.batch, 1))
            .zip(split_rows(&mut v, shape.batch, 1))
            .zip(split_rows(&mut bias, shape.batch, 1))
            .map(|(((q, k), v), bias)| Found { q, k, v, bias })
            .collect();
        sentences.into_par_iter().enumerate().for_each(|(index, mut found)| {
            let sentence = Sentence::new(args, index);
            let mut scratch = Scratch { weights: sentence.scratch(), scores: sentence.scratch() };
            for head in 0..shape.heads {
                for block in sentence.blocks() {
                    scratch.weigh(&sentence, head, block, factors, weights, context, found.bias);
                    found.add(&sentence, head, block, &scratch, context);
                }
            }
        });
    }
    let bias = args.bias.map(|form| match form {
        Bias::Own(_) => bias,
        Bias::Shared(_) => sum_rows(&bias, shape.square()),
    });
    Gradients { q, k, v, bias }
}

/// What a block computes on its way, `[rows, stride]` each.
struct Scratch {
    /// `P ⊙ m`.
    weights: Vec<f32>,
    /// `scale · dE`.
    scores: Vec<f32>,
}

impl Scratch {
    #[expect(clippy::too_many_arguments, reason = "one block of one head, and all that it reads")]
    fn weigh(
        &mut self,
        sentence: &Sentence<'_>,
        head: usize,
        block: Block,
        factors: Option<Factors>,
        weights: &[f32],
        context: &[f32],
        bias: &mut [f32],
    ) {
        let (args, keys, stride) = (sentence.args, block.keys, block.stride());
        let (g, v) = (sentence.queries(context, head, block), sentence.keys(args.v, head, block));
        let to = &mut self.scores[..block.rows * stride];
        multiply(ViewMut::strided(to, block.rows, keys, stride), g, v.transposed(), false); // dP
        let start = sentence.index * args.shape.square();
        let rows =
            self.weights.chunks_exact_mut(stride.max(1)).zip(self.scores.chunks_exact_mut(stride.max(1)));
        for (t, (kept, gradients)) in (block.first..block.first + block.rows).zip(rows) {
            let place = sentence.place(head, t);
            kept[..keys].copy_from_slice(&weights[start + place..][..keys]);
            kept[keys..].fill(0.0);
            gradients[keys..].fill(0.0);
            if let Some(factors) = factors {
                factors.apply(start + place, gradients);
            }
            vectorised(
                #[inline(always)]
                || {
                    softmax::backward(kept, gradients);
                    if !bias.is_empty() {
                        bias[place..][..keys].copy_from_slice(&gradients[..keys]);
                    }
                    gradients.iter_mut().for_each(|gradient| *gradient *= args.scale);
                },
            );
            if let Some(factors) = factors {
                factors.apply(start + place, kept);
            }
        }
    }
}

/// The gradients of one sentence.
struct Found<'a> {
    /// `[T, H·D]`.
    q: &'a mut [f32],
    /// `[S, H·D]`.
    k: &'a mut [f32],
    /// `[S, H·D]`.
    v: &'a mut [f32],
    /// `[H, T, S]` or empty.
    bias: &'a mut [f32],
}

impl Found<'_> {
    /// Adds what the products of a block give.
    fn add(
        &mut self,
        sentence: &Sentence<'_>,
        head: usize,
        block: Block,
        scratch: &Scratch,
        context: &[f32],
    ) {
        let Block { first, rows, keys } = block;
        let (args, width, row) = (sentence.args, sentence.args.shape.width, sentence.args.shape.row());
        let weights = View::strided(&scratch.weights, rows, keys, block.stride());
        let scores = View::strided(&scratch.scores, rows, keys, block.stride());
        let (q, g) = (sentence.queries(args.q, head, block), sentence.queries(context, head, block));
        let start = head * width;
        let d_q = ViewMut::strided(&mut self.q[first * row + start..], rows, width, row);
        multiply(d_q, scores, sentence.keys(args.k, head, block), false);
        let d_k = ViewMut::strided(&mut self.k[start..], keys, width, row);
        multiply(d_k, scores.transposed(), q, first > 0);
        let d_v = ViewMut::strided(&mut self.v[start..], keys, width, row);
        multiply(d_v, weights.transposed(), g, first > 0);
    }
}
