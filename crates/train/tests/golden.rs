//! A whole small model, the loss, the optimisers and clipping against PyTorch's values
//! (`tools/golden_recurrent.py`).

use burn::tensor::{Device, Tensor, TensorData};
use gatto_data::{Batch, Padded};
use gatto_kernels::crew::Crew;
use gatto_model::config::{Plan, RecurrentDecoderConfig, RecurrentEncoderConfig};
use gatto_model::weights::{self, Weight, Weights};
use gatto_model::{DecoderConfig, EncoderConfig, Model, ModelConfig, Task, Vocabularies};
use gatto_nn::Noise;
use gatto_nn::loss::{Targets, cross_entropy, cross_entropy_plain};
use gatto_train::config::{OptimiserKind, TrainConfig};
use gatto_train::{Gradient, Gradients, Lesson, Optimiser, gather, global_norm};
use serde_json::Value;
use std::path::Path;

fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("a golden file")).expect("valid JSON")
}

fn float(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("an array").iter().map(|v| float(v) as f32).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().expect("an array").iter().map(|v| number(v) as u32).collect()
}

fn lengths(value: &Value) -> Vec<usize> {
    value.as_array().expect("an array").iter().map(number).collect()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}[{at}]: {a} and not {b}");
    }
}

/// The golden model's plan: a GRU whose last state is the first of another.
fn plan(golden: &Value) -> Plan {
    let (width, embedding) = (number(&golden["width"]), Some(number(&golden["embedding"])));
    let config = ModelConfig {
        encoder: Some(EncoderConfig::Gru(RecurrentEncoderConfig { width, embedding, ..Default::default() })),
        decoder: Some(DecoderConfig::Gru(RecurrentDecoderConfig { width, embedding, ..Default::default() })),
        ..ModelConfig::new(Task::Translate)
    };
    config.plan(false).expect("a plan")
}

/// Golden values (of weights or gradients) under our names, in the shapes of `like`.
fn named<'a>(parts: &Value, like: impl Iterator<Item = (&'a String, &'a [usize])>) -> Weights {
    let mut found = Weights::new();
    for (name, shape) in like {
        let side = if name.starts_with("encoder") { "encoder" } else { "decoder" };
        let value = match name.rsplit('.').next().expect("a name") {
            "input" => &parts[side]["w_x"],
            "recurrent" => &parts[side]["w_h"],
            "bias" if name.contains("output") => &parts["output_bias"],
            "bias" => &parts[side]["bias"],
            "weight" if name.contains("output") => &parts["output_weight"],
            "weight" if side == "encoder" => &parts["source_embedding"],
            _ => &parts["target_embedding"],
        };
        found.insert(name.clone(), Weight { shape: shape.to_vec(), values: floats(value) });
    }
    found
}

struct Small {
    golden: Value,
    model: Model,
    batch: Batch,
    config: TrainConfig,
}

impl Small {
    fn new() -> Self {
        let golden = golden("seq2seq.json");
        let device = Device::flex().autodiff();
        let [source, target] = ["source_vocabulary", "target_vocabulary"].map(|key| number(&golden[key]));
        let model = Model::new(&plan(&golden), Vocabularies { source, target }, 1, &device);
        let own = weights::collect(&model);
        let shapes = own.iter().map(|(name, weight)| (name, &weight.shape[..]));
        let weights = named(&golden["weights"], shapes);
        assert_eq!(weights.len(), 10);
        let model = weights::install(model, weights, Path::new("seq2seq.json"), true).expect("all weights");
        let side = |name: &str| Padded {
            ids: ids(&golden[name]),
            lengths: lengths(&golden[format!("{name}_lengths")]),
            rows: number(&golden["batch"]),
            width: number(&golden[format!("{name}_time")]),
        };
        let batch =
            Batch { source: side("source").into(), target: side("target"), indices: vec![0, 1, 2], each: 1 };
        let adam = &golden["adam"];
        let config = TrainConfig {
            learning_rate: float(&adam["lr"]),
            beta1: float(&adam["beta_1"]),
            beta2: float(&adam["beta_2"]),
            epsilon: float(&adam["epsilon"]),
            clip: 0.0,
            ..Default::default()
        };
        Self { golden, model, batch, config }
    }
}

#[test]
fn a_small_model_agrees_in_scores_loss_and_every_gradient() {
    let Small { golden, model, batch, config } = Small::new();
    let inputs = model.teacher_inputs(&batch.target);
    assert_eq!(inputs.ids, ids(&golden["target_input"]));
    let noise = &mut Noise::none();
    let memory = model.encode(&batch.source, noise);
    let logits = model.forward(&inputs, memory.as_ref(), noise).logits; // [B·T, V]
    let vocabulary = logits.dims()[1];
    let mut logits = values(logits);
    for (row, &length) in batch.target.lengths.iter().enumerate() {
        let width = batch.target.width;
        logits[(row * width + length) * vocabulary..(row + 1) * width * vocabulary].fill(0.0); // padding
    }
    assert_close("logits", &logits, &floats(&golden["logits"]), 1e-5);

    let gathered = gather(&model, std::slice::from_ref(&batch), &Lesson::new(&config, 1, 1), &Crew::none());
    assert_eq!(gathered.tokens, batch.target.tokens());
    let loss = gathered.loss / gathered.tokens as f64;
    assert!((loss - float(&golden["loss"])).abs() < 1e-5, "{loss}");
    let expected = named(&golden["grad"], gathered.gradients.iter().map(|(name, it)| (name, it.shape())));
    assert_eq!(gathered.gradients.len(), 10);
    for (name, gradient) in &gathered.gradients {
        assert_close(name, &gradient.values(), &expected[name].values, 1e-5);
    }
}

