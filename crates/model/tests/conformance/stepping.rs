//! A step is the whole, one column at a time, and a state can be reordered between any two steps.

use crate::variants::{Variant, assert_close, scores, values, writers};
use burn::tensor::Device;
use gatto_data::{Padded, Sources};
use gatto_model::{Model, State, Stepping};
use gatto_nn::{Noise, Precision};
use gatto_search::Step;

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
        let (logits, state) = model.step(&self.tokens(rows, at), state);
        let vocabulary = logits.dims()[1];
        self.compare(what, rows, at, values(logits).chunks_exact(vocabulary));
        state
    }

    /// What `rows` of the batch read at position `at`.
    fn tokens(&self, rows: &[usize], at: usize) -> Vec<u32> {
        rows.iter().map(|&row| self.inputs.ids[row * self.inputs.width + at]).collect()
    }

    /// Compares the scores of a step of `rows` at position `at` with the whole.
    fn compare<'a>(&self, what: &str, rows: &[usize], at: usize, scores: impl Iterator<Item = &'a [f32]>) {
        let scores: Vec<&[f32]> = scores.collect();
        assert_eq!(scores.len(), rows.len(), "{what}, step {at}");
        for (found, &row) in scores.into_iter().zip(rows) {
            if let Some(expected) = self.scores[row].get(at) {
                assert_close(&format!("{what}, row {row} step {at}"), found, expected, TOLERANCE);
            }
        }
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
fn a_step_that_tells_where_it_looks_goes_on_from_one_that_does_not() {
    for (variant, whole, model) in each_form() {
        let stepping = || {
            let memory = model.encode(&whole.source, &mut Noise::none());
            Stepping::new(&model, memory, whole.inputs.rows)
        };
        let (plain, looking) = (stepping(), stepping().looking());
        let (mut state, _) = plain.start();
        let mut rows: Vec<usize> = (0..whole.inputs.rows).collect();
        let taken: [&[usize]; 5] = [&[4, 2, 0, 2], &[0, 1, 2, 3], &[3, 3, 1, 0, 0, 2], &[5, 0], &[1]];
        for (at, taken) in taken.into_iter().enumerate() {
            state = plain.select(state, taken);
            rows = taken.iter().map(|&place| rows[place]).collect();
            let by = if at % 2 == 0 { &plain } else { &looking };
            let (logits, behind) = by.step(&whole.tokens(&rows, at), state);
            whole.compare(
                &format!("{}, looking at every other step", variant.name),
                &rows,
                at,
                logits.rows(),
            );
            assert!(
                at % 2 == 1 || plain.attention(&behind).is_none(),
                "{}: of an earlier step",
                variant.name
            );
            state = behind;
        }
    }
}

#[test]
fn a_step_is_the_same_to_the_bit_whatever_other_rows_there_are() {
    for variant in writers() {
        for precision in [Precision::Float, Precision::Int8] {
            let mut model = variant.model(&Device::flex());
            let whole = Whole::of(&variant, &model);
            model.prepare(precision);
            let rows: Vec<usize> = (0..whole.inputs.rows).collect();
            let memory = model.encode(&whole.source, &mut Noise::none());
            let start = model.start(memory.as_ref(), rows.len());
            let steps = |taken: &[usize]| {
                let mut state = start.clone().select(taken);
                let mut scores = Vec::new();
                for at in 0..whole.inputs.width {
                    let (logits, behind) = model.step(&whole.tokens(taken, at), state);
                    scores.push(values(logits));
                    state = behind;
                }
                scores
            };
            let (together, vocabulary) = (steps(&rows), model.vocabularies().target);
            for &row in &rows {
                for (at, (all, alone)) in together.iter().zip(steps(&[row])).enumerate() {
                    let own = &all[row * vocabulary..][..vocabulary];
                    assert_eq!(own, alone, "{}, {precision:?}, row {row} step {at}", variant.name);
                }
            }
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
