//! The list of models that read images, and what holds of them alone.

use crate::gradients::{losses, slope_of};
use crate::transformers::layers;
use crate::variants::{Variant, decoder, scores, values, variant, writing};
use burn::tensor::{Device, Tensor, TensorData};
use gatto_data::Padded;
use gatto_data::images::{ImageBatch, Preparation};
use gatto_model::config::{
    BaselineKind, CnnConfig, FeedKind, FocusKind, HeadConfig, PlaceKind, Pooling, QueryKind,
    RecurrentDecoderConfig, VitConfig,
};
use gatto_model::weights::Weights;
use gatto_model::{AttentionConfig, BridgeKind, DecoderConfig, EncoderConfig, Model, ModelConfig, Task};
use gatto_nn::Noise;
use gatto_nn::attention::ScoreKind;
use gatto_nn::positions::PositionKind;
use gatto_nn::transformer::NormOrder;
use std::ops::Range;

/// Two rows and three columns of regions, of four pixels on a side.
fn images() -> Preparation {
    Preparation { height: 8, width: 12, ..Preparation::default() }
}

fn cnn(positions: PlaceKind) -> (String, EncoderConfig) {
    let settings = CnnConfig { channels: vec![4, 4], groups: 2, positions, ..Default::default() };
    (format!("cnn, {positions:?}"), EncoderConfig::Cnn(settings))
}

fn vit(
    class_token: bool,
    positions: PlaceKind,
    position_grid: Option<[usize; 2]>,
) -> (String, EncoderConfig) {
    let settings = VitConfig {
        patch: 4,
        width: 8,
        layers: 1,
        heads: 2,
        feed_forward: Some(6),
        positions,
        position_grid,
        class_token,
        ..Default::default()
    };
    let name = format!("vit, class token {class_token}, {positions:?}, grid {position_grid:?}");
    (name, EncoderConfig::Vit(settings))
}

fn encoders() -> Vec<(String, EncoderConfig)> {
    use PlaceKind::{Coordinates, Learned, None, Sinusoidal};
    vec![
        cnn(Learned),
        cnn(Sinusoidal),
        cnn(Coordinates),
        cnn(None),
        vit(true, Learned, Option::None),
        vit(false, Learned, Option::None),
        vit(true, Sinusoidal, Option::None),
        vit(false, Sinusoidal, Option::None),
        vit(true, Learned, Some([3, 2])),
        vit(false, Learned, Some([1, 5])),
    ]
}

/// Every model of images.
pub(crate) fn all() -> Vec<Variant> {
    let mut found = captions();
    found.extend(classifiers());
    found
}

fn seeing(
    name: String,
    (of, encoder): (String, EncoderConfig),
    decoder: DecoderConfig,
    attention: Option<AttentionConfig>,
) -> Variant {
    let config = ModelConfig {
        encoder: Some(encoder),
        decoder: Some(decoder),
        attention,
        images: Some(images()),
        ..ModelConfig::new(Task::Caption)
    };
    variant(format!("{of}: {name}"), false, config)
}

