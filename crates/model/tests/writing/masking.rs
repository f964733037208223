//! Heads that give nought.

use crate::{models, prepared_models, saved};
use gatto_model::config::TransformerConfig;
use gatto_model::weights::{self, Weights};
use gatto_model::{
    AttentionKind, DecoderConfig, EncoderConfig, HeadPlace, ModelConfig, ModelError, Saved, Task, Trace,
};
use gatto_nn::Precision;
use std::path::Path;

const KINDS: [AttentionKind; 3] = [AttentionKind::Cross, AttentionKind::Encoder, AttentionKind::Decoder];
const WIDTH: usize = 24;
const HEADS: usize = 4;
const LAYERS: usize = 2;

/// A Transformer none of whose weights is nought.
fn transformer() -> Saved {
    let settings = TransformerConfig { width: WIDTH, heads: HEADS, layers: LAYERS, ..Default::default() };
    let mut saved = saved(ModelConfig {
        encoder: Some(EncoderConfig::Transformer(settings.clone())),
        decoder: Some(DecoderConfig::Transformer(settings)),
        ..ModelConfig::new(Task::Translate)
    });
    let mut values = weights::collect(&saved.model);
    for (number, value) in values.values_mut().flat_map(|weight| &mut weight.values).enumerate() {
        *value += ((number * 7919 % 211) as f32 / 211.0 - 0.5) * 0.3;
    }
    saved.model = installed(&saved, values);
    saved
}

fn installed(saved: &Saved, values: Weights) -> gatto_model::Model {
    weights::install(saved.model.clone(), values, Path::new("given"), true).expect("weights that fit")
}

fn places(attention: AttentionKind) -> impl Iterator<Item = HeadPlace> {
    (1..=LAYERS).flat_map(move |layer| (1..=HEADS).map(move |head| HeadPlace { attention, layer, head }))
}

fn trace(saved: &Saved, source: &str) -> Trace {
    let pair = (saved.tokens.source.encode(source), saved.tokens.target.encode("w1 w2 w3 w4"));
    saved.trace_heads(&[pair], 1).expect("a trace").remove(0)
}

/// log p of a target, as a pass over the whole tells it and as steps do.
fn told(saved: &Saved) -> [Vec<u32>; 2] {
    let steps = saved.score(&["w5 w6 w7"], &["w1 w2 w3 w4"], 1).expect("scores").remove(0);
    [trace(saved, "w5 w6 w7").log_probabilities, steps.log_probabilities]
        .map(|logs| logs.into_iter().map(f32::to_bits).collect())
}

/// The place of an attention among the parameters.
fn parameters(attention: AttentionKind, layer: usize) -> String {
    let (side, part) = match attention {
        AttentionKind::Encoder => ("encoder", "attention"),
        AttentionKind::Cross => ("decoder", "cross"),
        _ => ("decoder", "attention"),
    };
    format!("{side}.stack.layers.{}.{part}", layer - 1)
}

/// The forms that a model is used in: its parameters, and what is made ready of them.
fn forms(saved: Saved) -> Vec<Saved> {
    let prepared = |precision: Precision| {
        let mut other = saved.masked(&[]).expect("the same");
        other.model.prepare(precision);
        other
    };
    let mut found = vec![prepared(Precision::Float), prepared(Precision::Int8)];
    found.push(saved);
    found
}

#[test]
fn a_masked_head_is_one_whose_values_are_nought() {
    let plain = transformer();
    for place in KINDS.into_iter().flat_map(places) {
        let mut values = weights::collect(&plain.model);
        let (own, head) = (WIDTH / HEADS, place.head - 1);
        let of_head = |column: usize| column / own == head;
        for part in ["weight", "bias"] {
            let name = format!("{}.value.{part}", parameters(place.attention, place.layer));
            let weight = values.get_mut(&name).expect("a parameter");
            let columns = weight.values.iter_mut().enumerate().filter(|(at, _)| of_head(at % WIDTH));
            columns.for_each(|(_, value)| *value = 0.0);
        }
        let expected = Saved { model: installed(&plain, values), ..plain.masked(&[]).expect("the same") };
        let found = plain.masked(&[place]).expect("a head");
        assert_eq!(told(&found), told(&expected), "{place}");
        assert_ne!(told(&found), told(&plain), "{place} is of no use, so that nothing was tested");
    }
}

