//! What a model looked at while it wrote.
//!
//! A trace is made behind the search, by forcing the written tokens through the model once more: a
//! step is the whole, one column at a time, so what the second pass sees is what the first one saw. That
//! costs nothing when no one asks, works behind every search, and for targets that nobody searched for.

mod heads;
mod images;
mod sounds;

pub use heads::{Attention, AttentionKind, Matrix};
pub use images::ImageTrace;
pub use sounds::SoundTrace;

use crate::config::Reader;
use crate::error::ModelError;
use crate::memory::Memory;
use crate::model::Forward;
use crate::saved::{BATCH_TOKENS, LONGEST_SOURCE, Saved};
use burn::tensor::Tensor;
use gatto_data::tokens::{END, Tokenizer};
use gatto_data::{Limits, Padded, Sources, evaluation_batches, in_input_order};
use gatto_nn::Noise;
use gatto_nn::loss::{Targets, cross_entropy};
use gatto_search::Choices;
use heads::Heads;

/// One token of a source or a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The token for the eye.
    pub text: String,
    /// The word that it is a piece of; none for the token that ends a sequence.
    pub word: Option<usize>,
    /// Its number in the vocabulary of its side; none for what is no token, such as a label.
    pub id: Option<u32>,
}

/// A pass of a target through a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What was read, with its end.
    pub source: Vec<Piece>,
    /// What was written, with its end; nothing if the model has no decoder.
    pub target: Vec<Piece>,
    /// log p of each target token.
    pub log_probabilities: Vec<f32>,
    /// What else could have stood in the place of each; empty unless asked for.
    pub choices: Vec<Choices>,
    /// Where the model looked: a row per target token, a weight per source token. `None` for a model
    /// without attention. Of several heads and layers it is the mean.
    pub weights: Option<Matrix>,
    /// Where each head looked, in every attention of the model; empty unless asked for.
    pub attentions: Vec<Attention>,
}

impl Trace {
    /// The words of both sides, as [`Piece::word`].
    pub fn words(&self) -> [Vec<Option<usize>>; 2] {
        [&self.source, &self.target].map(|side| side.iter().map(|piece| piece.word).collect())
    }
}

/// What a trace tells beside where the model looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracing {
    /// Where each head of each layer looked.
    pub heads: bool,
    /// What else could have stood at each place: so many of the most probable tokens.
    pub choices: Option<usize>,
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
        self.trace_as(pairs, batch, Tracing::default())
    }

    /// [`Saved::trace`] with where each head of each layer looked. A model without a decoder only reads.
    pub fn trace_heads(&self, pairs: &[Forced], batch: usize) -> Result<Vec<Trace>, ModelError> {
        self.trace_as(pairs, batch, Tracing { heads: true, ..Tracing::default() })
    }

    /// [`Saved::trace`] with what else is asked for.
    pub fn trace_as(
        &self,
        pairs: &[Forced],
        batch: usize,
        Tracing { heads, choices }: Tracing,
    ) -> Result<Vec<Trace>, ModelError> {
        for (index, (source, target)) in pairs.iter().enumerate() {
            check_length(index, source.len(), self.plan.most_source())?;
            let before = if self.plan.reader == Reader::Itself { source.len() } else { 0 };
            check_length(index, before + target.len(), self.plan.most_target())?;
        }
        let scores = (MOST_SCORES / self.tokens.target.size().max(1)).clamp(1, BATCH_TOKENS);
        let limits = Limits { batch_tokens: Some(scores), batch_examples: Some(batch) };
        let mut found = Vec::with_capacity(pairs.len());
        for batch in evaluation_batches(pairs, &limits)? {
            let (looked, memory) = Looked::at(self, &batch.source, &batch.target, choices);
            let width = batch.source.tokens().map_or(0, |tokens| tokens.width);
            let heads = heads.then(|| Heads::new(self, width, memory.as_ref(), looked.forward.as_ref()));
            for (row, index) in batch.indices.into_iter().enumerate() {
                found.push((index, looked.trace(row, self, &pairs[index as usize], heads.as_ref())));
            }
        }
        Ok(in_input_order(found))
    }
}

