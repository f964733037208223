//! What an image becomes depends on nothing but the image: not on how many are computed together, on which stand beside
//! it, or on the number of threads. Not nearly: every bit.

use crate::independence::with_threads;
use burn::tensor::Device;
use gatto_data::builtin::shapes::{Asked, DrawnShapes, ScenePart, Shapes};
use gatto_data::images::{ImageSet, Pixels, Preparation, Ready};
use gatto_data::tokens::{Kind, Recipe, Tokenizer, TokenizerPair};
use gatto_data::{Labels, Unit};
use gatto_model::config::{
    CnnConfig, FocusKind, HeadConfig, Pooling, QueryKind, RecurrentDecoderConfig, TransformerConfig,
    VitConfig,
};
use gatto_model::{
    AttentionConfig, Constraints, DecoderConfig, Drawing, EncoderConfig, Model, ModelConfig, ModelError,
    Prediction, Request, Saved, Task, Vocabularies, Writers,
};
use gatto_nn::Precision;
use gatto_search::{Sampling, SearchConfig};
use std::sync::Arc;

/// Sides of what is read, and of the scenes that it is made of.
const SIDE: usize = 32;
const DRAWN: usize = 64;
const COUNT: u64 = 40;

fn images() -> Preparation {
    Preparation { height: SIDE, width: SIDE, ..Preparation::default() }
}

fn scenes(asked: Asked) -> DrawnShapes {
    let task = Shapes::new(DRAWN, asked).expect("scenes");
    DrawnShapes { task, part: ScenePart::Train, seed: 3, count: COUNT }
}

fn pixels() -> Vec<Pixels> {
    let scenes = scenes(Asked::Captions(1));
    let ready = |index| Ready::new(&scenes, index, &images(), None).expect("a scene").pixels;
    (0..COUNT).map(ready).collect()
}

fn captions() -> Vec<String> {
    let scenes = scenes(Asked::Captions(1));
    (0..COUNT).map(|index| scenes.texts(index).expect("captions").remove(0)).collect()
}

fn cnn() -> EncoderConfig {
    EncoderConfig::Cnn(CnnConfig { channels: vec![8, 16], groups: 4, ..Default::default() })
}

fn vit() -> EncoderConfig {
    EncoderConfig::Vit(VitConfig { width: 32, layers: 2, ..Default::default() })
}

fn saved(config: &ModelConfig) -> Saved {
    let plan = config.plan(true).expect("a plan");
    let recipe = Recipe { kind: Kind::Word, ..Default::default() };
    let tokens = TokenizerPair::together(Tokenizer::train(&recipe, captions()).expect("a vocabulary"));
    let labels = (config.task == Task::Classify).then(|| {
        let mut texts = gatto_data::images::texts_of(&scenes(Asked::LargestColour), COUNT).expect("labels");
        Arc::new(Labels::learn(Unit::Sequence, &mut texts).expect("labels"))
    });
    let sizes = Vocabularies::with_labels(&tokens, labels.as_deref());
    let model = Model::new(&plan, sizes, 5, &Device::flex());
    let search = SearchConfig { max_length: 8, ..SearchConfig::default() };
    Saved { task: config.task, plan, model, tokens, labels, search, statistics: None, shortlist: None }
}

fn writers() -> Vec<(String, Saved)> {
    let told =
        AttentionConfig { query: QueryKind::Previous, gate: true, deep_output: true, ..Default::default() };
    let hard = AttentionConfig { focus: FocusKind::Hard, prediction_seed: Some(3), ..Default::default() };
    let layers = TransformerConfig { width: 32, heads: 4, layers: 2, ..Default::default() };
    let lstm = || {
        DecoderConfig::Lstm(RecurrentDecoderConfig { width: 40, embedding: Some(24), ..Default::default() })
    };
    let transformer = || DecoderConfig::Transformer(layers.clone());
    let mut found = Vec::new();
    for (name, encoder, decoder, attention) in [
        ("cnn, soft", cnn(), lstm(), Some(told.clone())),
        ("cnn, hard", cnn(), lstm(), Some(hard)),
        ("vit, soft", vit(), lstm(), Some(told)),
        ("cnn to transformer", cnn(), transformer(), None),
        ("vit to transformer", vit(), transformer(), None),
    ] {
        let config = ModelConfig {
            encoder: Some(encoder),
            decoder: Some(decoder),
            attention,
            images: Some(images()),
            ..ModelConfig::new(Task::Caption)
        };
        for ready in [None, Some(Precision::Float), Some(Precision::Int8)] {
            let mut saved = saved(&config);
            if let Some(precision) = ready {
                saved.model.prepare(precision);
            }
            found.push((format!("{name}, ready {ready:?}"), saved));
        }
    }
    found
}

