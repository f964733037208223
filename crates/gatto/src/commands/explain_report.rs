//! `gatto explain-report`

mod images;

use super::sources::{examples, require_attention, too_long};
use crate::cli::ExplainReport;
use anyhow::{Context, Result, ensure};
use gatto::Device;
use gatto::inspect::explain::{Fall, Report, report};
use gatto::model::{Forced, Saved};
use std::io::Write;

/// Examples of a built-in task unless told otherwise.
const OF_A_BUILTIN_TASK: u64 = 100;

pub(crate) fn run(arguments: ExplainReport) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| explain(&arguments, device))?
}

fn explain(arguments: &ExplainReport, device: &Device) -> Result<()> {
    let saved = Saved::load_whole(&arguments.model, device)?;
    if saved.plan.images.is_some() {
        return images::explain(arguments, &saved);
    }
    ensure!(
        saved.plan.sound.is_none(),
        "{}: reads sounds, which are not explained; see when it listens with `gatto look`",
        arguments.model.display()
    );
    require_attention(&saved, &arguments.model, false)?;
    let examples = examples(&arguments.held, &saved, &arguments.model, OF_A_BUILTIN_TASK)?;
    let mut pairs: Vec<Forced> = Vec::with_capacity(examples.len());
    for (index, example) in examples.iter().enumerate() {
        let place = |index| format!("example {}", index + 1);
        let source = saved.encode_source(index, &example.source).map_err(|error| too_long(error, place))?;
        let target = match arguments.own {
            true => {
                let mut written = saved.predict(&[&example.source], 1)?;
                written.pop().context("there is no prediction")?.hypothesis.tokens
            }
            false => saved.tokens.target.encode(&example.target),
        };
        pairs.push((source, target));
    }
    let bar = super::bar(pairs.len(), "explained");
    let found = report(&saved, &pairs, arguments.seed, || bar.inc(1))?;
    bar.finish_and_clear();
    let found = found.context("the model has no attention")?;
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", as_json(&found))?,
        false => write!(out, "{}", as_text(&found))?,
    }
    Ok(())
}

fn as_json(report: &Report) -> serde_json::Value {
    let mut found = serde_json::json!({ "sentences": report.examples });
    agreement_as_json(report, &mut found);
    found
}

/// What sentences and images have in common, as keys of an object.
fn agreement_as_json(report: &Report, found: &mut serde_json::Value) {
    let fall = |fall: &Fall| {
        serde_json::json!({
            "deleted": fall.deleted, "attended": fall.attended, "random": fall.random, "tokens": fall.tokens,
        })
    };
    found["tokens"] = report.tokens.into();
    found["kendall_tau"] = serde_json::json!({
        "attention_and_gradient": report.gradient,
        "attention_and_erasure": report.erasure,
        "gradient_and_erasure": report.gradient_and_erasure,
    });
    found["fall_of_probability"] = report.falls.iter().map(fall).collect();
}

fn as_text(report: &Report) -> String {
    let heading = format!("{} sentences, {} target tokens with their ends\n", report.examples, report.tokens);
    heading + &agreement_as_text(report, &Wording::TEXT)
}

/// How the parts of a source are called, and what is done to them.
struct Wording {
    attention: &'static str,
    parts: &'static str,
    output: &'static str,
    deleted: &'static str,
}

impl Wording {
    const TEXT: Self = Self {
        attention: "attention",
        parts: "source tokens",
        output: "an output token",
        deleted: "deleted",
    };
}

fn agreement_as_text(report: &Report, wording: &Wording) -> String {
    let Wording { attention, parts, output, deleted } = wording;
    let figure = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| format!("{value:.3}"));
    let mut text =
        format!("rank correlation over {parts} (Kendall's \u{3c4}, 1: the same order, 0: unrelated)\n");
    for (names, value) in [
        (format!("{attention} and gradient \u{d7} input"), report.gradient),
        (format!("{attention} and erasure"), report.erasure),
        ("gradient \u{d7} input and erasure".to_owned(), report.gradient_and_erasure),
    ] {
        text += &format!("  {names:<30}   {}\n", figure(value));
    }
    text += &format!("fall of {output}'s probability when {parts} are {deleted}\n");
    for fall in &report.falls {
        text += &format!(
            "  {} {deleted}   most attended {:.3}   random {:.3}\n",
            fall.deleted, fall.attended, fall.random
        );
    }
    text
}
