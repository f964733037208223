//! Texts with their gaps filled.

use super::{Read, one_line};
use gatto::model::{Filled, ModelError};
use serde_json::json;

/// Tokens that are told for each gap.
const BEST: usize = 5;

/// Each text with the most probable token in each gap.
pub(super) fn answers(read: &Read<'_>) -> Result<Vec<String>, ModelError> {
    let answer = |(source, found): (&String, Filled)| match read.arguments.json {
        false => one_line(&found.text),
        true => {
            let token = |&(id, probability): &(u32, f32)| json!({ "token": read.saved.tokens.source.token(id), "probability": probability });
            let gaps: Vec<Vec<_>> = found.gaps.iter().map(|gap| gap.iter().map(token).collect()).collect();
            json!({ "source": source, "text": found.text, "gaps": gaps }).to_string()
        }
    };
    let found = read.saved.fill(read.sources, read.batch(), BEST)?;
    Ok(read.sources.iter().zip(found).map(answer).collect())
}