fn copy(saved: &Saved) -> Saved {
    let Saved { task, plan, model, tokens, labels, search, statistics, shortlist } = saved;
    Saved {
        task: *task,
        plan: plan.clone(),
        model: model.clone(),
        tokens: tokens.clone(),
        labels: labels.clone(),
        search: search.clone(),
        statistics: statistics.clone(),
        shortlist: shortlist.clone(),
    }
}

fn best(saved: &Saved, images: &[Pixels], batch: usize) -> Vec<Vec<Prediction>> {
    let requests: Vec<Request<'_>> = images.iter().map(Request::free).collect();
    let writers = Writers::alone(saved).expect("a writer");
    writers.best(&requests, saved.search.beam, batch).expect("captions")
}

#[test]
fn neither_company_nor_threads_change_a_bit_of_a_caption() {
    let images = pixels();
    for (name, mut saved) in writers() {
        for beam in [1, 4] {
            saved.search.beam = beam;
            let alone = best(&saved, &images, 1);
            assert!(alone.iter().all(|best| !best.is_empty()), "{name}");
            for (threads, batch) in [(2, 1), (1, 7), (2, 16), (3, 64)] {
                let (own, images) = (copy(&saved), images.clone());
                let found = with_threads(threads, move || best(&own, &images, batch));
                assert_eq!(found, alone, "{name}, beam {beam}, {threads} threads, batch {batch}");
            }
            // The other way round, each has other neighbours.
            let mut turned = best(&saved, &images.iter().rev().cloned().collect::<Vec<_>>(), 16);
            turned.reverse();
            assert_eq!(turned, alone, "{name}, beam {beam}");
        }
    }
}

/// Forcing what search has found gives the log-probabilities that search reported.
#[test]
fn what_search_reports_is_what_a_trace_gives() {
    let images = pixels();
    for (name, mut saved) in writers().into_iter().filter(|(name, _)| !name.contains("Int8")) {
        saved.search.beam = 3;
        let found = best(&saved, &images, 16);
        let pairs: Vec<(&Pixels, Vec<u32>)> = images
            .iter()
            .zip(&found)
            .map(|(image, best)| (image, best[0].hypothesis.tokens.clone()))
            .collect();
        let grid = saved.plan.grid().expect("regions");
        let traces = saved.trace_images(&pairs, 7, true).expect("traces");
        assert_eq!(saved.trace_images(&pairs[3..5], 1, true).expect("traces").len(), 2);
        for ((trace, (_, tokens)), best) in traces.iter().zip(&pairs).zip(&found) {
            assert_eq!(trace.grid, grid);
            assert_eq!(trace.target.len(), tokens.len() + 1, "{name}: with its end");
            let reported = &best[0].hypothesis.log_probabilities;
            for (traced, reported) in trace.log_probabilities.iter().zip(reported) {
                assert!((traced - reported).abs() < 1e-4, "{name}: {traced} and not {reported}");
            }
            let weights = trace.weights.as_ref().expect("it looks");
            assert_eq!(weights.len(), trace.target.len(), "{name}");
            for row in weights {
                assert_eq!(row.len(), grid.len(), "{name}");
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}: {row:?}");
            }
            let vit = name.starts_with("vit");
            assert_eq!((trace.class_token, trace.layers.len()), (vit, if vit { 2 } else { 0 }), "{name}");
            for matrix in trace.layers.iter().flatten() {
                assert_eq!((matrix.len(), matrix[0].len()), (grid.len() + 1, grid.len() + 1), "{name}");
                for row in matrix {
                    assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}: {row:?}");
                }
            }
        }
        let [alone] = &saved.trace_images(&pairs[3..4], 1, true).expect("a trace")[..] else { panic!("one") };
        for (a, b) in alone.log_probabilities.iter().zip(&traces[3].log_probabilities) {
            assert!((a - b).abs() < 1e-5, "{name}");
        }
    }
}

#[test]
fn a_sample_depends_on_its_image_alone() {
    let images = pixels();
    let requests: Vec<Request<'_>> = images.iter().map(Request::free).collect();
    for (name, saved) in writers() {
        let writers = Writers::alone(&saved).expect("a writer");
        let drawing = Drawing { sampling: Sampling::default(), seed: 3 };
        let drawn = |batch| writers.drawn(&requests, 0, &drawing, 2, batch).expect("samples");
        assert_eq!(drawn(64), drawn(1), "{name}");
    }
}

