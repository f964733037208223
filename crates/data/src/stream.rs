//! Training batches without end, in an order that depends on the seed alone and can be resumed exactly.
//!
//! A pass over the corpus is read in pools. A pool is tokenised, freed of over-long examples, thinned, shuffled,
//! cut into batches of similar length, and the batches are shuffled. A corpus that fits into one pool
//! is so shuffled whole. Resuming reads the pool under way again and drops the batches already given.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::batch::{Batch, Encoded, Limits, bucketed};
use crate::coder::Coder;
use crate::corpus::{Corpus, Position};
use crate::{DataError, Example, random};

/// What is tokenised at a time, so that a pool of very long lines never is in memory as text.
const CHUNK_EXAMPLES: usize = 4096;
const CHUNK_BYTES: usize = 16 << 20;

/// The draws that thin out short examples, apart from those of shuffles.
const THINNING: u64 = u64::from_be_bytes(*b"thinning");

/// How short examples are thinned out, where they are many and long ones few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinning {
    /// Examples with so many tokens on a side, `END` not counted, or more are all taken.
    pub below: usize,
    /// Of those with `n` tokens, the share `(n / below)^power` is taken.
    pub power: u32,
}

impl Thinning {
    /// Whether an example of this length is taken, for a draw from 0 to below 1.
    fn takes(&self, length: usize, draw: f64) -> bool {
        length >= self.below || draw < (length as f64 / self.below as f64).powf(f64::from(self.power))
    }

    fn validate(&self) -> Result<(), DataError> {
        let wrong = |key: &str, problem: &str| {
            Err(DataError::Config { key: format!("thinning.{key}"), problem: problem.to_owned() })
        };
        match self {
            Self { below: 0, .. } => wrong("below", "0 leaves all as it is; write 20, for instance"),
            Self { power, .. } if !(1..=8).contains(power) => wrong("power", "write a number from 1 to 8"),
            _ => Ok(()),
        }
    }
}

/// How training batches are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSettings {
    /// Determines every shuffle.
    pub seed: u64,
    /// How many examples are shuffled together.
    pub pool: usize,
    /// How large a batch may be.
    pub limits: Limits,
    /// Examples with more tokens than this on a side, `END` not counted, are dropped.
    pub max_length: usize,
    /// How short examples are thinned out; all are taken if not given.
    pub thinning: Option<Thinning>,
}

impl Default for StreamSettings {
    fn default() -> Self {
        Self { seed: 1, pool: 65_536, limits: Limits::tokens(4096), max_length: 256, thinning: None }
    }
}

impl StreamSettings {
    /// Refuses settings under which no batch could be made.
    pub fn validate(&self) -> Result<(), DataError> {
        self.limits.validate()?;
        let wrong = |key: &str, problem: String| Err(DataError::Config { key: key.to_owned(), problem });
        if self.pool == 0 {
            return wrong("pool", "0 holds nothing; write 65536, for instance".into());
        }
        if self.max_length == 0 {
            return wrong("max_length", "0 drops every example; write 256, for instance".into());
        }
        self.thinning.as_ref().map_or(Ok(()), Thinning::validate)?;
        match self.limits.batch_tokens {
            Some(tokens) if tokens <= self.max_length => wrong(
                "batch_tokens",
                format!(
                    "{tokens} cannot hold an example of max_length = {} tokens and its end; write {} or more, \
                     or lower `max_length`",
                    self.max_length,
                    self.max_length + 1
                ),
            ),
            _ => Ok(()),
        }
    }
}

/// Where a [`Stream`] is, to be saved with a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamState {
    /// Passes completed.
    pub epoch: u64,
    /// Number of the pool under way within the pass.
    pub pool: u64,
    /// Where the pool begins in the corpus.
    pub pool_start: Position,
    /// Number of the next batch within the pool.
    pub next_batch: u64,
    /// Examples of this pass, before this pool, that were dropped as over-long.
    pub dropped: u64,
    /// Examples of this pass, before this pool, that were not taken because they are short.
    #[serde(default)]
    pub thinned: u64,
}

/// Batches without end, for training.
pub trait Stream: Send {
    /// The next batch.
    fn next(&mut self) -> Result<Batch, DataError>;

    /// Where the stream is: what [`Stream::next`] gives next is what a stream resumed here gives first.
    fn state(&self) -> StreamState;

    /// Passes completed.
    fn epoch(&self) -> u64;

    /// Bad lines, or bad images, passed over so far in this pass.
    fn skipped(&self) -> u64;

    /// Over-long examples dropped so far in this pass.
    fn dropped(&self) -> u64;
}

/// Training batches of texts without end.
pub struct BatchStream {
    corpus: Box<dyn Corpus>,
    coder: Coder,
    settings: StreamSettings,
    state: StreamState,
    /// The batches of the pool under way; none before it is read.
    pool: Option<Pool>,
}

struct Pool {
    batches: Vec<Vec<Encoded>>,
    /// Over-long examples among those read.
    dropped: u64,
    /// Short ones among them that were not taken.
    thinned: u64,
    /// Whether the pass ends with this pool.
    last: bool,
}

impl BatchStream {
    /// A stream from the start of the corpus.
    pub fn new(corpus: Box<dyn Corpus>, coder: Coder, settings: StreamSettings) -> Result<Self, DataError> {
        Self::resume(corpus, coder, settings, StreamState::default())
    }

