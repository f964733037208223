//! Labels: accuracy, and precision, recall and F1 of each.

use crate::cli::Evaluate;
use crate::commands::{bar, sources::too_long};
use anyhow::Result;
use gatto::data::Example;
use gatto::metrics::LabelCounts;
use gatto::model::{ModelError, Saved, Task};
use std::io::Write;

pub(super) fn evaluate(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<()> {
    let answers = told(saved, examples, arguments.batch as usize)?;
    let mut found = LabelCounts::default();
    for (answer, example) in answers.iter().zip(examples) {
        for (answer, reference) in answer.iter().zip(references(saved, example)) {
            found.count(answer, reference);
        }
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", as_json(&found, examples.len()))?;
        return Ok(());
    }
    write!(out, "{}", as_text(&found))?;
    let wrong =
        answers.iter().zip(examples).filter(|(answer, example)| *answer != &references(saved, example));
    for (answer, example) in wrong.take(arguments.wrong) {
        let reference = references(saved, example).join(" ");
        writeln!(out, "✗ {} → {}\n    should be: {reference}", example.source, answer.join(" "))?;
    }
    Ok(())
}

/// The right labels of an example.
fn references<'a>(saved: &Saved, example: &'a Example) -> Vec<&'a str> {
    match saved.task {
        Task::Label => example.target.split_whitespace().collect(),
        _ => vec![example.target.trim()],
    }
}

/// The labels that the model tells of each example.
fn told<'a>(saved: &'a Saved, examples: &[Example], batch: usize) -> Result<Vec<Vec<&'a str>>> {
    let name = |label: u32| saved.labels.as_ref().and_then(|labels| labels.name(label)).unwrap_or_default();
    let bar = bar(examples.len(), "predicted");
    let mut answers: Vec<Vec<&str>> = Vec::with_capacity(examples.len());
    for chunk in examples.chunks(batch * 16) {
        let sources: Vec<&str> = chunk.iter().map(|example| example.source.as_str()).collect();
        let place = |index| format!("example {}", answers.len() + index + 1);
        let labels = labels_of(saved, &sources, batch).map_err(|error| too_long(error, place))?;
        answers.extend(labels.into_iter().map(|labels| labels.into_iter().map(name).collect::<Vec<_>>()));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(answers)
}

fn labels_of(saved: &Saved, sources: &[&str], batch: usize) -> Result<Vec<Vec<u32>>, ModelError> {
    Ok(match saved.task {
        Task::Label => saved.label(sources, batch)?.into_iter().map(|found| found.labels).collect(),
        _ => saved.classify(sources, batch)?.into_iter().map(|found| vec![found.label]).collect(),
    })
}

fn as_json(found: &LabelCounts, examples: usize) -> serde_json::Value {
    let labels: Vec<_> = found
        .labels()
        .map(|(name, label)| {
            serde_json::json!({
                "label": name, "precision": label.precision(), "recall": label.recall(), "f1": label.f1(),
                "count": label.gold,
            })
        })
        .collect();
    serde_json::json!({
        "examples": examples, "labelled": found.total(), "accuracy": found.accuracy(), "macro_f1": found.macro_f1(),
        "labels": labels,
    })
}

fn as_text(found: &LabelCounts) -> String {
    let mut text = format!(
        "accuracy  {:6.2} %  ({} of {})\nmacro F1  {:6.2} %\n",
        found.accuracy() * 100.0,
        found.right(),
        found.total(),
        found.macro_f1() * 100.0
    );
    let width = found.labels().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max("label".len());
    text += &format!("{:width$}  precision    recall        F1     count\n", "label");
    for (name, label) in found.labels() {
        let [precision, recall, f1] = [label.precision(), label.recall(), label.f1()].map(|x| x * 100.0);
        text += &format!("{name:width$}  {precision:7.2} %  {recall:6.2} %  {f1:6.2} %  {:>8}\n", label.gold);
    }
    text
}
