//! Which combinations make sense.

mod sizes;
mod sounds;

use super::{
    BridgeKind, DecoderConfig, EncoderConfig, EncoderKind, FeaturesConfig, FocusKind, HeadConfig, Kind,
    ModelConfig, Plan, Pooling, Reader, SharingConfig, SingleConfig, Task, Writer,
};
use gatto_data::DataError;
use gatto_data::images::Preparation;
use sizes::{check_recurrent_decoder, check_recurrent_encoder};

/// What is wrong with a configuration: the key, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The key, from the top of the file: `decoder.lstm.bridge`.
    pub key: String,
    /// What is wrong with it, and the remedy.
    pub message: String,
}

impl Complaint {
    /// A complaint about `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// Refuses a number outside its range.
pub(super) fn within(key: String, value: usize, most: usize) -> Result<(), Complaint> {
    match value {
        0 => Err(Complaint::new(key, format!("is 0; write a number from 1 to {most}"))),
        _ if value > most => Err(Complaint::new(key, format!("is {value}; write a number from 1 to {most}"))),
        _ => Ok(()),
    }
}

/// Refuses a share outside its range.
pub(super) fn rate(key: String, value: f64) -> Result<(), Complaint> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    Err(Complaint::new(key, format!("is {value}; write a share from 0 to below 1, such as 0.2")))
}

pub(super) const WIDEST: usize = 16_384;
pub(super) const DEEPEST: usize = 64;

/// Refuses a token before the sequence where its state is made before the sequence is read.
fn check_class_token(encoder: &EncoderConfig) -> Result<(), Complaint> {
    match encoder.parts() {
        (_, EncoderKind::Cnn(_)) => Err(Complaint::new(
            "head.pooling",
            "is \"class-token\", and [encoder.cnn] has no token; write \"mean\", \"max\" or \"attention\"",
        )),
        (_, EncoderKind::Vit(settings)) if !settings.class_token => Err(Complaint::new(
            "head.pooling",
            "is \"class-token\", but `class_token = false`; write `class_token = true`, or `pooling = \"mean\"`",
        )),
        (name, EncoderKind::Recurrent(_, settings)) if !settings.bidirectional && !settings.reversed => {
            let message = format!(
                "is \"class-token\", the state of a token before the sequence, and [encoder.{name}] has read nothing \
                 else by then; write `bidirectional = true` there, or `pooling = \"last\"`"
            );
            Err(Complaint::new("head.pooling", message))
        }
        _ => Ok(()),
    }
}

impl ModelConfig {
    /// Refuses what cannot be built; `one_vocabulary` tells whether both sides have the same tokens.
    pub fn plan(&self, one_vocabulary: bool) -> Result<Plan, Complaint> {
        let (reader, writer) = if self.task.writes() {
            if self.head.is_some() {
                let message = "is for tasks without a decoder; remove it, or write `task = \"classify\"`";
                return Err(Complaint::new("head", message));
            }
            let (reader, decoder) = self.plan_decoder(one_vocabulary)?;
            (reader, Writer::Decoder(decoder))
        } else {
            let (encoder, head) = self.plan_head()?;
            (Reader::Encoder(encoder), Writer::Head(self.task, head))
        };
        self.check_features()?;
        let images = self.check_images(&reader)?;
        let sound = self.check_sounds(&reader)?;
        let Self { attention, sharing, features, ctc, .. } = self.clone();
        Ok(Plan { reader, writer, attention, sharing, features, images, sound, ctc })
    }

    fn plan_decoder(&self, one_vocabulary: bool) -> Result<(Reader, DecoderConfig), Complaint> {
        match (&self.single, self.task == Task::LanguageModel) {
            (Some(_), true) => Err(Complaint::new(
                "single",
                "reads a source, which a language model has not; write [decoder.lstm] instead",
            )),
            (Some(_), false) if self.task == Task::Caption => Err(Complaint::new(
                "single",
                "reads tokens, and a caption is of an image; write [encoder.cnn] and [decoder.lstm]",
            )),
            (Some(_), false) if self.task == Task::Transcribe => Err(Complaint::new(
                "single",
                "reads tokens, and what is transcribed is a sound; write [encoder.listener] and [decoder.lstm]",
            )),
            (Some(single), false) => {
                self.check_single(single, one_vocabulary)?;
                Ok((Reader::Itself, single.as_decoder().0))
            }
            (None, true) => {
                self.check_language_model()?;
                Ok((Reader::Nobody, self.the_decoder()?.clone()))
            }
            (None, false) => {
                let encoder = self.the_encoder()?;
                self.check_pair(encoder, one_vocabulary)?;
                Ok((Reader::Encoder(encoder.clone()), self.the_decoder()?.clone()))
            }
        }
    }

