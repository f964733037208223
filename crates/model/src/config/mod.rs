//! The choices that make a model, one per axis, as they stand in a configuration file.
//!
//! ```toml
//! [encoder.lstm]            # rnn lstm gru transformer cnn vit listener sound-transformer
//! width = 512
//!
//! [decoder.lstm]
//! width = 512
//! bridge = "first-state"    # first-state every-step both attention-only
//! ```

mod attention;
mod check;
mod ctc;
mod features;
mod head;
mod images;
mod plan;
mod read;
mod recurrent;
mod sounds;
mod transformer;

pub use attention::{
    AlignedKind, AttentionConfig, BaselineKind, ConcentrationConfig, ConvolutionConfig, FeedKind, FocusKind,
    QueryKind,
};
pub use check::Complaint;
pub use ctc::CtcConfig;
pub use features::FeaturesConfig;
pub use head::{HeadConfig, Pooling};
pub use images::{CnnConfig, PlaceKind, VitConfig};
pub use plan::{Plan, Reader, Writer};
pub use read::{ConfigError, read, read_text};
pub use recurrent::{RecurrentDecoderConfig, RecurrentEncoderConfig, SingleRecurrentConfig};
pub(crate) use sounds::heard;
pub use sounds::{CellKind, ListenerConfig, SoundTransformerConfig};
pub(crate) use transformer::Role;
pub use transformer::TransformerConfig;

use gatto_data::images::{ImageCoder, Preparation};
use gatto_data::{Coder, Labels, TokenizerPair, Unit, sound};
use gatto_nn::recurrent::Cell;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A source sequence becomes a target sequence.
    Translate,
    /// A sequence is continued; there is no source.
    LanguageModel,
    /// Tokens that were hidden are told from those around them.
    MaskedLanguageModel,
    /// The next token is told from those before it, and the one before from those behind it.
    BidirectionalLanguageModel,
    /// A sequence gets one label.
    Classify,
    /// Every word of a sequence gets a label.
    Label,
    /// An image becomes a text.
    Caption,
    /// A sound becomes a text.
    Transcribe,
}

impl Task {
    /// Whether a decoder writes the answer; else a head tells it from the encoder's states.
    pub fn writes(self) -> bool {
        self == Self::LanguageModel || self.writes_of_sources()
    }

    /// Whether it writes of a source that it has read.
    pub fn writes_of_sources(self) -> bool {
        matches!(self, Self::Translate | Self::Caption | Self::Transcribe)
    }

    /// Whether the answer is made of labels, and not of tokens.
    pub fn has_labels(self) -> bool {
        matches!(self, Self::Classify | Self::Label)
    }

    /// What a label is given to, for a task that has labels.
    pub fn unit(self) -> Option<Unit> {
        match self {
            Self::Classify => Some(Unit::Sequence),
            Self::Label => Some(Unit::Word),
            _ => None,
        }
    }

    /// How its examples become rows of ids; a task that has labels needs them.
    pub fn coder(self, tokens: &TokenizerPair, labels: Option<&Arc<Labels>>) -> Coder {
        let reading = || tokens.source.clone();
        match (self, labels) {
            (Self::Classify, Some(labels)) => Coder::Classes { tokens: reading(), labels: labels.clone() },
            (Self::Label, Some(labels)) => Coder::Tags { tokens: reading(), labels: labels.clone() },
            _ => Coder::Texts(tokens.clone()),
        }
    }

    /// How the texts of images become ids; a task that has labels needs them.
    pub fn image_coder(self, tokens: &TokenizerPair, labels: Option<&Arc<Labels>>) -> ImageCoder {
        match labels.filter(|_| self.has_labels()) {
            Some(labels) => ImageCoder::Labels(labels.clone()),
            None => ImageCoder::Captions(tokens.target.clone()),
        }
    }
}

/// Its name in the configuration.
impl std::fmt::Display for Task {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Translate => "translate",
            Self::LanguageModel => "language-model",
            Self::MaskedLanguageModel => "masked-language-model",
            Self::BidirectionalLanguageModel => "bidirectional-language-model",
            Self::Classify => "classify",
            Self::Label => "label",
            Self::Caption => "caption",
            Self::Transcribe => "transcribe",
        })
    }
}

