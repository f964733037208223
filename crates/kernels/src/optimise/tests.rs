//! Against PyTorch's optimisers, and independence of threads.

use super::*;

#[allow(clippy::excessive_precision, reason = "nine digits name an f32 exactly")]
mod golden;

const START: [f32; 5] = [0.5, -1.25, 3.0, 1e-3, -0.1];

/// Runs four steps with the gradients of `golden.py`, at half their size and a scale of 2.
fn assert_agrees(expected: &[[f32; 5]; 4], mut update: impl FnMut(u64, &mut [f32], &[f32])) {
    let mut param = START;
    for (index, expected) in expected.iter().enumerate() {
        let grad = [0.3, -2.0, 0.01, 5.0, -0.7].map(|g: f32| g * (index + 1) as f32 * 0.5 * 0.5);
        update(index as u64 + 1, &mut param, &grad);
        for (got, expected) in param.iter().zip(expected) {
            let close = (got - expected).abs() <= 2.0 * f32::EPSILON * expected.abs().max(1.0);
            assert!(close, "step {}: {param:?} {expected:?}", index + 1);
        }
    }
}

#[test]
fn adam_agrees_with_pytorch() {
    let plain = AdamStep {
        lr: 0.01,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        weight_decay: Decay::None,
        scale: 2.0,
        step: 0,
    };
    let l2 = AdamStep { beta1: 0.8, beta2: 0.98, eps: 1e-9, weight_decay: Decay::L2(0.1), ..plain };
    let decoupled = AdamStep { beta2: 0.98, weight_decay: Decay::Decoupled(0.1), ..plain };
    for (expected, settings) in [(&golden::ADAM, plain), (&golden::ADAM_L2, l2), (&golden::ADAMW, decoupled)]
    {
        let (mut m, mut v) = ([0.0; 5], [0.0; 5]);
        assert_agrees(expected, |step, param, grad| {
            adam(param, grad, &mut m, &mut v, &AdamStep { step, ..settings });
        });
    }
}

#[test]
fn sgd_agrees_with_pytorch() {
    let plain = SgdStep {
        lr: 0.1,
        momentum: 0.0,
        dampening: 0.0,
        nesterov: false,
        weight_decay: Decay::L2(0.01),
        scale: 2.0,
        step: 0,
    };
    let momentum = SgdStep { momentum: 0.9, dampening: 0.2, weight_decay: Decay::None, ..plain };
    let nesterov = SgdStep { momentum: 0.9, nesterov: true, ..plain };
    for (expected, settings) in
        [(&golden::SGD, plain), (&golden::MOMENTUM, momentum), (&golden::NESTEROV, nesterov)]
    {
        // The first step sets the velocity, whatever it holds.
        let mut velocity = if settings.momentum == 0.0 { vec![] } else { vec![9.0; 5] };
        assert_agrees(expected, |step, param, grad| {
            sgd(param, grad, &mut velocity, &SgdStep { step, ..settings })
        });
    }
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
