//! What is fused for training against its plain form, forward and backward.

use burn::tensor::{Device, Tensor};
use gatto_nn::loss::{Projection, Targets, cross_entropy_plain, projected_cross_entropy};
use gatto_nn::{
    Activation, Initial, Noise, activate_dropped, activate_plain, dropout, linear_plain, norm_of_sum,
    norm_of_sum_plain,
};
use proptest::prelude::*;

/// The output, and the gradients of a weighted sum of it in the inputs.
fn everything<const D: usize>(
    output: Tensor<D>,
    seed: u64,
    matrices: &[&Tensor<2>],
    vectors: &[&Tensor<1>],
) -> Vec<Vec<f32>> {
    let weights = Initial::new(seed ^ 99, &output.device()).normal(output.dims(), 1.0).val().detach();
    let gradients = (output.clone() * weights).sum().backward();
    let mut found = vec![output.try_into_vec_as::<f32>()];
    found.extend(matrices.iter().map(|x| x.grad(&gradients).expect("a gradient").try_into_vec_as::<f32>()));
    found.extend(vectors.iter().map(|x| x.grad(&gradients).expect("a gradient").try_into_vec_as::<f32>()));
    found.into_iter().map(|values| values.expect("f32 values")).collect()
}

fn same(fused: &[Vec<f32>], plain: &[Vec<f32>]) -> Result<(), TestCaseError> {
    prop_assert_eq!(fused.len(), plain.len());
    for (place, (fused, plain)) in fused.iter().zip(plain).enumerate() {
        prop_assert_eq!(fused.len(), plain.len());
        for (fused, plain) in fused.iter().zip(plain) {
            let error = (fused - plain).abs();
            prop_assert!(error <= 1e-4 * plain.abs().max(1.0), "{place}: {fused} and not {plain}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn losses_behind_a_map_are_those_of_its_logits(
        rows in 1usize..40, width in 1usize..20, classes in 1usize..50, transposed: bool, uniform: bool,
        smoothing in prop_oneof![Just(0.0), 0.0..0.9f64], seed: u64,
    ) {
        let device = Device::flex().autodiff();
        let mut initial = Initial::new(seed, &device);
        let (x, bias) = (initial.normal([rows, width], 1.0).val(), initial.normal([classes], 1.0).val());
        let weight = initial.normal(if transposed { [classes, width] } else { [width, classes] }, 1.0).val();
        let ids = (0..rows as u32).map(|row| row * 7 % classes as u32).collect();
        let weights = (0..rows).map(|row| [1.0, 0.0, 1.0, 0.5][row % 4]).collect();
        let targets = Targets { ids, weights, smoothing };
        let run = |fused: bool| {
            let (x, bias) = (x.clone(), bias.clone());
            let projection = Projection { weight: weight.clone(), transposed, bias: bias.clone() };
            let losses = match fused {
                true => projected_cross_entropy(x.clone(), projection, &targets),
                false => {
                    let weight = if transposed { weight.clone().transpose() } else { weight.clone() };
                    cross_entropy_plain(linear_plain(x.clone(), weight, bias.clone()), &targets)
                }
            };
            // A mean wants the same of all rows; a weighted sum does not.
            match uniform {
                true => everything(losses.sum() / 3.0, seed, &[&x, &weight], &[&bias]),
                false => everything(losses, seed, &[&x, &weight], &[&bias]),
            }
        };
        same(&run(true), &run(false))?;
    }

    #[test]
    fn a_normalised_sum_equals_its_parts(
        rows in 1usize..40, width in 2usize..40, rate in prop_oneof![Just(0.0), 0.0..0.9f64], seed: u64,
    ) {
        let device = Device::flex().autodiff();
        let mut initial = Initial::new(seed, &device);
        let [residual, x] = [(); 2].map(|()| initial.normal([rows, width], 1.0).val());
        let [scale, shift] = [(); 2].map(|()| initial.normal([width], 1.0).val());
        let run = |form: fn(_, _, _, _, f64, &mut Noise) -> Tensor<2>| {
            let mut noise = Noise::seeded(seed);
            let y = form(residual.clone(), x.clone(), scale.clone(), shift.clone(), rate, &mut noise);
            // What is drawn next shows that both have drawn as much.
            let y = dropout(y, 0.5, &mut noise);
            everything(y, seed, &[&residual, &x], &[&scale, &shift])
        };
        let (fused, plain) = (run(norm_of_sum), run(norm_of_sum_plain));
        // Rows of few numbers may lie close together, and then errors grow.
        if width > 8 {
            same(&fused, &plain)?;
        } else {
            same(&fused[..1], &plain[..1])?;
        }
    }

    #[test]
    fn an_activation_with_dropout_equals_its_parts(
        rows in 1usize..40, width in 1usize..40, gelu: bool, rate in prop_oneof![Just(0.0), 0.0..0.9f64],
        seed: u64,
    ) {
        let device = Device::flex().autodiff();
        let activation = if gelu { Activation::Gelu } else { Activation::Relu };
        let x = Initial::new(seed, &device).normal([rows, width], 1.0).val();
        let run = |fused: bool| {
            let mut noise = Noise::seeded(seed);
            let y = match fused {
                true => activate_dropped(x.clone(), activation, rate, &mut noise),
                false => dropout(activate_plain(x.clone(), activation), rate, &mut noise),
            };
            everything(dropout(y, 0.5, &mut noise), seed, &[&x], &[])
        };
        same(&run(true), &run(false))?;
    }
}
