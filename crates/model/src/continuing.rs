//! What a language model writes behind the beginning of a text.

use crate::config::Task;
use crate::error::ModelError;
use crate::saved::{BATCH_TOKENS, LONGEST_SOURCE, Saved};
use crate::stepping::Stepping;
use gatto_data::random::{mixed, share};
use gatto_data::{Limits, evaluation_batches, in_input_order};
use gatto_search::{Continuation, Hypothesis, Sampling, Wanted, beam_search, samples};

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
    /// What it was ranked by: log p of text and continuation, normalised as the search says.
    pub score: f64,
}

impl Saved {
    /// Continues each text, in order, in `count` ways or as many as are found; `first` is the number of the first
    /// text in the whole input. At most `batch` are computed together, and which ones changes nothing. Without
    /// `drawing` they are the best that the search of the configuration finds.
    pub fn continued<S: AsRef<str>>(
        &self,
        texts: &[S],
        first: u64,
        drawing: Option<&Drawing>,
        count: usize,
        batch: usize,
    ) -> Result<Vec<Vec<Continued>>, ModelError> {
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
                None => self.searched_behind(&model, prompts, &limits, count),
                Some(Drawing { sampling, seed }) => {
                    let number = |row: usize, sample: usize, place: usize| {
                        number_of(*seed, first + batch.indices[row], sample, place)
                    };
                    let drawn = samples(&model, &prompts, &limits, count, sampling, number);
                    let scored = |written: Continuation| {
                        let whole = written.clone().whole(&[]);
                        (written, self.search.settings().normalisation.score(&whole))
                    };
                    drawn.into_iter().map(|each| each.into_iter().map(scored).collect()).collect()
                }
            };
            found.extend(batch.indices.into_iter().zip(written));
        }
        let whole = |number: usize, (written, score): (Continuation, f64)| {
            let (text, prompt) = (texts[number].as_ref(), &rows[number].1);
            Continued {
                text: self.joined(text, prompt, &written.hypothesis.tokens),
                prompt: prompt.clone(),
                prompt_log_probabilities: written.prompt,
                hypothesis: written.hypothesis,
                score,
            }
        };
        let all = |(number, written): (usize, Vec<_>)| {
            written.into_iter().map(|written| whole(number, written)).collect()
        };
        Ok(in_input_order(found).into_iter().enumerate().map(all).collect())
    }

    /// The best continuations of each prompt, with their normalised scores.
    fn searched_behind(
        &self,
        model: &Stepping<'_>,
        prompts: Vec<Vec<u32>>,
        limits: &[usize],
        count: usize,
    ) -> Vec<Vec<(Continuation, f64)>> {
        let wanted = |(prefix, &max_length): (Vec<u32>, &usize)| {
            let min_length = self.search.min_length.min(max_length.saturating_sub(1));
            Wanted { prefix, min_length, max_length, ..Wanted::default() }
        };
        let wanted: Vec<Wanted> = prompts.into_iter().zip(limits).map(wanted).collect();
        let beam = self.search.for_outputs(count);
        let found = beam_search(model, &wanted, &beam).into_iter();
        found.map(|found| found.best.into_iter().map(|best| (best.written, best.score)).collect()).collect()
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

/// The number from 0 to below 1 that draws the token at a place of a sample of a line. Sample k of a seed is
/// the first of the k-th seed behind it.
pub(crate) fn number_of(seed: u64, line: u64, sample: usize, place: usize) -> f64 {
    let key = mixed(seed.wrapping_add(sample as u64), line);
    share(mixed(key, place as u64))
}
