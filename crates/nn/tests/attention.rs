//! Attention against PyTorch's values (`tools/golden_attention.py`), and the plain forms against the
//! fused ones.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use gatto_nn::Initial;
use gatto_nn::attention::{
    Aligned, Attention, AttentionSettings, Choosing, FocusKind, Remembered, ScoreKind, ScoreSizes, additive,
    additive_plain, batched, batched_plain,
};
use proptest::prelude::*;
use serde_json::Value;

const GOLDEN: &str = include_str!("../../../tests/golden/attention.json");
const TOLERANCE: f32 = 1e-5;

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
}

fn tensor<const D: usize>(value: &Value, device: &Device) -> Tensor<D> {
    let shape: Vec<usize> = floats(&value["shape"]).iter().map(|&size| size as usize).collect();
    Tensor::from_data(TensorData::new(floats(&value["values"]), shape), device)
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

/// The golden name of a parameter.
fn golden_name(place: &str, score: &str) -> &'static str {
    match (place, score) {
        ("score.query", "location") => "w",
        ("score.query", _) => "w_q",
        ("score.key", _) => "w_k",
        ("score.vector", _) => "v",
        ("score.sharpness", _) => "gamma",
        ("focus.position", _) => "w_p",
        ("focus.position_vector", _) => "v_p",
        ("coverage", _) => "w_c",
        _ => panic!("{place} is not in the golden file"),
    }
}

/// Walks through the parameters beside the golden values.
struct Golden<'a> {
    place: Vec<String>,
    case: &'a Value,
    gradients: Option<&'a Gradients>,
    seen: usize,
}

impl Golden<'_> {
    fn value(&self, part: &str) -> &Value {
        let score = self.case["score"].as_str().expect("a score");
        &self.case[part][golden_name(&self.place.join("."), score)]
    }
}

impl ModuleMapper for Golden<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.place.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.pop();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let value = tensor::<D>(self.value("weights"), &param.val().device());
        assert_eq!(value.dims(), param.dims(), "{:?}", self.place);
        self.seen += 1;
        param.map(|_| value.require_grad())
    }
}

impl ModuleVisitor for Golden<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.place.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradients = self.gradients.expect("gradients");
        let found = values(param.val().grad(gradients).expect("a gradient"));
        let expected = floats(&self.value("gradients")["values"]);
        assert_close(&format!("{} {:?}", self.case["name"], self.place), &found, &expected);
    }
}

fn settings(case: &Value, query: usize, states: usize) -> AttentionSettings {
    let window = case["window"].as_u64().unwrap_or(0) as usize;
    let focus = match case["focus"].as_str().expect("a focus") {
        "local-predicted" => FocusKind::Local { window, aligned: Aligned::Predicted },
        "local-monotone" => FocusKind::Local { window, aligned: Aligned::Monotone },
        _ => FocusKind::Soft,
    };
    let score: ScoreKind = serde_json::from_value(case["score"].clone()).expect("a known score");
    let coverage = case["coverage"].as_bool().expect("true or false");
    let sizes = ScoreSizes { query, states, width: 3, positions: 8 };
    AttentionSettings { score, focus, sizes, coverage, trail: None }
}

