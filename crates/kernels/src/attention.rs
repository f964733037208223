//! Scaled dot-product attention of several heads (Vaswani et al. 2017): `softmax(scale · Q Kᵀ + bias) V` per head.
//!
//! Letters: `B` sentences, `H` heads, `T` queries, `S` keys, `D` width of a head. The heads lie side by side in the
//! rows of queries, keys and values, `[H·D]`, and are read and written where they lie.
//!
//! With `P` the weights, `m` the factors of dropout, `C = (P ⊙ m) V` the context and `g` its gradient, backwards:
//! `dV = (P ⊙ m)ᵀ g`, `dP = g Vᵀ ⊙ m`, `dE = P ⊙ (dP − Σ_s P ⊙ dP)`, `dbias = dE`, `dQ = scale · dE K`, `dK = scale · dEᵀ Q`.
//!
//! Each thread takes whole sentences, so that nothing depends on their number. Keys behind the last that exists are
//! not multiplied at all, and of a causal square only blocks that touch its visible half.

mod backward;
mod column;
mod look;
mod softmax;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub use backward::{Gradients, backward};
pub use column::{Column, Mask, Piece, Places, forward_column};
pub use look::{Relevance, Source, look};

use crate::dropout::{Dropout, Factors};
use crate::product::{View, ViewMut, multiply, zeros};
use crate::steady::multiply_steady;
use softmax::LANES;

/// The sizes of the attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: sentences of the batch.
    pub batch: usize,
    /// `H`: heads.
    pub heads: usize,
    /// `T`: queries of a sentence.
    pub queries: usize,
    /// `S`: keys of a sentence.
    pub keys: usize,
    /// `D`: width of a head.
    pub width: usize,
}

impl Shape {
    /// `H·D`.
    fn row(self) -> usize {
        self.heads * self.width
    }

    /// `H·T·S`.
    fn square(self) -> usize {
        self.heads * self.queries * self.keys
    }

    fn is_empty(self) -> bool {
        self.batch * self.square() * self.width == 0
    }
}

/// What is added to the scores.
#[derive(Clone, Copy, Debug)]
pub enum Bias<'a> {
    /// `[H, T, S]`: the same for all sentences.
    Shared(&'a [f32]),
    /// `[B, H, T, S]`.
    Own(&'a [f32]),
}

/// What attention reads; the same for the forward and the backward pass.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// The sizes that all slices below follow.
    pub shape: Shape,
    /// `[B, T, H·D]`: the queries.
    pub q: &'a [f32],
    /// `[B, S, H·D]`: the keys.
    pub k: &'a [f32],
    /// `[B, S, H·D]`: the values.
    pub v: &'a [f32],
    /// What the products are multiplied by, as a rule `1 / √D`.
    pub scale: f32,
    /// `[B, S]`: 0 on padding, anything else (1) where the key exists.
    pub mask: Option<&'a [f32]>,
    /// With `Some(first)`, query `t` stands at position `first + t` and sees the keys `0 ..= first + t`.
    pub causal: Option<usize>,
    /// What is added to the scores.
    pub bias: Option<Bias<'a>>,
    /// Dropout of the weights; its places are those of `[B, H, T, S]`.
    pub dropout: Option<Dropout>,
}

impl<'a> Args<'a> {
    fn check(&self) {
        let Self { shape, q, k, v, .. } = self;
        assert_eq!(q.len(), shape.batch * shape.queries * shape.row(), "attention: q is not [B, T, H·D]");
        assert_eq!(k.len(), shape.batch * shape.keys * shape.row(), "attention: k is not [B, S, H·D]");
        assert_eq!(v.len(), k.len(), "attention: v is not [B, S, H·D]");
        if let Some(mask) = self.mask {
            assert_eq!(mask.len(), shape.batch * shape.keys, "attention: the mask is not [B, S]");
        }
        match self.bias {
            Some(Bias::Shared(bias)) => {
                assert_eq!(bias.len(), shape.square(), "attention: the bias is not [H, T, S]");
            }
            Some(Bias::Own(bias)) => {
                assert_eq!(
                    bias.len(),
                    shape.batch * shape.square(),
                    "attention: the bias is not [B, H, T, S]"
                );
            }
            None => {}
        }
    }

    fn factors(&self) -> Option<Factors> {
        self.dropout.filter(|dropout| dropout.rate != 0.0).map(Factors::new)
    }

    /// The bias of a sentence, `[H, T, S]`.
    fn bias_of(&self, sentence: usize) -> Option<&'a [f32]> {
        let size = self.shape.square();
        self.bias.map(|bias| match bias {
            Bias::Shared(bias) => bias,
            Bias::Own(bias) => &bias[sentence * size..][..size],
        })
    }
}

/// What the forward pass returns.
#[derive(Clone, Debug)]
pub struct Attended {
    /// `[B, T, H·D]`.
    pub context: Vec<f32>,
    /// `[B, H, T, S]`: the weights before dropout, 0 where a query does not see a key; a query that sees none has only zeros.
    pub weights: Vec<f32>,
}

/// Runs the attention.
///
/// # Panics
/// If a slice does not have the length that `args.shape` asks for, or the rate of dropout is not in 0 ≤ rate < 1.
pub fn forward(args: &Args<'_>) -> Attended {
    run(args, multiply)
}

/// [`forward`] for prediction: no query depends on how many there are.
///
/// # Panics
/// As [`forward`].
pub fn forward_steady(args: &Args<'_>) -> Attended {
    run(args, multiply_steady)
}