#[test]
fn without_all_heads_only_the_bias_is_left() {
    let plain = transformer();
    for attention in KINDS {
        let mut values = weights::collect(&plain.model);
        for layer in 1..=LAYERS {
            let name = format!("{}.output.weight", parameters(attention, layer));
            values.get_mut(&name).expect("a parameter").values.fill(0.0);
        }
        let expected = Saved { model: installed(&plain, values), ..plain.masked(&[]).expect("the same") };
        let all: Vec<HeadPlace> = places(attention).collect();
        assert_eq!(told(&plain.masked(&all).expect("heads")), told(&expected), "{attention:?}");
    }
}

#[test]
fn without_heads_that_look_at_it_the_source_does_not_matter() {
    let all: Vec<HeadPlace> = places(AttentionKind::Cross).collect();
    for plain in forms(transformer()) {
        let found = plain.masked(&all).expect("heads");
        let of = |saved: &Saved, source: &str| {
            let written = saved.predict(&[source], 1).expect("a prediction").remove(0).hypothesis;
            (trace(saved, source).log_probabilities, written)
        };
        assert_eq!(of(&found, "w5 w6 w7"), of(&found, "w100 w3"));
        assert_ne!(of(&plain, "w5 w6 w7"), of(&plain, "w100 w3"));
    }
}

#[test]
fn masking_nothing_changes_nothing_and_no_mask_touches_the_model() {
    for plain in forms(transformer()) {
        let before = told(&plain);
        assert_eq!(told(&plain.masked(&[]).expect("no heads")), before);
        let head = HeadPlace { attention: AttentionKind::Decoder, layer: 2, head: 1 };
        assert_ne!(told(&plain.masked(&[head, head]).expect("a head")), before);
        assert_eq!(told(&plain), before);
    }
}

#[test]
fn where_a_masked_head_looks_is_seen() {
    let plain = transformer();
    let first = HeadPlace { attention: AttentionKind::Encoder, layer: 1, head: 2 };
    let (before, masked) = (trace(&plain, "w5 w6"), trace(&plain.masked(&[first]).expect("a head"), "w5 w6"));
    let layers = |trace: &Trace| {
        let found = trace.attentions.iter().find(|found| found.kind == AttentionKind::Encoder);
        found.expect("an encoder").layers.clone()
    };
    assert_eq!(layers(&before)[0], layers(&masked)[0], "nothing stands before the first layer");
    assert_ne!(layers(&before)[1], layers(&masked)[1], "what the second reads is another thing");
}

#[test]
fn heads_that_are_not_there_are_refused() {
    let plain = transformer();
    let refused = |saved: &Saved, attention, layer, head| {
        let place = HeadPlace { attention, layer, head };
        match saved.masked(&[place]) {
            Err(error @ ModelError::NoHead { .. }) => error.to_string(),
            other => panic!("{place}: {:?}", other.map(drop)),
        }
    };
    for (layer, head) in [(0, 1), (1, 0), (LAYERS + 1, 1), (1, HEADS + 1), (usize::MAX, usize::MAX)] {
        for attention in KINDS {
            let told = refused(&plain, attention, layer, head);
            assert!(told.contains("cross has 2 layers of 4 heads"), "{told}");
        }
    }
    refused(&plain, AttentionKind::Pooling, 1, 1);
    let (name, recurrent) = models().remove(0);
    assert!(name.starts_with("recurrent"));
    assert!(refused(&recurrent, AttentionKind::Cross, 1, 1).contains("the model has none"));
    let (_, eight_bits) = prepared_models().pop().expect("a transformer");
    let head = HeadPlace { attention: AttentionKind::Cross, layer: 2, head: 4 };
    assert!(eight_bits.masked(&[head]).is_ok(), "eight bits have heads as well");
}
