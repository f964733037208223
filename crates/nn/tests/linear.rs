//! The fused affine map against its plain form, forward and backward.

use burn::tensor::{Device, Tensor};
use gatto_nn::{Initial, linear, linear_plain};
use proptest::prelude::*;

type Form = fn(Tensor<2>, Tensor<2>, Tensor<1>) -> Tensor<2>;

/// The output, and the gradient of a weighted sum of it in every input.
fn everything(form: Form, [rows, input, output]: [usize; 3], transposed: bool, seed: u64) -> Vec<Vec<f32>> {
    let device = Device::flex().autodiff();
    let mut initial = Initial::new(seed, &device);
    let (x, bias) = (initial.normal([rows, input], 1.0).val(), initial.normal([output], 1.0).val());
    let weight = if transposed { [output, input] } else { [input, output] };
    let weight = initial.normal(weight, 1.0).val();
    let used = if transposed { weight.clone().transpose() } else { weight.clone() };
    let y = form(x.clone(), used, bias.clone());
    let gradients = (y.clone() * initial.normal([rows, output], 1.0).val().detach()).sum().backward();
    let found = [
        y.try_into_vec_as::<f32>(),
        x.grad(&gradients).expect("x").try_into_vec_as::<f32>(),
        weight.grad(&gradients).expect("weight").try_into_vec_as::<f32>(),
        bias.grad(&gradients).expect("bias").try_into_vec_as::<f32>(),
    ];
    found.into_iter().map(|values| values.expect("f32 values")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_fused_map_equals_the_plain_one(
        rows in 1usize..60, input in 1usize..30, output in 1usize..30, transposed: bool, seed: u64,
    ) {
        let sizes = [rows, input, output];
        let [fused, plain] = [linear as Form, linear_plain].map(|form| everything(form, sizes, transposed, seed));
        for (fused, plain) in fused.iter().flatten().zip(plain.iter().flatten()) {
            prop_assert!((fused - plain).abs() <= 2e-5 * plain.abs().max(1.0), "{} and not {}", fused, plain);
        }
    }
}
