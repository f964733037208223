//! Explanations of images are what they say: held to the model itself, asked in another way.

use burn::tensor::Device;
use gatto_data::images::{ImageText, Mention, PixelBox, Pixels, Preparation};
use gatto_data::random::generator;
use gatto_data::tokens::{Kind, Recipe, Tokenizer, TokenizerPair};
use gatto_data::{Example, Labels, Memory, Unit};
use gatto_inspect::explain::{
    ImageCase, ImageReport, ImageSurvey, Method, class_maps, explain_image, rollout,
};
use gatto_model::config::{
    CnnConfig, FocusKind, HeadConfig, Pooling, RecurrentDecoderConfig, TransformerConfig, VitConfig,
};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, Saved, Task, Vocabularies, weights,
};
use gatto_nn::{Activation, Initial};
use rand::RngExt;
use std::path::Path;
use std::sync::Arc;

const CAPTION: &str = "a red circle is left of a star";
const HEIGHT: usize = 8;
const WIDTH: usize = 12;
/// Regions of 4 × 4 pixels.
const REGIONS: usize = 2 * 3;

fn images() -> Preparation {
    Preparation { height: HEIGHT, width: WIDTH, ..Default::default() }
}

fn cnn() -> EncoderConfig {
    EncoderConfig::Cnn(CnnConfig { channels: vec![4, 8], groups: 2, stem_stride: 2, ..Default::default() })
}

fn vit(class_token: bool) -> EncoderConfig {
    EncoderConfig::Vit(VitConfig {
        patch: 4,
        width: 8,
        layers: 2,
        heads: 2,
        class_token,
        ..Default::default()
    })
}

/// A model with random weights, large enough that every region counts.
fn of(config: ModelConfig) -> Saved {
    let task = config.task;
    let plan = ModelConfig { images: Some(images()), ..config }.plan(true).expect("a plan");
    let recipe = Recipe { kind: Kind::Word, ..Default::default() };
    let tokens =
        TokenizerPair::together(Tokenizer::train(&recipe, [CAPTION.to_owned()]).expect("a vocabulary"));
    let mut texts =
        Memory::new(["red", "blue", "green"].map(|label| Example::new("an image", label)).to_vec());
    let labels = task.has_labels().then(|| Labels::learn(Unit::Sequence, &mut texts).expect("labels"));
    let sizes = Vocabularies::with_labels(&tokens, labels.as_ref());
    let model = Model::new(&plan, sizes, 4, &Device::flex().autodiff());
    let mut initial = Initial::new(9, &Device::flex());
    let mut values = weights::collect(&model);
    for weight in values.values_mut() {
        let noise = initial.normal([weight.values.len()], 0.3).val();
        let noise = noise.try_into_vec_as::<f32>().expect("values");
        weight.values.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
    }
    let model = weights::install(model, values, Path::new("given"), true).expect("weights that fit");
    Saved {
        task,
        plan,
        model,
        tokens,
        labels: labels.map(Arc::new),
        search: Default::default(),
        statistics: None,
        shortlist: None,
    }
}

fn writing(encoder: EncoderConfig, decoder: DecoderConfig, attention: Option<AttentionConfig>) -> Saved {
    let (encoder, decoder) = (Some(encoder), Some(decoder));
    of(ModelConfig { encoder, decoder, attention, ..ModelConfig::new(Task::Caption) })
}

fn telling(encoder: EncoderConfig, pooling: Pooling) -> Saved {
    let head = HeadConfig { pooling: Some(pooling), ..Default::default() };
    of(ModelConfig { encoder: Some(encoder), head: Some(head), ..ModelConfig::new(Task::Classify) })
}

/// Models that look in different ways; the last does not look.
fn models() -> Vec<(&'static str, Saved)> {
    let gru =
        || DecoderConfig::Gru(RecurrentDecoderConfig { width: 6, embedding: Some(4), ..Default::default() });
    let layers = TransformerConfig {
        width: 8,
        layers: 2,
        heads: 2,
        activation: Activation::Gelu,
        ..Default::default()
    };
    let hard = AttentionConfig { focus: FocusKind::Hard, ..Default::default() };
    vec![
        ("soft", writing(cnn(), gru(), Some(AttentionConfig::default()))),
        ("hard", writing(cnn(), gru(), Some(hard))),
        ("transformer", writing(vit(false), DecoderConfig::Transformer(layers), None)),
        ("vit", telling(vit(true), Pooling::ClassToken)),
        ("weighing", telling(cnn(), Pooling::Attention)),
        ("mean", telling(cnn(), Pooling::Mean)),
    ]
}

