//! One recurrent layer over all its steps, as a single operation.
//!
//! Letters: `B` batch, `T` steps, `I` input width, `H` state width, `G` gates of the cell.
//! With `x` the input of a step, `h` and `c` the state before it and `σ` the logistic function:
//!
//! - [`Cell::Rnn`], `G` = 1: `h' = tanh(x W_x + h W_h + b)`
//! - [`Cell::Lstm`], `G` = 4 in the order i, f, g, o (Hochreiter & Schmidhuber 1997, with forget gate):
//!   `i, f, o = σ(x W_x + h W_h + b)`, `g = tanh(…)`, `c' = f ⊙ c + i ⊙ g`, `h' = o ⊙ tanh(c')`
//! - [`Cell::Gru`], `G` = 3 in the order r, z, n (Cho et al. 2014, in the variant of cuDNN and PyTorch):
//!   `r, z = σ(x W_x + h W_h + b)`, `n = tanh(x W_xn + b_n + r ⊙ (h W_hn + b_hn))`, `h' = (1 − z) ⊙ n + z ⊙ h`
//!
//! On padding (`mask` 0) the state is carried over unchanged. The layer runs from the first step to the
//! last, or with `reverse` from the last to the first; row `t` of the output is position `t` either way.
//!
//! The product with `W_x` is made once for all steps; then each thread takes some rows of the batch through
//! all steps, without waiting for another. The weight gradients are one product each after the loop.
//!
//! A layer may [`Look`] at a source at every step: the state before the step asks, and the context that it gets, or the
//! end of it, stands behind the input `x` of that step; or the state after it, for the input of the next.

mod backward;
mod cells;
mod forward;
mod look;
#[cfg(test)]
mod reference;
mod step;
#[cfg(test)]
mod tests;

pub use backward::backward;
pub use forward::{PreparedWeights, forward, forward_only, forward_prepared};
pub use look::{Look, LookGradients};
pub use step::{StepRoom, step_prepared};

use crate::product::View;

/// The kind of cell: how a step makes the next state from its input and the state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The plain (Elman) cell.
    Rnn,
    /// Long short-term memory: a cell state besides the hidden state.
    Lstm,
    /// The gated recurrent unit.
    Gru,
}

impl Cell {
    /// `G`: the blocks of width `H` in the columns of `w_x` and `w_h`.
    pub fn gates(self) -> usize {
        match self {
            Cell::Rnn => 1,
            Cell::Lstm => 4,
            Cell::Gru => 3,
        }
    }

    /// The blocks of width `H` in the bias; the GRU has a fourth, for the hidden part of `n`.
    pub fn bias_blocks(self) -> usize {
        match self {
            Cell::Rnn => 1,
            Cell::Lstm | Cell::Gru => 4,
        }
    }

    /// Rows of the output per sequence: `T`, and for the LSTM one more for the final cell state.
    pub fn out_rows(self, steps: usize) -> usize {
        steps + usize::from(self == Cell::Lstm)
    }
}

/// The sizes of a layer and of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: sequences of the batch.
    pub batch: usize,
    /// `T`: steps of the longest sequence.
    pub steps: usize,
    /// `I`: width of the input.
    pub input: usize,
    /// `H`: width of the state.
    pub width: usize,
}

/// What a layer reads; the same for the forward and the backward pass.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// The kind of cell.
    pub cell: Cell,
    /// The sizes that all slices below follow.
    pub shape: Shape,
    /// Run from the last step to the first.
    pub reverse: bool,
    /// `[B, T, I]`: the inputs.
    pub x: &'a [f32],
    /// `[B, T]`: 0 on padding, anything else (1) where the step exists.
    pub mask: &'a [f32],
    /// `[I, G·H]`: the weights of the input; with a look `[I + F, G·H]`, those of what is fed of the context behind them.
    pub w_x: &'a [f32],
    /// `[H, G·H]`: the weights of the state.
    pub w_h: &'a [f32],
    /// `[G·H]`, for the GRU `[4·H]`: r, z, n and the hidden part of n.
    pub bias: &'a [f32],
    /// `[B, H]`: the state before the first step.
    pub h0: &'a [f32],
    /// `[B, H]`: the cell state before the first step of an LSTM; empty for the others.
    pub c0: &'a [f32],
    /// What is looked at, at every step.
    pub look: Option<Look<'a>>,
}

