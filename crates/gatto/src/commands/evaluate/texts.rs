//! Language models: perplexity per token, and where every token of a text is told, per character and byte.

use super::figures::{Better, Chance, Figure, bracketed};
use super::outcome::{Detail, Outcome, Ranking};
use crate::cli::Evaluate;
use crate::commands::{bar, sources::too_long};
use anyhow::Result;
use gatto::data::{Example, Limits};
use gatto::metrics::{Measure, Perplexity};
use gatto::model::{CONFIG, ModelError, Saved, Task};
use gatto::train::{ConfigFile, Tally};
use serde_json::{Map, Value};

/// Tokens that are computed together, unless a text is longer.
const BATCH_TOKENS: usize = 4096;

/// How much of all texts was told.
pub(super) struct Told {
    tally: Tally,
    perplexity: Perplexity,
    /// Whether every token is told, and not hidden ones alone.
    whole: bool,
}

pub(super) fn measure(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<Outcome> {
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
    let (bar, mut each) = (bar(examples.len(), "measured"), vec![Tally::default(); examples.len()]);
    for batch in coder.batches(&rows, &limits)? {
        for (tally, &index) in Tally::each(&saved.model, &config, &batch).iter().zip(&batch.indices) {
            each[index as usize] = *tally;
        }
        bar.inc(batch.rows() as u64);
    }
    bar.finish_and_clear();
    let mut tally = Tally::default();
    each.iter().for_each(|of_one| tally += *of_one);
    let perplexity = Perplexity { nats: tally.loss, tokens: tally.asked, ..found };
    let measure = Measure::perplexity(each.iter().map(|tally| (tally.loss, tally.asked)));
    let figures = vec![Figure::score("perplexity", "perplexity", Better::Lower, measure)];
    let values = each.iter().map(|tally| tally.mean().exp()).collect();
    let ranking =
        Ranking { name: "perplexity".to_owned(), better: Better::Lower, unit: "", digits: 2, values };
    let told = Told { tally, perplexity, whole: saved.task != Task::MaskedLanguageModel };
    Ok(Outcome { figures, answers: Vec::new(), ranking, detail: Detail::Texts(told) })
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

/// The figures of texts, for the JSON report.
pub(super) fn json(Told { tally, perplexity, whole }: &Told, report: &mut Map<String, Value>) {
    report.insert("tokens".to_owned(), tally.asked.into());
    report.insert("loss".to_owned(), tally.mean().into());
    report.insert("perplexity".to_owned(), perplexity.per_token().into());
    report.insert("accuracy".to_owned(), tally.accuracy().into());
    if *whole {
        report.insert("perplexity_per_character".to_owned(), perplexity.per_character().into());
        report.insert("perplexity_per_byte".to_owned(), perplexity.per_byte().into());
        report.insert("bits_per_byte".to_owned(), perplexity.bits_per_byte().into());
    }
}

/// The figures of texts; `figure` is their perplexity.
pub(super) fn text(told: &Told, figure: &Figure, chance: &Chance) -> String {
    let Told { tally, perplexity, whole } = told;
    let tokens = if *whole { "tokens with their ends" } else { "hidden tokens" };
    let interval = figure.of_whole(chance).interval.map(|found| format!("  {}", bracketed(found)));
    let mut text = format!("loss        {:10.4} nats  ({} {tokens})\n", tally.mean(), tally.asked);
    text += &format!("accuracy    {:10.2} %\n", tally.accuracy() * 100.0);
    text +=
        &format!("perplexity  {:10.2} per token{}\n", perplexity.per_token(), interval.unwrap_or_default());
    if *whole {
        text += &format!("            {:10.4} per character\n", perplexity.per_character());
        text += &format!(
            "            {:10.4} per byte  ({:.4} bits)\n",
            perplexity.per_byte(),
            perplexity.bits_per_byte()
        );
    }
    text
}
