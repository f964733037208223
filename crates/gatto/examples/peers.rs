//! Our side of the comparison with other programs. `benches/peers/compare.py` starts it, beside its peers:
//!
//! ```text
//! peers save CONFIG DIRECTORY      a run directory with a model that has learnt nothing
//! peers train SETTINGS             updates on given batches, as `gatto train` makes them
//! peers decode SETTINGS            translations of given sources, as `gatto predict` makes them
//! ```
//!
//! The last two write a line of JSON when they are ready, and then one for each line that they read: the seconds of
//! every call of a round. A round goes over the data until its time is up, and never ends inside it.

#![allow(clippy::print_stdout, reason = "what is measured goes to standard output")]

use anyhow::{Context, Result, bail, ensure};
use gatto::Device;
use gatto::data::random::mixed;
use gatto::data::tokens::SPECIALS;
use gatto::data::{Batch, Padded, Tokenizer, TokenizerPair};
use gatto::kernels::crew::Crew;
use gatto::model::{CONFIG, Model, ModelError, Saved, Vocabularies, WEIGHTS, weights};
use gatto::nn::Precision;
use gatto::train::{Config, ConfigFile, Lesson, Optimiser, Updated, update};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["save", config, directory] => save(Path::new(config), Path::new(directory)),
        ["train", settings] => {
            let training: Training = read(Path::new(settings))?;
            inside(training.threads, || train(&training))
        }
        ["decode", settings] => {
            let decoding: Decoding = read(Path::new(settings))?;
            inside(decoding.threads, || decode(&decoding))
        }
        _ => bail!("usage: peers save CONFIG DIRECTORY | train SETTINGS | decode SETTINGS"),
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Works inside a pool of so many threads, as the command line does.
fn inside(threads: usize, work: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(work)
}

/// Makes a call for each of `count` pieces of data, again and again, in rounds that are asked for. The first pass
/// warms up, and its results go with the word that all is ready.
fn rounds(count: usize, seconds: f64, mut call: impl FnMut(usize) -> Result<Value>) -> Result<()> {
    ensure!(count > 0, "there is nothing to compute");
    let first = (0..count).map(&mut call).collect::<Result<Vec<_>>>()?;
    println!("{}", json!({ "ready": first }));
    for line in std::io::stdin().lines() {
        line?;
        let (begun, mut times) = (Instant::now(), Vec::new());
        while times.is_empty() || begun.elapsed() < Duration::from_secs_f64(seconds) {
            for piece in 0..count {
                let start = Instant::now();
                call(piece)?;
                times.push(start.elapsed().as_secs_f64());
            }
        }
        println!("{}", json!({ "seconds": times }));
    }
    Ok(())
}

/// What to train on.
#[derive(Debug, Deserialize)]
struct Training {
    /// A configuration as `gatto train` reads it.
    config: PathBuf,
    /// Sources and targets, batch by batch, each row with its end.
    data: PathBuf,
    threads: usize,
    /// Seconds of a round, at least.
    seconds: f64,
}

#[derive(Debug, Deserialize)]
struct Rows {
    source: Vec<Vec<u32>>,
    target: Vec<Vec<u32>>,
}

impl Rows {
    fn batch(&self) -> Batch {
        let indices = (0..self.source.len() as u64).collect();
        Batch {
            source: Padded::new(&self.source).into(),
            target: Padded::new(&self.target),
            indices,
            each: 1,
        }
    }
}

fn train(settings: &Training) -> Result<()> {
    let config = ConfigFile::read(&settings.config, &[])?.config;
    let batches: Vec<Batch> = read::<Vec<Rows>>(&settings.data)?.iter().map(Rows::batch).collect();
    let sizes = Vocabularies { source: config.tokens.size, target: config.tokens.size };
    let mut model = Some(drawn(&config, sizes, &Device::flex().autodiff())?);
    let (mut optimiser, crew, mut step) = (Optimiser::default(), Crew::of_current_pool(), 0);
    rounds(batches.len(), settings.seconds, |batch| {
        step += 1;
        let lesson = Lesson {
            attention: config.attention.as_ref(),
            ..Lesson::new(&config.train, step, mixed(config.seed, step))
        };
        let before = model.take().context("an update has failed")?;
        let (batch, rate) = (slice::from_ref(&batches[batch]), config.train.learning_rate);
        let Updated { model: after, loss, tokens, .. } =
            update(before, batch, &lesson, rate, &mut optimiser, &crew)?;
        model = Some(after);
        Ok(json!(loss / tokens as f64))
    })
}

fn drawn(config: &Config, sizes: Vocabularies, device: &Device) -> Result<Model> {
    let plan = config.plan().map_err(ModelError::from)?;
    Ok(Model::new(&plan, sizes, config.seed, device))
}

/// Leaves a run directory as training does, with words that are numbers and parameters as they were drawn.
fn save(config: &Path, directory: &Path) -> Result<()> {
    let ConfigFile { config, text, .. } = ConfigFile::read(config, &[])?;
    fs::create_dir_all(directory)?;
    let words = (SPECIALS.len()..config.tokens.size).map(|id| format!("w{id}"));
    let tokens = TokenizerPair::together(Tokenizer::train(&config.tokens.source_recipe(), words)?);
    ensure!(tokens.source.size() == config.tokens.size, "every word is to be a token");
    let model = drawn(&config, Vocabularies::of(&tokens), &Device::flex())?;
    weights::save(&directory.join(WEIGHTS), &weights::collect(&model))?;
    tokens.save(directory)?;
    Ok(fs::write(directory.join(CONFIG), text)?)
}

/// What to translate.
#[derive(Debug, Deserialize)]
struct Decoding {
    /// A run directory.
    model: PathBuf,
    /// Sources of each call, without their ends.
    data: PathBuf,
    threads: usize,
    /// Seconds of a round, at least.
    seconds: f64,
    beam: usize,
    /// Tokens to write, the end among them: no fewer and no more.
    length: usize,
    /// The most sources that are computed together.
    together: usize,
    /// `float32` or `int8`.
    precision: String,
}

fn decode(settings: &Decoding) -> Result<()> {
    let precision = match settings.precision.as_str() {
        "float32" => Precision::Float,
        "int8" => Precision::Int8,
        other => bail!("{other}: is no precision; write float32 or int8"),
    };
    let mut saved = Saved::load_with(&settings.model, Some(precision), &Device::flex())?;
    saved.search.beam = settings.beam;
    saved.search.max_length = settings.length;
    saved.search.min_length = settings.length - 1;
    let calls: Vec<Vec<Vec<u32>>> = read(&settings.data)?;
    let text = |source: &Vec<u32>| {
        source.iter().map(|&id| saved.tokens.source.token(id)).collect::<Vec<_>>().join(" ")
    };
    let calls: Vec<Vec<String>> = calls.iter().map(|sources| sources.iter().map(text).collect()).collect();
    rounds(calls.len(), settings.seconds, |call| {
        let predictions = saved.predict(&calls[call], settings.together)?;
        Ok(predictions.iter().map(|prediction| json!(prediction.hypothesis.tokens)).collect())
    })
}
