//! The list of models with a head in place of a decoder, and what holds of them alone.

use crate::transformers::{layers, plain};
use crate::variants::{self, Variant, assert_close, encoder, reading, scores, values, variant};
use burn::tensor::{Device, Tensor};
use gatto_data::{Padded, Sources};
use gatto_model::config::{FeaturesConfig, HeadConfig, Pooling, RecurrentEncoderConfig};
use gatto_model::{EncoderConfig, Model, ModelConfig, SharingConfig, Task};
use gatto_nn::Noise;
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;

type Reading = RecurrentEncoderConfig;

/// Every model with a head, and those that read features beside their token vectors.
pub(crate) fn all() -> Vec<Variant> {
    let mut found = classifiers();
    found.extend(of_every_position());
    found.extend(bidirectional_language_models());
    found.extend(with_features());
    found
}

fn telling(
    task: Task,
    name: &str,
    encoder: EncoderConfig,
    head: HeadConfig,
    sharing: SharingConfig,
) -> Variant {
    let config = ModelConfig { encoder: Some(encoder), head: Some(head), sharing, ..ModelConfig::new(task) };
    variant(format!("{task:?}, {name}"), false, config)
}

fn both_directions() -> Reading {
    Reading { bidirectional: true, ..reading() }
}

fn transformer() -> EncoderConfig {
    EncoderConfig::Transformer(layers(PositionKind::Learned, NormOrder::Pre))
}

fn classifiers() -> Vec<Variant> {
    let mut found = Vec::new();
    let with = |name: String, encoder: EncoderConfig, head: HeadConfig| {
        telling(Task::Classify, &name, encoder, head, SharingConfig::default())
    };
    for pooling in Pooling::ALL {
        let head = HeadConfig { pooling: Some(pooling), ..Default::default() };
        found.push(with(format!("{pooling:?} of a transformer"), transformer(), head.clone()));
        if pooling == Pooling::ClassToken {
            // It is read last.
            let reversed = Reading { reversed: true, ..reading() };
            found.push(with("ClassToken of a reversed lstm".to_owned(), encoder("lstm", reversed), head));
            continue;
        }
        let lstm = encoder("lstm", both_directions());
        found.push(with(format!("{pooling:?} of a bidirectional lstm"), lstm, head.clone()));
        found.push(with(format!("{pooling:?} of a gru"), encoder("gru", reading()), head));
    }
    let last = HeadConfig { pooling: Some(Pooling::Last), ..Default::default() };
    let reversed = Reading { reversed: true, layers: 2, ..reading() };
    found.push(with("Last of a reversed rnn".to_owned(), encoder("rnn", reversed), last));
    let hidden = HeadConfig { hidden: Some(5), ..Default::default() };
    found.push(with("through a layer of its own".to_owned(), transformer(), hidden));
    found
}

/// A label for every token, or the token itself.
fn of_every_position() -> Vec<Variant> {
    let mut found = Vec::new();
    let (head, none) = (HeadConfig::default(), SharingConfig::default());
    for task in [Task::Label, Task::MaskedLanguageModel] {
        let post = EncoderConfig::Transformer(plain());
        found.push(telling(task, "transformer", post, head.clone(), none.clone()));
        let lstm = encoder("lstm", both_directions());
        found.push(telling(task, "bidirectional lstm", lstm, head.clone(), none.clone()));
    }
    let tied = SharingConfig { output: true, ..none };
    let hidden = HeadConfig { hidden: Some(3), ..Default::default() }; // as wide as a token's vector
    for (name, encoder, head) in [
        ("transformer, tied output", transformer(), head.clone()),
        ("gru, tied output", encoder("gru", Reading { embedding: None, ..reading() }), head),
        ("bidirectional gru, tied output", encoder("gru", both_directions()), hidden),
    ] {
        found.push(telling(Task::MaskedLanguageModel, name, encoder, head, tied.clone()));
    }
    found
}

fn bidirectional_language_models() -> Vec<Variant> {
    let with = |name: &str, cell: &str, settings: Reading, head: HeadConfig| {
        let none = SharingConfig::default();
        telling(Task::BidirectionalLanguageModel, name, encoder(cell, settings), head, none)
    };
    let hidden = HeadConfig { hidden: Some(5), ..Default::default() };
    vec![
        with("lstm", "lstm", both_directions(), HeadConfig::default()),
        with("two layers", "lstm", Reading { layers: 2, ..both_directions() }, HeadConfig::default()),
        with(
            "three layers, hidden",
            "gru",
            Reading { layers: 3, embedding: None, ..both_directions() },
            hidden,
        ),
    ]
}

/// A language model's layers beside the token vectors, with its vectors as a layer and without.
fn with_features() -> Vec<Variant> {
    let settings = Reading { width: 3, layers: 2, ..Default::default() };
    let narrow = FeaturesConfig::Lstm(Reading { embedding: Some(2), ..settings.clone() });
    let with = |name: &str, task: Task, encoder: EncoderConfig, features: &FeaturesConfig| {
        let config = ModelConfig {
            encoder: Some(encoder),
            decoder: task.writes().then(|| crate::variants::decoder("gru", crate::variants::writing())),
            features: Some(features.clone()),
            ..ModelConfig::new(task)
        };
        variant(format!("{task:?}, features, {name}"), false, config)
    };
    let features = FeaturesConfig::Lstm(settings);
    vec![
        with("lstm", Task::Label, encoder("lstm", both_directions()), &features),
        with("gru", Task::Classify, encoder("gru", reading()), &narrow),
        with("gru to gru", Task::Translate, encoder("gru", reading()), &features),
    ]
}

