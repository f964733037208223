//! Where a model looks.

use super::picture::{Format, PNG_SCALE, columns, in_terminal, save};
use super::{quoted, sources};
use crate::cli::{Look, LookedAt};
use crate::commands::sources::{require_attention, too_long};
use anyhow::{Context, Result, ensure};
use gatto::inspect::explain::explain;
use gatto::inspect::heatmap::{
    Choice, Heatmap, MOST_CELLS, Start, fit_side_by_side, html_of_charts, png, svg,
};
use gatto::inspect::look;
use gatto::model::config::Reader;
use gatto::model::{AttentionKind, Forced, Saved, Task};
use std::io::Write;

pub(super) fn look(saved: &Saved, arguments: &Look, format: Option<Format>) -> Result<()> {
    let kind = wanted(saved, arguments)?;
    let sources = sources(arguments)?;
    ensure!(
        arguments.target.is_none() || sources.len() == 1,
        "--target is for one sentence, and there are {}",
        sources.len()
    );
    let mut charts = sources.iter().map(|source| Charts::of(saved, source, kind, arguments));
    match (format, &arguments.output) {
        (Some(format), Some(path)) => {
            format.check_sentences(path, sources.len())?;
            save(path, &bytes(format, charts.collect::<Result<Vec<_>>>()?, arguments)?)
        }
        _ => charts.try_for_each(|charts| {
            let picture = charts?.picture(arguments)?;
            ensure!(
                !arguments.heads || fit_side_by_side(&picture, columns()),
                "heads of so many tokens do not fit side by side into {} columns\n  \
                 hint: choose one with --layer N --head N, or write all of them to a file with -o heads.svg",
                columns()
            );
            Ok(writeln!(std::io::stdout().lock(), "{}", in_terminal(&picture))?)
        }),
    }
}

/// Which attention is seen; none if an explanation is wanted. Refuses a model without what is asked for.
fn wanted(saved: &Saved, arguments: &Look) -> Result<Option<AttentionKind>> {
    let model = &arguments.model;
    let kinds = saved.plan.attentions();
    if arguments.explain || kinds.is_empty() {
        require_attention(saved, model, arguments.explain)?;
        return Ok(None);
    }
    ensure!(
        arguments.target.is_none() || saved.task == Task::Translate,
        "{}: is for `task = \"{}\"`, and so --target has no use",
        model.display(),
        saved.task
    );
    let Some(wanted) = arguments.attention else { return Ok(kinds.first().copied()) };
    let kind = kind_of(wanted);
    ensure!(
        kinds.contains(&kind),
        "{}: has no {} attention; it has: {}",
        model.display(),
        kind.name(),
        kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
    );
    Ok(Some(kind))
}

fn kind_of(wanted: LookedAt) -> AttentionKind {
    match wanted {
        LookedAt::Cross => AttentionKind::Cross,
        LookedAt::Pooling => AttentionKind::Pooling,
        LookedAt::Encoder => AttentionKind::Encoder,
        LookedAt::Decoder => AttentionKind::Decoder,
    }
}

/// What there is to see of one sentence.
struct Charts {
    all: Vec<Heatmap>,
    /// The one that was asked for.
    chosen: usize,
}

impl Charts {
    fn of(saved: &Saved, source: &str, kind: Option<AttentionKind>, arguments: &Look) -> Result<Self> {
        let (title, pair) = passed(saved, source, arguments)?;
        let (read, written) = (pair.0.len() + 1, pair.1.len() + 1);
        let (columns, rows, panels) = match kind {
            None => (read, written, 3),
            Some(AttentionKind::Cross) => (read, written, 1),
            Some(AttentionKind::Pooling) => (read, 1, 1),
            Some(AttentionKind::Encoder) => (read, read, 1),
            Some(AttentionKind::Decoder) if saved.plan.reader == Reader::Itself => {
                (read + written - 1, written, 1)
            }
            Some(AttentionKind::Decoder) => (written, written, 1),
        };
        Heatmap::check_size(columns, rows, panels)?;
        let Some(kind) = kind else {
            return Ok(Self { all: vec![look::explained(&title, &explain(saved, &pair)?)?], chosen: 0 });
        };
        let traces = saved.trace_heads(std::slice::from_ref(&pair), 1);
        let mut traces = traces.map_err(|error| too_long(error, |_| quoted(source)))?;
        let found = look::attentions(&title, &traces.pop().context("there is no trace")?)?;
        let chosen =
            found.iter().position(|(found, _)| *found == kind).context("there is no such attention")?;
        let charts = Self { all: found.into_iter().map(|(_, heatmap)| heatmap).collect(), chosen };
        charts.all[chosen].pick(choice(arguments))?; // refuses what is not there
        Ok(charts)
    }

