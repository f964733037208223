//! One step of a layer at prediction, whose rows have their states changed where they are.

use super::forward::PreparedWeights;
use super::{Cell, cells};
use crate::ending::Ending;
use crate::maths::vectorised;
use crate::prepared::{Map, Prepared, forward_all};
use rayon::prelude::*;

/// Gates that are worth a thread of their own.
const WORTH: usize = 1 << 15;

/// What a step works with, besides the states. Its memory is that of the steps before.
#[derive(Clone, Debug, Default)]
pub struct StepRoom {
    /// `[R, G·H]`.
    gates: Vec<f32>,
    /// GRU: what the state adds to r and z, `[R, 2·H]`.
    recurrent: Vec<f32>,
    /// GRU: `h W_hn`, `[R, H]`.
    hidden: Vec<f32>,
    /// The state before, `[R, H]`: of the LSTM that of the cell.
    before: Vec<f32>,
}

/// Sums that go to a place, or are added to what stands there.
fn map<'a>(weight: &'a Prepared, add: bool, to: &'a mut [f32]) -> Map<'a> {
    Map { weight, ending: Ending { add, ..Ending::default() }, to }
}

/// Reads an input `x` `[R, I]` of every row: `h` `[R, H]` and, of an LSTM, `c` become the states behind it. What
/// [`super::forward_prepared`] makes of a single step, but for the order of sums.
///
/// # Panics
/// If lengths do not fit.
pub fn step_prepared(
    cell: Cell,
    weights: &PreparedWeights,
    bias: &[f32],
    x: &[f32],
    [h, c]: [&mut [f32]; 2],
    room: &mut StepRoom,
) {
    let (input, columns) = weights.input.shape();
    let width = columns / cell.gates();
    let rows = h.len() / width.max(1);
    assert_eq!(
        (x.len(), h.len()),
        (rows * input, rows * width),
        "recurrent: x and h are not [R, I] and [R, H]"
    );
    assert_eq!(c.len(), if cell == Cell::Lstm { h.len() } else { 0 }, "recurrent: c does not fit {cell:?}");
    assert_eq!(bias.len(), cell.bias_blocks() * width, "recurrent: bias does not fit {cell:?}");
    if h.is_empty() {
        return;
    }
    let StepRoom { gates, recurrent, hidden, before } = room;
    gates.resize(rows * columns, 0.0);
    hidden.resize(rows * width, 0.0);
    before.clear();
    before.extend_from_slice(if cell == Cell::Lstm { c } else { h });
    forward_all(x, [map(&weights.input, false, gates)]);
    match &weights.hidden {
        None => forward_all(h, [map(&weights.gates, true, gates)]),
        Some(of_hidden) => {
            recurrent.resize(rows * 2 * width, 0.0);
            forward_all(h, [map(&weights.gates, false, recurrent), map(of_hidden, false, hidden)]);
            let sums = gates.chunks_exact_mut(columns).zip(recurrent.chunks_exact(2 * width));
            sums.for_each(|(gates, more)| gates.iter_mut().zip(more).for_each(|(gate, more)| *gate += more));
        }
    }
    // The plain cell has no other state, and the place of it is not read.
    let other: &mut [f32] = if cell == Cell::Lstm { c } else { hidden };
    let part = |gates: &mut [f32], before: &[f32], other: &mut [f32], h: &mut [f32]| {
        vectorised(
            #[inline(always)]
            || {
                let states = h.chunks_exact_mut(width).zip(other.chunks_exact_mut(width));
                let sums = gates.chunks_exact_mut(columns).zip(before.chunks_exact(width));
                for ((h, other), (gates, before)) in states.zip(sums) {
                    match cell {
                        Cell::Rnn => cells::rnn(gates, bias, h),
                        Cell::Gru => cells::gru(gates, bias, other, before, h),
                        Cell::Lstm => cells::lstm(gates, bias, before, other, h),
                    }
                }
            },
        );
    };
    let parts = rayon::current_num_threads().min((rows * columns).div_ceil(WORTH)).min(rows);
    if parts == 1 {
        return part(gates, before, other, h);
    }
    let block = rows.div_ceil(parts);
    (gates.par_chunks_mut(block * columns))
        .zip(before.par_chunks(block * width))
        .zip(other.par_chunks_mut(block * width))
        .zip(h.par_chunks_mut(block * width))
        .for_each(|(((gates, before), other), h)| part(gates, before, other, h));
}

