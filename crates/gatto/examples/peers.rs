//! Our side of the comparison with other programs. `benches/peers/compare.py` starts it, beside its peers:
//!
//! ```text
//! peers save CONFIG DIRECTORY [LABELS]   a run directory with a model that has learnt nothing
//! peers shortlist TABLE DIRECTORY        a shortlist in a run directory, from translations that were drawn
//! peers train SETTINGS                   updates on given batches, as `gatto train` makes them
//! peers decode SETTINGS                  translations of given sources, as `gatto predict` makes them
//! peers classify SETTINGS                labels of given images, as `gatto predict` tells them
//! peers hear SETTINGS                    transcripts of given recordings, one by one, as `gatto predict` writes them
//! ```
//!
//! All but the first two write a line of JSON when they are ready, and then one for each line that they read: the seconds
//! of every call of a round. A round goes over the data until its time is up, and never ends inside it.

#![allow(clippy::print_stdout, reason = "what is measured goes to standard output")]

use anyhow::{Context, Result, bail, ensure};
use gatto::Device;
use gatto::data::images::{Image, ImageBatch, Pixels, Preparation};
use gatto::data::lexicon::Learner;
use gatto::data::random::mixed;
use gatto::data::sound::{Frames, Sound, SoundBatch};
use gatto::data::tokens::SPECIALS;
use gatto::data::{Batch, Example, Labels, Memory, Padded, Tokenizer, TokenizerPair, Unit};
use gatto::kernels::crew::Crew;
use gatto::model::{
    CONFIG, Model, ModelError, Request, Saved, Shortlist, Vocabularies, WEIGHTS, Writers, weights,
};
use gatto::nn::Precision;
use gatto::train::{Config, ConfigFile, Lesson, Optimiser, Updated, update};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};

#[allow(dead_code, reason = "a service gives pages back, and none is measured here")]
#[path = "../src/allocator.rs"]
mod allocator;

fn main() -> Result<()> {
    // As the command line does.
    allocator::for_training();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["save", config, directory] => save(Path::new(config), Path::new(directory), None),
        ["save", config, directory, labels] => {
            save(Path::new(config), Path::new(directory), Some(labels.parse()?))
        }
        ["shortlist", table, directory] => shortlist(Path::new(table), Path::new(directory)),
        ["train", settings] => {
            let training: Training = read(Path::new(settings))?;
            inside(training.threads, || train(&training))
        }
        ["decode", settings] => {
            let decoding: Decoding = read(Path::new(settings))?;
            inside(decoding.threads, || decode(&decoding))
        }
        ["classify", settings] => {
            let classifying: Classifying = read(Path::new(settings))?;
            inside(classifying.threads, || classify(&classifying))
        }
        ["hear", settings] => {
            let hearing: Hearing = read(Path::new(settings))?;
            inside(hearing.threads, || hear(&hearing))
        }
        _ => bail!(
            "usage: peers save CONFIG DIRECTORY [LABELS] | shortlist TABLE DIRECTORY | train | decode | classify | hear \
             SETTINGS"
        ),
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
    /// Sources and targets, batch by batch, each row with its end; or images, see [`Shown`], or recordings, see [`Heard`].
    data: PathBuf,
    /// Labels that the model tells apart, if it does.
    labels: Option<usize>,
    threads: usize,
    /// Seconds of a round, at least.
    seconds: f64,
}

/// Sentences of a batch.
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

/// Images of a batch or call. Their bytes are in a file beside, one image after the other.
#[derive(Debug, Deserialize)]
struct Shown {
    /// How many there are.
    images: usize,
    /// What is true of them: labels, or captions with their ends, those of an image one behind the other.
    target: Vec<Vec<u32>>,
}

/// All pieces of data in a file, with their images ready for a model.
fn shown(data: &Path, preparation: &Preparation) -> Result<Vec<(Vec<Pixels>, Shown)>> {
    let (pieces, path) = (read::<Vec<Shown>>(data)?, data.with_extension("pixels"));
    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
    let Preparation { height, width, channels, .. } = *preparation;
    let (size, count) = (height * width * channels, pieces.iter().map(|piece| piece.images).sum::<usize>());
    ensure!(size > 0 && bytes.len() == size * count, "{}: has not {count} images", path.display());
    let mut images = bytes.chunks_exact(size).map(|image| -> Result<Pixels> {
        let image = Image::new(height, width, channels, image.to_vec())?;
        Ok(preparation.prepare(&image, None)?.pixels)
    });
    let with_images = |piece: Shown| Ok((images.by_ref().take(piece.images).collect::<Result<_>>()?, piece));
    pieces.into_iter().map(with_images).collect()
}

