//! `gatto shortlist`

use super::sources::note_skipped;
use crate::cli;
use anyhow::{Context, Result, ensure};
use gatto::Device;
use gatto::data::corpus::Position;
use gatto::data::lexicon::{ITERATIONS, Learner};
use gatto::data::{Corpus, Example, FileCorpus, Part};
use gatto::model::{CONFIG, Saved, Shortlist, ShortlistSize};
use gatto::train::{ConfigFile, Origin, corpora};
use rayon::prelude::*;
use std::io::{IsTerminal, Write};

/// Examples that are cut into tokens together.
const AT_ONCE: usize = 4096;
/// Validation examples that are looked at, at most.
const MOST_HELD: usize = 10_000;

pub(crate) fn run(arguments: cli::Shortlist) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| shortlist(&arguments, device))?
}

fn shortlist(arguments: &cli::Shortlist, device: &Device) -> Result<()> {
    let directory = &arguments.model;
    let saved = Saved::load(directory, device)?;
    saved.require_shortlistable(directory)?;
    let Data { mut train, valid } = Data::open(arguments)?;
    let mut learner = Learner::new(saved.tokens.source.size(), saved.tokens.target.size());
    let bar = super::bar(count(train.as_mut(), arguments.examples)?, "read");
    each(train.as_mut(), arguments.examples, &saved, |pairs| {
        bar.inc(pairs.len() as u64);
        pairs.iter().all(|(source, target)| learner.feed(source, target))
    })?;
    bar.finish_and_clear();
    note_skipped(train.as_ref());
    let examples = learner.examples();
    ensure!(examples > 0, "{}: has no example to learn from; give it a line for each", place(arguments));

    let bar = super::bar(ITERATIONS, "turns over the examples");
    let lexicon = learner.finish(ITERATIONS, || bar.inc(1));
    bar.finish_and_clear();
    let (best, frequent) = (usize::from(arguments.best), arguments.frequent as usize);
    let made = Shortlist::new(&lexicon, best, frequent, &saved.tokens);
    let coverage = valid.map(|mut valid| Coverage::of(&made, valid.as_mut(), &saved)).transpose()?;
    made.save(directory)?;
    let ShortlistSize { best, known, always } = made.size();
    let mut out = std::io::stderr();
    writeln!(
        out,
        "{}: from {examples} examples, at most {best} translations of each of {known} source tokens, and {always} tokens that \
         are always on it",
        directory.join(Shortlist::FILE).display()
    )?;
    match coverage {
        Some(Coverage { sentences, listed, tokens, found }) if sentences > 0 && tokens > 0 => writeln!(
            out,
            "on {sentences} validation sentences: {:.0} of {} tokens may be written on average, and {:.2} % of those that \
             should be are among them",
            listed as f64 / sentences as f64,
            saved.tokens.target.size(),
            found as f64 / tokens as f64 * 100.0
        )?,
        _ => writeln!(out, "note: no validation part of the model's data could be read to measure it on")?,
    }
    Ok(())
}

/// What there is to learn from, and to measure on.
struct Data {
    train: Box<dyn Corpus>,
    valid: Option<Box<dyn Corpus>>,
}

impl Data {
    fn open(arguments: &cli::Shortlist) -> Result<Self> {
        let path = arguments.model.join(CONFIG);
        let file = ConfigFile::read(&path, &[])?;
        let base = Origin::load(&arguments.model).map_or(file.base, |origin| origin.base);
        let part = |part| corpora::open(&file.config, &base, part);
        match (&arguments.source, &arguments.target) {
            // The model may be far from its data.
            (Some(source), Some(target)) => Ok(Self {
                train: Box::new(FileCorpus::parallel(source, target, false)?),
                valid: part(Part::Valid).ok().flatten(),
            }),
            _ => {
                let missing = || {
                    format!(
                        "{}: names no training data\n  hint: give --source FILE --target FILE",
                        path.display()
                    )
                };
                Ok(Self { train: part(Part::Train)?.with_context(missing)?, valid: part(Part::Valid)? })
            }
        }
    }
}

/// Where the examples stand, for messages.
fn place(arguments: &cli::Shortlist) -> std::path::Display<'_> {
    arguments.source.as_ref().unwrap_or(&arguments.model).display()
}

/// How many examples a corpus has, at most `most`, if there is a bar to show their number.
fn count(corpus: &mut dyn Corpus, most: u64) -> Result<usize> {
    let mut count = 0;
    while std::io::stderr().is_terminal() && (count as u64) < most && corpus.next()?.is_some() {
        count += 1;
    }
    corpus.seek(&Position::start())?;
    Ok(count)
}

/// Gives the tokens of the first examples of a corpus to `take`, some at a time, until it has enough.
fn each(
    corpus: &mut dyn Corpus,
    most: u64,
    saved: &Saved,
    mut take: impl FnMut(&[(Vec<u32>, Vec<u32>)]) -> bool,
) -> Result<()> {
    let mut left = most;
    loop {
        let mut examples: Vec<Example> = Vec::new();
        while examples.len() < AT_ONCE && left > 0 {
            let Some(example) = corpus.next()? else { break };
            examples.push(example);
            left -= 1;
        }
        let pairs: Vec<_> = examples.par_iter().map(|example| saved.tokens.encode(example)).collect();
        if pairs.is_empty() || !take(&pairs) {
            return Ok(());
        }
    }
}

/// How much of what should be written is on the lists.
#[derive(Default)]
struct Coverage {
    sentences: usize,
    /// Tokens of all lists.
    listed: usize,
    /// Tokens of all targets, without their ends, which are on every list.
    tokens: usize,
    /// Those that are on the list of their sentence.
    found: usize,
}

impl Coverage {
    fn of(shortlist: &Shortlist, corpus: &mut dyn Corpus, saved: &Saved) -> Result<Self> {
        let mut all = Self::default();
        each(corpus, MOST_HELD as u64, saved, |pairs| {
            for (source, target) in pairs {
                let list = shortlist.tokens_for(source, []);
                all.sentences += 1;
                all.listed += list.len();
                all.tokens += target.len();
                all.found += target.iter().filter(|&token| list.binary_search(token).is_ok()).count();
            }
            true
        })?;
        Ok(all)
    }
}
