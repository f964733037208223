//! When in a sound a model listened, under the spectrogram of the sound.
//!
//! A [`Spectrogram`] is plain data: how loud which bands of pitch are over time ([`Frames`]), and for every token that was
//! written one weight for each place of a [`Timeline`] ([`Heard`]). It is drawn
//! - as a picture ([`svg`], [`png`]): the spectrogram, and below it a row for every token, on the same axis of time;
//! - in the terminal ([`terminal`]), in colour or with signs alone;
//! - as a page that works offline ([`html`]): the sound plays, and a cursor follows what was written.
//!
//! ```
//! use gatto_data::sound::{Frames, Timeline};
//! use gatto_inspect::spectrogram::{Heard, Spectrogram, svg};
//!
//! let frames = Frames { values: vec![0.5; 8 * 4], bands: 4, hop: 0.01 };
//! let timeline = frames.timeline().joined(4);
//! let tokens = vec![Heard::new("c4", vec![0.9, 0.1]), Heard::new("d4", vec![0.2, 0.8])];
//! let picture = Spectrogram::new("clip.wav: c4 d4", frames, (0.0, 4000.0), timeline, tokens)?;
//! assert!(svg(&picture).starts_with("<svg"));
//! # Ok::<(), gatto_inspect::spectrogram::SpectrogramError>(())
//! ```

mod html;
mod picture;
mod terminal;

#[cfg(test)]
mod tests;

pub use crate::raster::PngError;
pub use crate::terminal::Colours;
pub use html::html;
pub use picture::{png, svg};
pub use terminal::terminal;

use gatto_data::images::Image;
use gatto_data::sound::{Frames, Timeline};

use crate::heatmap::Scale;
use crate::heatmap::colour::{Ground, blended};

/// More tokens than this are refused.
pub const MOST_TOKENS: usize = 512;
/// More weights than this, over all tokens, are refused: a page holds each of them as text.
pub const MOST_WEIGHTS: usize = 1 << 20;
/// More values of frames than this are refused.
pub const MOST_VALUES: usize = 1 << 24;
/// What is this much quieter than the loudest is as dark as silence: 70 decibels, as a logarithm of power.
const RANGE: f32 = 16.0;
/// A picture of a spectrogram has at most so many columns: neighbours are put together.
const MOST_COLUMNS: usize = 1600;

/// Why something is not a spectrogram.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpectrogramError {
    /// No frame, no token, no place.
    #[error("a spectrogram without {0}")]
    Empty(&'static str),
    /// More of something than can be drawn.
    #[error("a spectrogram of {found} {what}; at most {most} can be drawn")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// Weights that are not one for each place.
    #[error("`{token}` has {found} weights for {places} places")]
    Weights {
        /// The token.
        token: String,
        /// How many there are.
        found: usize,
        /// The places of the timeline.
        places: usize,
    },
    /// A value that is no number, or a weight below zero.
    #[error("{what} is {value}, which cannot be drawn")]
    Value {
        /// What it belongs to.
        what: String,
        /// The value.
        value: f64,
    },
}

/// When a model listened for one token.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The token as it is shown.
    pub token: String,
    /// A weight for each place: finite and not below zero.
    pub weights: Vec<f32>,
    /// How probable the token was, if that is known.
    pub probability: Option<f32>,
    /// From which second to which it really sounds, if that is known.
    pub known: Option<(f64, f64)>,
}

impl Heard {
    /// A token of which nothing else is known.
    pub fn new(token: impl Into<String>, weights: Vec<f32>) -> Self {
        Self { token: token.into(), weights, probability: None, known: None }
    }

    fn most(&self) -> f32 {
        self.weights.iter().copied().fold(0.0, f32::max)
    }
}

/// A sound, and when a model listened to it. Sizes agree and values are finite: it can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrogram {
    title: String,
    frames: Frames,
    /// The lowest and the highest pitch, in Hz.
    pitches: (f64, f64),
    timeline: Timeline,
    tokens: Vec<Heard>,
    /// The sound as a WAV file, for a page.
    sound: Option<Vec<u8>>,
}

