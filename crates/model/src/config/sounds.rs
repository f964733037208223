//! `[encoder.listener]`: what reads a sound. How it becomes frames, `[sound]` says.
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
//! ```

use super::check::{DEEPEST, WIDEST, rate, within};
use super::{Complaint, MOST_PARAMETERS};
use gatto_nn::recurrent::{Cell, PyramidConfig};
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
        Self { cell: CellKind::Lstm, width: 256, layers: 3, pyramid: 2, bidirectional: true, dropout: 0.0 }
    }
}

/// The most halvings: a state then stands for 256 frames.
const MOST_HALVINGS: usize = 8;

impl ListenerConfig {
    /// The layers for frames of so many values.
    pub(crate) fn pyramid(&self, bands: usize) -> PyramidConfig {
        PyramidConfig {
            cell: self.cell.cell(),
            input: bands,
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
        1 << self.pyramid.min(MOST_HALVINGS)
    }

    /// Refuses what cannot be built to read frames of so many values.
    pub(super) fn check(&self, bands: usize) -> Result<(), Complaint> {
        let key = |name: &str| format!("encoder.listener.{name}");
        within(key("width"), self.width, WIDEST)?;
        within(key("layers"), self.layers, DEEPEST)?;
        rate(key("dropout"), self.dropout)?;
        let most = self.layers.min(MOST_HALVINGS);
        if self.pyramid > most {
            let message = format!(
                "is {}, and {} layers can halve the states {most} times; write a number from 0 to {most}",
                self.pyramid, self.layers
            );
            return Err(Complaint::new(key("pyramid"), message));
        }
        let [width, states, layers, bands] =
            [self.width, self.states(), self.layers, bands].map(|size| size as u64);
        let gates = states * self.cell.cell().gates() as u64; // of both directions
        let count = gates * (2 * bands + layers * (2 * states + width));
        if count > MOST_PARAMETERS {
            let message = format!(
                "makes layers of {count} parameters, and at most {MOST_PARAMETERS} can be built; write a smaller \
                 width, or fewer layers"
            );
            return Err(Complaint::new(key("width"), message));
        }
        Ok(())
    }
}
