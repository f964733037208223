//! Beam search: the most probable sequences as far as a few hypotheses at a time can tell.
//!
//! At each step every open hypothesis of a sentence is followed by every token, and of all these candidates
//! the `size` with the highest log p are chosen. One that writes the end is finished and set aside, the
//! others go on; so a beam of one is greedy search. Finished hypotheses are compared by
//!
//! ```text
//! score(y) = log p(y | x) / divisor(n) + β Σ_i log min(Σ_t a_ti, 1)
//! ```
//!
//! with the divisor of [`Normalisation`] for the n tokens of y (the end is one of them) and, where the model
//! tells where it looks, a penalty for source positions i that all steps together have looked at too little.
//! Within a step all candidates are equally long, so there log p alone decides.
//!
//! # When to stop
//!
//! [`Stop::Exact`] never stops too early. Let s be the score of the worst of the `n_best` finished
//! hypotheses. Every log p(token) ≤ 0, so an open hypothesis with the sum S ≤ 0 can only reach sums S' ≤ S;
//! whatever length it ends at, its divisor is at most D, the largest of the lengths it may still end at; and
//! the coverage term is ≤ 0. So its score will be at most S' / divisor ≤ S / D, and if S / D ≤ s for all
//! open hypotheses, none can take a place among the finished ones: going on would change nothing. (Without
//! normalisation that is the familiar rule to stop when the best open hypothesis is worse than the finished
//! ones.) [`Stop::First`] does not wait for that: it stops when `size` hypotheses have finished.
//!
//! # Groups
//!
//! With several groups (Vijayakumar et al., 2018) the places are shared out among them. At each step the
//! groups choose one after the other, and a token loses `diversity` for every time that the earlier groups
//! have chosen it at this step. That decides what is chosen; scores remain the model's. Groups may follow the
//! same hypothesis for a while, but what one of them has ended no other ends again.

mod candidate;
mod expansion;
mod normalise;
mod phrases;
mod rules;
mod sentence;
mod trace;

pub use normalise::Normalisation;
pub use trace::{Considered, Fate};

use crate::{Continuation, Logits, Step};
use candidate::Source;
use sentence::{Open, Sentence};
use serde::{Deserialize, Serialize};

/// How a beam search goes about it. The default is greedy search.
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// The most hypotheses of a sentence that are followed at once; at least 1.
    pub size: usize,
    /// How many sequences are given back for a sentence, from 1 to `size`.
    pub n_best: usize,
    /// How sequences of different length are compared.
    pub normalisation: Normalisation,
    /// β: what it costs not to look at the whole source; 0 or less for nothing.
    pub coverage: f64,
    /// When a sentence is done.
    pub stop: Stop,
    /// How many groups share the places, from 1 to `size`.
    pub groups: usize,
    /// What a token loses for every time that an earlier group has chosen it at this step.
    pub diversity: f64,
    /// n-grams of this many tokens occur once in a sequence; 0 for no such rule.
    pub no_repeat_ngram: usize,
    /// If a trace is wanted: how many candidates it has at each step beside the chosen ones.
    pub trace: Option<usize>,
}

impl Default for Beam {
    fn default() -> Self {
        Self {
            size: 1,
            n_best: 1,
            normalisation: Normalisation::None,
            coverage: 0.0,
            stop: Stop::Exact,
            groups: 1,
            diversity: 0.0,
            no_repeat_ngram: 0,
            trace: None,
        }
    }
}

/// When search for a sentence stops before the length limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// When no open hypothesis can get among the best any more: never too early.
    #[default]
    Exact,
    /// When as many hypotheses as the beam has places have finished: faster, and now and then worse.
    First,
    /// Not at all: what [`Stop::Exact`] is tested against.
    #[serde(skip)]
    Never,
}

