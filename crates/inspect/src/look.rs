//! From what a model did to a picture of it.

use crate::explain::Explanation;
use crate::heatmap::{Axes, Heatmap, HeatmapError, Panel, Scale, Token};
use crate::tree::{Greedy, Output, Record, Tree, TreeError};
use gatto_data::tokens::{END, Tokenizer};
use gatto_metrics::Alignment;
use gatto_metrics::alignment::merge;
use gatto_model::{Attention, AttentionKind, Piece, Prediction, Searched, Trace};

/// Where a model looked. Without attention there is no panel, and so no heatmap.
pub fn heatmap(title: &str, trace: &Trace) -> Result<Heatmap, HeatmapError> {
    drawn(title, trace, attention(trace))
}

/// Where every head of every attention looked: a heatmap for each attention of a trace with heads.
pub fn attentions(title: &str, trace: &Trace) -> Result<Vec<(AttentionKind, Heatmap)>, HeatmapError> {
    let heatmap = |attention: &Attention| {
        let (kind, layers) = (attention.kind, attention.layers.clone());
        let name = match (kind, layers.as_slice()) {
            (AttentionKind::Cross, [heads]) if heads.len() == 1 => "attention",
            (AttentionKind::Cross, _) => "cross-attention",
            (AttentionKind::Pooling, _) => "pooling",
            (AttentionKind::Encoder, _) => "encoder self-attention",
            (AttentionKind::Decoder, _) => "decoder self-attention",
        };
        let axes = match kind {
            AttentionKind::Cross => Axes::default(),
            AttentionKind::Pooling => Axes { rows: "told", ..Axes::default() },
            AttentionKind::Encoder => Axes { rows: "source", ..Axes::default() },
            AttentionKind::Decoder => Axes { rows: "written", columns: "read" },
        };
        let [source, target] = [&attention.keys, &attention.queries].map(|side| tokens(side));
        let heatmap = Heatmap::of_heads(title, name, source, target, layers)?.with_axes(axes);
        Ok((
            kind,
            match kind {
                AttentionKind::Cross | AttentionKind::Decoder => {
                    heatmap.with_probabilities(probabilities(trace))?
                }
                _ => heatmap,
            },
        ))
    };
    trace.attentions.iter().map(heatmap).collect()
}

/// Where a model looked, gradient × input and erasure, on the same axes.
pub fn explained(title: &str, explanation: &Explanation) -> Result<Heatmap, HeatmapError> {
    let mut panels = attention(&explanation.trace);
    for (name, values) in [("gradient × input", &explanation.gradient), ("erasure", &explanation.erasure)] {
        panels.push(Panel { name: name.to_owned(), scale: Scale::Signed, values: values.clone() });
    }
    drawn(title, &explanation.trace, panels)
}

/// What a search with a beam of this size considered. The tokenizer is that of the target.
pub fn tree(title: &str, beam: usize, searched: Searched, tokens: &Tokenizer) -> Result<Tree, TreeError> {
    let output = |prediction: &Prediction| Output {
        text: prediction.text.clone(),
        log_probability: prediction.hypothesis.log_probabilities.iter().copied().map(f64::from).sum(),
        score: prediction.score,
    };
    let greedy = |prediction: &Prediction| {
        let hypothesis = &prediction.hypothesis;
        let written = hypothesis.tokens.iter().copied().chain(hypothesis.finished.then_some(END));
        let tokens = written.zip(hypothesis.log_probabilities.iter().copied()).collect();
        Greedy { output: output(prediction), tokens }
    };
    let record = Record {
        title: title.to_owned(),
        beam,
        results: searched.best.iter().map(output).collect(),
        greedy: searched.greedy.as_ref().map(greedy),
        steps: searched.steps,
    };
    Tree::new(record, |token| tokens.token(token).to_owned())
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
    Heatmap::new(title, tokens(&trace.source), tokens(&trace.target), panels)?
        .with_probabilities(probabilities(trace))
}

fn tokens(side: &[Piece]) -> Vec<Token> {
    side.iter().map(|piece| Token { text: piece.text.clone(), word: piece.word }).collect()
}

fn probabilities(trace: &Trace) -> Vec<f32> {
    trace.log_probabilities.iter().map(|log| log.exp()).collect()
}
