//! Several models that write together, as one.
//!
//! ```text
//! p(y) = 1/M Σ_m p_m(y)             the mean of probabilities: one model that knows is enough
//! p(y) ∝ exp(1/M Σ_m log p_m(y))    the mean of log-probabilities: one that objects is enough
//! ```

use crate::log_sum::log_sum_exp;
use crate::{Logits, Step};
use thiserror::Error;

/// What models that write together agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mean {
    /// The mean of their probabilities.
    #[default]
    Probabilities,
    /// The mean of their log-probabilities.
    LogProbabilities,
}

/// Models with one vocabulary that write one sequence together; row i of all of them is the same sentence.
pub struct Ensemble<S> {
    models: Vec<S>,
    mean: Mean,
    forbidden: Vec<u32>,
    vocabulary: usize,
}

/// What the models of an ensemble carry from step to step.
pub struct EnsembleState<T> {
    states: Vec<T>,
    /// The token that starts each model, until it has been read.
    firsts: Vec<u32>,
}

/// Why models cannot write together.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EnsembleError {
    /// There is no model.
    #[error("an ensemble needs at least one model")]
    Empty,
    /// A model does not say how many tokens it has.
    #[error("model {model} of the ensemble does not say how large its vocabulary is")]
    UnknownVocabulary {
        /// The number of the model, from 1.
        model: usize,
    },
    /// The vocabularies differ.
    #[error(
        "model {model} of the ensemble has {found} tokens and the first has {expected}; \
         models that write together need one vocabulary"
    )]
    Vocabulary {
        /// The number of the model, from 1.
        model: usize,
        /// How many tokens it has.
        found: usize,
        /// How many the first model has.
        expected: usize,
    },
    /// Sequences end with different tokens.
    #[error(
        "model {model} of the ensemble ends with token {found} and the first with {expected}; \
         models that write together need one vocabulary"
    )]
    End {
        /// The number of the model, from 1.
        model: usize,
        /// The token it ends with.
        found: u32,
        /// The token the first model ends with.
        expected: u32,
    },
}

impl<S: Step> Ensemble<S> {
    /// The models as one.
    pub fn new(models: Vec<S>, mean: Mean) -> Result<Self, EnsembleError> {
        let size = |(i, model): (usize, &S)| {
            model.vocabulary().ok_or(EnsembleError::UnknownVocabulary { model: i + 1 })
        };
        let sizes = models.iter().enumerate().map(size).collect::<Result<Vec<usize>, _>>()?;
        let (Some(first), Some(&vocabulary)) = (models.first(), sizes.first()) else {
            return Err(EnsembleError::Empty);
        };
        for (i, (model, &found)) in models.iter().zip(&sizes).enumerate() {
            if found != vocabulary {
                return Err(EnsembleError::Vocabulary { model: i + 1, found, expected: vocabulary });
            }
            if model.end() != first.end() {
                return Err(EnsembleError::End { model: i + 1, found: model.end(), expected: first.end() });
            }
        }
        let mut forbidden: Vec<u32> = models.iter().flat_map(Step::forbidden).copied().collect();
        forbidden.sort_unstable();
        forbidden.dedup();
        Ok(Self { models, mean, forbidden, vocabulary })
    }

    /// The mean of what the models say, as scores.
    fn mean(&self, all: &[Logits]) -> Logits {
        let count = all.len() as f64;
        let mut values = Vec::new();
        let mut rows: Vec<_> = all.iter().map(Logits::rows).collect();
        loop {
            let row: Vec<&[f32]> = rows.iter_mut().filter_map(Iterator::next).collect();
            if row.len() < all.len() {
                return Logits::new(values, self.vocabulary);
            }
            let sums: Vec<f32> = row.iter().map(|scores| log_sum_exp(scores)).collect();
            for token in 0..self.vocabulary {
                let log_probability = |(scores, sum): (&&[f32], &f32)| {
                    scores.get(token).map_or(f64::NEG_INFINITY, |score| f64::from(score - sum))
                };
                let said = row.iter().zip(&sums).map(log_probability);
                values.push(match self.mean {
                    Mean::Probabilities => (said.map(f64::exp).sum::<f64>() / count).ln() as f32,
                    Mean::LogProbabilities => (said.sum::<f64>() / count) as f32,
                });
            }
        }
    }
}

impl<S: Step> Step for Ensemble<S> {
    type State = EnsembleState<S::State>;

    fn start(&self) -> (Self::State, u32) {
        let (states, firsts): (Vec<_>, Vec<u32>) = self.models.iter().map(Step::start).unzip();
        let first = firsts.first().copied().unwrap_or_default();
        (EnsembleState { states, firsts }, first)
    }

    fn step(&self, tokens: &[u32], state: Self::State) -> (Logits, Self::State) {
        let EnsembleState { mut states, firsts } = state;
        if let ([model], Some(state)) = (&self.models[..], states.pop_if(|_| self.models.len() == 1)) {
            let (logits, state) = model.step(tokens, state);
            states.push(state);
            return (logits, EnsembleState { states, firsts: Vec::new() });
        }
        let (all, states): (Vec<Logits>, Vec<S::State>) = (self.models.iter().zip(states).enumerate())
            .map(|(i, (model, state))| match firsts.get(i) {
                Some(&first) => model.step(&vec![first; tokens.len()], state),
                None => model.step(tokens, state),
            })
            .unzip();
        (self.mean(&all), EnsembleState { states, firsts: Vec::new() })
    }

    fn select(&self, state: Self::State, rows: &[usize]) -> Self::State {
        let EnsembleState { states, firsts } = state;
        let each = states.into_iter().enumerate();
        let states = each.map(|(i, state)| self.models[i].select(state, rows)).collect();
        EnsembleState { states, firsts }
    }

    fn take_back(&self, logits: Logits, state: &mut Self::State) {
        if let ([model], [state]) = (&self.models[..], &mut state.states[..]) {
            model.take_back(logits, state);
        }
    }

    fn end(&self) -> u32 {
        self.models.first().map_or(0, Step::end)
    }

    fn forbidden(&self) -> &[u32] {
        &self.forbidden
    }

    fn vocabulary(&self) -> Option<usize> {
        Some(self.vocabulary)
    }

    /// The mean of where the models looked, if all look and see the same positions.
    fn attention(&self, state: &Self::State) -> Option<Vec<Vec<f32>>> {
        let all = self.models.iter().zip(&state.states).map(|(model, state)| model.attention(state));
        let all: Vec<Vec<Vec<f32>>> = all.collect::<Option<_>>()?;
        let (first, others) = all.split_first()?;
        let lengths = |rows: &[Vec<f32>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
        if others.iter().any(|other| lengths(other) != lengths(first)) {
            return None;
        }
        let weight =
            |row: usize, i: usize| all.iter().map(|weights| weights[row][i]).sum::<f32>() / all.len() as f32;
        let mean = |(row, weights): (usize, &Vec<f32>)| (0..weights.len()).map(|i| weight(row, i)).collect();
        Some(first.iter().enumerate().map(mean).collect())
    }
}