    /// An encoder with a head.
    fn plan_head(&self) -> Result<(EncoderConfig, HeadConfig), Complaint> {
        let encoder = self.the_encoder()?;
        let why = "has no place in a task without a decoder; remove it, or write `task = \"translate\"`";
        if let Some((key, _)) = [("decoder", self.decoder.is_some()), ("single", self.single.is_some())]
            .iter()
            .find(|(_, is)| *is)
        {
            return Err(Complaint::new(*key, why));
        }
        self.refuse_attention(why)?;
        self.check_encoder(encoder)?;
        self.refuse_sharing_of_sides("needs a decoder, which this task has not; remove it")?;
        if self.sharing.output && self.task.has_labels() {
            return Err(Complaint::new(
                "sharing.output",
                "needs tokens to tell, and this task tells labels; remove it",
            ));
        }
        let mut head = self.head.clone().unwrap_or_default();
        head.check()?;
        if let EncoderConfig::Vit(settings) = encoder
            && settings.class_token
            && self.task == Task::Classify
        {
            head.pooling = head.pooling.or(Some(Pooling::ClassToken));
        }
        if head.pooling == Some(Pooling::Last) && encoder.reads_images() {
            let message =
                "is \"last\", and no region of an image is; write \"mean\", \"max\" or \"attention\"";
            return Err(Complaint::new("head.pooling", message));
        }
        if head.pooling.is_some() && self.task != Task::Classify {
            let message = "is for `task = \"classify\"`, which has one answer for a sequence; remove it";
            return Err(Complaint::new("head.pooling", message));
        }
        if head.pooling == Some(Pooling::ClassToken) {
            check_class_token(encoder)?;
        }
        let scored = head.hidden.unwrap_or(encoder.states());
        if self.sharing.output && scored != encoder.embedding() {
            let message = format!(
                "needs token vectors as wide as what the scores read, but these are {} and {scored}; write \
                 `hidden = {}` in [head]",
                encoder.embedding(),
                encoder.embedding()
            );
            return Err(Complaint::new("sharing.output", message));
        }
        if self.task == Task::BidirectionalLanguageModel {
            self.check_bidirectional(encoder)?;
        }
        Ok((encoder.clone(), head))
    }

    fn check_bidirectional(&self, encoder: &EncoderConfig) -> Result<(), Complaint> {
        let (name, kind) = encoder.parts();
        match kind {
            EncoderKind::Recurrent(_, settings) if settings.bidirectional => {}
            EncoderKind::Recurrent(..) => {
                let message = "is false, and a language model of both directions needs both; write `bidirectional = true`";
                return Err(Complaint::new(format!("encoder.{name}.bidirectional"), message));
            }
            _ => {
                let message = "sees all of its source at once, so there is nothing to tell; write [encoder.lstm], or \
                               `task = \"masked-language-model\"` with [encoder.transformer]";
                return Err(Complaint::new(format!("encoder.{name}"), message));
            }
        }
        match self.sharing.output {
            true => Err(Complaint::new(
                "sharing.output",
                "is not for a language model of both directions; remove it",
            )),
            false => Ok(()),
        }
    }

    /// Refuses features where they cannot be read.
    fn check_features(&self) -> Result<(), Complaint> {
        let Some(features) = &self.features else { return Ok(()) };
        let (name, cell, settings) = features.parts();
        let at = format!("features.{name}");
        check_recurrent_encoder(&at, cell, settings, settings.embedding.unwrap_or(settings.width))?;
        if settings.reversed {
            return Err(Complaint::new(
                format!("{at}.reversed"),
                "has no meaning where both directions are read; remove it",
            ));
        }
        let no_recurrent = || {
            Complaint::new(
                "features",
                "stand beside what a recurrent encoder reads, and there is none; write [encoder.lstm]",
            )
        };
        match &self.encoder {
            Some(encoder) if !matches!(encoder.parts().1, EncoderKind::Recurrent(..)) => Err(no_recurrent()),
            None => Err(no_recurrent()),
            Some(_) if self.sharing.encoder_decoder => Err(Complaint::new(
                "sharing.encoder_decoder",
                "cannot be where features widen what the encoder reads; remove one of them",
            )),
            Some(_) => Ok(()),
        }
    }

