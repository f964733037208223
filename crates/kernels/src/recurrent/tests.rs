//! The layer against the reference: its output, and its gradients against differences of the reference.

use proptest::prelude::*;

use super::reference::{Reference, Sizes};
use super::{
    Args, Cell, Gradients, Look, LookGradients, PreparedWeights, Shape, backward, forward, forward_only,
    forward_prepared,
};
use crate::instructions::sets::with_each;
use crate::prepared::Prepared;

/// Values in −1 … 1 that depend on `seed` and their index.
fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Everything that a layer reads, owned.
#[derive(Clone, Debug)]
struct Case {
    cell: Cell,
    shape: Shape,
    reverse: bool,
    mask: Vec<f32>,
    /// x, w_x, w_h, bias, h0, c0; keys, states, w_q and vector of a look, else empty.
    values: [Vec<f32>; 10],
    look: Option<Sizes>,
    /// Of the source.
    exists: Vec<f32>,
}

impl Case {
    fn new(cell: Cell, shape: Shape, reverse: bool, lengths: &[usize], seed: u64) -> Self {
        Self::looking(cell, shape, reverse, lengths, None, seed)
    }

    /// With a look at sources of different lengths, one of them empty.
    fn looking(
        cell: Cell,
        shape: Shape,
        reverse: bool,
        lengths: &[usize],
        look: Option<Sizes>,
        seed: u64,
    ) -> Self {
        let Shape { batch, steps, input, width } = shape;
        let Sizes { positions, width: of_key, context, fed, .. } =
            look.unwrap_or(Sizes { positions: 0, width: 0, context: 0, after: false, fed: 0 });
        let columns = cell.gates() * width;
        let mask = lengths.iter().flat_map(|&n| (0..steps).map(move |t| f32::from(t < n))).collect();
        let states = batch * width;
        let cell_states = if cell == Cell::Lstm { states } else { 0 };
        let lengths = [
            batch * steps * input,
            (input + fed) * columns,
            width * columns,
            cell.bias_blocks() * width,
            states,
            cell_states,
            batch * positions * of_key,
            batch * positions * context,
            width * of_key,
            of_key,
        ];
        let mut values = std::array::from_fn(|index| noise(lengths[index], seed + index as u64));
        values[2].iter_mut().for_each(|w| *w /= (width as f32).sqrt());
        let length = |b: usize| if b == 1 { 0 } else { positions.saturating_sub(b % 3).max(1) };
        let exists = (0..batch).flat_map(|b| (0..positions).map(move |s| f32::from(s < length(b)))).collect();
        Self { cell, shape, reverse, mask, values, look, exists }
    }

    fn args(&self) -> Args<'_> {
        let [x, w_x, w_h, bias, h0, c0, keys, states, w_q, vector] = &self.values;
        let Self { cell, shape, reverse, mask, exists, .. } = self;
        let look = self.look.map(|Sizes { positions, width, context, after, fed }| Look {
            positions,
            width,
            context,
            keys,
            states,
            mask: exists,
            w_q,
            vector,
            after,
            fed,
        });
        Args { cell: *cell, shape: *shape, reverse: *reverse, mask, x, w_x, w_h, bias, h0, c0, look }
    }

    fn reference(&self) -> Reference {
        let double = |values: &Vec<f32>| values.iter().map(|&v| f64::from(v)).collect();
        Reference {
            cell: self.cell,
            shape: self.shape,
            reverse: self.reverse,
            mask: double(&self.mask),
            values: self.values.each_ref().map(double),
            look: self.look,
            exists: double(&self.exists),
        }
    }
}

fn case() -> impl Strategy<Value = Case> {
    let cells = prop_oneof![Just(Cell::Rnn), Just(Cell::Lstm), Just(Cell::Gru)];
    (cells, 1..9usize, 1..7usize, 1..20usize, 1..20usize, any::<bool>(), 0..1000u64).prop_flat_map(
        |(cell, batch, steps, input, width, reverse, seed)| {
            let shape = Shape { batch, steps, input, width };
            prop::collection::vec(0..=steps, batch)
                .prop_map(move |lengths| Case::new(cell, shape, reverse, &lengths, seed))
        },
    )
}

fn looking_case() -> impl Strategy<Value = Case> {
    (case(), 1..6usize, 1..20usize, 1..20usize, any::<bool>(), 0.0..=1.0f64).prop_map(
        |(case, positions, width, context, after, share)| {
            let Case { cell, shape, reverse, .. } = case;
            let exists = |steps: &[f32]| steps.iter().filter(|m| **m != 0.0).count();
            let lengths: Vec<usize> = case.mask.chunks(shape.steps).map(exists).collect();
            let fed = (share * context as f64).ceil() as usize;
            let sizes = Sizes { positions, width, context, after, fed };
            Case::looking(cell, shape, reverse, &lengths, Some(sizes), 3)
        },
    )
}

fn dot(a: &[f32], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(&a, b)| f64::from(a) * b).sum()
}

