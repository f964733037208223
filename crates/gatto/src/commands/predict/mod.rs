//! `gatto predict`

mod continuing;
mod filling;
mod labels;
mod sounds;
mod translate;
mod wishes;

use crate::cli::Predict;
use crate::commands::images::Images;
use crate::commands::sounds::Sounds;
use crate::lines::{Lines, write_output};
use anyhow::{Result, bail, ensure};
use gatto::Device;
use gatto::data::images::Pixels;
use gatto::model::{Drawing, ModelError, Saved, Task, Writers};
use gatto::search::{self, beam_memory};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
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
    /// The images that they name, for a model of images.
    images: Option<&'a [Pixels]>,
    /// How many lines came before them.
    before: usize,
}

impl Read<'_> {
    fn batch(&self) -> usize {
        self.arguments.batch as usize
    }

    /// How many outputs each line gets.
    fn count(&self) -> usize {
        self.arguments.n_best.unwrap_or(1) as usize
    }

    /// How tokens are drawn, if they are.
    fn drawing(&self) -> Option<Drawing> {
        let given = &self.arguments.sampling;
        given.sample.then(|| Drawing {
            sampling: search::Sampling {
                temperature: given.temperature,
                top_k: given.top_k.map(|most| most as usize),
                top_p: given.top_p,
                min_p: given.min_p,
            },
            seed: given.seed,
        })
    }

    /// An output among the best of a line, which is the `index`-th of these: `line ||| output ||| score`.
    fn ranked(&self, index: usize, text: &str, score: f64) -> String {
        format!("{} ||| {} ||| {score:.6}", self.before + index + 1, one_line(text))
    }
}