#[test]
fn constraints_hold_for_captions_too() {
    let images = pixels();
    let caption = &captions()[0];
    let words: Vec<&str> = caption.split_whitespace().collect();
    let (first, last) = (words[0], words[words.len() - 1]);
    let wanted = Constraints {
        prefix: first.to_owned(),
        must: vec![last.to_owned()],
        never: vec![],
        ..Constraints::default()
    };
    for (name, mut saved) in writers() {
        saved.search.beam = 4;
        let requests: Vec<Request<'_>> =
            images[..6].iter().map(|image| Request::new(image, &wanted)).collect();
        let found = Writers::alone(&saved).expect("a writer").best(&requests, 1, 4).expect("captions");
        for best in found {
            let words: Vec<&str> = best[0].text.split_whitespace().collect();
            assert!(words[0] == first && words.contains(&last), "{name}: {words:?}");
        }
    }
}

fn classifiers() -> Vec<(String, Saved)> {
    let mut found = Vec::new();
    for (encoder, kind) in [("cnn", cnn()), ("vit", vit())] {
        for pooling in [Pooling::Mean, Pooling::Max, Pooling::Attention, Pooling::ClassToken] {
            if encoder == "cnn" && pooling == Pooling::ClassToken {
                continue;
            }
            let config = ModelConfig {
                encoder: Some(kind.clone()),
                head: Some(HeadConfig { pooling: Some(pooling), ..Default::default() }),
                images: Some(images()),
                ..ModelConfig::new(Task::Classify)
            };
            found.push((format!("{pooling:?} of a {encoder}"), saved(&config)));
        }
    }
    found
}

#[test]
fn neither_company_nor_threads_change_a_bit_of_a_label() {
    let images = pixels();
    for (name, mut saved) in classifiers() {
        for ready in [None, Some(Precision::Float), Some(Precision::Int8)] {
            if let Some(precision) = ready {
                saved.model.prepare(precision);
            }
            let alone = saved.classify_images(&images, 1).expect("labels");
            let labels = saved.labels.as_ref().expect("labels").len();
            for told in &alone {
                assert_eq!(told.probabilities.len(), labels, "{name}");
                assert!((told.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}");
            }
            for (threads, batch) in [(2, 1), (1, 7), (2, 16), (3, 64)] {
                let (own, images) = (copy(&saved), images.clone());
                let found =
                    with_threads(threads, move || own.classify_images(&images, batch).expect("labels"));
                assert_eq!(found, alone, "{name}, {threads} threads, batch {batch}, ready {ready:?}");
            }
        }
        let pairs: Vec<(&Pixels, Vec<u32>)> = images[..5].iter().map(|image| (image, Vec::new())).collect();
        for trace in saved.trace_images(&pairs, 3, false).expect("traces") {
            assert!(trace.target.is_empty() && trace.layers.is_empty(), "{name}");
            let weighs = name.starts_with("Attention");
            assert_eq!(trace.weights.is_some(), weighs, "{name}");
            for row in trace.weights.into_iter().flatten() {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}: {row:?}");
            }
        }
    }
}

#[test]
fn what_a_model_cannot_read_is_refused_by_number() {
    let (images, config) = (
        pixels(),
        ModelConfig {
            encoder: Some(cnn()),
            decoder: Some(DecoderConfig::Gru(RecurrentDecoderConfig { width: 8, ..Default::default() })),
            images: Some(images()),
            ..ModelConfig::new(Task::Caption)
        },
    );
    let saved = saved(&config);
    let other = Pixels::new(SIDE, SIDE / 2, 3, vec![0.0; SIDE * SIDE / 2 * 3]).expect("an image");
    let writers = Writers::alone(&saved).expect("a writer");
    let best = |requests: &[Request<'_>]| writers.best(requests, 1, 8).map(drop).expect_err("not to be read");
    let error = best(&[Request::free(&images[0]), Request::free(&other)]);
    assert!(matches!(error, ModelError::OtherImage { index: 1, .. }), "{error}");
    let error = best(&[Request::free(&images[0]), Request::free("a text")]);
    assert!(matches!(error, ModelError::OtherSource { index: 1, wanted: "images", .. }), "{error}");
    assert!(matches!(saved.classify_images(&images, 8), Err(ModelError::OtherTask { .. })));
    let (_, text) = crate::models().remove(0);
    let error = Writers::alone(&text).expect("a translator").best(&[Request::free(&images[0])], 1, 8);
    assert!(matches!(error, Err(ModelError::OtherSource { index: 0, wanted: "texts", .. })), "{error:?}");
    assert!(matches!(text.trace_images(&[], 1, false), Err(ModelError::OtherSource { .. })));
}
