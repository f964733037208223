//! How fast weights that are ready are multiplied, in billions of operations a second:
//! `cargo run --release -p gatto-kernels --example prepared_speed [THREADS]`.
//!
//! Between two products with the same weights stand those of a whole decoder, as between two of its steps.

#![allow(clippy::print_stdout, reason = "what is measured goes to standard output")]

use gatto_kernels::Ending;
use gatto_kernels::prepared::{Map, Prepared, forward_all};
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| {
        for (name, prepare) in [
            ("floats", Prepared::floats as fn(&[f32], usize, usize, bool) -> Prepared),
            ("bytes", Prepared::bytes),
        ] {
            for (input, output) in [(256, 256), (256, 1024), (1024, 256), (256, 8000)] {
                let values: Vec<f32> =
                    (0..input * output).map(|i| ((i * 7919) % 1000) as f32 - 500.0).collect();
                let count = (16_000_000 / (input * output * 4)).max(1);
                let weights: Vec<Prepared> =
                    (0..count).map(|_| prepare(&values, input, output, false)).collect();
                for rows in [1, 5, 8, 16, 32, 160] {
                    let x: Vec<f32> =
                        (0..rows * input).map(|i| ((i * 104_729) % 1000) as f32 - 500.0).collect();
                    let (bias, mut y) = (vec![1.0; output], vec![0.0; rows * output]);
                    let mut best = f64::INFINITY;
                    for _ in 0..if rows > 100 { 4 } else { 12 } {
                        let start = Instant::now();
                        for weight in &weights {
                            let ending = Ending::bias(Some(&bias));
                            forward_all(black_box(&x), [Map { weight, ending, to: &mut y }]);
                            black_box(&y);
                        }
                        best = best.min(start.elapsed().as_secs_f64());
                    }
                    let operations = 2.0 * (rows * input * output * count) as f64;
                    println!("{name} {rows} × {input} × {output}: {:.1}", operations / best / 1e9);
                }
            }
        }
    });
    Ok(())
}
