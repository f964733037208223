//! Labels: accuracy, precision, recall and F1 of each, spans where they are tags of spans, and whether the
//! confidence of a classifier can be believed.

use super::figures::{Better, Figure};
use super::outcome::{Answer, Detail, Outcome, Ranking};
use crate::cli::Evaluate;
use crate::commands::tables::of_labels;
use crate::commands::{bar, sources::too_long};
use anyhow::Result;
use gatto::data::{Example, Unit};
use gatto::metrics::{LabelCount, LabelCounts, Measure, SpanCounts, SpanScheme};
use gatto::model::{Classified, ModelError, Saved, Task};
use serde_json::{Map, Value, json};

/// Bins of the expected calibration error.
const BINS: usize = 10;

/// What is told of one example, each label with that which should be.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// What a model tells of one example.
pub(super) struct Told<'a> {
    labels: Vec<&'a str>,
    /// How sure a classifier is.
    confidence: f64,
}

impl<'a> Told<'a> {
    /// What a classifier tells.
    pub(super) fn of(saved: &'a Saved, found: &Classified) -> Self {
        let (labels, confidence) = sure(found);
        Self { labels: labels.iter().map(|label| name(saved, *label)).collect(), confidence }
    }
}

fn name(saved: &Saved, label: u32) -> &str {
    saved.labels.as_ref().and_then(|labels| labels.name(label)).unwrap_or_default()
}

/// The label of a classifier, and how sure it is.
fn sure(found: &Classified) -> (Vec<u32>, f64) {
    let sure = found.probabilities.iter().copied().fold(0.0, f32::max);
    (vec![found.label], f64::from(sure).min(1.0)) // a sum of rounded parts may exceed one by a hair
}

