//! `[encoder.listener]`, `[encoder.sound-transformer]`: what reads a sound. How it becomes frames, `[sound]` says.
//!
//! ```toml
//! [sound]
//! rate = 16_000
//!
//! [encoder.listener]
//! cell = "lstm"             # rnn lstm gru
//! width = 256               # of a layer in one direction
//! layers = 3
//! pyramid = 2               # the upper two layers read two states of the layer below as one
//!
//! # or
//! [encoder.sound-transformer]
//! convolutions = [32, 32]   # each halves the number of frames
//! width = 256
//! layers = 6
//! ```

use super::check::{DEEPEST, WIDEST, rate, within};
use super::{Complaint, MOST_PARAMETERS, TransformerConfig};
use gatto_data::sound::Preparation;
use gatto_nn::Activation;
use gatto_nn::hearing::SoundFront;
use gatto_nn::positions::PositionKind;
use gatto_nn::recurrent::{Cell, PyramidConfig};
use gatto_nn::transformer::NormOrder;
use serde::{Deserialize, Serialize};

/// The kind of cell, as a word of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// The plain cell.
    Rnn,
    /// Long short-term memory.
    Lstm,
    /// The gated recurrent unit.
    Gru,
}

impl CellKind {
    /// The cell.
    pub fn cell(self) -> Cell {
        match self {
            Self::Rnn => Cell::Rnn,
            Self::Lstm => Cell::Lstm,
            Self::Gru => Cell::Gru,
        }
    }
}

/// Recurrent layers over the frames of a sound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListenerConfig {
    /// Channels of each convolution that stands before the layers and halves the frames and the bands; none if empty.
    pub convolutions: Vec<usize>,
    /// Kind of cell.
    pub cell: CellKind,
    /// Width of a layer in one direction.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// How many of the layers, counted from the last, read two neighbours as one: each halves the number of states.
    pub pyramid: usize,
    /// Whether each layer reads in both directions.
    pub bidirectional: bool,
    /// Dropout between layers.
    pub dropout: f64,
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self {
            convolutions: Vec::new(),
            cell: CellKind::Lstm,
            width: 256,
            layers: 3,
            pyramid: 2,
            bidirectional: true,
            dropout: 0.0,
        }
    }
}

/// The most halvings: a state then stands for 256 frames.
const MOST_HALVINGS: usize = 8;
/// The most convolutions.
const MOST_CONVOLUTIONS: usize = 4;

impl ListenerConfig {
    /// The layers for such sounds.
    pub(crate) fn pyramid(&self, sound: &Preparation) -> PyramidConfig {
        PyramidConfig {
            cell: self.cell.cell(),
            input: heard(sound, &self.convolutions).unwrap_or(1),
            width: self.width,
            layers: self.layers,
            halvings: self.pyramid,
            bidirectional: self.bidirectional,
            dropout: self.dropout,
        }
    }

    /// Width of the states that it leaves.
    pub fn states(&self) -> usize {
        self.width * (1 + usize::from(self.bidirectional))
    }

    /// How many frames a state stands for.
    pub fn frames_per_state(&self) -> usize {
        1 << (self.convolutions.len() + self.pyramid).min(MOST_HALVINGS)
    }

    /// Refuses what cannot be built to read such sounds.
    pub(super) fn check(&self, sound: &Preparation) -> Result<(), Complaint> {
        let key = |name: &str| format!("encoder.listener.{name}");
        let heard = check_convolutions(key("convolutions"), &self.convolutions, sound)?;
        within(key("width"), self.width, WIDEST)?;
        within(key("layers"), self.layers, DEEPEST)?;
        rate(key("dropout"), self.dropout)?;
        let most = self.layers.min(MOST_HALVINGS - self.convolutions.len());
        if self.pyramid > most {
            let message = format!(
                "is {}, and here {} layers can halve the states {most} times; write a number from 0 to {most}",
                self.pyramid, self.layers
            );
            return Err(Complaint::new(key("pyramid"), message));
        }
        let [width, states, layers, heard] =
            [self.width, self.states(), self.layers, heard].map(|size| size as u64);
        let gates = states * self.cell.cell().gates() as u64; // of both directions
        too_many(key("width"), gates * (2 * heard + layers * (2 * states + width)))
    }
}

