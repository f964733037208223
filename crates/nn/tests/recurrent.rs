//! Recurrent layers against PyTorch's values (`tools/golden_recurrent.py`), the plain form against
//! the fused one, and both against what must always hold of padding.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};
use gatto_nn::recurrent::{
    Cell, CellState, LayerInput, LayerOutput, LayerWeights, Network, NetworkConfig, Reading, layer,
    layer_plain,
};
use gatto_nn::{Initial, Noise};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

const GOLDEN: &str = include_str!("../../../tests/golden/recurrent.json");

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn tensor<const D: usize>(values: &Value, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(floats(values), shape), device)
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

fn kind(name: &str) -> Cell {
    match name {
        "rnn" => Cell::Rnn,
        "lstm" => Cell::Lstm,
        _ => Cell::Gru,
    }
}

/// Mask [B, T] of rows with these lengths.
fn mask(lengths: &[usize], time: usize, device: &Device) -> Tensor<2> {
    let values = lengths.iter().flat_map(|&n| (0..time).map(move |t| if t < n { 1.0f32 } else { 0.0 }));
    Tensor::from_data(TensorData::new(values.collect::<Vec<_>>(), [lengths.len(), time]), device)
}

/// Sets parameters by name, and reads their gradients by name.
struct Named {
    path: Vec<String>,
    values: BTreeMap<String, Vec<f32>>,
}

impl ModuleMapper for Named {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let values = self.values.remove(&self.path.join(".")).expect("a value for every parameter");
        param.map(|old| Tensor::from_data(TensorData::new(values, old.dims()), &old.device()).require_grad())
    }
}

struct Grads<'a> {
    path: Vec<String>,
    gradients: &'a burn::tensor::Gradients,
    found: BTreeMap<String, Vec<f32>>,
}

impl ModuleVisitor for Grads<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.gradients).expect("a gradient");
        self.found.insert(self.path.join("."), values(gradient));
    }
}

/// The golden weights under the names of a network's parameters.
fn named(layers: &Value, directions: &[&str]) -> BTreeMap<String, Vec<f32>> {
    let mut found = BTreeMap::new();
    for (depth, layer) in layers.as_array().expect("layers").iter().enumerate() {
        for (weights, direction) in layer.as_array().expect("directions").iter().zip(directions) {
            for (name, key) in [("input", "w_x"), ("recurrent", "w_h"), ("bias", "bias")] {
                found.insert(format!("layers.{depth}.{direction}.{name}"), floats(&weights[key]));
            }
        }
    }
    found
}

