//! What reads images: fused forms against plain ones, PyTorch's values (`tools/golden_vision.py`), and what must always hold.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};
use gatto_nn::vision::{
    COORDINATES, GridPositionKind, GridPositions, ResidualBlock, ResidualConfig, ResidualNetwork, Window,
    convolution, convolution_plain, coordinates, group_norm, group_norm_plain, patches,
};
use gatto_nn::{Initial, Precision};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

const GOLDEN: &str = include_str!("../../../tests/golden/vision.json");

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}[{at}]: {a} and not {b}");
    }
}

type Convolve = fn(Tensor<4>, Tensor<2>, Option<Tensor<1>>, Window) -> Tensor<4>;

/// The output, and the gradient of a weighted sum of it in every input.
fn convolved(
    form: Convolve,
    dims: [usize; 4],
    output: usize,
    window: Window,
    biased: bool,
    seed: u64,
) -> Vec<Vec<f32>> {
    let device = Device::flex().autodiff();
    let mut initial = Initial::new(seed, &device);
    let x = initial.normal(dims, 1.0).val();
    let weight = initial.normal([window.height * window.width * dims[3], output], 0.3).val();
    let bias = biased.then(|| initial.normal([output], 1.0).val());
    let y = form(x.clone(), weight.clone(), bias.clone(), window);
    let gradients = (y.clone() * initial.normal(y.dims(), 1.0).val().detach()).sum().backward();
    let mut found =
        vec![values(y), values(x.grad(&gradients).expect("x")), values(weight.grad(&gradients).expect("w"))];
    found.extend(bias.map(|bias| values(bias.grad(&gradients).expect("b"))));
    found
}

type Norm = fn(Tensor<4>, Tensor<1>, Tensor<1>, usize, Option<Tensor<4>>, bool) -> Tensor<4>;

fn normed(
    form: Norm,
    dims: [usize; 4],
    groups: usize,
    residual: bool,
    relu: bool,
    seed: u64,
) -> Vec<Vec<f32>> {
    let device = Device::flex().autodiff();
    let mut initial = Initial::new(seed, &device);
    let x = initial.normal(dims, 1.0).val();
    let [scale, shift] = [1, 2].map(|_| initial.normal([dims[3]], 1.0).val());
    let residual = residual.then(|| initial.normal(dims, 1.0).val());
    let y = form(x.clone(), scale.clone(), shift.clone(), groups, residual.clone(), relu);
    let gradients = (y.clone() * initial.normal(dims, 1.0).val().detach()).sum().backward();
    let mut found = vec![values(y), values(x.grad(&gradients).expect("x"))];
    found.extend([scale, shift].map(|tensor| values(tensor.grad(&gradients).expect("a gradient"))));
    found.extend(residual.map(|residual| values(residual.grad(&gradients).expect("residual"))));
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_fused_convolution_equals_the_plain_one(
        batch in 1usize..4, height in 3usize..9, width in 3usize..12, input in 1usize..20, output in 1usize..40,
        size in (1usize..4, 1usize..4), stride in 1usize..4, padding in 0usize..3, biased: bool, seed: u64,
    ) {
        let window = Window { height: size.0, width: size.1, stride, padding };
        let dims = [batch, height, width, input];
        let [fused, plain] = [convolution as Convolve, convolution_plain]
            .map(|form| convolved(form, dims, output, window, biased, seed));
        for (what, (fused, plain)) in fused.iter().zip(&plain).enumerate() {
            assert_close(&format!("{what}"), fused, plain, 5e-5);
        }
    }

    #[test]
    fn the_fused_norm_equals_the_plain_one(
        batch in 1usize..4, height in 2usize..9, width in 1usize..9, groups in 1usize..5, inside in 1usize..12,
        residual: bool, relu: bool, seed: u64,
    ) {
        let dims = [batch, height, width, groups * inside];
        let [fused, plain] = [group_norm as Norm, group_norm_plain]
            .map(|form| normed(form, dims, groups, residual, relu, seed));
        for (what, (fused, plain)) in fused.iter().zip(&plain).enumerate() {
            assert_close(&format!("{what}"), fused, plain, 2e-4);
        }
    }
}

fn config() -> ResidualConfig {
    ResidualConfig { input_channels: 3, stem_stride: 2, channels: vec![8, 16, 24], blocks: 2, groups: 4 }
}

