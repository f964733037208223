//! What reads images: fused forms against plain ones, PyTorch's values (`tools/golden_vision.py`), and what must always hold.

use burn::tensor::{Device, Tensor};
use gatto_nn::vision::{
    ResidualConfig, ResidualNetwork, Window, convolution, convolution_plain, group_norm, group_norm_plain,
};
use gatto_nn::{Initial, Precision};
use proptest::prelude::*;

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