fn pixels(seed: u64) -> Pixels {
    let mut numbers = generator(seed, 0);
    let values = (0..HEIGHT * WIDTH * 3).map(|_| numbers.random_range(-1.5..1.5)).collect();
    Pixels::new(HEIGHT, WIDTH, 3, values).expect("an image")
}

/// The image with the pixels of a region multiplied.
fn scaled(image: &Pixels, region: usize, scale: f32) -> Pixels {
    let mut values = image.values().to_vec();
    for (place, value) in values.iter_mut().enumerate() {
        let (row, column) = (place / 3 / WIDTH, place / 3 % WIDTH);
        if (row / 4) * 3 + column / 4 == region {
            *value *= scale;
        }
    }
    Pixels::new(HEIGHT, WIDTH, 3, values).expect("an image")
}

/// log p of every token of what is said, or of the label.
fn logs(saved: &Saved, image: &Pixels, target: &[u32]) -> Vec<f32> {
    match saved.task {
        Task::Caption => {
            saved
                .trace_images(&[(image, target.to_vec())], 1, false)
                .expect("a trace")
                .remove(0)
                .log_probabilities
        }
        _ => {
            let told = saved.classify_images(std::slice::from_ref(image), 1).expect("a label");
            vec![told[0].probabilities[target[0] as usize].ln()]
        }
    }
}

fn target(saved: &Saved) -> Vec<u32> {
    match saved.task {
        Task::Caption => saved.tokens.target.encode(CAPTION),
        _ => vec![1],
    }
}

#[test]
fn erasure_is_what_the_log_probability_loses_by_a_blank_region() {
    for (name, saved) in models() {
        let (image, target) = (pixels(1), target(&saved));
        let found = explain_image(&saved, &image, &target).expect("an explanation");
        let whole = logs(&saved, &image, &target);
        assert_eq!(found.trace.log_probabilities, whole, "{name}");
        assert_eq!((found.erasure.len(), found.trace.target.len()), (whole.len(), whole.len()), "{name}");
        let mut largest = 0.0f32;
        for region in 0..REGIONS {
            let less = logs(&saved, &scaled(&image, region, 0.0), &target);
            for (t, costs) in found.erasure.iter().enumerate() {
                assert_eq!(costs.len(), REGIONS, "{name}");
                let expected = whole[t] - less[t];
                assert!((costs[region] - expected).abs() < 1e-5, "{name}: {} {expected}", costs[region]);
                largest = largest.max(expected.abs());
            }
        }
        assert!(largest > 0.03, "{name}: no region matters ({largest})");
    }
}

#[test]
fn gradient_times_input_is_the_slope_along_the_pixels_of_a_region() {
    const H: f32 = 4e-3;
    for (name, saved) in models() {
        let (image, target) = (pixels(2), target(&saved));
        let found = explain_image(&saved, &image, &target).expect("an explanation").gradient;
        let mut largest = 0.0f32;
        for region in 0..REGIONS {
            let [less, more] =
                [1.0 - H, 1.0 + H].map(|scale| logs(&saved, &scaled(&image, region, scale), &target));
            assert_eq!(found.len(), less.len(), "{name}");
            for (t, row) in found.iter().enumerate() {
                let slope = (more[t] - less[t]) / (2.0 * H);
                assert!(
                    (row[region] - slope).abs() < 5e-3 + 0.02 * slope.abs(),
                    "{name}, {t}, {region}: {}, not {slope}",
                    row[region]
                );
                largest = largest.max(slope.abs());
            }
        }
        assert!(largest > 0.05, "{name}: no region matters ({largest})");
    }
}

#[test]
fn a_label_is_explained_that_is_asked_for_or_told() {
    let saved = telling(vit(true), Pooling::ClassToken);
    let image = pixels(3);
    let told = saved.classify_images(std::slice::from_ref(&image), 1).expect("a label")[0].label;
    let found = explain_image(&saved, &image, &[]).expect("an explanation");
    assert_eq!(found, explain_image(&saved, &image, &[told]).expect("an explanation"));
    let labels = saved.labels.as_ref().expect("labels");
    assert_eq!(found.trace.target[0].text, labels.name(told).expect("a name"));
    let other = explain_image(&saved, &image, &[(told + 1) % 3]).expect("an explanation");
    assert_ne!(other.gradient, found.gradient);
    assert!(other.trace.log_probabilities[0] < found.trace.log_probabilities[0]);
}