fn predict(arguments: &Predict, device: &Device) -> Result<()> {
    let saved = arguments.loading.load(&arguments.model, device)?;
    let mut saved = super::sources::masked(saved, &arguments.mask_head, &arguments.model)?;
    ensure!(
        saved.task != Task::BidirectionalLanguageModel,
        "{}: is a language model of both directions, which neither writes nor fills gaps; measure it with \
         `gatto evaluate`\n  hint: let another model read its states, with [features.lstm] and [[init]] in a \
         configuration",
        arguments.model.display()
    );
    check_flags(arguments, &saved)?;
    if saved.plan.sound.is_some() {
        sounds::check_flags(arguments)?;
    }
    if let Some(length) = arguments.max_length {
        saved.search.max_length = length as usize;
    }
    let constrain = &arguments.constrain;
    let phrases = !constrain.of_all.must.is_empty() || constrain.constraints.is_some();
    saved.search = arguments.search.over(&saved.search, phrases);
    let wanted = arguments.n_best.unwrap_or(1) as usize;
    let models = 1 + arguments.together.with.len();
    // Alternatives are searched for side by side, one source at a time.
    let batch = arguments.batch.max(arguments.alternatives.unwrap_or(1)) as usize;
    if arguments.sampling.sample {
        check_keys(&saved)?;
        check_memory(&saved, ("--n-best", wanted), batch, models)?;
    } else {
        check_search(&saved, wanted, batch, models)?;
    }
    let others = super::others(&arguments.together, |path| arguments.loading.load(path, device))?;
    let language = &arguments.language.lm;
    let language = language.as_ref().map(|path| arguments.loading.weights.load(path, device)).transpose()?;
    let models = std::iter::once(&saved).chain(&others).collect();
    let writers = match saved.task {
        Task::Translate | Task::Caption | Task::Transcribe => {
            let writers = Writers::together(models, arguments.together.mean.into())?;
            Some(match &language {
                Some(model) => writers.beside_language_model(model, arguments.language.lm_weight)?,
                None => writers,
            })
        }
        _ => None,
    };
    ensure!(
        language.is_none() || writers.is_some(),
        "--lm is for models that write of a source, and {} does not",
        arguments.model.display()
    );
    let longest = arguments.piece_seconds;
    if let (Some(sounds), Some(writers)) = (Sounds::of(&saved, &arguments.model, longest)?, &writers) {
        return sounds::predict(&saved, arguments, writers, &sounds);
    }
    ensure!(
        longest.is_none(),
        "--piece-seconds is for models of sounds, and {} reads {}",
        arguments.model.display(),
        saved.plan.sources()
    );
    let mut wishes = wishes::Wishes::new(&arguments.constrain, &saved)?;
    // Images are large, and come in one size: nothing is gained by sorting many of them.
    let batches = if saved.plan.images.is_some() { 4 } else { BATCHES_AT_ONCE };
    let at_once = arguments.batch as usize * batches;
    let (name, chunks): (String, Box<dyn Iterator<Item = Result<Vec<String>>>>) = match &arguments.files[..] {
        [] => {
            let lines = Lines::open(arguments.input.as_deref())?;
            (lines.name(), Box::new(lines.chunks(at_once)))
        }
        files => {
            let name = |file: &PathBuf| match file.to_str() {
                Some(name) => Ok(name.to_owned()),
                None => bail!("{}: the name is not UTF-8; rename the file", file.display()),
            };
            let names = files.iter().map(name).collect::<Result<Vec<_>>>()?;
            let chunks: Vec<_> = names.chunks(at_once).map(|chunk| Ok(chunk.to_vec())).collect();
            ("the images".to_owned(), Box::new(chunks.into_iter()))
        }
    };
    let images = Images::of(&saved, &arguments.model)?;
    let progress = progress(arguments);
    let mut before = 0;
    write_output(arguments.output.as_deref(), |out| {
        for sources in chunks {
            let sources = sources?;
            let place = |index| format!("{name}, line {}", before + index + 1);
            let images = images.as_ref().map(|images| images.pixels(&sources)).transpose()?;
            let read =
                Read { saved: &saved, arguments, sources: &sources, images: images.as_deref(), before };
            let own = wishes.take(sources.len())?;
            let answers = match &writers {
                Some(writers) => {
                    translate::answers(&read, writers, &wishes.requests(&sources, read.images, &own))
                }
                None => answers(&read),
            };
            for answer in answers.map_err(|error| super::sources::too_long(error, place))? {
                writeln!(out, "{answer}")?;
            }
            out.flush()?;
            before += sources.len();
            progress.inc(sources.len() as u64);
        }
        progress.finish_and_clear();
        wishes.end()
    })
}

/// What is written for each line by a model that is no translator.
fn answers(read: &Read<'_>) -> Result<Vec<String>, ModelError> {
    match read.saved.task {
        Task::LanguageModel => continuing::answers(read),
        Task::Classify => labels::of_sources(read),
        Task::Label => labels::of_words(read),
        _ => filling::answers(read),
    }
}

