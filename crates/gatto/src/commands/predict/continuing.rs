//! Texts and what a language model writes behind them.

use super::{Read, one_line};
use gatto::model::{Continued, Drawing, ModelError};
use gatto::search;
use serde_json::json;

/// Each text with its continuation.
pub(super) fn answers(read: &Read<'_>) -> Result<Vec<String>, ModelError> {
    let given = &read.arguments.sampling;
    let drawing = given.sample.then(|| Drawing {
        sampling: search::Sampling {
            temperature: given.temperature,
            top_k: given.top_k.map(|most| most as usize),
            top_p: given.top_p,
            ..search::Sampling::default()
        },
        seed: given.seed,
    });
    let found = read.saved.continued(read.sources, read.before as u64, drawing.as_ref(), read.batch())?;
    let answer = |(source, found): (&String, Continued)| match read.arguments.json {
        true => as_json(read, source, &found).to_string(),
        false => one_line(&found.text),
    };
    Ok(read.sources.iter().zip(found).map(answer).collect())
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
        "finished": hypothesis.finished,
    })
}