    /// Refuses images where nothing reads them, tokens where images are to be read, and images that do not fit.
    fn check_images(&self, reader: &Reader) -> Result<Option<Preparation>, Complaint> {
        let encoder = match reader {
            Reader::Encoder(encoder) => Some(encoder),
            _ => None,
        };
        let Some(encoder) = encoder.filter(|encoder| encoder.reads_images()) else {
            let wrong = |key: &str, message: &str| Err(Complaint::new(key, message));
            return match (self.images, self.task == Task::Caption) {
                (_, true) => wrong(
                    "encoder",
                    "reads tokens, and a caption is of an image; write [encoder.cnn] or [encoder.vit]",
                ),
                (Some(_), _) => wrong(
                    "images",
                    "is for encoders of images; remove it, or write [encoder.cnn] or [encoder.vit]",
                ),
                (None, _) => Ok(None),
            };
        };
        let name = encoder.parts().0;
        if !matches!(self.task, Task::Caption | Task::Classify) {
            let message =
                format!("reads images, which `task = \"{}\"` has not; write `task = \"caption\"`", self.task);
            return Err(Complaint::new(format!("encoder.{name}"), message));
        }
        self.refuse_sharing_of_sides("needs a source of tokens, and this one is an image; remove it")?;
        if let Some(attention) = &self.attention {
            if attention.score.has_positions() {
                let message = "is \"location\", which looks at places of a text; write \"additive\"";
                return Err(Complaint::new("attention.score", message));
            }
            if attention.focus == FocusKind::Local {
                let message = "is \"local\", a window of a text; write \"soft\" or \"hard\"";
                return Err(Complaint::new("attention.focus", message));
            }
            if attention.convolution.is_some() {
                let message = "goes along a text or a sound, and regions of an image do not; remove it";
                return Err(Complaint::new("attention.convolution", message));
            }
        }
        Ok(Some(self.preparation()?))
    }

    /// How images become what is read; refuses what makes no sense whatever reads them.
    fn preparation(&self) -> Result<Preparation, Complaint> {
        let images = self.images.unwrap_or_default();
        images.validate().map_err(|error| match error {
            DataError::Config { key, problem } => Complaint::new(format!("images.{key}"), problem),
            other => Complaint::new("images", other.to_string()),
        })?;
        Ok(images)
    }

    fn the_encoder(&self) -> Result<&EncoderConfig, Complaint> {
        self.encoder.as_ref().ok_or_else(|| {
            if self.task == Task::Transcribe {
                let remedy = "is missing; write [encoder.listener] or [encoder.sound-transformer]";
                return Complaint::new("encoder", remedy);
            }
            if self.task == Task::Caption {
                return Complaint::new("encoder", "is missing; write [encoder.cnn] or [encoder.vit]");
            }
            let single = if self.task == Task::Translate { ", or [single.lstm] for one network" } else { "" };
            Complaint::new(
                "encoder",
                format!("is missing; write [encoder.lstm] (or rnn, gru, transformer){single}"),
            )
        })
    }

    fn the_decoder(&self) -> Result<&DecoderConfig, Complaint> {
        self.decoder.as_ref().ok_or_else(|| {
            Complaint::new("decoder", "is missing; write [decoder.lstm] (or rnn, gru, transformer)")
        })
    }

    fn check_single(&self, single: &SingleConfig, one_vocabulary: bool) -> Result<(), Complaint> {
        if self.encoder.is_some() || self.decoder.is_some() {
            let key = if self.encoder.is_some() { "encoder" } else { "decoder" };
            return Err(Complaint::new(key, "stands beside [single], which is both; remove one of them"));
        }
        self.refuse_attention(
            "needs an encoder and a decoder, and [single] is one network without either; remove it, or \
             write [encoder.lstm] and [decoder.lstm] in its place",
        )?;
        let (decoder, name) = single.as_decoder();
        let at = format!("single.{name}");
        self.check_decoder(&at, &decoder, 0)?;
        if !one_vocabulary {
            return Err(Complaint::new(
                "tokens.shared",
                "is false, but a single network reads both sides; write `shared = true`",
            ));
        }
        self.refuse_sharing_of_sides("goes without saying in a single network, which reads and writes with the same parameters; remove it")
    }

