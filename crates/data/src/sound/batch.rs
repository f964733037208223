//! Recordings on their way to a model: in some order, prepared ahead, and put together in batches.

use std::sync::Arc;

use super::cache::FrameCache;
use super::error::{SoundError, SoundProblem};
use super::frames::{Counted, Frames, Statistics};
use super::prepare::{Preparation, Prepared, Preparer, at_speed};
use super::set::{SoundSet, Transcript};
use crate::ahead::{Ahead, AheadSettings};
use crate::corpus::Memory;
use crate::images::Draw;
use crate::skipped::Skipped;
use crate::{DataError, Example};

/// A recording that is ready for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready {
    /// Its number in its set.
    pub index: u64,
    /// Its name.
    pub name: String,
    /// Its frames.
    pub frames: Frames,
    /// How fast it was played, in percent.
    pub speed: u32,
    /// What is said in it, with times of the prepared recording.
    pub said: Transcript,
}

/// Gets the recordings of `order` ready, ahead of who takes them. With a seed and an epoch, they are changed as the
/// preparation says; without, they are not. Features are kept in the cache, if there is one, except those with noise.
///
/// To go on in the middle of a pass, leave out what was taken before.
///
/// # Errors
/// If a number is not one of the set, or there is no thread. What is wrong with a recording comes in its place, as an item:
/// return it, or count it with [`Skipped::pass`].
pub fn ready(
    set: Arc<dyn SoundSet>,
    order: Vec<u64>,
    preparer: Arc<Preparer>,
    cache: Option<Arc<FrameCache>>,
    changed: Option<(u64, u64)>,
    settings: AheadSettings,
) -> Result<Ahead<Ready>, DataError> {
    if let Some(beyond) = order.iter().find(|index| **index >= set.len()) {
        let corpus = format!("a set of {} recordings", set.len());
        return Err(DataError::Position { corpus, at: format!("recording {beyond}") });
    }
    Ahead::new(order.len() as u64, settings, move |job| {
        let index = order[job as usize];
        let draw = changed.map(|(seed, epoch)| Draw { seed, epoch, example: index });
        Ready::new(&*set, index, &preparer, cache.as_deref(), draw)
    })
}

impl Ready {
    /// Gets recording `index` of a set ready, changed if there is a draw. Features are kept in the cache, if there is one,
    /// except those with noise.
    ///
    /// # Errors
    /// If the recording cannot be had.
    pub fn new(
        set: &dyn SoundSet,
        index: u64,
        preparer: &Preparer,
        cache: Option<&FrameCache>,
        draw: Option<Draw>,
    ) -> Result<Self, DataError> {
        let (Prepared { frames, speed }, mut said) = match (kept(set, index, cache)?, preparer.noisy(draw)) {
            (Some((cache, identity)), false) => {
                let speed = preparer.speed(draw);
                let make = || Ok(preparer.features(&set.get(index)?.sound, speed));
                let frames = cache.get(preparer.preparation(), speed, &identity, make)?;
                (preparer.finish(frames, speed, draw), set.said(index)?)
            }
            _ => {
                let example = set.get(index)?;
                (preparer.prepare(&example.sound, draw), example.said)
            }
        };
        for mention in &mut said.mentions {
            *mention = at_speed(mention, speed);
        }
        Ok(Self { index, name: set.name(index), frames, speed, said })
    }
}

type Kept<'a> = Option<(&'a FrameCache, String)>;

/// The cache, if there is one and it can keep this recording.
fn kept<'a>(set: &dyn SoundSet, index: u64, cache: Option<&'a FrameCache>) -> Result<Kept<'a>, DataError> {
    let Some(cache) = cache else { return Ok(None) };
    Ok(set.identity(index)?.map(|identity| (cache, identity)))
}

