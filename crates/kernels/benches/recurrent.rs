//! Recurrent layers over all their steps, beside a loop of single operations: `cargo bench -p gatto-kernels --bench recurrent`.
//!
//! The products of both are those of [`linear`], and the scores of a look those of [`additive`]; what differs is how many there
//! are, and what happens between them.

mod beside;

use beside::{Beside, values};
use gatto_kernels::recurrent::{Args, Cell, Gradients, Look, Shape, backward, forward};
use gatto_kernels::{additive, linear};

fn sigmoid(x: &[f32]) -> Vec<f32> {
    x.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect()
}

fn tanh(x: &[f32]) -> Vec<f32> {
    x.iter().map(|x| x.tanh()).collect()
}

fn zip(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    zip(a, b, |a, b| a + b)
}

fn times(a: &[f32], b: &[f32]) -> Vec<f32> {
    zip(a, b, |a, b| a * b)
}

/// The gradient of a sum from that of its tangent or its sigmoid.
fn before_tanh(gradient: &[f32], y: &[f32]) -> Vec<f32> {
    zip(gradient, y, |g, y| g * (1.0 - y * y))
}

fn before_sigmoid(gradient: &[f32], y: &[f32]) -> Vec<f32> {
    zip(gradient, y, |g, y| g * y * (1.0 - y))
}

/// Block `index` of every row of `[B, blocks·H]`.
fn block(x: &[f32], width: usize, blocks: usize, index: usize) -> Vec<f32> {
    let mut part = Vec::with_capacity(x.len() / blocks);
    x.chunks_exact(blocks * width).for_each(|row| part.extend_from_slice(&row[index * width..][..width]));
    part
}

/// Parts `[B, …]` of so many rows side by side.
fn beside_each_other(parts: &[&[f32]], rows: usize) -> Vec<f32> {
    let mut whole = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for row in 0..rows {
        for part in parts {
            let width = part.len() / rows;
            whole.extend_from_slice(&part[row * width..][..width]);
        }
    }
    whole
}

/// Blocks `[B, H]` side by side.
fn side_by_side(parts: &[&[f32]], width: usize) -> Vec<f32> {
    beside_each_other(parts, parts[0].len() / width)
}

/// What a step leaves for the backward pass: its gates after their activation, and more as the cell has it.
struct Step {
    x: Vec<f32>,
    h: Vec<f32>,
    c: Vec<f32>,
    gates: Vec<Vec<f32>>,
    /// LSTM: `tanh c'`; GRU: `h W_hn + b_hn`.
    inner: Vec<f32>,
    /// With a look, its query, its weights and the context that it gave; else nothing.
    looked: [Vec<f32>; 3],
}

/// The maps of a look: from a state to its query, and from a query to a score of each position.
fn maps(look: &Look<'_>, batch: usize, width: usize) -> (linear::Shape, additive::Shape) {
    (
        linear::Shape { rows: batch, input: width, output: look.width, transposed: false },
        additive::Shape { batch, queries: 1, positions: look.positions, width: look.width },
    )
}

/// The look of states `[B, H]`: their queries, the weights α and the contexts. All positions exist.
fn looked(look: &Look<'_>, h: &[f32], batch: usize) -> [Vec<f32>; 3] {
    let (to_query, to_scores) = maps(look, batch, h.len() / batch);
    let query = linear::forward(to_query, h, look.w_q, &vec![0.0; look.width]);
    let scores = additive::forward(to_scores, &query, look.keys, look.vector);
    let raised: Vec<f32> = scores.iter().map(|score| score.exp()).collect();
    let sums: Vec<f32> = raised.chunks_exact(look.positions).map(|row| row.iter().sum()).collect();
    let shares: Vec<f32> = raised.iter().enumerate().map(|(at, e)| e / sums[at / look.positions]).collect();
    let mut context = vec![0.0; batch * look.context];
    for (at, (share, state)) in shares.iter().zip(look.states.chunks_exact(look.context)).enumerate() {
        let to = &mut context[at / look.positions * look.context..][..look.context];
        to.iter_mut().zip(state).for_each(|(to, value)| *to += share * value);
    }
    [query, shares, context]
}

