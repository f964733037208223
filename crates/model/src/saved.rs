//! A trained model with its vocabulary, as found in a run directory.
//!
//! A run directory holds `config.toml`, `model.safetensors` and `tokenizer.json` (or one such file
//! per side), and `labels.json` where the answer is made of labels; `shortlist.safetensors` is read if it is asked for. All
//! that training leaves beside them is not looked at here.

use crate::config::{
    self, AttentionConfig, Complaint, CtcConfig, DecoderConfig, EncoderConfig, FeaturesConfig, HeadConfig,
    ModelConfig, SharingConfig, SingleConfig, Task,
};
use crate::constraints::Asked;
use crate::error::ModelError;
use crate::loading::Taking;
use crate::model::{Model, Vocabularies};
use crate::shortlist::Shortlist;
use crate::stored::Stored;
use burn::tensor::Device;
use gatto_data::images::{ImageCoder, Preparation};
use gatto_data::tokens::{TokenizerPair, TokensConfig};
use gatto_data::{Coder, Labels, Source, sound};
use gatto_nn::Precision;
use gatto_search::SearchConfig;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// The configuration, in the run directory.
pub const CONFIG: &str = "config.toml";
/// The weights, in the run directory.
pub const WEIGHTS: &str = "model.safetensors";
/// The labels, in the run directory.
pub(crate) const LABELS: &str = "labels.json";
/// The parameter that has a number for every answer of a head.
const ANSWERS: &str = "head.output.bias";

/// The most tokens of one source.
pub(crate) const LONGEST_SOURCE: usize = 10_000;
/// The most source tokens, or frames, that are computed together, padding included.
pub(crate) const BATCH_TOKENS: usize = 32_768;

/// The keys of a configuration that say what a model is; training has checked the others.
#[derive(Debug, Deserialize)]
struct Described {
    task: Task,
    #[serde(default)]
    tokens: TokensConfig,
    encoder: Option<EncoderConfig>,
    decoder: Option<DecoderConfig>,
    attention: Option<AttentionConfig>,
    single: Option<SingleConfig>,
    head: Option<HeadConfig>,
    features: Option<FeaturesConfig>,
    #[serde(default)]
    sharing: SharingConfig,
    images: Option<Preparation>,
    sound: Option<sound::Preparation>,
    ctc: Option<CtcConfig>,
    #[serde(default)]
    search: SearchConfig,
}

impl Described {
    fn plan(&self) -> Result<config::Plan, Complaint> {
        if let Some((key, message)) = self.search.problems().into_iter().next() {
            return Err(Complaint::new(format!("search.{key}"), message));
        }
        let model = ModelConfig {
            task: self.task,
            encoder: self.encoder.clone(),
            decoder: self.decoder.clone(),
            attention: self.attention.clone(),
            single: self.single.clone(),
            head: self.head.clone(),
            features: self.features.clone(),
            sharing: self.sharing.clone(),
            images: self.images,
            sound: self.sound,
            ctc: self.ctc,
        };
        let plan = model.plan(self.tokens.is_shared())?;
        plan.check_search(&self.search)?;
        Ok(plan)
    }

    /// Refuses one tokenizer where the configuration says two, and two where it says one. A language
    /// model has one, whatever it says.
    fn check_tokens(&self, found: &TokenizerPair) -> Result<(), &'static str> {
        match (self.tokens.is_shared(), found.is_shared()) {
            (true, false) => {
                Err("says one vocabulary for both sides, but there are tokenizer.source.json and \
                                  tokenizer.target.json; put tokenizer.json in their place, or train again")
            }
            (false, true) if self.task == Task::Translate => {
                Err("says one vocabulary for each side, but there is one tokenizer.json; put \
                     tokenizer.source.json and tokenizer.target.json in its place, or train again")
            }
            _ => Ok(()),
        }
    }
}

/// A model ready to be used.
#[derive(Debug)]
pub struct Saved {
    /// What the model is for.
    pub task: Task,
    /// What was built.
    pub plan: config::Plan,
    /// The parameters.
    pub model: Model,
    /// Its vocabulary.
    pub tokens: TokenizerPair,
    /// The labels that it tells, if it does.
    pub labels: Option<Arc<Labels>>,
    /// How it searches unless told otherwise.
    pub search: SearchConfig,
    /// What the values of sounds are divided by, where it is the same for all of them.
    pub statistics: Option<sound::Statistics>,
    /// Which tokens may be written for a source, if not all: [`Saved::with_shortlist`].
    pub shortlist: Option<Arc<Shortlist>>,
}

/// All of a run directory but the values of its parameters.
pub(crate) struct Opened {
    described: Described,
    pub(crate) plan: config::Plan,
    tokens: TokenizerPair,
    labels: Option<Arc<Labels>>,
    statistics: Option<sound::Statistics>,
    pub(crate) stored: Stored,
}

