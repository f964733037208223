//! Whole small Transformers against PyTorch's values (`tools/golden_transformer.py`), as they run on the
//! CPU and in plain tensor operations, which is how they run anywhere else.

use burn::tensor::{Device, Tensor, Tolerance};
use gatto_data::{Batch, Padded};
use gatto_kernels::crew::Crew;
use gatto_model::config::{Plan, TransformerConfig};
use gatto_model::weights::{self, Weight, Weights};
use gatto_model::{
    DecoderConfig, EncoderConfig, Forward, Memory, Model, ModelConfig, SharingConfig, Task, Vocabularies,
};
use gatto_nn::Noise;
use gatto_nn::positions::PositionKind;
use gatto_train::config::TrainConfig;
use gatto_train::{Lesson, Optimiser, gather, global_norm};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

static GOLDEN: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../tests/golden/transformer.json")).expect("valid JSON")
});

fn float(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().expect("an array").iter().map(number).collect()
}

/// An array {"shape": […], "values": […]}.
fn array(value: &Value) -> Weight {
    let values = value["values"].as_array().expect("an array").iter().map(|v| float(v) as f32).collect();
    Weight { shape: numbers(&value["shape"]), values }
}

/// Token ids {"shape": […], "values": […]} of rows with these lengths.
fn padded(value: &Value, lengths: &Value) -> Padded {
    let [rows, width] = numbers(&value["shape"])[..] else { panic!("not a matrix: {value}") };
    let ids = numbers(&value["values"]).into_iter().map(|id| id as u32).collect();
    Padded { ids, lengths: numbers(lengths), rows, width }
}

fn one_of<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).expect("a known name")
}

fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}[{at}]: {a} and not {b}");
    }
}

/// How blocks are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Each as one operation.
    Fused,
    /// Each of many tensor operations.
    Plain,
}

impl Form {
    const BOTH: [Self; 2] = [Self::Fused, Self::Plain];

    /// The fused operations are for the CPU's gradients without checkpoints; on any other device the
    /// plain forms run, and on this one too.
    fn device(self) -> Device {
        let device = Device::flex().autodiff();
        if self == Self::Fused { device } else { device.gradient_checkpointing() }
    }
}

/// One of the golden models.
struct Case {
    golden: &'static Value,
    name: String,
    form: Form,
    model: Model,
    batch: Batch,
}

