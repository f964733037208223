//! Labels of texts and images, and of the words of texts.

use super::Read;
use gatto::model::{Classified, Labelled, ModelError, Saved};
use serde_json::json;

/// A label for each text or image.
pub(super) fn of_sources(read: &Read<'_>) -> Result<Vec<String>, ModelError> {
    let answer = |(source, found): (&String, Classified)| match read.arguments.json {
        true => text_as_json(read.saved, source, &found).to_string(),
        false => name(read.saved, found.label).to_owned(),
    };
    let found = match read.images {
        Some(images) => read.saved.classify_images(images, read.batch())?,
        None => read.saved.classify(read.sources, read.batch())?,
    };
    Ok(read.sources.iter().zip(found).map(answer).collect())
}

/// A label for each word.
pub(super) fn of_words(read: &Read<'_>) -> Result<Vec<String>, ModelError> {
    let answer = |(source, found): (&String, Labelled)| {
        let names: Vec<&str> = found.labels.iter().map(|&label| name(read.saved, label)).collect();
        match read.arguments.json {
            true => json!({
                "source": source,
                "words": found.words,
                "labels": names,
                "confidences": found.confidences,
            })
            .to_string(),
            false => names.join(" "),
        }
    };
    let found = read.saved.label(read.sources, read.batch())?;
    Ok(read.sources.iter().zip(found).map(answer).collect())
}

/// The name of a label.
fn name(saved: &Saved, label: u32) -> &str {
    saved.labels.as_ref().and_then(|labels| labels.name(label)).unwrap_or_default()
}

fn text_as_json(saved: &Saved, source: &str, found: &Classified) -> serde_json::Value {
    let names = saved.labels.iter().flat_map(|labels| labels.names());
    let probabilities: serde_json::Map<_, _> =
        names.zip(&found.probabilities).map(|(name, &p)| (name.clone(), json!(p))).collect();
    let mut object = json!({
        "source": source,
        "label": name(saved, found.label),
        "confidence": found.probabilities.get(found.label as usize),
        "probabilities": probabilities,
    });
    if let Some(weights) = &found.weights {
        object["tokens"] = weights.iter().map(|(token, _)| token.as_str()).collect();
        object["weights"] = weights.iter().map(|&(_, weight)| json!(weight)).collect();
    }
    object
}
