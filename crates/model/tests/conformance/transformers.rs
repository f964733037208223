//! The list of models with layers of self-attention, on either side or both.

use crate::variants::{Variant, attended, decoder, encoder, pair, reading, sharing, variant, writing};
use gatto_model::config::{RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig};
use gatto_model::{
    AttentionConfig, BridgeKind, DecoderConfig, EncoderConfig, ModelConfig, SharingConfig, SingleConfig, Task,
};
use gatto_nn::Activation;
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;

/// Two heads of four features. Distances beyond what relative positions tell apart do occur, and
/// there is no kink in the feed-forward blocks, where a gradient would be no slope.
pub(crate) fn layers(positions: PositionKind, norm: NormOrder) -> TransformerConfig {
    TransformerConfig {
        width: 8,
        layers: 1,
        heads: 2,
        feed_forward: Some(6),
        activation: Activation::Gelu,
        norm,
        positions,
        max_positions: (positions == PositionKind::Learned).then_some(16), // source and target in one row
        buckets: (positions == PositionKind::Relative).then_some(4),
        reach: match positions {
            PositionKind::Relative => Some(5),
            PositionKind::RelativeClipped => Some(2),
            _ => None,
        },
        ..Default::default()
    }
}

pub(crate) fn plain() -> TransformerConfig {
    layers(PositionKind::Sinusoidal, NormOrder::Post)
}

/// The layers of [`layers`], two of them.
fn two(norm: NormOrder) -> TransformerConfig {
    TransformerConfig { layers: 2, ..layers(PositionKind::Sinusoidal, norm) }
}

fn both(name: String, settings: &TransformerConfig, shared: SharingConfig) -> Variant {
    let reads = EncoderConfig::Transformer(settings.clone());
    let writes = DecoderConfig::Transformer(settings.clone());
    sharing(format!("transformer, {name}"), reads, writes, shared)
}

/// Every model with layers of self-attention and a decoder.
pub(crate) fn all() -> Vec<Variant> {
    let mut found = pairs();
    found.extend(before_recurrent_decoders());
    found.extend(behind_recurrent_encoders());
    found.extend(alone());
    found
}

fn pairs() -> Vec<Variant> {
    let mut found = Vec::new();
    let none = SharingConfig::default();
    for norm in [NormOrder::Post, NormOrder::Pre] {
        for positions in PositionKind::ALL {
            found.push(both(format!("{positions:?}, {norm:?}"), &layers(positions, norm), none.clone()));
        }
        found.push(both(format!("two layers, {norm:?}"), &two(norm), none.clone()));
        let bare = TransformerConfig { projections: false, heads: 1, ..two(norm) };
        found.push(both(format!("without projections, {norm:?}"), &bare, none.clone()));
        let relu = TransformerConfig { activation: Activation::Relu, ..two(norm) };
        found.push(both(format!("relu, {norm:?}"), &relu, none.clone()));
    }
    for [embeddings, output, source_output] in
        [[true, false, false], [false, true, false], [true, true, false], [false, false, true]]
    {
        let shared = SharingConfig { embeddings, output, source_output, ..none.clone() };
        let name = format!("shared embeddings {embeddings}, output {output}, of the source {source_output}");
        found.push(both(name, &layers(PositionKind::Learned, NormOrder::Pre), shared));
    }
    let wider = TransformerConfig { width: 12, heads: 3, layers: 2, ..plain() };
    found.push(pair(
        "transformer, another width, depth and number of heads on each side".to_owned(),
        EncoderConfig::Transformer(plain()),
        DecoderConfig::Transformer(wider),
    ));
    found
}

/// The encoder's mean as context, with every bridge, and its states to look at.
fn before_recurrent_decoders() -> Vec<Variant> {
    type Writing = RecurrentDecoderConfig;
    let reads = || EncoderConfig::Transformer(layers(PositionKind::Sinusoidal, NormOrder::Pre));
    let mut found = Vec::new();
    for bridge in [BridgeKind::FirstState, BridgeKind::EveryStep, BridgeKind::Both, BridgeKind::AttentionOnly]
    {
        let writes = |cell| decoder(cell, Writing { bridge: Some(bridge), layers: 2, ..writing() });
        if bridge != BridgeKind::AttentionOnly {
            found.push(pair(format!("transformer to lstm, {bridge:?}"), reads(), writes("lstm")));
        }
        let attention = AttentionConfig::default();
        let name = format!("transformer to gru with attention, {bridge:?}");
        found.push(attended(name, reads(), writes("gru"), attention));
    }
    let same_width = decoder("rnn", Writing { width: 8, ..writing() });
    found.push(pair("transformer to rnn, passed as it is".to_owned(), reads(), same_width));
    found
}

fn behind_recurrent_encoders() -> Vec<Variant> {
    type Reading = RecurrentEncoderConfig;
    let with = |name: &str, reads: EncoderConfig, writes: TransformerConfig| {
        pair(format!("{name} to transformer"), reads, DecoderConfig::Transformer(writes))
    };
    let bare = TransformerConfig { projections: false, heads: 1, ..plain() };
    vec![
        with("gru", encoder("gru", reading()), plain()),
        with(
            "bidirectional lstm",
            encoder("lstm", Reading { bidirectional: true, layers: 2, width: 3, ..reading() }),
            layers(PositionKind::Relative, NormOrder::Pre),
        ),
        with("reversed rnn", encoder("rnn", Reading { reversed: true, ..reading() }), two(NormOrder::Post)),
        with(
            "bidirectional gru, without projections,",
            encoder("gru", Reading { bidirectional: true, ..reading() }),
            bare,
        ),
    ]
}

/// One stack for both sides, and language models.
fn alone() -> Vec<Variant> {
    let tied = SharingConfig { output: true, ..Default::default() };
    let one = |name: String, settings: TransformerConfig, sharing: SharingConfig| {
        let single = Some(SingleConfig::Transformer(settings));
        let config = ModelConfig { single, sharing, ..ModelConfig::new(Task::Translate) };
        variant(format!("transformer, single, {name}"), true, config)
    };
    let language = |name: String, settings: TransformerConfig, sharing: SharingConfig| {
        let decoder = Some(DecoderConfig::Transformer(settings));
        let config = ModelConfig { decoder, sharing, ..ModelConfig::new(Task::LanguageModel) };
        variant(format!("transformer, language model, {name}"), true, config)
    };
    let none = SharingConfig::default();
    let mut found = Vec::new();
    for (number, positions) in PositionKind::ALL.into_iter().enumerate() {
        let norm = if number.is_multiple_of(2) { NormOrder::Post } else { NormOrder::Pre };
        let settings = layers(positions, norm);
        found.push(one(format!("{positions:?}, {norm:?}"), settings.clone(), none.clone()));
        if matches!(positions, PositionKind::Learned | PositionKind::Rotary) {
            found.push(language(format!("{positions:?}, {norm:?}"), settings, none.clone()));
        }
    }
    found.push(one("two layers, tied output".to_owned(), two(NormOrder::Pre), tied.clone()));
    found.push(language("two layers, tied output".to_owned(), two(NormOrder::Post), tied));
    let bare = TransformerConfig { projections: false, heads: 1, ..plain() };
    found.push(one("without projections".to_owned(), bare, none));
    found
}
