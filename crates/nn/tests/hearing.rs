//! What hears against PyTorch's values (`tools/golden_hearing.py`): the pyramid, its convolutions, the attention for
//! spelling, and the loss of CTC; each in its results and in every gradient.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use gatto_nn::attention::{
    Aligned, Attention, AttentionSettings, Choosing, FocusKind, ScoreKind, ScoreSizes, TrailSettings,
};
use gatto_nn::hearing::SoundFront;
use gatto_nn::recurrent::{Cell, Pyramid, PyramidConfig};
use gatto_nn::{CtcTargets, Initial, Noise, ctc_loss, ctc_loss_plain};
use serde_json::Value;
use std::collections::BTreeMap;

const GOLDEN: &str = include_str!("../../../tests/golden/hearing.json");
const TOLERANCE: f32 = 2e-5;

fn golden(part: &str) -> Vec<Value> {
    let golden: Value = serde_json::from_str(GOLDEN).expect("valid JSON");
    golden[part].as_array().expect("cases").clone()
}

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().expect("an array").iter().map(number).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

/// A tensor with its shape beside it.
fn tensor<const D: usize>(value: &Value, device: &Device) -> Tensor<D> {
    let shape: [usize; D] = numbers(&value["shape"]).try_into().expect("a shape");
    Tensor::from_data(TensorData::new(floats(&value["values"]), shape), device)
}

/// A tensor of the shape of another.
fn like<const D: usize>(value: &Value, other: &Tensor<D>) -> Tensor<D> {
    Tensor::from_data(TensorData::new(floats(value), other.shape()), &other.device())
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= TOLERANCE * b.abs().max(1.0), "{what}[{at}]: {a} and not {b}");
    }
}

/// Values by the names of parameters.
type Named = BTreeMap<String, Vec<f32>>;

/// Sets parameters by name.
struct Set {
    path: Vec<String>,
    values: Named,
}

impl ModuleMapper for Set {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.join(".");
        let values = self.values.remove(&name).unwrap_or_else(|| panic!("no value for {name}"));
        param.map(|old| Tensor::from_data(TensorData::new(values, old.dims()), &old.device()).require_grad())
    }
}

/// Compares the gradients of parameters by name.
struct Compare<'a> {
    case: &'a str,
    path: Vec<String>,
    gradients: &'a Gradients,
    expected: &'a Named,
    seen: usize,
}

impl ModuleVisitor for Compare<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.path.join(".");
        let gradient = values(param.val().grad(self.gradients).expect("a gradient"));
        assert_close(&format!("{}: {name}", self.case), &gradient, &self.expected[&name]);
        self.seen += 1;
    }
}

fn with_values<M: Module>(module: M, values: Named) -> M {
    let mut set = Set { path: Vec::new(), values };
    let module = module.map(&mut set);
    assert!(set.values.is_empty(), "{:?} are no parameters", set.values.keys());
    module
}

fn compare<M: Module>(case: &str, module: &M, gradients: &Gradients, expected: &Named) {
    let mut compare = Compare { case, path: Vec::new(), gradients, expected, seen: 0 };
    module.visit(&mut compare);
    assert_eq!(compare.seen, expected.len(), "{case}");
}

/// The weights of a pyramid by the names of its parameters.
fn of_pyramid(layers: &Value) -> Named {
    let mut found = Named::new();
    for (depth, layer) in layers.as_array().expect("layers").iter().enumerate() {
        for (weights, direction) in layer.as_array().expect("directions").iter().zip(["forward", "backward"])
        {
            for (name, key) in [("input", "w_x"), ("recurrent", "w_h"), ("bias", "bias")] {
                found.insert(format!("layers.{depth}.layers.0.{direction}.{name}"), floats(&weights[key]));
            }
        }
    }
    found
}

#[test]
fn pyramids_agree_with_pytorch() {
    let device = Device::flex().autodiff();
    for case in golden("pyramids") {
        let name = case["name"].as_str().expect("a name");
        let x = tensor::<3>(&case["x"], &device).require_grad();
        let config = PyramidConfig {
            cell: match case["cell"].as_str() {
                Some("rnn") => Cell::Rnn,
                Some("lstm") => Cell::Lstm,
                _ => Cell::Gru,
            },
            input: x.dims()[2],
            width: number(&case["width"]),
            layers: number(&case["layers"]),
            halvings: number(&case["halvings"]),
            bidirectional: case["bidirectional"] == true,
            dropout: 0.0,
        };
        let pyramid = Pyramid::new(&config, &mut Initial::new(1, &device));
        let pyramid = with_values(pyramid, of_pyramid(&case["weights"]));
        let read = pyramid.forward(x.clone(), &numbers(&case["lengths"]), &mut Noise::none());
        assert_eq!(read.lengths, numbers(&case["state_lengths"]), "{name}");
        assert_eq!(read.states.dims().to_vec(), numbers(&case["states"]["shape"]), "{name}");
        assert_close(
            &format!("{name} states"),
            &values(read.states.clone()),
            &floats(&case["states"]["values"]),
        );
        for (found, expected) in read.last.iter().zip(case["last"].as_array().expect("last states")) {
            assert_close(&format!("{name} last"), &values(found.hidden.clone()), &floats(expected));
        }
        let last = read.last.last().expect("a layer").hidden.clone();
        let upon_states = like(&case["gradient_of_states"], &read.states);
        let upon_last = like(&case["gradient_of_last"], &last);
        let gradients = ((read.states * upon_states).sum() + (last * upon_last).sum()).backward();
        let expected = &case["gradients"];
        assert_close(
            &format!("{name} x"),
            &values(x.grad(&gradients).expect("a gradient")),
            &floats(&expected["x"]),
        );
        compare(name, &pyramid, &gradients, &of_pyramid(&expected["weights"]));
    }
}