/// `d/dε Σ out ⊙ grad_out` of the reference at `ε = 0`, with one argument moved by `ε · direction`.
fn slope(reference: &Reference, grad_out: &[f32], argument: usize, direction: &[f64]) -> f64 {
    const STEP: f64 = 1e-5;
    let loss = |epsilon: f64| {
        let mut moved = reference.clone();
        moved.values[argument].iter_mut().zip(direction).for_each(|(v, d)| *v += epsilon * d);
        dot(grad_out, &moved.forward())
    };
    (loss(STEP) - loss(-STEP)) / (2.0 * STEP)
}

fn parts(gradients: &Gradients) -> [&[f32]; 10] {
    let Gradients { x, w_x, w_h, bias, h0, c0, look } = gradients;
    let LookGradients { keys, states, w_q, vector } = look;
    [x, w_x, w_h, bias, h0, c0, keys, states, w_q, vector].map(Vec::as_slice)
}

fn check_gradients(case: &Case) {
    let (_, tape) = forward(&case.args());
    let grad_out = noise(case.args().out_len(), 77);
    let gradients = backward(&case.args(), &tape, &grad_out);
    let reference = case.reference();
    for (argument, gradient) in parts(&gradients).into_iter().enumerate() {
        assert_eq!(gradient.len(), case.values[argument].len());
        // Along a direction that moves every element, and along some single elements.
        let everywhere: Vec<f64> = noise(gradient.len(), 78).into_iter().map(f64::from).collect();
        let single = (0..gradient.len()).step_by(gradient.len() / 10 + 1).map(|index| {
            let mut direction = vec![0.0; gradient.len()];
            direction[index] = 1.0;
            direction
        });
        for direction in single.chain([everywhere]) {
            let (got, expected) =
                (dot(gradient, &direction), slope(&reference, &grad_out, argument, &direction));
            let size = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
            assert!(
                (got - expected).abs() < 2e-5 * (1.0 + size + expected.abs()),
                "argument {argument}: {got} {expected}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn output_agrees_with_the_reference(case in case()) {
        let (out, _) = forward(&case.args());
        let only = forward_only(&case.args());
        let expected = case.reference().forward();
        prop_assert_eq!(out.len(), expected.len());
        prop_assert_eq!(only.len(), expected.len());
        for (prepare, allowed) in [(Prepared::floats as fn(&[f32], usize, usize, bool) -> Prepared, 2e-5), (Prepared::bytes, 0.2)] {
            let Args { cell, w_x, w_h, shape, .. } = case.args();
            let prepare = |weight: &[f32], input, output| prepare(weight, input, output, false);
            let weights = PreparedWeights::new(cell, w_x, w_h, shape.width, prepare);
            let out = forward_prepared(&case.args(), &weights);
            prop_assert_eq!(out.len(), expected.len());
            for (got, expected) in out.iter().zip(&expected) {
                prop_assert!((f64::from(*got) - expected).abs() < allowed, "{} {}", got, expected);
            }
        }
        for ((got, only), expected) in out.iter().zip(only).zip(expected) {
            prop_assert!((f64::from(*got) - expected).abs() < 2e-5, "{} {}", got, expected);
            prop_assert!((f64::from(only) - expected).abs() < 2e-5, "{} {}", only, expected);
        }
    }

    #[test]
    fn gradients_agree_with_differences(case in case()) {
        check_gradients(&case);
    }

    #[test]
    fn a_look_agrees_with_the_reference(case in looking_case()) {
        let (out, _) = forward(&case.args());
        let expected = case.reference().forward();
        prop_assert_eq!(out.len(), expected.len());
        for ((got, only), expected) in out.iter().zip(forward_only(&case.args())).zip(expected) {
            prop_assert!((f64::from(*got) - expected).abs() < 2e-5, "{} {}", got, expected);
            prop_assert!((f64::from(only) - expected).abs() < 2e-5, "{} {}", only, expected);
        }
        let (Shape { batch, steps, width, .. }, Some(Sizes { positions, context, .. })) = (case.shape, case.look)
        else { panic!() };
        let (rows, row) = (case.cell.out_rows(steps), context + width + positions);
        for (b, t) in (0..batch).flat_map(|b| (0..steps).map(move |t| (b, t))) {
            let shares = &out[(b * rows + t) * row..][context + width..row];
            let mask = &case.exists[b * positions..][..positions];
            let there = case.mask[b * steps + t] * mask[0];
            prop_assert!((shares.iter().sum::<f32>() - there).abs() < 1e-5);
            prop_assert!(shares.iter().zip(mask).all(|(share, exists)| *exists != 0.0 || *share == 0.0));
        }
    }

    #[test]
    fn gradients_of_a_look_agree_with_differences(case in looking_case()) {
        check_gradients(&case);
    }

    #[test]
    fn a_row_does_not_see_the_others(case in case()) {
        let out = forward_only(&case.args());
        let mut other = case.clone();
        let (rows, row) = (case.shape.batch, case.shape.steps * case.shape.input);
        other.values[0][row..].fill(f32::NAN);
        let changed = forward_only(&other.args());
        let of_first = out.len() / rows;
        prop_assert_eq!(&out[..of_first], &changed[..of_first]);
    }

    #[test]
    fn padding_carries_the_state(case in case()) {
        let mut padded = case;
        padded.mask.fill(0.0);
        padded.values[0].fill(f32::NAN);
        let out = forward_only(&padded.args());
        let Shape { batch, steps, width, .. } = padded.shape;
        let rows = padded.cell.out_rows(steps);
        for b in 0..batch {
            for t in 0..steps {
                prop_assert_eq!(&out[(b * rows + t) * width..][..width], &padded.values[4][b * width..][..width]);
            }
        }
    }
}

/// Widths beyond those of the property tests, where the product kernels run full tiles, and other numbers of threads.
#[test]
fn wide_layers_agree_with_the_reference() {
    for cell in [Cell::Rnn, Cell::Lstm, Cell::Gru] {
        for (batch, threads) in [(3, 5), (37, 1), (37, 3)] {
            let shape = Shape { batch, steps: 5, input: 33, width: 70 };
            let lengths: Vec<usize> = (0..batch).map(|b| b % 6).collect();
            let fed = if threads == 3 { 11 } else { 35 };
            let sizes = Sizes { positions: 9, width: 40, context: 35, after: threads == 3, fed };
            let look = (batch == 37).then_some(sizes);
            let case = Case::looking(cell, shape, batch == 3, &lengths, look, 5);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let out = pool.install(|| forward_only(&case.args()));
            let error = out.iter().zip(case.reference().forward()).map(|(&a, b)| (f64::from(a) - b).abs());
            assert!(error.fold(0.0, f64::max) < 2e-5, "{cell:?}");
            pool.install(|| check_gradients(&case));
        }
    }
}

#[test]
fn nothing_in_nothing_out() {
    for cell in [Cell::Rnn, Cell::Lstm, Cell::Gru] {
        let no_rows = Case::new(cell, Shape { batch: 0, steps: 3, input: 2, width: 4 }, false, &[], 1);
        let (out, tape) = forward(&no_rows.args());
        assert!(out.is_empty());
        assert!(backward(&no_rows.args(), &tape, &out).w_h.iter().all(|&w| w == 0.0));

        let no_steps = Case::new(cell, Shape { batch: 2, steps: 0, input: 2, width: 4 }, false, &[0, 0], 1);
        let (out, tape) = forward(&no_steps.args());
        assert_eq!(out, no_steps.values[5]);
        let gradients = backward(&no_steps.args(), &tape, &out);
        assert_eq!(gradients.c0, out);
        assert_eq!(gradients.h0, [0.0; 8]);
    }
}

#[test]
#[should_panic(expected = "w_h is not [H, G·H]")]
fn a_slice_of_another_length_is_refused() {
    let mut case = Case::new(Cell::Gru, Shape { batch: 1, steps: 1, input: 2, width: 3 }, false, &[1], 1);
    case.values[2].pop();
    forward(&case.args());
}

/// Every instruction set of the machine, and with each the whole in one pass and step by step.
#[test]
fn every_instruction_set_agrees_with_the_reference() {
    for cell in [Cell::Rnn, Cell::Lstm, Cell::Gru] {
        let shape = Shape { batch: 11, steps: 6, input: 33, width: 53 };
        let case = Case::new(cell, shape, false, &[6; 11], 5);
        let expected = case.reference().forward();
        let found = with_each(|| {
            check_gradients(&case);
            (forward_only(&case.args()), step_by_step(&case))
        });
        for (set, (whole, steps)) in found {
            let error = whole.iter().zip(&expected).map(|(&a, b)| (f64::from(a) - b).abs());
            assert!(error.fold(0.0, f64::max) < 2e-5, "{cell:?} with {set}");
            assert_eq!(whole, steps, "{cell:?} with {set}");
        }
    }
}

/// The output of a case without padding, one step at a time.
fn step_by_step(case: &Case) -> Vec<f32> {
    let Shape { batch, steps, input, width } = case.shape;
    let rows = case.cell.out_rows(steps);
    let mut step = Case { shape: Shape { steps: 1, ..case.shape }, mask: vec![1.0; batch], ..case.clone() };
    let mut out = vec![0.0; batch * rows * width];
    for t in 0..steps {
        let of_batch = (0..batch).flat_map(|b| &case.values[0][(b * steps + t) * input..][..input]);
        step.values[0] = of_batch.copied().collect();
        let states = forward_only(&step.args()); // [B, 1, H], LSTM [B, 2, H]
        let state = |row: usize| {
            states.chunks_exact(width).skip(row).step_by(case.cell.out_rows(1)).flatten().copied()
        };
        step.values[4] = state(0).collect();
        if case.cell == Cell::Lstm {
            step.values[5] = state(1).collect();
        }
        for b in 0..batch {
            out[(b * rows + t) * width..][..width].copy_from_slice(&step.values[4][b * width..][..width]);
            if case.cell == Cell::Lstm {
                out[(b * rows + steps) * width..][..width]
                    .copy_from_slice(&step.values[5][b * width..][..width]);
            }
        }
    }
    out
}
