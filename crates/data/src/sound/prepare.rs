//! From a recording to the frames that a model reads, the same way each time, or with changes that teach it what does not
//! matter.
//!
//! Every change is a function of seed, epoch and example ([`Draw`]), never of what was drawn before:
//!
//! | change | what it does |
//! |---|---|
//! | speed | the sound is played slower or faster, by some percent, in two of three cases (Ko et al. 2015) |
//! | noise | noise of a random colour is added, so much quieter than the sound |
//! | masks | stretches of time and bands of pitch are blotted out (SpecAugment, Park et al. 2019, without its warping) |

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::frames::{Frames, Statistics};
use super::mel::{LogMel, MelExtractor};
use super::recording::Sound;
use super::resample::{faster, resampled};
use super::set::Mention;
use crate::DataError;
use crate::images::Draw;
use crate::random::ChaCha8Rng;

/// What is taken off the values of frames, and what they are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalisation {
    /// Nothing.
    None,
    /// The mean and the deviation of each value over the recording.
    #[default]
    Utterance,
    /// Those over all recordings of the training part.
    Corpus,
}

/// How recordings become what a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Preparation {
    /// Samples a second, to which every recording is brought.
    pub rate: u32,
    /// How loud which bands are.
    pub features: LogMel,
    /// 1 adds the changes of the values from frame to frame, 2 also the changes of these.
    pub deltas: usize,
    /// What values are divided by.
    pub normalisation: Normalisation,
    /// What is changed at random in training.
    pub augmentation: Augmentation,
}

impl Default for Preparation {
    fn default() -> Self {
        Self {
            rate: 16_000,
            features: LogMel::default(),
            deltas: 0,
            normalisation: Normalisation::default(),
            augmentation: Augmentation::default(),
        }
    }
}

/// What is changed at random in training; by default nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Augmentation {
    /// By how many percent a sound is played slower or faster, or as it is, each in a third of all cases; 10 is usual.
    pub speed: u32,
    /// How often noise is added, from 0 to 1.
    pub noise: f32,
    /// By how many decibels the noise is quieter than the sound, at least.
    pub noise_least: f32,
    /// And at most.
    pub noise_most: f32,
    /// How many stretches of time are blotted out.
    pub time_masks: usize,
    /// The longest such stretch, in milliseconds.
    pub time_width: f64,
    /// And the most that one takes of the recording, as a share.
    pub time_share: f64,
    /// How many bands of pitch are blotted out.
    pub band_masks: usize,
    /// How many neighbours such a band has, at most.
    pub band_width: usize,
}

impl Default for Augmentation {
    fn default() -> Self {
        Self {
            speed: 0,
            noise: 0.0,
            noise_least: 5.0,
            noise_most: 30.0,
            time_masks: 0,
            time_width: 400.0,
            time_share: 0.2,
            band_masks: 0,
            band_width: 15,
        }
    }
}

const SPEED: u64 = 0x59eed;
const NOISE: u64 = 0x9015e;
const MASKS: u64 = 0x3a54;

impl Preparation {
    /// Refuses settings that make no sense.
    pub fn validate(&self) -> Result<(), DataError> {
        let wrong = |key: &str, problem: &str| {
            Err(DataError::Config { key: key.to_owned(), problem: problem.to_owned() })
        };
        let within = |error: DataError, table: &str| match error {
            DataError::Config { key, problem } if key != "rate" => {
                DataError::Config { key: format!("{table}.{key}"), problem }
            }
            other => other,
        };
        // It also tells whether every band hears something.
        MelExtractor::new(&self.features, self.rate).map_err(|error| within(error, "features"))?;
        self.augmentation.validate(self.features.bands).map_err(|error| within(error, "augmentation"))?;
        match self.deltas > 2 {
            true => wrong("deltas", "is 0, 1 or 2"),
            false => Ok(()),
        }
    }

    /// Values of a frame.
    pub fn width(&self) -> usize {
        self.features.bands * (self.deltas + 1)
    }
}

