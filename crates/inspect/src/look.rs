//! From what a model did to a heatmap of it.

use crate::explain::Explanation;
use crate::heatmap::{Heatmap, HeatmapError, Panel, Scale, Token};
use gatto_metrics::Alignment;
use gatto_metrics::alignment::merge;
use gatto_model::{Piece, Trace};

/// Where a model looked. Without attention there is no panel, and so no heatmap.
pub fn heatmap(title: &str, trace: &Trace) -> Result<Heatmap, HeatmapError> {
    drawn(title, trace, attention(trace))
}

/// Where a model looked, gradient × input and erasure, on the same axes.
pub fn explained(title: &str, explanation: &Explanation) -> Result<Heatmap, HeatmapError> {
    let mut panels = attention(&explanation.trace);
    for (name, values) in [("gradient × input", &explanation.gradient), ("erasure", &explanation.erasure)] {
        panels.push(Panel { name: name.to_owned(), scale: Scale::Signed, values: values.clone() });
    }
    drawn(title, &explanation.trace, panels)
}

/// Where a model looked, word by word: a row per target word, a weight per source word.
pub fn word_weights(trace: &Trace) -> Option<Vec<Vec<f32>>> {
    let [source, target] = trace.words();
    trace.weights.as_ref().map(|weights| merge(weights, &source, &target))
}

/// Each target word with the source word that it looked at most, and with those that got at least
/// `share` of that one's weight.
pub fn links(trace: &Trace, share: f32) -> Option<Alignment> {
    word_weights(trace).map(|weights| Alignment::from_weights(&weights, share))
}

fn attention(trace: &Trace) -> Vec<Panel> {
    let panel = |weights: &Vec<Vec<f32>>| Panel {
        name: "attention".to_owned(),
        scale: Scale::Share,
        values: weights.clone(),
    };
    trace.weights.as_ref().map(panel).into_iter().collect()
}

fn drawn(title: &str, trace: &Trace, panels: Vec<Panel>) -> Result<Heatmap, HeatmapError> {
    let tokens = |side: &[Piece]| {
        side.iter().map(|piece| Token { text: piece.text.clone(), word: piece.word }).collect::<Vec<_>>()
    };
    let probabilities = trace.log_probabilities.iter().map(|log| log.exp()).collect();
    Heatmap::new(title, tokens(&trace.source), tokens(&trace.target), panels)?
        .with_probabilities(probabilities)
}