/// Recordings of a batch. Their frames are in a file beside, one recording after the other.
#[derive(Debug, Deserialize)]
struct Heard {
    /// The frames of each.
    lengths: Vec<usize>,
    /// What is said in them, with its end.
    target: Vec<Vec<u32>>,
}

/// The numbers in the file beside some data.
fn values(data: &Path) -> Result<Vec<f32>> {
    let path = data.with_extension("values");
    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect())
}

/// As many numbers as there are in each of some pieces, one piece after the other.
fn cut<'a>(values: &mut &'a [f32], count: usize) -> Result<&'a [f32]> {
    let (piece, rest) = values.split_at_checked(count).context("the file of values is too short")?;
    *values = rest;
    Ok(piece)
}

fn heard(data: &Path, bands: usize, hop: f64) -> Result<Vec<Batch>> {
    let values = values(data)?;
    let mut rest = values.as_slice();
    let mut batch = |heard: Heard| {
        let frames =
            |length: &usize| Ok(Frames { values: cut(&mut rest, length * bands)?.to_vec(), bands, hop });
        let recordings = heard.lengths.iter().map(frames).collect::<Result<Vec<_>>>()?;
        Ok(Batch {
            source: SoundBatch::new(&recordings)?.into(),
            target: Padded::new(&heard.target),
            indices: (0..recordings.len() as u64).collect(),
            each: 1,
        })
    };
    read::<Vec<Heard>>(data)?.into_iter().map(&mut batch).collect()
}

/// The batches of a work.
fn batches(data: &Path, config: &Config) -> Result<Vec<Batch>> {
    if let Some(sound) = &config.sound {
        return heard(data, sound.width(), sound.features.hop / 1000.0);
    }
    let Some(preparation) = &config.images else {
        return Ok(read::<Vec<Rows>>(data)?.iter().map(Rows::batch).collect());
    };
    let batch = |(images, shown): (Vec<Pixels>, Shown)| {
        Ok(Batch {
            source: ImageBatch::new(&images)?.into(),
            each: shown.target.len() / images.len().max(1),
            target: Padded::new(&shown.target),
            indices: (0..images.len() as u64).collect(),
        })
    };
    shown(data, preparation)?.into_iter().map(batch).collect()
}