#[test]
fn networks_agree_with_pytorch_in_output_and_every_weight_gradient() {
    let golden: Value = serde_json::from_str(GOLDEN).expect("valid JSON");
    let device = Device::flex().autodiff();
    let mut seen = 0;
    for case in golden["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("a name");
        let [batch, time, input, width, layers] =
            ["batch", "time", "input", "width", "layers"].map(|key| number(&case[key]));
        let cell = kind(case["cell"].as_str().expect("a cell"));
        let both = case["directions"].as_array().expect("directions").len() == 2;
        let backward = !both && case["directions"][0] == "backward";
        // One direction is a network's `forward` layer, whichever way it reads.
        let directions: &[&str] = if both { &["forward", "backward"] } else { &["forward"] };
        let config =
            NetworkConfig { cell, input, width, layers, bidirectional: both, apart: false, dropout: 0.0 };
        let network = Network::new(&config, &mut Initial::new(1, &device));
        let mut set = Named { path: Vec::new(), values: named(&case["layer_weights"], directions) };
        let network = network.map(&mut set);

        let x = tensor(&case["x"], [batch, time, input], &device).require_grad();
        let lengths: Vec<usize> = case["lengths"].as_array().expect("lengths").iter().map(number).collect();
        let exists = mask(&lengths, time, &device);
        // Both directions of a network start from one state; the golden files give each its own.
        if both && floats(&case["h0"][0][0]).iter().any(|&v| v != 0.0) {
            check_directions(case, cell, &device);
            seen += 1;
            continue;
        }
        let first: Vec<CellState> = (0..layers)
            .map(|depth| CellState {
                hidden: tensor(&case["h0"][depth][0], [batch, width], &device),
                cell: (cell == Cell::Lstm).then(|| tensor(&case["c0"][depth][0], [batch, width], &device)),
            })
            .collect();
        let reading = if backward { Reading::Backward } else { Reading::Forward };
        let output = network.forward(x.clone(), exists.clone(), Some(first), reading, &mut Noise::none());
        let states_width = directions.len() * width;
        let visible = output.states * exists.unsqueeze_dim::<3>(2);
        assert_close(&format!("{name} out"), &values(visible.clone()), &floats(&case["out"]), 1e-5);

        let weigh = |key: &str, depth: usize| {
            let parts: Vec<Tensor<2>> = (0..directions.len())
                .map(|d| tensor(&case["loss_weights"][key][depth][d], [batch, width], &device))
                .collect();
            Tensor::cat(parts, 1)
        };
        let mut loss =
            (visible * tensor(&case["loss_weights"]["out"], [batch, time, states_width], &device)).sum();
        for (depth, state) in output.last.iter().enumerate() {
            loss = loss + (state.hidden.clone() * weigh("h", depth)).sum();
            if let Some(c) = &state.cell {
                loss = loss + (c.clone() * weigh("c", depth)).sum();
            }
        }
        let gradients = loss.backward();
        assert_close(
            &format!("{name} x"),
            &values(x.grad(&gradients).expect("x")),
            &floats(&case["grad"]["x"]),
            1e-5,
        );
        let mut grads = Grads { path: Vec::new(), gradients: &gradients, found: BTreeMap::new() };
        network.visit(&mut grads);
        for (key, expected) in named(&case["grad"]["layer_weights"], directions) {
            assert_close(&format!("{name} {key}"), &grads.found[&key], &expected, 1e-5);
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

/// A bidirectional layer with its own first state per direction, direction by direction, with the
/// gradients of the first states, for the plain and the fused form.
fn check_directions(case: &Value, cell: Cell, device: &Device) {
    let [batch, time, input, width] = ["batch", "time", "input", "width"].map(|key| number(&case[key]));
    let lengths: Vec<usize> = case["lengths"].as_array().expect("lengths").iter().map(number).collect();
    for form in [layer, layer_plain] {
        let x = tensor(&case["x"], [batch, time, input], device).require_grad();
        let exists = mask(&lengths, time, device);
        let mut loss = Tensor::<1>::zeros([1], device);
        let mut firsts = Vec::new();
        let mut outs = Vec::new();
        for direction in 0..2 {
            let at = |key: &str| case["layer_weights"][0][direction][key].clone();
            let state = |key: &str| tensor(&case[key][0][direction], [batch, width], device).require_grad();
            let first = CellState { hidden: state("h0"), cell: (cell == Cell::Lstm).then(|| state("c0")) };
            let weights = LayerWeights::new(
                tensor(&at("w_x"), [input, cell.gates() * width], device),
                tensor(&at("w_h"), [width, cell.gates() * width], device),
                tensor(&at("bias"), [cell.bias_blocks() * width], device),
            );
            let given = LayerInput {
                x: x.clone(),
                mask: exists.clone(),
                first: first.clone(),
                reverse: direction == 1,
            };
            let LayerOutput { states, last } = form(cell, given, weights);
            let h = tensor(&case["loss_weights"]["h"][0][direction], [batch, width], device);
            loss = loss + (last.hidden.clone() * h).sum();
            assert_close("h_final", &values(last.hidden), &floats(&case["h_final"][0][direction]), 1e-5);
            if let Some(c) = last.cell {
                let weight = tensor(&case["loss_weights"]["c"][0][direction], [batch, width], device);
                loss = loss + (c.clone() * weight).sum();
                assert_close("c_final", &values(c), &floats(&case["c_final"][0][direction]), 1e-5);
            }
            firsts.push(first);
            outs.push(states * exists.clone().unsqueeze_dim::<3>(2));
        }
        let out = Tensor::cat(outs, 2);
        assert_close("out", &values(out.clone()), &floats(&case["out"]), 1e-5);
        let loss =
            loss + (out * tensor(&case["loss_weights"]["out"], [batch, time, 2 * width], device)).sum();
        let gradients = loss.backward();
        assert_close("x", &values(x.grad(&gradients).expect("x")), &floats(&case["grad"]["x"]), 1e-5);
        for (direction, first) in firsts.iter().enumerate() {
            let found = values(first.hidden.grad(&gradients).expect("h0"));
            assert_close("h0", &found, &floats(&case["grad"]["h0"][0][direction]), 1e-5);
            if let Some(c) = &first.cell {
                let found = values(c.grad(&gradients).expect("c0"));
                assert_close("c0", &found, &floats(&case["grad"]["c0"][0][direction]), 1e-5);
            }
        }
    }
}

/// What a layer gives, and the gradient of a weighted sum of it in every input.
fn everything(
    form: fn(Cell, LayerInput, LayerWeights) -> LayerOutput,
    cell: Cell,
    sizes: [usize; 4],
    lengths: &[usize],
    reverse: bool,
    seed: u64,
) -> Vec<Vec<f32>> {
    let device = Device::flex().autodiff();
    let [batch, time, input, width] = sizes;
    let mut initial = Initial::new(seed, &device);
    let x = initial.normal([batch, time, input], 1.0).val();
    let weights = LayerWeights::new(
        initial.normal([input, cell.gates() * width], 0.5).val(),
        initial.normal([width, cell.gates() * width], 0.5).val(),
        initial.normal([cell.bias_blocks() * width], 0.5).val(),
    );
    let hidden = initial.normal([batch, width], 1.0).val();
    let carried = (cell == Cell::Lstm).then(|| initial.normal([batch, width], 1.0).val());
    let first = CellState { hidden, cell: carried };
    let given =
        LayerInput { x: x.clone(), mask: mask(lengths, time, &device), first: first.clone(), reverse };
    let LayerOutput { states, last } = form(cell, given, weights.clone());
    let mut loss = (states.clone() * initial.normal([batch, time, width], 1.0).val().detach()).sum()
        + (last.hidden.clone() * initial.normal([batch, width], 1.0).val().detach()).sum();
    let mut found = vec![values(states), values(last.hidden)];
    if let Some(c) = last.cell {
        loss = loss + (c.clone() * initial.normal([batch, width], 1.0).val().detach()).sum();
        found.push(values(c));
    }
    let gradients = loss.backward();
    found.push(values(x.grad(&gradients).expect("x")));
    found.push(values(weights.input.grad(&gradients).expect("w_x")));
    found.push(values(weights.recurrent.grad(&gradients).expect("w_h")));
    found.push(values(weights.bias.grad(&gradients).expect("bias")));
    found.push(values(first.hidden.grad(&gradients).expect("h0")));
    found.extend(first.cell.map(|c| values(c.grad(&gradients).expect("c0"))));
    found
}

fn cells() -> impl Strategy<Value = Cell> {
    prop_oneof![Just(Cell::Rnn), Just(Cell::Lstm), Just(Cell::Gru)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_fused_layer_equals_the_plain_one(
        cell in cells(), batch in 1usize..6, time in 1usize..8, input in 1usize..10, width in 1usize..20,
        reverse: bool, seed: u64, cuts in prop::collection::vec(0usize..8, 6),
    ) {
        let lengths: Vec<usize> = cuts[..batch].iter().map(|&cut| cut.min(time)).collect();
        let sizes = [batch, time, input, width];
        let fused = everything(layer, cell, sizes, &lengths, reverse, seed);
        let plain = everything(layer_plain, cell, sizes, &lengths, reverse, seed);
        for (number, (fused, plain)) in fused.iter().zip(&plain).enumerate() {
            assert_close(&format!("part {number}"), fused, plain, 2e-5);
        }
    }
}
