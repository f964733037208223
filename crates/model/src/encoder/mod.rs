//! What reads the source. A new encoder is a file here and a line in the list.

mod recurrent;

pub(crate) use recurrent::RecurrentEncoder;

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens};
use burn::module::Module;
use gatto_nn::Noise;

/// The list of encoders.
#[derive(Module, Debug)]
pub(crate) enum Encoder {
    /// Recurrent layers.
    Recurrent(RecurrentEncoder),
}

impl Encoder {
    /// Reads a batch of sources. What the encoder does not own, the decoder lends.
    pub(crate) fn encode(&self, source: &Tokens, lent: Lent<'_>, noise: &mut Noise) -> Memory {
        match self {
            Self::Recurrent(encoder) => encoder.encode(source, lent, noise),
        }
    }
}
