//! Language models: perplexity per token, and where every token of a text is told, per character and byte.

use crate::cli::Evaluate;
use crate::commands::{bar, sources::too_long};
use anyhow::Result;
use gatto::data::{Example, Limits};
use gatto::metrics::Perplexity;
use gatto::model::{CONFIG, ModelError, Saved, Task};
use gatto::train::{ConfigFile, Tally};
use std::io::Write;

/// Tokens that are computed together, unless a text is longer.
const BATCH_TOKENS: usize = 4096;

pub(super) fn evaluate(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<()> {
    let (tally, found) = measured(arguments, saved, examples)?;
    let whole = saved.task != Task::MaskedLanguageModel;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let mut report = serde_json::json!({
            "examples": examples.len(), "tokens": tally.asked, "loss": tally.mean(),
            "perplexity": found.per_token(), "accuracy": tally.accuracy(),
        });
        if whole {
            report["perplexity_per_character"] = found.per_character().into();
            report["perplexity_per_byte"] = found.per_byte().into();
            report["bits_per_byte"] = found.bits_per_byte().into();
        }
        writeln!(out, "{report}")?;
        return Ok(());
    }
    let tokens = if whole { "tokens with their ends" } else { "hidden tokens" };
    writeln!(out, "loss        {:10.4} nats  ({} {tokens})", tally.mean(), tally.asked)?;
    writeln!(out, "accuracy    {:10.2} %", tally.accuracy() * 100.0)?;
    writeln!(out, "perplexity  {:10.2} per token", found.per_token())?;
    if whole {
        writeln!(out, "            {:10.4} per character", found.per_character())?;
        writeln!(out, "            {:10.4} per byte  ({:.4} bits)", found.per_byte(), found.bits_per_byte())?;
    }
    Ok(())
}

fn measured(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<(Tally, Perplexity)> {
    let config = ConfigFile::read(&arguments.model.join(CONFIG), &[])?.config;
    let coder = saved.coder();
    let (mut rows, mut found) = (Vec::with_capacity(examples.len()), Perplexity::default());
    for (index, example) in examples.iter().enumerate() {
        let place = |index| format!("example {}", index + 1);
        let (source, target) = coder.encode(example)?;
        check_length(saved, index, source.len().max(target.len())).map_err(|error| too_long(error, place))?;
        rows.push((source, target));
        count(&mut found, saved.task, example);
    }
    let longest = rows.iter().map(|(source, target)| source.len().max(target.len())).max().unwrap_or(0);
    let limits = Limits {
        batch_tokens: Some(BATCH_TOKENS.max(longest + 1)),
        batch_examples: Some(arguments.batch as usize),
    };
    let (bar, mut tally) = (bar(examples.len(), "measured"), Tally::default());
    for batch in coder.batches(&rows, &limits)? {
        tally.count(&saved.model, &config, &batch);
        bar.inc(batch.rows() as u64);
    }
    bar.finish_and_clear();
    Ok((tally, Perplexity { nats: tally.loss, tokens: tally.asked, ..found }))
}

/// Counts the characters and bytes of an example. Two directions tell a text twice, its end once.
fn count(found: &mut Perplexity, task: Task, example: &Example) {
    match task {
        Task::BidirectionalLanguageModel => {
            found.count(&example.source);
            found.characters += example.source.chars().count();
            found.bytes += example.source.len();
        }
        Task::MaskedLanguageModel => {}
        _ => found.count(&example.target),
    }
}

/// Refuses a text that there are no positions for.
fn check_length(saved: &Saved, index: usize, tokens: usize) -> Result<(), ModelError> {
    match saved.plan.most_source().or(saved.plan.most_target()) {
        Some(limit) if tokens + 1 > limit => {
            Err(ModelError::BeyondPositions { index, count: tokens + 1, limit })
        }
        _ => Ok(()),
    }
}
