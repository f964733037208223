//! Times forward and backward of one layer: `cargo run --release -p gatto-kernels --example recurrent_speed`.
//!
//! Arguments, all optional: cell (rnn, lstm, gru), batch, steps, input width, state width.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::time::Instant;

use gatto_kernels::recurrent::{Args, Cell, Shape, backward, forward};

/// Milliseconds of the fastest and of the median of 15 runs.
fn time(mut run: impl FnMut()) -> (f64, f64) {
    run();
    let mut times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

fn noise(len: usize, scale: f32) -> Vec<f32> {
    (0..len as u32)
        .map(|i| ((i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0) * scale)
        .collect()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let cell = match words.first().map(String::as_str) {
        Some("rnn") => Cell::Rnn,
        Some("gru") => Cell::Gru,
        _ => Cell::Lstm,
    };
    let number =
        |index: usize, default| words.get(index).and_then(|word| word.parse().ok()).unwrap_or(default);
    let shape =
        Shape { batch: number(1, 64), steps: number(2, 24), input: number(3, 512), width: number(4, 512) };
    // Inside the pool, as a training loop should be.
    rayon::scope(|_| measure(cell, shape));
}

fn measure(cell: Cell, shape: Shape) {
    let Shape { batch, steps, input, width } = shape;
    let columns = cell.gates() * width;
    let x = noise(batch * steps * input, 1.0);
    let mask = vec![1.0; batch * steps];
    let (w_x, w_h) = (noise(input * columns, 0.04), noise(width * columns, 0.04));
    let bias = noise(cell.bias_blocks() * width, 0.1);
    let h0 = vec![0.0; batch * width];
    let c0 = vec![0.0; if cell == Cell::Lstm { batch * width } else { 0 }];
    let args = Args {
        cell,
        shape,
        reverse: false,
        x: &x,
        mask: &mask,
        w_x: &w_x,
        w_h: &w_h,
        bias: &bias,
        h0: &h0,
        c0: &c0,
        look: None,
    };
    let grad_out = noise(args.out_len(), 1.0);
    let (_, tape) = forward(&args);

    let flops = 2.0 * (batch * steps * columns * (input + width)) as f64;
    let report = |name: &str, flops: f64, (best, median): (f64, f64)| {
        println!("{name:18} best {best:7.2} ms  median {median:7.2} ms  {:6.1} GFLOP/s", flops / best / 1e6);
    };
    println!("{cell:?} {shape:?}, {} threads", rayon::current_num_threads());
    report("forward", flops, time(|| drop(std::hint::black_box(forward(&args)))));
    report("backward", 2.0 * flops, time(|| drop(std::hint::black_box(backward(&args, &tape, &grad_out)))));
    let both = time(|| {
        let (out, tape) = forward(&args);
        std::hint::black_box((out, backward(&args, &tape, &grad_out)));
    });
    report("forward + backward", 3.0 * flops, both);
}
