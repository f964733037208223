//! Translations and captions, and where the model looked: which words belong together, or which regions.

use super::{Read, one_line};
use crate::cli::AlignmentForm;
use gatto::data::tokens::{Kind, UNKNOWN};
use gatto::inspect::look;
use gatto::model::{
    AttentionKind, Forced, ImageTrace, ModelError, Other, Prediction, Request, Saved, Trace, Writers,
};
use serde_json::json;

/// The translation or the caption of each source.
pub(super) fn answers(
    read: &Read<'_>,
    writers: &Writers<'_>,
    requests: &[Request<'_>],
) -> Result<Vec<String>, ModelError> {
    let Read { saved, arguments, sources, before, .. } = *read;
    if let Some(count) = arguments.alternatives {
        let at = arguments.at.map(|place| place as usize - 1);
        let found = writers.others(requests, at, count as usize, read.batch())?;
        let answer = |(index, found): (usize, &Vec<Other>)| others(read, index, found);
        return Ok(found.iter().enumerate().map(answer).collect());
    }
    let found = match read.drawing() {
        Some(drawing) => writers.drawn(requests, before as u64, &drawing, read.count(), read.batch())?,
        None => writers.best(requests, read.count(), read.batch())?,
    };
    if arguments.n_best.is_some() {
        let answer = |(index, best): (usize, &Vec<Prediction>)| ranked(read, index, best);
        return Ok(found.iter().enumerate().map(answer).collect());
    }
    let predictions: Vec<Prediction> = found.into_iter().flatten().collect();
    let mut traces = looked(read, &predictions)?.into_iter();
    let share = arguments.links.link_share;
    let answer = |(source, prediction): (&String, &Prediction)| match (
        arguments.json,
        arguments.alignment,
        traces.next(),
    ) {
        (true, _, trace) => as_json(saved, source, prediction, trace.as_ref(), share).to_string(),
        (false, Some(form), Some(Seen::Words(trace))) => {
            format!("{} ||| {}", one_line(&prediction.text), aligned(&trace, form, share))
        }
        _ => one_line(&prediction.text),
    };
    Ok(sources.iter().zip(&predictions).map(answer).collect())
}

/// The best outputs for a source, as lines in one text.
fn ranked(read: &Read<'_>, index: usize, best: &[Prediction]) -> String {
    let Read { saved, arguments, sources, .. } = *read;
    if arguments.json {
        let source = &sources[index];
        let each = best.iter().map(|prediction| as_json(saved, source, prediction, None, 1.0));
        return json!({ "source": source, "n_best": each.collect::<Vec<_>>() }).to_string();
    }
    let line = |prediction: &Prediction| read.ranked(index, &prediction.text, prediction.score);
    best.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What else could stand at a place, as lines in one text.
fn others(read: &Read<'_>, index: usize, others: &[Other]) -> String {
    let Read { saved, arguments, sources, before, .. } = *read;
    if arguments.json {
        let source = &sources[index];
        let each = |other: &Other| {
            let mut object = as_json(saved, source, &other.prediction, None, 1.0);
            object["token"] = json!(other.token);
            object["probability"] = json!(other.probability);
            object
        };
        let each: Vec<_> = others.iter().map(each).collect();
        return json!({ "source": source, "alternatives": each }).to_string();
    }
    let line = |other: &Other| {
        let Other { token, probability, prediction } = other;
        format!("{} ||| {token} ||| {probability:.4} ||| {}", before + index + 1, one_line(&prediction.text))
    };
    others.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a model saw while it wrote.
enum Seen {
    Words(Trace),
    Regions(ImageTrace),
}

/// Where the model looked while it wrote, if someone wants to know and it looked anywhere.
fn looked(read: &Read<'_>, predictions: &[Prediction]) -> Result<Vec<Seen>, ModelError> {
    let Read { saved, arguments, sources, .. } = *read;
    let alone = arguments.together.with.is_empty(); // several look in several places
    let wanted = alone && (arguments.json || arguments.alignment.is_some());
    if !wanted || !saved.plan.attentions().contains(&AttentionKind::Cross) {
        return Ok(Vec::new());
    }
    if let Some(images) = read.images {
        let written = predictions.iter().map(|prediction| prediction.hypothesis.tokens.clone());
        let pairs: Vec<_> = images.iter().zip(written).collect();
        let traces = saved.trace_images(&pairs, read.batch(), false)?;
        return Ok(traces.into_iter().map(Seen::Regions).collect());
    }
    let pair = |(source, prediction): (&String, &Prediction)| {
        (saved.tokens.source.encode(source), prediction.hypothesis.tokens.clone())
    };
    let pairs: Vec<Forced> = sources.iter().zip(predictions).map(pair).collect();
    let mut traces = saved.trace(&pairs, arguments.batch as usize)?;
    if saved.tokens.target.kind() == Kind::Word {
        traces.iter_mut().zip(&pairs).for_each(|(trace, (_, written))| count_printed(trace, written));
    }
    Ok(traces.into_iter().map(Seen::Words).collect())
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

fn as_json(
    saved: &Saved,
    source: &str,
    prediction: &Prediction,
    seen: Option<&Seen>,
    share: f32,
) -> serde_json::Value {
    let hypothesis = &prediction.hypothesis;
    let tokens: Vec<&str> = hypothesis.tokens.iter().map(|&id| saved.tokens.target.token(id)).collect();
    let mut object = json!({
        "source": source,
        "text": prediction.text,
        "tokens": tokens,
        "log_probabilities": hypothesis.log_probabilities,
        "score": hypothesis.score(),
        "normalised_score": prediction.score,
        "finished": hypothesis.finished,
    });
    if prediction.given > 0 {
        object["given"] = json!(prediction.given);
    }
    if let Some(Seen::Regions(trace)) = seen {
        object["grid"] = json!(trace.grid);
        object["weights"] = json!(trace.weights);
    }
    if let Some(Seen::Words(trace)) = seen {
        let tokens: Vec<&str> = trace.source.iter().map(|piece| piece.text.as_str()).collect();
        let links = look::links(trace, share).unwrap_or_default();
        object["source_tokens"] = json!(tokens);
        object["weights"] = json!(trace.weights);
        object["links"] = json!(links.iter().collect::<Vec<_>>());
    }
    object
}
