//! Training batches of recordings without end, and batches of recordings that are held out.
//!
//! A pass takes the recordings in an order of its own, in pools. Those of a pool are put together by length, as their
//! headers tell it, cut into batches, and the batches are shuffled; then they are prepared ahead, in that order. Order,
//! changes and batches depend on seed, epoch and recordings alone, so that a stream resumed anywhere goes on with the same
//! batches.

use std::ops::Range;
use std::sync::Arc;

use rand::seq::SliceRandom;

use super::batch::{Ready, SoundBatch, ready};
use super::cache::FrameCache;
use super::prepare::Preparer;
use super::set::SoundSet;
use crate::DataError;
use crate::ahead::{Ahead, AheadSettings};
use crate::batch::{Batch, Ending, Limits};
use crate::corpus::Position;
use crate::images::{Draw, shuffled};
use crate::random::{generator, mixed};
use crate::skipped::Skipped;
use crate::stream::{Stream, StreamState};
use crate::tokens::Tokenizer;

/// What makes frames and ids of recordings. Copies share it.
#[derive(Clone)]
pub struct Hearing {
    /// What makes frames of a sound.
    pub preparer: Arc<Preparer>,
    /// Where frames are kept, if they are.
    pub cache: Option<Arc<FrameCache>>,
    /// What makes tokens of a text.
    pub tokens: Arc<Tokenizer>,
}

impl Hearing {
    /// The frames that a recording of some length will have.
    fn frames(&self, seconds: f64, draw: Option<Draw>) -> usize {
        let played = seconds * 100.0 / f64::from(self.preparer.speed(draw));
        1 + (played / self.preparer.hop()) as usize
    }

    fn batch(&self, rows: &[Ready], targets: &[Vec<u32>]) -> Result<Batch, DataError> {
        let sounds = SoundBatch::new(rows.iter().map(|row| &row.frames))?;
        let indices = rows.iter().map(|row| row.index).collect();
        Ok(Batch::of_sounds(sounds, targets, Ending::TOKENS, indices))
    }
}

/// How training batches of recordings are made.
#[derive(Clone, Debug)]
pub struct SoundStreamSettings {
    /// Determines every choice.
    pub seed: u64,
    /// How many recordings are put together by length.
    pub pool: usize,
    /// How large a batch may be: `batch_tokens` counts frames, those behind shorter recordings included.
    pub limits: Limits,
    /// Recordings whose text has more tokens than this are left out.
    pub max_length: usize,
    /// Whether recordings that cannot be used are passed over and counted.
    pub skip_bad: bool,
    /// How much is done ahead.
    pub ahead: AheadSettings,
}

/// Training batches of recordings without end.
pub struct SoundStream {
    set: Arc<dyn SoundSet>,
    hearing: Hearing,
    settings: SoundStreamSettings,
    epoch: u64,
    /// Number of the pool under way within the pass.
    pool: Pool,
    /// Number of the next batch within the pool.
    next_batch: usize,
    skipped: Skipped,
    /// Those that were passed over before this stream was resumed.
    skipped_before: u64,
    dropped: u64,
}

/// Some recordings of a pass.
struct Pool {
    number: u64,
    /// How many recordings each batch takes.
    sizes: Vec<usize>,
    /// The recordings of those batches that are still to come.
    sounds: Ahead<Ready>,
}

impl SoundStream {
    /// A stream that goes on where another, of the same set, hearing and settings, was; from the start with the default
    /// state.
    ///
    /// # Errors
    /// If a setting makes no sense, there are no recordings, or the state is none of this set.
    pub fn resume(
        set: Arc<dyn SoundSet>,
        hearing: Hearing,
        settings: SoundStreamSettings,
        state: StreamState,
    ) -> Result<Self, DataError> {
        settings.limits.validate()?;
        let place = |at: String| {
            let corpus = format!("a set of {} recordings", set.len());
            Err(DataError::Position { corpus, at })
        };
        let first = state.pool.saturating_mul(settings.pool.max(1) as u64);
        if first >= set.len() || first != state.pool_start.example {
            return place(format!("recording {first}"));
        }
        let next_batch = usize::try_from(state.next_batch).unwrap_or(usize::MAX);
        let pool = Pool::new(&set, &hearing, &settings, state.epoch, state.pool, next_batch)?;
        if next_batch > pool.sizes.len() {
            return place(format!("batch {} of pool {}", state.next_batch, state.pool));
        }
        Ok(Self {
            epoch: state.epoch,
            pool,
            next_batch,
            skipped: Skipped::default(),
            skipped_before: state.pool_start.skipped,
            dropped: state.dropped,
            set,
            hearing,
            settings,
        })
    }