/// What is wanted of one sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Tokens that it begins with.
    pub prefix: Vec<u32>,
    /// The fewest tokens behind the prefix before the end.
    pub min_length: usize,
    /// The most tokens behind the prefix, the end among them; 0 leaves nothing but the prefix.
    pub max_length: usize,
    /// Phrases that must appear, in the prefix or behind it. They outrank `no_repeat_ngram`, but are
    /// outranked by what is never written. If there is no room for all, the sequence has no end.
    pub phrases: Vec<Required>,
    /// Tokens (as sequences of one) and sequences that are never written. The prefix is not looked at.
    pub never: Vec<Vec<u32>>,
}

/// A phrase that must appear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Required {
    /// Its tokens.
    pub tokens: Vec<u32>,
    /// The tokens that stand for it at the very beginning of a sequence, if they are others.
    pub opening: Vec<u32>,
}

impl From<Vec<u32>> for Required {
    fn from(tokens: Vec<u32>) -> Self {
        Self { tokens, opening: Vec::new() }
    }
}

/// What was found for one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best sequences, best first, no two alike; at least one. If none could be ended within the limit,
    /// they are unfinished ones.
    pub best: Vec<Ranked>,
    /// What was considered at each step, the chosen ones first; empty if it was not asked for.
    pub trace: Vec<Vec<Considered>>,
}

/// A sequence and what it is ranked by.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// log p of the prefix, and what stands behind it.
    pub written: Continuation,
    /// The normalised log p of the whole with its prefix, with the coverage.
    pub score: f64,
}

/// Searches for the best sequences of each sentence. Row i of the model is sentence i, and what is found for
/// it does not depend on the others. Sentences that are done leave the batch.
pub fn beam_search<S: Step>(model: &S, wanted: &[Wanted], beam: &Beam) -> Vec<Found> {
    let (mut state, first) = model.start();
    let sentence = |(row, wanted)| Sentence::new(wanted, beam, model.end(), model.forbidden(), row);
    let mut sentences: Vec<Sentence<'_>> = wanted.iter().enumerate().map(sentence).collect();
    let (mut rows, mut next, mut log_sums) = (sentences.len(), Rows::default(), Vec::new());
    loop {
        next.clear();
        for sentence in sentences.iter_mut().filter(|sentence| !sentence.is_over()) {
            sentence.take_rows(&mut next, first);
        }
        if next.parents.is_empty() {
            return sentences.into_iter().map(Sentence::found).collect();
        }
        let unchanged = next.parents.len() == rows && next.parents.is_sorted_by(|a, b| a < b);
        if !unchanged {
            state = model.select(state, &next.parents);
        }
        rows = next.parents.len();
        let (logits, mut behind) = model.step(&next.tokens, state);
        let attention = if beam.coverage > 0.0 { model.attention(&behind) } else { None };
        logits.log_sums(&mut log_sums);
        let stepped = Stepped { logits: &logits, log_sums: &log_sums, attention };
        for sentence in sentences.iter_mut().filter(|sentence| !sentence.is_over()) {
            sentence.advance(&stepped);
        }
        model.take_back(logits, &mut behind);
        state = behind;
    }
}

/// The rows of the next step: which row of the state each goes on from, and the token it reads.
#[derive(Default)]
struct Rows {
    parents: Vec<usize>,
    tokens: Vec<u32>,
}

impl Rows {
    fn clear(&mut self) {
        self.parents.clear();
        self.tokens.clear();
    }

    /// Adds a row and gives its number.
    fn push(&mut self, parent: usize, token: u32) -> usize {
        self.parents.push(parent);
        self.tokens.push(token);
        self.parents.len() - 1
    }
}

/// What the model made of one step of all rows.
struct Stepped<'a> {
    logits: &'a Logits,
    /// What is taken off the scores of each row: log Σ exp of them.
    log_sums: &'a [f32],
    /// Where each row looked.
    attention: Option<Vec<Vec<f32>>>,
}

impl Stepped<'_> {
    /// What may stand behind a hypothesis, which is number `parent` of its group.
    fn source(&self, parent: usize, open: &Open) -> Source<'_> {
        let log_sum = self.log_sums.get(open.row).copied().unwrap_or_default();
        Source { parent, sum: open.sum, scores: self.logits.row(open.row), log_sum }
    }
}
