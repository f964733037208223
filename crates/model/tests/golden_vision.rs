//! Whole small models of images against PyTorch's values (`tools/golden_vision_models.py`), as they run on the CPU and
//! in plain tensor operations, which is how they run anywhere else.

use burn::module::Param;
use burn::tensor::{Device, Gradients, Tensor};
use gatto_data::images::{ImageBatch, Preparation};
use gatto_data::{Padded, Sources};
use gatto_model::config::{CnnConfig, PlaceKind, QueryKind, RecurrentDecoderConfig, VitConfig};
use gatto_model::weights::{self, Visit, Weight, Weights};
use gatto_model::{
    AttentionConfig, DecoderConfig, EncoderConfig, Memory, Model, ModelConfig, Task, Vocabularies,
};
use gatto_nn::Noise;
use gatto_nn::attention::ScoreKind;
use gatto_nn::loss::{Targets, cross_entropy};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

static GOLDEN: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../tests/golden/vision_models.json")).expect("valid JSON")
});

/// Of values in f32 against those in f64.
const TOLERANCE: f32 = 1e-5;

fn number(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().expect("an array").iter().map(number).collect()
}

/// An array {"shape": […], "values": […]}.
fn array(value: &Value) -> Weight {
    let values = value["values"].as_array().expect("an array");
    let values = values.iter().map(|value| value.as_f64().expect("a number") as f32).collect();
    Weight { shape: numbers(&value["shape"]), values }
}

fn arrays(value: &Value) -> Weights {
    value.as_object().expect("arrays").iter().map(|(name, value)| (name.clone(), array(value))).collect()
}

fn padded(value: &Value, lengths: &Value) -> Padded {
    let [rows, width] = numbers(&value["shape"])[..] else { panic!("not a matrix: {value}") };
    let ids = numbers(&value["values"]).into_iter().map(|id| id as u32).collect();
    Padded { ids, lengths: numbers(lengths), rows, width }
}

fn compare(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= TOLERANCE * b.abs().max(1.0), "{what}[{at}]: {a} and not {b}");
    }
}

fn compare_tensor<const D: usize>(what: &str, found: Tensor<D>, expected: &Value) {
    assert_eq!(found.dims().to_vec(), numbers(&expected["shape"]), "{what}");
    compare(what, &values(found), &array(expected).values);
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

/// Each block as one operation; of many, which is how other devices run them; and as prediction runs them, where there
/// are no gradients.
fn devices() -> [(&'static str, Device); 3] {
    let learning = Device::flex().autodiff();
    [
        ("fused", learning.clone()),
        ("plain", learning.gradient_checkpointing()),
        ("predicting", Device::flex()),
    ]
}

/// A golden model.
struct Case {
    golden: &'static Value,
    name: String,
    model: Model,
    source: Sources,
    learns: bool,
}

impl Case {
    fn all(key: &str, config: &ModelConfig, answers: usize) -> Vec<Self> {
        let golden = &GOLDEN[key];
        let plan = config.plan(false).expect("a plan");
        let case = |(form, device): (&str, Device)| {
            let sizes = Vocabularies { source: 1, target: answers };
            let model = Model::new(&plan, sizes, 1, &device);
            let model =
                weights::install(model, arrays(&golden["weights"]), Path::new("vision_models.json"), true)
                    .expect("all weights");
            let Weight { shape, values } = array(&golden["images"]);
            let [rows, height, width, channels] = shape[..] else { panic!("no images: {shape:?}") };
            let source = ImageBatch { values, rows, channels, height, width }.into();
            Self { golden, name: format!("{key}, {form}"), model, source, learns: form != "predicting" }
        };
        devices().into_iter().map(case).collect()
    }

    /// The pixels of all regions, and what the encoder makes of them.
    fn read(&self) -> (Tensor<3>, Memory) {
        let pixels = self.model.source_vectors(&self.source).expect("pixels");
        let pixels = if self.learns { pixels.detach().require_grad() } else { pixels };
        let memory = self.model.encode_vectors(&self.source, pixels.clone()).expect("an encoder");
        let whole = self.model.encode(&self.source, &mut Noise::none()).expect("an encoder");
        assert_eq!(values(whole.states), values(memory.states.clone()), "{}", self.name);
        (pixels, memory)
    }

    /// The mean loss, and all its gradients.
    fn learn(&self, logits: Tensor<2>, targets: &Targets, pixels: &Tensor<3>) {
        let count: f32 = targets.weights.iter().sum();
        let loss = cross_entropy(logits, targets).sum() / f64::from(count);
        let expected = self.golden["loss"].as_f64().expect("a loss");
        let found = f64::from(loss.clone().into_scalar::<f32>());
        assert!((found - expected).abs() < f64::from(TOLERANCE), "{}: {found} and not {expected}", self.name);
        if !self.learns {
            return;
        }
        let gradients = loss.backward();
        let mut take = Take { gradients: &gradients, found: Weights::new() };
        weights::visit(&self.model, &mut take);
        let expected = arrays(&self.golden["gradients"]);
        assert!(take.found.keys().eq(expected.keys()), "{}: {:?}", self.name, take.found.keys());
        for (name, gradient) in &take.found {
            assert_eq!(gradient.shape, expected[name].shape, "{} {name}", self.name);
            compare(&format!("{} {name}", self.name), &gradient.values, &expected[name].values);
        }
        let expected = array(&self.golden["image_gradients"]);
        let gradient = pixels.grad(&gradients).expect("a gradient in the pixels");
        compare(&format!("{}, pixels", self.name), &self.as_image(gradient), &expected.values);
    }

    /// Regions as the images that they make: both models have regions of four pixels on a side.
    fn as_image(&self, regions: Tensor<3>) -> Vec<f32> {
        let [rows, height, width, channels] = numbers(&self.golden["images"]["shape"])[..] else {
            panic!("no images")
        };
        let image = regions.reshape([rows, height / 4, width / 4, 4, 4 * channels]).swap_dims(2, 3);
        values(image)
    }
}

struct Take<'a> {
    gradients: &'a Gradients,
    found: Weights,
}

impl Visit for Take<'_> {
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.gradients).unwrap_or_else(|| panic!("{name} has no gradient"));
        self.found.insert(name, Weight { shape: gradient.dims().to_vec(), values: values(gradient) });
    }
}

