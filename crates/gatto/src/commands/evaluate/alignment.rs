//! How far attention finds the words that belong together.

use crate::cli::Evaluate;
use crate::commands::sources::too_long;
use anyhow::Result;
use gatto::data::{Example, Link};
use gatto::inspect::look;
use gatto::metrics::{Alignment, AlignmentErrorRate};
use gatto::model::{AttentionKind, Saved, Task};
use serde_json::{Value, json};

/// How far the words that a model looks at are those that belong together, on the examples whose
/// alignment is known. The right target is forced through the model, so that both speak of the same words.
pub(super) fn error_rate(
    saved: &Saved,
    examples: &[Example],
    arguments: &Evaluate,
) -> Result<Option<AlignmentErrorRate>> {
    let gold: Vec<(&Example, &Vec<Link>)> = examples
        .iter()
        .filter_map(|example| example.alignment.as_ref().map(|links| (example, links)))
        .collect();
    let attends = saved.task == Task::Translate && saved.plan.attentions().contains(&AttentionKind::Cross);
    if !attends || gold.is_empty() {
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

pub(super) fn json(found: &AlignmentErrorRate) -> Value {
    json!({ "error_rate": found.rate(), "precision": found.precision(), "recall": found.recall() })
}

pub(super) fn text(found: &AlignmentErrorRate) -> String {
    let [rate, precision, recall] = [found.rate(), found.precision(), found.recall()]
        .map(|figure| figure.map_or_else(|| "none".to_owned(), |figure| format!("{figure:.3}")));
    format!("alignment error rate  {rate}  (precision {precision}, recall {recall})\n")
}