/// The mean and the deviation of each value over the frames of the first `most` recordings of a set, for
/// [`super::Normalisation::Corpus`]. Recordings that cannot be used are errors, or are counted if there is a place to count
/// them.
///
/// # Errors
/// If the preparation makes no sense, or no recording can be used.
pub fn statistics_of(
    set: Arc<dyn SoundSet>,
    preparation: Preparation,
    cache: Option<Arc<FrameCache>>,
    most: u64,
    settings: AheadSettings,
    mut skipped: Option<&mut Skipped>,
) -> Result<Statistics, DataError> {
    let plain = Preparation { normalisation: super::Normalisation::None, ..preparation };
    let order = (0..set.len().min(most)).collect();
    let mut counted = Counted::default();
    for item in ready(set, order, Arc::new(Preparer::new(plain, None)?), cache, None, settings)? {
        match (item, &mut skipped) {
            (Ok(item), _) => counted.add(&item.frames),
            (Err(error), Some(skipped)) => skipped.pass(error)?,
            (Err(error), None) => return Err(error),
        }
    }
    if counted.frames() == 0 {
        let skipped = skipped.map(|skipped| skipped.clone()).unwrap_or_default();
        return Err(SoundError::unnamed(SoundProblem::NoSounds(Box::new(skipped))).into());
    }
    Ok(counted.statistics())
}

/// Recordings that are computed together.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundBatch {
    /// `[rows, frames, bands]`; behind the frames of a recording there are zeros.
    pub values: Vec<f32>,
    /// How many recordings there are.
    pub rows: usize,
    /// The frames of the longest.
    pub frames: usize,
    /// Values of a frame.
    pub bands: usize,
    /// The frames of each: `[rows]`.
    pub lengths: Vec<usize>,
}

impl SoundBatch {
    /// Puts recordings together.
    ///
    /// # Errors
    /// If there is none, or their frames differ in width.
    pub fn new<'a>(recordings: impl IntoIterator<Item = &'a Frames>) -> Result<Self, SoundError> {
        let recordings: Vec<&Frames> = recordings.into_iter().collect();
        let Some(first) = recordings.first() else { return Err(SoundError::unnamed(SoundProblem::Empty)) };
        let bands = first.bands;
        let frames = recordings.iter().map(|recording| recording.len()).max().unwrap_or(0);
        let mut batch = Self {
            values: Vec::with_capacity(recordings.len() * frames * bands),
            rows: recordings.len(),
            frames,
            bands,
            lengths: recordings.iter().map(|recording| recording.len()).collect(),
        };
        for (row, recording) in recordings.iter().enumerate() {
            if recording.bands != bands {
                let problem =
                    SoundProblem::Uneven { number: row + 1, found: recording.bands, expected: bands };
                return Err(SoundError::unnamed(problem));
            }
            batch.values.extend_from_slice(&recording.values);
            batch.values.resize((row + 1) * frames * bands, 0.0);
        }
        Ok(batch)
    }

    /// Some of the recordings, with as many frames as the longest of them.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let lengths: Vec<usize> = rows.iter().map(|&row| self.lengths[row]).collect();
        let frames = lengths.iter().copied().max().unwrap_or(0);
        let whole = self.frames * self.bands;
        let len = frames * self.bands;
        let mut values = Vec::with_capacity(rows.len() * len);
        rows.iter().for_each(|row| values.extend_from_slice(&self.values[row * whole..][..len]));
        Self { values, rows: rows.len(), frames, bands: self.bands, lengths }
    }

    /// The frames of a recording, without those behind it: `[length, bands]`.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.frames * self.bands..][..self.lengths[row] * self.bands]
    }
}

/// The texts of the first `most` recordings of a set as a corpus in memory, to learn a vocabulary from. Each is the target
/// of an example whose source is the number of its recording.
pub fn texts_of(set: &dyn SoundSet, most: u64) -> Result<Memory, DataError> {
    let examples = (0..set.len().min(most))
        .map(|index| Ok(Example::new(format!("sound {index}"), set.said(index)?.text)));
    Ok(Memory::new(examples.collect::<Result<_, DataError>>()?))
}
