//! Which combinations make sense.

use gatto_nn::recurrent::Cell;

use super::{
    AttentionConfig, BridgeKind, DecoderConfig, EncoderConfig, ModelConfig, SharingConfig, SingleConfig, Task,
};

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

fn rate(key: String, value: f64) -> Result<(), Complaint> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    Err(Complaint::new(key, format!("is {value}; write a share from 0 to below 1, such as 0.2")))
}

pub(super) const WIDEST: usize = 16_384;
const DEEPEST: usize = 64;
/// The most parameters of the recurrent layers of one network: 8 GiB of them.
const MOST_PARAMETERS: u64 = 1 << 31;

fn sizes(
    at: &str,
    width: usize,
    embedding: Option<usize>,
    layers: usize,
    dropout: f64,
) -> Result<(), Complaint> {
    within(format!("{at}.width"), width, WIDEST)?;
    within(format!("{at}.embedding"), embedding.unwrap_or(width), WIDEST)?;
    within(format!("{at}.layers"), layers, DEEPEST)?;
    rate(format!("{at}.dropout"), dropout)
}

/// Refuses layers that no memory holds. `input` is the width of what the first of them reads.
fn parameters(
    at: &str,
    cell: Cell,
    directions: usize,
    width: usize,
    input: usize,
    layers: usize,
) -> Result<(), Complaint> {
    let [gates, directions, width, input, layers] =
        [cell.gates(), directions, width, input, layers].map(|size| size as u64);
    let inputs = input + (layers - 1) * directions * width; // of all layers together
    let count = directions * gates * width * (inputs + layers * width);
    if count <= MOST_PARAMETERS {
        return Ok(());
    }
    Err(Complaint::new(
        format!("{at}.width"),
        format!(
            "makes layers of {count} parameters, and at most {MOST_PARAMETERS} can be built; write a smaller \
             width, or fewer layers"
        ),
    ))
}

/// What is to be built: a configuration that has been found to make sense.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What reads the source.
    pub reader: Reader,
    /// What writes the target.
    pub decoder: DecoderConfig,
    /// How the decoder looks back at the source.
    pub attention: Option<AttentionConfig>,
    /// Which parameters do double duty.
    pub sharing: SharingConfig,
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

impl ModelConfig {
    /// Refuses what cannot be built; `one_vocabulary` tells whether both sides have the same tokens.
    pub fn plan(&self, one_vocabulary: bool) -> Result<Plan, Complaint> {
        let (reader, decoder) = match (&self.single, self.task) {
            (Some(_), Task::LanguageModel) => {
                return Err(Complaint::new(
                    "single",
                    "reads a source, which a language model has not; write [decoder.lstm] instead",
                ));
            }
            (Some(single), Task::Translate) => {
                self.check_single(single, one_vocabulary)?;
                (Reader::Itself, single.as_decoder().0)
            }
            (None, Task::LanguageModel) => {
                self.check_language_model()?;
                (Reader::Nobody, self.the_decoder()?.clone())
            }
            (None, Task::Translate) => {
                let encoder = self.the_encoder()?;
                self.check_pair(encoder, one_vocabulary)?;
                (Reader::Encoder(encoder.clone()), self.the_decoder()?.clone())
            }
        };
        Ok(Plan { reader, decoder, attention: self.attention.clone(), sharing: self.sharing.clone() })
    }

    fn the_encoder(&self) -> Result<&EncoderConfig, Complaint> {
        self.encoder.as_ref().ok_or_else(|| {
            Complaint::new(
                "encoder",
                "is missing; write [encoder.lstm] (or rnn, gru), or [single.lstm] for one network",
            )
        })
    }

    fn the_decoder(&self) -> Result<&DecoderConfig, Complaint> {
        self.decoder
            .as_ref()
            .ok_or_else(|| Complaint::new("decoder", "is missing; write [decoder.lstm] (or rnn, gru)"))
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
        let (cell, _, settings) = decoder.parts();
        let at = format!("single.{name}");
        sizes(&at, settings.width, settings.embedding, settings.layers, settings.dropout)?;
        let embedding = settings.embedding.unwrap_or(settings.width);
        parameters(&at, cell, 1, settings.width, embedding, settings.layers)?;
        if !one_vocabulary {
            return Err(Complaint::new(
                "tokens.shared",
                "is false, but a single network reads both sides; write `shared = true`",
            ));
        }
        self.refuse_sharing_of_sides("goes without saying in a single network, which reads and writes with the same parameters; remove it")?;
        self.check_output(&at, settings.width, settings.embedding)
    }

