//! The forward pass of a layer.

use rayon::prelude::*;

use super::look::{LookWeights, Looked, LookedRows};
use super::{Args, Cell, Tape, cells};
use crate::maths::vectorised;
use crate::packed::Weights;
use crate::prepared::Prepared;
use crate::product::{View, ViewMut, product, split_rows, zeros};
use crate::steady::product_steady;

/// Runs the layer. Returns the output, `[B, T, H]` for the plain cell and the GRU, `[B, T + 1, H]` for the
/// LSTM with the final cell state in row `T`; and the tape for [`super::backward()`]. With a look a row of the output
/// holds the context, the state and the weights α of the look, `C + H + S`; on padding there is no look, and context and
/// weights are zero.
///
/// # Panics
/// If a slice does not have the length that `args.shape` asks for.
pub fn forward(args: &Args<'_>) -> (Vec<f32>, Tape) {
    args.check();
    let [x, w_x] = args.inputs();
    run(args, product(x, w_x), &StepWeights::new(args, Weights::new))
}

/// [`forward`] for prediction: the output alone, of which no row depends on how many there are, nor on the
/// number of threads.
///
/// # Panics
/// As [`forward`].
pub fn forward_only(args: &Args<'_>) -> Vec<f32> {
    args.check();
    let [x, w_x] = args.inputs();
    run(args, product_steady(x, w_x), &StepWeights::new(args, Weights::steady)).0
}

/// [`forward_only`] with weights that were made ready: those of `args` are not read.
///
/// # Panics
/// As [`forward`], and if the weights are of another layer.
pub fn forward_prepared(args: &Args<'_>, weights: &PreparedWeights) -> Vec<f32> {
    args.check_inputs();
    let (input, columns) = (args.shape.input, args.cell.gates() * args.shape.width);
    assert!(args.look.is_none(), "recurrent: no weights of a look are ready");
    assert_eq!(weights.input.shape(), (input, columns), "recurrent: the weights are of another layer");
    let steps = StepWeights {
        gates: Weights::Prepared(&weights.gates),
        hidden: weights.hidden.as_ref().map(Weights::Prepared),
        look: None,
    };
    run(args, weights.input.forward(args.x, None), &steps).0
}

/// The weights of a layer, made ready for many passes.
#[derive(Clone, Debug)]
pub struct PreparedWeights {
    pub(super) input: Prepared,
    pub(super) gates: Prepared,
    /// GRU: the columns of n.
    pub(super) hidden: Option<Prepared>,
}

impl PreparedWeights {
    /// The weights `[I, G·H]` of the input and `[H, G·H]` of the state, each as `prepare` makes it of a matrix, its
    /// rows and its columns.
    pub fn new(
        cell: Cell,
        w_x: &[f32],
        w_h: &[f32],
        width: usize,
        prepare: impl Fn(&[f32], usize, usize) -> Prepared,
    ) -> Self {
        let columns = cell.gates() * width;
        let input = prepare(w_x, w_x.len() / columns.max(1), columns);
        Self::of(cell, width, input, |range| {
            let rows = w_h.chunks_exact(columns.max(1)).flat_map(|row| &row[range.clone()]);
            prepare(&rows.copied().collect::<Vec<_>>(), width, range.len())
        })
    }

    /// The weights of the input, and those of the state as `columns` makes some columns of them ready.
    pub fn of(
        cell: Cell,
        width: usize,
        input: Prepared,
        columns: impl Fn(std::ops::Range<usize>) -> Prepared,
    ) -> Self {
        match cell {
            Cell::Gru => {
                Self { input, gates: columns(0..2 * width), hidden: Some(columns(2 * width..3 * width)) }
            }
            cell => Self { input, gates: columns(0..cell.gates() * width), hidden: None },
        }
    }
}

