//! What the states of an encoder tell by themselves: connectionist temporal classification (Graves et al., 2006).
//!
//! A linear map gives every state a score for each token and for the blank, which has the id of padding. Of them come a
//! loss that needs no decoder, the tokens that are most probable at each state (greedy decoding), and a probability for the
//! token behind every beginning, so that search can take them for a model that writes.

use crate::constraints::Asked;
use crate::error::ModelError;
use crate::memory::Memory;
use crate::model::Model;
use crate::saved::{BATCH_TOKENS, Saved};
use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use gatto_data::tokens::{END, PAD, SEPARATOR, START};
use gatto_data::{Frames, Limits, Padded, in_input_order, prediction_batches};
use gatto_kernels::ctc::Prefix;
use gatto_nn::{CtcTargets, Noise, ctc_loss};
use gatto_search::{Logits, Step};
use std::rc::Rc;

/// The token that is none.
const BLANK: u32 = PAD;

/// A token that states tell by themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// The token.
    pub token: u32,
    /// The first state that tells it.
    pub position: usize,
    /// The probability that it has there.
    pub probability: f32,
}

impl Model {
    /// −log of the probability that the states tell each target, which ends with its end: `[B]`. A target that is too
    /// long for its states has none. `None` if the model has no `[ctc]`.
    pub fn ctc_losses(&self, memory: &Memory, target: &Padded) -> Option<Tensor<1>> {
        let told = self.ctc()?.forward(memory.states.clone()); // [B, S, V]
        let labels = |row: usize| target.row(row).iter().copied().filter(|&id| id != END).collect();
        let targets = CtcTargets {
            lengths: memory.lengths.clone(),
            labels: (0..target.rows).map(labels).collect(),
            blank: BLANK,
        };
        Some(ctc_loss(told, &targets))
    }

    /// The tokens that are most probable at each state, repeated ones once and without blanks: greedy decoding. `None` if
    /// the model has no `[ctc]`.
    pub fn heard(&self, memory: &Memory) -> Option<Vec<Vec<Heard>>> {
        let told = Told::new(self, memory)?;
        Some((0..told.lengths.len()).map(|row| told.greedy(row)).collect())
    }
}

impl Saved {
    /// What the states of each sound tell by themselves, in order; at most `batch` sounds are computed together.
    ///
    /// # Errors
    /// If the model does not read such sounds, or has no `[ctc]`.
    pub fn heard(&self, sounds: &[&Frames], batch: usize) -> Result<Vec<Vec<Heard>>, ModelError> {
        let asked = sounds.iter().enumerate().map(|(index, sound)| self.source(index, Asked::Sound(sound)));
        let sources = asked.collect::<Result<Vec<_>, _>>()?;
        if self.plan.ctc.is_none() {
            return Err(ModelError::NoCtc);
        }
        let frames = sounds.iter().map(|sound| sound.len()).max().unwrap_or(0);
        let most = batch.min(self.plan.most_sounds(frames));
        let limits = Limits { batch_tokens: Some(BATCH_TOKENS), batch_examples: Some(most) };
        let mut found = Vec::with_capacity(sounds.len());
        for batch in prediction_batches(sources, &limits)? {
            let memory = self.model.encode(&batch.source, &mut Noise::none());
            let heard = memory.and_then(|memory| self.model.heard(&memory)).unwrap_or_default();
            found.extend(batch.indices.into_iter().zip(heard));
        }
        Ok(in_input_order(found))
    }
}

/// The probability of every token at every state.
#[derive(Clone, Debug)]
struct Told {
    /// [B, S, V].
    probabilities: Vec<f32>,
    positions: usize,
    vocabulary: usize,
    lengths: Vec<usize>,
}

impl Told {
    fn new(model: &Model, memory: &Memory) -> Option<Self> {
        let told = softmax(model.ctc()?.forward(memory.states.clone()), 2);
        let [_, positions, vocabulary] = told.dims();
        let probabilities = told.try_into_vec_as::<f32>().unwrap_or_default();
        Some(Self { probabilities, positions, vocabulary, lengths: memory.lengths.clone() })
    }

    /// The states of a row: [its length, V].
    fn row(&self, row: usize) -> &[f32] {
        &self.probabilities[row * self.positions * self.vocabulary..][..self.lengths[row] * self.vocabulary]
    }

    fn greedy(&self, row: usize) -> Vec<Heard> {
        let mut found = Vec::new();
        let mut before = BLANK;
        for (position, told) in self.row(row).chunks_exact(self.vocabulary).enumerate() {
            let best =
                |best: usize, (at, told_at): (usize, &f32)| if *told_at > told[best] { at } else { best };
            let token = told.iter().enumerate().fold(0, best) as u32;
            if token != before && ![BLANK, START, END, SEPARATOR].contains(&token) {
                found.push(Heard { token, position, probability: told[token as usize] });
            }
            before = token;
        }
        found
    }
}

/// What the states tell, as search sees it.
pub(crate) struct CtcStepping {
    told: Told,
}

/// A beginning for each row, and whose states it is of.
#[derive(Clone, Debug)]
pub(crate) struct CtcState(Vec<(usize, Rc<Prefix>)>);

impl CtcStepping {
    /// `None` if the model has no `[ctc]`.
    pub(crate) fn new(model: &Model, memory: &Memory) -> Option<Self> {
        Some(Self { told: Told::new(model, memory)? })
    }
}

impl Step for CtcStepping {
    type State = CtcState;

    fn start(&self) -> (CtcState, u32) {
        let empty = |row: usize| Rc::new(Prefix::empty(self.told.row(row), self.told.vocabulary, BLANK));
        (CtcState((0..self.told.lengths.len()).map(|row| (row, empty(row))).collect()), START)
    }

    fn step(&self, tokens: &[u32], CtcState(before): CtcState) -> (Logits, CtcState) {
        let vocabulary = self.told.vocabulary;
        let mut scores = Vec::with_capacity(tokens.len() * vocabulary);
        let mut state = Vec::with_capacity(tokens.len());
        for (&token, (row, prefix)) in tokens.iter().zip(before) {
            let frames = self.told.row(row);
            let prefix = match token == START || token as usize >= vocabulary {
                true => prefix,
                false => Rc::new(prefix.with(frames, vocabulary, BLANK, token)),
            };
            scores.extend(prefix.next(frames, vocabulary, BLANK, END));
            state.push((row, prefix));
        }
        (Logits::scores(scores, vocabulary), CtcState(state))
    }

    fn select(&self, CtcState(state): CtcState, rows: &[usize]) -> CtcState {
        CtcState(rows.iter().map(|&row| state[row].clone()).collect())
    }

    fn end(&self) -> u32 {
        END
    }

    fn forbidden(&self) -> &[u32] {
        &[PAD, START, SEPARATOR]
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.told.vocabulary)
    }
}