    /// Refuses what only an encoder and a decoder can share.
    fn refuse_sharing_of_sides(&self, why: &str) -> Result<(), Complaint> {
        let SharingConfig { encoder_decoder, embeddings, .. } = self.sharing;
        let given = [("encoder_decoder", encoder_decoder), ("embeddings", embeddings)];
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
        let (at, settings) = self.check_decoder(0)?;
        if settings.bridge.is_some() {
            return Err(Complaint::new(
                format!("{at}.bridge"),
                "needs an encoder, which a language model has not; remove it",
            ));
        }
        self.refuse_sharing_of_sides("needs two sides, and a language model has one; remove it")?;
        self.check_output(&at, settings.width, settings.embedding)
    }

    /// `states`: width of what an encoder leaves, 0 without one.
    fn check_decoder(&self, states: usize) -> Result<(String, &super::RecurrentDecoderConfig), Complaint> {
        let (cell, name, settings) = self.the_decoder()?.parts();
        let at = format!("decoder.{name}");
        sizes(&at, settings.width, settings.embedding, settings.layers, settings.dropout)?;
        let fed = matches!(settings.bridge, Some(BridgeKind::EveryStep | BridgeKind::Both));
        let beside = self.attention.as_ref().map_or(0, |it| it.beside_input(settings.width, states));
        let embedding = settings.embedding.unwrap_or(settings.width);
        let input = embedding + beside + if fed { states } else { 0 };
        parameters(&at, cell, 1, settings.width, input, settings.layers)?;
        Ok((at, settings))
    }

    fn check_pair(&self, encoder: &EncoderConfig, one_vocabulary: bool) -> Result<(), Complaint> {
        let (cell, name, reading) = encoder.parts();
        let from = format!("encoder.{name}");
        sizes(&from, reading.width, reading.embedding, reading.layers, reading.dropout)?;
        let directions = 1 + usize::from(reading.bidirectional);
        let embedding = reading.embedding.unwrap_or(reading.width);
        parameters(&from, cell, directions, reading.width, embedding, reading.layers)?;
        if reading.bidirectional && reading.reversed {
            return Err(Complaint::new(
                format!("{from}.reversed"),
                "has no meaning beside `bidirectional = true`; remove one of them",
            ));
        }
        let (at, writing) = self.check_decoder(directions * reading.width)?;
        let (reads, writes) =
            (reading.embedding.unwrap_or(reading.width), writing.embedding.unwrap_or(writing.width));
        if self.sharing.embeddings {
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
        if self.sharing.encoder_decoder {
            let same = self.the_decoder()?.parts().0 == cell
                && (reading.width, reading.layers, reads) == (writing.width, writing.layers, writes);
            if !same {
                return Err(Complaint::new(
                    "sharing.encoder_decoder",
                    format!("needs the same cell, width, layers and embedding in [{from}] and [{at}]"),
                ));
            }
            if reading.dropout != writing.dropout {
                return Err(Complaint::new(
                    format!("{from}.dropout"),
                    format!(
                        "differs from that of [{at}], but the layers are the same; write the same in both"
                    ),
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
        }
        self.check_attention(&at, writing.bridge)?;
        self.check_output(&at, writing.width, writing.embedding)
    }

    fn check_output(&self, at: &str, width: usize, embedding: Option<usize>) -> Result<(), Complaint> {
        let embedding = embedding.unwrap_or(width);
        if self.sharing.output && embedding != width {
            return Err(Complaint::new(
                "sharing.output",
                format!(
                    "needs token vectors as wide as the decoder's state, but {at} has embedding {embedding} and width {width}"
                ),
            ));
        }
        Ok(())
    }
}
