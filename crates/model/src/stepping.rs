//! A model as search sees it.

use crate::decoder::State;
use crate::memory::{Memory, row_ids};
use crate::model::Model;
use burn::tensor::Tensor;
use gatto_data::tokens::{END, PAD, SEPARATOR, START};
use gatto_search::{Logits, Step};

/// A model beside what it has read.
pub struct Stepping<'a> {
    model: &'a Model,
    memory: Option<Memory>,
    rows: usize,
    /// Whether someone wants to know where it looks.
    looking: bool,
}

/// What is carried from step to step.
#[derive(Clone, Debug)]
pub struct Stepped {
    state: State,
    /// How many positions of the source each row has.
    positions: Vec<usize>,
    /// Where the last step looked [B, S], if it did and someone wants to know.
    weights: Option<Tensor<2>>,
}

impl<'a> Stepping<'a> {
    /// Ready to write one sequence for each of the memory's `rows`.
    pub fn new(model: &'a Model, memory: Option<Memory>, rows: usize) -> Self {
        Self { model, memory, rows, looking: false }
    }

    /// What the model has read.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// The same, and [`Step::attention`] tells where each step looked.
    pub fn looking(self) -> Self {
        Self { looking: true, ..self }
    }
}

impl Step for Stepping<'_> {
    type State = Stepped;

    fn start(&self) -> (Stepped, u32) {
        let state = self.model.start(self.memory.as_ref(), self.rows);
        let positions = self.memory.as_ref().map_or_else(Vec::new, |memory| memory.lengths.clone());
        (Stepped { state, positions, weights: None }, self.model.first_token())
    }

    fn step(&self, tokens: &[u32], before: Stepped) -> (Logits, Stepped) {
        let (logits, weights, state) = match self.looking {
            true => {
                let (logits, alignment, state) = self.model.step_looking(tokens, before.state);
                (logits, alignment.map(|found| found.weights.squeeze_dim::<2>(1)), state)
            }
            false => {
                let (logits, state) = self.model.step(tokens, before.state);
                (logits, None, state)
            }
        };
        let vocabulary = logits.dims()[1];
        let values = logits.try_into_vec_as::<f32>().unwrap_or_default();
        (Logits::new(values, vocabulary), Stepped { state, weights, ..before })
    }

    fn select(&self, state: Stepped, rows: &[usize]) -> Stepped {
        let weights = state.weights.map(|weights| {
            let ids = row_ids(rows, &weights.device());
            weights.select(0, ids)
        });
        let positions = rows.iter().filter_map(|&row| state.positions.get(row).copied()).collect();
        Stepped { state: state.state.select(rows), positions, weights }
    }

    fn end(&self) -> u32 {
        END
    }

    fn forbidden(&self) -> &[u32] {
        &[PAD, START, SEPARATOR]
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.model.vocabularies().target)
    }

    fn attention(&self, state: &Stepped) -> Option<Vec<Vec<f32>>> {
        let weights = state.weights.clone()?;
        let width = weights.dims()[1];
        let values = weights.try_into_vec_as::<f32>().unwrap_or_default();
        let rows = values.chunks_exact(width.max(1)).zip(&state.positions);
        Some(rows.map(|(row, &positions)| row[..positions.min(width)].to_vec()).collect())
    }
}
