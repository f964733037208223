//! Melodies, and the names of their notes.
//!
//! A [`Melody`] is composed from a seed: a few notes of two octaves, one after the other, with rests between some of them.
//! It is played ([`Melody::played`]) in one of five timbres, at some tempo and loudness, a little out of tune, with more or
//! less noise behind it; the tail of a note sounds on into the next. What is to be told are the names of the notes in order
//! of their beginnings: *c4 ds4 g4*. Rests have no name, and neither has anything else.
//!
//! | of a melody | what it may be |
//! |---|---|
//! | notes | `c4` (261.6 Hz) to `b5` (987.8 Hz), in steps of a semitone; `s` is for sharp, so that a name is one word |
//! | timbre | a pure tone, a square or a saw-tooth of few harmonics, a plucked string, an organ |
//! | tempo | a beat of 240 to 480 ms; a note of half a beat to two, of 120 to 960 ms |
//! | rests | before one note of five, a half beat to two |
//! | overlaps | a note dies away within 30 to 100 ms, in which the next begins, unless a rest or the same note follows |
//! | loudness | from 0.05 to 0.45 of what a file can hold, with accents |
//! | noise | none, or 40, 30 or 20 decibels below the melody |
//! | tuning | up to 0.2 % high or low |
//!
//! Each note knows when it sounds ([`crate::sound::Mention`]): from its beginning to where its tail has died away. So one can
//! measure where a model listens.
//!
//! To which part a melody belongs is decided by its text alone: no two parts share a sequence of notes, however it is
//! played. Times are whole milliseconds, samples are whole 32768ths, and nothing but additions, multiplications, divisions
//! and square roots is computed, so that an example is the same on every machine, and in a WAV file.
//!
//! Notes of half the lowest octave are closer together than a window of 25 ms can tell apart by their fundamentals alone;
//! [`Melodies::preparation`] has longer windows.
//!
//! ```
//! use gatto_data::Part;
//! use gatto_data::builtin::melodies::Melodies;
//!
//! let melodies = Melodies::new(16_000)?;
//! let example = melodies.example(1, Part::Train, 0)?;
//! assert_eq!(example.said.text.split(' ').count(), example.said.mentions.len());
//! assert_eq!(example.sound.rate, 16_000);
//! # Ok::<(), gatto_data::builtin::melodies::MelodiesError>(())
//! ```

mod melody;
mod play;

#[cfg(test)]
mod tests;

pub use melody::{Melody, Noise, Note, Pitch, Timbre};

use super::dice::Dice;
use super::{DRAWS, LengthRange, part_of};
use crate::random::{generator, mixed};
use crate::sound::{LogMel, Mention, Preparation, SoundExample, SoundSet, Transcript};
use crate::{DataError, Part};

/// Why the task, or an example of it, cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MelodiesError {
    /// A rate at which it cannot be played.
    #[error(
        "melodies are played with {} to {} samples a second, in whole thousands, not {rate}; write 8000 or 16000",
        Melodies::RATES.0, Melodies::RATES.1
    )]
    Rate {
        /// The rate that was asked for.
        rate: u32,
    },
    /// Too few or too many notes.
    #[error(
        "melodies of {min} to {max} notes cannot be had: they must be 1 ≤ min ≤ max ≤ {}",
        Melodies::MOST_NOTES
    )]
    Notes {
        /// The fewest notes asked for.
        min: usize,
        /// The most notes asked for.
        max: usize,
    },
    /// There are too few melodies for every part to get one.
    #[error("there is no melody for the part {part:?} among {DRAWS} draws; let melodies be longer")]
    EmptyPart {
        /// The part.
        part: Part,
    },
}

/// What a seed is mixed with, so that this task has random numbers of its own.
const SEED: u64 = 0x3e10d;

/// The task: how melodies are played, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Melodies {
    rate: u32,
    notes: LengthRange,
}

impl Melodies {
    /// The fewest and the most samples a second.
    pub const RATES: (u32, u32) = (8_000, 48_000);
    /// The most notes of a melody.
    pub const MOST_NOTES: usize = 100;

    /// The task with melodies of 3 to 8 notes, played with `rate` samples a second.
    ///
    /// # Errors
    /// If the rate is not one of [`Melodies::RATES`], in whole thousands.
    pub fn new(rate: u32) -> Result<Self, MelodiesError> {
        let whole = rate.is_multiple_of(1000) && (Self::RATES.0..=Self::RATES.1).contains(&rate);
        match whole {
            true => Ok(Self { rate, notes: LengthRange { min: 3, max: 8 } }),
            false => Err(MelodiesError::Rate { rate }),
        }
    }

