//! What several commands read: examples to measure on, and sources that a model can take.

use crate::cli::{Held, HeldPart};
use anyhow::{Context, Result, anyhow, bail, ensure};
use gatto::data::{Corpus, DataConfig, DataError, Example, FileCorpus, Files, Link, Part, Side, words};
use gatto::metrics::Alignment;
use gatto::model::{AttentionKind, CONFIG, HeadPlace, ModelError, Saved, Task};
use gatto::train::{ConfigFile, Origin, corpora};
use std::io::Write;
use std::path::Path;

/// The error of a prediction, with a source named by its place in the whole input.
pub(super) fn too_long(error: ModelError, place: impl Fn(usize) -> String) -> anyhow::Error {
    match error {
        ModelError::TooLong { index, count, limit } => {
            anyhow!("{}: has {count} tokens; at most {limit} can be read at once: split it", place(index))
        }
        ModelError::BeyondPositions { index, count, limit } => anyhow!(
            "{}: has {count} tokens with its end, and `max_positions` of this model is {limit}: split it, or \
             train with more",
            place(index)
        ),
        ModelError::Constraints { index, problem } => anyhow!("{}: {problem}", place(index)),
        other => other.into(),
    }
}

/// A model with some of its heads masked.
pub(super) fn masked(saved: Saved, heads: &[HeadPlace], model: &Path) -> Result<Saved> {
    match heads {
        [] => Ok(saved),
        heads => saved.masked(heads).map_err(|error| anyhow!("{}: {error}", model.display())),
    }
}

/// Refuses a model that cannot be looked into; one without attention can at least be explained.
pub(super) fn require_attention(saved: &Saved, model: &Path, explained: bool) -> Result<()> {
    if saved.task == Task::LanguageModel {
        bail!("{}: is a language model and reads no source to look at", model.display());
    }
    if !saved.task.writes() {
        bail!("{}: is for `task = \"{}\"` and writes nothing to look at", model.display(), saved.task);
    }
    let attentions = saved.plan.attentions();
    if attentions.contains(&AttentionKind::Cross) || explained {
        return Ok(());
    }
    if attentions.contains(&AttentionKind::Decoder) {
        bail!(
            "{}: has no attention to the source alone\n  hint: see what it looks at with `gatto look`",
            model.display()
        );
    }
    bail!(
        "{}: has no attention, so there is nothing to look at\n  \
         hint: add [attention] to its configuration, or see what its output depends on with \
         `gatto look --explain`",
        model.display()
    )
}

/// What examples are grouped by: a column of the data, or the lines of a file beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grouping<'a> {
    pub(super) column: Option<&'a str>,
    pub(super) file: Option<&'a Path>,
}

/// Held-out examples: the files that were named, or a part of the model's data.
pub(super) fn examples(
    held: &Held,
    saved: &Saved,
    model: &Path,
    of_a_builtin_task: u64,
) -> Result<Vec<Example>> {
    grouped_examples(held, saved, model, of_a_builtin_task, Grouping::default())
}

/// The same, each with the group that it belongs to.
pub(super) fn grouped_examples(
    held: &Held,
    saved: &Saved,
    model: &Path,
    of_a_builtin_task: u64,
    grouping: Grouping<'_>,
) -> Result<Vec<Example>> {
    ensure!(held.images.is_none(), "--images is for models of images, and {} reads texts", model.display());
    ensure!(held.sounds.is_none(), "--sounds is for models of sounds, and {} reads texts", model.display());
    ensure!(held.join.is_none(), "--join is for models of sounds, and {} reads texts", model.display());
    let config = ConfigFile::read(&model.join(CONFIG), &[])?;
    let chosen = [&held.source, &held.target, &held.text, &held.data].iter().any(|file| file.is_some());
    let of_builtin = !chosen && config.config.data.builtin.is_some();
    let most = held.examples.or(of_builtin.then_some(of_a_builtin_task));
    let mut corpus = open(held, saved, model, config, grouping.column)?;
    let values = grouping.file.map(Values::read).transpose()?;
    let coder = saved.coder();
    let mut examples = Vec::new();
    let mut ended = false;
    while most.is_none_or(|most| (examples.len() as u64) < most) && !ended {
        match coder.read(corpus.as_mut())? {
            Some((mut example, _)) => {
                if let Some(values) = &values {
                    example.group = Some(values.of(corpus.as_ref())?);
                }
                examples.push(example);
            }
            None => ended = true,
        }
    }
    note_skipped(corpus.as_ref());
    ensure!(
        !examples.is_empty(),
        "{}: has no example to evaluate on; give it a line for each",
        place(held, model).display()
    );
    if let Some(values) = values.filter(|_| ended) {
        values.check_end(corpus.as_ref())?;
    }
    Ok(examples)
}

/// Says how many lines of a corpus were of no use, if any were.
pub(super) fn note_skipped(corpus: &dyn Corpus) {
    if corpus.skipped() > 0 {
        writeln!(std::io::stderr(), "note: {} bad lines are passed over", corpus.skipped()).ok();
    }
}

/// Where the examples stand, for messages.
fn place<'a>(held: &'a Held, model: &'a Path) -> &'a Path {
    let files = [&held.source, &held.text, &held.data];
    files.into_iter().flatten().next().map_or(model, |file| file.as_path())
}