/// Runs the layer, from the products of all inputs `[B, T, G·H]`.
fn run(args: &Args<'_>, mut gates: Vec<f32>, weights: &StepWeights<'_>) -> (Vec<f32>, Tape) {
    let (shape, cell) = (args.shape, args.cell);
    let states = shape.batch * shape.steps * shape.width; // B·T·H
    let mut before = zeros(states);
    let mut inner = zeros(if cell == Cell::Rnn { 0 } else { states });
    let mut out = zeros(args.out_len());
    let mut looked = Looked::new(args);

    let threads = rayon::current_num_threads();
    let count = shape.batch.div_ceil(threads).max(1);
    let mut first = 0;
    let parts: Vec<Rows<'_>> = split_rows(&mut gates, shape.batch, count)
        .zip(split_rows(&mut before, shape.batch, count))
        .zip(split_rows(&mut inner, shape.batch, count))
        .zip(split_rows(&mut out, shape.batch, count))
        .zip(looked.split(shape.batch, count))
        .map(|((((gates, before), inner), out), looked)| {
            let part =
                Rows { first, count: count.min(shape.batch - first), gates, before, inner, out, looked };
            first += count;
            part
        })
        .collect();
    parts.into_par_iter().for_each(|rows| rows.run(args, weights));
    (out, Tape { gates, before, inner, looked })
}

/// `W_h`, in the parts that a step multiplies by: all gates, for the GRU r and z.
struct StepWeights<'a> {
    gates: Weights<'a>,
    /// GRU: the columns of n.
    hidden: Option<Weights<'a>>,
    look: Option<LookWeights<'a>>,
}

impl<'a> StepWeights<'a> {
    fn new(args: &'a Args<'a>, weights: fn(View<'a>, usize) -> Weights<'a>) -> Self {
        let (width, steps) = (args.shape.width, args.shape.steps);
        let all = View::new(args.w_h, width, args.cell.gates() * width);
        let of = |from: usize, blocks: usize| weights(all.columns(from * width, blocks * width), steps);
        let look = LookWeights::new(args, weights);
        match args.cell {
            Cell::Gru => Self { gates: of(0, 2), hidden: Some(of(2, 1)), look },
            cell => Self { gates: of(0, cell.gates()), hidden: None, look },
        }
    }
}

/// Some rows of the batch, which one thread takes through all steps.
struct Rows<'a> {
    /// The index of the first in the batch.
    first: usize,
    count: usize,
    /// `[count, T, G·H]`.
    gates: &'a mut [f32],
    /// `[count, T, H]`.
    before: &'a mut [f32],
    /// `[count, T, H]` or empty.
    inner: &'a mut [f32],
    /// `[count, T, C + H + S]`, LSTM `[count, T + 1, C + H + S]`.
    out: &'a mut [f32],
    looked: LookedRows<'a>,
}

