//! What reads the source. A new encoder is a file here and a line in the list.

mod cnn;
mod features;
mod listener;
mod recurrent;
mod regions;
mod sound_transformer;
mod sounds;
mod transformer;
mod vit;

pub(crate) use cnn::CnnEncoder;
pub(crate) use features::Features;
pub(crate) use listener::ListenerEncoder;
pub(crate) use recurrent::RecurrentEncoder;
pub(crate) use sound_transformer::SoundTransformerEncoder;
pub(crate) use transformer::{TransformerEncoder, mean};
pub(crate) use vit::VitEncoder;

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use gatto_data::images::ImageBatch;
use gatto_data::sound::SoundBatch;
use gatto_nn::transformer::Stack;
use gatto_nn::{Embedding, Noise, Preparing};

/// The list of encoders.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a model has one")]
pub(crate) enum Encoder {
    /// Recurrent layers.
    Recurrent(RecurrentEncoder),
    /// Layers of self-attention.
    Transformer(TransformerEncoder),
    /// Convolutions over an image.
    Cnn(CnnEncoder),
    /// Layers of self-attention over the patches of an image.
    Vit(VitEncoder),
    /// Recurrent layers over the frames of a sound.
    Listener(ListenerEncoder),
    /// Layers of self-attention over a sound.
    SoundTransformer(SoundTransformerEncoder),
}

/// What an encoder is given to read.
#[allow(clippy::large_enum_variant, reason = "a batch has one")]
pub(crate) enum Input<'a> {
    /// Tokens.
    Tokens(Tokens),
    /// Images.
    Images(&'a ImageBatch),
    /// Sounds.
    Sound(&'a SoundBatch),
}

impl Encoder {
    /// The vectors of the tokens, the pixels of the regions, or the frames: [B, T, C]. What the encoder does not own, the decoder
    /// lends.
    pub(crate) fn embed(&self, source: &Input<'_>, lent: Lent<'_>, device: &Device) -> Tensor<3> {
        match (self, source) {
            (Self::Cnn(encoder), Input::Images(images)) => {
                regions::regions_of(images, encoder.stride, device)
            }
            (Self::Vit(encoder), Input::Images(images)) => regions::regions_of(images, encoder.patch, device),
            (Self::Listener(_) | Self::SoundTransformer(_), Input::Sound(sounds)) => {
                sounds::frames_of(sounds, device)
            }
            (_, Input::Tokens(tokens)) => match self.embedding().or(lent.embedding) {
                Some(embedding) => embedding.forward(tokens.ids.clone()),
                None => unreachable!("one side has token vectors"),
            },
            _ => unreachable!("{OTHER_KIND}"),
        }
    }

    /// Reads what [`Encoder::embed`] gave, or something in its place.
    pub(crate) fn read(
        &self,
        source: &Input<'_>,
        vectors: Tensor<3>,
        lent: Lent<'_>,
        noise: &mut Noise,
    ) -> Memory {
        match (self, source) {
            (Self::Recurrent(encoder), Input::Tokens(source)) => encoder.read(source, vectors, lent, noise),
            (Self::Transformer(encoder), Input::Tokens(source)) => encoder.read(source, vectors, lent, noise),
            (Self::Cnn(encoder), Input::Images(images)) => encoder.read(images, vectors, noise),
            (Self::Vit(encoder), Input::Images(images)) => encoder.read(images, vectors, noise),
            (Self::Listener(encoder), Input::Sound(sounds)) => encoder.read(sounds, vectors, noise),
            (Self::SoundTransformer(encoder), Input::Sound(sounds)) => encoder.read(sounds, vectors, noise),
            _ => unreachable!("{OTHER_KIND}"),
        }
    }

    /// Makes the weights ready for prediction.
    pub(crate) fn prepare(&mut self, how: Preparing<'_>) {
        match self {
            Self::Recurrent(encoder) => {
                encoder.network.iter_mut().for_each(|network| network.prepare(how));
            }
            Self::Transformer(encoder) => encoder.stack.iter_mut().for_each(|stack| stack.prepare(how)),
            Self::Cnn(encoder) => encoder.network.prepare(how),
            Self::Listener(encoder) => encoder.prepare(how),
            Self::SoundTransformer(encoder) => encoder.prepare(how),
            Self::Vit(encoder) => {
                encoder.projection.prepare(how);
                encoder.stack.prepare(how);
            }
        }
    }

    /// Its layers of self-attention, if it has any of its own.
    pub(crate) fn stack_mut(&mut self) -> Option<&mut Stack> {
        match self {
            Self::Transformer(encoder) => encoder.stack.as_mut(),
            Self::Vit(encoder) => Some(&mut encoder.stack),
            Self::SoundTransformer(encoder) => Some(&mut encoder.stack),
            Self::Recurrent(_) | Self::Cnn(_) | Self::Listener(_) => None,
        }
    }

    /// Its own token vectors.
    pub(crate) fn embedding(&self) -> Option<&Embedding> {
        match self {
            Self::Recurrent(encoder) => encoder.embedding.as_ref(),
            Self::Transformer(encoder) => encoder.embedding.as_ref(),
            Self::Cnn(_) | Self::Vit(_) | Self::Listener(_) | Self::SoundTransformer(_) => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn embedding_mut(&mut self) -> Option<&mut Embedding> {
        match self {
            Self::Recurrent(encoder) => encoder.embedding.as_mut(),
            Self::Transformer(encoder) => encoder.embedding.as_mut(),
            Self::Cnn(_) | Self::Vit(_) | Self::Listener(_) | Self::SoundTransformer(_) => None,
        }
    }
}

const OTHER_KIND: &str =
    "tokens are for encoders of tokens, images for encoders of images, and sounds for those of sounds";