/// Convolutions over the frames of a sound, and layers of self-attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SoundTransformerConfig {
    /// Channels of each convolution; each halves the frames and the bands.
    pub convolutions: Vec<usize>,
    /// Width of a layer.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of heads; the width is divided among them.
    pub heads: usize,
    /// Width inside the feed-forward blocks; four times the layer's if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed_forward: Option<usize>,
    /// Between the two maps of a feed-forward block.
    pub activation: Activation,
    /// Where the norm of a sublayer stands.
    pub norm: NormOrder,
    /// How states know when they are; all but `learned`, which ends somewhere.
    pub positions: PositionKind,
    /// Dropout on what layers read and on what every sublayer adds.
    pub dropout: f64,
    /// Dropout on attention weights.
    pub attention_dropout: f64,
}

impl Default for SoundTransformerConfig {
    fn default() -> Self {
        Self {
            convolutions: vec![32, 32],
            width: 256,
            layers: 6,
            heads: 4,
            feed_forward: None,
            activation: Activation::Relu,
            norm: NormOrder::Pre,
            positions: PositionKind::Sinusoidal,
            dropout: 0.0,
            attention_dropout: 0.0,
        }
    }
}

impl SoundTransformerConfig {
    /// Its layers of self-attention.
    pub(crate) fn layers(&self) -> TransformerConfig {
        TransformerConfig {
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            feed_forward: self.feed_forward,
            activation: self.activation,
            norm: self.norm,
            positions: self.positions,
            dropout: self.dropout,
            attention_dropout: self.attention_dropout,
            ..TransformerConfig::default()
        }
    }

    /// How many frames a state stands for.
    pub fn frames_per_state(&self) -> usize {
        1 << self.convolutions.len().min(MOST_CONVOLUTIONS)
    }

    /// Refuses what cannot be built to read such sounds.
    pub(super) fn check(&self, sound: &Preparation) -> Result<(), Complaint> {
        let at = "encoder.sound-transformer";
        let heard = check_convolutions(format!("{at}.convolutions"), &self.convolutions, sound)?;
        self.layers().check(at)?;
        if self.positions == PositionKind::Learned {
            let message =
                "is \"learned\", which ends somewhere, and sounds are of any length; write \"sinusoidal\"";
            return Err(Complaint::new(format!("{at}.positions"), message));
        }
        too_many(format!("{at}.width"), (heard as u64).saturating_mul(self.width as u64))
    }
}

/// The width of what convolutions make of frames; none if there are too few bands.
pub(crate) fn heard(sound: &Preparation, convolutions: &[usize]) -> Option<usize> {
    match convolutions {
        [] => Some(sound.width()),
        _ => SoundFront::width(sound.features.bands, convolutions),
    }
}

/// Refuses convolutions that cannot be, and gives the width of what they leave.
fn check_convolutions(key: String, channels: &[usize], sound: &Preparation) -> Result<usize, Complaint> {
    if channels.len() > MOST_CONVOLUTIONS {
        let message =
            format!("has {} entries; write at most {MOST_CONVOLUTIONS}, such as [32, 32]", channels.len());
        return Err(Complaint::new(key, message));
    }
    for &channels in channels {
        within(key.clone(), channels, WIDEST)?;
    }
    let count = channels.windows(2).map(|pair| 16 * pair[0] as u64 * pair[1] as u64).sum();
    too_many(key.clone(), count)?;
    heard(sound, channels).ok_or_else(|| {
        let message = format!(
            "halves the bands {} times, and `sound.features.bands` is {}; write fewer convolutions, or more bands",
            channels.len(),
            sound.features.bands
        );
        Complaint::new(key, message)
    })
}

fn too_many(key: String, count: u64) -> Result<(), Complaint> {
    match count > MOST_PARAMETERS {
        true => {
            let message =
                format!("makes {count} parameters, and at most {MOST_PARAMETERS} can be built; write less");
            Err(Complaint::new(key, message))
        }
        false => Ok(()),
    }
}