impl Spectrogram {
    /// A spectrogram of logarithms of power, of pitches from one frequency to another, and what was heard.
    ///
    /// # Errors
    /// If something is missing, too large, of the wrong size, or no number.
    pub fn new(
        title: impl Into<String>,
        frames: Frames,
        pitches: (f64, f64),
        timeline: Timeline,
        tokens: Vec<Heard>,
    ) -> Result<Self, SpectrogramError> {
        for (what, count) in
            [("a frame", frames.len()), ("a place", timeline.places), ("a token", tokens.len())]
        {
            if count == 0 {
                return Err(SpectrogramError::Empty(what));
            }
        }
        let weights = timeline.places.saturating_mul(tokens.len());
        for (what, found, most) in [
            ("tokens", tokens.len(), MOST_TOKENS),
            ("weights", weights, MOST_WEIGHTS),
            ("values", frames.values.len(), MOST_VALUES),
        ] {
            if found > most {
                return Err(SpectrogramError::TooLarge { what, found, most });
            }
        }
        let value = |what: String, value: f64| Err(SpectrogramError::Value { what, value });
        for token in &tokens {
            if token.weights.len() != timeline.places {
                let (found, places) = (token.weights.len(), timeline.places);
                return Err(SpectrogramError::Weights { token: token.token.clone(), found, places });
            }
            let bad = |weight: &&f32| !(weight.is_finite() && **weight >= 0.0);
            if let Some(weight) = token.weights.iter().find(bad) {
                return value(format!("a weight of `{}`", token.token), f64::from(*weight));
            }
        }
        if let Some(found) = frames.values.iter().find(|value| !value.is_finite()) {
            return value("a value of the spectrogram".to_owned(), f64::from(*found));
        }
        let times = [frames.hop, timeline.step, timeline.start, pitches.0, pitches.1];
        match times.into_iter().find(|time| !time.is_finite()) {
            Some(found) => value("a time or a pitch".to_owned(), found),
            None if !(frames.hop > 0.0 && timeline.step > 0.0) => {
                value("a step in time".to_owned(), frames.hop.min(timeline.step))
            }
            None => Ok(Self { title: title.into(), frames, pitches, timeline, tokens, sound: None }),
        }
    }

    /// The same with its sound, as a WAV file that a page plays.
    #[must_use]
    pub fn with_sound(self, wav: Vec<u8>) -> Self {
        Self { sound: Some(wav), ..self }
    }

    /// What it is called.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the axis of time begins, and how many seconds it has.
    fn span(&self) -> (f64, f64) {
        let frames = self.frames.len() as f64 * self.frames.hop;
        (self.timeline.start, frames.max(self.timeline.places as f64 * self.timeline.step))
    }

    /// How loud each of so many columns and rows is, from 0 to 1, row after row, the highest pitch first: the loudest of
    /// what falls together.
    fn loudness(&self, columns: usize, rows: usize) -> Vec<f64> {
        let most = self.frames.values.iter().copied().fold(f32::MIN, f32::max);
        let (count, bands) = (self.frames.len(), self.frames.bands);
        let range = |at: usize, parts: usize, count: usize| {
            let first = (at * count / parts).min(count - 1);
            first..((at + 1) * count / parts).clamp(first + 1, count)
        };
        let mut found = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            let heard = range(rows - 1 - row, rows, bands);
            for column in 0..columns {
                let frames = range(column, columns, count);
                let loudest = frames.flat_map(|frame| &self.frames.frame(frame)[heard.clone()]).copied();
                let loudest = loudest.fold(f32::MIN, f32::max);
                found.push(f64::from(1.0 - (most - loudest).min(RANGE) / RANGE));
            }
        }
        found
    }

    /// The spectrogram as an image, a pixel for each value.
    fn image(&self) -> Option<Image> {
        let (columns, rows) = (self.frames.len().min(MOST_COLUMNS), self.frames.bands);
        let colour = |part: f64| blended(Scale::Largest, part, Ground::Dark);
        let bytes = self.loudness(columns, rows).into_iter().flat_map(colour).collect();
        Image::new(rows, columns, 3, bytes).ok()
    }
}
