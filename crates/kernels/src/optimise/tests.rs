//! Against PyTorch's optimisers, and independence of threads.

use super::*;
use serde_json::Value;

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
}

/// A setting that PyTorch leaves out where it is 0.
fn setting(case: &Value, key: &str) -> f64 {
    case.get(key).map_or(0.0, |value| value.as_f64().expect("a number"))
}

fn decay(case: &Value) -> Decay {
    match (setting(case, "weight_decay"), case["kind"].as_str()) {
        (0.0, _) => Decay::None,
        (decay, Some("adamw")) => Decay::Decoupled(decay),
        (decay, _) => Decay::L2(decay),
    }
}

#[test]
fn optimisers_agree_with_pytorch() {
    let golden = include_str!("../../../../tests/golden/optimisers.json");
    let golden: Value = serde_json::from_str(golden).expect("valid JSON");
    let mut kinds = Vec::new();
    for case in golden["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("a name");
        let mut param = floats(&golden["start"]);
        let (mut m, mut v) = (vec![0.0; param.len()], vec![0.0; param.len()]);
        // The first step of SGD sets the velocity, whatever it holds.
        let mut velocity = if setting(case, "momentum") == 0.0 { vec![] } else { vec![9.0; param.len()] };
        let steps = golden["gradients"].as_array().expect("gradients").iter();
        for (step, (grad, expected)) in (1..).zip(steps.zip(case["parameters"].as_array().expect("rows"))) {
            // At half their size, with a scale of 2: what clipping does, exactly.
            let grad: Vec<f32> = floats(grad).into_iter().map(|g| g * 0.5).collect();
            let (lr, weight_decay, scale) = (setting(case, "lr"), decay(case), 2.0);
            if case["kind"] == "sgd" {
                let [momentum, dampening] = ["momentum", "dampening"].map(|key| setting(case, key));
                let nesterov = case["nesterov"] == true;
                let step = SgdStep { lr, momentum, dampening, nesterov, weight_decay, scale, step };
                sgd(&mut param, Gradient::Whole(&grad), &mut velocity, &step);
            } else {
                let [beta1, beta2, eps] = ["beta_1", "beta_2", "epsilon"].map(|key| setting(case, key));
                adam(
                    &mut param,
                    Gradient::Whole(&grad),
                    &mut m,
                    &mut v,
                    &AdamStep { lr, beta1, beta2, eps, weight_decay, scale, step },
                );
            }
            for (got, expected) in param.iter().zip(floats(expected)) {
                // Five steps in f32 against f64: a rounding of the parameter and one of the step each.
                let close = (got - expected).abs() <= 4.0 * f32::EPSILON * expected.abs().max(1.0);
                assert!(close, "{name}, step {step}: {got} and not {expected}");
            }
        }
        kinds.push(name.to_owned());
    }
    assert_eq!(
        kinds,
        ["adam", "adamw", "adam_l2", "sgd", "sgd_momentum", "sgd_nesterov", "sgd_l2", "sgd_dampening"]
    );
}

#[test]
fn sums_are_precise_and_the_same_on_any_number_of_threads() {
    let values: Vec<f32> =
        (0..100_003u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as f32 - 3e4).collect();
    let exact: f64 = values.iter().map(|&v| f64::from(v).powi(2)).sum();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| sum_of_squares(&values))
    };
    assert!((with(1) / exact - 1.0).abs() < 1e-12);
    assert_eq!(with(1).to_bits(), with(3).to_bits());
    assert_eq!(sum_of_squares(&[]), 0.0);
}

#[test]
fn a_table_of_which_few_rows_were_read_changes_as_with_all_its_zeros() {
    // Several chunks of rows, of which some have none that was read.
    let (rows, width) = (5000, 24);
    let mut gradient = Rows::new(width);
    let ids: Vec<u32> = vec![4999, 7, 0, 7, 2048, 682, 683];
    gradient.add(&ids, &crate::samples::values(ids.len() * width, 3));
    let whole = gradient.whole(rows * width);
    for weight_decay in [Decay::None, Decay::L2(0.1), Decay::Decoupled(0.1)] {
        let after = |gradient: Gradient<'_>| {
            let mut param = crate::samples::values(rows * width, 1);
            let mut m = crate::samples::values(rows * width, 2);
            let mut v = vec![0.5; rows * width];
            let step =
                AdamStep { lr: 1e-2, beta1: 0.9, beta2: 0.98, eps: 1e-9, weight_decay, scale: 0.5, step: 3 };
            adam(&mut param, gradient, &mut m, &mut v, &step);
            let mut velocity = vec![0.25; rows * width];
            let (momentum, dampening) = (0.9, 0.1);
            let step =
                SgdStep { lr: 1e-2, momentum, dampening, nesterov: true, weight_decay, scale: 0.5, step: 3 };
            sgd(&mut param, gradient, &mut velocity, &step);
            [param, m, v, velocity]
        };
        assert!(
            after(Gradient::Rows(&gradient)) == after(Gradient::Whole(&whole)),
            "{weight_decay:?}: other bits"
        );
    }
}