    /// The picture that was asked for.
    fn picture(&self, arguments: &Look) -> Result<Heatmap> {
        let chosen = &self.all[self.chosen];
        let chosen = if arguments.words { chosen.merge_words() } else { chosen.clone() };
        let picture = match (arguments.heads, arguments.layer) {
            (true, Some(layer)) => chosen.layer(layer)?,
            (true, None) => chosen,
            (false, _) => chosen.pick(choice(arguments))?,
        };
        picture.check_cells()?;
        Ok(if arguments.no_end { picture.without_end() } else { picture })
    }

    /// What a page can hold of it: all, or what was asked for if that would be too much.
    fn held(self, arguments: &Look) -> Result<Vec<Heatmap>> {
        if self.all.iter().map(Heatmap::cells).sum::<usize>() <= MOST_CELLS {
            return Ok(self.all);
        }
        let note = "note: the sentence is long, and the page holds only";
        let chosen = &self.all[self.chosen];
        if chosen.cells() <= MOST_CELLS {
            writeln!(std::io::stderr(), "{note} one attention of it").ok();
            return Ok(vec![chosen.clone()]);
        }
        writeln!(std::io::stderr(), "{note} the head that was chosen, or the mean").ok();
        Ok(vec![chosen.pick(choice(arguments))?])
    }
}

fn choice(arguments: &Look) -> Choice {
    Choice { layer: arguments.layer, head: arguments.head }
}

/// A title, and the tokens that go through the model: a source and what the model makes of it, or what it
/// should make of it; for a language model the text itself; without a decoder what is read.
fn passed(saved: &Saved, source: &str, arguments: &Look) -> Result<(String, Forced)> {
    let place = |_| quoted(source);
    if saved.task == Task::LanguageModel {
        return Ok((source.to_owned(), (Vec::new(), saved.tokens.target.encode(source))));
    }
    let read = saved.encode_source(0, source).map_err(|error| too_long(error, place))?;
    let (written, text) = match (&arguments.target, saved.task) {
        (Some(target), _) => (saved.tokens.target.encode(target), saved.tokens.target.normalise(target)),
        (None, Task::Translate) => {
            let mut predicted = saved.predict(&[source], 1)?;
            let predicted = predicted.pop().context("there is no prediction")?;
            (predicted.hypothesis.tokens, predicted.text)
        }
        (None, Task::Classify) => {
            let told = saved.classify(&[source], 1).map_err(|error| too_long(error, place))?;
            let label = told.first().and_then(|told| saved.labels.as_ref()?.name(told.label));
            (Vec::new(), label.unwrap_or_default().to_owned())
        }
        (None, Task::MaskedLanguageModel) => {
            let mut filled = saved.fill(&[source], 1, 1).map_err(|error| too_long(error, place))?;
            let text = filled.pop().context("there is no answer")?.text;
            let title = if text == source { text } else { format!("{source} → {text}") };
            return Ok((title, (saved.encode_gaps(source), Vec::new())));
        }
        (None, _) => return Ok((source.to_owned(), (read, Vec::new()))),
    };
    Ok((format!("{source} → {text}"), (read, written)))
}

/// What a file of a kind holds of some sentences.
fn bytes(format: Format, mut sentences: Vec<Charts>, arguments: &Look) -> Result<Vec<u8>> {
    if format == Format::Html {
        let start = Start {
            chart: sentences.first().map_or(0, |charts| charts.chosen),
            choice: choice(arguments),
            all: arguments.heads,
            merged: arguments.words,
            endless: arguments.no_end,
        };
        let held = sentences.into_iter().map(|charts| charts.held(arguments));
        return Ok(html_of_charts(&held.collect::<Result<Vec<_>>>()?, start).into_bytes());
    }
    let picture = sentences.pop().context("there is no picture")?.picture(arguments)?;
    Ok(if format == Format::Svg { svg(&picture).into_bytes() } else { png(&picture, PNG_SCALE)? })
}
