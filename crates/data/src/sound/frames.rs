//! Sound as a model reads it: a row of values every few milliseconds.
//!
//! T frames, C values of each.

use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{DataError, files};

/// Which stretch of time each of a row of places stands for: the frames of a sound, or what an encoder made of several
/// of them. It is to sound what [`crate::images::Grid`] is to images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// How many places there are.
    pub places: usize,
    /// Seconds from one place to the next.
    pub step: f64,
    /// Where the first begins, in seconds of the sound. Frames are centred, so that it is half a step before zero.
    pub start: f64,
}

impl Timeline {
    /// The stretch of a place, in seconds.
    pub fn stretch(&self, place: usize) -> (f64, f64) {
        let start = self.start + place as f64 * self.step;
        (start, start + self.step)
    }

    /// The place in which a moment lies; the first or the last if it is before or after all.
    pub fn place(&self, seconds: f64) -> usize {
        let place = ((seconds - self.start) / self.step).floor().max(0.0);
        (place as usize).min(self.places.saturating_sub(1))
    }

    /// A timeline each of whose places stands for `count` of this one, as a pyramid encoder makes them; what is left over
    /// at the end is a place of its own.
    pub fn joined(&self, count: usize) -> Self {
        let count = count.max(1);
        Self { places: self.places.div_ceil(count), step: self.step * count as f64, start: self.start }
    }

    /// When something sounds, by weights on the places: from the middle of the first to the end of the last of those around
    /// the largest weight that have at least half of it. `None` if nothing has any weight.
    pub fn heard(&self, weights: &[f32]) -> Option<(f64, f64)> {
        let (peak, most) =
            weights.iter().copied().enumerate().rev().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let enough = |weight: &f32| *weight >= most / 2.0;
        if !(most > 0.0) || self.places == 0 {
            return None;
        }
        let first = peak - weights[..peak].iter().rev().take_while(|weight| enough(weight)).count();
        let last = peak + weights[peak + 1..].iter().take_while(|weight| enough(weight)).count();
        let (from, _) = self.stretch(first);
        let (_, to) = self.stretch(last);
        Some(((from + self.step / 2.0).max(0.0), to.max(0.0)))
    }

    /// For each place, which share of its stretch lies in a stretch of time, from 0 to 1. `Σ weight × share` is how much
    /// of an attention lies on a word that sounds then.
    pub fn covered(&self, (start, end): (f64, f64)) -> Vec<f32> {
        let share = |place| {
            let (from, to) = self.stretch(place);
            ((to.min(end) - from.max(start)) / self.step).clamp(0.0, 1.0) as f32
        };
        (0..self.places).map(share).collect()
    }
}

/// T frames of C values.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// `[T, C]`.
    pub values: Vec<f32>,
    /// C: values of a frame.
    pub bands: usize,
    /// Seconds from one frame to the next.
    pub hop: f64,
}

impl Frames {
    /// T: how many frames there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.bands.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of a frame: `[C]`.
    pub fn frame(&self, frame: usize) -> &[f32] {
        &self.values[frame * self.bands..][..self.bands]
    }

    /// When each frame is. Frame t is centred on `t × hop`.
    pub fn timeline(&self) -> Timeline {
        Timeline { places: self.len(), step: self.hop, start: -self.hop / 2.0 }
    }

    /// The same frames with their changes behind them, and the changes of these if `order` is 2: C becomes
    /// `C × (order + 1)`. A change is the slope of a line through five frames, where the first and the last frame count
    /// for those that are missing:
    ///
    /// ```text
    /// d(t) = Σₙ n · (c(t + n) - c(t - n)) / (2 · Σₙ n²),   n = 1, 2
    /// ```
    pub fn with_deltas(&self, order: usize) -> Self {
        let mut parts = vec![self.values.clone()];
        for _ in 0..order {
            let slopes = slopes(&parts[parts.len() - 1], self.bands);
            parts.push(slopes);
        }
        let mut values = Vec::with_capacity(self.values.len() * parts.len());
        for frame in 0..self.len() {
            for part in &parts {
                values.extend_from_slice(&part[frame * self.bands..][..self.bands]);
            }
        }
        Self { values, bands: self.bands * parts.len(), hop: self.hop }
    }
}

