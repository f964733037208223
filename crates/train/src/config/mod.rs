//! A whole configuration file: the data, the model, how it is trained and how it searches.

mod masking;
mod settings;
mod task;

pub use masking::MaskingConfig;
pub use settings::{
    Decay, Figure, HardestConfig, InitConfig, OptimiserKind, SamplingConfig, SamplingDecay, ScheduleKind,
    TrainConfig,
};

use gatto_data::images::Preparation;
use gatto_data::{DataConfig, DataError, TokensConfig};
use gatto_model::config::{
    Complaint, ConfigError, CtcConfig, FeaturesConfig, HeadConfig, Plan, Reader, read, read_text,
};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, ModelConfig, SharingConfig, SingleConfig, Task,
};
use gatto_search::SearchConfig;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a configuration file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What the model is for.
    pub task: Task,
    /// Where every random choice comes from.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The examples.
    pub data: DataConfig,
    /// The vocabulary.
    #[serde(default)]
    pub tokens: TokensConfig,
    /// What reads the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<EncoderConfig>,
    /// What writes the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoder: Option<DecoderConfig>,
    /// How the decoder looks back at the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention: Option<AttentionConfig>,
    /// One network for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single: Option<SingleConfig>,
    /// What the encoder's states are for, where there is no decoder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadConfig>,
    /// A language model whose states stand beside the token vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<FeaturesConfig>,
    /// Which parameters do double duty.
    #[serde(default)]
    pub sharing: SharingConfig,
    /// How images become what the encoder reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Preparation>,
    /// How sounds become what an encoder of sounds reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sound: Option<gatto_data::sound::Preparation>,
    /// How an encoder of sounds learns to tell the text by itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ctc: Option<CtcConfig>,
    /// Parts that start from a saved model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<InitConfig>,
    /// How the parameters are fitted.
    #[serde(default)]
    pub train: TrainConfig,
    /// How output is chosen.
    #[serde(default)]
    pub search: SearchConfig,
}

fn default_seed() -> u64 {
    1
}

/// A configuration beside the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigFile {
    /// What it says.
    pub config: Config,
    /// The text, with the changes of `--set` applied.
    pub text: String,
    /// Where relative paths start.
    pub base: PathBuf,
}

impl ConfigFile {
    /// Reads a file, with `changes` of the form `train.steps=100` applied.
    pub fn read(path: &Path, changes: &[String]) -> Result<Self, ConfigError> {
        let text = read_text(path)?;
        let base = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::parse(path, text, base, changes)
    }

    /// Reads `text`, which errors call `path`.
    pub fn parse(path: &Path, text: String, base: PathBuf, changes: &[String]) -> Result<Self, ConfigError> {
        let check = |config: &Config| config.plan().map(drop);
        let config = read(path, &text, check)?;
        if changes.is_empty() {
            return Ok(Self { config, text, base });
        }
        let text = changed(&text, changes)?;
        match read(path, &text, check) {
            Ok(config) => Ok(Self { config, text, base }),
            // The lines are not those of the file: the change is to be named.
            Err(ConfigError::Wrong { message, .. }) => {
                Err(ConfigError::Change { change: changes.join(" --set "), message })
            }
            Err(error) => Err(error),
        }
    }
}

/// The text with keys set, each change a line of TOML such as `train.steps=100`; a value that is not
/// TOML is taken as text.
fn changed(text: &str, changes: &[String]) -> Result<String, ConfigError> {
    let wrong = |change: &str, message: String| ConfigError::Change { change: change.to_owned(), message };
    let whole = || changes.join(" --set ");
    let mut table: toml::Table =
        toml::from_str(text).map_err(|error| wrong(&whole(), error.message().to_owned()))?;
    for change in changes {
        let Some((key, value)) = change.split_once('=') else {
            return Err(wrong(change, "has no `=`; write for example --set train.steps=100".to_owned()));
        };
        let parsed = toml::from_str::<toml::Table>(&format!("value = {value}"))
            .ok()
            .and_then(|mut table| table.remove("value"));
        let value = parsed.unwrap_or_else(|| toml::Value::String(value.to_owned()));
        set(&mut table, key.trim(), value)
            .map_err(|name| wrong(change, format!("`{name}` is a value and has no keys inside it")))?;
    }
    let settings = toml::to_string(&table).map_err(|error| wrong(&whole(), error.to_string()))?;
    Ok(format!("# with --set {}\n{settings}", whole()))
}

fn set(table: &mut toml::Table, key: &str, value: toml::Value) -> Result<(), String> {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
            Ok(())
        }
        Some((name, rest)) => {
            let inner = table.entry(name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            set(inner.as_table_mut().ok_or_else(|| name.to_owned())?, rest, value)
        }
    }
}

impl Config {
    /// Refuses what makes no sense, and says what is to be built.
    pub fn plan(&self) -> Result<Plan, Complaint> {
        let of_data = |error: DataError| match error {
            DataError::Config { key, problem } => Complaint::new(key, problem),
            other => Complaint::new("data", other.to_string()),
        };
        self.data.resolve(Path::new("")).map_err(of_data)?;
        self.tokens.validate().map_err(|error| match error {
            DataError::Config { key, problem } if key.starts_with("tokens.") => Complaint::new(key, problem),
            DataError::Config { key, problem } => Complaint::new(format!("tokens.{key}"), problem),
            other => Complaint::new("tokens.size", format!("is too small: {other}")),
        })?;
        self.train.check(&self.data)?;
        if let Some((key, message)) = self.search.problems().into_iter().next() {
            return Err(Complaint::new(format!("search.{key}"), message));
        }
        self.check_task()?;
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
        self.check_images(&plan)?;
        self.check_sounds(&plan)?;
        self.check_positions(&plan)?;
        Ok(plan)
    }

    /// Refuses to train on, or to write, sequences that there are no positions for.
    fn check_positions(&self, plan: &Plan) -> Result<(), Complaint> {
        let longest = self.train.max_length + 1; // with its end
        let too_few = |key: String, most: usize, needed: usize, why: &str| {
            let remedy = format!("write `max_positions = {needed}`, or a smaller `max_length`");
            Err(Complaint::new(key, format!("is {most}, but {why}; {remedy}")))
        };
        let lets_in = format!("`train.max_length` lets sequences of {longest} tokens in, their end counted");
        match self.attention.as_ref().and_then(AttentionConfig::most_positions) {
            Some(most) if most < longest => {
                return too_few("attention.max_positions".into(), most, longest, &lets_in);
            }
            _ => {}
        }
        if let Some(encoder) = plan.encoder() {
            // A token may stand before the sequence.
            let needed = longest + 1;
            match encoder.most_positions() {
                Some(most) if most < needed => {
                    let key = format!("encoder.{}.max_positions", encoder.parts().0);
                    return too_few(key, most, needed, &format!("{lets_in}, and one may stand before them"));
                }
                _ => {}
            }
        }
        if let Some(decoder) = plan.decoder() {
            let side = if plan.reader == Reader::Itself { "single" } else { "decoder" };
            let written = self.search.max_length + 1;
            let before = if plan.reader == Reader::Itself { longest } else { 0 };
            let key = format!("{side}.{}.max_positions", decoder.parts().0);
            match decoder.most_positions() {
                Some(most) if most < before + longest => {
                    return too_few(key, most, before + longest, &lets_in);
                }
                Some(most) if most < before + written => {
                    let writes = format!("`search.max_length` lets {} tokens be written", written - 1);
                    return too_few(key, most, before + written, &writes);
                }
                _ => {}
            }
        }
        Ok(())
    }
}