/// Adds the gradients of keys, states, W_q and v, from those of the contexts; gives those of the states that asked.
fn looked_backward(
    look: &Look<'_>,
    h: &[f32],
    [query, shares, _]: &[Vec<f32>; 3],
    d_context: &[f32],
    sums: &mut [Vec<f32>; 4],
) -> Vec<f32> {
    let batch = d_context.len() / look.context;
    let (to_query, to_scores) = maps(look, batch, h.len() / batch);
    let rows = || shares.iter().zip(look.states.chunks_exact(look.context)).enumerate();
    let of_row = |at: usize| &d_context[at / look.positions * look.context..][..look.context];
    let d_shares: Vec<f32> = rows().map(|(at, (_, state))| times(of_row(at), state).iter().sum()).collect();
    let d_states: Vec<f32> =
        rows().flat_map(|(at, (share, _))| of_row(at).iter().map(move |d| share * d)).collect();
    let weighed = times(shares, &d_shares);
    let means: Vec<f32> = weighed.chunks_exact(look.positions).map(|row| row.iter().sum()).collect();
    let means: Vec<f32> = (0..shares.len()).map(|at| means[at / look.positions]).collect();
    let d_scores = zip(&weighed, &times(shares, &means), |a, b| a - b);
    let scores = additive::backward(to_scores, query, look.keys, look.vector, &d_scores);
    let asked = linear::backward(to_query, h, look.w_q, &scores.queries);
    for (sum, more) in sums.iter_mut().zip([scores.keys, d_states, asked.weight, scores.vector]) {
        *sum = add(sum, &more);
    }
    asked.x
}

/// The biases of the products of inputs and of states.
fn biases(args: &Args<'_>) -> (Vec<f32>, Vec<f32>) {
    let (width, columns) = (args.shape.width, args.cell.gates() * args.shape.width);
    let mut of_state = vec![0.0; columns];
    if args.cell == Cell::Gru {
        of_state[2 * width..].copy_from_slice(&args.bias[3 * width..]);
    }
    (args.bias[..columns].to_vec(), of_state)
}

/// The states of all steps, `[T][B, H]`, and what is kept of each.
fn plain(args: &Args<'_>) -> (Vec<Vec<f32>>, Vec<Step>) {
    let Shape { batch, steps, input, width } = args.shape;
    let blocks = args.cell.gates();
    let map = |input| linear::Shape { rows: batch, input, output: blocks * width, transposed: false };
    let (of_input, of_state) = biases(args);
    let (mut h, mut c) = (args.h0.to_vec(), args.c0.to_vec());
    let (mut states, mut kept) = (Vec::new(), Vec::new());
    for t in 0..steps {
        let x = block(args.x, input, steps, t);
        let looked = args.look.map(|look| looked(&look, &h, batch)).unwrap_or_default();
        let (x, inputs) = match args.look {
            Some(look) => (beside_each_other(&[&x, &looked[2]], batch), input + look.context),
            None => (x, input),
        };
        let from_x = linear::forward(map(inputs), &x, args.w_x, &of_input);
        let from_h = linear::forward(map(width), &h, args.w_h, &of_state);
        let sum = |gate| add(&block(&from_x, width, blocks, gate), &block(&from_h, width, blocks, gate));
        let (new_h, new_c, gates, inner) = match args.cell {
            Cell::Rnn => {
                let state = tanh(&sum(0));
                (state.clone(), Vec::new(), vec![state], Vec::new())
            }
            Cell::Lstm => {
                let [i, f, g, o] = [sigmoid(&sum(0)), sigmoid(&sum(1)), tanh(&sum(2)), sigmoid(&sum(3))];
                let new_c = add(&times(&f, &c), &times(&i, &g));
                let inner = tanh(&new_c);
                (times(&o, &inner), new_c, vec![i, f, g, o], inner)
            }
            Cell::Gru => {
                let [r, z] = [sigmoid(&sum(0)), sigmoid(&sum(1))];
                let hidden = block(&from_h, width, 3, 2);
                let n = tanh(&add(&block(&from_x, width, 3, 2), &times(&r, &hidden)));
                let state = add(&zip(&z, &n, |z, n| (1.0 - z) * n), &times(&z, &h));
                (state, Vec::new(), vec![r, z, n], hidden)
            }
        };
        kept.push(Step { x, h, c, gates, inner, looked });
        states.push(new_h.clone());
        (h, c) = (new_h, new_c);
    }
    (states, kept)
}

