//! `[features.lstm]`: a bidirectional language model whose layers are mixed into features of another
//! task (Peters et al., 2018).
//!
//! ```toml
//! [features.lstm]
//! width = 256               # those of the language model
//! layers = 2
//!
//! [[init]]
//! from = "runs/bilm"
//! part = "encoder"
//! into = "features"
//! ```

use super::RecurrentEncoderConfig;
use gatto_nn::recurrent::Cell;
use serde::{Deserialize, Serialize};

/// The language model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeaturesConfig {
    /// Plain recurrent layers.
    Rnn(RecurrentEncoderConfig),
    /// LSTM layers.
    Lstm(RecurrentEncoderConfig),
    /// GRU layers.
    Gru(RecurrentEncoderConfig),
}

impl FeaturesConfig {
    /// Its name in the file, its cell, and its settings.
    pub fn parts(&self) -> (&'static str, Cell, &RecurrentEncoderConfig) {
        match self {
            Self::Rnn(settings) => ("rnn", Cell::Rnn, settings),
            Self::Lstm(settings) => ("lstm", Cell::Lstm, settings),
            Self::Gru(settings) => ("gru", Cell::Gru, settings),
        }
    }

    /// Width of the features.
    pub fn width(&self) -> usize {
        2 * self.parts().2.width
    }
}
