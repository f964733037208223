//! Traces with heads: every weight is where it should be, and company changes none of them.

use burn::tensor::Device;
use gatto_data::tokens::{END, Kind, Recipe, Tokenizer, TokenizerPair};
use gatto_data::{Corpus, Example, Labels, Memory, Padded, Unit};
use gatto_model::config::{
    HeadConfig, Pooling, RecurrentDecoderConfig, RecurrentEncoderConfig, TransformerConfig,
};
use gatto_model::{
    Attention, AttentionConfig, AttentionKind, BridgeKind, DecoderConfig, EncoderConfig, Forced, Model,
    ModelConfig, Saved, SingleConfig, Task, Trace, Vocabularies, weights,
};
use gatto_nn::{Initial, Noise};
use std::path::Path;
use std::sync::Arc;

const SOURCES: [&str; 5] = ["the cat sees the dog", "dog", "", "a cat and a dog see the table", "the cat"];
const TARGETS: [&str; 5] = ["il gatto", "cane", "un gatto e un cane", "", "vedono il tavolo"];
const LAYERS: usize = 2;
const HEADS: usize = 3;

fn layers() -> TransformerConfig {
    TransformerConfig { width: 6, layers: LAYERS, heads: HEADS, ..Default::default() }
}

fn recurrent() -> EncoderConfig {
    EncoderConfig::Gru(RecurrentEncoderConfig { width: 5, embedding: Some(4), ..Default::default() })
}

/// A model with random weights, large enough that heads differ.
fn saved(config: ModelConfig) -> Saved {
    let plan = config.plan(true).unwrap_or_else(|complaint| panic!("{complaint:?}"));
    let recipe = Recipe { kind: Kind::Word, ..Default::default() };
    let texts = SOURCES.into_iter().chain(TARGETS).map(str::to_owned);
    let tokens = TokenizerPair::together(Tokenizer::train(&recipe, texts).expect("a vocabulary"));
    let labels = config.task.has_labels().then(|| {
        let mut corpus = Memory::new(vec![Example::new("dog", "bad"), Example::new("cat", "good")]);
        Arc::new(Labels::learn(Unit::Sequence, &mut corpus as &mut dyn Corpus).expect("labels"))
    });
    let vocabularies = Vocabularies::with_labels(&tokens, labels.as_deref());
    let model = Model::new(&plan, vocabularies, 4, &Device::flex());
    let mut initial = Initial::new(9, &Device::flex());
    let mut values = weights::collect(&model);
    for weight in values.values_mut() {
        let noise = initial.normal([weight.values.len()], 0.4).val();
        let noise = noise.try_into_vec_as::<f32>().expect("values");
        weight.values.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
    }
    let model = weights::install(model, values, Path::new("given"), true).expect("weights that fit");
    Saved {
        task: config.task,
        plan,
        model,
        tokens,
        labels,
        search: Default::default(),
        statistics: None,
        shortlist: None,
    }
}

fn translator(encoder: EncoderConfig, decoder: DecoderConfig, attention: Option<AttentionConfig>) -> Saved {
    let (encoder, decoder) = (Some(encoder), Some(decoder));
    saved(ModelConfig { encoder, decoder, attention, ..ModelConfig::new(Task::Translate) })
}

fn classifier(encoder: EncoderConfig, pooling: Pooling) -> Saved {
    let head = Some(HeadConfig { pooling: Some(pooling), ..Default::default() });
    saved(ModelConfig { encoder: Some(encoder), head, ..ModelConfig::new(Task::Classify) })
}

/// Models of every kind, with the attentions that they have.
fn models() -> Vec<(&'static str, Saved, Vec<AttentionKind>)> {
    use AttentionKind::{Cross, Decoder, Encoder, Pooling as Pooled};
    let reading = || EncoderConfig::Transformer(layers());
    let writing = || DecoderConfig::Transformer(layers());
    let gru = |bridge| {
        let settings = RecurrentDecoderConfig { width: 6, embedding: Some(4), bridge, ..Default::default() };
        DecoderConfig::Gru(settings)
    };
    let looking = || (gru(Some(BridgeKind::AttentionOnly)), Some(AttentionConfig::default()));
    let ((decoder, attention), (other, same)) = (looking(), looking());
    let single = Some(SingleConfig::Transformer(layers()));
    let language = ModelConfig { decoder: Some(writing()), ..ModelConfig::new(Task::LanguageModel) };
    let masked = ModelConfig { encoder: Some(reading()), ..ModelConfig::new(Task::MaskedLanguageModel) };
    vec![
        ("both", translator(reading(), writing(), None), vec![Cross, Encoder, Decoder]),
        ("reader", translator(reading(), decoder, attention), vec![Cross, Encoder]),
        ("blind", translator(reading(), gru(None), None), vec![Encoder]),
        ("writer", translator(recurrent(), writing(), None), vec![Cross, Decoder]),
        ("neither", translator(recurrent(), other, same), vec![Cross]),
        ("none", translator(recurrent(), gru(None), None), vec![]),
        ("single", saved(ModelConfig { single, ..ModelConfig::new(Task::Translate) }), vec![Decoder]),
        ("language", saved(language), vec![Decoder]),
        ("masked", saved(masked), vec![Encoder]),
        ("pooled", classifier(reading(), Pooling::Attention), vec![Pooled, Encoder]),
        ("pooled states", classifier(recurrent(), Pooling::Attention), vec![Pooled]),
        ("class token", classifier(reading(), Pooling::ClassToken), vec![Encoder]),
    ]
}

