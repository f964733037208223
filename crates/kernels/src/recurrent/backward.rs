//! The backward pass of a layer: back through the steps for the gradients of the gates, then the products.

use rayon::prelude::*;

use super::look::{Found, FoundRows, LookWeights};
use super::{Args, Cell, Gradients, Tape, cells};
use crate::maths::vectorised;
use crate::packed::Weights;
use crate::product::{View, ViewMut, product, product_into, split_rows, sum_rows, zeros};

/// The gradients of everything in `args`, from the gradient of the output (in its shape, for the LSTM
/// with that of the final cell state in row `T`).
///
/// # Panics
/// If `args` are not those of the forward pass that made `tape`, or `grad_out` does not have the length of its output.
pub fn backward(args: &Args<'_>, tape: &Tape, grad_out: &[f32]) -> Gradients {
    args.check();
    let (shape, cell) = (args.shape, args.cell);
    let (rows, width) = (shape.batch * shape.steps, shape.width);
    let columns = cell.gates() * width; // G·H
    assert_eq!(tape.gates.len(), rows * columns, "recurrent: the tape is of another shape than {shape:?}");
    assert_eq!(grad_out.len(), args.out_len(), "recurrent: the gradient is not of the output's shape");

    let mut d_gates = zeros(rows * columns); // [B, T, G·H]
    let mut d_hidden = zeros(if cell == Cell::Gru { rows * width } else { 0 }); // [B, T, H]
    let mut h0 = vec![0.0; shape.batch * width];
    let mut c0 = vec![0.0; args.c0.len()];
    let mut found = Found::new(args);

    let weights = StepWeights::new(args);
    let count = shape.batch.div_ceil(rayon::current_num_threads()).max(1);
    let mut first = 0;
    let parts: Vec<Rows<'_>> = split_rows(&mut d_gates, shape.batch, count)
        .zip(split_rows(&mut d_hidden, shape.batch, count))
        .zip(split_rows(&mut h0, shape.batch, count))
        .zip(split_rows(&mut c0, shape.batch, count))
        .zip(found.split(shape.batch, count))
        .map(|((((d_gates, d_hidden), d_h), d_c), look)| {
            let part =
                Rows { first, count: count.min(shape.batch - first), d_gates, d_hidden, d_h, d_c, look };
            first += count;
            part
        })
        .collect();
    parts.into_par_iter().for_each(|rows| rows.run(args, &weights, tape, grad_out));

    let before = View::new(&tape.before, rows, width);
    let gates = View::new(&d_gates, rows, columns);
    let mut bias = sum_rows(&d_gates, columns);
    let w_h = if cell == Cell::Gru {
        // The hidden part of n has a gradient of its own.
        let hidden = View::new(&d_hidden, rows, width);
        bias.extend(sum_rows(&d_hidden, width));
        let mut w_h = vec![0.0; width * columns]; // [H, 3·H]
        let (of_r_z, of_n) = (2 * width, width);
        product_into(
            ViewMut::strided(&mut w_h, width, of_r_z, columns),
            before.transposed(),
            gates.columns(0, of_r_z),
        );
        product_into(ViewMut::strided(&mut w_h[of_r_z..], width, of_n, columns), before.transposed(), hidden);
        w_h
    } else {
        product(before.transposed(), gates) // [H, G·H]
    };
    let [x, of_x] = args.inputs();
    let mut w_x = product(x.transposed(), gates); // [I, G·H]
    let look = found.finish(args, tape, gates, &mut w_x);
    Gradients { x: product(gates, of_x.transposed()), w_x, w_h, bias, h0, c0, look }
}

/// The transpose of `W_h`, in the parts that a step multiplies by: all gates, for the GRU r and z.
struct StepWeights<'a> {
    gates: Weights<'a>,
    /// GRU: the rows of n.
    hidden: Option<Weights<'a>>,
    look: Option<LookWeights<'a>>,
}

impl<'a> StepWeights<'a> {
    fn new(args: &'a Args<'a>) -> Self {
        let (width, steps) = (args.shape.width, args.shape.steps);
        let all = View::new(args.w_h, width, args.cell.gates() * width);
        let of = |from: usize, blocks: usize| {
            Weights::new(all.columns(from * width, blocks * width).transposed(), steps)
        };
        let look = LookWeights::transposed(args);
        match args.cell {
            Cell::Gru => Self { gates: of(0, 2), hidden: Some(of(2, 1)), look },
            cell => Self { gates: of(0, cell.gates()), hidden: None, look },
        }
    }
}

/// Some rows of the batch, which one thread takes back through all steps.
struct Rows<'a> {
    /// The index of the first in the batch.
    first: usize,
    count: usize,
    /// `[count, T, G·H]`.
    d_gates: &'a mut [f32],
    /// `[count, T, H]` for the GRU, else empty.
    d_hidden: &'a mut [f32],
    /// `[count, H]`: the gradient of the state, in the end of the state before the first step.
    d_h: &'a mut [f32],
    /// `[count, H]` for the LSTM, else empty: the same of the cell state.
    d_c: &'a mut [f32],
    look: FoundRows<'a>,
}