impl Augmentation {
    /// Refuses settings that make no sense.
    fn validate(&self, bands: usize) -> Result<(), DataError> {
        let wrong = |key: &str, problem: &str| {
            Err(DataError::Config { key: key.to_owned(), problem: problem.to_owned() })
        };
        let Self { speed, noise, noise_least, noise_most, time_share, time_width, .. } = *self;
        match () {
            () if speed > 50 => wrong("speed", "is from 0 to 50 percent; write 10, for instance"),
            () if !(0.0..=1.0).contains(&noise) => wrong("noise", "is from 0 to 1; write 0.5, for instance"),
            () if !(-20.0..=100.0).contains(&noise_least) => {
                wrong("noise_least", "is from -20 to 100 decibels; write 5, for instance")
            }
            () if !(noise_least..=100.0).contains(&noise_most) => {
                wrong("noise_most", "is from `noise_least` to 100 decibels; write 30, for instance")
            }
            () if !(0.0..=1.0).contains(&time_share) => {
                wrong("time_share", "is from 0 to 1; write 0.2, for instance")
            }
            () if !(0.0..=60_000.0).contains(&time_width) => {
                wrong("time_width", "is from 0 to 60000 milliseconds; write 400, for instance")
            }
            () if self.time_masks > 100 => wrong("time_masks", "is from 0 to 100; write 2, for instance"),
            () if self.band_masks > 100 => wrong("band_masks", "is from 0 to 100; write 2, for instance"),
            () if self.band_masks > 0 && self.band_width > bands => {
                wrong("band_width", "is at most the number of bands; write 15, for instance")
            }
            () => Ok(()),
        }
    }
}

/// A recording that is ready for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Its frames.
    pub frames: Frames,
    /// How fast it was played, in percent: 100 as it is.
    pub speed: u32,
}

/// When a word sounds after the speed was changed.
pub fn at_speed(mention: &Mention, speed: u32) -> Mention {
    let time = |seconds: f64| seconds * 100.0 / f64::from(speed.max(1));
    Mention { word: mention.word, start: time(mention.start), end: time(mention.end) }
}

/// A [`Preparation`] with all that it computes only once.
#[derive(Clone)]
pub struct Preparer {
    preparation: Preparation,
    features: MelExtractor,
    statistics: Option<Statistics>,
}

impl Preparer {
    /// Gets ready to prepare. `statistics` are those of the training part, which [`super::statistics_of`] measures; they
    /// are needed for [`Normalisation::Corpus`] alone.
    ///
    /// # Errors
    /// If the settings make no sense, or the statistics are missing or of other features.
    pub fn new(preparation: Preparation, statistics: Option<Statistics>) -> Result<Self, DataError> {
        preparation.validate()?;
        let wrong =
            |problem: &str| DataError::Config { key: "normalisation".into(), problem: problem.into() };
        if preparation.normalisation == Normalisation::Corpus {
            let known = statistics.as_ref().ok_or_else(|| {
                wrong("`corpus` needs the mean and the deviation of the training part; measure them first")
            })?;
            let width = preparation.width();
            let finite =
                |values: &[f32]| values.len() == width && values.iter().all(|value| value.is_finite());
            if !finite(&known.mean)
                || !finite(&known.deviation)
                || known.deviation.iter().any(|value| *value <= 0.0)
            {
                return Err(wrong(
                    "the mean and the deviation are those of other features; measure them again",
                ));
            }
        }
        Ok(Self {
            features: MelExtractor::new(&preparation.features, preparation.rate)?,
            preparation,
            statistics,
        })
    }

    /// The settings.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Seconds from one frame to the next.
    pub fn hop(&self) -> f64 {
        self.features.hop()
    }

    /// How fast a recording is played, in percent; 100 without a draw.
    pub fn speed(&self, draw: Option<Draw>) -> u32 {
        let percent = self.preparation.augmentation.speed;
        match draw {
            Some(draw) if percent > 0 => {
                100 + [percent, 0, 2 * percent][Changes::new(&draw, SPEED).below(3)] - percent
            }
            _ => 100,
        }
    }

    /// Whether noise is added.
    pub fn noisy(&self, draw: Option<Draw>) -> bool {
        let chance = self.preparation.augmentation.noise;
        chance > 0.0 && draw.is_some_and(|draw| Changes::new(&draw, NOISE).unit() < chance)
    }

    /// Features before normalisation: what may be kept from one epoch to the next.
    pub fn features(&self, sound: &Sound, speed: u32) -> Frames {
        self.of_samples(&self.played(sound, speed))
    }

    /// How loud the bands are, without changes from frame to frame and before normalisation: what can be drawn.
    pub fn powers(&self, sound: &Sound) -> Frames {
        self.features.frames(&self.played(sound, 100))
    }

