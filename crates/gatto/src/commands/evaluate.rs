//! `gatto evaluate`

use crate::cli::Evaluate;
use anyhow::{Context, Result, bail};
use gatto::Device;
use gatto::data::{Corpus, Example, FileCorpus, Part, words};
use gatto::metrics::{ExactMatch, by_length};
use gatto::model::{CONFIG, Saved, Task};
use gatto::train::{ConfigFile, Origin, corpora};
use std::io::Write;
use std::ops::RangeInclusive;

/// Examples of a built-in task, which has no end to speak of, unless told otherwise.
const OF_A_BUILTIN_TASK: u64 = 2000;
/// Groups of source length, in words.
const GROUPS: [RangeInclusive<usize>; 8] =
    [1..=3, 4..=5, 6..=7, 8..=9, 10..=11, 12..=14, 15..=19, 20..=usize::MAX];

pub(crate) fn run(arguments: Evaluate) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| evaluate(&arguments, device))?
}

fn evaluate(arguments: &Evaluate, device: &Device) -> Result<()> {
    let saved = Saved::load(&arguments.model, device)?;
    if saved.task == Task::LanguageModel {
        bail!("{}: is a language model; its figures are in metrics.jsonl", arguments.model.display());
    }
    let examples = examples(arguments)?;
    let sources: Vec<&str> = examples.iter().map(|example| example.source.as_str()).collect();
    let outputs = super::predict_all(&saved, &sources, arguments.batch as usize)?;
    let references: Vec<String> =
        examples.iter().map(|example| saved.tokens.target.normalise(&example.target)).collect();
    let pairs = || outputs.iter().map(String::as_str).zip(references.iter().map(String::as_str));
    let whole = ExactMatch::of(pairs());
    let lengths = sources.iter().map(|source| words::split(source).len());
    let groups = by_length(
        lengths.zip(pairs()).map(|(length, (output, reference))| (length, output, reference)),
        &GROUPS,
    );
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let groups: Vec<_> = groups
            .iter()
            .map(|(group, found)| {
                let most = (*group.end() < usize::MAX).then_some(*group.end());
                serde_json::json!({ "from": group.start(), "to": most, "examples": found.total, "exact_match": found.share() })
            })
            .collect();
        let report = serde_json::json!({ "examples": whole.total, "exact_match": whole.share(), "by_source_length": groups });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    writeln!(out, "exact match  {:6.2} %  ({} of {})", whole.share() * 100.0, whole.right, whole.total)?;
    writeln!(out, "by source length in words:")?;
    for (group, found) in groups {
        let name = match *group.end() {
            usize::MAX => format!("{}+", group.start()),
            end => format!("{}–{end}", group.start()),
        };
        writeln!(
            out,
            "  {name:>7}    {:6.2} %  ({} of {})",
            found.share() * 100.0,
            found.right,
            found.total
        )?;
    }
    Ok(())
}

fn examples(arguments: &Evaluate) -> Result<Vec<Example>> {
    let mut most = arguments.examples;
    let mut corpus: Box<dyn Corpus> = match (&arguments.source, &arguments.target) {
        (Some(source), Some(target)) => Box::new(FileCorpus::parallel(source, target, false)?),
        _ => {
            let path = arguments.model.join(CONFIG);
            let file = ConfigFile::read(&path, &[])?;
            let base = Origin::load(&arguments.model).map_or(file.base, |origin| origin.base);
            if file.config.data.builtin.is_some() {
                most.get_or_insert(OF_A_BUILTIN_TASK);
            }
            let corpus = corpora::open(&file.config, &base, Part::Test)?;
            corpus.with_context(|| {
                format!("{}: names no test data\n  hint: give --source FILE --target FILE", path.display())
            })?
        }
    };
    let mut examples = Vec::new();
    while most.is_none_or(|most| (examples.len() as u64) < most)
        && let Some(example) = corpus.next()?
    {
        examples.push(example);
    }
    if corpus.skipped() > 0 {
        writeln!(std::io::stderr(), "note: {} bad lines are passed over", corpus.skipped()).ok();
    }
    anyhow::ensure!(!examples.is_empty(), "there is no example to evaluate on");
    Ok(examples)
}
