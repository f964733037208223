//! What a model is asked about a batch: what it reads, and the right answers.
//!
//! | task | answers |
//! |---|---|
//! | translate, caption, transcribe, language-model | the target's tokens |
//! | classify | a label for each source, be it a text or an image |
//! | label | a label at the first token of each word |
//! | masked-language-model | the tokens that were hidden |
//! | bidirectional-language-model | at each position the next token, and the one before |
//!
//! `B` sources of `T` tokens, their ends and padding included.

use crate::config::MaskingConfig;
use gatto_data::random::{ChaCha8Rng, generator, mixed};
use gatto_data::tokens::{MASK, SPECIALS};
use gatto_data::{Batch, IGNORED, Padded, Sources};
use gatto_model::Task;
use gatto_nn::loss::Targets;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::borrow::Cow;

/// Where the tokens to hide are drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Draws {
    /// The key of a training step, and the row.
    Step(u64),
    /// The number of the example alone: the same tokens are hidden whenever it is looked at.
    Example,
}

/// The key of draws that never change.
const FIXED: u64 = 0x6d61_736b;
/// Where hiding stands among the things that a step draws for.
const HIDING: u64 = 2 << 32;

impl Draws {
    fn of(self, batch: &Batch, row: usize) -> ChaCha8Rng {
        match self {
            Self::Step(key) => generator(mixed(key, HIDING), row as u64),
            Self::Example => generator(FIXED, batch.indices[row]),
        }
    }
}

/// What is asked about one batch.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// What the encoder reads.
    pub(crate) source: Cow<'a, Sources>,
    /// The rows of scores that are asked for, where these are few; else all.
    pub(crate) rows: Option<Vec<usize>>,
    /// The right answers, one for each row of scores; what is not asked counts for nothing.
    pub(crate) targets: Targets,
    /// How many places a target has, one behind the other.
    places: usize,
    /// How many targets an example has.
    each: usize,
}

impl<'a> Asked<'a> {
    /// What `task` asks; `vocabulary` is the number of tokens that the encoder may read.
    pub(crate) fn new(
        task: Task,
        batch: &'a Batch,
        masking: &MaskingConfig,
        vocabulary: usize,
        draws: Draws,
    ) -> Self {
        match task {
            Task::MaskedLanguageModel => {
                let (source, targets) = hidden(batch, masking, vocabulary, draws);
                let (rows, targets) = few(targets);
                let places = source.width;
                Self { source: Cow::Owned(source.into()), rows: Some(rows), targets, places, each: 1 }
            }
            Task::BidirectionalLanguageModel => {
                let tokens = tokens_of(batch);
                Self::all(&batch.source, neighbours(tokens), tokens.width + 1, 1)
            }
            _ => Self::all(&batch.source, given(&batch.target), batch.target.width, batch.each),
        }
    }

    fn all(source: &'a Sources, targets: Targets, places: usize, each: usize) -> Self {
        Self { source: Cow::Borrowed(source), rows: None, targets, places, each: each.max(1) }
    }

    /// Which example of the batch an answer belongs to.
    pub(crate) fn example_of(&self, answer: usize) -> usize {
        let place = self.rows.as_ref().map_or(answer, |rows| rows[answer]);
        // Both directions of a language model stand behind each other, all examples in each.
        place / self.places.max(1) / self.each % self.source.rows().max(1)
    }

    /// The same, with the answers smoothed by ε.
    pub(crate) fn smoothed(mut self, smoothing: f64) -> Self {
        self.targets.smoothing = smoothing;
        self
    }

    /// How many answers are asked for.
    pub(crate) fn count(&self) -> usize {
        self.targets.weights.iter().filter(|weight| **weight > 0.0).count()
    }
}

/// The tokens of a batch for a task that only reads these.
fn tokens_of(batch: &Batch) -> &Padded {
    match batch.source.tokens() {
        Some(tokens) => tokens,
        None => unreachable!("a language model reads tokens: its configuration was checked"),
    }
}

/// Answers that stand in the batch: tokens, or labels with gaps between them.
fn given(target: &Padded) -> Targets {
    let mut targets = nothing(target.ids.len());
    for row in 0..target.rows {
        for (place, &id) in target.row(row).iter().enumerate().filter(|(_, id)| **id != IGNORED) {
            ask(&mut targets, row * target.width + place, id);
        }
    }
    targets
}

/// The sources with some tokens hidden, and the tokens that were there (Devlin et al., 2019): [B·T].
fn hidden(batch: &Batch, masking: &MaskingConfig, vocabulary: usize, draws: Draws) -> (Padded, Targets) {
    let mut source = tokens_of(batch).clone();
    let mut targets = nothing(source.ids.len());
    let first_word = SPECIALS.len() as u32;
    for row in 0..source.rows {
        let mut dice = draws.of(batch, row);
        let count = source.lengths[row].saturating_sub(1); // never the end
        let mut places: Vec<usize> = (0..count).collect();
        let share = (count as f64 * masking.share).round() as usize;
        let (chosen, _) = places.partial_shuffle(&mut dice, share.max(1));
        for place in chosen.iter().map(|place| row * source.width + place) {
            ask(&mut targets, place, source.ids[place]);
            let draw = dice.random::<f64>();
            if draw < masking.masked {
                source.ids[place] = MASK;
            } else if draw < masking.masked + masking.random {
                source.ids[place] = dice.random_range(first_word..(vocabulary as u32).max(first_word + 1));
            }
        }
    }
    (source, targets)
}

/// With `START` before each source, T + 1 positions: at each the next token, and behind all of these at
/// each the token before, which is never `START`: [2·B·(T + 1)].
fn neighbours(source: &Padded) -> Targets {
    let positions = source.width + 1;
    let mut targets = nothing(2 * source.rows * positions);
    for row in 0..source.rows {
        for (place, &id) in source.row(row).iter().enumerate() {
            ask(&mut targets, row * positions + place, id);
            if place + 1 < source.lengths[row] {
                ask(&mut targets, (source.rows + row) * positions + place + 2, id);
            }
        }
    }
    targets
}

/// The rows that count and their targets; one row at least, whatever it counts.
fn few(targets: Targets) -> (Vec<usize>, Targets) {
    let mut rows: Vec<usize> = (0..targets.ids.len()).filter(|&row| targets.weights[row] > 0.0).collect();
    if rows.is_empty() {
        rows.push(0);
    }
    let ids = rows.iter().map(|&row| targets.ids[row]).collect();
    let weights = rows.iter().map(|&row| targets.weights[row]).collect();
    (rows, Targets { ids, weights, smoothing: targets.smoothing })
}

/// Targets of which none counts.
fn nothing(count: usize) -> Targets {
    Targets { ids: vec![0; count], weights: vec![0.0; count], smoothing: 0.0 }
}

fn ask(targets: &mut Targets, place: usize, id: u32) {
    targets.ids[place] = id;
    targets.weights[place] = 1.0;
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
