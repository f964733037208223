//! From what a model did to a picture of it.

use crate::explain::Explanation;
use crate::heatmap::{Axes, Heatmap, HeatmapError, Panel, Scale, Token};
use crate::overlay::{Focus, Overlay, OverlayError, View};
use crate::spectrogram::{Heard, Spectrogram, SpectrogramError};
use crate::tree::{Greedy, Output, Record, Tree, TreeError};
use gatto_data::images::{Image, Mention};
use gatto_data::sound::{Frames, Mention as Sounding};
use gatto_data::tokens::{END, Tokenizer};
use gatto_data::words;
use gatto_metrics::Alignment;
use gatto_metrics::alignment::merge;
use gatto_model::{
    Attention, AttentionKind, ImageTrace, Matrix, Piece, Prediction, Searched, SoundTrace, Trace,
};

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

/// Where a model looked in an image, word by word: by one or several kinds of weights, each a row for every target token
/// of the trace. `text` is what was written, or the one answer of a model that writes nothing; `known` tells where what
/// some of its words name is.
pub fn overlay(
    title: &str,
    image: Image,
    trace: &ImageTrace,
    text: &str,
    kinds: Vec<(&str, Matrix)>,
    known: &[Mention],
) -> Result<Overlay, OverlayError> {
    let words = written_words(trace, text);
    let view = |(name, weights): (&str, Matrix)| {
        let focus = |(number, word): (usize, &WrittenWord)| {
            let boxes = known.iter().find(|mention| mention.word == number).map(|found| found.boxes.clone());
            let focus =
                Focus::new(word.text.clone(), word.mean(&weights)).with_boxes(boxes.unwrap_or_default());
            match word.probability {
                Some(probability) => focus.with_probability(probability),
                None => focus,
            }
        };
        View { name: name.to_owned(), words: words.iter().enumerate().map(focus).collect() }
    };
    Overlay::new(title, image, trace.grid, kinds.into_iter().map(view).collect())
}

/// A word that was written of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenWord {
    /// The word.
    pub text: String,
    /// The target tokens that it is made of.
    pub tokens: Vec<usize>,
    /// How probable all of these were; of an answer that was not written, nobody knows.
    pub probability: Option<f32>,
}

impl WrittenWord {
    /// The mean of the rows of its tokens.
    pub fn mean(&self, weights: &Matrix) -> Vec<f32> {
        let mut sum = vec![0.0; weights.first().map_or(0, Vec::len)];
        for row in self.tokens.iter().filter_map(|token| weights.get(*token)) {
            sum.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight / self.tokens.len() as f32);
        }
        sum
    }
}

/// The words of what was written of an image, without its end; one where nothing was written.
pub fn written_words(trace: &ImageTrace, text: &str) -> Vec<WrittenWord> {
    if trace.target.is_empty() {
        return vec![WrittenWord { text: text.to_owned(), tokens: vec![0], probability: None }];
    }
    let mut found = words_of(&trace.target, &trace.log_probabilities, text);
    if found.is_empty() {
        // Nothing was written: what stands there is the end.
        let probability = trace.log_probabilities.first().map(|log| log.exp());
        found.push(WrittenWord { text: "–".to_owned(), tokens: vec![0], probability });
    }
    found
}

/// The words of what was written, as tokens and as text, without its end.
fn words_of(target: &[Piece], logs: &[f32], text: &str) -> Vec<WrittenWord> {
    let split = words::split(text);
    let mut found: Vec<(usize, WrittenWord)> = Vec::new();
    for (token, piece) in target.iter().enumerate() {
        let Some(number) = piece.word else { continue };
        match found.last_mut() {
            Some((last, word)) if *last == number => word.tokens.push(token),
            _ => {
                let text = split.get(number).map_or_else(|| piece.text.clone(), |word| (*word).to_owned());
                found.push((number, WrittenWord { text, tokens: vec![token], probability: None }));
            }
        }
    }
    let whole = |(_, word): (usize, WrittenWord)| {
        let log: f32 = word.tokens.iter().map(|token| logs.get(*token).copied().unwrap_or(0.0)).sum();
        WrittenWord { probability: Some(log.exp()), ..word }
    };
    found.into_iter().map(whole).collect()
}

/// When a model listened in a sound, token by token, without the end; `known` tells when some of the words of `text` sound.
/// A word of several tokens sounds while its first does.
pub fn spectrogram(
    title: &str,
    powers: Frames,
    pitches: (f64, f64),
    trace: &SoundTrace,
    text: &str,
    known: &[Sounding],
) -> Result<Spectrogram, SpectrogramError> {
    let words = words_of(&trace.target, &trace.log_probabilities, text);
    let stretch = |token: usize| {
        let word = words.iter().position(|word| word.tokens.first() == Some(&token))?;
        known.iter().find(|mention| mention.word == word).map(|mention| (mention.start, mention.end))
    };
    let weights = trace.weights.iter().flatten().take(trace.target.len().saturating_sub(1));
    let heard = |(token, weights): (usize, &Vec<f32>)| Heard {
        probability: trace.log_probabilities.get(token).map(|log| log.exp()),
        known: stretch(token),
        ..Heard::new(trace.target[token].text.clone(), weights.clone())
    };
    let mut tokens: Vec<Heard> = weights.enumerate().map(heard).collect();
    if let (true, Some(end)) = (tokens.is_empty(), trace.weights.iter().flatten().next()) {
        // Nothing was written: what stands there is the end.
        tokens.push(Heard::new("–", end.clone()));
    }
    Spectrogram::new(title, powers, pitches, trace.timeline, tokens)
}

/// A word that was heard in a sound.
#[derive(Clone, Debug, PartialEq)]
pub struct HeardWord {
    /// The word and its tokens.
    pub written: WrittenWord,
    /// From which second to which it sounds, by where the model listened at its first token and at its last; none
    /// where nothing listens.
    pub heard: Option<(f64, f64)>,
}

/// The words of what was written of a sound, and when they sound.
pub fn heard_words(trace: &SoundTrace, text: &str) -> Vec<HeardWord> {
    let when = |token: Option<&usize>| trace.timeline.heard(trace.weights.as_ref()?.get(*token?)?);
    let heard = |written: WrittenWord| {
        let (first, last) = (when(written.tokens.first()), when(written.tokens.last()));
        let heard = first.zip(last).map(|((start, own_end), (_, end))| (start, end.max(own_end)));
        HeardWord { written, heard }
    };
    words_of(&trace.target, &trace.log_probabilities, text).into_iter().map(heard).collect()
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