pub(super) fn measure(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<Outcome> {
    outcome(saved, &told(saved, examples, arguments.batch as usize)?, examples)
}

/// What is to be said of labels that a model tells, beside those of the examples.
pub(super) fn outcome(saved: &Saved, told: &[Told<'_>], examples: &[Example]) -> Result<Outcome> {
    let unit = if saved.task == Task::Label { Unit::Word } else { Unit::Sequence };
    let gold: Vec<Vec<&str>> =
        examples.iter().map(|example| unit.names(example)).collect::<Result<_, _>>()?;
    let beside = told.iter().zip(&gold);
    let pairs: Vec<Pairs<'_>> =
        beside.map(|(told, gold)| told.labels.iter().copied().zip(gold.iter().copied()).collect()).collect();
    let wrong: Vec<usize> =
        pairs.iter().map(|pairs| pairs.iter().filter(|(told, gold)| told != gold).count()).collect();
    let (mut figures, ranking) = match unit {
        Unit::Sequence => of_texts(told, &wrong),
        Unit::Word => of_words(&pairs, &wrong),
    };
    let f1 = Measure::macro_f1(pairs.iter().cloned());
    // Its labels are those that a group has, so that groups of other labels do not compare.
    figures.insert(1, Figure::percent("macro_f1", "macro F1", Better::Higher, f1).of_the_whole());
    figures.extend(span_f1(saved, &pairs)?);
    let counts = LabelCounts::of(pairs.iter().flatten().copied());
    let answers = told.iter().zip(&gold).zip(&wrong).map(|((told, gold), wrong)| Answer {
        output: told.labels.join(" "),
        reference: gold.join(" "),
        right: *wrong == 0,
    });
    Ok(Outcome { figures, answers: answers.collect(), ranking, detail: Detail::Labels(counts) })
}

/// The figures of one label for each text; the worst is told wrongly with most confidence.
fn of_texts(told: &[Told<'_>], wrong: &[usize]) -> (Vec<Figure>, Ranking) {
    let right = || wrong.iter().map(|wrong| *wrong == 0);
    let sure = || told.iter().map(|told| told.confidence);
    let accuracy = Figure::share("accuracy", "accuracy", Better::Higher, Measure::share(right()));
    let micro = Figure::percent("micro_f1", "micro F1", Better::Higher, Measure::share(right()));
    let error = Measure::calibration_error(sure().zip(right()), BINS);
    let error = Figure::percent("expected_calibration_error", "ECE", Better::Lower, error);
    let values = sure().map(|confidence| confidence * 100.0).collect();
    let name = "confidence".to_owned();
    let ranking = Ranking { name, better: Better::Lower, unit: " %", digits: 2, values };
    (vec![accuracy, micro.of_the_whole(), error.of_the_whole()], ranking)
}

/// The figures of a label for each word; the worst text has the most wrong ones.
fn of_words(pairs: &[Pairs<'_>], wrong: &[usize]) -> (Vec<Figure>, Ranking) {
    let lengths = pairs.iter().map(Vec::len);
    let right = lengths.zip(wrong).map(|(words, wrong)| ((words - wrong) as f64, words as f64));
    let accuracy = Figure::share("accuracy", "accuracy", Better::Higher, Measure::ratio(right));
    let values = wrong.iter().map(|wrong| *wrong as f64).collect();
    let name = "wrong words".to_owned();
    (vec![accuracy], Ranking { name, better: Better::Lower, unit: "", digits: 0, values })
}

/// F1 of whole spans, if the labels that a model gives to words are tags of spans.
fn span_f1(saved: &Saved, pairs: &[Pairs<'_>]) -> Result<Option<Figure>> {
    let names = saved.labels.as_ref().map_or(&[][..], |labels| labels.names());
    if saved.task != Task::Label || !SpanScheme::has_tags(names.iter().map(String::as_str)) {
        return Ok(None);
    }
    let mut counts = Vec::with_capacity(pairs.len());
    for pairs in pairs {
        let (told, gold): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
        let LabelCount { right, told, gold } = SpanCounts::of(&[told], &[gold], SpanScheme::Lenient)?.total();
        counts.push([right, told, gold]);
    }
    Ok(Some(Figure::percent("span_f1", "span F1", Better::Higher, Measure::f1(counts))))
}

/// What the model tells of each example.
fn told<'a>(saved: &'a Saved, examples: &[Example], batch: usize) -> Result<Vec<Told<'a>>> {
    let bar = bar(examples.len(), "predicted");
    let mut answers = Vec::with_capacity(examples.len());
    for chunk in examples.chunks(batch * 16) {
        let sources: Vec<&str> = chunk.iter().map(|example| example.source.as_str()).collect();
        let place = |index| format!("example {}", answers.len() + index + 1);
        let found = labels_of(saved, &sources, batch).map_err(|error| too_long(error, place))?;
        answers.extend(found.into_iter().map(|(labels, confidence)| Told {
            labels: labels.into_iter().map(|label| name(saved, label)).collect(),
            confidence,
        }));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(answers)
}

/// The labels of each source, and how sure a classifier is of its own.
fn labels_of(saved: &Saved, sources: &[&str], batch: usize) -> Result<Vec<(Vec<u32>, f64)>, ModelError> {
    Ok(match saved.task {
        Task::Label => saved.label(sources, batch)?.into_iter().map(|found| (found.labels, 0.0)).collect(),
        _ => saved.classify(sources, batch)?.iter().map(sure).collect(),
    })
}

/// What is told of labels beside their figures.
pub(super) fn json(found: &LabelCounts, report: &mut Map<String, Value>) {
    let labels: Vec<_> = found
        .labels()
        .map(|(name, label)| {
            json!({
                "label": name, "precision": label.precision(), "recall": label.recall(), "f1": label.f1(),
                "count": label.gold,
            })
        })
        .collect();
    report.insert("labelled".to_owned(), found.total().into());
    report.insert("accuracy".to_owned(), found.accuracy().into());
    report.insert("macro_f1".to_owned(), found.macro_f1().into());
    report.insert("labels".to_owned(), labels.into());
}

/// A table of all labels.
pub(super) fn text(found: &LabelCounts) -> String {
    of_labels("label", found.labels()).into_iter().map(|row| row + "\n").collect()
}
