//! The choices that make a model, one per axis, as they stand in a configuration file.
//!
//! ```toml
//! [encoder.lstm]            # rnn lstm gru
//! width = 512
//!
//! [decoder.lstm]
//! width = 512
//! bridge = "first-state"    # first-state every-step both attention-only
//! ```

mod attention;
mod check;
mod read;

pub use attention::{AlignedKind, AttentionConfig, BaselineKind, FocusKind, QueryKind};
pub use check::{Complaint, Plan, Reader};
pub use read::{ConfigError, read, read_text};

use gatto_nn::recurrent::Cell;
use serde::{Deserialize, Serialize};

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A source sequence becomes a target sequence.
    Translate,
    /// A sequence is continued; there is no source.
    LanguageModel,
}

/// The axes of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// What the model is for.
    pub task: Task,
    /// What reads the source; none for a language model and for a single network.
    pub encoder: Option<EncoderConfig>,
    /// What writes the target.
    pub decoder: Option<DecoderConfig>,
    /// How the decoder looks back at the source.
    pub attention: Option<AttentionConfig>,
    /// One recurrent network for both sides, in place of encoder and decoder.
    pub single: Option<SingleConfig>,
    /// Which parameters do double duty.
    pub sharing: SharingConfig,
}

/// `[encoder.…]`: what reads the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderConfig {
    /// Plain recurrent layers.
    Rnn(RecurrentEncoderConfig),
    /// LSTM layers.
    Lstm(RecurrentEncoderConfig),
    /// GRU layers.
    Gru(RecurrentEncoderConfig),
}

/// The settings of a recurrent encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecurrentEncoderConfig {
    /// Width of a layer in one direction.
    pub width: usize,
    /// Width of a token's vector; the layer's if not given.
    pub embedding: Option<usize>,
    /// Number of layers.
    pub layers: usize,
    /// Whether each layer reads in both directions.
    pub bidirectional: bool,
    /// Whether the source is read from its end to its start.
    pub reversed: bool,
    /// Dropout on embeddings and between layers.
    pub dropout: f64,
}

impl Default for RecurrentEncoderConfig {
    fn default() -> Self {
        Self { width: 256, embedding: None, layers: 1, bidirectional: false, reversed: false, dropout: 0.0 }
    }
}

/// `[decoder.…]`: what writes the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoderConfig {
    /// Plain recurrent layers.
    Rnn(RecurrentDecoderConfig),
    /// LSTM layers.
    Lstm(RecurrentDecoderConfig),
    /// GRU layers.
    Gru(RecurrentDecoderConfig),
}

/// The settings of a recurrent decoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecurrentDecoderConfig {
    /// Width of a layer.
    pub width: usize,
    /// Width of a token's vector; the layer's if not given.
    pub embedding: Option<usize>,
    /// Number of layers.
    pub layers: usize,
    /// How the decoder uses the context; `first-state` if not given.
    pub bridge: Option<BridgeKind>,
    /// Dropout on embeddings, between layers and before the output.
    pub dropout: f64,
}

impl Default for RecurrentDecoderConfig {
    fn default() -> Self {
        Self { width: 256, embedding: None, layers: 1, bridge: None, dropout: 0.0 }
    }
}

/// How the context c, all that is left of the source, enters the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BridgeKind {
    /// As its first state: s₀ = c (Sutskever et al., 2014).
    FirstState,
    /// Beside every input: s_i = f(c, s_{i−1}, y_{i−1}) (Cho et al., 2014).
    EveryStep,
    /// As both.
    Both,
    /// Not at all: the decoder starts from zeros and knows the source by attention alone.
    AttentionOnly,
}

/// `[single.…]`: one recurrent network that reads source, separator and target as one sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SingleConfig {
    /// Plain recurrent layers.
    Rnn(SingleRecurrentConfig),
    /// LSTM layers.
    Lstm(SingleRecurrentConfig),
    /// GRU layers.
    Gru(SingleRecurrentConfig),
}

/// The settings of a single recurrent network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SingleRecurrentConfig {
    /// Width of a layer.
    pub width: usize,
    /// Width of a token's vector; the layer's if not given.
    pub embedding: Option<usize>,
    /// Number of layers.
    pub layers: usize,
    /// Dropout on embeddings, between layers and before the output.
    pub dropout: f64,
}

impl Default for SingleRecurrentConfig {
    fn default() -> Self {
        let RecurrentDecoderConfig { width, embedding, layers, dropout, .. } = Default::default();
        Self { width, embedding, layers, dropout }
    }
}

/// `[sharing]`: which parameters do double duty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SharingConfig {
    /// The recurrent layers of encoder and decoder are the same.
    pub encoder_decoder: bool,
    /// Source and target tokens have the same vectors; needs one vocabulary for both.
    pub embeddings: bool,
    /// The output layer's weights are the target tokens' vectors.
    pub output: bool,
}

impl EncoderConfig {
    /// The cell, its name in the file, and its settings.
    pub fn parts(&self) -> (Cell, &'static str, &RecurrentEncoderConfig) {
        match self {
            Self::Rnn(settings) => (Cell::Rnn, "rnn", settings),
            Self::Lstm(settings) => (Cell::Lstm, "lstm", settings),
            Self::Gru(settings) => (Cell::Gru, "gru", settings),
        }
    }
}

impl DecoderConfig {
    /// The cell, its name in the file, and its settings.
    pub fn parts(&self) -> (Cell, &'static str, &RecurrentDecoderConfig) {
        match self {
            Self::Rnn(settings) => (Cell::Rnn, "rnn", settings),
            Self::Lstm(settings) => (Cell::Lstm, "lstm", settings),
            Self::Gru(settings) => (Cell::Gru, "gru", settings),
        }
    }
}

impl SingleConfig {
    /// The network as the decoder that it is, with the cell's name in the file.
    pub fn as_decoder(&self) -> (DecoderConfig, &'static str) {
        let settings = |s: &SingleRecurrentConfig| RecurrentDecoderConfig {
            width: s.width,
            embedding: s.embedding,
            layers: s.layers,
            bridge: Some(BridgeKind::FirstState),
            dropout: s.dropout,
        };
        match self {
            Self::Rnn(s) => (DecoderConfig::Rnn(settings(s)), "rnn"),
            Self::Lstm(s) => (DecoderConfig::Lstm(settings(s)), "lstm"),
            Self::Gru(s) => (DecoderConfig::Gru(settings(s)), "gru"),
        }
    }
}