/// The most parameters of the layers of one network: 8 GiB of them.
const MOST_PARAMETERS: u64 = 1 << 31;

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
    /// One network for both sides, in place of encoder and decoder.
    pub single: Option<SingleConfig>,
    /// What the encoder's states are for, where there is no decoder.
    pub head: Option<HeadConfig>,
    /// A language model whose states stand beside the token vectors.
    pub features: Option<FeaturesConfig>,
    /// Which parameters do double duty.
    pub sharing: SharingConfig,
    /// How images become what an encoder of images reads; as usual if not given.
    pub images: Option<Preparation>,
    /// How sounds become what an encoder of sounds reads; as usual if not given.
    pub sound: Option<sound::Preparation>,
    /// Whether and how the encoder learns to tell the text by itself.
    pub ctc: Option<CtcConfig>,
}

impl ModelConfig {
    /// Nothing but a task.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            encoder: None,
            decoder: None,
            attention: None,
            single: None,
            head: None,
            features: None,
            sharing: SharingConfig::default(),
            images: None,
            sound: None,
            ctc: None,
        }
    }
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
    /// Layers of self-attention.
    Transformer(TransformerConfig),
    /// Convolutions over an image.
    Cnn(CnnConfig),
    /// Layers of self-attention over the patches of an image.
    Vit(VitConfig),
    /// Recurrent layers over the frames of a sound.
    Listener(ListenerConfig),
    /// Layers of self-attention over a sound.
    SoundTransformer(SoundTransformerConfig),
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
    /// Layers of self-attention.
    Transformer(TransformerConfig),
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

/// `[single.…]`: one network that reads source, separator and target as one sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SingleConfig {
    /// Plain recurrent layers.
    Rnn(SingleRecurrentConfig),
    /// LSTM layers.
    Lstm(SingleRecurrentConfig),
    /// GRU layers.
    Gru(SingleRecurrentConfig),
    /// Layers of self-attention.
    Transformer(TransformerConfig),
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
    /// The output layer's weights are the source tokens' vectors; needs one vocabulary for both.
    pub source_output: bool,
}

