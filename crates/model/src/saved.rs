//! A trained model with its vocabulary, as found in a run directory.
//!
//! A run directory holds `config.toml`, `model.safetensors` and `tokenizer.json` (or one such file
//! per side); all that training leaves beside them is not looked at here.

use crate::config::{
    self, AttentionConfig, Complaint, DecoderConfig, EncoderConfig, FeaturesConfig, HeadConfig, ModelConfig,
    SharingConfig, SingleConfig, Task,
};
use crate::error::ModelError;
use crate::model::{Model, Vocabularies};
use crate::stepping::Stepping;
use crate::weights;
use burn::tensor::Device;
use gatto_data::tokens::{TokenizerPair, TokensConfig};
use gatto_data::{Limits, evaluation_batches, in_input_order};
use gatto_nn::Noise;
use gatto_search::{Hypothesis, SearchConfig, greedy};
use serde::Deserialize;
use std::path::Path;

/// The configuration, in the run directory.
pub const CONFIG: &str = "config.toml";
/// The weights, in the run directory.
pub const WEIGHTS: &str = "model.safetensors";

/// The most tokens of one source.
pub(crate) const LONGEST_SOURCE: usize = 10_000;
/// The most source tokens that are computed together, padding included.
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
    #[serde(default)]
    search: SearchConfig,
}

impl Described {
    fn plan(&self) -> Result<config::Plan, Complaint> {
        self.search.check().map_err(|message| Complaint::new("search.max_length", message))?;
        let model = ModelConfig {
            task: self.task,
            encoder: self.encoder.clone(),
            decoder: self.decoder.clone(),
            attention: self.attention.clone(),
            single: self.single.clone(),
            head: self.head.clone(),
            features: self.features.clone(),
            sharing: self.sharing.clone(),
        };
        model.plan(self.tokens.is_shared())
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
    /// How it searches unless told otherwise.
    pub search: SearchConfig,
}

/// What a model made of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The output as text.
    pub text: String,
    /// The output as tokens, with their log-probabilities.
    pub hypothesis: Hypothesis,
}

impl Saved {
    /// Loads the model in a run directory.
    pub fn load(directory: &Path, device: &Device) -> Result<Self, ModelError> {
        if let Some(missing) = [CONFIG, WEIGHTS].into_iter().find(|file| !directory.join(file).exists()) {
            return Err(ModelError::NotARun { path: directory.to_owned(), missing });
        }
        let path = directory.join(CONFIG);
        let text = config::read_text(&path)?;
        let described: Described = config::read(&path, &text, |found: &Described| found.plan().map(drop))?;
        let plan = described.plan()?;
        let tokens = TokenizerPair::load(directory)?;
        described
            .check_tokens(&tokens)
            .map_err(|message| ModelError::Vocabulary { path, message: message.to_owned() })?;
        let vocabularies = Vocabularies::of(&tokens);
        let path = directory.join(WEIGHTS);
        let weights = weights::load(&path)?;
        let model = weights::install(Model::blank(&plan, vocabularies, device), weights, &path, true)?;
        Ok(Self { task: described.task, plan, model, tokens, search: described.search })
    }

    /// What the model makes of each source, in order. Sources of similar length are computed
    /// together, at most `batch` at a time and fewer where they are long.
    pub fn predict<S: AsRef<str>>(&self, sources: &[S], batch: usize) -> Result<Vec<Prediction>, ModelError> {
        let encode = |(index, source): (usize, &S)| {
            self.encode_source(index, source.as_ref()).map(|source| (source, Vec::new()))
        };
        let encoded = sources.iter().enumerate().map(encode).collect::<Result<Vec<_>, _>>()?;
        let limits = Limits { batch_tokens: Some(BATCH_TOKENS), batch_examples: Some(batch) };
        let mut found = Vec::with_capacity(sources.len());
        for batch in evaluation_batches(&encoded, &limits)? {
            let hypotheses = write(&self.model, &batch.source, self.search.max_length);
            found.extend(batch.indices.into_iter().zip(hypotheses));
        }
        let prediction = |hypothesis: Hypothesis| Prediction {
            text: self.tokens.target.decode(&hypothesis.tokens),
            hypothesis,
        };
        Ok(in_input_order(found).into_iter().map(prediction).collect())
    }
}

/// Reads a batch of sources and writes a target for each, by greedy search.
pub fn write(model: &Model, source: &gatto_data::Padded, max_length: usize) -> Vec<Hypothesis> {
    let memory = model.encode(source, &mut Noise::none());
    greedy(&Stepping::new(model, memory, source.rows), &vec![max_length; source.rows])
}
