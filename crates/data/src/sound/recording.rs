//! Sound as numbers: one channel, any rate.

use std::path::Path;

use crate::{WriteError, files};

/// The fewest samples a second that are accepted anywhere.
pub const LEAST_RATE: u32 = 1_000;
/// The most samples a second that are accepted anywhere.
pub const MOST_RATE: u32 = 768_000;

/// One channel of sound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sound {
    /// What a microphone would give, from -1 to 1.
    pub samples: Vec<f32>,
    /// Samples a second.
    pub rate: u32,
}

/// Below this, nothing is heard: 80 decibels under the loudest that a file can hold.
const SILENCE: f32 = 1e-4;

impl Sound {
    /// How long it is.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate.max(1))
    }

    /// The root of the mean square of its samples; 0 if there are none.
    pub fn loudness(&self) -> f32 {
        let squares: f64 = self.samples.iter().map(|sample| f64::from(*sample) * f64::from(*sample)).sum();
        (squares / self.samples.len().max(1) as f64).sqrt() as f32
    }

    /// Whether no sample is far enough from zero to be heard.
    pub fn is_silent(&self) -> bool {
        self.samples.iter().all(|sample| sample.abs() < SILENCE)
    }

    /// A WAV file of 16 bits. What is beyond -1 and 1 is cut off.
    pub fn wav(&self) -> Vec<u8> {
        let values = self.samples.iter().flat_map(|sample| {
            let value = (f64::from(*sample) * 32768.0).round().clamp(-32768.0, 32767.0);
            (value as i16).to_le_bytes()
        });
        let mut bytes = header(1, self.rate, 2, 1, self.samples.len());
        bytes.extend(values);
        bytes
    }

    /// Writes a WAV file of 16 bits, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_wav(&self, path: &Path) -> Result<(), WriteError> {
        files::replace(path, |out| out.write_all(&self.wav()))
    }
}

/// The header of a WAV file: `kind` is 1 for whole numbers and 3 for floating point.
pub(super) fn header(kind: u16, rate: u32, width: u16, channels: u16, frames: usize) -> Vec<u8> {
    let data = u32::try_from(frames * usize::from(width * channels)).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(44);
    bytes.extend(b"RIFF");
    bytes.extend(data.saturating_add(36).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0");
    bytes.extend(kind.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * u32::from(width * channels)).to_le_bytes());
    bytes.extend((width * channels).to_le_bytes());
    bytes.extend((width * 8).to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(data.to_le_bytes());
    bytes
}
