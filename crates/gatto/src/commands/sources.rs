//! What several commands read: examples to measure on, and sources that a model can take.

use crate::cli::{Held, HeldPart};
use anyhow::{Context, Result, anyhow, bail, ensure};
use gatto::data::{Corpus, Example, FileCorpus, Link, Part, Side, words};
use gatto::metrics::Alignment;
use gatto::model::{AttentionKind, CONFIG, ModelError, Saved, Task};
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

/// Held-out examples: the files that were named, or a part of the model's data.
pub(super) fn examples(
    held: &Held,
    saved: &Saved,
    model: &Path,
    of_a_builtin_task: u64,
) -> Result<Vec<Example>> {
    let mut most = held.examples;
    let one_text = !matches!(saved.task, Task::Translate | Task::Classify | Task::Label);
    let mut corpus: Box<dyn Corpus> = match (&held.source, &held.target, &held.text) {
        (None, None, Some(text)) if one_text => {
            let corpus = Box::new(FileCorpus::single(text, false)?);
            corpora::for_task(saved.task, corpus, Side::Target)
        }
        (None, None, Some(_)) => bail!("--text is for language models; give --source FILE --target FILE"),
        (Some(source), Some(target), _) if !one_text => {
            Box::new(FileCorpus::parallel(source, target, false)?)
        }
        (Some(_), ..) => {
            bail!("{}: is a language model and reads one text; give --text FILE", model.display())
        }
        _ => {
            let path = model.join(CONFIG);
            let file = ConfigFile::read(&path, &[])?;
            let base = Origin::load(model).map_or(file.base, |origin| origin.base);
            if file.config.data.builtin.is_some() {
                most.get_or_insert(of_a_builtin_task);
            }
            let (part, name) = match held.part {
                HeldPart::Valid => (Part::Valid, "valid"),
                HeldPart::Test => (Part::Test, "test"),
            };
            let files = if one_text { "--text FILE" } else { "--source FILE --target FILE" };
            let corpus = corpora::open(&file.config, &base, part)?;
            corpus.with_context(|| {
                let other = if part == Part::Test { ", or --part valid" } else { "" };
                format!("{}: names no {name} data\n  hint: give {files}{other}", path.display())
            })?
        }
    };
    let coder = saved.coder();
    let mut examples = Vec::new();
    while most.is_none_or(|most| (examples.len() as u64) < most)
        && let Some((example, _)) = coder.read(corpus.as_mut())?
    {
        examples.push(example);
    }
    if corpus.skipped() > 0 {
        writeln!(std::io::stderr(), "note: {} bad lines are passed over", corpus.skipped()).ok();
    }
    ensure!(!examples.is_empty(), "there is no example to evaluate on");
    Ok(examples)
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
