//! Sound as input: where recordings come from, and how they become what a model reads.
//!
//! ```text
//! files, melodies ──> SoundSet ──> Sound ──> Preparer ──> Frames ──> SoundBatch
//!                       │                       │
//!                       └── text, with times ───┴──> text, with times
//! ```
//!
//! A [`SoundSet`] gives recordings with texts by number, in any order, the same ones each time. There are two kinds:
//!
//! | set | what it is |
//! |---|---|
//! | [`SoundFiles`] | WAV, FLAC, Ogg Vorbis and MP3 files, and a list of texts in TSV or JSONL |
//! | [`crate::builtin::melodies::DrawnMelodies`] | melodies played from a seed, which know when each note sounds |
//!
//! Every recording is mixed to one channel and brought to one rate ([`Resampler`]). A [`Preparer`] makes [`Frames`] of it:
//! how loud each of some bands of pitch is, every few milliseconds ([`LogMel`]), with the changes of that if asked, divided
//! by the deviation over the recording or over the corpus. In training it may also change the speed, add noise, and blot out
//! times and bands. What it does is a function of seed, epoch and example ([`Draw`]), so that a run that was stopped goes on
//! with the same sounds. A [`FrameCache`] keeps on disk what has been computed once.
//!
//! [`ready`] does all this on threads of its own, ahead of training, and gives the results in order:
//!
//! ```
//! use std::sync::Arc;
//! use gatto_data::Part;
//! use gatto_data::builtin::melodies::{DrawnMelodies, Melodies};
//! use gatto_data::sound::{AheadSettings, Preparation, Preparer, SoundBatch, SoundSet, ready, shuffled};
//!
//! let task = Melodies::new(8_000)?;
//! let set: Arc<dyn SoundSet> = Arc::new(DrawnMelodies { task, part: Part::Train, seed: 1, count: 32 });
//! let preparer = Arc::new(Preparer::new(Preparation { rate: 8_000, ..Preparation::default() }, None)?);
//! let (seed, epoch) = (1, 0);
//! let order = shuffled(set.len(), seed, epoch);
//! let mut sounds = ready(set, order, preparer, None, Some((seed, epoch)), AheadSettings::default())?;
//! let rows: Vec<_> = sounds.by_ref().take(4).collect::<Result<_, _>>()?;
//! let batch = SoundBatch::new(rows.iter().map(|row| &row.frames))?;
//! assert_eq!((batch.rows, batch.bands), (4, 80));
//!
//! // Which frames are those of the first note?
//! let note = rows[0].said.mentions[0];
//! let shares = rows[0].frames.timeline().covered((note.start, note.end));
//! assert!(shares.contains(&1.0) && shares.contains(&0.0));
//! # Ok::<(), gatto_data::DataError>(())
//! ```
//!
//! A [`SoundStream`] puts them together in training batches without end, by length, and [`HeldSounds`] are those that
//! nothing is learnt from. [`Measured`] refuses what is too long before the first is decoded, and [`Joined`] makes longer
//! recordings of short ones.
//!
//! # When in the recording
//!
//! A [`Mention`] says when a word sounds. A [`Timeline`] says which stretch of time each frame stands for, or each place that
//! an encoder makes of several frames, and [`Timeline::covered`] tells which share of each lies in a given stretch:
//! `Σ weight × share` is how much of an attention lies on the sound of a word.
//!
//! Long recordings are cut at their [`pauses`] into [`pieces`].
//!
//! # What can go wrong
//!
//! A file is an error with its name, the line that lists it and the remedy ([`SoundError`]) if it is missing, no sound,
//! broken, cut short, empty or silent, if its name leads out of the folder, or if it is beyond the [`SoundLimits`]: these are
//! held before memory is taken where the header tells enough, and as soon as they are passed where it does not. A name that
//! ends in the wrong letters does not matter. Who would rather go on counts errors in [`Skipped`], by reason, with the first
//! few messages: with `skip_bad` lists do so as they are read, and in a pass an error comes in the place of its recording.

mod batch;
mod cache;
mod decode;
mod error;
mod frames;
mod joined;
mod list;
mod measured;
mod mel;
mod pages;
mod pauses;
mod piped;
mod prepare;
mod recording;
mod resample;
mod set;
mod stream;

#[cfg(test)]
mod tests;

pub use crate::ahead::{Ahead, AheadSettings};
pub use crate::images::{Draw, ListFormat, shuffled};
pub use crate::skipped::{Reason, Skipped};
pub use batch::{Ready, SoundBatch, ready, statistics_of, texts_of};
pub use cache::{CacheUse, FrameCache};
pub use decode::{SoundFormat, SoundInfo, SoundLimits, Wanted, decode_bytes, decode_file, sound_info};
pub use error::{SoundError, SoundProblem};
pub use frames::{Counted, Frames, Statistics, Timeline};
pub use joined::{JoinConfig, Joined};
pub use list::{SoundFiles, SoundList};
pub use measured::Measured;
pub use mel::{LogMel, MelExtractor, MelScale};
pub use pauses::{PauseSettings, pauses, pieces};
pub use prepare::{Augmentation, Normalisation, Preparation, Prepared, Preparer, at_speed};
pub use recording::{LEAST_RATE, MOST_RATE, Sound};
pub use resample::{Resampler, faster, resampled};
pub use set::{Mention, SoundExample, SoundSet, Transcript};
pub use stream::{Hearing, HeldSounds, SoundStream, SoundStreamSettings};