fn pairs(saved: &Saved) -> Vec<Forced> {
    let source =
        |text| if saved.task == Task::LanguageModel { vec![] } else { saved.tokens.source.encode(text) };
    let target = |text| if saved.task.writes() { saved.tokens.target.encode(text) } else { vec![] };
    SOURCES.into_iter().zip(TARGETS).map(|(from, to)| (source(from), target(to))).collect()
}

fn texts(pieces: &[gatto_model::Piece]) -> Vec<&str> {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

fn of(trace: &Trace, kind: AttentionKind) -> &Attention {
    trace.attentions.iter().find(|attention| attention.kind == kind).expect("such an attention")
}

#[test]
fn a_trace_has_every_attention_of_its_model_if_asked() {
    for (name, saved, expected) in models() {
        assert_eq!(saved.plan.attentions(), expected, "{name}");
        for trace in saved.trace_heads(&pairs(&saved), 5).expect("traces") {
            let kinds: Vec<_> = trace.attentions.iter().map(|attention| attention.kind).collect();
            assert_eq!(kinds, expected, "{name}");
            for attention in &trace.attentions {
                let recurrent = match attention.kind {
                    AttentionKind::Cross => !expected.contains(&AttentionKind::Decoder),
                    kind => kind == AttentionKind::Pooling,
                };
                let (layers, heads) = if recurrent { (1, 1) } else { (LAYERS, HEADS) };
                assert_eq!(attention.layers.len(), layers, "{name}");
                assert!(attention.layers.iter().all(|layer| layer.len() == heads), "{name}");
            }
        }
        for trace in saved.trace(&pairs(&saved), 5).expect("traces") {
            assert_eq!(trace.attentions, [], "{name}: no one asked");
        }
    }
}

#[test]
fn weights_are_shares_of_what_exists() {
    for (name, saved, _) in models() {
        for (row, trace) in saved.trace_heads(&pairs(&saved), 5).expect("traces").iter().enumerate() {
            for Attention { kind, queries, keys, layers } in &trace.attentions {
                for matrix in layers.iter().flatten() {
                    let place = format!("{name} {kind:?} {row}: {matrix:?}");
                    assert_eq!(matrix.len(), queries.len(), "{place}");
                    for (t, weights) in matrix.iter().enumerate() {
                        assert_eq!(weights.len(), keys.len(), "{place}");
                        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{place}");
                        // What a decoder has not read yet stands behind what it reads at step t.
                        let behind = keys.len() - queries.len() + t + 1;
                        if *kind == AttentionKind::Decoder {
                            assert!(weights[behind..].iter().all(|&weight| weight == 0.0), "{place}");
                            assert!(weights[..behind].iter().all(|&weight| weight > 0.0), "{place}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_sentence_is_looked_at_the_same_alone_and_in_any_company() {
    for (name, saved, _) in models() {
        let pairs = pairs(&saved);
        let together = saved.trace_heads(&pairs, 5).expect("traces");
        for (pair, together) in pairs.iter().zip(&together) {
            let alone = saved.trace_heads(std::slice::from_ref(pair), 1).expect("a trace").remove(0);
            assert_eq!((&alone.source, &alone.target), (&together.source, &together.target), "{name}");
            for (one, other) in alone.attentions.iter().zip(&together.attentions) {
                assert_eq!((&one.queries, &one.keys), (&other.queries, &other.keys), "{name}");
                let numbers = |attention: &Attention| -> Vec<f32> {
                    attention.layers.iter().flatten().flatten().flatten().copied().collect()
                };
                let (one, other) = (numbers(one), numbers(other));
                assert_eq!(one.len(), other.len(), "{name}");
                assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5), "{name}");
            }
        }
    }
}

#[test]
fn the_weights_of_a_trace_are_the_mean_over_all_heads() {
    for (name, saved, kinds) in models() {
        for trace in saved.trace_heads(&pairs(&saved), 5).expect("traces") {
            let Some(weights) = &trace.weights else {
                assert!(!kinds.contains(&AttentionKind::Cross), "{name}");
                continue;
            };
            let cross = of(&trace, AttentionKind::Cross);
            assert_eq!((&cross.queries, &cross.keys), (&trace.target, &trace.source), "{name}");
            let matrices: Vec<_> = cross.layers.iter().flatten().collect();
            for (t, row) in weights.iter().enumerate() {
                for (i, weight) in row.iter().enumerate() {
                    let sum: f32 = matrices.iter().map(|matrix| matrix[t][i]).sum();
                    assert!((weight - sum / matrices.len() as f32).abs() < 1e-5, "{name} {t} {i}");
                }
            }
        }
    }
}

#[test]
fn every_head_keeps_its_place() {
    let (_, saved, _) = models().remove(0);
    for pair in pairs(&saved) {
        let trace = saved.trace_heads(std::slice::from_ref(&pair), 1).expect("a trace").remove(0);
        let padded = |tokens: &[u32]| Padded::new(&[[tokens, &[END]].concat()]);
        let (source, target, noise) = (padded(&pair.0), padded(&pair.1), &mut Noise::none());
        let memory = saved.model.encode(&source, noise).expect("it reads");
        let forward = saved.model.forward(&saved.model.teacher_inputs(&target), Some(&memory), noise);
        for (kind, layers) in [
            (AttentionKind::Cross, forward.cross_heads),
            (AttentionKind::Encoder, memory.heads),
            (AttentionKind::Decoder, forward.heads),
        ] {
            for (found, layer) in of(&trace, kind).layers.iter().zip(layers) {
                let expected = layer.try_into_vec_as::<f32>().expect("weights"); // [1, H, T, S]
                assert_eq!(found.concat().concat(), expected, "{kind:?}");
            }
        }
    }
}

#[test]
fn keys_are_what_was_read() {
    for (name, saved, _) in models() {
        let traces = saved.trace_heads(&pairs(&saved), 5).expect("traces");
        let trace = &traces[4];
        for attention in &trace.attentions {
            let (queries, keys) = (texts(&attention.queries), texts(&attention.keys));
            let source = ["the", "cat", "⟨/s⟩"];
            match (name, attention.kind) {
                ("single", AttentionKind::Decoder) => {
                    assert_eq!(keys, ["the", "cat", "⟨sep⟩", "vedono", "il", "tavolo"]);
                    let words: Vec<_> = attention.keys.iter().map(|piece| piece.word).collect();
                    assert_eq!(words, [Some(0), Some(1), None, Some(2), Some(3), Some(4)], "no word twice");
                }
                (_, AttentionKind::Decoder) => assert_eq!(keys, ["⟨s⟩", "vedono", "il", "tavolo"], "{name}"),
                ("class token", _) => assert_eq!(keys, ["⟨s⟩", "the", "cat", "⟨/s⟩"]),
                _ => assert_eq!(keys, source, "{name}"),
            }
            match attention.kind {
                AttentionKind::Encoder => assert_eq!(queries, keys, "{name}"),
                AttentionKind::Pooling => {
                    assert!(["good", "bad"].contains(&queries[0]), "{name}: {queries:?}")
                }
                _ => assert_eq!(queries, ["vedono", "il", "tavolo", "⟨/s⟩"], "{name}"),
            }
        }
        // An empty source is its end alone; an empty target too.
        assert_eq!(texts(&traces[2].source), ["⟨/s⟩"], "{name}");
        assert_eq!(texts(&traces[3].target).len(), usize::from(saved.task.writes()), "{name}");
    }
}

#[test]
fn gaps_are_shown_as_gaps() {
    let (_, saved, _) = models().remove(8);
    let tokens = saved.encode_gaps("the [MASK] sees [MASK]");
    let trace = saved.trace_heads(&[(tokens, vec![])], 1).expect("a trace").remove(0);
    let keys = &of(&trace, AttentionKind::Encoder).keys;
    assert_eq!(texts(keys), ["the", "[MASK]", "sees", "[MASK]", "⟨/s⟩"]);
    assert!(keys[1].word.is_some() && keys[1].word != keys[3].word);
}

#[test]
fn what_has_no_position_is_refused() {
    let learned = TransformerConfig {
        positions: gatto_nn::positions::PositionKind::Learned,
        max_positions: Some(6),
        ..layers()
    };
    let single = Some(SingleConfig::Transformer(learned));
    let saved = saved(ModelConfig { single, ..ModelConfig::new(Task::Translate) });
    let pair = |source: &str, target: &str| {
        vec![(saved.tokens.source.encode(source), saved.tokens.target.encode(target))]
    };
    assert!(saved.trace_heads(&pair("the cat", "vedono il tavolo"), 1).is_ok());
    let refused = saved.trace_heads(&pair("the cat", "un vedono il tavolo"), 1).expect_err("too long");
    assert!(refused.to_string().contains("7"), "{refused}");
}