#[test]
fn maps_have_the_size_that_was_told_and_images_no_company() {
    let device = Device::flex();
    let mut network = ResidualNetwork::new(&config(), &mut Initial::new(3, &device));
    for (height, width) in [(16, 16), (17, 30), (5, 3)] {
        let images = Initial::new(4, &device).normal([3, height, width, 3], 1.0).val();
        let map = network.forward(images.clone());
        let (rows, columns) = config().map(height, width);
        assert_eq!(map.dims(), [3, rows, columns, 24]);
        let together = values(map);
        assert!(together.iter().any(|&value| value > 0.0));
        let alone = |network: &ResidualNetwork| -> Vec<f32> {
            (0..3).flat_map(|image| values(network.forward(images.clone().narrow(0, image, 1)))).collect()
        };
        assert_eq!(alone(&network), together);
        let plain = network.clone();
        network.prepare(Precision::Float.into());
        assert_eq!(values(network.forward(images.clone())), together, "weights that are ready are the same");
        let mut bytes = plain.clone();
        bytes.prepare(Precision::Int8.into());
        let found = values(bytes.forward(images.clone()));
        assert!(found != together && found.iter().zip(&together).all(|(a, b)| (a - b).abs() < 0.5));
        assert_eq!(alone(&bytes), found);
        network = plain;
    }
}

/// The cases of one kind.
fn golden(kind: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(GOLDEN).expect("valid JSON");
    all[kind].as_array().expect("cases").clone()
}

fn floats(array: &Value) -> Vec<f32> {
    let values = array["values"].as_array().expect("an array");
    values.iter().map(|value| value.as_f64().expect("a number") as f32).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn numbers<const N: usize>(value: &Value) -> [usize; N] {
    std::array::from_fn(|at| number(&value[at]))
}

fn tensor<const D: usize>(array: &Value, device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(floats(array), numbers::<D>(&array["shape"])), device)
}

/// Fails unless `found` is what the case has under this name.
fn check(case: &Value, name: &str, found: Vec<f32>) {
    assert_close(name, &found, &floats(&case[name]), 2e-5);
}

#[test]
fn convolutions_agree_with_pytorch() {
    let device = Device::flex().autodiff();
    let cases = golden("convolutions");
    assert_eq!(cases.len(), 6);
    for case in &cases {
        let [height, width, stride, padding] = numbers(&case["window"]);
        let window = Window { height, width, stride, padding };
        for form in [convolution as Convolve, convolution_plain] {
            let x = tensor::<4>(&case["x"], &device).require_grad();
            let weight = tensor::<2>(&case["weight"], &device).require_grad();
            let bias = case.get("bias").map(|bias| tensor::<1>(bias, &device).require_grad());
            let y = form(x.clone(), weight.clone(), bias.clone(), window);
            let gradients = (y.clone() * tensor(&case["gradient_of_y"], &device)).sum().backward();
            check(case, "y", values(y));
            check(case, "gradient_of_x", values(x.grad(&gradients).expect("x")));
            check(case, "gradient_of_weight", values(weight.grad(&gradients).expect("weight")));
            if let Some(bias) = bias {
                check(case, "gradient_of_bias", values(bias.grad(&gradients).expect("bias")));
            }
        }
    }
}

#[test]
fn norms_agree_with_pytorch() {
    let device = Device::flex().autodiff();
    let cases = golden("norms");
    assert_eq!(cases.len(), 4);
    for case in &cases {
        let relu = case["relu"].as_bool().expect("yes or no");
        for form in [group_norm as Norm, group_norm_plain] {
            let x = tensor::<4>(&case["x"], &device).require_grad();
            let [scale, shift] =
                ["scale", "shift"].map(|name| tensor::<1>(&case[name], &device).require_grad());
            let residual = case.get("residual").map(|residual| tensor::<4>(residual, &device).require_grad());
            let y = form(
                x.clone(),
                scale.clone(),
                shift.clone(),
                number(&case["groups"]),
                residual.clone(),
                relu,
            );
            let gradients = (y.clone() * tensor(&case["gradient_of_y"], &device)).sum().backward();
            check(case, "y", values(y));
            check(case, "gradient_of_x", values(x.grad(&gradients).expect("x")));
            check(case, "gradient_of_scale", values(scale.grad(&gradients).expect("scale")));
            check(case, "gradient_of_shift", values(shift.grad(&gradients).expect("shift")));
            if let Some(residual) = residual {
                check(case, "gradient_of_residual", values(residual.grad(&gradients).expect("residual")));
            }
        }
    }
}

/// Sets parameters by name.
struct Named<'a> {
    path: Vec<String>,
    values: &'a Value,
}

impl ModuleMapper for Named<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (name, old) = (self.path.join("."), param.val());
        let values = self.values.get(&name).unwrap_or_else(|| panic!("no value for {name}"));
        assert_eq!(numbers::<D>(&values["shape"]), old.dims(), "{name}");
        param.map(|old| tensor::<D>(values, &old.device()).require_grad())
    }
}

/// Gradients by the names of their parameters.
struct Slopes<'a> {
    path: Vec<String>,
    gradients: &'a burn::tensor::Gradients,
    found: BTreeMap<String, Vec<f32>>,
}

impl ModuleVisitor for Slopes<'_> {
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

