//! What reads the source. A new encoder is a file here and a line in the list.

mod recurrent;

pub(crate) use recurrent::RecurrentEncoder;

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens};
use burn::module::Module;
use burn::tensor::Tensor;
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
        self.read(source, self.embed(source, lent), lent, noise)
    }

    /// The vectors of the tokens: [B, T, C].
    pub(crate) fn embed(&self, source: &Tokens, lent: Lent<'_>) -> Tensor<3> {
        match self {
            Self::Recurrent(encoder) => encoder.embed(source, lent),
        }
    }

    /// Reads vectors [B, T, C] in place of those of the tokens.
    pub(crate) fn read(
        &self,
        source: &Tokens,
        vectors: Tensor<3>,
        lent: Lent<'_>,
        noise: &mut Noise,
    ) -> Memory {
        match self {
            Self::Recurrent(encoder) => encoder.read(source, vectors, lent, noise),
        }
    }
}
