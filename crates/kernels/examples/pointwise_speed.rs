//! Times what is not a layer: `cargo run --release -p gatto-kernels --example pointwise_speed`.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::hint::black_box;
use std::time::Instant;

use gatto_kernels::optimise::{AdamStep, Decay, adam, sum_of_squares};
use gatto_kernels::{cross_entropy, dropout, maths};

/// Prints nanoseconds per value of the fastest of 15 runs.
fn report(name: &str, values: usize, mut run: impl FnMut()) {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    let best = (0..15).map(time).fold(f64::INFINITY, f64::min);
    println!("{name:24} {:7.2} ms  {:6.3} ns per value", best * 1e3, best * 1e9 / values as f64);
}

fn main() {
    // Inside the pool, as a training loop should be.
    rayon::scope(|_| measure());
}

fn measure() {
    let mut small: Vec<f32> = (0..4096).map(|i| i as f32 / 2048.0 - 1.0).collect();
    report("exp, one thread", small.len(), || maths::exp_in_place(black_box(&mut small)));
    report("tanh, one thread", small.len(), || maths::tanh_in_place(black_box(&mut small)));
    report("sigmoid, one thread", small.len(), || maths::sigmoid_in_place(black_box(&mut small)));

    let (rows, classes) = (1536, 8000);
    let logits: Vec<f32> =
        (0..(rows * classes) as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 28) as f32).collect();
    let targets: Vec<u32> = (0..rows as u32).collect();
    let ones = vec![1.0; rows];
    let forward = || cross_entropy::forward(&logits, &targets, &ones, 0.1).expect("targets in range");
    report("cross-entropy forward", logits.len(), || drop(black_box(forward())));
    let sums = forward().log_sums;
    report("cross-entropy backward", logits.len(), || {
        drop(black_box(cross_entropy::backward(&logits, &targets, &ones, 0.1, &sums, &ones)));
    });

    let mut mask = vec![0.0; 1 << 22];
    report("dropout mask", mask.len(), || dropout::keep_mask(1, 0, 0.1, black_box(&mut mask)));

    let mut param = vec![0.1; 10_000_000];
    let grad = param.clone();
    let (mut m, mut v) = (grad.clone(), grad.clone());
    let step = AdamStep {
        lr: 1e-3,
        beta1: 0.9,
        beta2: 0.98,
        eps: 1e-9,
        weight_decay: Decay::None,
        scale: 1.0,
        step: 10,
    };
    report("adam", grad.len(), || adam(&mut param, &grad, &mut m, &mut v, &step));
    report("sum of squares", grad.len(), || {
        black_box(sum_of_squares(&grad));
    });
}