/// A forced pass over a batch, as plain numbers.
struct Looked {
    /// [B, T]; `None` if there is no decoder.
    log_probabilities: Option<Vec<f32>>,
    /// [B, T]; empty if there is no decoder, or nobody asked.
    choices: Vec<Choices>,
    /// [B, T, S].
    weights: Option<Vec<f32>>,
    time: usize,
    positions: usize,
    forward: Option<Forward>,
}

impl Looked {
    /// The pass, and what was read; with the `count` best choices at every position, if they are asked for.
    fn at(saved: &Saved, source: &Sources, target: &Padded, count: Option<usize>) -> (Self, Option<Memory>) {
        let (model, noise) = (&saved.model, &mut Noise::none());
        let memory = model.encode(source, noise);
        let writes = saved.plan.decoder().is_some();
        let forward = writes.then(|| model.forward(&model.teacher_inputs(target), memory.as_ref(), noise));
        let weights = forward.as_ref().and_then(|forward| forward.alignment.as_ref());
        let looked = Self {
            positions: weights.map_or(0, |alignment| alignment.weights.dims()[2]),
            weights: weights.map(|alignment| numbers(alignment.weights.clone())),
            log_probabilities: forward
                .as_ref()
                .map(|forward| numbers(log_probabilities(forward.logits.clone(), target))),
            choices: match (&forward, count) {
                (Some(forward), Some(count)) => choices(forward.logits.clone(), count),
                _ => Vec::new(),
            },
            time: target.width,
            forward,
        };
        (looked, memory)
    }

    /// log p of the first `length` tokens of a row.
    fn logs(&self, row: usize, length: usize) -> Option<&[f32]> {
        self.log_probabilities.as_ref().map(|logs| &logs[row * self.time..][..length])
    }

    /// The choices at the first `length` tokens of a row.
    fn choices(&self, row: usize, length: usize) -> Vec<Choices> {
        self.choices.iter().skip(row * self.time).take(length).cloned().collect()
    }

    fn trace(&self, row: usize, saved: &Saved, (source, target): &Forced, heads: Option<&Heads>) -> Trace {
        let attentions = heads.map(|heads| heads.attentions(row, saved, source, target)).unwrap_or_default();
        let written = pieces(&saved.tokens.target, target);
        let logs = self.logs(row, written.len());
        Trace {
            choices: self.choices(row, written.len()),
            source: pieces(&saved.tokens.source, source),
            target: if logs.is_some() { written } else { Vec::new() },
            log_probabilities: logs.map(<[f32]>::to_vec).unwrap_or_default(),
            weights: self.weights(row, target.len() + 1, source.len() + 1),
            attentions,
        }
    }

    fn weights(&self, row: usize, length: usize, positions: usize) -> Option<Matrix> {
        let weights = self.weights.as_ref()?;
        let step = |t: usize| weights[(row * self.time + t) * self.positions..][..positions].to_vec();
        Some((0..length).map(step).collect())
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().unwrap_or_default()
}

/// log p of every token of `target`, from scores [B·T, V]: [B·T].
pub fn log_probabilities(logits: Tensor<2>, target: &Padded) -> Tensor<1> {
    let weights = vec![1.0; target.ids.len()];
    -cross_entropy(logits, &Targets { ids: target.ids.clone(), weights, smoothing: 0.0 })
}

/// The choices at every position, with the `count` best of each, from scores [B·T, V]: [B·T].
fn choices(logits: Tensor<2>, count: usize) -> Vec<Choices> {
    let vocabulary = logits.dims()[1].max(1);
    numbers(logits).chunks_exact(vocabulary).map(|scores| Choices::of(scores, count)).collect()
}

/// The tokens of one side, its end behind them.
fn pieces(tokenizer: &Tokenizer, tokens: &[u32]) -> Vec<Piece> {
    let words = tokenizer.words_of(tokens);
    let piece = |(&id, word)| Piece { text: tokenizer.token(id).to_owned(), word, id: Some(id) };
    let end = Piece { text: tokenizer.token(END).to_owned(), word: None, id: Some(END) };
    tokens.iter().zip(words).map(piece).chain([end]).collect()
}