#[test]
fn attention_agrees_with_pytorch_in_weights_context_and_every_gradient() {
    let golden: Value = serde_json::from_str(GOLDEN).expect("valid JSON");
    let device = Device::flex().autodiff();
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 12);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let query = tensor::<3>(&case["inputs"]["query"], &device).require_grad();
        let states = tensor::<3>(&case["inputs"]["states"], &device).require_grad();
        let mask = tensor::<2>(&case["inputs"]["mask"], &device);
        let settings = settings(case, query.dims()[2], states.dims()[2]);
        let mut golden = Golden { place: Vec::new(), case, gradients: None, seen: 0 };
        let attention = Attention::new(&settings, &mut Initial::new(1, &device)).map(&mut golden);
        assert_eq!(golden.seen, case["weights"].as_object().expect("weights").len(), "{name}");

        let source = attention.source(states.clone(), mask.clone(), Vec::new());
        let (weights, context) = match settings.coverage {
            false => {
                let looked =
                    attention.look(query.clone(), &source, &Remembered::default(), 0, Choosing::MostProbable);
                (looked.weights, looked.context)
            }
            true => {
                let [batch, positions] = mask.dims();
                let mut before = attention.nothing_yet(batch, positions, &device);
                let (mut weights, mut contexts) = (Vec::new(), Vec::new());
                for t in 0..query.dims()[1] {
                    let now = query.clone().narrow(1, t, 1);
                    let looked = attention.look(now, &source, &before, t, Choosing::MostProbable);
                    before = before.behind(&looked);
                    weights.push(looked.weights);
                    contexts.push(looked.context);
                }
                (Tensor::cat(weights, 1), Tensor::cat(contexts, 1))
            }
        };
        let expected = |part: &str, key: &str| floats(&case[part][key]["values"]);
        assert_close(&format!("{name} weights"), &values(weights), &expected("outputs", "weights"));
        assert_close(&format!("{name} context"), &values(context.clone()), &expected("outputs", "context"));
        let loss = (context * tensor::<3>(&case["gradient_of_context"], &device)).sum();
        let gradients = loss.backward();
        for (key, input) in [("query", query), ("states", states)] {
            // The query has no say where the window follows the step and all weights are fixed by it.
            let found = input.grad(&gradients).map(values);
            let found = found.unwrap_or_else(|| vec![0.0; expected("gradients", key).len()]);
            assert_close(&format!("{name} {key}"), &found, &expected("gradients", key));
        }
        attention.visit(&mut Golden { place: Vec::new(), case, gradients: Some(&gradients), seen: 0 });
    }
}

/// Values that look random, the same for the same seed.
fn drawn<const D: usize>(shape: [usize; D], seed: u64) -> Tensor<D> {
    let initial = &mut Initial::new(seed, &Device::flex());
    let values = values(initial.normal(shape, 1.0).val());
    Tensor::from_data(TensorData::new(values, shape), &Device::flex().autodiff()).require_grad()
}

/// The value and the gradients of some inputs under the sum of the squares.
fn outcome<const N: usize>(output: Tensor<3>, inputs: [Tensor<3>; N]) -> Vec<Vec<f32>> {
    let gradients = output.clone().powf_scalar(2.0).sum().backward();
    let mut found = vec![values(output)];
    found.extend(inputs.map(|input| values(input.grad(&gradients).expect("a gradient"))));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn fused_and_plain_forms_are_the_same(
        batch in 1usize..5, time in 1usize..5, positions in 1usize..7, width in 1usize..40, seed: u64,
    ) {
        let (queries, keys) = (drawn([batch, time, width], seed), drawn([batch, positions, width], seed ^ 1));
        let vector = drawn([width], seed ^ 2);
        let run = |f: fn(Tensor<3>, Tensor<3>, Tensor<1>) -> Tensor<3>| {
            outcome(f(queries.clone(), keys.clone(), vector.clone()), [queries.clone(), keys.clone()])
        };
        for (fused, plain) in run(additive).iter().zip(&run(additive_plain)) {
            for (a, b) in fused.iter().zip(plain) {
                prop_assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{} {}", a, b);
            }
        }
        for transposed in [false, true] {
            let a = drawn([batch, time, width], seed ^ 3);
            let shape = if transposed { [batch, positions, width] } else { [batch, width, positions] };
            let m = drawn(shape, seed ^ 4);
            let fused = outcome(batched(a.clone(), m.clone(), transposed), [a.clone(), m.clone()]);
            let plain = outcome(batched_plain(a.clone(), m.clone(), transposed), [a, m]);
            for (fused, plain) in fused.iter().zip(&plain) {
                for (a, b) in fused.iter().zip(plain) {
                    prop_assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{} {}", a, b);
                }
            }
        }
    }
}