#[test]
fn what_the_heads_of_patches_saw_is_rolled_out() {
    for (name, saved) in models() {
        let found = explain_image(&saved, &pixels(4), &target(&saved)).expect("an explanation").trace;
        let maps = class_maps(&found);
        let rolled = rollout(&found);
        if rolled.is_empty() {
            assert!(maps.is_empty() && !matches!(name, "vit" | "transformer"), "{name}");
            continue;
        }
        assert_eq!((maps.len(), maps[0].len(), rolled.len()), (2, 2, REGIONS), "{name}");
        assert!((rolled.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}: {rolled:?}");
        for map in maps.iter().flatten() {
            let sum: f32 = map.iter().sum();
            assert_eq!(map.len(), REGIONS);
            // Less the weight of the class token, where there is one.
            assert!(if found.class_token { sum < 1.0 } else { (sum - 1.0).abs() < 1e-5 }, "{name}: {sum}");
        }
    }
}

/// A text of which every word that is named stands for all of the image.
fn everywhere(text: &str, words: &[usize]) -> ImageText {
    let mention = |word: &usize| Mention { word: *word, boxes: vec![PixelBox::whole(HEIGHT, WIDTH)] };
    ImageText { text: text.to_owned(), mentions: words.iter().map(mention).collect() }
}

fn surveyed(saved: &Saved, seed: u64) -> Option<ImageReport> {
    let mut survey = ImageSurvey::new(saved, seed);
    for number in 0..3 {
        let text = match saved.task {
            Task::Caption => everywhere(CAPTION, &[1, 2, 7]),
            _ => everywhere("blue", &[0]),
        };
        let text = (number > 0).then_some(text);
        let case = ImageCase { pixels: pixels(number), target: target(saved), text };
        if !survey.add(&case).expect("an explanation") {
            return None;
        }
    }
    Some(survey.report())
}

#[test]
fn a_survey_is_the_mean_over_images() {
    for (name, saved) in models() {
        let Some(found) = surveyed(&saved, 1) else {
            assert_eq!(name, "mean", "only this one looks at nothing");
            continue;
        };
        assert_ne!(name, "mean");
        let rows = if saved.task == Task::Caption { 9 } else { 1 };
        assert_eq!((found.agreement.examples, found.agreement.tokens), (3, 3 * rows), "{name}");
        assert_eq!(found.rollout, name == "vit", "{name}");
        let counts: Vec<_> = found.agreement.falls.iter().map(|fall| (fall.deleted, fall.tokens)).collect();
        assert_eq!(counts, [1, 3, 5].map(|blanked| (blanked, 3 * rows)), "{name}");
        let expected = fall_without_the_most_attended(&saved);
        assert!((found.agreement.falls[0].attended - expected).abs() < 1e-5, "{name}: {found:?} {expected}");

        // The two images with boxes: three words each, or a label, all of them everywhere.
        let words = if saved.task == Task::Caption { 3 } else { 1 };
        assert_eq!((found.located, found.pointing.all().count), (2, 2 * words), "{name}");
        for method in Method::ALL {
            let figures = found.pointing.all().of(method);
            assert!((figures.share - 1.0).abs() < 1e-6 && figures.accuracy == 1.0, "{name}: {figures:?}");
        }
        let mut names: Vec<&str> = found.pointing.words().into_iter().map(|(word, _)| word).collect();
        names.sort_unstable();
        let expected: &[&str] = if words == 3 { &["circle", "red", "star"] } else { &["blue"] };
        assert_eq!(names, expected, "{name}");

        assert_eq!(surveyed(&saved, 1), Some(found.clone()), "{name}: the same seed");
        let mut other = surveyed(&saved, 2).expect("a report");
        let falls = other.agreement.falls.iter_mut().zip(&found.agreement.falls);
        falls.for_each(|(other, found)| other.random = found.random);
        assert_eq!(other, found, "{name}: a seed is for random regions alone");
    }
}

/// The mean fall of a probability when the most attended region is blanked.
fn fall_without_the_most_attended(saved: &Saved) -> f64 {
    let (mut falls, target) = (Vec::new(), target(saved));
    for number in 0..3 {
        let image = pixels(number);
        let trace = explain_image(saved, &image, &target).expect("an explanation").trace;
        let whole = logs(saved, &image, &target);
        let weights = trace.weights.clone().unwrap_or_else(|| vec![rollout(&trace)]);
        for (t, row) in weights.iter().enumerate() {
            // Of equals, the first.
            let most = (0..REGIONS).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("a region");
            let less = logs(saved, &scaled(&image, most, 0.0), &target);
            falls.push(f64::from(whole[t].exp() - less[t].exp()));
        }
    }
    falls.iter().sum::<f64>() / falls.len() as f64
}

#[test]
fn images_that_the_model_does_not_read_are_refused() {
    let saved = telling(vit(true), Pooling::ClassToken);
    let small = Pixels::new(4, 4, 3, vec![0.0; 48]).expect("an image");
    let said = explain_image(&saved, &small, &[]).expect_err("refused").to_string();
    assert!(said.contains("[4, 4, 3]") && said.contains("[8, 12, 3]"), "{said}");
}
