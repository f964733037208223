//! Looking at a model from outside, on examples that it does not learn from.

use crate::learning::Learning;
use crate::record::ValidFigures;
use gatto_data::{Batch, Corpus, DataError, Limits, TokenizerPair, evaluation_batches};
use gatto_metrics::ExactMatch;
use gatto_model::{Model, Task, write};
use gatto_nn::Noise;
use gatto_nn::loss::cross_entropy;

/// The examples of a validation, as tokens.
#[derive(Debug)]
pub struct Validation {
    batches: Vec<Batch>,
}

impl Validation {
    /// Reads at most `most` examples of a corpus.
    pub fn read(
        corpus: &mut dyn Corpus,
        tokens: &TokenizerPair,
        most: usize,
        max_length: usize,
    ) -> Result<Option<Self>, DataError> {
        let mut examples = Vec::new();
        while examples.len() < most
            && let Some(example) = corpus.next()?
        {
            let (source, target) = tokens.encode(&example);
            if source.len().max(target.len()) <= max_length {
                examples.push((source, target));
            }
        }
        if examples.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { batches: evaluation_batches(&examples, &Limits::tokens(4096.max(max_length + 1)))? }))
    }

    /// The figures of a model that takes part in no gradient.
    pub fn figures(
        &self,
        model: &Model,
        task: Task,
        tokens: &TokenizerPair,
        max_length: usize,
    ) -> ValidFigures {
        let (mut loss, mut right, mut count) = (0.0, 0, 0);
        let mut exact = ExactMatch::default();
        for batch in &self.batches {
            let learning = Learning::new(model, batch, &mut Noise::none());
            let rows = cross_entropy(learning.logits.clone(), &learning.targets(0.0));
            loss += rows.try_into_vec_as::<f32>().unwrap_or_default().into_iter().map(f64::from).sum::<f64>();
            right += learning.right();
            count += batch.target.tokens();
            if task == Task::Translate {
                for (row, hypothesis) in write(model, &batch.source, max_length).into_iter().enumerate() {
                    let target = batch.target.row(row);
                    let reference = tokens.target.decode(&target[..target.len().saturating_sub(1)]);
                    exact.count(&tokens.target.decode(&hypothesis.tokens), &reference);
                }
            }
        }
        let loss = loss / count.max(1) as f64;
        ValidFigures {
            step: 0,
            loss,
            perplexity: loss.exp(),
            accuracy: right as f64 / count.max(1) as f64,
            exact_match: (task == Task::Translate).then(|| exact.share()),
            best: false,
            seconds: 0.0,
        }
    }
}
