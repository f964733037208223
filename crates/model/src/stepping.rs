//! A model as search sees it.

use crate::decoder::State;
use crate::memory::Memory;
use crate::model::Model;
use gatto_data::tokens::{END, PAD, SEPARATOR, START};
use gatto_search::{Logits, Step};

/// A model beside what it has read.
pub struct Stepping<'a> {
    model: &'a Model,
    memory: Option<Memory>,
    rows: usize,
}

impl<'a> Stepping<'a> {
    /// Ready to write one sequence for each of the memory's `rows`.
    pub fn new(model: &'a Model, memory: Option<Memory>, rows: usize) -> Self {
        Self { model, memory, rows }
    }
}

impl Step for Stepping<'_> {
    type State = State;

    fn start(&self) -> (State, u32) {
        (self.model.start(self.memory.as_ref(), self.rows), self.model.first_token())
    }

    fn step(&self, tokens: &[u32], state: State) -> (Logits, State) {
        let (logits, state) = self.model.step(tokens, state);
        let vocabulary = logits.dims()[1];
        let values = logits.try_into_vec_as::<f32>().unwrap_or_default();
        (Logits::new(values, vocabulary), state)
    }

    fn select(&self, state: State, rows: &[usize]) -> State {
        state.select(rows)
    }

    fn end(&self) -> u32 {
        END
    }

    fn forbidden(&self) -> &[u32] {
        &[PAD, START, SEPARATOR]
    }
}