fn slopes(values: &[f32], bands: usize) -> Vec<f32> {
    let last = (values.len() / bands.max(1)).saturating_sub(1);
    let at = |frame: usize, band: usize| values[frame.min(last) * bands + band];
    let mut slopes = Vec::with_capacity(values.len());
    for frame in 0..values.len() / bands.max(1) {
        for band in 0..bands {
            let near = at(frame + 1, band) - at(frame.saturating_sub(1), band);
            let far = at(frame + 2, band) - at(frame.saturating_sub(2), band);
            slopes.push((near + 2.0 * far) / 10.0);
        }
    }
    slopes
}

/// The most bytes of a file of statistics: of the widest frames there are.
const LARGEST: u64 = 1 << 20;

/// The mean and the deviation of each value of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// `[C]`.
    pub mean: Vec<f32>,
    /// `[C]`, never below [`Statistics::LEAST`].
    pub deviation: Vec<f32>,
}

impl Statistics {
    /// What a value that never changes is divided by.
    pub const LEAST: f32 = 1e-3;
    /// The name of the file that holds them.
    pub const FILE: &str = "sound.json";

    /// Those of some frames.
    pub fn of(frames: &Frames) -> Self {
        let mut counted = Counted::default();
        counted.add(frames);
        counted.statistics()
    }

    /// Writes them into a folder, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), DataError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        Ok(files::replace(&folder.join(Self::FILE), |out| out.write_all(text.as_bytes()))?)
    }

    /// Reads what [`Statistics::save`] wrote.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn load(folder: &Path) -> Result<Self, DataError> {
        let path = folder.join(Self::FILE);
        let mut text = String::new();
        let read = std::fs::File::open(&path).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
        read.map_err(|error| DataError::Read { path: path.clone(), error })?;
        serde_json::from_str(&text)
            .map_err(|error| DataError::Statistics { path, problem: error.to_string() })
    }

    /// Takes the mean off each value, and divides by the deviation.
    ///
    /// # Panics
    /// Never: values beyond those that are known stay as they are.
    pub fn apply(&self, frames: &mut Frames) {
        let bands = frames.bands.max(1);
        for frame in frames.values.chunks_exact_mut(bands) {
            for ((value, mean), deviation) in frame.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = (*value - mean) / deviation;
            }
        }
    }
}

/// Sums over frames, of which [`Statistics`] are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    count: u64,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Counted {
    /// Takes in some frames. Those of another width than the first are left out.
    pub fn add(&mut self, frames: &Frames) {
        if self.sums.is_empty() {
            self.sums = vec![0.0; frames.bands];
            self.squares = vec![0.0; frames.bands];
        }
        if self.sums.len() != frames.bands {
            return;
        }
        for frame in frames.values.chunks_exact(frames.bands.max(1)) {
            self.count += 1;
            for ((value, sum), square) in frame.iter().zip(&mut self.sums).zip(&mut self.squares) {
                *sum += f64::from(*value);
                *square += f64::from(*value) * f64::from(*value);
            }
        }
    }

    /// How many frames were taken in.
    pub fn frames(&self) -> u64 {
        self.count
    }

    /// The mean and the deviation of each value.
    pub fn statistics(&self) -> Statistics {
        let count = self.count.max(1) as f64;
        let mean: Vec<f64> = self.sums.iter().map(|sum| sum / count).collect();
        let variance = self.squares.iter().zip(&mean).map(|(square, mean)| square / count - mean * mean);
        let deviation = variance.map(|variance| (variance.max(0.0).sqrt() as f32).max(Statistics::LEAST));
        Statistics { deviation: deviation.collect(), mean: mean.iter().map(|mean| *mean as f32).collect() }
    }
}