/// `to = a · b`, or `to += a · b`.
type Multiply = fn(ViewMut<'_>, View<'_>, View<'_>, bool);

fn run(args: &Args<'_>, multiply: Multiply) -> Attended {
    args.check();
    let (shape, factors) = (args.shape, args.factors());
    let mut context = zeros(args.q.len());
    let mut weights = zeros(shape.batch * shape.square());
    if !shape.is_empty() {
        (context.par_chunks_mut(shape.queries * shape.row()))
            .zip(weights.par_chunks_mut(shape.square()))
            .enumerate()
            .for_each(|(index, (context, weights))| {
                let sentence = Sentence::new(args, index);
                let mut scores = sentence.scratch();
                for head in 0..shape.heads {
                    for block in sentence.blocks() {
                        sentence.forward(head, block, factors, multiply, &mut scores, (context, weights));
                    }
                }
            });
    }
    Attended { context, weights }
}

/// Queries of a block when the keys that they see differ.
const ROWS: usize = 32;

/// Some queries, and the keys that any of them sees.
#[derive(Clone, Copy)]
struct Block {
    /// The first query.
    first: usize,
    /// The number of queries.
    rows: usize,
    /// Keys that are looked at, from the first on.
    keys: usize,
}

impl Block {
    /// From one row of a scratch matrix to the next: whole registers.
    fn stride(self) -> usize {
        self.keys.next_multiple_of(LANES)
    }
}

/// One sentence of the batch.
struct Sentence<'a> {
    args: &'a Args<'a>,
    index: usize,
    /// The keys up to the last that exists.
    keys: usize,
    /// The mask of these keys, and zeros up to a whole register.
    exists: Vec<f32>,
}

impl<'a> Sentence<'a> {
    fn new(args: &'a Args<'a>, index: usize) -> Self {
        let all = args.shape.keys;
        let mask = args.mask.map(|mask| &mask[index * all..][..all]);
        let keys = mask
            .map_or(all, |mask| mask.iter().rposition(|&exists| exists != 0.0).map_or(0, |last| last + 1));
        let mut exists = mask.map_or_else(|| vec![1.0; keys], |mask| mask[..keys].to_vec());
        exists.resize(keys.next_multiple_of(LANES), 0.0);
        Self { args, index, keys, exists }
    }

    fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        let (queries, keys, causal) = (self.args.shape.queries, self.keys, self.args.causal);
        (0..queries).step_by(if causal.is_some() { ROWS } else { queries }).map(move |first| {
            let rows = if causal.is_some() { ROWS.min(queries - first) } else { queries };
            Block { first, rows, keys: causal.map_or(keys, |position| keys.min(position + first + rows)) }
        })
    }

    /// Room for the scores of any block.
    fn scratch(&self) -> Vec<f32> {
        self.blocks()
            .map(|block| block.rows * block.stride())
            .max()
            .map_or_else(Vec::new, |len| vec![0.0; len])
    }

    /// Of rows `[B, count, H·D]`: those of this sentence from `first` on, and of them the part of one head.
    fn part<'b>(&self, rows: &'b [f32], count: usize, head: usize, first: usize, own: usize) -> View<'b> {
        let Shape { width, .. } = self.args.shape;
        let row = self.args.shape.row();
        View::strided(&rows[(self.index * count + first) * row + head * width..], own, width, row)
    }

    fn queries<'b>(&self, rows: &'b [f32], head: usize, block: Block) -> View<'b> {
        self.part(rows, self.args.shape.queries, head, block.first, block.rows)
    }

    fn keys<'b>(&self, rows: &'b [f32], head: usize, block: Block) -> View<'b> {
        self.part(rows, self.args.shape.keys, head, 0, block.keys)
    }

    /// Keys from the first on that query `t` may see.
    #[inline(always)]
    fn seen(&self, t: usize, block: Block) -> usize {
        self.args.causal.map_or(block.keys, |first| block.keys.min(first + t + 1))
    }

    /// Where in `[H, T, S]` the row of a query begins.
    #[inline(always)]
    fn place(&self, head: usize, t: usize) -> usize {
        (head * self.args.shape.queries + t) * self.args.shape.keys
    }

    /// `context` `[T, H·D]` and `weights` `[H, T, S]` of this sentence, for one head and block.
    fn forward(
        &self,
        head: usize,
        block: Block,
        factors: Option<Factors>,
        multiply: Multiply,
        scores: &mut [f32],
        (context, weights): (&mut [f32], &mut [f32]),
    ) {
        let (args, stride) = (self.args, block.stride());
        let scores = &mut scores[..block.rows * stride];
        let (q, k) = (self.queries(args.q, head, block), self.keys(args.k, head, block));
        multiply(ViewMut::strided(scores, block.rows, block.keys, stride), q, k.transposed(), false);
        softmax::forward(self, head, block, scores, weights);
        if let Some(factors) = factors {
            let start = self.index * args.shape.square();
            for (t, row) in (block.first..).zip(scores.chunks_exact_mut(stride.max(1))) {
                // The factors of the next row fall on the zeros behind this one.
                factors.apply(start + self.place(head, t), row);
            }
        }
        let row = args.shape.row();
        let to = &mut context[block.first * row + head * args.shape.width..];
        multiply(
            ViewMut::strided(to, block.rows, args.shape.width, row),
            View::strided(scores, block.rows, block.keys, stride),
            self.keys(args.v, head, block),
            false,
        );
    }
}