/// Opens the files that were named, or a part of the model's data; `column` says the group of an example.
fn open(
    held: &Held,
    saved: &Saved,
    model: &Path,
    file: ConfigFile,
    column: Option<&str>,
) -> Result<Box<dyn Corpus>> {
    let one_text = !matches!(saved.task, Task::Translate | Task::Classify | Task::Label);
    let side = file.config.data.side.unwrap_or_default();
    let of_files = |files: FileCorpus, side: Side| -> Result<Box<dyn Corpus>> {
        let corpus = corpora::grouped(files, column).map_err(without_columns)?;
        Ok(corpora::for_task(saved.task, Box::new(corpus), side))
    };
    match (&held.source, &held.target, &held.text, &held.data) {
        (None, None, None, Some(path)) => of_files(table(path, &file.config.data)?.open(false)?, side),
        (None, None, Some(text), _) if one_text => of_files(FileCorpus::single(text, false)?, Side::Target),
        (None, None, Some(_), _) => bail!("--text is for language models; give --source FILE --target FILE"),
        (Some(source), Some(target), ..) if !one_text => {
            of_files(FileCorpus::parallel(source, target, false)?, side)
        }
        (Some(_), ..) => {
            bail!("{}: is a language model and reads one text; give --text FILE", model.display())
        }
        _ => {
            let base = Origin::load(model).map_or(file.base, |origin| origin.base);
            let (part, name) = match held.part {
                HeldPart::Valid => (Part::Valid, "valid"),
                HeldPart::Test => (Part::Test, "test"),
                HeldPart::Unseen => bail!("--part unseen is for images of the built-in task shapes"),
            };
            let files = if one_text { "--text FILE" } else { "--source FILE --target FILE" };
            let corpus = corpora::open_grouped(&file.config, &base, part, column).map_err(without_columns)?;
            corpus.with_context(|| {
                let other = if part == Part::Test { ", or --part valid" } else { "" };
                let path = model.join(CONFIG);
                format!("{}: names no {name} data\n  hint: give {files}{other}", path.display())
            })
        }
    }
}

/// What to do about data that has no columns to group by.
fn without_columns(error: DataError) -> anyhow::Error {
    match error {
        DataError::NoColumns { .. } | DataError::BuiltinColumns { .. } => {
            anyhow!(
                "{error}\n  hint: give --by-file FILE, with a value for each line, or --data FILE, which has columns"
            )
        }
        other => other.into(),
    }
}

/// A file of columns, or of JSON objects, with source and target where the model's own data has them.
fn table(path: &Path, data: &DataConfig) -> Result<Files> {
    let parts = || [&data.test, &data.valid, &data.train].into_iter().flatten();
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let (path, usual) = (path.to_owned(), || ["source".to_owned(), "target".to_owned()]);
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "tsv" => Ok(Files::Tsv { path, columns: parts().find_map(|part| part.columns).unwrap_or([0, 1]) }),
        "jsonl" => {
            let keys = parts().find_map(|part| part.keys.clone()).unwrap_or_else(usual);
            Ok(Files::Jsonl { path, keys })
        }
        _ => {
            bail!("{}: is neither .tsv nor .jsonl; name it so, or give --source and --target", path.display())
        }
    }
}

/// Values of a file, one for each line of the data.
struct Values {
    name: String,
    lines: Vec<String>,
}

impl Values {
    fn read(path: &Path) -> Result<Self> {
        let mut lines = crate::lines::Lines::open(Some(path))?;
        let found = std::iter::from_fn(|| lines.next().transpose()).collect::<Result<Vec<_>>>()?;
        Ok(Self { name: lines.name(), lines: found })
    }

    /// How many lines of a corpus have been read, or examples of one that has no lines.
    fn read_of(corpus: &dyn Corpus) -> u64 {
        let position = corpus.position();
        if position.line > 0 { position.line } else { position.example }
    }

    /// The value of the example that was read last.
    fn of(&self, corpus: &dyn Corpus) -> Result<String> {
        let number = Self::read_of(corpus);
        let value = self.lines.get(number.saturating_sub(1) as usize);
        let value = value.with_context(|| {
            format!("{}: ends before line {number}; it needs one for each line of the data", self.name)
        })?;
        Ok(value.trim().to_owned())
    }

    /// Refuses more values than a corpus that was read to its end has lines.
    fn check_end(&self, corpus: &dyn Corpus) -> Result<()> {
        let (found, lines) = (self.lines.len() as u64, Self::read_of(corpus));
        ensure!(
            found <= lines,
            "{}: has {found} lines, and the data {lines}; it needs one for each line of the data",
            self.name
        );
        Ok(())
    }
}

/// Gives examples the gold alignments of a file, one line of Pharaoh links each; `whole` if they are all
/// that there are.
pub(super) fn with_alignments(examples: Vec<Example>, path: &Path, whole: bool) -> Result<Vec<Example>> {
    let mut lines = crate::lines::Lines::open(Some(path))?;
    let mut found = Vec::with_capacity(examples.len());
    for (number, example) in (1..).zip(examples) {
        let place = || format!("{}, line {number}", path.display());
        let line = lines.next()?.with_context(|| {
            format!("{}: ends before line {number}; it needs one line for each example", path.display())
        })?;
        let alignment: Alignment = line.parse().with_context(place)?;
        let [source, target] = [&example.source, &example.target].map(|text| words::split(text).len());
        if let Some((i, j)) = alignment.iter().find(|&(i, j)| i >= source || j >= target) {
            bail!(
                "{}: link `{i}-{j}` is beyond its sentences of {source} and {target} words; count words from 0, \
                 source first",
                place()
            );
        }
        let links = alignment.iter().map(|(source, target)| Link { source, target }).collect();
        found.push(Example { alignment: Some(links), ..example });
    }
    if whole && lines.next()?.is_some() {
        bail!("{}: has more lines than there are examples; it needs one for each", path.display());
    }
    Ok(found)
}