    /// A stream that goes on where another, of the same corpus, coder and settings, was.
    pub fn resume(
        corpus: Box<dyn Corpus>,
        coder: Coder,
        settings: StreamSettings,
        state: StreamState,
    ) -> Result<Self, DataError> {
        settings.validate()?;
        let mut stream = Self { corpus, coder, settings, state, pool: None };
        let pool = stream.read_pool()?;
        if stream.state.next_batch > pool.batches.len() as u64 {
            return Err(DataError::Position {
                corpus: "the training corpus".into(),
                at: format!("batch {} of pool {}", stream.state.next_batch, stream.state.pool),
            });
        }
        stream.pool = Some(pool);
        Ok(stream)
    }

    /// Moves the state to the pool after this one.
    fn leave(&mut self, pool: &Pool) -> Result<(), DataError> {
        let (dropped, thinned) = (self.state.dropped + pool.dropped, self.state.thinned + pool.thinned);
        let position = self.corpus.position();
        if !pool.last {
            let (epoch, number) = (self.state.epoch, self.state.pool + 1);
            self.state =
                StreamState { epoch, pool: number, pool_start: position, next_batch: 0, dropped, thinned };
            return Ok(());
        }
        if thinned > 0 && dropped + thinned >= position.example {
            let problem = format!("of {} examples not one was taken; write less", position.example);
            return Err(DataError::Config { key: "thinning.below".into(), problem });
        }
        if dropped >= position.example {
            return Err(DataError::NoExamples {
                read: position.example,
                skipped: self.corpus.skipped(),
                too_long: dropped,
                max_length: self.settings.max_length,
            });
        }
        self.state = StreamState { epoch: self.state.epoch + 1, ..StreamState::default() };
        Ok(())
    }

    /// Reads the pool that the state names and leaves the corpus behind it.
    fn read_pool(&mut self) -> Result<Pool, DataError> {
        if self.corpus.position() != self.state.pool_start {
            self.corpus.seek(&self.state.pool_start)?;
        }
        let mut examples = Vec::new();
        let (mut dropped, mut thinned) = (0, 0);
        let mut read = 0;
        let mut last = false;
        while read < self.settings.pool && !last {
            let chunk = self.read_chunk(self.settings.pool - read)?;
            last = chunk.is_empty();
            read += chunk.len();
            let encoded: Vec<Encoded> = chunk
                .into_par_iter()
                .map(|(index, example, labels)| {
                    let (source, target) = self.coder.rows(&example, &labels);
                    Encoded { index, source, target }
                })
                .collect();
            for example in encoded {
                let length = example.source.len().max(example.target.len());
                match length <= self.settings.max_length {
                    false => dropped += 1,
                    true if !self.takes(length, example.index) => thinned += 1,
                    true => examples.push(example),
                }
            }
        }
        let mut generator =
            random::generator(self.settings.seed, stream_of(self.state.epoch, self.state.pool));
        examples.shuffle(&mut generator);
        let mut batches = bucketed(examples, &self.settings.limits);
        batches.shuffle(&mut generator);
        Ok(Pool { batches, dropped, thinned, last })
    }

    /// Whether an example is taken in this pass.
    fn takes(&self, length: usize, index: u64) -> bool {
        self.settings.thinning.is_none_or(|thinning| {
            let key = random::mixed(random::mixed(self.settings.seed, THINNING), self.state.epoch);
            thinning.takes(length, random::share(random::mixed(key, index)))
        })
    }

    /// Up to `most` examples with their labels, fewer if they are long; none at the end of the pass.
    fn read_chunk(&mut self, most: usize) -> Result<Vec<(u64, Example, Vec<u32>)>, DataError> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        while chunk.len() < most.min(CHUNK_EXAMPLES) && bytes < CHUNK_BYTES {
            let index = self.corpus.position().example;
            let Some((example, labels)) = self.coder.next_labelled(self.corpus.as_mut())? else { break };
            bytes += example.source.len() + example.target.len();
            chunk.push((index, example, labels));
        }
        Ok(chunk)
    }
}

impl Stream for BatchStream {
    fn next(&mut self) -> Result<Batch, DataError> {
        // The pool under way, or the first after it that has a batch left.
        loop {
            let pool = match self.pool.take() {
                Some(pool) => pool,
                None => self.read_pool()?,
            };
            if let Some(batch) = pool.batches.get(self.state.next_batch as usize) {
                let batch = Batch::new(batch, self.coder.ending());
                self.state.next_batch += 1;
                self.pool = Some(pool);
                return Ok(batch);
            }
            self.leave(&pool)?;
        }
    }

    fn state(&self) -> StreamState {
        self.state.clone()
    }

    fn epoch(&self) -> u64 {
        self.state.epoch
    }

    fn skipped(&self) -> u64 {
        self.corpus.skipped()
    }

    fn dropped(&self) -> u64 {
        self.state.dropped + self.pool.as_ref().map_or(0, |pool| pool.dropped)
    }
}

/// A stream of random numbers for each pool of each pass, away from the small numbers that other
/// users of the same seed count with.
fn stream_of(epoch: u64, pool: u64) -> u64 {
    random::mixed(random::mixed(0, epoch), pool)
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