#[test]
fn ten_steps_of_adam_have_the_same_losses() {
    let Small { golden, mut model, batch, config } = Small::new();
    let mut optimiser = Optimiser::default();
    for (step, expected) in (1..).zip(golden["losses"].as_array().expect("losses")) {
        let gathered =
            gather(&model, std::slice::from_ref(&batch), &Lesson::new(&config, step, 1), &Crew::none());
        let loss = gathered.loss / gathered.tokens as f64;
        assert!((loss - float(expected)).abs() < 1e-4, "step {step}: {loss} and not {expected}");
        let norm = global_norm(&gathered.gradients);
        model = optimiser.update(&config, model, &gathered.gradients, norm, config.learning_rate, step);
    }
}

type Form = fn(Tensor<2>, &Targets) -> Tensor<1>;

#[test]
fn the_loss_agrees_fused_and_plain() {
    let golden = golden("loss.json");
    let device = Device::flex().autodiff();
    let forms: [(&str, Form); 2] = [("fused", cross_entropy), ("plain", cross_entropy_plain)];
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 4);
    for case in cases {
        for (form, cross_entropy) in forms {
            let name = format!("{} {form}", case["name"]);
            let shape = [number(&case["rows"]), number(&case["classes"])];
            let logits = TensorData::new(floats(&case["logits"]), shape);
            let logits = Tensor::<2>::from_data(logits, &device).require_grad();
            let ids = ids(&case["targets"]);
            let ignored = case["ignore"].as_u64().map(|id| id as u32);
            let weights: Vec<f32> =
                ids.iter().map(|&id| if Some(id) == ignored { 0.0 } else { 1.0 }).collect();
            let count: f32 = weights.iter().sum();
            let targets = Targets { ids, weights, smoothing: float(&case["epsilon"]) };
            let rows = cross_entropy(logits.clone(), &targets);
            assert_close(&name, &values(rows.clone()), &floats(&case["losses"]), 1e-5);
            let mean = rows.sum() / count;
            assert_close(&name, &values(mean.clone()), &[float(&case["mean"]) as f32], 1e-5);
            let gradient = logits.grad(&mean.backward()).expect("a gradient");
            assert_close(&format!("{name} gradient"), &values(gradient), &floats(&case["grad"]), 1e-5);
        }
    }
}

fn clipping_factor(norm: f64, most: f64) -> f64 {
    (most / (norm + 1e-6)).min(1.0)
}

#[test]
fn the_global_norm_and_clipping_agree() {
    let golden = golden("optimisers.json");
    for case in golden["clipping"].as_array().expect("cases") {
        let gradients: Gradients = (0..)
            .zip(case["gradients"].as_array().expect("gradients"))
            .map(|(at, values): (usize, _)| {
                let values = floats(values);
                (at.to_string(), Gradient::Whole(Weight { shape: vec![values.len()], values }))
            })
            .collect();
        let norm = global_norm(&gradients);
        assert!((norm - float(&case["norm"])).abs() < 1e-6 * norm, "{norm}");
        // The factor that is expected of the optimiser below is the one that PyTorch used.
        let factor = clipping_factor(norm, float(&case["max_norm"])) as f32;
        for (gradient, clipped) in gradients.values().zip(case["clipped"].as_array().expect("clipped")) {
            let expected: Vec<f32> = gradient.values().iter().map(|g| g * factor).collect();
            assert_close("clipped", &expected, &floats(clipped), 1e-6);
        }
    }

    // The gradient as the optimiser takes it: what a step of plain descent, of size 1, moves.
    let Small { model, batch, config, .. } = Small::new();
    let gathered = gather(&model, std::slice::from_ref(&batch), &Lesson::new(&config, 1, 1), &Crew::none());
    let norm = global_norm(&gathered.gradients);
    let before = weights::collect(&model);
    for clip in [0.0, norm / 3.0, norm * 3.0] {
        let config = TrainConfig { optimiser: OptimiserKind::Sgd, momentum: 0.0, clip, ..config.clone() };
        let after = Optimiser::default().update(&config, model.clone(), &gathered.gradients, norm, 1.0, 1);
        let factor = if clip > 0.0 { clipping_factor(norm, clip) } else { 1.0 };
        for (name, after) in weights::collect(&after) {
            let moved: Vec<f32> =
                before[&name].values.iter().zip(&after.values).map(|(a, b)| a - b).collect();
            let gradient = gathered.gradients[&name].values();
            let expected: Vec<f32> = gradient.iter().map(|g| (f64::from(*g) * factor) as f32).collect();
            assert_close(&format!("{name}, clip {clip}"), &moved, &expected, 1e-6);
        }
    }
}
