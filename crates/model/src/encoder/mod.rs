//! What reads the source. A new encoder is a file here and a line in the list.

mod features;
mod recurrent;
mod transformer;

pub(crate) use features::Features;
pub(crate) use recurrent::RecurrentEncoder;
pub(crate) use transformer::{TransformerEncoder, mean};

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens};
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_nn::{Embedding, Noise, Preparing};

/// The list of encoders.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a model has one")]
pub(crate) enum Encoder {
    /// Recurrent layers.
    Recurrent(RecurrentEncoder),
    /// Layers of self-attention.
    Transformer(TransformerEncoder),
}

impl Encoder {
    /// The vectors of the tokens: [B, T, C]. What the encoder does not own, the decoder lends.
    pub(crate) fn embed(&self, source: &Tokens, lent: Lent<'_>) -> Tensor<3> {
        match self.embedding().or(lent.embedding) {
            Some(embedding) => embedding.forward(source.ids.clone()),
            None => unreachable!("one side has token vectors"),
        }
    }

    /// Reads vectors [B, T, C] of tokens.
    pub(crate) fn read(
        &self,
        source: &Tokens,
        vectors: Tensor<3>,
        lent: Lent<'_>,
        noise: &mut Noise,
    ) -> Memory {
        match self {
            Self::Recurrent(encoder) => encoder.read(source, vectors, lent, noise),
            Self::Transformer(encoder) => encoder.read(source, vectors, lent, noise),
        }
    }

    /// Makes the weights ready for prediction.
    pub(crate) fn prepare(&mut self, how: Preparing<'_>) {
        match self {
            Self::Recurrent(encoder) => {
                encoder.network.iter_mut().for_each(|network| network.prepare(how));
            }
            Self::Transformer(encoder) => encoder.stack.iter_mut().for_each(|stack| stack.prepare(how)),
        }
    }

    /// Its own token vectors.
    pub(crate) fn embedding(&self) -> Option<&Embedding> {
        match self {
            Self::Recurrent(encoder) => encoder.embedding.as_ref(),
            Self::Transformer(encoder) => encoder.embedding.as_ref(),
        }
    }
}