impl Opened {
    pub(crate) fn new(directory: &Path) -> Result<Self, ModelError> {
        let require = |file: &'static str| match directory.join(file).exists() {
            true => Ok(()),
            false => Err(ModelError::NotARun { path: directory.to_owned(), missing: file }),
        };
        [CONFIG, WEIGHTS].into_iter().try_for_each(require)?;
        let path = directory.join(CONFIG);
        let text = config::read_text(&path)?;
        let described: Described = config::read(&path, &text, |found: &Described| found.plan().map(drop))?;
        let plan = described.plan()?;
        let tokens = match plan.has_texts() {
            true => TokenizerPair::load(directory)?,
            false => TokenizerPair::of_bytes()?,
        };
        described
            .check_tokens(&tokens)
            .map_err(|message| ModelError::Vocabulary { path, message: message.to_owned() })?;
        let labels = match described.task.has_labels() {
            true => {
                require(LABELS)?;
                Some(Arc::new(Labels::load(directory)?))
            }
            false => None,
        };
        let of_corpus = |sound: &sound::Preparation| sound.normalisation == sound::Normalisation::Corpus;
        let statistics = match plan.sound.is_some_and(|sound| of_corpus(&sound)) {
            true => {
                require(sound::Statistics::FILE)?;
                Some(sound::Statistics::load(directory)?)
            }
            false => None,
        };
        let stored = Stored::open(&directory.join(WEIGHTS))?;
        if let (Some(labels), Some(answers)) = (&labels, stored.parameters().get(ANSWERS))
            && answers.shape != [labels.len()]
        {
            let (path, found, expected) = (directory.join(LABELS), labels.len(), answers.count());
            return Err(ModelError::OtherLabels { path, found, expected });
        }
        Ok(Self { described, plan, tokens, labels, statistics, stored })
    }

    pub(crate) fn vocabularies(&self) -> Vocabularies {
        Vocabularies::with_labels(&self.tokens, self.labels.as_deref())
    }
}

impl Saved {
    /// Loads the model in a run directory, ready to be used. Parameters that prediction reads in another form have no
    /// values: see [`Saved::load_whole`].
    pub fn load(directory: &Path, device: &Device) -> Result<Self, ModelError> {
        Self::load_with(directory, None, device)
    }

    /// The same with weights of this precision; if none is given, as the file has them.
    pub fn load_with(
        directory: &Path,
        precision: Option<Precision>,
        device: &Device,
    ) -> Result<Self, ModelError> {
        Self::load_as(directory, precision, device, false)
    }

    /// The same with values for all parameters, so that gradients can be asked for. Those of weights in eight bits are
    /// what the integers and their scales stand for.
    pub fn load_whole(directory: &Path, device: &Device) -> Result<Self, ModelError> {
        Self::load_as(directory, None, device, true)
    }

    fn load_as(
        directory: &Path,
        precision: Option<Precision>,
        device: &Device,
        whole: bool,
    ) -> Result<Self, ModelError> {
        let opened = Opened::new(directory)?;
        let stored = opened.stored.precision();
        if (precision, stored) == (Some(Precision::Float), Precision::Int8) {
            let path = opened.stored.path().to_owned();
            return Err(ModelError::Quantised {
                path,
                problem: "which cannot be floats again (--precision float)",
            });
        }
        let taking = Taking { precision: precision.unwrap_or(stored), whole };
        let model = Model::from_file(&opened.plan, opened.vocabularies(), &opened.stored, taking, device)?;
        let Opened { described, plan, tokens, labels, statistics, .. } = opened;
        let Described { task, search, .. } = described;
        Ok(Self { task, plan, model, tokens, labels, search, statistics, shortlist: None })
    }

    /// How examples become rows of ids for this model.
    pub fn coder(&self) -> Coder {
        self.task.coder(&self.tokens, self.labels.as_ref())
    }

    /// What makes frames of sounds for this model, if it reads them.
    ///
    /// # Errors
    /// If what is known of the corpus does not go with the features.
    pub fn preparer(&self) -> Result<Option<sound::Preparer>, ModelError> {
        let preparer = |sound| sound::Preparer::new(sound, self.statistics.clone());
        Ok(self.plan.sound.map(preparer).transpose()?)
    }

    /// How the texts of images become ids for this model.
    pub fn image_coder(&self) -> ImageCoder {
        self.task.image_coder(&self.tokens, self.labels.as_ref())
    }

    /// What a model reads of a source, number `index` of the input; an error if it cannot read it.
    pub(crate) fn source(&self, index: usize, source: Asked<'_>) -> Result<Source, ModelError> {
        match (source, &self.plan.images, &self.plan.sound) {
            (Asked::Text(text), None, None) => Ok(Source::Tokens(self.encode_source(index, text)?)),
            (Asked::Sound(frames), _, Some(sound)) => {
                let (found, wanted) = (frames.bands, sound.width());
                match (found == wanted && frames.values.len().is_multiple_of(wanted), frames.len()) {
                    (false, _) => Err(ModelError::OtherSound { index, found, wanted }),
                    (true, 0) => Err(ModelError::NoFrames { index }),
                    (true, count) if count > self.plan.most_frames() => {
                        Err(ModelError::TooManyFrames { index, count, limit: self.plan.most_frames() })
                    }
                    _ => Ok(Source::Sound(frames.clone())),
                }
            }
            (Asked::Image(image), Some(images), _) => {
                let found = [image.height(), image.width(), image.channels()];
                let wanted = [images.height, images.width, images.channels];
                match found == wanted {
                    true => Ok(Source::Image(image.clone())),
                    false => Err(ModelError::OtherImage { index, found, wanted }),
                }
            }
            _ => Err(ModelError::OtherSource { index, found: source.kind(), wanted: self.plan.sources() }),
        }
    }

    /// Refuses a model that does not write of what it reads.
    pub(crate) fn require_writer(&self) -> Result<(), ModelError> {
        match self.task.writes_of_sources() {
            true => Ok(()),
            false => Err(ModelError::OtherTask { found: self.task, wanted: Task::Translate }),
        }
    }

    /// Refuses what the model is not for.
    pub(crate) fn require(&self, wanted: Task) -> Result<(), ModelError> {
        match self.task == wanted {
            true => Ok(()),
            false => Err(ModelError::OtherTask { found: self.task, wanted }),
        }
    }
}
