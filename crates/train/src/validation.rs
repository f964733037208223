//! Looking at a model from outside, on examples that it does not learn from.

use crate::config::Config;
use crate::learning::Learning;
use crate::record::{Event, Recorder, ValidFigures};
use gatto_data::{Batch, Corpus, DataError, Limits, TokenizerPair, evaluation_batches};
use gatto_metrics::ExactMatch;
use gatto_model::{Model, Task, write};
use gatto_nn::Noise;
use gatto_nn::loss::cross_entropy;

/// The examples of a validation.
#[derive(Debug)]
pub struct Validation {
    batches: Vec<Batch>,
    /// What each example's output is compared with, by its number.
    references: Vec<String>,
}

impl Validation {
    /// Reads as many examples of a corpus as `config` asks for, and notes what had to be left out.
    pub fn read(
        corpus: &mut dyn Corpus,
        config: &Config,
        tokens: &TokenizerPair,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, DataError> {
        let (most, max_length) = (config.train.valid_examples, config.train.max_length);
        let (mut examples, mut references, mut too_long) = (Vec::new(), Vec::new(), 0);
        while examples.len() < most
            && let Some(example) = corpus.next()?
        {
            let (source, target) = tokens.encode(&example);
            if source.len().max(target.len()) <= max_length {
                examples.push((source, target));
                references.push(tokens.target.normalise(&example.target));
            } else {
                too_long += 1;
            }
        }
        let skipped = corpus.skipped();
        if examples.is_empty() {
            let problem = format!(
                "has no example to validate on ({skipped} bad lines, {too_long} with more than \
                 train.max_length = {max_length} tokens); check the file, or raise train.max_length"
            );
            return Err(DataError::Config { key: "data.valid".into(), problem });
        }
        if skipped + too_long > 0 {
            let note = format!("validation leaves out {skipped} bad lines and {too_long} too long examples");
            recorder.record(&Event::Noted(&note));
        }
        let limits = Limits::tokens(4096.max(max_length + 1));
        Ok(Self { batches: evaluation_batches(&examples, &limits)?, references })
    }

    /// The figures of a model that takes part in no gradient.
    pub fn figures(&self, model: &Model, config: &Config, tokens: &TokenizerPair) -> ValidFigures {
        let (mut loss, mut right, mut count) = (0.0, 0, 0);
        let mut exact = ExactMatch::default();
        for batch in &self.batches {
            let learning = Learning::new(model, batch, &mut Noise::none());
            let rows = cross_entropy(learning.forward.logits.clone(), &learning.targets(0.0));
            loss += rows.try_into_vec_as::<f32>().unwrap_or_default().into_iter().map(f64::from).sum::<f64>();
            right += learning.right();
            count += batch.target.tokens();
            if config.task == Task::Translate {
                let written = write(model, &batch.source, config.search.max_length);
                for (hypothesis, &index) in written.iter().zip(&batch.indices) {
                    exact.count(&tokens.target.decode(&hypothesis.tokens), &self.references[index as usize]);
                }
            }
        }
        let loss = loss / count.max(1) as f64;
        ValidFigures {
            step: 0,
            loss,
            perplexity: loss.exp(),
            accuracy: right as f64 / count.max(1) as f64,
            exact_match: (config.task == Task::Translate).then(|| exact.share()),
            best: false,
            seconds: 0.0,
        }
    }
}