fn train(settings: &Training) -> Result<()> {
    let config = ConfigFile::read(&settings.config, &[])?.config;
    let batches = batches(&settings.data, &config)?;
    let mut model = Some(drawn(&config, settings.labels, &Device::flex().autodiff())?);
    let (mut optimiser, crew, mut step) = (Optimiser::default(), Crew::of_current_pool(), 0);
    rounds(batches.len(), settings.seconds, |batch| {
        step += 1;
        let lesson = Lesson {
            task: config.task,
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

/// A model that writes as many tokens as it reads, or tells so many labels.
fn drawn(config: &Config, labels: Option<usize>, device: &Device) -> Result<Model> {
    let plan = config.plan().map_err(ModelError::from)?;
    let tokens = config.tokens.size;
    let sizes = Vocabularies { source: tokens, target: labels.unwrap_or(tokens) };
    Ok(Model::new(&plan, sizes, config.seed, device))
}

/// Leaves a run directory as training does, with words and labels that are numbers and parameters as they were drawn.
fn save(config: &Path, directory: &Path, labels: Option<usize>) -> Result<()> {
    let ConfigFile { config, text, .. } = ConfigFile::read(config, &[])?;
    fs::create_dir_all(directory)?;
    let model = drawn(&config, labels, &Device::flex())?;
    weights::save(&directory.join(WEIGHTS), &weights::collect(&model))?;
    match labels {
        Some(count) => {
            let examples = (0..count).map(|id| Example::new("image", format!("{id:05}"))).collect();
            Labels::learn(Unit::Sequence, &mut Memory::new(examples))?.save(directory)?;
        }
        None => {
            let words = (SPECIALS.len()..config.tokens.size).map(|id| format!("w{id}"));
            let tokens = TokenizerPair::together(Tokenizer::train(&config.tokens.source_recipe(), words)?);
            ensure!(tokens.source.size() == config.tokens.size, "every word is to be a token");
            tokens.save(directory)?;
        }
    }
    Ok(fs::write(directory.join(CONFIG), text)?)
}

/// Tokens that are on every list: as many as `gatto shortlist` takes unless told otherwise.
const FREQUENT: usize = 100;

/// Leaves a shortlist in a run directory, from a table that has the translations of each source token by its number.
fn shortlist(table: &Path, directory: &Path) -> Result<()> {
    let translations: Vec<Vec<u32>> = read(table)?;
    let tokens = TokenizerPair::load(directory)?;
    let (source, target) = (tokens.source.size(), tokens.target.size());
    let known = |&token: &u32| (token as usize) < target;
    ensure!(
        translations.len() == source && translations.iter().flatten().all(known),
        "{}: is for other tokens",
        table.display()
    );
    let mut learner = Learner::new(source, target);
    for (token, translations) in (0..).zip(&translations) {
        learner.feed(&[token], translations);
    }
    // Every source is one token, so that a single turn counts what it became: the table as it was drawn.
    let lexicon = learner.finish(1, || ());
    Ok(Shortlist::new(&lexicon, Shortlist::MOST_BEST, FREQUENT, &tokens).save(directory)?)
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
    /// Whether to write from the shortlist in the run directory.
    shortlist: bool,
    /// `float32` or `int8`.
    precision: String,
}

/// A model with weights of a precision, ready to be used.
fn loaded(model: &Path, precision: &str) -> Result<Saved> {
    let precision = match precision {
        "float32" => Precision::Float,
        "int8" => Precision::Int8,
        other => bail!("{other}: is no precision; write float32 or int8"),
    };
    Ok(Saved::load_with(model, Some(precision), &Device::flex())?)
}

fn decode(settings: &Decoding) -> Result<()> {
    let mut saved = loaded(&settings.model, &settings.precision)?;
    if settings.shortlist {
        saved = saved.with_shortlist(&settings.model)?;
    }
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

/// What to tell labels of.
#[derive(Debug, Deserialize)]
struct Classifying {
    /// A run directory.
    model: PathBuf,
    /// Images, see [`Shown`].
    data: PathBuf,
    threads: usize,
    /// Seconds of a round, at least.
    seconds: f64,
    /// The most images that are computed together.
    together: usize,
    /// `float32` or `int8`.
    precision: String,
}

fn classify(settings: &Classifying) -> Result<()> {
    let saved = loaded(&settings.model, &settings.precision)?;
    let preparation = saved.plan.images.context("the model reads no images")?;
    let calls = shown(&settings.data, &preparation)?;
    rounds(calls.len(), settings.seconds, |call| {
        let told = saved.classify_images(&calls[call].0, settings.together)?;
        Ok(told.iter().map(|told| json!(told.probabilities)).collect())
    })
}

/// What to transcribe.
#[derive(Debug, Deserialize)]
struct Hearing {
    /// A run directory.
    model: PathBuf,
    /// How many samples the recordings of each call have; these are in a file beside, one recording after the other.
    data: PathBuf,
    threads: usize,
    /// Seconds of a round, at least.
    seconds: f64,
    /// Tokens to write, the end among them: no fewer and no more.
    length: usize,
}

/// Recordings of a call.
#[derive(Debug, Deserialize)]
struct Recordings {
    samples: Vec<usize>,
}

fn hear(settings: &Hearing) -> Result<()> {
    let mut saved = loaded(&settings.model, "float32")?;
    saved.search.beam = 1;
    saved.search.max_length = settings.length;
    saved.search.min_length = settings.length - 1;
    let preparer = saved.preparer()?.context("the model reads no sounds")?;
    let values = values(&settings.data)?;
    let mut rest = values.as_slice();
    let rate = preparer.preparation().rate;
    let mut sound = |count: &usize| Ok(Sound { samples: cut(&mut rest, *count)?.to_vec(), rate });
    let calls: Vec<Vec<Sound>> = read::<Vec<Recordings>>(&settings.data)?
        .iter()
        .map(|call| call.samples.iter().map(&mut sound).collect())
        .collect::<Result<_>>()?;
    let writers = Writers::alone(&saved)?;
    let transcript = |sound: &Sound| -> Result<Value> {
        let frames = preparer.prepare(sound, None).frames;
        let best = writers.best(&[Request::free(&frames)], 1, 1)?;
        let written = best.into_iter().flatten().next().context("nothing was written")?;
        Ok(json!(written.hypothesis.tokens))
    };
    rounds(calls.len(), settings.seconds, |call| calls[call].iter().map(transcript).collect())
}
