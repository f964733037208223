//! What is told of texts, and not written: labels, spans, links, confidences, and how probable texts are.

use super::flags::{CalibrationFlags, LabelFlags, Pair, Scheme, SpanFlags};
use super::{Report, Text};
use crate::commands::tables::{of_labels, padded};
use anyhow::{Context, Result, bail, ensure};
use gatto::metrics::{
    Alignment, AlignmentErrorRate, Calibration, ConfusionMatrix, Figures, GoldAlignment, LabelCount,
    LabelCounts, Perplexity, SpanCounts, SpanScheme, wilson,
};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

/// Answers, and what they should be.
struct Told {
    outputs: Text,
    references: Text,
}

impl Told {
    /// Reads the references first: they need not wait for a program that still writes answers.
    fn read(pair: &Pair) -> Result<Self> {
        let references = Text::read(Some(&pair.reference))?;
        let outputs = Text::read(pair.input.as_deref())?;
        references.check_lines(&outputs)?;
        Ok(Self { outputs, references })
    }

    /// The labels of each line and those of its reference, which white space separates: as many of each.
    fn words(&self) -> Result<[Vec<Vec<&str>>; 2]> {
        let [outputs, references] = [&self.outputs, &self.references].map(|text| {
            text.lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        for (number, (output, reference)) in (1..).zip(outputs.iter().zip(&references)) {
            let (told, wanted) = (output.len(), reference.len());
            let place = || format!("{}, line {number}", self.outputs.name);
            ensure!(
                told == wanted,
                "{}: has {told} labels and its reference {wanted}; give one for each",
                place()
            );
        }
        Ok([outputs, references])
    }
}

pub(super) fn labels(flags: &LabelFlags) -> Result<()> {
    let told = Told::read(&flags.pair)?;
    let found = match flags.words {
        true => {
            let [outputs, references] = told.words()?;
            LabelCounts::of(outputs.into_iter().flatten().zip(references.into_iter().flatten()))
        }
        false => {
            let trimmed =
                |text: &'_ Text| text.lines.iter().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
            LabelCounts::of_lists(&trimmed(&told.outputs), &trimmed(&told.references))?
        }
    };
    let (accuracy, interval) = (100.0 * found.accuracy(), wilson(found.right(), found.total()));
    let [low, high] = [interval.low, interval.high].map(|end| 100.0 * end);
    let mut text = vec![
        format!(
            "accuracy = {accuracy:.2} %  ({} of {})  [{low:.2}, {high:.2}]",
            found.right(),
            found.total()
        ),
        averages(found.micro_average(), found.macro_average(), found.weighted_average()),
    ];
    text.extend(of_labels("label", found.labels()));
    let mut json = json!({
        "name": "accuracy", "score": accuracy, "right": found.right(), "total": found.total(),
        "interval": { "low": low, "high": high },
        "micro": percent(found.micro_average()), "macro": percent(found.macro_average()),
        "weighted": percent(found.weighted_average()), "labels": each(found.labels()),
    });
    if flags.confusion {
        let matrix = found.confusion();
        text.extend(confusion(&matrix));
        json["confusion"] = json!({ "labels": matrix.labels, "counts": matrix.counts });
    }
    Report { text, json }.print(flags.pair.json)
}

pub(super) fn spans(flags: &SpanFlags) -> Result<()> {
    let told = Told::read(&flags.pair)?;
    let [outputs, references] = told.words()?;
    let scheme = match flags.scheme {
        Scheme::Lenient => SpanScheme::Lenient,
        Scheme::Iob2 => SpanScheme::Iob2,
        Scheme::Iobes => SpanScheme::Iobes,
    };
    let found = SpanCounts::of(&outputs, &references, scheme)?;
    let (micro, all) = (found.micro_average(), found.total());
    let score = 100.0 * micro.f1;
    let mut text = vec![
        format!(
            "span F1 = {score:.2} %  ({} right of {} found, {} in the references)",
            all.right, all.told, all.gold
        ),
        averages(micro, found.macro_average(), found.weighted_average()),
    ];
    text.extend(of_labels("type", found.types()));
    let json = json!({
        "name": "span F1", "score": score, "right": all.right, "found": all.told, "references": all.gold,
        "micro": percent(micro), "macro": percent(found.macro_average()),
        "weighted": percent(found.weighted_average()), "types": each(found.types()),
    });
    Report { text, json }.print(flags.pair.json)
}

pub(super) fn perplexity(pair: &Pair) -> Result<()> {
    let told = Told::read(pair)?;
    let mut found = Perplexity::default();
    for (number, (line, text)) in (1..).zip(told.outputs.lines.iter().zip(&told.references.lines)) {
        let log: Option<f64> = line.trim().parse().ok().filter(|log: &f64| log.is_finite() && *log <= 0.0);
        let Some(log) = log else {
            bail!(
                "{}, line {number}: `{}` is no log-probability; write log p of each text, as `gatto score` does",
                told.outputs.name,
                line.trim()
            );
        };
        found.nats -= log;
        found.count(text);
        found.tokens += text.split_whitespace().count() + 1;
    }
    let text = vec![
        format!("perplexity = {:.4} per word  ({} words with their ends)", found.per_token(), found.tokens),
        format!("             {:.4} per character  ({})", found.per_character(), found.characters),
        format!(
            "             {:.4} per byte  ({}, {:.4} bits)",
            found.per_byte(),
            found.bytes,
            found.bits_per_byte()
        ),
    ];
    let json = json!({
        "name": "perplexity", "score": found.per_token(), "per_word": found.per_token(),
        "per_character": found.per_character(), "per_byte": found.per_byte(),
        "bits_per_byte": found.bits_per_byte(), "words": found.tokens, "characters": found.characters,
        "bytes": found.bytes, "log_probability": -found.nats,
    });
    Report { text, json }.print(pair.json)
}

pub(super) fn alignment(pair: &Pair) -> Result<()> {
    let told = Told::read(pair)?;
    let mut found = AlignmentErrorRate::default();
    for (number, (line, gold)) in (1..).zip(told.outputs.lines.iter().zip(&told.references.lines)) {
        let place = |text: &Text| format!("{}, line {number}", text.name);
        let links: Alignment = line.parse().with_context(|| place(&told.outputs))?;
        // `0?2` is a link that may be found, `0-2` one that must.
        let (possible, sure): (Vec<&str>, Vec<&str>) =
            gold.split_whitespace().partition(|link| link.contains('?'));
        let read = |links: Vec<&str>| links.join(" ").replace('?', "-").parse::<Alignment>();
        let gold = || -> Result<GoldAlignment> { Ok(GoldAlignment::new(read(sure)?, read(possible)?)) };
        found.count(&links, &gold().with_context(|| place(&told.references))?);
    }
    let shown =
        |figure: Option<f64>| figure.map_or_else(|| "none".to_owned(), |figure| format!("{figure:.4}"));
    let (precision, recall) = (shown(found.precision()), shown(found.recall()));
    let text =
        format!("alignment error rate = {}  (precision {precision}, recall {recall})", shown(found.rate()));
    let json = json!({
        "name": "alignment error rate", "score": found.rate(), "precision": found.precision(),
        "recall": found.recall(),
    });
    Report { text: vec![text], json }.print(pair.json)
}

pub(super) fn calibration(flags: &CalibrationFlags) -> Result<()> {
    let told = Told::read(&flags.pair)?;
    let mut answers = Vec::with_capacity(told.outputs.lines.len());
    for (number, (line, reference)) in (1..).zip(told.outputs.lines.iter().zip(&told.references.lines)) {
        let parts = line.trim().split_once(char::is_whitespace);
        let answer = parts.and_then(|(confidence, label)| Some((confidence.parse::<f64>().ok()?, label)));
        let Some((confidence, label)) = answer.filter(|(confidence, _)| (0.0..=1.0).contains(confidence))
        else {
            bail!(
                "{}, line {number}: `{}` is no confidence from 0 to 1 and a label behind it, such as `0.93 positive`",
                told.outputs.name,
                line.trim()
            );
        };
        answers.push((confidence, label.trim() == reference.trim()));
    }
    let found = Calibration::of(&answers, usize::from(flags.bins))?;
    let score = 100.0 * found.expected_error();
    let mut text = vec![
        format!("expected calibration error = {score:.2} %  ({} answers)", found.count()),
        format!("largest error = {:.2} %, Brier score = {:.4}", 100.0 * found.maximum_error(), found.brier),
        "confidence     count  mean confidence  accuracy".to_owned(),
    ];
    let width = 1.0 / f64::from(flags.bins);
    for (place, bin) in found.bins.iter().enumerate().filter(|(_, bin)| bin.count > 0) {
        let (low, high) = (place as f64 * width, (place + 1) as f64 * width);
        let [confidence, accuracy] = [bin.confidence, bin.accuracy].map(|share| 100.0 * share);
        text.push(format!("{low:.2}–{high:.2}  {:>8}  {confidence:13.2} %  {accuracy:6.2} %", bin.count));
    }
    let bins: Vec<Value> = found
        .bins
        .iter()
        .map(|bin| json!({ "count": bin.count, "confidence": bin.confidence, "accuracy": bin.accuracy }))
        .collect();
    let json = json!({
        "name": "expected calibration error", "score": score, "maximum": 100.0 * found.maximum_error(),
        "brier": found.brier, "bins": bins,
    });
    Report { text, json }.print(flags.pair.json)
}

/// The F1 of all counts together, of labels alike, and of labels by how often they occur.
fn averages(micro: Figures, of_labels: Figures, weighted: Figures) -> String {
    let [micro, of_labels, weighted] = [micro, of_labels, weighted].map(|figures| 100.0 * figures.f1);
    format!("F1: micro {micro:.2} %, macro {of_labels:.2} %, weighted {weighted:.2} %")
}

fn percent(Figures { precision, recall, f1 }: Figures) -> Value {
    let [precision, recall, f1] = [precision, recall, f1].map(|share| 100.0 * share);
    json!({ "precision": precision, "recall": recall, "f1": f1 })
}

fn each<'a>(counts: impl Iterator<Item = (&'a str, &'a LabelCount)>) -> Value {
    let one = |(name, count): (&str, &LabelCount)| {
        let mut object = percent(count.figures());
        object["name"] = name.into();
        object["count"] = count.gold.into();
        object
    };
    counts.map(one).collect()
}

/// A row for each reference, a column for each answer.
fn confusion(matrix: &ConfusionMatrix) -> Vec<String> {
    let name = matrix.labels.iter().map(|label| label.width()).max().unwrap_or(0).max("reference".len());
    let number = matrix.counts.iter().flatten().map(|count| count.to_string().len()).max().unwrap_or(1);
    let columns: Vec<usize> = matrix.labels.iter().map(|label| label.width().max(number)).collect();
    let heading = matrix.labels.iter().zip(&columns);
    let heading: String =
        heading.map(|(label, &width)| format!("  {}{label}", " ".repeat(width - label.width()))).collect();
    let mut rows = vec![format!("{}{heading}", padded("reference", name))];
    for (label, counts) in matrix.labels.iter().zip(&matrix.counts) {
        let counts: String =
            counts.iter().zip(&columns).map(|(count, &width)| format!("  {count:>width$}")).collect();
        rows.push(format!("{}{counts}", padded(label, name)));
    }
    rows
}
