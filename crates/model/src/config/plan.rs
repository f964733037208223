//! What is to be built, and what follows from it.

use super::{
    AttentionConfig, CtcConfig, DecoderConfig, EncoderConfig, FeaturesConfig, HeadConfig, Kind,
    SharingConfig, Task,
};
use gatto_data::images::{Grid, Preparation};
use gatto_data::sound;
use gatto_nn::recurrent::Cell;

/// The most values of states, and of what heads see, that are kept at once: 1 GiB of them.
const MOST_SEEN: usize = 1 << 28;

/// What is to be built: a configuration that has been found to make sense.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What reads the source.
    pub reader: Reader,
    /// What gives the answer.
    pub writer: Writer,
    /// How the decoder looks back at the source.
    pub attention: Option<AttentionConfig>,
    /// Which parameters do double duty.
    pub sharing: SharingConfig,
    /// A language model whose states stand beside the token vectors.
    pub features: Option<FeaturesConfig>,
    /// How images become what the encoder reads, if it reads images.
    pub images: Option<Preparation>,
    /// How sounds become what the encoder reads, if it reads sounds.
    pub sound: Option<sound::Preparation>,
    /// How the encoder learns to tell the text by itself, if it does.
    pub ctc: Option<CtcConfig>,
}

/// What reads the source.
#[derive(Clone, Debug, PartialEq)]
pub enum Reader {
    /// An encoder.
    Encoder(EncoderConfig),
    /// The decoder itself, up to the separator.
    Itself,
    /// Nothing: there is no source.
    Nobody,
}

/// What gives the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Writer {
    /// A decoder, token by token.
    Decoder(DecoderConfig),
    /// A head, from the encoder's states.
    Head(Task, HeadConfig),
}

impl Plan {
    /// The decoder, if there is one.
    pub fn decoder(&self) -> Option<&DecoderConfig> {
        match &self.writer {
            Writer::Decoder(decoder) => Some(decoder),
            Writer::Head(..) => None,
        }
    }

    /// The encoder, if there is one.
    pub fn encoder(&self) -> Option<&EncoderConfig> {
        match &self.reader {
            Reader::Encoder(encoder) => Some(encoder),
            _ => None,
        }
    }

    /// The regions of an image that the encoder leaves a state for, if it reads images.
    pub fn grid(&self) -> Option<Grid> {
        let (images, region) = (self.images.as_ref()?, self.encoder()?.region()?);
        Grid::of_patches(images.height, images.width, region)
    }

    /// The most images that are read together, where it is images that are read: their states, and what each head of a
    /// Vision Transformer sees, have to be in memory.
    pub fn most_images(&self) -> usize {
        let Some((encoder, grid)) = self.encoder().zip(self.grid()) else { return usize::MAX };
        let regions = grid.len() + 1;
        let seen = match encoder {
            EncoderConfig::Vit(settings) => {
                settings.layers.saturating_mul(settings.heads).saturating_mul(regions).saturating_mul(regions)
            }
            _ => 0,
        };
        let states = regions.saturating_mul(encoder.states()).saturating_mul(8);
        (MOST_SEEN / seen.saturating_add(states).max(1)).max(1)
    }

    /// How many frames of a sound a state of the encoder stands for, if it reads sounds.
    pub fn frames_per_state(&self) -> Option<usize> {
        self.encoder().and_then(EncoderConfig::frames_per_state)
    }

    /// The most frames of a sound: with layers of self-attention, what every head sees has to be in memory.
    pub fn most_frames(&self) -> usize {
        const MOST_FRAMES: usize = 60_000; // ten minutes, at a hundred a second
        let Some(EncoderConfig::SoundTransformer(settings)) = self.encoder() else { return MOST_FRAMES };
        let states = (MOST_SEEN / settings.layers.saturating_mul(settings.heads).max(1)).isqrt();
        states.saturating_mul(settings.frames_per_state()).min(MOST_FRAMES)
    }

    /// The most sounds of so many frames that are read together.
    pub fn most_sounds(&self, frames: usize) -> usize {
        let Some(EncoderConfig::SoundTransformer(settings)) = self.encoder() else { return usize::MAX };
        let states = frames.div_ceil(settings.frames_per_state()).max(1);
        let seen =
            settings.layers.saturating_mul(settings.heads).saturating_mul(states).saturating_mul(states);
        (MOST_SEEN / seen.max(1)).max(1)
    }

    /// What it reads, in a word.
    pub fn sources(&self) -> &'static str {
        match (self.images.is_some(), self.sound.is_some()) {
            (true, _) => "images",
            (_, true) => "sounds",
            _ => "texts",
        }
    }

    /// Whether it reads or writes text; else images get labels.
    pub fn has_texts(&self) -> bool {
        self.images.is_none() || self.decoder().is_some()
    }

    /// Whether the encoder's directions are language models of their own.
    pub(crate) fn is_bidirectional_language_model(&self) -> bool {
        matches!(self.writer, Writer::Head(Task::BidirectionalLanguageModel, _))
    }

    /// The most tokens of a source, its end included, where there is a limit.
    pub fn most_source(&self) -> Option<usize> {
        let looked_at = self.attention.as_ref().and_then(AttentionConfig::most_positions);
        let read = match &self.reader {
            Reader::Encoder(encoder) => encoder.most_positions(),
            Reader::Itself => self.most_target(), // a separator takes the place of its end
            Reader::Nobody => None,
        };
        looked_at.into_iter().chain(read).min()
    }

    /// The bytes that a hypothesis of this many tokens carries from step to step, about: the states of recurrent
    /// layers, or the keys and values of all tokens so far. What belongs to the source is not copied, and what a single
    /// network or a language model has read before is not counted.
    pub fn state_bytes(&self, tokens: usize) -> u64 {
        let values = match self.decoder().map(|decoder| decoder.parts().1) {
            None => 0,
            Some(Kind::Recurrent(cell, settings)) => {
                let states = 1 + u64::from(cell == Cell::Lstm);
                let fed = settings.output.unwrap_or(settings.width) as u64;
                (settings.layers as u64).saturating_mul(settings.width as u64).saturating_mul(states) + fed
            }
            Some(Kind::Transformer(settings)) => {
                let values = (settings.layers as u64).saturating_mul(settings.width as u64);
                values.saturating_mul(2).saturating_mul(tokens as u64)
            }
        };
        values.saturating_mul(4)
    }

    /// The most tokens of a target, its end included (and of the source before it, for a single
    /// network), where there is a limit.
    pub fn most_target(&self) -> Option<usize> {
        self.decoder().and_then(DecoderConfig::most_positions)
    }
}