/// Every encoder before three decoders, and two encoders before every decoder.
fn captions() -> Vec<Variant> {
    let mut found = Vec::new();
    for encoder in encoders() {
        let told = AttentionConfig {
            query: QueryKind::Previous,
            gate: true,
            deep_output: true,
            ..AttentionConfig::default()
        };
        found.push(seeing("lstm".to_owned(), encoder.clone(), decoder("lstm", writing()), Some(told)));
        let hard = AttentionConfig { focus: FocusKind::Hard, ..Default::default() };
        found.push(seeing("gru, hard".to_owned(), encoder.clone(), decoder("gru", writing()), Some(hard)));
        let stack = DecoderConfig::Transformer(layers(PositionKind::Learned, NormOrder::Pre));
        found.push(seeing("transformer".to_owned(), encoder, stack, None));
    }
    for encoder in [cnn(PlaceKind::Learned), vit(true, PlaceKind::Learned, None)] {
        for cell in ["rnn", "lstm", "gru"] {
            for attention in ways_to_look() {
                let name = format!("{cell}, {attention:?}");
                found.push(seeing(name, encoder.clone(), decoder(cell, writing()), Some(attention)));
            }
        }
        for bridge in [BridgeKind::FirstState, BridgeKind::EveryStep, BridgeKind::Both] {
            let writing = RecurrentDecoderConfig { bridge: Some(bridge), layers: 2, ..writing() };
            found.push(seeing(
                format!("no attention, {bridge:?}"),
                encoder.clone(),
                decoder("gru", writing),
                None,
            ));
        }
        let writing =
            RecurrentDecoderConfig { bridge: Some(BridgeKind::AttentionOnly), layers: 2, ..writing() };
        let attention = AttentionConfig {
            gate: true,
            deep_output: true,
            feed: FeedKind::Attentional,
            ..Default::default()
        };
        let name = "two layers that know the image by attention alone".to_owned();
        found.push(seeing(name, encoder.clone(), decoder("lstm", writing), Some(attention)));
        let stack = DecoderConfig::Transformer(layers(PositionKind::Rotary, NormOrder::Post));
        found.push(seeing("transformer, Rotary, Post".to_owned(), encoder, stack, None));
    }
    for cell in ["rnn", "lstm", "gru"] {
        for focus in [FocusKind::Soft, FocusKind::Hard] {
            let fed = AttentionConfig { focus, feed: FeedKind::Place, ..Default::default() };
            let gated = AttentionConfig { gate: true, deep_output: true, ..fed.clone() };
            for attention in [fed, gated] {
                let name = format!("{cell}, {attention:?}");
                let encoder = cnn(PlaceKind::Coordinates);
                found.push(seeing(name, encoder, decoder(cell, writing()), Some(attention)));
            }
        }
    }
    let grey = ModelConfig {
        encoder: Some(cnn(PlaceKind::Learned).1),
        decoder: Some(decoder("gru", writing())),
        attention: Some(AttentionConfig::default()),
        images: Some(Preparation { channels: 1, ..images() }),
        ..ModelConfig::new(Task::Caption)
    };
    found.push(variant("cnn of grey images".to_owned(), false, grey));
    found
}

/// Soft and hard, asked for before and behind the step, with each of the other choices.
fn ways_to_look() -> Vec<AttentionConfig> {
    let mut found = Vec::new();
    for query in [QueryKind::Previous, QueryKind::Current] {
        let soft = AttentionConfig { query, score: ScoreKind::Additive, ..Default::default() };
        let hard = AttentionConfig { focus: FocusKind::Hard, ..soft.clone() };
        found.extend([
            soft.clone(),
            AttentionConfig { gate: true, ..soft.clone() },
            AttentionConfig { deep_output: true, ..soft.clone() },
            AttentionConfig {
                feed: FeedKind::Attentional,
                coverage: true,
                gate: true,
                deep_output: true,
                ..soft
            },
            hard.clone(),
            AttentionConfig { deep_output: true, feed: FeedKind::Attentional, ..hard.clone() },
            AttentionConfig { gate: true, baseline: Some(BaselineKind::Learned), ..hard },
        ]);
    }
    found
}

fn classifiers() -> Vec<Variant> {
    let telling = |name: String, encoder: EncoderConfig, head: HeadConfig| {
        let config = ModelConfig {
            encoder: Some(encoder),
            head: Some(head),
            images: Some(images()),
            ..ModelConfig::new(Task::Classify)
        };
        variant(name, false, config)
    };
    let mut found = Vec::new();
    for pooling in [Pooling::Mean, Pooling::Max, Pooling::Attention] {
        let head = HeadConfig { pooling: Some(pooling), ..Default::default() };
        for (name, encoder) in [cnn(PlaceKind::Learned), vit(true, PlaceKind::Sinusoidal, None)] {
            found.push(telling(format!("{pooling:?} of a {name}"), encoder, head.clone()));
        }
    }
    for (name, encoder) in encoders() {
        let hidden = HeadConfig { hidden: Some(5), ..Default::default() };
        found.push(telling(format!("labels of a {name}"), encoder, hidden));
    }
    let class = HeadConfig { pooling: Some(Pooling::ClassToken), ..Default::default() };
    found.push(telling("the class token".to_owned(), vit(true, PlaceKind::Learned, None).1, class));
    found
}