fn of_front(convolutions: &Value) -> Named {
    let mut found = Named::new();
    for (depth, weights) in convolutions.as_array().expect("convolutions").iter().enumerate() {
        for name in ["weight", "bias"] {
            found.insert(format!("convolutions.{depth}.{name}"), floats(&weights[name]));
        }
    }
    found
}

#[test]
fn convolutions_over_sounds_agree_with_pytorch() {
    let device = Device::flex().autodiff();
    for case in golden("fronts") {
        let name = case["name"].as_str().expect("a name");
        let x = tensor::<3>(&case["x"], &device).require_grad();
        let channels = numbers(&case["channels"]);
        let front = SoundFront::new(number(&case["each"]), &channels, &mut Initial::new(1, &device));
        let front = with_values(front, of_front(&case["weights"]));
        let (out, places) = front.forward(x.clone(), &numbers(&case["lengths"]));
        assert_eq!(places, numbers(&case["places"]), "{name}");
        assert_eq!(out.dims().to_vec(), numbers(&case["out"]["shape"]), "{name}");
        assert_close(&format!("{name} out"), &values(out.clone()), &floats(&case["out"]["values"]));
        let upon = like(&case["gradient_of_out"], &out);
        let gradients = (out * upon).sum().backward();
        let expected = &case["gradients"];
        assert_close(
            &format!("{name} x"),
            &values(x.grad(&gradients).expect("a gradient")),
            &floats(&expected["x"]),
        );
        compare(name, &front, &gradients, &of_front(&expected["weights"]));
    }
}

#[test]
fn attention_that_knows_its_last_look_agrees_with_pytorch() {
    let device = Device::flex().autodiff();
    for case in golden("spelling") {
        let name = case["name"].as_str().expect("a name");
        let query = tensor::<3>(&case["query"], &device).require_grad();
        let states = tensor::<3>(&case["states"], &device).require_grad();
        let mask = tensor::<2>(&case["mask"], &device);
        let ([batch, steps, asked], [_, positions, width]) = (query.dims(), states.dims());
        let window = number(&case["window"]);
        let settings = AttentionSettings {
            score: ScoreKind::Additive,
            focus: match case["advancing"] == true {
                true => FocusKind::Local { window, aligned: Aligned::Advancing },
                false => FocusKind::Soft,
            },
            sizes: ScoreSizes { query: asked, states: width, width: 3, positions: 0 },
            coverage: false,
            trail: (case["trail"] == true).then_some(TrailSettings { channels: 2, width: 3 }),
        };
        let named = |values: &Value| -> Named {
            let all = values.as_object().expect("parameters").iter();
            let own = all.filter(|(name, _)| name.contains('.'));
            own.map(|(name, values)| (name.clone(), floats(values))).collect()
        };
        let attention = Attention::new(&settings, &mut Initial::new(1, &device));
        let attention = with_values(attention, named(&case["parameters"]));
        let source = attention.source(states.clone(), mask, Vec::new());
        let mut before = attention.nothing_yet(batch, positions, &device);
        let (mut weights, mut contexts) = (Vec::new(), Vec::new());
        for t in 0..steps {
            let now = query.clone().narrow(1, t, 1);
            let looked = attention.look(now, &source, &before, t, Choosing::MostProbable);
            before = before.behind(&looked);
            weights.push(looked.weights);
            contexts.push(looked.context);
        }
        let context = Tensor::cat(contexts, 1);
        assert_close(&format!("{name} weights"), &values(Tensor::cat(weights, 1)), &floats(&case["weights"]));
        assert_close(&format!("{name} context"), &values(context.clone()), &floats(&case["context"]));
        let upon = tensor::<3>(&case["gradient_of_context"], &device);
        let gradients = (context * upon).sum().backward();
        let expected = &case["gradients"];
        for (key, input) in [("query", query), ("states", states)] {
            let found = values(input.grad(&gradients).expect("a gradient"));
            assert_close(&format!("{name} {key}"), &found, &floats(&expected[key]));
        }
        compare(name, &attention, &gradients, &named(expected));
    }
}

#[test]
fn the_loss_of_ctc_agrees_with_pytorch() {
    let device = Device::flex().autodiff();
    for case in golden("ctc") {
        let name = case["name"].as_str().expect("a name");
        let labels = |target: &Value| numbers(target).into_iter().map(|label| label as u32).collect();
        let targets = CtcTargets {
            lengths: numbers(&case["lengths"]),
            labels: case["targets"].as_array().expect("targets").iter().map(labels).collect(),
            blank: number(&case["blank"]) as u32,
        };
        for loss in [ctc_loss, ctc_loss_plain] {
            let logits = tensor::<3>(&case["logits"], &device).require_grad();
            let losses = loss(logits.clone(), &targets);
            assert_close(&format!("{name} losses"), &values(losses.clone()), &floats(&case["losses"]));
            let upon = like(&case["gradient_of_losses"], &losses);
            let gradients = (losses * upon).sum().backward();
            let found = values(logits.grad(&gradients).expect("a gradient"));
            assert_close(&format!("{name} gradient"), &found, &floats(&case["gradient"]));
        }
    }
}