impl Args<'_> {
    /// The number of values in the output: `B · T · H`, for the LSTM `B · (T + 1) · H`; with a look, `C + H + S` for `H`.
    pub fn out_len(&self) -> usize {
        self.shape.batch * self.cell.out_rows(self.shape.steps) * self.out_width()
    }

    /// Values of a row of the output: the state; with a look the context before it and the weights behind it.
    fn out_width(&self) -> usize {
        self.context() + self.shape.width + self.look.map_or(0, |look| look.positions)
    }

    /// `C`, or 0 without a look.
    fn context(&self) -> usize {
        self.look.map_or(0, |look| look.context)
    }

    /// `F`, or 0 without a look.
    fn fed(&self) -> usize {
        self.look.map_or(0, |look| look.fed)
    }

    /// Whether the states after the steps look.
    fn looks_after(&self) -> bool {
        self.look.is_some_and(|look| look.after)
    }

    /// The inputs `[B·T, I]` and their weights `[I, G·H]`.
    fn inputs(&self) -> [View<'_>; 2] {
        let Shape { batch, steps, input, .. } = self.shape;
        [View::new(self.x, batch * steps, input), self.all_inputs().rows(0, input)]
    }

    /// The weights of the inputs and of what is fed: `[I + F, G·H]`.
    fn all_inputs(&self) -> View<'_> {
        View::new(self.w_x, self.shape.input + self.fed(), self.cell.gates() * self.shape.width)
    }

    /// The weights of what is fed: `[F, G·H]`.
    fn of_fed(&self) -> View<'_> {
        self.all_inputs().rows(self.shape.input, self.fed())
    }

    /// Panics unless every slice has the length that the shape asks for.
    fn check(&self) {
        self.check_inputs();
        let Shape { input, width, .. } = self.shape;
        let gates = self.cell.gates() * width;
        let inputs = input + self.fed();
        assert_eq!(self.w_x.len(), inputs * gates, "recurrent: w_x is not [I + F, G·H] for {:?}", self.shape);
        assert_eq!(self.w_h.len(), width * gates, "recurrent: w_h is not [H, G·H] for {:?}", self.shape);
    }

    /// The same without the matrices of weights, which may be elsewhere.
    fn check_inputs(&self) {
        let Shape { batch, steps, input, width } = self.shape;
        assert_eq!(self.x.len(), batch * steps * input, "recurrent: x is not [B, T, I] for {:?}", self.shape);
        assert_eq!(self.mask.len(), batch * steps, "recurrent: mask is not [B, T] for {:?}", self.shape);
        let bias = self.cell.bias_blocks() * width;
        assert_eq!(self.bias.len(), bias, "recurrent: bias does not fit {:?} {:?}", self.cell, self.shape);
        assert_eq!(self.h0.len(), batch * width, "recurrent: h0 is not [B, H] for {:?}", self.shape);
        let cell_state = if self.cell == Cell::Lstm { batch * width } else { 0 };
        assert_eq!(self.c0.len(), cell_state, "recurrent: c0 does not fit {:?} {:?}", self.cell, self.shape);
        self.look.iter().for_each(|look| look.check(batch, width));
    }

    /// The positions in the order in which the layer visits them.
    fn positions(&self) -> impl DoubleEndedIterator<Item = usize> + Clone + use<> {
        let (steps, reverse) = (self.shape.steps, self.reverse);
        (0..steps).map(move |step| if reverse { steps - 1 - step } else { step })
    }
}

/// What the forward pass keeps for the backward pass. All of it in the order of the batch, `[B, T, …]`.
#[derive(Clone, Debug)]
pub struct Tape {
    /// `[B, T, G·H]`: the gates after their activation; unspecified on padding.
    gates: Vec<f32>,
    /// `[B, T, H]`: the hidden state before each step.
    before: Vec<f32>,
    /// `[B, T, H]`: LSTM: the cell state after each step; GRU: `h W_hn + b_hn`; empty for the plain cell.
    inner: Vec<f32>,
    /// Empty without a look.
    looked: look::Looked,
}

/// The gradients of all that [`Args`] holds, in the same shapes.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[B, T, I]`.
    pub x: Vec<f32>,
    /// `[I + F, G·H]`.
    pub w_x: Vec<f32>,
    /// `[H, G·H]`.
    pub w_h: Vec<f32>,
    /// `[G·H]`, for the GRU `[4·H]`.
    pub bias: Vec<f32>,
    /// `[B, H]`.
    pub h0: Vec<f32>,
    /// `[B, H]` for the LSTM, else empty.
    pub c0: Vec<f32>,
    /// Of what was looked at; empty without a look.
    pub look: LookGradients,
}
