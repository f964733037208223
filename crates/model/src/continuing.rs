//! What a language model writes behind the beginning of a text.

use crate::config::Task;
use crate::error::ModelError;
use crate::saved::{BATCH_TOKENS, LONGEST_SOURCE, Saved};
use crate::stepping::Stepping;
use gatto_data::random::{mixed, share};
use gatto_data::{Limits, evaluation_batches, in_input_order};
use gatto_search::{
    Continuation, Followed, Follower, Hypothesis, Sampling, SearchConfig, Step, Wanted, beam_search, samples,
};

/// Draws in place of the most probable token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// Where the draws come from, beside the number of the text.
    pub seed: u64,
}

impl Drawing {
    /// The draws of `count` lines, the first of which is number `first` of the whole input.
    pub(crate) fn draws(&self, first: u64, count: usize) -> Vec<Draw> {
        (first..).take(count).map(|line| Draw { seed: self.seed, line }).collect()
    }
}

/// Where the draws of one line come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The seed.
    pub seed: u64,
    /// The number of the line.
    pub line: u64,
}

impl Draw {
    /// The number from 0 to below 1 that draws the token at a place of a sample. Sample k of a seed is the first of the
    /// k-th seed behind it.
    pub(crate) fn number(self, sample: usize, place: usize) -> f64 {
        let key = mixed(self.seed.wrapping_add(sample as u64), self.line);
        share(mixed(key, place as u64))
    }
}

/// How texts are continued.
pub struct Continuing<'a> {
    /// The search, and how its outputs are ranked.
    pub search: &'a SearchConfig,
    /// Draws in place of a search: how, and where from for each text.
    pub drawn: Option<(&'a Sampling, &'a [Draw])>,
    /// In how many ways each text is continued, or as many as are found.
    pub count: usize,
    /// The most texts that are computed together.
    pub batch: usize,
    /// Someone who follows what is written, and may call it off; sentences are the places of texts, and their tokens
    /// are among those that are told.
    pub follower: Option<&'a dyn Follower>,
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
        let draws = drawing.map(|drawing| (&drawing.sampling, drawing.draws(first, texts.len())));
        let drawn = draws.as_ref().map(|(sampling, draws)| (*sampling, draws.as_slice()));
        let continuing = Continuing { search: &self.search, drawn, count, batch, follower: None };
        self.continue_each(texts, &continuing)
    }

    /// [`Saved::continued`] in any of the ways that there are.
    pub fn continue_each<S: AsRef<str>>(
        &self,
        texts: &[S],
        way: &Continuing<'_>,
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
        let limits = Limits { batch_tokens: Some(BATCH_TOKENS), batch_examples: Some(way.batch) };
        let mut found = Vec::with_capacity(texts.len());
        for batch in evaluation_batches(&rows, &limits)? {
            let prompts: Vec<Vec<u32>> = batch.indices.iter().map(|&i| rows[i as usize].1.clone()).collect();
            let limits: Vec<usize> =
                prompts.iter().map(|prompt| way.search.max_length.min(room - prompt.len())).collect();
            let model = Stepping::new(&self.model, None, prompts.len());
            let sentences = batch.indices.iter().map(|&index| index as usize).collect();
            let model = Followed::new(model, sentences, way.follower);
            let written = match way.drawn {
                None => searched_behind(&model, prompts, &limits, way),
                Some((sampling, draws)) => {
                    let number = |row: usize, sample: usize, place: usize| {
                        draws[batch.indices[row] as usize].number(sample, place)
                    };
                    let drawn = samples(&model, &prompts, &limits, way.count, sampling, number);
                    let scored = |written: Continuation| {
                        let whole = written.clone().whole(&[]);
                        (written, way.search.settings().normalisation.score(&whole))
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

    /// A text as it was given, and behind it the text of more tokens; `prompt` are those of the text.
    pub fn joined(&self, text: &str, prompt: &[u32], written: &[u32]) -> String {
        let tokenizer = &self.tokens.target;
        let (before, all) = (tokenizer.decode(prompt), tokenizer.decode(&[prompt, written].concat()));
        let more = all.strip_prefix(&before).unwrap_or(&all);
        // Of words that are all unknown nothing is left that a space could stand behind.
        let space = if before.is_empty() && !text.is_empty() && !more.is_empty() { " " } else { "" };
        format!("{text}{space}{more}")
    }
}

/// The best continuations of each prompt, with their normalised scores.
fn searched_behind(
    model: &impl Step,
    prompts: Vec<Vec<u32>>,
    limits: &[usize],
    way: &Continuing<'_>,
) -> Vec<Vec<(Continuation, f64)>> {
    let wanted = |(prefix, &max_length): (Vec<u32>, &usize)| {
        let min_length = way.search.min_length.min(max_length.saturating_sub(1));
        Wanted { prefix, min_length, max_length, ..Wanted::default() }
    };
    let wanted: Vec<Wanted> = prompts.into_iter().zip(limits).map(wanted).collect();
    let found = beam_search(model, &wanted, &way.search.for_outputs(way.count)).into_iter();
    found.map(|found| found.best.into_iter().map(|best| (best.written, best.score)).collect()).collect()
}
