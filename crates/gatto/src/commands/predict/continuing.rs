//! Texts and what a language model writes behind them.

use super::{Read, one_line};
use gatto::model::{Continued, ModelError};
use serde_json::json;

/// Each text with its continuation, or with its best ones as lines in one text.
pub(super) fn answers(read: &Read<'_>) -> Result<Vec<String>, ModelError> {
    let drawing = read.drawing();
    let first = read.before as u64;
    let found = read.saved.continued(read.sources, first, drawing.as_ref(), read.count(), read.batch())?;
    let answer = |(index, (source, best)): (usize, (&String, Vec<Continued>))| {
        let each = best.iter();
        match (read.arguments.json, read.arguments.n_best) {
            (true, Some(_)) => {
                let each: Vec<_> = each.map(|found| as_json(read, source, found)).collect();
                json!({ "prompt": source, "n_best": each }).to_string()
            }
            (true, None) => each.map(|found| as_json(read, source, found).to_string()).collect(),
            (false, Some(_)) => {
                each.map(|found| read.ranked(index, &found.text, found.score)).collect::<Vec<_>>().join("\n")
            }
            (false, None) => each.map(|found| one_line(&found.text)).collect(),
        }
    };
    Ok(read.sources.iter().zip(found).enumerate().map(answer).collect())
}

fn as_json(read: &Read<'_>, source: &str, found: &Continued) -> serde_json::Value {
    let shown = |tokens: &[u32]| -> Vec<&str> {
        tokens.iter().map(|&id| read.saved.tokens.target.token(id)).collect()
    };
    let hypothesis = &found.hypothesis;
    json!({
        "prompt": source,
        "text": found.text,
        "prompt_tokens": shown(&found.prompt),
        "prompt_log_probabilities": found.prompt_log_probabilities,
        "tokens": shown(&hypothesis.tokens),
        "log_probabilities": hypothesis.log_probabilities,
        "score": hypothesis.score(),
        "normalised_score": found.score,
        "finished": hypothesis.finished,
    })
}