#[cfg(test)]
mod tests {
    use super::super::{Args, Shape, forward_prepared};
    use super::*;
    use crate::prepared::Prepared;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_step_is_the_layer_over_one_step(
            rows in 0usize..8, input in 1usize..40, width in 1usize..40, bytes: bool, seed: u32,
        ) {
            for cell in [Cell::Rnn, Cell::Lstm, Cell::Gru] {
                let columns = cell.gates() * width;
                let [w_x, w_h] = [values(input * columns, seed), values(width * columns, seed ^ 1)];
                let prepare = if bytes { Prepared::bytes } else { Prepared::floats };
                let weights = PreparedWeights::new(cell, &w_x, &w_h, width, |w, i, o| prepare(w, i, o, false));
                let bias = values(cell.bias_blocks() * width, seed ^ 2);
                let [x, h0] = [values(rows * input, seed ^ 3), values(rows * width, seed ^ 4)];
                let c0 = values(if cell == Cell::Lstm { rows * width } else { 0 }, seed ^ 5);
                let args = Args {
                    cell, shape: Shape { batch: rows, steps: 1, input, width }, reverse: false, x: &x,
                    mask: &vec![1.0; rows], w_x: &[], w_h: &[], bias: &bias, h0: &h0, c0: &c0, look: None,
                };
                let expected = forward_prepared(&args, &weights);
                let (mut h, mut c) = (h0.clone(), c0.clone());
                let mut room = StepRoom::default();
                step_prepared(cell, &weights, &bias, &x, [&mut h, &mut c], &mut room);
                for row in 0..rows {
                    let expected = &expected[row * cell.out_rows(1) * width..][..cell.out_rows(1) * width];
                    for (at, expected) in expected.iter().enumerate() {
                        let state = if at < width { &h } else { &c };
                        let found = state[row * width + at % width];
                        prop_assert!((found - expected).abs() < 1e-5, "{found} and not {expected}");
                    }
                    // A row alone is what it is beside others.
                    let own = row * width..(row + 1) * width;
                    let mut alone = h0[own.clone()].to_vec();
                    let mut cell_alone = c0.get(own.clone()).unwrap_or_default().to_vec();
                    let x = &x[row * input..][..input];
                    step_prepared(cell, &weights, &bias, x, [&mut alone, &mut cell_alone], &mut room);
                    prop_assert_eq!(&alone, &h[own.clone()]);
                    prop_assert_eq!(&cell_alone[..], c.get(own).unwrap_or_default());
                }
            }
        }
    }

    #[test]
    fn threads_change_nothing() {
        let (rows, input, width) = (64, 30, 300);
        for cell in [Cell::Lstm, Cell::Gru] {
            let columns = cell.gates() * width;
            let [w_x, w_h] = [values(input * columns, 1), values(width * columns, 2)];
            let weights =
                PreparedWeights::new(cell, &w_x, &w_h, width, |w, i, o| Prepared::floats(w, i, o, false));
            let (bias, x) = (values(cell.bias_blocks() * width, 3), values(rows * input, 4));
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let mut h = values(rows * width, 5);
                let mut c = values(if cell == Cell::Lstm { rows * width } else { 0 }, 6);
                pool.install(|| {
                    step_prepared(cell, &weights, &bias, &x, [&mut h, &mut c], &mut StepRoom::default());
                });
                (h, c)
            };
            let one = with(1);
            assert!([2, 3].into_iter().all(|threads| with(threads) == one));
        }
    }
}
