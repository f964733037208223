//! What a language model writes behind the beginning of a text.

use crate::config::Task;
use crate::error::ModelError;
use crate::saved::{BATCH_TOKENS, LONGEST_SOURCE, Saved};
use crate::stepping::Stepping;
use gatto_data::random::mixed;
use gatto_data::{Limits, evaluation_batches, in_input_order};
use gatto_search::{Continuation, Hypothesis, Sampling, greedy_from, sample};

/// Draws in place of the most probable token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// Where the draws come from, beside the number of the text.
    pub seed: u64,
}

/// A text and what a model wrote behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Continued {
    /// The text and what stands behind it.
    pub text: String,
    /// The tokens of the text.
    pub prompt: Vec<u32>,
    /// log p of each of them.
    pub prompt_log_probabilities: Vec<f32>,
    /// What was written.
    pub hypothesis: Hypothesis,
}

impl Saved {
    /// Continues each text, in order; `first` is the number of the first of them in the whole input. At
    /// most `batch` are computed together, and which ones changes nothing. Without `drawing` the most
    /// probable token is written.
    pub fn continued<S: AsRef<str>>(
        &self,
        texts: &[S],
        first: u64,
        drawing: Option<&Drawing>,
        batch: usize,
    ) -> Result<Vec<Continued>, ModelError> {
        self.require(Task::LanguageModel)?;
        let room = self.plan.most_target().unwrap_or(usize::MAX);
        let mut rows = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let prompt = self.tokens.target.encode(text.as_ref());
            let count = prompt.len() + 1;
            if count > room {
                return Err(ModelError::BeyondPositions { index, count, limit: room });
            }
            if prompt.len() > LONGEST_SOURCE {
                return Err(ModelError::TooLong { index, count: prompt.len(), limit: LONGEST_SOURCE });
            }
            rows.push((Vec::new(), prompt));
        }
        let limits = Limits { batch_tokens: Some(BATCH_TOKENS), batch_examples: Some(batch) };
        let mut found = Vec::with_capacity(texts.len());
        for batch in evaluation_batches(&rows, &limits)? {
            let prompts: Vec<Vec<u32>> = batch.indices.iter().map(|&i| rows[i as usize].1.clone()).collect();
            let limits: Vec<usize> =
                prompts.iter().map(|prompt| self.search.max_length.min(room - prompt.len())).collect();
            let model = Stepping::new(&self.model, None, prompts.len());
            let written = match drawing {
                None => greedy_from(&model, &prompts, &limits),
                Some(Drawing { sampling, seed }) => {
                    let keys: Vec<u64> =
                        batch.indices.iter().map(|&index| mixed(*seed, first + index)).collect();
                    let number = |row: usize, place: usize| unit(mixed(keys[row], place as u64));
                    sample(&model, &prompts, &limits, sampling, number)
                }
            };
            found.extend(batch.indices.into_iter().zip(written));
        }
        let whole = |(number, written): (usize, Continuation)| {
            let (text, prompt) = (texts[number].as_ref(), &rows[number].1);
            Continued {
                text: self.joined(text, prompt, &written.hypothesis.tokens),
                prompt: prompt.clone(),
                prompt_log_probabilities: written.prompt,
                hypothesis: written.hypothesis,
            }
        };
        Ok(in_input_order(found).into_iter().enumerate().map(whole).collect())
    }

    /// A text as it was given, and behind it the text of more tokens.
    fn joined(&self, text: &str, prompt: &[u32], written: &[u32]) -> String {
        let tokenizer = &self.tokens.target;
        let (before, all) = (tokenizer.decode(prompt), tokenizer.decode(&[prompt, written].concat()));
        let more = all.strip_prefix(&before).unwrap_or(&all);
        // Of words that are all unknown nothing is left that a space could stand behind.
        let space = if before.is_empty() && !text.is_empty() && !more.is_empty() { " " } else { "" };
        format!("{text}{space}{more}")
    }
}

/// A number from 0 to below 1.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}