impl Rows<'_> {
    fn run(mut self, args: &Args<'_>, weights: &StepWeights<'_>, tape: &Tape, grad_out: &[f32]) {
        let (steps, width) = (args.shape.steps, args.shape.width);
        let out_rows = args.cell.out_rows(steps);
        for (row, d_c) in self.d_c.chunks_exact_mut(width.max(1)).enumerate() {
            let at = ((self.first + row) * out_rows + steps) * args.out_width() + args.context();
            d_c.copy_from_slice(&grad_out[at..][..width]);
        }
        let positions: Vec<usize> = args.positions().collect();
        for (step, &t) in positions.iter().enumerate().rev() {
            let previous = step.checked_sub(1).map(|step| positions[step]);
            if args.looks_after() {
                self.looks(args, weights, (tape, grad_out), t, positions.get(step + 1).copied());
            }
            let exists = vectorised(
                #[inline(always)]
                || self.activations(args, tape, grad_out, previous, t),
            );
            if exists {
                self.products(args, weights, t);
                if !args.looks_after() {
                    self.looks(args, weights, (tape, grad_out), t, Some(t));
                }
            }
        }
    }

    /// The way back through the look of step `t`, whose context entered the gates of step `entered`.
    fn looks(
        &mut self,
        args: &Args<'_>,
        weights: &StepWeights<'_>,
        made: (&Tape, &[f32]),
        t: usize,
        entered: Option<usize>,
    ) {
        let Some(look) = &weights.look else { return };
        let (steps, columns) = (args.shape.steps, args.cell.gates() * args.shape.width);
        let d_gates = entered
            .map(|at| View::strided(&self.d_gates[at * columns..], self.count, columns, steps * columns));
        self.look.step(args, look, made, [self.first, t], d_gates, self.d_h);
    }

    /// The gradients of the gates at a step, and of the states before it but for what comes through `W_h`.
    /// Whether the step exists in any row.
    #[inline(always)]
    fn activations(
        &mut self,
        args: &Args<'_>,
        tape: &Tape,
        grad_out: &[f32],
        previous: Option<usize>,
        t: usize,
    ) -> bool {
        let (steps, width) = (args.shape.steps, args.shape.width);
        let columns = args.cell.gates() * width;
        let (out_rows, out_width) = (args.cell.out_rows(steps), args.out_width());
        let mut exists = false;
        for row in 0..self.count {
            let sequence = self.first + row;
            let at = sequence * steps + t;
            let d_h = &mut self.d_h[row * width..][..width];
            let d_out = &grad_out[(sequence * out_rows + t) * out_width + args.context()..][..width];
            d_h.iter_mut().zip(d_out).for_each(|(d_h, d_out)| *d_h += d_out);
            if args.mask[at] == 0.0 {
                continue; // the gates keep their zeros
            }
            exists = true;
            let gates = &tape.gates[at * columns..][..columns];
            let d_gates = &mut self.d_gates[(row * steps + t) * columns..][..columns];
            match args.cell {
                Cell::Rnn => cells::rnn_backward(gates, d_gates, d_h),
                Cell::Lstm => {
                    let c = &tape.inner[at * width..][..width];
                    let c_before = match previous {
                        Some(previous) => &tape.inner[(sequence * steps + previous) * width..][..width],
                        None => &args.c0[sequence * width..][..width],
                    };
                    let d_c = &mut self.d_c[row * width..][..width];
                    cells::lstm_backward(gates, c_before, c, d_gates, d_h, d_c);
                }
                Cell::Gru => {
                    let hidden = &tape.inner[at * width..][..width];
                    let h_before = &tape.before[at * width..][..width];
                    let d_hidden = &mut self.d_hidden[(row * steps + t) * width..][..width];
                    cells::gru_backward(gates, hidden, h_before, d_gates, d_hidden, d_h);
                }
            }
        }
        exists
    }

    /// Adds what comes through `W_h` to the gradient of the state before.
    fn products(&mut self, args: &Args<'_>, weights: &StepWeights<'_>, t: usize) {
        let (count, steps, width) = (self.count, args.shape.steps, args.shape.width);
        let columns = args.cell.gates() * width;
        let recurrent = if weights.hidden.is_some() { 2 * width } else { columns };
        let d_gates = View::strided(&self.d_gates[t * columns..], count, recurrent, steps * columns);
        weights.gates.multiply(ViewMut::strided(self.d_h, count, width, width), d_gates, true);
        if let Some(hidden) = &weights.hidden {
            let d_hidden = View::strided(&self.d_hidden[t * width..], count, width, steps * width);
            hidden.multiply(ViewMut::strided(self.d_h, count, width, width), d_hidden, true);
        }
    }
}
