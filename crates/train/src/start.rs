//! The model before its first update: drawn from the seed, or parts of it from saved models.

use crate::config::{Config, ConfigFile, InitConfig, TrainConfig};
use crate::error::TrainError;
use crate::vocabulary::Vocabulary;
use burn::module::Param;
use burn::tensor::{Device, Tensor};
use gatto_data::{Labels, TokenizerPair};
use gatto_model::weights::{self, Change, Weights};
use gatto_model::{Model, Vocabularies, WEIGHTS};
use std::path::Path;

/// The model of a configuration, drawn from its seed.
pub(crate) fn drawn(config: &Config, sizes: Vocabularies, device: &Device) -> Result<Model, TrainError> {
    let plan = config.plan().map_err(gatto_model::ModelError::from)?;
    Ok(Model::new(&plan, sizes, config.seed, &device.clone().autodiff()))
}

/// Lets the parts that `[[init]]` names start from saved models.
pub(crate) fn transfer(
    mut model: Model,
    file: &ConfigFile,
    vocabulary: &Vocabulary,
) -> Result<Model, TrainError> {
    for init in &file.config.init {
        model = from_saved(model, init, &file.base, vocabulary)?;
    }
    Ok(model)
}

/// Keeps the parts that `freeze` names as they are. Refuses parts that are not there, here and in `rates`.
pub(crate) fn frozen(model: Model, config: &Config) -> Result<Model, TrainError> {
    let names: Vec<String> = weights::collect(&model).into_keys().collect();
    let TrainConfig { freeze, rates, .. } = &config.train;
    let named = freeze.iter().map(|part| ("train.freeze", part));
    for (key, part) in named.chain(rates.keys().map(|part| ("train.rates", part))) {
        if !names.iter().any(|name| inside(name, part).is_some()) {
            return Err(no_such_part(key, part, names.iter()));
        }
    }
    let frozen = |name: &String| config.train.freeze.iter().any(|part| inside(name, part).is_some());
    if names.iter().all(frozen) {
        return Err(TrainError::AllFrozen);
    }
    Ok(weights::change(model, &mut Freeze { parts: &config.train.freeze }))
}

/// What of `name` lies inside `part`; all of it if the part is the whole model.
pub(crate) fn inside<'a>(name: &'a str, part: &str) -> Option<&'a str> {
    match name.strip_prefix(part)? {
        rest if part.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('.'),
    }
}

fn no_such_part<'a>(key: &str, part: &str, names: impl Iterator<Item = &'a String>) -> TrainError {
    let mut parts: Vec<String> =
        names.map(|name| name.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")).collect();
    parts.dedup();
    TrainError::NoSuchPart { key: key.to_owned(), part: part.to_owned(), parts: parts.join(", ") }
}

fn from_saved(
    model: Model,
    init: &InitConfig,
    base: &Path,
    vocabulary: &Vocabulary,
) -> Result<Model, TrainError> {
    let directory = base.join(&init.from);
    let path = directory.join(WEIGHTS);
    let saved = weights::load(&path)?;
    let into = init.into.as_ref().unwrap_or(&init.part);
    let names = weights::collect(&model);
    // Only what both models have: a decoder that becomes an encoder leaves its output layer behind.
    let found: Weights = saved
        .iter()
        .filter_map(|(name, weight)| {
            let rest = inside(name, &init.part)?;
            let name = [into.as_str(), rest]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(".");
            names.contains_key(&name).then(|| (name, weight.clone()))
        })
        .collect();
    if found.is_empty() {
        let (part, known) = if saved.keys().any(|name| inside(name, &init.part).is_some()) {
            (into, &names)
        } else {
            (&init.part, &saved)
        };
        return Err(no_such_part("init", part, known.keys()));
    }
    if found.keys().any(|name| has_row_per_token(name)) {
        check_tokens(&found, init, into, &directory, vocabulary)?;
    }
    Ok(weights::install(model, found, &path, false)?)
}

/// Whether a parameter has a row or column for every token or label.
fn has_row_per_token(name: &str) -> bool {
    let scores = ["decoder.output.weight", "decoder.output.bias", "head.output.weight", "head.output.bias"];
    name.ends_with(".embedding.weight") || scores.contains(&name)
}

/// Refuses to give the vectors of one vocabulary to the tokens of another, and labels to other labels.
fn check_tokens(
    found: &Weights,
    init: &InitConfig,
    into: &str,
    directory: &Path,
    vocabulary: &Vocabulary,
) -> Result<(), TrainError> {
    let side = |pair: &TokenizerPair, name: &str| {
        let reads = name.starts_with("encoder") || name.starts_with("features");
        if reads { pair.source.clone() } else { pair.target.clone() }
    };
    for name in found.keys().filter(|name| has_row_per_token(name)) {
        if let Some(labels) = vocabulary.labels.as_ref().filter(|_| name.starts_with("head.")) {
            if Labels::load(directory).ok().as_ref() != Some(&**labels) {
                return Err(TrainError::OtherLabels { path: directory.to_owned(), name: name.clone() });
            }
            continue;
        }
        let saved = TokenizerPair::load(directory)?;
        let there = format!("{}{}", init.part, name.strip_prefix(into).unwrap_or(name));
        let (theirs, ours) = (side(&saved, &there), side(&vocabulary.tokens, name));
        if let Some(id) = (0..ours.size() as u32).find(|&id| ours.token(id) != theirs.token(id)) {
            return Err(TrainError::OtherVocabulary {
                path: directory.to_owned(),
                name: name.clone(),
                theirs: theirs.token(id).to_owned(),
                ours: ours.token(id).to_owned(),
                id,
            });
        }
    }
    Ok(())
}

struct Freeze<'a> {
    parts: &'a [String],
}

impl Change for Freeze<'_> {
    fn change<const D: usize>(&mut self, name: String, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let frozen = self.parts.iter().any(|part| inside(&name, part).is_some());
        if frozen { param.set_require_grad(false) } else { param }
    }
}
