//! The layer in its slowest and most obvious form, in `f64`: one value after another, as the formulas say.

use super::{Cell, Shape};

/// [`super::Args`] in double precision.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) cell: Cell,
    pub(super) shape: Shape,
    pub(super) reverse: bool,
    pub(super) mask: Vec<f64>,
    /// x, w_x, w_h, bias, h0, c0, and of a look keys, states, w_q, vector: the arguments that have gradients.
    pub(super) values: [Vec<f64>; 10],
    pub(super) look: Option<Sizes>,
    /// Of the source.
    pub(super) exists: Vec<f64>,
}

/// The sizes of a look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) positions: usize,
    pub(super) width: usize,
    pub(super) context: usize,
    /// Whether the state after a step asks.
    pub(super) after: bool,
    /// How many of a context's last values are fed.
    pub(super) fed: usize,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Reference {
    pub(super) fn forward(&self) -> Vec<f64> {
        let Shape { batch, steps, width, .. } = self.shape;
        let rows = self.cell.out_rows(steps);
        let [_, _, _, _, h0, c0, ..] = &self.values;
        let context = self.look.map_or(0, |look| look.context);
        let positions = self.look.map_or(0, |look| look.positions);
        let out_width = context + width + positions;
        let mut out = vec![0.0; batch * rows * out_width];
        for b in 0..batch {
            let mut h = h0[b * width..][..width].to_vec();
            let mut c = c0.get(b * width..(b + 1) * width).unwrap_or(&[]).to_vec();
            let after = self.look.is_some_and(|look| look.after);
            let [mut seen, mut shares] = [vec![0.0; context], vec![0.0; positions]];
            for step in 0..steps {
                let t = if self.reverse { steps - 1 - step } else { step };
                let m = self.mask[b * steps + t];
                let seen_by = |h: &[f64]| -> [Vec<f64>; 2] {
                    self.look(b, h).map(|part| part.into_iter().map(|value| m * value).collect())
                };
                if !after {
                    [seen, shares] = seen_by(&h);
                }
                let unfed = self.look.map_or(0, |look| look.context - look.fed);
                let (h_new, c_new) = self.step(b * steps + t, &seen[unfed..], &h, &c);
                h = h.iter().zip(h_new).map(|(old, new)| m * new + (1.0 - m) * old).collect();
                c = c.iter().zip(c_new).map(|(old, new)| m * new + (1.0 - m) * old).collect();
                if after {
                    [seen, shares] = seen_by(&h);
                }
                let row = &mut out[(b * rows + t) * out_width..][..out_width];
                row.copy_from_slice(&[&seen[..], &h, &shares].concat());
            }
            if self.cell == Cell::Lstm {
                out[(b * rows + steps) * out_width + context..][..width].copy_from_slice(&c);
            }
        }
        out
    }

    /// The context that the state `h` of sentence `b` gets from its look, and the weights; nothing without one.
    fn look(&self, b: usize, h: &[f64]) -> [Vec<f64>; 2] {
        let Some(Sizes { positions, width, context, .. }) = self.look else { return Default::default() };
        let [.., keys, states, w_q, vector] = &self.values;
        let query = |a: usize| h.iter().enumerate().map(|(j, h)| h * w_q[j * width + a]).sum::<f64>();
        let score = |s: usize| -> f64 {
            (0..width).map(|a| vector[a] * (query(a) + keys[(b * positions + s) * width + a]).tanh()).sum()
        };
        let shares: Vec<f64> =
            (0..positions).map(|s| self.exists[b * positions + s] * score(s).exp()).collect();
        let sum = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let shares: Vec<f64> = shares.into_iter().map(|share| share / sum).collect();
        let of = |j: usize, s: usize| shares[s] * states[(b * positions + s) * context + j];
        [(0..context).map(|j| (0..positions).map(|s| of(j, s)).sum()).collect(), shares]
    }

    /// The states after the step whose input is row `at` of x, and what is fed.
    fn step(&self, at: usize, fed: &[f64], h: &[f64], c: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let Shape { input, width, .. } = self.shape;
        let [x, w_x, w_h, bias, ..] = &self.values;
        let columns = self.cell.gates() * width;
        let from_input = |gate: usize, j: usize| -> f64 {
            let inputs = x[at * input..][..input].iter().chain(fed);
            inputs.enumerate().map(|(i, value)| value * w_x[i * columns + gate * width + j]).sum()
        };
        let from_state = |gate: usize, j: usize| -> f64 {
            (0..width).map(|i| h[i] * w_h[i * columns + gate * width + j]).sum()
        };
        let sum = |gate: usize, j: usize| from_input(gate, j) + from_state(gate, j) + bias[gate * width + j];
        (0..width)
            .map(|j| match self.cell {
                Cell::Rnn => (sum(0, j).tanh(), 0.0),
                Cell::Lstm => {
                    let (i, f, g, o) =
                        (sigmoid(sum(0, j)), sigmoid(sum(1, j)), sum(2, j).tanh(), sigmoid(sum(3, j)));
                    let c_new = f * c[j] + i * g;
                    (o * c_new.tanh(), c_new)
                }
                Cell::Gru => {
                    let (r, z) = (sigmoid(sum(0, j)), sigmoid(sum(1, j)));
                    let hidden = from_state(2, j) + bias[3 * width + j];
                    let n = (from_input(2, j) + bias[2 * width + j] + r * hidden).tanh();
                    ((1.0 - z) * n + z * h[j], 0.0)
                }
            })
            .unzip()
    }
}