    /// The same with other numbers of notes.
    ///
    /// # Errors
    /// If they make no sense.
    pub fn with_notes(self, notes: LengthRange) -> Result<Self, MelodiesError> {
        let LengthRange { min, max } = notes;
        match 1 <= min && min <= max && max <= Self::MOST_NOTES {
            true => Ok(Self { notes, ..self }),
            false => Err(MelodiesError::Notes { min, max }),
        }
    }

    /// Samples a second.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// How many notes melodies have.
    pub fn notes(&self) -> LengthRange {
        self.notes
    }

    /// Features in which the notes can be told apart: windows of 96 ms every 16 ms, 96 bands from 230 to
    /// 2600 Hz.
    pub fn preparation(&self) -> Preparation {
        let features = LogMel {
            window: 96.0,
            hop: 16.0,
            bands: 96,
            lowest: 230.0,
            highest: Some(2600.0),
            ..LogMel::default()
        };
        Preparation { rate: self.rate, features, ..Preparation::default() }
    }

    /// Melody `index` of a part: always the same for the same `seed`, whatever the rate.
    ///
    /// # Errors
    /// If melodies are so short that none of them belongs to the part.
    pub fn melody(&self, seed: u64, part: Part, index: u64) -> Result<Melody, MelodiesError> {
        let stream = index.wrapping_mul(4).wrapping_add(part as u64);
        let mut rng = generator(mixed(seed, SEED), stream);
        let mut dice = Dice(&mut rng);
        // Before all else, so that no length is rarer for being harder to draw.
        let count = self.notes.min + dice.below(self.notes.max - self.notes.min + 1);
        for _ in 0..DRAWS {
            let pitches = melody::pitches(&mut dice, count);
            if part_of(&melody::text(&pitches)) == part {
                return Ok(Melody::arranged(&mut dice, &pitches));
            }
        }
        Err(MelodiesError::EmptyPart { part })
    }

    /// Plays a melody, and tells its notes.
    pub fn told(&self, melody: &Melody, name: String) -> SoundExample {
        SoundExample { name, sound: melody.played(self.rate), said: said(melody) }
    }

    /// Example `index` of a part: always the same for the same `seed`.
    ///
    /// # Errors
    /// As [`Melodies::melody`].
    pub fn example(&self, seed: u64, part: Part, index: u64) -> Result<SoundExample, MelodiesError> {
        Ok(self.told(&self.melody(seed, part, index)?, name(part, index)))
    }
}

fn name(part: Part, index: u64) -> String {
    let part = match part {
        Part::Train => "train",
        Part::Valid => "valid",
        Part::Test => "test",
    };
    format!("melodies/{part}/{index}")
}

fn said(melody: &Melody) -> Transcript {
    let seconds = |milliseconds: u32| f64::from(milliseconds) / 1000.0;
    let mention =
        |(word, note): (usize, &Note)| Mention { word, start: seconds(note.start), end: seconds(note.end) };
    Transcript {
        text: melody.text(),
        mentions: melody.notes.iter().enumerate().map(mention).collect(),
        speaker: Some(melody.timbre.name().to_owned()),
    }
}

/// The first `count` examples of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnMelodies {
    /// The task.
    pub task: Melodies,
    /// The part.
    pub part: Part,
    /// Another seed gives other melodies, but never one of another part.
    pub seed: u64,
    /// How many examples there are.
    pub count: u64,
}

impl SoundSet for DrawnMelodies {
    fn len(&self) -> u64 {
        self.count
    }

    fn name(&self, index: u64) -> String {
        name(self.part, index)
    }

    fn said(&self, index: u64) -> Result<Transcript, DataError> {
        Ok(said(&self.task.melody(self.seed, self.part, index)?))
    }

    fn get(&self, index: u64) -> Result<SoundExample, DataError> {
        Ok(self.task.example(self.seed, self.part, index)?)
    }

    fn identity(&self, index: u64) -> Result<Option<String>, DataError> {
        let Self { task: Melodies { rate, notes: LengthRange { min, max } }, seed, .. } = self;
        Ok(Some(format!("{}; seed {seed}; {rate} samples a second; {min} to {max} notes", self.name(index))))
    }

    fn seconds(&self, index: u64) -> Result<Option<f64>, DataError> {
        let melody = self.task.melody(self.seed, self.part, index)?;
        Ok(Some(f64::from(melody.length) / 1000.0))
    }
}