/// Some of an endless row of images, each of which follows from its number alone.
pub(crate) fn drawn(images: &Preparation, which: Range<usize>) -> ImageBatch {
    let size = images.height * images.width * images.channels;
    let value = |image: usize, at: usize| ((image * 131 + at * 37 + image * at * 7 + at * at) % 97) as f32;
    let rows = which.len();
    let values = which.flat_map(|image| (0..size).map(move |at| value(image, at) / 32.0 - 1.5)).collect();
    ImageBatch { values, rows, channels: images.channels, height: images.height, width: images.width }
}

/// What a ReLU behind a group norm takes is far above zero in every other channel, and far below in the others, so that
/// the loss has a slope.
pub(crate) fn away_from_kinks(weights: &mut Weights) {
    for (name, weight) in weights.iter_mut().filter(|(name, _)| name.starts_with("encoder.network.")) {
        let around = |at: usize| match name.rsplit('.').next() {
            Some("scale") => Some(0.4),
            Some("shift") => Some(if at.is_multiple_of(2) { 2.0 } else { -2.0 }),
            _ => None,
        };
        for (at, value) in weight.values.iter_mut().enumerate() {
            if let Some(around) = around(at) {
                *value = around + 0.1 * (*value - value.round());
            }
        }
    }
}

fn batch_of(variant: &Variant) -> ImageBatch {
    drawn(&variant.plan.images.expect("a model of images"), 0..5)
}

fn bits<const D: usize>(tensor: Tensor<D>) -> Vec<u32> {
    values(tensor).into_iter().map(f32::to_bits).collect()
}

/// Scores of rows, or what a head tells of them, as they are when nothing is learnt.
fn score_bits(variant: &Variant, model: &Model, rows: Range<usize>) -> Vec<Vec<u32>> {
    let images = drawn(&variant.plan.images.expect("a model of images"), rows.clone());
    let target = Padded::new(&variant.targets()[rows]);
    let found = scores(variant, model, &images.into(), &target);
    found.into_iter().map(|row| row.concat().into_iter().map(f32::to_bits).collect()).collect()
}

#[test]
fn the_regions_are_those_of_the_plan() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let memory = model.encode(&variant.source(), &mut Noise::none()).expect("an encoder");
        let grid = variant.plan.grid().expect("a grid");
        assert_eq!((grid.rows, grid.columns), (2, 3), "{}", variant.name);
        let width = variant.plan.encoder().map_or(0, EncoderConfig::states);
        assert_eq!(memory.states.dims(), [5, 6, width], "{}", variant.name);
        assert_eq!(memory.lengths, [6; 5], "{}", variant.name);
        assert_eq!(memory.mask.dims(), [5, 6], "{}", variant.name);
        let class = matches!(variant.plan.encoder(), Some(EncoderConfig::Vit(vit)) if vit.class_token);
        assert_eq!(memory.class.is_some(), class, "{}", variant.name);
        let mut identities = memory.identities.clone();
        identities.sort_unstable();
        identities.dedup();
        assert_eq!(identities.len(), 5, "{}: images differ, and so do their numbers", variant.name);
    }
}

/// Not nearly: every bit.
#[test]
fn neighbours_change_no_bit_of_a_score() {
    for variant in all() {
        let mut model = variant.model(&Device::flex());
        for ready in [false, true] {
            if ready {
                model.prepare(gatto_nn::Precision::Float);
            }
            let together = score_bits(&variant, &model, 0..5);
            #[allow(clippy::needless_range_loop, reason = "a row of several things")]
            for row in 0..5 {
                let alone = score_bits(&variant, &model, row..row + 1).remove(0);
                assert_eq!(together[row], alone, "{} row {row}, ready {ready}", variant.name);
            }
            let some = score_bits(&variant, &model, 1..4);
            assert_eq!(some, together[1..4], "{}, ready {ready}", variant.name);
        }
    }
}