/// `[T][B, H]` → `[B, T, H]`.
fn by_rows(states: &[Vec<f32>], width: usize) -> Vec<f32> {
    side_by_side(&states.iter().map(Vec::as_slice).collect::<Vec<_>>(), width)
}

/// The gradients of x, W_x and W_h, and of a look those of keys, states, W_q and v; from those of the states, `[T][B, H]`.
fn plain_backward(args: &Args<'_>, kept: &[Step], gradients: &[Vec<f32>]) -> [Vec<f32>; 7] {
    let Shape { batch, input, width, .. } = args.shape;
    let context = args.look.map_or(0, |look| look.context);
    let mut of_look = args.look.map_or_else(Default::default, |look| {
        [look.keys, look.states, look.w_q, look.vector].map(|of| vec![0.0; of.len()])
    });
    let map =
        |input| linear::Shape { rows: batch, input, output: args.cell.gates() * width, transposed: false };
    let (mut d_h, mut d_c) = (vec![0.0; args.h0.len()], vec![0.0; args.c0.len()]);
    let (mut d_x, mut w_x, mut w_h) = (Vec::new(), vec![0.0; args.w_x.len()], vec![0.0; args.w_h.len()]);
    for (step, gradient) in kept.iter().zip(gradients).rev() {
        let d = add(&d_h, gradient);
        let gates = &step.gates;
        let (of_input, of_state, past) = match args.cell {
            Cell::Rnn => {
                let sum = before_tanh(&d, &gates[0]);
                (sum.clone(), sum, vec![0.0; d.len()])
            }
            Cell::Lstm => {
                let [i, f, g, o] = [0, 1, 2, 3].map(|gate| &gates[gate][..]);
                let cell = add(&d_c, &before_tanh(&times(&d, o), &step.inner));
                let sums = side_by_side(
                    &[
                        &before_sigmoid(&times(&cell, g), i),
                        &before_sigmoid(&times(&cell, &step.c), f),
                        &before_tanh(&times(&cell, i), g),
                        &before_sigmoid(&times(&d, &step.inner), o),
                    ],
                    width,
                );
                d_c = times(&cell, f);
                (sums.clone(), sums, vec![0.0; d.len()])
            }
            Cell::Gru => {
                let [r, z, n] = [0, 1, 2].map(|gate| &gates[gate][..]);
                let of_n = before_tanh(&zip(&d, z, |d, z| d * (1.0 - z)), n);
                let of_r = before_sigmoid(&times(&of_n, &step.inner), r);
                let of_z = before_sigmoid(&times(&d, &zip(&step.h, n, |h, n| h - n)), z);
                let of_hidden = times(&of_n, r);
                let of_input = side_by_side(&[&of_r, &of_z, &of_n], width);
                (of_input, side_by_side(&[&of_r, &of_z, &of_hidden], width), times(&d, z))
            }
        };
        let of_x = linear::backward(map(input + context), &step.x, args.w_x, &of_input);
        w_x = add(&w_x, &of_x.weight);
        let found = linear::backward(map(width), &step.h, args.w_h, &of_state);
        w_h = add(&w_h, &found.weight);
        d_h = add(&past, &found.x);
        let rows = of_x.x.chunks_exact(input + context);
        d_x.push(rows.clone().flat_map(|row| &row[..input]).copied().collect());
        if let Some(look) = args.look {
            let d_context: Vec<f32> = rows.flat_map(|row| &row[input..]).copied().collect();
            let asked = looked_backward(&look, &step.h, &step.looked, &d_context, &mut of_look);
            d_h = add(&d_h, &asked);
        }
    }
    d_x.reverse();
    let [keys, states, w_q, vector] = of_look;
    [by_rows(&d_x, input), w_x, w_h, keys, states, w_q, vector]
}

/// What the decoder that looks looks at: positions, and the width of their keys and states.
const POSITIONS: usize = 24;
const CONTEXT: usize = 512;

