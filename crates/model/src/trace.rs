//! What a model looked at while it wrote.
//!
//! A trace is made behind the search, by forcing the written tokens through the model once more: a
//! step is the whole, one column at a time, so what the second pass sees is what the first one saw. That
//! costs nothing when no one asks, works behind every search, and for targets that nobody searched for.

use crate::error::ModelError;
use crate::saved::{BATCH_TOKENS, LONGEST_SOURCE, Saved};
use burn::tensor::Tensor;
use gatto_data::tokens::{END, Tokenizer};
use gatto_data::{Limits, Padded, evaluation_batches, in_input_order};
use gatto_nn::Noise;
use gatto_nn::loss::{Targets, cross_entropy};

/// One token of a source or a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The token for the eye.
    pub text: String,
    /// The word that it is a piece of; none for the token that ends a sequence.
    pub word: Option<usize>,
}

/// A pass of a target through a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What was read, with its end.
    pub source: Vec<Piece>,
    /// What was written, with its end.
    pub target: Vec<Piece>,
    /// log p of each target token.
    pub log_probabilities: Vec<f32>,
    /// Where the model looked: a row per target token, a weight per source token. `None` for a model
    /// without attention.
    pub weights: Option<Vec<Vec<f32>>>,
}

impl Trace {
    /// The words of both sides, as [`Piece::word`].
    pub fn words(&self) -> [Vec<Option<usize>>; 2] {
        [&self.source, &self.target].map(|side| side.iter().map(|piece| piece.word).collect())
    }
}

/// Refuses more tokens than can be read at once, or looked at.
fn check_length(index: usize, tokens: usize, positions: Option<usize>) -> Result<(), ModelError> {
    match positions {
        Some(limit) if tokens + 1 > limit => {
            Err(ModelError::BeyondPositions { index, count: tokens + 1, limit })
        }
        _ if tokens > LONGEST_SOURCE => {
            Err(ModelError::TooLong { index, count: tokens, limit: LONGEST_SOURCE })
        }
        _ => Ok(()),
    }
}

/// The most scores of tokens that are computed together: 256 MiB of them.
pub const MOST_SCORES: usize = 1 << 26;

/// Tokens of a source and of the target to force, both without their end.
pub type Forced = (Vec<u32>, Vec<u32>);

impl Saved {
    /// The tokens of a source text, or an error if there are too many to read: the source is number
    /// `index` of the input.
    pub fn encode_source(&self, index: usize, source: &str) -> Result<Vec<u32>, ModelError> {
        let tokens = self.tokens.source.encode(source);
        check_length(index, tokens.len(), self.plan.most_source())?;
        Ok(tokens)
    }

    /// Forces targets through the model, and tells where it looked at each of their tokens. At most
    /// `batch` pairs are computed together.
    pub fn trace(&self, pairs: &[Forced], batch: usize) -> Result<Vec<Trace>, ModelError> {
        for (index, (source, target)) in pairs.iter().enumerate() {
            check_length(index, source.len(), self.plan.most_source())?;
            check_length(index, target.len(), self.plan.most_target())?;
        }
        let scores = (MOST_SCORES / self.tokens.target.size().max(1)).clamp(1, BATCH_TOKENS);
        let limits = Limits { batch_tokens: Some(scores), batch_examples: Some(batch) };
        let mut found = Vec::with_capacity(pairs.len());
        for batch in evaluation_batches(pairs, &limits)? {
            let looked = Looked::at(self, &batch.source, &batch.target);
            for (row, index) in batch.indices.into_iter().enumerate() {
                let (source, target) = &pairs[index as usize];
                let trace = Trace {
                    source: pieces(&self.tokens.source, source),
                    target: pieces(&self.tokens.target, target),
                    log_probabilities: looked.log_probabilities(row, target.len() + 1),
                    weights: looked.weights(row, target.len() + 1, source.len() + 1),
                };
                found.push((index, trace));
            }
        }
        Ok(in_input_order(found))
    }
}

/// A forced pass over a batch, as plain numbers.
struct Looked {
    /// [B, T].
    log_probabilities: Vec<f32>,
    /// [B, T, S].
    weights: Option<Vec<f32>>,
    time: usize,
    positions: usize,
}

impl Looked {
    fn at(saved: &Saved, source: &Padded, target: &Padded) -> Self {
        let (model, noise) = (&saved.model, &mut Noise::none());
        let memory = model.encode(source, noise);
        let forward = model.forward(&model.teacher_inputs(target), memory.as_ref(), noise);
        let chosen = log_probabilities(forward.logits, target);
        let weights = forward.alignment.map(|alignment| alignment.weights);
        Self {
            log_probabilities: chosen.try_into_vec_as::<f32>().unwrap_or_default(),
            weights: weights.map(|weights| weights.try_into_vec_as::<f32>().unwrap_or_default()),
            time: target.width,
            positions: source.width,
        }
    }

    fn log_probabilities(&self, row: usize, length: usize) -> Vec<f32> {
        self.log_probabilities[row * self.time..][..length].to_vec()
    }

    fn weights(&self, row: usize, length: usize, positions: usize) -> Option<Vec<Vec<f32>>> {
        let weights = self.weights.as_ref()?;
        let step = |t: usize| weights[(row * self.time + t) * self.positions..][..positions].to_vec();
        Some((0..length).map(step).collect())
    }
}

/// log p of every token of `target`, from scores [B·T, V]: [B·T].
pub fn log_probabilities(logits: Tensor<2>, target: &Padded) -> Tensor<1> {
    let weights = vec![1.0; target.ids.len()];
    -cross_entropy(logits, &Targets { ids: target.ids.clone(), weights, smoothing: 0.0 })
}

/// The tokens of one side, its end behind them.
fn pieces(tokenizer: &Tokenizer, tokens: &[u32]) -> Vec<Piece> {
    let words = tokenizer.words_of(tokens);
    let piece = |(&id, word)| Piece { text: tokenizer.token(id).to_owned(), word };
    let end = Piece { text: tokenizer.token(END).to_owned(), word: None };
    tokens.iter().zip(words).map(piece).chain([end]).collect()
}