#[test]
fn a_memory_of_images_can_be_reordered_before_a_head_sees_it() {
    for variant in classifiers() {
        let model = variant.model(&Device::flex());
        let noise = &mut Noise::none();
        let memory = model.encode(&variant.source(), noise).expect("an encoder");
        let whole = values(model.tell(&memory, noise).expect("a head").logits);
        let taken = [3, 0, 3, 1];
        let some = values(model.tell(&memory.select(&taken), noise).expect("a head").logits);
        let labels = whole.len() / 5;
        for (place, row) in taken.into_iter().enumerate() {
            assert_eq!(some[place * labels..][..labels], whole[row * labels..][..labels], "{}", variant.name);
        }
    }
}

/// Another pixel, anywhere, is another answer.
#[test]
fn every_region_counts() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let batch = batch_of(&variant);
        let target = Padded::new(&variant.targets());
        let of = |images: ImageBatch| scores(&variant, &model, &images.into(), &target);
        let before = of(batch.clone());
        for (row, column) in [(0, 0), (3, 11), (4, 0), (7, 6), (7, 11)] {
            let mut changed = batch.clone();
            for image in 0..changed.rows {
                let at = ((image * changed.height + row) * changed.width + column) * changed.channels;
                changed.values[at] += 2.0;
            }
            // A hard focus may look elsewhere at each step, but not in all of them.
            assert_ne!(of(changed), before, "{}: pixel {row}, {column}", variant.name);
        }
    }
}

#[test]
fn pixels_can_be_given_in_place_of_an_image() {
    for variant in all() {
        let model = variant.model(&Device::flex());
        let source = variant.source();
        let vectors = model.source_vectors(&source).expect("pixels");
        let images = variant.plan.images.expect("a model of images");
        assert_eq!(vectors.dims(), [5, 6, 16 * images.channels], "{}", variant.name);
        let memory = model.encode_vectors(&source, vectors).expect("an encoder");
        let plain = model.encode(&source, &mut Noise::none()).expect("an encoder");
        assert_eq!(bits(memory.states), bits(plain.states), "{}", variant.name);
    }
}

#[test]
fn the_gradient_in_the_pixels_is_the_slope() {
    for variant in all().into_iter().filter(|variant| !variant.jumps()) {
        let (source, target) = (variant.source(), Padded::new(&variant.targets()));
        let model = variant.model(&Device::flex().autodiff());
        let vectors = model.source_vectors(&source).expect("pixels").detach().require_grad();
        let memory = model.encode_vectors(&source, vectors.clone());
        let loss = losses(&variant, &model, memory, &source, &target).sum();
        let gradient = values(vectors.grad(&loss.backward()).expect("a gradient in the pixels"));
        let largest = gradient.iter().map(|value| value.abs()).fold(0.0, f32::max);
        assert!(largest > 1e-4, "{}: {largest}", variant.name);

        let plain = variant.model(&Device::flex());
        let pixels = values(plain.source_vectors(&source).expect("pixels"));
        // Half the way of the gradient, half any other.
        let length = gradient.iter().map(|value| value * value).sum::<f32>().sqrt();
        let any = |at: usize| ((at * 53 % 31) as f32 / 15.0 - 1.0) / (pixels.len() as f32).sqrt();
        let way: Vec<f32> = (0..pixels.len()).map(|at| gradient[at] / length + any(at)).collect();
        let at = |shift: f32| -> f64 {
            let moved: Vec<f32> = pixels.iter().zip(&way).map(|(pixel, step)| pixel + shift * step).collect();
            let moved = Tensor::from_data(TensorData::new(moved, vectors.dims()), &Device::flex());
            let memory = plain.encode_vectors(&source, moved);
            let losses = losses(&variant, &plain, memory, &source, &target);
            values(losses).into_iter().map(f64::from).sum()
        };
        let along: f64 = gradient.iter().zip(&way).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        slope_of(&format!("{}, pixels", variant.name), along, at);
    }
}
