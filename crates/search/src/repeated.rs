//! Rows of a model more than once: several sequences for the same source.

use crate::{Logits, Step};

/// A model whose rows are the given rows of another, in this order.
pub struct Repeated<'a, S> {
    /// The other model.
    pub model: &'a S,
    /// Its rows.
    pub rows: Vec<usize>,
}

impl<S: Step> Step for Repeated<'_, S> {
    type State = S::State;

    fn start(&self) -> (S::State, u32) {
        let (state, first) = self.model.start();
        (self.model.select(state, &self.rows), first)
    }

    fn step(&self, tokens: &[u32], state: S::State) -> (Logits, S::State) {
        self.model.step(tokens, state)
    }

    fn select(&self, state: S::State, rows: &[usize]) -> S::State {
        self.model.select(state, rows)
    }

    fn take_back(&self, logits: Logits, state: &mut S::State) {
        self.model.take_back(logits, state);
    }

    fn end(&self) -> u32 {
        self.model.end()
    }

    fn forbidden(&self) -> &[u32] {
        self.model.forbidden()
    }

    fn vocabulary(&self) -> Option<usize> {
        self.model.vocabulary()
    }

    fn attention(&self, state: &S::State) -> Option<Vec<Vec<f32>>> {
        self.model.attention(state)
    }
}
