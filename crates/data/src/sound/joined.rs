//! Longer recordings made by joining short ones of one speaker: of spoken digits, spoken numbers.
//!
//! What is joined is a function of seed and number alone. A speaker is drawn as often as there are recordings of them,
//! then how many are joined, then which; between two there is a pause. Recordings without a speaker are of one nobody.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::recording::Sound;
use super::set::{Mention, SoundExample, SoundSet, Transcript};
use crate::DataError;
use crate::random::{ChaCha8Rng, generator, mixed};

/// `data.join`: how recordings are joined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JoinConfig {
    /// The fewest recordings that are joined.
    pub least: usize,
    /// The most.
    pub most: usize,
    /// The longest pause between two, in seconds.
    pub pause: f64,
    /// How many are made for training.
    pub examples: u64,
    /// How many are made of the other parts.
    pub held_out: u64,
}

impl Default for JoinConfig {
    fn default() -> Self {
        Self { least: 3, most: 7, pause: 0.2, examples: 20_000, held_out: 1_000 }
    }
}

impl JoinConfig {
    /// The most recordings that can be joined.
    pub const MOST: usize = 100;

    /// Refuses settings that make no sense.
    pub fn validate(&self) -> Result<(), DataError> {
        let wrong =
            |key: &str, problem: String| Err(DataError::Config { key: format!("data.join.{key}"), problem });
        match () {
            () if !(1..=Self::MOST).contains(&self.most) => {
                wrong("most", format!("is from 1 to {}; write 7, for instance", Self::MOST))
            }
            () if !(1..=self.most).contains(&self.least) => {
                wrong("least", "is from 1 to `most`; write 3, for instance".into())
            }
            () if !(0.0..=10.0).contains(&self.pause) => {
                wrong("pause", "is from 0 to 10 seconds; write 0.2, for instance".into())
            }
            () if self.examples == 0 => wrong("examples", "is 0; write 20000, for instance".into()),
            () if self.held_out == 0 => wrong("held_out", "is 0; write 1000, for instance".into()),
            () => Ok(()),
        }
    }
}

/// Recordings that are joined from those of another set.
pub struct Joined {
    set: Arc<dyn SoundSet>,
    settings: JoinConfig,
    seed: u64,
    count: u64,
    /// The recordings of each speaker, and the speaker of each recording.
    speakers: Vec<(Option<String>, Vec<u64>)>,
    spoken_by: Vec<usize>,
}

/// What a recording is joined from: their numbers, and the pause behind each, in seconds.
type Parts = Vec<(u64, f64)>;

const JOINS: u64 = 0x101_4ed;

impl Joined {
    /// `count` recordings joined from those of a set.
    ///
    /// # Errors
    /// If the settings make no sense, or a text of the set cannot be had.
    pub fn new(
        set: Arc<dyn SoundSet>,
        settings: JoinConfig,
        seed: u64,
        count: u64,
    ) -> Result<Self, DataError> {
        settings.validate()?;
        let mut found: BTreeMap<Option<String>, Vec<u64>> = BTreeMap::new();
        for index in 0..set.len() {
            found.entry(set.said(index)?.speaker).or_default().push(index);
        }
        let speakers: Vec<_> = found.into_iter().collect();
        let mut spoken_by = vec![0; set.len() as usize];
        for (speaker, (_, recordings)) in speakers.iter().enumerate() {
            recordings.iter().for_each(|&index| spoken_by[index as usize] = speaker);
        }
        let count = if spoken_by.is_empty() { 0 } else { count };
        Ok(Self { set, settings, seed, count, speakers, spoken_by })
    }

    fn parts(&self, index: u64) -> Parts {
        let mut rng = generator(mixed(self.seed, JOINS), index);
        let speaker = self.spoken_by[below(&mut rng, self.spoken_by.len())];
        let recordings = &self.speakers[speaker].1;
        let JoinConfig { least, most, pause, .. } = self.settings;
        let count = least + below(&mut rng, most - least + 1);
        let part = |_| {
            let chosen = recordings[below(&mut rng, recordings.len())];
            (chosen, pause * f64::from(rng.next_u32() >> 8) / f64::from(1u32 << 24))
        };
        (0..count).map(part).collect()
    }

    fn speaker(&self, parts: &Parts) -> Option<String> {
        let (first, _) = parts.first()?;
        self.speakers[self.spoken_by[*first as usize]].0.clone()
    }
}

/// From 0 to `count - 1`.
fn below(rng: &mut ChaCha8Rng, count: usize) -> usize {
    ((u64::from(rng.next_u32()) * count as u64) >> 32) as usize
}

impl SoundSet for Joined {
    fn len(&self) -> u64 {
        self.count
    }

    fn name(&self, index: u64) -> String {
        let names: Vec<String> = self.parts(index).iter().map(|(part, _)| self.set.name(*part)).collect();
        names.join(" + ")
    }

    fn said(&self, index: u64) -> Result<Transcript, DataError> {
        let parts = self.parts(index);
        let texts = parts.iter().map(|(part, _)| Ok(self.set.said(*part)?.text));
        let text = texts.collect::<Result<Vec<_>, DataError>>()?.join(" ");
        Ok(Transcript { speaker: self.speaker(&parts), ..Transcript::new(text) })
    }

    fn get(&self, index: u64) -> Result<SoundExample, DataError> {
        let parts = self.parts(index);
        let mut joined = Sound::default();
        let (mut texts, mut mentions, mut word) = (Vec::new(), Vec::new(), 0);
        for (place, (part, pause)) in parts.iter().enumerate() {
            let SoundExample { sound, said, .. } = self.set.get(*part)?;
            let (begins, words) = (joined.samples.len(), crate::words::split(&said.text).len());
            joined.rate = sound.rate;
            joined.samples.extend_from_slice(&sound.samples);
            let seconds = |samples: usize| samples as f64 / f64::from(sound.rate.max(1));
            match said.mentions.as_slice() {
                // All of it is the word.
                [] if words == 1 => {
                    mentions.push(Mention {
                        word,
                        start: seconds(begins),
                        end: seconds(joined.samples.len()),
                    });
                }
                told => mentions.extend(told.iter().map(|mention| Mention {
                    word: word + mention.word,
                    start: seconds(begins) + mention.start,
                    end: seconds(begins) + mention.end,
                })),
            }
            word += words;
            texts.push(said.text);
            if place + 1 < parts.len() {
                let pause = (pause * f64::from(joined.rate)) as usize;
                joined.samples.resize(joined.samples.len() + pause, 0.0);
            }
        }
        let said = Transcript { text: texts.join(" "), mentions, speaker: self.speaker(&parts) };
        Ok(SoundExample { name: self.name(index), sound: joined, said })
    }

    fn seconds(&self, index: u64) -> Result<Option<f64>, DataError> {
        let parts = self.parts(index);
        let last = parts.len().saturating_sub(1);
        let mut sum = 0.0;
        for (place, (part, pause)) in parts.iter().enumerate() {
            let Some(seconds) = self.set.seconds(*part)? else { return Ok(None) };
            sum += seconds + if place < last { *pause } else { 0.0 };
        }
        Ok(Some(sum))
    }
}