    /// Refuses what only an encoder and a decoder can share.
    fn refuse_sharing_of_sides(&self, why: &str) -> Result<(), Complaint> {
        let SharingConfig { encoder_decoder, embeddings, source_output, .. } = self.sharing;
        let given = [
            ("encoder_decoder", encoder_decoder),
            ("embeddings", embeddings),
            ("source_output", source_output),
        ];
        match given.into_iter().find(|(_, on)| *on) {
            Some((key, _)) => Err(Complaint::new(format!("sharing.{key}"), why)),
            None => Ok(()),
        }
    }

    fn check_language_model(&self) -> Result<(), Complaint> {
        if self.encoder.is_some() {
            return Err(Complaint::new(
                "encoder",
                "has nothing to read in a language model; remove it, or write `task = \"translate\"`",
            ));
        }
        self.refuse_attention("has no source to look at in a language model; remove it")?;
        let decoder = self.the_decoder()?;
        let (name, kind) = decoder.parts();
        let at = format!("decoder.{name}");
        self.check_decoder(&at, decoder, 0)?;
        if let Kind::Recurrent(_, settings) = kind
            && settings.bridge.is_some()
        {
            return Err(Complaint::new(
                format!("{at}.bridge"),
                "needs an encoder, which a language model has not; remove it",
            ));
        }
        self.refuse_sharing_of_sides("needs two sides, and a language model has one; remove it")
    }

    fn check_encoder(&self, encoder: &EncoderConfig) -> Result<(), Complaint> {
        let (name, kind) = encoder.parts();
        let at = format!("encoder.{name}");
        match kind {
            EncoderKind::Recurrent(cell, settings) => {
                let beside = self.features.as_ref().map_or(0, FeaturesConfig::width);
                check_recurrent_encoder(&at, cell, settings, encoder.embedding() + beside)
            }
            EncoderKind::Transformer(settings) => settings.check(&at),
            EncoderKind::Cnn(settings) => settings.check(&self.preparation()?),
            EncoderKind::Vit(settings) => settings.check(&self.preparation()?),
            EncoderKind::Listener(settings) => settings.check(&self.hearing()?),
            EncoderKind::SoundTransformer(settings) => settings.check(&self.hearing()?),
        }
    }

    /// `states`: width of what an encoder leaves, 0 without one.
    fn check_decoder(&self, at: &str, decoder: &DecoderConfig, states: usize) -> Result<(), Complaint> {
        match decoder.parts().1 {
            Kind::Recurrent(cell, settings) => {
                let fed = matches!(settings.bridge, Some(BridgeKind::EveryStep | BridgeKind::Both));
                let places = self.encoder.as_ref().map_or(0, EncoderConfig::places);
                let looking = self.attention.as_ref();
                let beside = looking.map_or(0, |it| it.beside_input(settings.width, states, places));
                let input = decoder.embedding() + beside + if fed { states } else { 0 };
                check_recurrent_decoder(at, cell, settings, input)?;
                let scored = settings.output.unwrap_or(settings.width);
                if self.sharing.output && decoder.embedding() != scored {
                    let embedding = decoder.embedding();
                    return Err(Complaint::new(
                        "sharing.output",
                        format!(
                            "needs token vectors as wide as what the scores read, but {at} has embedding {embedding} \
                             and scores read {scored}; write `output = {embedding}` in [{at}]"
                        ),
                    ));
                }
                Ok(())
            }
            Kind::Transformer(settings) => settings.check(at),
        }
    }

