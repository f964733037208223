//! `gatto predict`

use super::sources::{require_attention, too_long};
use crate::cli::{AlignmentForm, Predict};
use crate::lines::{Lines, write_output};
use anyhow::{Result, bail};
use gatto::Device;
use gatto::data::tokens::{Kind, UNKNOWN};
use gatto::inspect::look;
use gatto::model::{Forced, Prediction, Saved, Task, Trace};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Lines that are read, sorted by length and computed before any of them is written, in batches.
const BATCHES_AT_ONCE: usize = 16;

pub(crate) fn run(arguments: Predict) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| predict(&arguments, device))?
}

fn predict(arguments: &Predict, device: &Device) -> Result<()> {
    let mut saved = Saved::load(&arguments.model, device)?;
    if saved.task == Task::LanguageModel {
        bail!(
            "{}: is a language model, and predict needs one that reads a source\n  \
             hint: let a translator start from it, with [[init]] in a configuration",
            arguments.model.display()
        );
    }
    if arguments.alignment.is_some() {
        require_attention(&saved, &arguments.model, false)?;
    }
    if let Some(length) = arguments.max_length {
        saved.search.max_length = length as usize;
    }
    let lines = Lines::open(arguments.input.as_deref())?;
    let batch = arguments.batch as usize;
    let progress = progress(arguments);
    let (name, mut before) = (lines.name(), 0);
    write_output(arguments.output.as_deref(), |out| {
        for sources in lines.chunks(batch * BATCHES_AT_ONCE) {
            let sources = sources?;
            let place = |index| format!("{name}, line {}", before + index + 1);
            let predictions = saved.predict(&sources, batch).map_err(|error| too_long(error, place))?;
            let mut traces = looked(&saved, &sources, &predictions, arguments)?.into_iter();
            for (source, prediction) in sources.iter().zip(predictions) {
                let (trace, share) = (traces.next(), arguments.links.link_share);
                match (arguments.json, arguments.alignment, trace) {
                    (true, _, trace) => {
                        writeln!(out, "{}", as_json(&saved, source, &prediction, trace.as_ref(), share))?;
                    }
                    (false, Some(form), Some(trace)) => {
                        writeln!(out, "{} ||| {}", one_line(&prediction.text), aligned(&trace, form, share))?;
                    }
                    _ => writeln!(out, "{}", one_line(&prediction.text))?,
                }
            }
            out.flush()?;
            before += sources.len();
            progress.inc(sources.len() as u64);
        }
        progress.finish_and_clear();
        Ok(())
    })
}

/// Where the model looked while it wrote, if someone wants to know and it looked anywhere.
fn looked(
    saved: &Saved,
    sources: &[String],
    predictions: &[Prediction],
    arguments: &Predict,
) -> Result<Vec<Trace>> {
    let wanted = arguments.json || arguments.alignment.is_some();
    if !wanted || saved.plan.attention.is_none() {
        return Ok(Vec::new());
    }
    let pair = |(source, prediction): (&String, &Prediction)| {
        (saved.tokens.source.encode(source), prediction.hypothesis.tokens.clone())
    };
    let pairs: Vec<Forced> = sources.iter().zip(predictions).map(pair).collect();
    let mut traces = saved.trace(&pairs, arguments.batch as usize)?;
    if saved.tokens.target.kind() == Kind::Word {
        traces.iter_mut().zip(&pairs).for_each(|(trace, (_, written))| count_printed(trace, written));
    }
    Ok(traces)
}

/// Counts target words as they are printed: without those that are not in the vocabulary.
fn count_printed(trace: &mut Trace, written: &[u32]) {
    let mut printed = 0..;
    for (piece, &token) in trace.target.iter_mut().zip(written) {
        piece.word = if token == UNKNOWN { None } else { printed.next() };
    }
}

/// Which words belong together, as text.
fn aligned(trace: &Trace, form: AlignmentForm, share: f32) -> String {
    match form {
        AlignmentForm::Links => look::links(trace, share).unwrap_or_default().to_string(),
        AlignmentForm::Soft => {
            let row = |weights: Vec<f32>| {
                weights.iter().map(|weight| format!("{weight:.4}")).collect::<Vec<_>>().join(",")
            };
            let rows = look::word_weights(trace).unwrap_or_default().into_iter().map(row);
            rows.collect::<Vec<_>>().join(" ")
        }
    }
}

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

fn as_json(
    saved: &Saved,
    source: &str,
    prediction: &Prediction,
    trace: Option<&Trace>,
    share: f32,
) -> serde_json::Value {
    let hypothesis = &prediction.hypothesis;
    let tokens: Vec<&str> = hypothesis.tokens.iter().map(|&id| saved.tokens.target.token(id)).collect();
    let mut object = serde_json::json!({
        "source": source,
        "text": prediction.text,
        "tokens": tokens,
        "log_probabilities": hypothesis.log_probabilities,
        "score": hypothesis.score(),
        "finished": hypothesis.finished,
    });
    if let Some(trace) = trace {
        let tokens: Vec<&str> = trace.source.iter().map(|piece| piece.text.as_str()).collect();
        let links = look::links(trace, share).unwrap_or_default();
        object["source_tokens"] = serde_json::json!(tokens);
        object["weights"] = serde_json::json!(trace.weights);
        object["links"] = serde_json::json!(links.iter().collect::<Vec<_>>());
    }
    object
}