/// Where the answers for a row stand among the scores of a head.
pub(crate) fn places(task: Task, source: &Sources, row: usize) -> Vec<usize> {
    let Sources::Tokens(source) = source else { return vec![row] };
    let (width, length) = (source.width, source.lengths[row]);
    match task {
        Task::Classify => vec![row],
        // A token stands before the row, and those of the other direction come last.
        Task::BidirectionalLanguageModel => {
            let first = |direction: usize| (direction * source.rows + row) * (width + 1);
            [0, 1].into_iter().flat_map(|direction| first(direction)..=first(direction) + length).collect()
        }
        _ => (row * width..row * width + length).collect(),
    }
}

/// The answers that a head's scores are compared with, and which of them count: any, as long as they
/// follow from the row alone.
pub(crate) fn answers(task: Task, source: &Sources, shape: [usize; 2]) -> (Vec<u32>, Vec<f32>) {
    let [count, labels] = shape;
    let (mut ids, mut weights) = (vec![0; count], vec![0.0; count]);
    for row in 0..source.rows() {
        let sum: u32 = match source {
            Sources::Tokens(tokens) => tokens.row(row).iter().sum(),
            Sources::Images(images) => images.row(row)[0].to_bits() % 1000,
            Sources::Sound(sounds) => sounds.row(row)[0].to_bits() % 1000,
        };
        for (number, place) in places(task, source, row).into_iter().enumerate() {
            ids[place] = (sum + 3 * number as u32) % labels as u32;
            weights[place] = 1.0;
        }
    }
    (ids, weights)
}

fn told(model: &Model, source: &Sources) -> (Tensor<2>, Option<Tensor<2>>) {
    let noise = &mut Noise::none();
    let memory = model.encode(source, noise).expect("an encoder");
    let told = model.tell(&memory, noise).expect("a head");
    (told.logits, told.weights)
}

#[test]
fn learned_pooling_weighs_what_exists_and_nothing_else() {
    let mut seen = 0;
    for variant in variants::all().into_iter().filter(|variant| variant.head().is_some()) {
        let source = variant.wide_source(3, 7);
        let (_, weights) = told(&variant.model(&Device::flex()), &source);
        assert_eq!(weights.is_some(), variant.name.contains("Attention"), "{}", variant.name);
        let Some(weights) = weights else { continue };
        let width = weights.dims()[1];
        for (weights, length) in values(weights).chunks_exact(width).zip(variant.lengths()) {
            let (inside, outside) = weights.split_at(length);
            assert!((inside.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{} {weights:?}", variant.name);
            assert!(inside.iter().all(|&weight| weight > 0.0), "{} {weights:?}", variant.name);
            assert!(outside.iter().all(|&weight| weight == 0.0), "{} {weights:?}", variant.name);
        }
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn each_direction_of_a_language_model_has_seen_its_own_side_only() {
    let before = vec![5, 6, 7, 8, 9, 5];
    let width = before.len() + 1; // a token stands before them
    for variant in bidirectional_language_models() {
        let model = variant.model(&Device::flex());
        let directions = |row: &[u32]| {
            let scores = scores(&variant, &model, &Padded::new(&[row]).into(), &Padded::new(&[row])).concat();
            let (forward, backward) = scores.split_at(width);
            (forward.to_vec(), backward.to_vec())
        };
        let (forward, backward) = directions(&before);
        for changed in 0..before.len() {
            let mut row = before.clone();
            row[changed] = if row[changed] == 9 { 5 } else { row[changed] + 1 };
            let (other_forward, other_backward) = directions(&row);
            let place = changed + 1; // of the changed token, behind the one before them all
            for at in 0..width {
                let what = format!("{}, token {changed} changed, at {at}", variant.name);
                match at < place {
                    true => assert_close(&what, &other_forward[at], &forward[at], 0.0),
                    false => assert_ne!(other_forward[at], forward[at], "{what}"),
                }
                match at > place {
                    true => assert_close(&what, &other_backward[at], &backward[at], 0.0),
                    false => assert_ne!(other_backward[at], backward[at], "{what}"),
                }
            }
        }
    }
}

#[test]
fn a_transformer_or_both_directions_see_every_token_from_everywhere() {
    for variant in of_every_position().into_iter().filter(|variant| !variant.name.contains(", gru")) {
        let model = variant.model(&Device::flex());
        let of = |row: &[u32]| {
            scores(&variant, &model, &Padded::new(&[row]).into(), &Padded::new(&[row])).concat()
        };
        let before = of(&[5, 6, 7, 8]);
        for row in [[6, 6, 7, 8], [5, 6, 7, 5]] {
            for (at, (before, after)) in before.iter().zip(of(&row)).enumerate() {
                assert_ne!(*before, after, "{} {row:?} at {at}", variant.name);
            }
        }
    }
}
