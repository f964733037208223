//! Translations: what is written, beside what should be.

use super::figures::{Better, Figure};
use super::metrics;
use super::outcome::{Answer, Detail, Outcome, Ranking};
use crate::cli::Evaluate;
use crate::commands::predict_all;
use anyhow::Result;
use gatto::data::Example;
use gatto::metrics::translation::References;
use gatto::model::Saved;

/// The figures that tell sentences apart, the best at it first; exact match tells two kinds alone.
const OF_SENTENCES: [&str; 9] =
    ["chrf", "cer", "wer", "per", "ter", "rouge_l", "rouge_1", "bleu", "exact_match"];

pub(super) fn measure(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<Outcome> {
    let sources: Vec<&str> = examples.iter().map(|example| example.source.as_str()).collect();
    let outputs = predict_all(saved, &sources, arguments.batch as usize)?;
    let target = &saved.tokens.target;
    let references: Vec<String> = examples.iter().map(|example| target.normalise(&example.target)).collect();
    let chosen = match arguments.asked.metric.as_slice() {
        [] => metrics::usual(target, &references),
        chosen => chosen.to_vec(),
    };
    let figures = metrics::figures(&chosen, &outputs, &References::single(&references))?;
    let ranking = ranking(&figures, examples.len());
    let answer = |(output, reference): (String, String)| {
        let right = metrics::is_right(&output, &reference);
        Answer { output, reference, right }
    };
    let answers = outputs.into_iter().zip(references).map(answer).collect();
    Ok(Outcome { figures, answers, ranking, detail: Detail::None })
}

pub(super) fn ranking(figures: &[Figure], examples: usize) -> Ranking {
    let figure = OF_SENTENCES.iter().find_map(|key| figures.iter().find(|figure| figure.key == *key));
    let values = |figure: &Figure| (0..examples).map(|i| figure.of_one(i).unwrap_or(0.0)).collect();
    Ranking {
        name: figure.map_or_else(String::new, |figure| figure.name.clone()),
        better: figure.map_or(Better::Higher, |figure| figure.better),
        unit: figure.map_or("", Figure::unit),
        digits: 2,
        values: figure.map(values).unwrap_or_default(),
    }
}