    fn check_pair(&self, encoder: &EncoderConfig, one_vocabulary: bool) -> Result<(), Complaint> {
        self.check_encoder(encoder)?;
        let decoder = self.the_decoder()?;
        let from = format!("encoder.{}", encoder.parts().0);
        let at = format!("decoder.{}", decoder.parts().0);
        self.check_decoder(&at, decoder, encoder.states())?;
        if self.sharing.embeddings {
            let (reads, writes) = (encoder.embedding(), decoder.embedding());
            if !one_vocabulary {
                return Err(Complaint::new(
                    "sharing.embeddings",
                    "needs one vocabulary for both sides; write `shared = true` under [tokens]",
                ));
            }
            if reads != writes {
                return Err(Complaint::new(
                    "sharing.embeddings",
                    format!(
                        "needs vectors of one width, but {from} has {reads} and {at} has {writes}; write the same `embedding` in both"
                    ),
                ));
            }
        }
        if self.sharing.source_output {
            self.check_source_output(encoder, decoder, one_vocabulary)?;
        }
        if self.sharing.encoder_decoder {
            self.check_shared_layers(encoder, decoder)?;
        }
        match decoder.parts().1 {
            Kind::Recurrent(_, settings) => self.check_attention(&at, settings.bridge),
            Kind::Transformer(settings) => {
                self.refuse_attention(
                    "is for recurrent decoders, and [decoder.transformer] looks at the source in every layer; remove it",
                )?;
                match settings.projections || encoder.states() == settings.width {
                    true => Ok(()),
                    false => Err(Complaint::new(
                        format!("{at}.projections"),
                        format!(
                            "is false, which needs states as wide as the decoder, but the encoder leaves {} and {at} has \
                             {}; write one width in both",
                            encoder.states(),
                            settings.width
                        ),
                    )),
                }
            }
        }
    }

    /// Refuses to score tokens by source vectors that do not fit.
    fn check_source_output(
        &self,
        encoder: &EncoderConfig,
        decoder: &DecoderConfig,
        one_vocabulary: bool,
    ) -> Result<(), Complaint> {
        let wrong = |message: String| Err(Complaint::new("sharing.source_output", message));
        let scored = match decoder.parts().1 {
            Kind::Recurrent(_, settings) => settings.output.unwrap_or(settings.width),
            Kind::Transformer(settings) => settings.width,
        };
        if !one_vocabulary {
            return wrong("needs one vocabulary for both sides; write `shared = true` under [tokens]".into());
        }
        if self.sharing.output || self.sharing.embeddings {
            return wrong(
                "stands beside `output` or `embeddings`; for all three tables as one write those two alone"
                    .into(),
            );
        }
        match encoder.embedding() == scored {
            true => Ok(()),
            false => wrong(format!(
                "needs source vectors as wide as what the scores read, but they have {} and scores read {scored}; write \
                 the same width",
                encoder.embedding()
            )),
        }
    }

    /// Refuses to share layers that are not of one shape.
    fn check_shared_layers(&self, encoder: &EncoderConfig, decoder: &DecoderConfig) -> Result<(), Complaint> {
        let ((from, reads), (at, writes)) = (encoder.parts(), decoder.parts());
        let (from, at) = (format!("encoder.{from}"), format!("decoder.{at}"));
        let (EncoderKind::Recurrent(cell, reading), Kind::Recurrent(other, writing)) = (reads, writes) else {
            return Err(Complaint::new(
                "sharing.encoder_decoder",
                "is for recurrent layers; layers of self-attention differ on the two sides: remove it",
            ));
        };
        let same = cell == other
            && (reading.width, reading.layers) == (writing.width, writing.layers)
            && encoder.embedding() == decoder.embedding();
        if !same {
            return Err(Complaint::new(
                "sharing.encoder_decoder",
                format!("needs the same cell, width, layers and embedding in [{from}] and [{at}]"),
            ));
        }
        if reading.dropout != writing.dropout {
            return Err(Complaint::new(
                format!("{from}.dropout"),
                format!("differs from that of [{at}], but the layers are the same; write the same in both"),
            ));
        }
        if reading.bidirectional {
            return Err(Complaint::new(
                "sharing.encoder_decoder",
                "needs an encoder of one direction; write `bidirectional = false`",
            ));
        }
        if matches!(writing.bridge, Some(BridgeKind::EveryStep | BridgeKind::Both)) {
            return Err(Complaint::new(
                format!("{at}.bridge"),
                "widens the decoder's input, which then cannot be shared with the encoder; write `bridge = \"first-state\"`",
            ));
        }
        Ok(())
    }
}
