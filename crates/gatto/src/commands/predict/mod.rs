//! `gatto predict`

mod continuing;
mod filling;
mod labels;
mod translate;

use crate::cli::Predict;
use crate::lines::{Lines, write_output};
use anyhow::{Result, bail, ensure};
use gatto::Device;
use gatto::model::{ModelError, Saved, Task};
use gatto::search::beam_memory;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Lines that are read, sorted by length and computed before any of them is written, in batches.
const BATCHES_AT_ONCE: usize = 16;

pub(crate) fn run(arguments: Predict) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| predict(&arguments, device))?
}

/// Lines that were read together.
struct Read<'a> {
    saved: &'a Saved,
    arguments: &'a Predict,
    sources: &'a [String],
    /// How many lines came before them.
    before: usize,
}

impl Read<'_> {
    fn batch(&self) -> usize {
        self.arguments.batch as usize
    }
}

/// What is written for each line that was read.
type Answers = fn(&Read<'_>) -> Result<Vec<String>, ModelError>;

fn predict(arguments: &Predict, device: &Device) -> Result<()> {
    let mut saved = Saved::load(&arguments.model, device)?;
    let answers: Answers = match saved.task {
        Task::Translate => translate::answers,
        Task::LanguageModel => continuing::answers,
        Task::MaskedLanguageModel => filling::answers,
        Task::Classify => labels::of_texts,
        Task::Label => labels::of_words,
        Task::BidirectionalLanguageModel => bail!(
            "{}: is a language model of both directions, which neither writes nor fills gaps; measure it with \
             `gatto evaluate`\n  hint: let another model read its states, with [features.lstm] and [[init]] in a \
             configuration",
            arguments.model.display()
        ),
    };
    check_flags(arguments, &saved)?;
    if let Some(length) = arguments.max_length {
        saved.search.max_length = length as usize;
    }
    saved.search = arguments.search.over(&saved.search);
    check_search(&saved, arguments.n_best.unwrap_or(1) as usize, arguments.batch as usize)?;
    let lines = Lines::open(arguments.input.as_deref())?;
    let progress = progress(arguments);
    let (name, mut before) = (lines.name(), 0);
    write_output(arguments.output.as_deref(), |out| {
        for sources in lines.chunks(arguments.batch as usize * BATCHES_AT_ONCE) {
            let sources = sources?;
            let place = |index| format!("{name}, line {}", before + index + 1);
            let read = Read { saved: &saved, arguments, sources: &sources, before };
            for answer in answers(&read).map_err(|error| super::sources::too_long(error, place))? {
                writeln!(out, "{answer}")?;
            }
            out.flush()?;
            before += sources.len();
            progress.inc(sources.len() as u64);
        }
        progress.finish_and_clear();
        Ok(())
    })
}

/// Refuses flags that are for other models.
fn check_flags(arguments: &Predict, saved: &Saved) -> Result<()> {
    let model = arguments.model.display();
    if arguments.alignment.is_some() {
        super::sources::require_attention(saved, &arguments.model, false)?;
    }
    ensure!(
        !arguments.sampling.sample || saved.task == Task::LanguageModel,
        "--sample is for language models, and {model} is for `task = \"{}\"`",
        saved.task
    );
    ensure!(
        arguments.max_length.is_none() || saved.task.writes(),
        "--max-length is for models that write, and {model} is for `task = \"{}\"`",
        saved.task
    );
    ensure!(
        (!arguments.search.is_given() && arguments.n_best.is_none()) || saved.task == Task::Translate,
        "--beam and the other flags of search are for translators, and {model} is for `task = \"{}\"`",
        saved.task
    );
    Ok(())
}

/// Refuses a search that makes no sense: for so many outputs of each source, so many sources at once.
pub(super) fn check_search(saved: &Saved, wanted: usize, batch: usize) -> Result<()> {
    if let Some((key, problem)) = saved.search.problems().into_iter().next() {
        bail!("--{}: {problem}", key.replace('_', "-"));
    }
    let beam = saved.search.beam;
    ensure!(
        wanted <= beam,
        "--n-best {wanted} needs a beam of as many hypotheses, and it is {beam}; write --beam {wanted}"
    );
    let needed = beam_memory(batch, beam, saved.model.vocabularies().target, 0);
    ensure!(
        needed.bytes <= MOST_SCORES,
        "--beam {beam} with --batch {batch} needs more memory than {} GiB for its scores alone: {}; take a smaller one",
        MOST_SCORES >> 30,
        needed.arithmetic
    );
    Ok(())
}

/// The most bytes of scores that one step may take.
const MOST_SCORES: u64 = 4 << 30;

/// Lines done so far, once it takes more than two seconds and output does not go to the terminal anyway.
fn progress(arguments: &Predict) -> ProgressBar {
    if arguments.output.is_none() && std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let lines = arguments.input.as_ref().and_then(|path| count_lines(path));
    let template = match lines {
        Some(_) => "{bar:30} {pos}/{len} lines  {per_sec}  {eta} left",
        None => "{spinner} {pos} lines  {per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = lines.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style);
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// The lines of a file, if there is a bar to show their number: what is no file can be read only once.
fn count_lines(path: &std::path::Path) -> Option<u64> {
    if !std::io::stderr().is_terminal() || !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut lines = Lines::open(Some(path)).ok()?;
    let mut count = 0;
    while lines.next().ok()?.is_some() {
        count += 1;
    }
    Some(count)
}

/// One output is one line, whatever a model writes.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