fn main() {
    let mut table = Beside::new("recurrent");
    // A direction of W2's encoder, and its decoder without the look and with it.
    for (what, cell, input, width, looks) in [
        ("W2 encoder, LSTM", Cell::Lstm, 256, 256, false),
        ("W2 decoder, LSTM", Cell::Lstm, 512, 512, false),
        ("W2 decoder that looks at 24", Cell::Lstm, 512, 512, true),
        ("GRU", Cell::Gru, 512, 512, false),
        ("plain cell", Cell::Rnn, 512, 512, false),
    ] {
        let shape = Shape { batch: 64, steps: 24, input, width };
        let Shape { batch, steps, .. } = shape;
        let columns = cell.gates() * width;
        let small =
            |count: usize, seed: u32| values(count, seed).iter().map(|w| 0.05 * w).collect::<Vec<f32>>();
        let (x, mask) = (values(batch * steps * input, 1), vec![1.0; batch * steps]);
        let context = if looks { CONTEXT } else { 0 };
        let (w_x, w_h, bias) = (
            small((input + context) * columns, 2),
            small(width * columns, 3),
            small(cell.bias_blocks() * width, 4),
        );
        let [keys, states] = [6, 7].map(|seed| values(batch * POSITIONS * CONTEXT, seed));
        let (w_q, vector, exists) =
            (small(width * CONTEXT, 8), small(CONTEXT, 9), vec![1.0; batch * POSITIONS]);
        let look = Look {
            positions: POSITIONS,
            width: CONTEXT,
            context: CONTEXT,
            keys: &keys,
            states: &states,
            mask: &exists,
            w_q: &w_q,
            vector: &vector,
            after: false,
            fed: CONTEXT,
        };
        let h0 = vec![0.0; batch * width];
        let c0 = if cell == Cell::Lstm { h0.clone() } else { Vec::new() };
        let args = Args {
            cell,
            shape,
            reverse: false,
            x: &x,
            mask: &mask,
            w_x: &w_x,
            w_h: &w_h,
            bias: &bias,
            h0: &h0,
            c0: &c0,
            look: looks.then_some(look),
        };
        let rows = cell.out_rows(steps);
        let size = format!("{what}, {batch} × {steps}, {input} → {width}");
        // A row has the context before the state and the weights behind it, the last cell state has zeros there.
        let around = |state: &[f32], looked: Option<&[Vec<f32>; 3]>| match (looks, looked) {
            (false, _) => state.to_vec(),
            (true, Some([_, shares, context])) => beside_each_other(&[context, state, shares], batch),
            (true, None) => {
                let zeros = |count| vec![0.0; batch * count];
                beside_each_other(&[&zeros(CONTEXT), state, &zeros(POSITIONS)], batch)
            }
        };
        let out_width = width + if looks { CONTEXT + POSITIONS } else { 0 };
        let as_ours = |states: &[Vec<f32>], kept: Option<&[Step]>, last: &[f32]| {
            let looked = |t: usize| kept.map(|kept| &kept[t].looked);
            let mut all: Vec<Vec<f32>> =
                states.iter().enumerate().map(|(t, state)| around(state, looked(t))).collect();
            all.extend((rows > steps).then(|| around(last, None)));
            by_rows(&all, out_width)
        };
        table.compare(
            &size,
            || {
                let (states, kept) = plain(&args);
                // The last cell state, which the LSTM gives too.
                let last = kept.last().map(|step| last_cell(step, cell));
                [as_ours(&states, Some(&kept), &last.unwrap_or_default())]
            },
            || [forward(&args).0],
        );
        let gradients: Vec<Vec<f32>> = (0..steps as u32).map(|t| values(batch * width, 5 + t)).collect();
        let output = as_ours(&gradients, None, &h0);
        let ((_, kept), (_, tape)) = (plain(&args), forward(&args));
        table.compare(
            &format!("{size}, backward"),
            || plain_backward(&args, &kept, &gradients),
            || {
                let Gradients { x, w_x, w_h, look, .. } = backward(&args, &tape, &output);
                [x, w_x, w_h, look.keys, look.states, look.w_q, look.vector]
            },
        );
    }
    table.finish();
}

/// `f ⊙ c + i ⊙ g`, once more.
fn last_cell(step: &Step, cell: Cell) -> Vec<f32> {
    match cell {
        Cell::Lstm => add(&times(&step.gates[1], &step.c), &times(&step.gates[0], &step.gates[2])),
        _ => Vec::new(),
    }
}