    /// Makes a recording ready: as it is, or changed as [`Preparation::augmentation`] says if there is a draw.
    pub fn prepare(&self, sound: &Sound, draw: Option<Draw>) -> Prepared {
        let speed = self.speed(draw);
        let mut samples = self.played(sound, speed);
        if let Some(draw) = draw.filter(|draw| self.noisy(Some(*draw))) {
            let mut changes = Changes::new(&draw, NOISE);
            changes.unit(); // whether at all
            changes.noise(&mut samples, &self.preparation.augmentation);
        }
        self.finish(self.of_samples(&samples), speed, draw)
    }

    /// Normalises features, and blots out what the draw says.
    pub fn finish(&self, mut frames: Frames, speed: u32, draw: Option<Draw>) -> Prepared {
        match (self.preparation.normalisation, &self.statistics) {
            (Normalisation::Utterance, _) => Statistics::of(&frames).apply(&mut frames),
            (Normalisation::Corpus, Some(statistics)) => statistics.apply(&mut frames),
            _ => {}
        }
        let Augmentation { time_masks, band_masks, .. } = self.preparation.augmentation;
        if let Some(draw) = draw.filter(|_| time_masks + band_masks > 0) {
            Changes::new(&draw, MASKS).masks(&mut frames, &self.preparation);
        }
        Prepared { frames, speed }
    }

    fn played(&self, sound: &Sound, speed: u32) -> Vec<f32> {
        let samples = match sound.rate == self.preparation.rate {
            true => sound.samples.clone(),
            false => resampled(&sound.samples, sound.rate, self.preparation.rate),
        };
        if speed == 100 { samples } else { faster(&samples, speed) }
    }

    fn of_samples(&self, samples: &[f32]) -> Frames {
        let frames = self.features.frames(samples);
        if self.preparation.deltas == 0 { frames } else { frames.with_deltas(self.preparation.deltas) }
    }
}

/// Random changes to one recording.
struct Changes(ChaCha8Rng);

impl Changes {
    fn new(draw: &Draw, purpose: u64) -> Self {
        Self(draw.generator(purpose))
    }

    /// From 0 to below 1, of 24 bits.
    fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 / (1u32 << 24) as f32
    }

    fn between(&mut self, least: f32, most: f32) -> f32 {
        least + (most - least) * self.unit()
    }

    /// From 0 to `count - 1`.
    fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    /// Adds noise that is some decibels quieter: white, or with less and less of what is high.
    fn noise(&mut self, samples: &mut [f32], settings: &Augmentation) {
        let quieter = self.between(settings.noise_least, settings.noise_most);
        let colour = self.between(0.0, 0.95);
        let mut last = 0.0;
        let noise: Vec<f32> = samples
            .iter()
            .map(|_| {
                // Nearly normal, of four even ones.
                let white: f32 = (0..4).map(|_| self.unit() - 0.5).sum();
                last = colour * last + (1.0 - colour) * white;
                last
            })
            .collect();
        let power =
            |values: &[f32]| values.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>();
        let wanted = power(samples) * 10f64.powf(-f64::from(quieter) / 10.0);
        let factor = (wanted / power(&noise).max(1e-30)).sqrt() as f32;
        for (sample, noise) in samples.iter_mut().zip(&noise) {
            *sample += factor * noise;
        }
    }

    /// Puts the mean of each value over the recording where nothing is to be heard.
    fn masks(&mut self, frames: &mut Frames, settings: &Preparation) {
        let Augmentation { time_masks, time_width, time_share, band_masks, band_width, .. } =
            settings.augmentation;
        let (count, width) = (frames.len(), frames.bands);
        let mean = Statistics::of(frames).mean;
        let longest = (time_width / 1000.0 / frames.hop).min(time_share * count as f64) as usize;
        for _ in 0..time_masks {
            let length = self.below(longest.min(count) + 1);
            let start = self.below(count - length + 1);
            for frame in frames.values[start * width..(start + length) * width].chunks_exact_mut(width.max(1))
            {
                frame.copy_from_slice(&mean);
            }
        }
        let bands = settings.features.bands;
        for _ in 0..band_masks {
            let length = self.below(band_width.min(bands) + 1);
            let start = self.below(bands - length + 1);
            for frame in frames.values.chunks_exact_mut(width.max(1)) {
                // In the values as in their changes.
                for (part, mean) in frame.chunks_exact_mut(bands).zip(mean.chunks_exact(bands)) {
                    part[start..start + length].copy_from_slice(&mean[start..start + length]);
                }
            }
        }
    }
}
