//! From sources to targets: search over a trained model, and the log-probabilities of targets that are given.
//!
//! What a source becomes depends on nothing but the source: those that are computed together have one length, so
//! that none is padded, and every thread takes whole batches.

use crate::config::{Reader, Task};
use crate::error::ModelError;
use crate::model::Model;
use crate::saved::{BATCH_TOKENS, Saved};
use crate::stepping::Stepping;
use gatto_data::{Batch, Limits, Padded, in_input_order, prediction_batches};
use gatto_kernels::crew::Crew;
use gatto_nn::Noise;
use gatto_search::{Beam, Found, Hypothesis, Ranked, SearchConfig, Wanted, beam_search, greedy, score};

/// What a model made of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The output as text.
    pub text: String,
    /// The output as tokens, with their log-probabilities.
    pub hypothesis: Hypothesis,
    /// What it was ranked by: log p, normalised as the search says.
    pub score: f64,
}

impl Saved {
    /// What the model makes of each source, in order: the best that the search of its configuration finds. At most
    /// `batch` sources are computed together, and fewer where they are long.
    pub fn predict<S: AsRef<str>>(&self, sources: &[S], batch: usize) -> Result<Vec<Prediction>, ModelError> {
        let best = self.predict_best(sources, batch, 1)?;
        Ok(best.into_iter().filter_map(|found| found.into_iter().next()).collect())
    }

    /// The `count` best outputs for each source, the best first; fewer where search finds no more.
    pub fn predict_best<S: AsRef<str>>(
        &self,
        sources: &[S],
        batch: usize,
        count: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let found = self.on_batches(sources, batch, |model, batch| {
            let lengths = self.most_written(&batch.source);
            searched(model, &batch.source, &self.search, &lengths, count)
        })?;
        let prediction = |Ranked { written, score }: Ranked| Prediction {
            text: self.tokens.target.decode(&written.hypothesis.tokens),
            hypothesis: written.hypothesis,
            score,
        };
        Ok(found.into_iter().map(|best| best.into_iter().map(prediction).collect()).collect())
    }

    /// log p of each token of the targets, one for each source, and of their ends.
    pub fn score<S: AsRef<str>, T: AsRef<str>>(
        &self,
        sources: &[S],
        targets: &[T],
        batch: usize,
    ) -> Result<Vec<Hypothesis>, ModelError> {
        let targets: Vec<Vec<u32>> =
            targets.iter().map(|target| self.tokens.target.encode(target.as_ref())).collect();
        let room = self.plan.most_target().unwrap_or(usize::MAX);
        if let Some((index, target)) = targets.iter().enumerate().find(|(_, target)| target.len() >= room) {
            return Err(ModelError::BeyondPositions { index, count: target.len() + 1, limit: room });
        }
        self.on_batches(sources, batch, |model, batch| {
            let wanted = |index: &u64| targets.get(*index as usize).cloned().unwrap_or_default();
            let wanted: Vec<Vec<u32>> = batch.indices.iter().map(wanted).collect();
            let memory = model.encode(&batch.source, &mut Noise::none());
            score(&Stepping::new(model, memory, batch.rows()), &wanted)
        })
    }

    /// What `work` makes of the rows of each batch, in the order of the sources.
    pub(crate) fn on_batches<S: AsRef<str>, R: Send>(
        &self,
        sources: &[S],
        batch: usize,
        work: impl Fn(&Model, &Batch) -> Vec<R> + Sync,
    ) -> Result<Vec<R>, ModelError> {
        self.require(Task::Translate)?;
        let encode = |(index, source): (usize, &S)| self.encode_source(index, source.as_ref());
        let encoded = sources.iter().enumerate().map(encode).collect::<Result<Vec<_>, _>>()?;
        let limits = Limits { batch_tokens: Some(BATCH_TOKENS), batch_examples: Some(batch) };
        let batches = prediction_batches(encoded, &limits)?;
        let each = batches.into_iter().map(|batch| (self.model.clone(), batch)).collect();
        let found = Crew::of_current_pool().each(each, |(model, batch)| {
            let made = work(&model, &batch);
            batch.indices.into_iter().zip(made).collect::<Vec<_>>()
        });
        Ok(in_input_order(found.into_iter().flatten()))
    }

    /// The most tokens to write for each source: no more than there are positions for. A single network
    /// has its source, without the end, in the same sequence.
    pub(crate) fn most_written(&self, source: &Padded) -> Vec<usize> {
        let itself = self.plan.reader == Reader::Itself;
        let room = |tokens: usize| {
            let most = self.plan.most_target();
            most.map_or(usize::MAX, |most| most.saturating_sub(if itself { tokens } else { 0 }))
        };
        let tokens = source.lengths.iter().map(|length| length.saturating_sub(1)); // without the end
        tokens.map(|tokens| self.search.longest(tokens).min(room(tokens))).collect()
    }
}

/// Reads a batch of sources and writes a target for each, by greedy search; at most `lengths` tokens.
pub fn write(model: &Model, source: &Padded, lengths: &[usize]) -> Vec<Hypothesis> {
    let memory = model.encode(source, &mut Noise::none());
    greedy(&Stepping::new(model, memory, source.rows), lengths)
}

/// Reads a batch of sources and searches for the `count` best targets of each; at most `lengths` tokens.
fn searched(
    model: &Model,
    source: &Padded,
    search: &SearchConfig,
    lengths: &[usize],
    count: usize,
) -> Vec<Vec<Ranked>> {
    let memory = model.encode(source, &mut Noise::none());
    let stepping = Stepping::new(model, memory, source.rows);
    let stepping = if search.coverage > 0.0 { stepping.looking() } else { stepping };
    let wanted = |&max_length: &usize| Wanted {
        max_length,
        min_length: search.min_length.min(max_length.saturating_sub(1)),
        ..Wanted::default()
    };
    let wanted: Vec<Wanted> = lengths.iter().map(wanted).collect();
    let beam = Beam { n_best: count.clamp(1, search.beam), ..search.settings() };
    beam_search(&stepping, &wanted, &beam).into_iter().map(|Found { best, .. }| best).collect()
}
