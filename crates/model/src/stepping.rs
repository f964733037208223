//! A model as search sees it.

use crate::decoder::State;
use crate::memory::{Memory, row_ids};
use crate::model::{Model, StepRoom};
use crate::shortlist::{Listed, Lists};
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
    /// The tokens that may be written in each sentence; all if not given.
    listed: Option<Listed>,
}

/// What is carried from step to step.
#[derive(Clone, Debug)]
pub struct Stepped {
    state: State,
    /// The sentence that each row belongs to.
    sentences: Vec<usize>,
    /// Where the last step looked [B, S], if it did and someone wants to know.
    weights: Option<Tensor<2>>,
    room: StepRoom,
}

impl<'a> Stepping<'a> {
    /// Ready to write one sequence for each of the memory's `rows`.
    pub fn new(model: &'a Model, memory: Option<Memory>, rows: usize) -> Self {
        Self { model, memory, rows, looking: false, listed: None }
    }

    /// What the model has read.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// The same, and [`Step::attention`] tells where each step looked.
    pub fn looking(self) -> Self {
        Self { looking: true, ..self }
    }

    /// The same, and nothing is written but what is on the list of its sentence.
    pub(crate) fn among(self, lists: Lists) -> Self {
        Self { listed: Some(Listed::new(lists, self.model)), ..self }
    }
}

impl Step for Stepping<'_> {
    type State = Stepped;

    fn start(&self) -> (Stepped, u32) {
        let state = self.model.start(self.memory.as_ref(), self.rows);
        let sentences = (0..self.rows).collect();
        (Stepped { state, sentences, weights: None, room: StepRoom::default() }, self.model.first_token())
    }

    fn step(&self, tokens: &[u32], mut before: Stepped) -> (Logits, Stepped) {
        let vocabulary = self.model.vocabularies().target;
        let Stepped { state, sentences, room, .. } = &mut before;
        let listed = self.listed.as_ref().map(|listed| (listed, &sentences[..]));
        if !self.looking && self.model.step_in_place(tokens, listed, state, room) {
            before.weights = None;
            return (Logits::new(std::mem::take(&mut before.room.scores), vocabulary), before);
        }
        let (unscored, weights, state) = self.model.step_unscored(tokens, before.state, self.looking);
        let values = match &self.listed {
            Some(listed) => {
                let mut scores = Vec::new();
                listed.spread(&unscored.values(listed.columns()), &before.sentences, &mut scores);
                scores
            }
            None => unscored.values(None),
        };
        (Logits::new(values, vocabulary), Stepped { state, weights, ..before })
    }

    fn take_back(&self, logits: Logits, state: &mut Stepped) {
        state.room.scores = logits.into_values();
    }

    fn select(&self, state: Stepped, rows: &[usize]) -> Stepped {
        let weights = state.weights.map(|weights| {
            let ids = row_ids(rows, &weights.device());
            weights.select(0, ids)
        });
        let of = |row: usize| state.sentences[row];
        let stay = rows.len() == state.sentences.len() && (0..rows.len()).all(|row| of(rows[row]) == of(row));
        let sentences = if stay { state.sentences } else { rows.iter().map(|&row| of(row)).collect() };
        Stepped { state: state.state.select(rows), sentences, weights, ..state }
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
        let (weights, memory) = (state.weights.clone()?, self.memory.as_ref()?);
        let width = weights.dims()[1];
        let values = weights.try_into_vec_as::<f32>().unwrap_or_default();
        let rows = values.chunks_exact(width.max(1)).zip(&state.sentences);
        Some(rows.map(|(row, &sentence)| row[..memory.lengths[sentence].min(width)].to_vec()).collect())
    }
}