/// The kinds of decoders.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// Recurrent layers of a cell.
    Recurrent(Cell, &'a RecurrentDecoderConfig),
    /// Layers of self-attention.
    Transformer(&'a TransformerConfig),
}

/// The kinds of encoders.
#[derive(Clone, Copy, Debug)]
pub enum EncoderKind<'a> {
    /// Recurrent layers of a cell.
    Recurrent(Cell, &'a RecurrentEncoderConfig),
    /// Layers of self-attention.
    Transformer(&'a TransformerConfig),
    /// Convolutions over an image.
    Cnn(&'a CnnConfig),
    /// Layers of self-attention over the patches of an image.
    Vit(&'a VitConfig),
    /// Recurrent layers over the frames of a sound.
    Listener(&'a ListenerConfig),
    /// Layers of self-attention over a sound.
    SoundTransformer(&'a SoundTransformerConfig),
}

impl EncoderConfig {
    /// Its name in the file, and its settings.
    pub fn parts(&self) -> (&'static str, EncoderKind<'_>) {
        match self {
            Self::Rnn(settings) => ("rnn", EncoderKind::Recurrent(Cell::Rnn, settings)),
            Self::Lstm(settings) => ("lstm", EncoderKind::Recurrent(Cell::Lstm, settings)),
            Self::Gru(settings) => ("gru", EncoderKind::Recurrent(Cell::Gru, settings)),
            Self::Transformer(settings) => ("transformer", EncoderKind::Transformer(settings)),
            Self::Cnn(settings) => ("cnn", EncoderKind::Cnn(settings)),
            Self::Vit(settings) => ("vit", EncoderKind::Vit(settings)),
            Self::Listener(settings) => ("listener", EncoderKind::Listener(settings)),
            Self::SoundTransformer(settings) => {
                ("sound-transformer", EncoderKind::SoundTransformer(settings))
            }
        }
    }

    /// Whether it reads images, and not tokens.
    pub fn reads_images(&self) -> bool {
        self.region().is_some()
    }

    /// Pixels of a region on a side, if it reads images.
    pub fn region(&self) -> Option<usize> {
        match self {
            Self::Cnn(settings) => Some(settings.stride()),
            Self::Vit(settings) => Some(settings.patch),
            _ => None,
        }
    }

    /// Whether it reads sounds, and not tokens.
    pub fn reads_sounds(&self) -> bool {
        self.frames_per_state().is_some()
    }

    /// How many frames of a sound a state stands for, if it reads sounds.
    pub fn frames_per_state(&self) -> Option<usize> {
        match self {
            Self::Listener(settings) => Some(settings.frames_per_state()),
            Self::SoundTransformer(settings) => Some(settings.frames_per_state()),
            _ => None,
        }
    }

    /// Width of the states that it leaves.
    pub fn states(&self) -> usize {
        match self.parts().1 {
            EncoderKind::Recurrent(_, settings) => settings.width * (1 + usize::from(settings.bidirectional)),
            EncoderKind::Transformer(settings) => settings.width,
            EncoderKind::Cnn(settings) => settings.width(),
            EncoderKind::Vit(settings) => settings.width,
            EncoderKind::Listener(settings) => settings.states(),
            EncoderKind::SoundTransformer(settings) => settings.width,
        }
    }

    /// How many of the last values of a state tell where it stands, and nothing else.
    pub fn places(&self) -> usize {
        match self {
            Self::Cnn(settings) => settings.places(),
            _ => 0,
        }
    }

    /// Width of a token's vector; one that reads images or sounds has none.
    pub fn embedding(&self) -> usize {
        match self.parts().1 {
            EncoderKind::Recurrent(_, settings) => settings.embedding.unwrap_or(settings.width),
            EncoderKind::Transformer(settings) => settings.width,
            EncoderKind::Cnn(_)
            | EncoderKind::Vit(_)
            | EncoderKind::Listener(_)
            | EncoderKind::SoundTransformer(_) => 0,
        }
    }

    /// The most tokens of a sequence, where there is a limit.
    pub fn most_positions(&self) -> Option<usize> {
        match self {
            Self::Transformer(settings) => settings.most_positions(),
            _ => None,
        }
    }
}

impl DecoderConfig {
    /// Its name in the file, and its settings.
    pub fn parts(&self) -> (&'static str, Kind<'_>) {
        match self {
            Self::Rnn(settings) => ("rnn", Kind::Recurrent(Cell::Rnn, settings)),
            Self::Lstm(settings) => ("lstm", Kind::Recurrent(Cell::Lstm, settings)),
            Self::Gru(settings) => ("gru", Kind::Recurrent(Cell::Gru, settings)),
            Self::Transformer(settings) => ("transformer", Kind::Transformer(settings)),
        }
    }

    /// Width of a token's vector.
    pub fn embedding(&self) -> usize {
        match self.parts().1 {
            Kind::Recurrent(_, settings) => settings.embedding.unwrap_or(settings.width),
            Kind::Transformer(settings) => settings.width,
        }
    }

    /// The most tokens of a sequence, where there is a limit.
    pub fn most_positions(&self) -> Option<usize> {
        match self {
            Self::Transformer(settings) => settings.most_positions(),
            _ => None,
        }
    }
}

impl SingleConfig {
    /// The network as the decoder that it is, with its name in the file.
    pub fn as_decoder(&self) -> (DecoderConfig, &'static str) {
        let settings = |s: &SingleRecurrentConfig| RecurrentDecoderConfig {
            width: s.width,
            embedding: s.embedding,
            layers: s.layers,
            bridge: Some(BridgeKind::FirstState),
            output: s.output,
            dropout: s.dropout,
        };
        match self {
            Self::Rnn(s) => (DecoderConfig::Rnn(settings(s)), "rnn"),
            Self::Lstm(s) => (DecoderConfig::Lstm(settings(s)), "lstm"),
            Self::Gru(s) => (DecoderConfig::Gru(settings(s)), "gru"),
            Self::Transformer(s) => (DecoderConfig::Transformer(s.clone()), "transformer"),
        }
    }
}
