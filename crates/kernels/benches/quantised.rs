//! Products with weights of eight bits against those of thirty-two, on one thread and on all:
//! `cargo bench -p gatto-kernels --bench quantised`, with `-- --quick` in a few seconds.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use gatto_kernels::linear::{Shape, forward_steady};
use gatto_kernels::quantised::Quantised;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    println!("rows × input → output     f32 µs    int8 µs   ratio   threads");
    for (rows, input, output) in [
        (1, 256, 256),
        (1, 256, 1024),
        (1, 512, 2048),
        (1, 512, 32000),
        (5, 512, 32000),
        (32, 256, 1024),
        (32, 512, 2048),
        (32, 512, 32000),
        (160, 512, 2048),
    ] {
        let values =
            |count: usize| (0..count).map(|i| (i * 7919 % 1009) as f32 / 504.0 - 1.0).collect::<Vec<f32>>();
        let (x, weight, bias) = (values(rows * input), values(input * output), values(output));
        let shape = Shape { rows, input, output, transposed: false };
        let quantised = Quantised::new(&weight, input, output, false);
        for threads in [1, rayon::current_num_threads()] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let floats = pool.install(|| time(|| drop(black_box(forward_steady(shape, &x, &weight, &bias)))));
            let bytes = pool.install(|| time(|| drop(black_box(quantised.forward(&x, Some(&bias))))));
            let ratio = floats / bytes;
            println!(
                "{rows:4} × {input:4} → {output:6}   {floats:9.1}  {bytes:9.1}  {ratio:6.2}   {threads}"
            );
        }
    }
}

/// Microseconds of one call: the median of some rounds.
fn time(mut work: impl FnMut()) -> f64 {
    let (count, length) = match std::env::args().any(|argument| argument == "--quick") {
        true => (3, 5_000.0),
        false => (9, 20_000.0),
    };
    work();
    let begun = Instant::now();
    work();
    let calls = (length / begun.elapsed().as_secs_f64().mul_add(1e6, 1.0)).ceil() as usize;
    let mut rounds: Vec<f64> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            (0..calls).for_each(|_| work());
            begun.elapsed().as_secs_f64() * 1e6 / calls as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}