impl Case {
    fn all() -> Vec<Self> {
        let cases = GOLDEN["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 9);
        cases.iter().flat_map(|case| Form::BOTH.map(|form| Self::new(case, form))).collect()
    }

    fn new(golden: &'static Value, form: Form) -> Self {
        let name = format!("{} {form:?}", golden["name"].as_str().expect("a name"));
        let target = number(&golden["target_vocabulary"]);
        let source = golden["source_vocabulary"].as_u64().map_or(target, |size| size as usize);
        let model = Model::new(&plan(golden), Vocabularies { source, target }, 1, &form.device());
        let gradients = golden["gradients"].as_object().expect("gradients");
        let weights: Weights =
            gradients.keys().map(|name| (name.clone(), array(&GOLDEN["weights"][name]))).collect();
        let model = weights::install(model, weights, Path::new("transformer.json"), true)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let target = padded(&golden["target"], &golden["target_lengths"]);
        let source = match golden["source"].is_null() {
            true => Padded { ids: Vec::new(), lengths: vec![0; target.rows], rows: target.rows, width: 0 },
            false => padded(&golden["source"], &golden["source_lengths"]),
        };
        let indices = (0..target.rows as u64).collect();
        Self { golden, name, form, model, batch: Batch { source: source.into(), target, indices, each: 1 } }
    }

    fn forward(&self) -> (Option<Memory>, Forward) {
        let inputs = self.model.teacher_inputs(&self.batch.target);
        assert_eq!(inputs.ids, padded(&self.golden["decoder_input"], &self.golden["target_lengths"]).ids);
        let noise = &mut Noise::none();
        let memory = self.model.encode(&self.batch.source, noise);
        let forward = self.model.forward(&inputs, memory.as_ref(), noise);
        // Fused, weights never were in a graph; plain, they were taken out of one.
        let is_plain = forward.heads[0].is_autodiff();
        assert_eq!(is_plain, self.form == Form::Plain, "{}", self.name);
        (memory, forward)
    }

    /// The golden array `key` against a tensor with rows for `of` in its second dimension from the end,
    /// of which those that do not exist count for nothing.
    fn compare<const D: usize>(&self, key: &str, expected: &Value, found: Tensor<D>, of: &Padded) {
        let expected = array(expected);
        let width = found.dims()[D - 1];
        let mut found = found.try_into_vec_as::<f32>().expect("f32 values");
        let sentence = found.len() / of.rows;
        for (sentence, &length) in found.chunks_exact_mut(sentence).zip(&of.lengths) {
            for head in sentence.chunks_exact_mut(of.width * width) {
                head[length * width..].fill(0.0);
            }
        }
        assert_close(&format!("{} {key}", self.name), &found, &expected.values, 1e-5);
    }
}

/// The same layers on both sides, or those of a decoder alone.
fn plan(case: &Value) -> Plan {
    let positions: PositionKind = one_of(&case["positions"]);
    let size = |kind: PositionKind, key: &str| (positions == kind).then(|| number(&GOLDEN[key]));
    let layers = TransformerConfig {
        width: number(&GOLDEN["width"]),
        heads: number(&GOLDEN["heads"]),
        feed_forward: Some(number(&GOLDEN["inner"])),
        layers: number(&case["layers"]),
        norm: one_of(&case["norm"]),
        activation: one_of(&case["activation"]),
        positions,
        max_positions: size(PositionKind::Learned, "most_positions"),
        buckets: size(PositionKind::Relative, "buckets"),
        reach: size(PositionKind::Relative, "distance").or(size(PositionKind::RelativeClipped, "clip")),
        ..Default::default()
    };
    let language_model = case["language_model"].as_bool().expect("true or false");
    let (embeddings, output) = (case["sharing"] == "all", case["sharing"] != "none");
    let task = if language_model { Task::LanguageModel } else { Task::Translate };
    let config = ModelConfig {
        encoder: (!language_model).then(|| EncoderConfig::Transformer(layers.clone())),
        decoder: Some(DecoderConfig::Transformer(layers)),
        sharing: SharingConfig { embeddings, output, ..Default::default() },
        ..ModelConfig::new(task)
    };
    config.plan(embeddings).expect("a plan")
}

#[test]
fn every_transformer_agrees_in_memory_scores_loss_and_every_gradient() {
    for case in Case::all() {
        let Case { golden, name, model, batch, .. } = &case;
        let (memory, forward) = case.forward();
        assert_eq!(memory.is_none(), golden["memory"].is_null(), "{name}");
        if let Some(memory) = memory {
            case.compare("memory", &golden["memory"], memory.states, batch.source.tokens().expect("tokens"));
        }
        case.compare("logits", &golden["logits"], forward.logits, &batch.target);

        let config = TrainConfig::default();
        let gathered = gather(model, std::slice::from_ref(batch), &Lesson::new(&config, 1, 1), &Crew::none());
        let loss = gathered.loss / gathered.tokens as f64;
        assert!((loss - float(&golden["loss"])).abs() < 1e-5, "{name}: {loss}");
        let expected = golden["gradients"].as_object().expect("gradients");
        assert!(gathered.gradients.keys().eq(expected.keys()), "{name}: {:?}", gathered.gradients.keys());
        for (key, gradient) in &gathered.gradients {
            let expected = array(&expected[key]);
            assert_eq!(gradient.shape(), expected.shape, "{name} {key}");
            assert_close(&format!("{name} {key}"), &gradient.values(), &expected.values, 1e-5);
        }
    }
}

#[test]
fn every_head_looks_where_it_should() {
    let mut seen = 0;
    for case in Case::all().iter().filter(|case| !case.golden["attention"].is_null()) {
        let (memory, Forward { heads, cross_heads, alignment, .. }) = case.forward();
        let Batch { source, target, .. } = &case.batch;
        let source = source.tokens().expect("tokens");
        let encoder = memory.map(|memory| memory.heads).unwrap_or_default();
        for (kind, found, of) in
            [("encoder", encoder, source), ("decoder", heads, target), ("cross", cross_heads.clone(), target)]
        {
            let expected = case.golden["attention"][kind].as_array().expect("layers");
            assert_eq!(found.len(), expected.len(), "{} {kind}", case.name);
            for (layer, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                assert_eq!(found.dims().to_vec(), numbers(&expected["shape"]), "{} {kind}", case.name);
                case.compare(&format!("{kind} {layer}"), expected, found, of);
                seen += 1;
            }
        }
        // The alignment is the mean of all that looks at the source.
        let mean = cross_heads.iter().cloned().reduce(|a, b| a + b).expect("layers").mean_dim(1) / 2.0;
        let found = alignment.expect("it looks").weights.into_data();
        let near = Tolerance::absolute(1e-6);
        found.assert_approx_eq::<f32>(&mean.squeeze_dim::<3>(1).into_data(), near);
    }
    assert_eq!(seen, 2 * 2 * 3 * 2, "two cases in both forms, three kinds of two layers");
}

#[test]
fn ten_steps_of_adam_have_the_same_losses_and_norms() {
    let mut seen = 0;
    for case in Case::all().into_iter().filter(|case| !case.golden["training"].is_null()) {
        let Case { golden, name, mut model, batch, .. } = case;
        let training = &golden["training"];
        let config = TrainConfig {
            learning_rate: float(&training["lr"]),
            beta1: float(&training["beta_1"]),
            beta2: float(&training["beta_2"]),
            epsilon: float(&training["epsilon"]),
            clip: float(&training["clip"]),
            ..Default::default()
        };
        let figures = |key: &str| training[key].as_array().expect("figures").iter().map(float);
        let mut optimiser = Optimiser::default();
        for (step, (loss, norm)) in (1..).zip(figures("losses").zip(figures("norms"))) {
            let gathered =
                gather(&model, std::slice::from_ref(&batch), &Lesson::new(&config, step, 1), &Crew::none());
            let found = gathered.loss / gathered.tokens as f64;
            assert!((found - loss).abs() < 1e-5, "{name} step {step}: a loss of {found} and not {loss}");
            let found = global_norm(&gathered.gradients);
            assert!(
                (found - norm).abs() < 1e-4 * norm,
                "{name} step {step}: a norm of {found} and not {norm}"
            );
            model = optimiser.update(&config, model, &gathered.gradients, found, config.learning_rate, step);
            seen += 1;
        }
    }
    assert_eq!(seen, 2 * 2 * 10, "ten steps of two cases in both forms");
}