impl Rows<'_> {
    fn run(mut self, args: &Args<'_>, weights: &StepWeights<'_>) {
        let (steps, width) = (args.shape.steps, args.shape.width);
        let positions: Vec<usize> = args.positions().collect();
        for row in 0..self.count {
            let state = (self.first + row) * width;
            match positions.first() {
                Some(t) => self.before[(row * steps + t) * width..][..width]
                    .copy_from_slice(&args.h0[state..][..width]),
                None if args.cell == Cell::Lstm => {
                    self.out[row * args.out_width() + args.context()..][..width]
                        .copy_from_slice(&args.c0[state..][..width]);
                }
                None => {}
            }
        }
        for (step, &t) in positions.iter().enumerate() {
            let previous = step.checked_sub(1).map(|step| positions[step]);
            let mask = &args.mask[self.first * steps..];
            if (0..self.count).any(|row| mask[row * steps + t] != 0.0) {
                self.products(args, weights, previous, t);
            }
            let next = positions.get(step + 1).copied();
            vectorised(
                #[inline(always)]
                || self.activations(args, previous, t, next),
            );
            if let Some(look) = &weights.look {
                self.look_after(args, look, t);
            }
        }
    }

    /// The look of the states after a step, if they look; and what was seen, put around the states in the output.
    fn look_after(&mut self, args: &Args<'_>, weights: &LookWeights<'_>, t: usize) {
        let (steps, width, context) = (args.shape.steps, args.shape.width, args.context());
        let (out_rows, out_width) = (args.cell.out_rows(steps), args.out_width());
        if args.looks_after() {
            let states = &self.out[t * out_width + context..];
            let states = View::strided(states, self.count, width, out_rows * out_width);
            self.looked.ask(args, weights, [self.first, t], states);
        }
        for row in 0..self.count {
            let out = &mut self.out[(row * out_rows + t) * out_width..][..out_width];
            let (seen, shares) = self.looked.found(row * steps + t, [context, out_width - context - width]);
            out[..context].copy_from_slice(seen);
            out[context + width..].copy_from_slice(shares);
        }
    }

    /// What was seen, and the products with `W_h`, added to those of the input of a step.
    fn products(&mut self, args: &Args<'_>, weights: &StepWeights<'_>, previous: Option<usize>, t: usize) {
        let (count, steps, width) = (self.count, args.shape.steps, args.shape.width);
        let columns = args.cell.gates() * width;
        let before = View::strided(&self.before[t * width..], count, width, steps * width);
        if let Some(look) = &weights.look {
            if !args.looks_after() {
                self.looked.ask(args, look, [self.first, t], before);
            }
            if let Some(seen_at) = if args.looks_after() { previous } else { Some(t) } {
                let gates = ViewMut::strided(&mut self.gates[t * columns..], count, columns, steps * columns);
                self.looked.enter(args, look, seen_at, gates);
            }
        }
        let recurrent = if weights.hidden.is_some() { 2 * width } else { columns };
        let gates = ViewMut::strided(&mut self.gates[t * columns..], count, recurrent, steps * columns);
        weights.gates.multiply(gates, before, true);
        if let Some(hidden) = &weights.hidden {
            let to = ViewMut::strided(&mut self.inner[t * width..], count, width, steps * width);
            hidden.multiply(to, before, false);
        }
    }

    /// What a step does besides its products, for every row: from the sums in `gates` to the new state.
    #[inline(always)]
    fn activations(&mut self, args: &Args<'_>, previous: Option<usize>, t: usize, next: Option<usize>) {
        let (steps, width) = (args.shape.steps, args.shape.width);
        let columns = args.cell.gates() * width;
        let (out_rows, out_width, context) = (args.cell.out_rows(steps), args.out_width(), args.context());
        for row in 0..self.count {
            let exists = args.mask[(self.first + row) * steps + t] != 0.0;
            let gates = &mut self.gates[(row * steps + t) * columns..][..columns];
            let before = &mut self.before[row * steps * width..][..steps * width];
            let h_before = &before[t * width..][..width];
            let out = &mut self.out[row * out_rows * out_width..][..out_rows * out_width];
            let (out, c_final) = out.split_at_mut(steps * out_width);
            let h = &mut out[t * out_width + context..][..width];
            match args.cell {
                Cell::Rnn if exists => cells::rnn(gates, args.bias, h),
                Cell::Gru if exists => {
                    let hidden = &mut self.inner[(row * steps + t) * width..][..width];
                    cells::gru(gates, args.bias, hidden, h_before, h);
                }
                Cell::Rnn | Cell::Gru => h.copy_from_slice(h_before),
                Cell::Lstm => {
                    let inner = &mut self.inner[row * steps * width..][..steps * width];
                    let (c_before, c) = before_and_at(inner, previous, t, width);
                    let c_before = c_before.unwrap_or(&args.c0[(self.first + row) * width..][..width]);
                    if exists {
                        cells::lstm(gates, args.bias, c_before, c, h);
                    } else {
                        c.copy_from_slice(c_before);
                        h.copy_from_slice(h_before);
                    }
                    if next.is_none() {
                        c_final[context..][..width].copy_from_slice(c);
                    }
                }
            }
            if let Some(next) = next {
                before[next * width..][..width].copy_from_slice(h);
            }
        }
    }
}

/// Of the states `[T, H]` of a row: the one at the position before, if there is any, and the one at `t`.
#[inline(always)]
fn before_and_at(
    states: &mut [f32],
    previous: Option<usize>,
    t: usize,
    width: usize,
) -> (Option<&[f32]>, &mut [f32]) {
    match previous {
        None => (None, &mut states[t * width..][..width]),
        Some(previous) if previous < t => {
            let (low, high) = states.split_at_mut(t * width);
            (Some(&low[previous * width..][..width]), &mut high[..width])
        }
        Some(previous) => {
            let (low, high) = states.split_at_mut(previous * width);
            (Some(&high[..width]), &mut low[t * width..][..width])
        }
    }
}
