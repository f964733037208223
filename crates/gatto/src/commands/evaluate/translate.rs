//! Translations: exact match, by source length, and how far attention finds the words that belong together.

use crate::cli::Evaluate;
use crate::commands::predict_all;
use crate::commands::sources::{require_attention, too_long, with_alignments};
use crate::lines::write_output;
use anyhow::{Result, ensure};
use gatto::Device;
use gatto::data::{Example, Link, words};
use gatto::inspect::curves::{self, Panel, Series};
use gatto::inspect::look;
use gatto::metrics::{Alignment, AlignmentErrorRate, ExactMatch, by_length};
use gatto::model::{AttentionKind, Saved, Task};
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::Path;

/// Groups of source length, in words.
const GROUPS: [RangeInclusive<usize>; 8] =
    [1..=3, 4..=5, 6..=7, 8..=9, 10..=11, 12..=14, 15..=19, 20..=usize::MAX];

pub(super) fn evaluate(
    arguments: &Evaluate,
    saved: &Saved,
    mut examples: Vec<Example>,
    device: &Device,
) -> Result<()> {
    if let Some(path) = &arguments.alignments {
        require_attention(saved, &arguments.model, false)?;
        examples = with_alignments(examples, path, arguments.held.examples.is_none())?;
    }
    let measured = Measured::of(saved, &examples, arguments.batch as usize)?;
    if let Some(path) = &arguments.plot {
        plot(path, arguments, &examples, &measured, device)?;
    }
    let Measured { whole, groups, .. } = &measured;
    let alignment = alignment_error_rate(saved, &examples, arguments)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let groups: Vec<_> = groups
            .iter()
            .map(|(group, found)| {
                let most = (*group.end() < usize::MAX).then_some(*group.end());
                serde_json::json!({ "from": group.start(), "to": most, "examples": found.total, "exact_match": found.share() })
            })
            .collect();
        let mut report = serde_json::json!({
            "examples": whole.total, "exact_match": whole.share(), "by_source_length": groups,
        });
        if let Some(found) = alignment {
            report["alignment"] = serde_json::json!({
                "error_rate": found.rate(), "precision": found.precision(), "recall": found.recall(),
            });
        }
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
    if let Some(found) = alignment {
        let [rate, precision, recall] = [found.rate(), found.precision(), found.recall()]
            .map(|figure| figure.map_or_else(|| "none".to_owned(), |figure| format!("{figure:.3}")));
        writeln!(out, "alignment error rate  {rate}  (precision {precision}, recall {recall})")?;
    }
    let wrong = examples.iter().zip(measured.pairs()).filter(|(_, pair)| ExactMatch::of([*pair]).right == 0);
    for (example, (output, reference)) in wrong.take(arguments.wrong) {
        writeln!(out, "✗ {} → {output}\n    should be: {reference}", example.source)?;
    }
    Ok(())
}

/// What a model made of the examples, and how much of it is right.
struct Measured {
    outputs: Vec<String>,
    references: Vec<String>,
    whole: ExactMatch,
    groups: Vec<(RangeInclusive<usize>, ExactMatch)>,
}

impl Measured {
    fn of(saved: &Saved, examples: &[Example], batch: usize) -> Result<Self> {
        let sources: Vec<&str> = examples.iter().map(|example| example.source.as_str()).collect();
        let outputs = predict_all(saved, &sources, batch)?;
        let references =
            examples.iter().map(|example| saved.tokens.target.normalise(&example.target)).collect();
        let mut found = Self { outputs, references, whole: ExactMatch::default(), groups: Vec::new() };
        found.whole = ExactMatch::of(found.pairs());
        let lengths = lengths(examples);
        let rows =
            lengths.zip(found.pairs()).map(|(length, (output, reference))| (length, output, reference));
        found.groups = by_length(rows, &GROUPS);
        Ok(found)
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.outputs.iter().map(String::as_str).zip(self.references.iter().map(String::as_str))
    }
}

/// Loads a model to compare with.
fn another(model: &Path, device: &Device) -> Result<Saved> {
    let saved = Saved::load(model, device)?;
    ensure!(
        saved.task == Task::Translate,
        "{}: is for `task = \"{}\"`, and translators are compared with translators",
        model.display(),
        saved.task
    );
    Ok(saved)
}

/// The words of each source.
fn lengths(examples: &[Example]) -> impl Iterator<Item = usize> {
    examples.iter().map(|example| words::split(&example.source).len())
}

/// Draws exact match by source length, of this model and of those that it is compared with.
fn plot(
    path: &Path,
    arguments: &Evaluate,
    examples: &[Example],
    measured: &Measured,
    device: &Device,
) -> Result<()> {
    let line = |model: &Path, measured: &Measured| {
        let points = measured.groups.iter().map(|(group, found)| {
            let (count, sum) = lengths(examples)
                .filter(|length| group.contains(length))
                .fold((0, 0), |(count, sum), length| (count + 1, sum + length));
            (sum as f64 / f64::from(count.max(1)), found.share() * 100.0)
        });
        let name = model.file_name().map_or_else(|| model.to_string_lossy(), |name| name.to_string_lossy());
        Series { name: name.into_owned(), points: points.collect() }
    };
    let mut series = vec![line(&arguments.model, measured)];
    for model in &arguments.against {
        let other = Measured::of(&another(model, device)?, examples, arguments.batch as usize)?;
        series.push(line(model, &other));
    }
    let panel = Panel { title: "exact match, %".to_owned(), series, logarithmic: false };
    let picture = curves::svg(&[panel], "words of the source");
    write_output(Some(path), |out| Ok(out.write_all(picture.as_bytes())?))
}

/// How far the words that a model looks at are those that belong together, on the examples whose
/// alignment is known. The right target is forced through the model, so that both speak of the same words.
fn alignment_error_rate(
    saved: &Saved,
    examples: &[Example],
    arguments: &Evaluate,
) -> Result<Option<AlignmentErrorRate>> {
    let gold: Vec<(&Example, &Vec<Link>)> = examples
        .iter()
        .filter_map(|example| example.alignment.as_ref().map(|links| (example, links)))
        .collect();
    if !saved.plan.attentions().contains(&AttentionKind::Cross) || gold.is_empty() {
        return Ok(None);
    }
    let pairs = gold.iter().enumerate().map(|(index, (example, _))| {
        let place = |index| format!("example {}", index + 1);
        let source = saved.encode_source(index, &example.source).map_err(|error| too_long(error, place))?;
        Ok((source, saved.tokens.target.encode(&example.target)))
    });
    let pairs = pairs.collect::<Result<Vec<_>>>()?;
    let mut found = AlignmentErrorRate::default();
    let batch = arguments.batch as usize;
    for (pairs, gold) in pairs.chunks(batch * 16).zip(gold.chunks(batch * 16)) {
        for (trace, (_, links)) in saved.trace(pairs, batch)?.iter().zip(gold) {
            let gold: Alignment = links.iter().map(|link| (link.source, link.target)).collect();
            if let Some(links) = look::links(trace, arguments.links.link_share) {
                found.count(&links, &gold.into());
            }
        }
    }
    Ok(Some(found))
}
