//! From sources to targets: search over a trained model, and the log-probabilities of targets that are given.

use crate::constraints::Request;
use crate::error::ModelError;
use crate::memory::Reading;
use crate::model::Model;
use crate::saved::Saved;
use crate::stepping::Stepping;
use crate::together::Writers;
use gatto_nn::Noise;
use gatto_search::{Hypothesis, greedy};

/// What a model made of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The output as text.
    pub text: String,
    /// The output as tokens, with their log-probabilities.
    pub hypothesis: Hypothesis,
    /// What it was ranked by: log p, normalised as the search says.
    pub score: f64,
    /// How many of its tokens were given, as the beginning.
    pub given: usize,
}

impl Saved {
    /// What the model makes of each source, in order: the best that the search of its configuration finds. At most
    /// `batch` sources are computed together, and fewer where they are long.
    pub fn predict<S: AsRef<str>>(&self, sources: &[S], batch: usize) -> Result<Vec<Prediction>, ModelError> {
        let requests: Vec<Request<'_>> =
            sources.iter().map(|source| Request::free(source.as_ref())).collect();
        let best = Writers::alone(self)?.best(&requests, 1, batch)?;
        Ok(best.into_iter().filter_map(|found| found.into_iter().next()).collect())
    }

    /// log p of each token of the targets, one for each source, and of their ends.
    pub fn score<S: AsRef<str>, T: AsRef<str>>(
        &self,
        sources: &[S],
        targets: &[T],
        batch: usize,
    ) -> Result<Vec<Hypothesis>, ModelError> {
        Writers::alone(self)?.score(sources, targets, batch)
    }
}

/// Reads a batch of sources and writes a target for each, by greedy search; at most `lengths` tokens.
pub fn write<'a>(model: &Model, source: impl Into<Reading<'a>>, lengths: &[usize]) -> Vec<Hypothesis> {
    let source = source.into();
    let rows = source.rows();
    let memory = model.encode(source, &mut Noise::none());
    greedy(&Stepping::new(model, memory, rows), lengths)
}