fn sizes(golden: &Value) -> Preparation {
    let [height, width, channels] = ["height", "width", "channels"].map(|key| number(&golden[key]));
    Preparation { height, width, channels, ..Preparation::default() }
}

#[test]
fn a_vision_transformer_agrees_in_states_attention_scores_loss_and_every_gradient() {
    let golden = &GOLDEN["vit"];
    let settings = VitConfig {
        patch: number(&golden["patch"]),
        width: number(&golden["layer_width"]),
        layers: number(&golden["layers"]),
        heads: number(&golden["heads"]),
        feed_forward: Some(number(&golden["inner"])),
        ..VitConfig::default()
    };
    let config = ModelConfig {
        encoder: Some(EncoderConfig::Vit(settings)),
        images: Some(sizes(golden)),
        ..ModelConfig::new(Task::Classify)
    };
    for case in Case::all("vit", &config, number(&golden["count_of_labels"])) {
        let (pixels, memory) = case.read();
        compare_tensor(&format!("{} states", case.name), memory.states.clone(), &golden["states"]);
        let looked = golden["attention"].as_array().expect("layers");
        assert_eq!(memory.heads.len(), looked.len());
        for (found, expected) in memory.heads.iter().zip(looked) {
            compare_tensor(&format!("{} attention", case.name), found.clone(), expected);
        }
        let told = case.model.tell(&memory, &mut Noise::none()).expect("a head");
        compare_tensor(&format!("{} logits", case.name), told.logits.clone(), &golden["logits"]);
        let ids: Vec<u32> = numbers(&golden["labels"]).into_iter().map(|label| label as u32).collect();
        let targets = Targets { weights: vec![1.0; ids.len()], ids, smoothing: 0.0 };
        case.learn(told.logits, &targets, &pixels);
    }
}

#[test]
fn a_caption_model_agrees_in_states_attention_scores_loss_and_every_gradient() {
    let golden = &GOLDEN["caption"];
    let config = caption_config(golden);
    for case in Case::all("caption", &config, number(&golden["vocabulary"])) {
        let (pixels, memory) = case.read();
        compare_tensor(&format!("{} states", case.name), memory.states.clone(), &golden["states"]);
        let target = padded(&golden["target"], &golden["target_lengths"]);
        let inputs = case.model.teacher_inputs(&target);
        assert_eq!(inputs.ids, padded(&golden["decoder_input"], &golden["target_lengths"]).ids);
        let forward = case.model.forward(&inputs, Some(&memory), &mut Noise::none());
        let mut weights = vec![0.0; target.ids.len()];
        for (row, &length) in target.lengths.iter().enumerate() {
            weights[row * target.width..][..length].fill(1.0);
        }
        let existing = |mut found: Vec<f32>| {
            let width = found.len() / weights.len();
            for (place, exists) in found.chunks_exact_mut(width).zip(&weights) {
                place.iter_mut().for_each(|value| *value *= exists);
            }
            found
        };
        let logits = existing(values(forward.logits.clone()));
        compare(&format!("{} logits", case.name), &logits, &array(&golden["logits"]).values);
        let looked = existing(values(forward.alignment.expect("it looks").weights));
        compare(&format!("{} attention", case.name), &looked, &array(&golden["attention"]).values);
        let targets = Targets { ids: target.ids.clone(), weights, smoothing: 0.0 };
        case.learn(forward.logits, &targets, &pixels);

        // One step after the other gives the same.
        let mut state = case.model.start(Some(&memory), target.rows);
        for at in 0..target.width {
            let tokens: Vec<u32> = (0..target.rows).map(|row| inputs.ids[row * target.width + at]).collect();
            let (scores, next) = case.model.step(&tokens, state);
            state = next;
            let scores = values(scores);
            let vocabulary = scores.len() / target.rows;
            for (row, scores) in scores.chunks_exact(vocabulary).enumerate() {
                if at < target.lengths[row] {
                    let place = row * target.width + at;
                    let expected = &logits[place * vocabulary..][..vocabulary];
                    compare(&format!("{} step {at}, row {row}", case.name), scores, expected);
                }
            }
        }
    }
}

fn caption_config(golden: &Value) -> ModelConfig {
    let cnn = CnnConfig {
        channels: numbers(&golden["stages"]),
        groups: number(&golden["groups"]),
        stem_stride: number(&golden["stem_stride"]),
        positions: PlaceKind::Learned,
        ..CnnConfig::default()
    };
    let writing = RecurrentDecoderConfig {
        width: number(&golden["state"]),
        embedding: Some(number(&golden["embedding"])),
        ..RecurrentDecoderConfig::default()
    };
    let attention = AttentionConfig {
        score: ScoreKind::Additive,
        query: QueryKind::Previous,
        width: Some(number(&golden["attention_width"])),
        gate: true,
        deep_output: true,
        ..AttentionConfig::default()
    };
    ModelConfig {
        encoder: Some(EncoderConfig::Cnn(cnn)),
        decoder: Some(DecoderConfig::Lstm(writing)),
        attention: Some(attention),
        images: Some(sizes(golden)),
        ..ModelConfig::new(Task::Caption)
    }
}
