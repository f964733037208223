//! What is played: which notes, when, and how.

use std::fmt;

use super::super::dice::Dice;

/// The names of the twelve notes of an octave.
const NAMES: [&str; 12] = ["c", "cs", "d", "ds", "e", "f", "fs", "g", "gs", "a", "as", "b"];

/// The frequencies of the fourth octave in Hz, `440 · 2^(n/12)`, of n = -9 to 2.
const HERTZ: [f64; 12] = [
    261.625_565_300_598_6,
    277.182_630_976_872_1,
    293.664_767_917_407_6,
    311.126_983_722_080_9,
    329.627_556_912_869_9,
    349.228_231_433_003_9,
    369.994_422_711_634_4,
    391.995_435_981_749_3,
    415.304_697_579_945_1,
    440.0,
    466.163_761_518_089_9,
    493.883_301_256_124_1,
];

/// A note's height: one of [`Pitch::COUNT`], from `c4` up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pitch(u8);

impl Pitch {
    /// How many there are: two octaves.
    pub const COUNT: usize = 24;

    /// All of them, from low to high.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// The pitch of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|pitch| pitch.to_string() == name)
    }

    /// Its frequency.
    pub fn hertz(self) -> f64 {
        let (octave, step) = (self.0 / 12, self.0 % 12);
        HERTZ[usize::from(step)] * f64::from(1u32 << octave)
    }
}

impl fmt::Display for Pitch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", NAMES[usize::from(self.0 % 12)], 4 + self.0 / 12)
    }
}

/// What a note sounds like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timbre {
    /// A pure tone.
    Sine,
    /// The odd harmonics, as of a square wave.
    Square,
    /// All harmonics, as of a saw-tooth.
    Saw,
    /// A string that dies away, the high harmonics first.
    Plucked,
    /// A few harmonics at the octaves and fifths.
    Organ,
}

impl Timbre {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sine, Self::Square, Self::Saw, Self::Plucked, Self::Organ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sine => "sine",
            Self::Square => "square",
            Self::Saw => "saw",
            Self::Plucked => "plucked",
            Self::Organ => "organ",
        }
    }
}

/// A note of a melody. Times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its height.
    pub pitch: Pitch,
    /// When it begins.
    pub start: u32,
    /// When it begins to die away.
    pub release: u32,
    /// When nothing is heard of it any more.
    pub end: u32,
    /// How loud it is within the melody, in percent.
    pub accent: u32,
}

/// Notes, and how they are played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Melody {
    /// The notes, in order of their beginnings.
    pub notes: Vec<Note>,
    /// What they sound like.
    pub timbre: Timbre,
    /// How loud the loudest note is, in thousandths of what a file can hold.
    pub loudness: u32,
    /// How much quieter than that the noise behind it is, in decibels, if there is any.
    pub noise: Option<Noise>,
    /// How far from the right tuning, in ten-thousandths of the frequency.
    pub tuning: i32,
    /// How long all of it is, in milliseconds.
    pub length: u32,
    /// What the noise is drawn from.
    pub(super) noise_seed: u64,
}

/// How loud the noise behind a melody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noise {
    /// 40 decibels below the melody.
    Faint,
    /// 30 decibels.
    Soft,
    /// 20 decibels.
    Loud,
}

impl Melody {
    /// The names of the notes, with spaces between them.
    pub fn text(&self) -> String {
        text(&self.notes.iter().map(|note| note.pitch).collect::<Vec<_>>())
    }

    /// Gives pitches their times, and draws how they are played.
    pub(super) fn arranged(dice: &mut Dice, pitches: &[Pitch]) -> Self {
        let between =
            |dice: &mut Dice, least: usize, most: usize| (least + dice.below(most - least + 1)) as u32;
        let timbre = *dice.pick(&Timbre::ALL);
        let beat = between(dice, 12, 24) * 20; // 240 to 480 ms
        let tail = between(dice, 30, 100);
        let mut at = between(dice, 50, 300);
        let mut notes: Vec<Note> = Vec::new();
        for (place, pitch) in pitches.iter().enumerate() {
            if place > 0 && dice.chance(20) {
                at += beat / 2 * between(dice, 1, 4);
            }
            let length = beat / 2 * dice.weigh(&[(3, 1), (5, 2), (1, 3), (2, 4)]);
            let accent = between(dice, 70, 100);
            // The same note again is heard only if it was gone before.
            let again = pitches.get(place + 1) == Some(pitch);
            let end = if again { at + length - 10 } else { at + length + tail };
            notes.push(Note { pitch: *pitch, start: at, release: end - tail, end, accent });
            at += length;
        }
        let last = notes.last().map_or(at, |note| note.end);
        let noises = [(2, None), (1, Some(Noise::Faint)), (1, Some(Noise::Soft)), (1, Some(Noise::Loud))];
        Self {
            length: last + between(dice, 50, 300),
            notes,
            timbre,
            loudness: between(dice, 50, 450),
            noise: dice.weigh(&noises),
            tuning: between(dice, 0, 40) as i32 - 20,
            noise_seed: dice.below(1 << 32) as u64,
        }
    }
}

pub(super) fn text(pitches: &[Pitch]) -> String {
    pitches.iter().map(Pitch::to_string).collect::<Vec<_>>().join(" ")
}

/// A walk over the notes of a major key, with now and then one that is not of it.
pub(super) fn pitches(dice: &mut Dice, count: usize) -> Vec<Pitch> {
    const MAJOR: [usize; 7] = [0, 2, 4, 5, 7, 9, 11];
    let key = dice.below(12);
    let mut last = dice.below(Pitch::COUNT);
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let step = dice.below(15); // -7 to 7 semitones
        let Some(next) = (last + step).checked_sub(7).filter(|next| *next < Pitch::COUNT) else { continue };
        if MAJOR.contains(&((next + 12 - key) % 12)) || dice.chance(12) {
            found.push(Pitch(next as u8));
            last = next;
        }
    }
    found
}