    /// The recordings of the next batch of the pool that can be used, and their targets.
    fn gather(&mut self) -> Result<(Vec<Ready>, Vec<Vec<u32>>), DataError> {
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..self.pool.sizes[self.next_batch] {
            let Some(next) = self.pool.sounds.next() else { break };
            match next {
                Ok(sound) => {
                    let target = self.hearing.tokens.encode(&sound.said.text);
                    match target.len() > self.settings.max_length {
                        true => self.dropped += 1,
                        false => {
                            rows.push(sound);
                            targets.push(target);
                        }
                    }
                }
                Err(error) if self.settings.skip_bad => self.skipped.pass(error)?,
                Err(error) => return Err(error),
            }
        }
        self.next_batch += 1;
        Ok((rows, targets))
    }

    /// Goes to the next pool, which is the first of the next pass behind the last of this one.
    fn leave(&mut self) -> Result<(), DataError> {
        let number = self.pool.number + 1;
        let ends = number * self.settings.pool.max(1) as u64 >= self.set.len();
        if ends && self.skipped() + self.dropped >= self.set.len() {
            return Err(DataError::NoExamples {
                read: self.set.len(),
                skipped: self.skipped(),
                too_long: self.dropped,
                max_length: self.settings.max_length,
            });
        }
        let (epoch, number) = if ends { (self.epoch + 1, 0) } else { (self.epoch, number) };
        self.pool = Pool::new(&self.set, &self.hearing, &self.settings, epoch, number, 0)?;
        (self.epoch, self.next_batch) = (epoch, 0);
        if ends {
            (self.skipped, self.skipped_before, self.dropped) = (Skipped::default(), 0, 0);
        }
        Ok(())
    }
}

impl Pool {
    /// A pool of a pass, whose first `done` batches were given before.
    fn new(
        set: &Arc<dyn SoundSet>,
        hearing: &Hearing,
        settings: &SoundStreamSettings,
        epoch: u64,
        number: u64,
        done: usize,
    ) -> Result<Self, DataError> {
        let (seed, size) = (settings.seed, settings.pool.max(1));
        let order = shuffled(set.len(), seed, epoch);
        let first = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(size).min(order.len());
        let taken = &order[first..order.len().min(first.saturating_add(size))];
        let drawn = |index: u64| Some(Draw { seed, epoch, example: index });
        let lengths = taken.iter().map(|&index| (hearing.frames(told(&**set, index), drawn(index)), index));
        let lengths: Vec<(usize, u64)> = lengths.collect();
        let mut batches = by_length(lengths, &settings.limits);
        batches.shuffle(&mut generator(mixed(mixed(seed, BATCHES), epoch), number));
        let sizes = batches.iter().map(Vec::len).collect();
        let left = batches.into_iter().skip(done).flatten().collect();
        let sounds = ready(
            set.clone(),
            left,
            hearing.preparer.clone(),
            hearing.cache.clone(),
            Some((seed, epoch)),
            settings.ahead,
        )?;
        Ok(Self { number, sizes, sounds })
    }
}

const BATCHES: u64 = 0x50_0b47;

/// How long a recording is, as far as it can be told without decoding it: what is wrong with one shows when it is read.
fn told(set: &dyn SoundSet, index: u64) -> f64 {
    set.seconds(index).ok().flatten().filter(|seconds| seconds.is_finite()).unwrap_or(0.0)
}

/// Numbers with their lengths, sorted by these and cut into batches.
fn by_length(mut lengths: Vec<(usize, u64)>, limits: &Limits) -> Vec<Vec<u64>> {
    // Those of one length stay in the order of the pass.
    lengths.sort_by_key(|(length, _)| *length);
    let mut batches: Vec<Vec<u64>> = Vec::new();
    for (length, index) in lengths {
        // Sorted, so the newest is the longest of its batch.
        match batches.last_mut() {
            Some(batch) if limits.allow(batch.len() + 1, length) => batch.push(index),
            _ => batches.push(vec![index]),
        }
    }
    batches
}

