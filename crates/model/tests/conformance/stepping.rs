//! A step is the whole, one column at a time, and a state can be reordered between any two steps.

use crate::variants::{Variant, assert_close, scores, values, writers};
use burn::tensor::Device;
use gatto_data::{Padded, Sources};
use gatto_model::{Model, State};
use gatto_nn::{Noise, Precision};

const TOLERANCE: f32 = 1e-5;

/// A batch beside its scores under teacher forcing.
struct Whole {
    inputs: Padded,
    source: Sources,
    scores: Vec<Vec<Vec<f32>>>,
}

impl Whole {
    fn of(variant: &Variant, model: &Model) -> Self {
        let (source, target) = (variant.source(), Padded::new(&variant.targets()));
        Self {
            inputs: model.teacher_inputs(&target),
            scores: scores(variant, model, &source, &target),
            source,
        }
    }

    /// One step of `rows` of the batch at position `at`, compared with the whole.
    fn step(&self, what: &str, model: &Model, rows: &[usize], at: usize, state: State) -> State {
        let tokens: Vec<u32> =
            rows.iter().map(|&row| self.inputs.ids[row * self.inputs.width + at]).collect();
        let (logits, state) = model.step(&tokens, state);
        let vocabulary = logits.dims()[1];
        let logits = values(logits);
        for (found, &row) in logits.chunks_exact(vocabulary).zip(rows) {
            if let Some(expected) = self.scores[row].get(at) {
                assert_close(&format!("{what}, row {row} step {at}"), found, expected, TOLERANCE);
            }
        }
        state
    }
}

/// Every variant with what it makes of the whole, and the model that goes step by step: as it is, and with weights that are ready,
/// whose steps take ways of their own.
fn each_form() -> impl Iterator<Item = (Variant, Whole, Model)> {
    [false, true]
        .into_iter()
        .flat_map(|ready| writers().into_iter().map(move |variant| (variant, ready)))
        .map(|(variant, ready)| {
            let mut model = variant.model(&Device::flex());
            let whole = Whole::of(&variant, &model);
            if ready {
                model.prepare(Precision::Float);
            }
            (variant, whole, model)
        })
}

#[test]
fn steps_one_by_one_are_the_whole() {
    for (variant, whole, model) in each_form() {
        let rows: Vec<usize> = (0..whole.inputs.rows).collect();
        let memory = model.encode(&whole.source, &mut Noise::none());
        let mut state = model.start(memory.as_ref(), rows.len());
        for at in 0..whole.inputs.width {
            state = whole.step(&variant.name, &model, &rows, at, state);
        }
    }
}

#[test]
fn states_can_be_reordered_repeated_and_dropped() {
    for (variant, whole, model) in each_form() {
        let memory = model.encode(&whole.source, &mut Noise::none());
        let mut state = model.start(memory.as_ref(), whole.inputs.rows);
        let mut rows: Vec<usize> = (0..whole.inputs.rows).collect();
        // What is taken before each step, as places among the rows that are still there.
        let taken: [&[usize]; 5] = [&[4, 2, 0, 2], &[0, 1, 2, 3], &[3, 3, 1, 0, 0, 2], &[5, 0], &[1]];
        for (at, taken) in taken.into_iter().enumerate() {
            state = state.select(taken);
            rows = taken.iter().map(|&place| rows[place]).collect();
            state = whole.step(&variant.name, &model, &rows, at, state);
        }
    }
}

#[test]
fn a_memory_can_be_reordered_before_the_first_step() {
    let device = Device::flex();
    for variant in writers() {
        let model = variant.model(&device);
        let whole = Whole::of(&variant, &model);
        let Some(memory) = model.encode(&whole.source, &mut Noise::none()) else { continue };
        let twice = (0..2 * memory.lengths.len()).map(|row| row / 2).collect();
        for taken in [vec![3, 1, 1, 4], twice] {
            let memory = memory.select(&taken);
            let mut state = model.start(Some(&memory), taken.len());
            for at in 0..2 {
                state = whole.step(&variant.name, &model, &taken, at, state);
            }
        }
    }
}

#[test]
fn a_model_that_learns_computes_what_it_will_predict() {
    for variant in writers() {
        let predicting = Whole::of(&variant, &variant.model(&Device::flex()));
        let learning = Whole::of(&variant, &variant.model(&Device::flex().autodiff()));
        for (row, (found, expected)) in learning.scores.iter().zip(&predicting.scores).enumerate() {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert_close(&format!("{}, row {row}", variant.name), found, expected, TOLERANCE);
            }
        }
    }
}