/// Checks a module that has been made: its output, and the gradient of every parameter.
fn check_module<M: Module>(case: &Value, module: M, forward: impl Fn(&M, Tensor<4>) -> Tensor<4>) {
    let device = Device::flex().autodiff();
    let module = module.map(&mut Named { path: Vec::new(), values: &case["parameters"] });
    let x = tensor::<4>(&case["x"], &device).require_grad();
    let y = forward(&module, x.clone());
    let gradients = (y.clone() * tensor(&case["gradient_of_y"], &device)).sum().backward();
    assert_eq!(y.dims(), numbers::<4>(&case["y"]["shape"]));
    check(case, "y", values(y));
    check(case, "gradient_of_x", values(x.grad(&gradients).expect("x")));
    let mut slopes = Slopes { path: Vec::new(), gradients: &gradients, found: BTreeMap::new() };
    module.visit(&mut slopes);
    let expected = case["gradients"].as_object().expect("gradients");
    assert_eq!(slopes.found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, found) in &slopes.found {
        assert_close(name, found, &floats(&expected[name]), 1e-4);
    }
}

#[test]
fn residual_blocks_agree_with_pytorch() {
    let device = Device::flex().autodiff();
    let cases = golden("blocks");
    assert_eq!(cases.len(), 3);
    for case in &cases {
        let [input, output, stride, groups] =
            ["input", "output", "stride", "groups"].map(|key| number(&case[key]));
        let block = ResidualBlock::new(input, output, stride, groups, &mut Initial::new(1, &device));
        check_module(case, block, ResidualBlock::forward);
    }
}

#[test]
fn residual_networks_agree_with_pytorch() {
    let device = Device::flex().autodiff();
    let cases = golden("networks");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        let channels = case["channels"].as_array().expect("channels").iter().map(number).collect();
        let [stem_stride, blocks, groups] = ["stem_stride", "blocks", "groups"].map(|key| number(&case[key]));
        let config = ResidualConfig { input_channels: 3, stem_stride, channels, blocks, groups };
        let network = ResidualNetwork::new(&config, &mut Initial::new(1, &device));
        check_module(case, network, ResidualNetwork::forward);
        let [[_, height, width, _], [_, rows, columns, _]] =
            ["x", "y"].map(|name| numbers::<4>(&case[name]["shape"]));
        assert_eq!(config.map(height, width), (rows, columns));
    }
}

#[test]
fn images_are_cut_into_patches_as_pytorch_does() {
    for case in golden("patches") {
        let images = tensor::<4>(&case["images"], &Device::flex());
        let found = patches(images, number(&case["size"]));
        assert_eq!(found.dims(), numbers::<3>(&case["patches"]["shape"]));
        assert_eq!(values(found), floats(&case["patches"]));
    }
}

#[test]
fn learned_positions_of_another_grid_lie_between_as_pytorch_says() {
    let device = Device::flex().autodiff();
    for case in golden("grids") {
        let ([rows, columns], [other_rows, other_columns]) = (numbers(&case["own"]), numbers(&case["other"]));
        let width = numbers::<2>(&case["weight"]["shape"])[1];
        let kind = GridPositionKind::Learned;
        let given = serde_json::json!({ "weight": case["weight"] });
        let positions = GridPositions::new(kind, rows, columns, width, &mut Initial::new(1, &device))
            .map(&mut Named { path: Vec::new(), values: &given });
        assert_eq!(values(positions.forward(rows, columns, &device)), floats(&case["weight"]));
        let found = positions.forward(other_rows, other_columns, &device);
        let gradients = (found.clone() * tensor(&case["gradient_of_positions"], &device)).sum().backward();
        check(&case, "positions", values(found));
        let mut slopes = Slopes { path: Vec::new(), gradients: &gradients, found: BTreeMap::new() };
        positions.visit(&mut slopes);
        check(&case, "gradient_of_weight", slopes.found.remove("weight").expect("its gradient"));
    }
}

#[test]
fn coordinates_go_from_border_to_border() {
    let device = Device::flex();
    let found = values(coordinates(2, 4, &device));
    let of = |place: usize| &found[place * COORDINATES..][..COORDINATES];
    // The second row is half way below the middle, the first column three quarters to the left of it.
    let root = 0.5f32.sqrt();
    let expected = [0.5, 1.0, 0.0, 0.0, -1.0, -0.75, -root, -root, 1.0, 0.0];
    for (found, expected) in of(4).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} and not {expected}");
    }
    assert_eq!(of(0)[..5], of(3)[..5], "the same row");
    assert_eq!(of(1)[5..], of(5)[5..], "the same column");
}

#[test]
fn waves_tell_the_row_and_the_column() {
    let device = Device::flex();
    for case in golden("sinusoidal") {
        let [rows, columns, width] = ["rows", "columns", "width"].map(|key| number(&case[key]));
        let kind = GridPositionKind::Sinusoidal;
        let positions = GridPositions::new(kind, 1, 1, width, &mut Initial::new(1, &device));
        check(&case, "positions", values(positions.forward(rows, columns, &device)));
    }
}