/// Refuses flags that are for other models.
fn check_flags(arguments: &Predict, saved: &Saved) -> Result<()> {
    let model = arguments.model.display();
    ensure!(
        arguments.files.is_empty() || saved.plan.images.is_some() || saved.plan.sound.is_some(),
        "{model}: reads texts, and no images; give them as lines of standard input, or with --input FILE"
    );
    ensure!(
        arguments.alignment.is_none() || saved.task != Task::Caption,
        "--alignment is for words, and {model} reads images; see where it looks with --json, or `gatto look`"
    );
    if arguments.alignment.is_some() {
        super::sources::require_attention(saved, &arguments.model, false)?;
    }
    let for_writers = [
        ("--sample is", arguments.sampling.sample),
        ("--max-length is", arguments.max_length.is_some()),
        ("--n-best is", arguments.n_best.is_some()),
        ("--beam and the other flags of search are", arguments.search.is_given()),
    ];
    if let Some((flags, _)) = for_writers.into_iter().find(|&(_, given)| given && !saved.task.writes()) {
        bail!("{flags} for models that write, and {model} is for `task = \"{}\"`", saved.task);
    }
    let with = (!arguments.together.with.is_empty()).then_some("--with");
    let alternatives = arguments.alternatives.map(|_| "--alternatives");
    let reads_texts = saved.plan.images.is_none() && saved.plan.sound.is_none();
    if let Some(flag) = arguments.search.of_sources().filter(|_| !reads_texts && saved.task.writes()) {
        bail!("{flag} is for sources that are texts, and {model} reads {}", saved.plan.sources());
    }
    let for_translators = [arguments.search.of_sources(), arguments.constrain.given(), with, alternatives];
    if let Some(flag) =
        for_translators.into_iter().flatten().next().filter(|_| !saved.task.writes_of_sources())
    {
        bail!("{flag} is for models that write of a source, and {model} is for `task = \"{}\"`", saved.task);
    }
    let sampled = arguments.sampling.sample;
    let unheeded = [
        ("--beam and the other flags of search", arguments.search.is_given()),
        ("--must", !arguments.constrain.of_all.must.is_empty()),
        ("--never", !arguments.constrain.of_all.never.is_empty()),
        ("--constraints", arguments.constrain.constraints.is_some()),
        ("--alternatives", arguments.alternatives.is_some()),
    ];
    if let Some((flags, _)) = unheeded.into_iter().find(|&(_, given)| given && sampled) {
        bail!("{flags} and --sample do not go together: what is drawn is not searched for");
    }
    ensure!(
        arguments.alignment.is_none() || with.is_none(),
        "--alignment and --with do not go together: every model looks elsewhere"
    );
    Ok(())
}

/// Refuses a search that makes no sense, or that there is no memory for: for so many outputs of each source, so many
/// sources at once, and so many models together.
pub(super) fn check_search(saved: &Saved, wanted: usize, batch: usize, models: usize) -> Result<()> {
    check_keys(saved)?;
    let beam = saved.search.beam;
    ensure!(
        wanted <= beam,
        "--n-best {wanted} needs a beam of as many hypotheses, and it is {beam}; write --beam {wanted}"
    );
    if saved.task.writes() { check_memory(saved, ("--beam", beam), batch, models) } else { Ok(()) }
}

/// Refuses settings out of their range.
fn check_keys(saved: &Saved) -> Result<()> {
    match saved.search.problems().into_iter().next() {
        Some((key, problem)) => bail!("--{}: {problem}", key.replace('_', "-")),
        None => match saved.plan.check_search(&saved.search) {
            Err(complaint) => bail!("--ctc {}", complaint.message),
            Ok(()) => Ok(()),
        },
    }
}

/// Refuses more than there is memory for: so many outputs of each source at once, by this flag.
fn check_memory(saved: &Saved, (flag, beam): (&str, usize), batch: usize, models: usize) -> Result<()> {
    let threads = rayon::current_num_threads();
    let state = saved.plan.state_bytes(saved.search.max_length).saturating_mul(models as u64);
    let needed = beam_memory(batch * threads, beam, saved.model.vocabularies().target, state);
    let there = available_memory();
    ensure!(
        needed.bytes <= there,
        "{flag} {beam} with --batch {batch} on {threads} threads may need more memory than the {:.1} GiB that are free: \
         {}\n  hint: take a smaller beam or batch, or a lower --max-length",
        there as f64 / (1u64 << 30) as f64,
        needed.arithmetic
    );
    Ok(())
}

/// The bytes of memory that are free, or a guess where the system does not tell.
fn available_memory() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    told.map_or(GUESSED_MEMORY, |kilobytes| kilobytes.saturating_mul(1024))
}

/// The memory that a machine is taken to have.
const GUESSED_MEMORY: u64 = 4 << 30;

/// Lines done so far, once it takes more than two seconds and output does not go to the terminal anyway.
fn progress(arguments: &Predict) -> ProgressBar {
    if arguments.output.is_none() && std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let lines = match arguments.files.len() {
        0 => arguments.input.as_ref().and_then(|path| count_lines(path)),
        files => Some(files as u64),
    };
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
