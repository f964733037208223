//! The settings of recurrent encoders, decoders and single networks.

use super::BridgeKind;
use serde::{Deserialize, Serialize};

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
    /// Width of tanh(W s + b), from which tokens are scored; the scores read the state itself if not given.
    pub output: Option<usize>,
    /// Dropout on embeddings, between layers and before the output.
    pub dropout: f64,
}

impl Default for RecurrentDecoderConfig {
    fn default() -> Self {
        Self { width: 256, embedding: None, layers: 1, bridge: None, output: None, dropout: 0.0 }
    }
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
    /// Width of tanh(W s + b), from which tokens are scored; the scores read the state itself if not given.
    pub output: Option<usize>,
    /// Dropout on embeddings, between layers and before the output.
    pub dropout: f64,
}

impl Default for SingleRecurrentConfig {
    fn default() -> Self {
        let RecurrentDecoderConfig { width, embedding, layers, output, dropout, .. } = Default::default();
        Self { width, embedding, layers, output, dropout }
    }
}