impl Stream for SoundStream {
    fn next(&mut self) -> Result<Batch, DataError> {
        loop {
            if self.next_batch >= self.pool.sizes.len() {
                self.leave()?;
            }
            let (rows, targets) = self.gather()?;
            if !rows.is_empty() {
                return self.hearing.batch(&rows, &targets);
            }
        }
    }

    fn state(&self) -> StreamState {
        let first = self.pool.number * self.settings.pool.max(1) as u64;
        let pool_start = Position { example: first, skipped: Stream::skipped(self), ..Position::start() };
        StreamState {
            epoch: self.epoch,
            pool: self.pool.number,
            pool_start,
            next_batch: self.next_batch as u64,
            dropped: self.dropped,
            ..StreamState::default()
        }
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn skipped(&self) -> u64 {
        self.skipped_before + self.skipped.total()
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Recordings that nothing is learnt from, as batches that are made when they are asked for.
pub struct HeldSounds {
    set: Arc<dyn SoundSet>,
    hearing: Hearing,
    /// Whether recordings that cannot be used are passed over.
    skip_bad: bool,
    /// The recordings of each batch.
    batches: Vec<Vec<u64>>,
    /// What is said in each recording, by its number.
    texts: Vec<String>,
}

impl HeldSounds {
    /// Some recordings of a set, put together by length.
    ///
    /// # Errors
    /// If their texts cannot be had, or a limit makes no sense.
    pub fn new(
        set: Arc<dyn SoundSet>,
        hearing: Hearing,
        numbers: Range<u64>,
        limits: &Limits,
        skip_bad: bool,
    ) -> Result<Self, DataError> {
        limits.validate()?;
        let numbers = numbers.start..numbers.end.min(set.len());
        let texts = (0..numbers.end).map(|index| match numbers.contains(&index) {
            true => Ok(set.said(index)?.text),
            false => Ok(String::new()),
        });
        let texts = texts.collect::<Result<Vec<_>, DataError>>()?;
        let lengths = numbers.map(|index| (hearing.frames(told(&*set, index), None), index)).collect();
        Ok(Self { batches: by_length(lengths, limits), set, hearing, skip_bad, texts })
    }

    /// The same without recordings whose text has more tokens than this, and how many these were.
    pub fn no_longer_than(mut self, most: usize) -> (Self, u64) {
        let mut long = 0;
        for batch in &mut self.batches {
            let before = batch.len();
            batch.retain(|&index| self.hearing.tokens.encode(&self.texts[index as usize]).len() <= most);
            long += (before - batch.len()) as u64;
        }
        self.batches.retain(|batch| !batch.is_empty());
        (self, long)
    }

    /// How many batches there are.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// What is said in a recording.
    pub fn text(&self, index: u64) -> &str {
        self.texts.get(index as usize).map_or("", String::as_str)
    }

    /// The recordings of a batch, prepared, with what was passed over.
    ///
    /// # Errors
    /// If a recording cannot be used, and is not to be passed over.
    pub fn sounds(&self, number: usize) -> Result<(Vec<Ready>, Skipped), DataError> {
        let (mut rows, mut skipped) = (Vec::new(), Skipped::default());
        let Hearing { preparer, cache, .. } = &self.hearing;
        for &index in &self.batches[number] {
            match Ready::new(&*self.set, index, preparer, cache.as_deref(), None) {
                Ok(sound) => rows.push(sound),
                Err(error) if self.skip_bad => skipped.pass(error)?,
                Err(error) => return Err(error),
            }
        }
        Ok((rows, skipped))
    }

    /// A batch; `None` if all of its recordings were passed over.
    ///
    /// # Errors
    /// As [`HeldSounds::sounds`].
    pub fn batch(&self, number: usize) -> Result<Option<Batch>, DataError> {
        let (rows, _) = self.sounds(number)?;
        let targets: Vec<_> = rows.iter().map(|row| self.hearing.tokens.encode(&row.said.text)).collect();
        if rows.is_empty() { Ok(None) } else { self.hearing.batch(&rows, &targets).map(Some) }
    }
}

impl std::fmt::Debug for HeldSounds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "HeldSounds({} batches)", self.batches.len())
    }
}
