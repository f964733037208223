//! exp, tanh and sigmoid beside those of the standard library: `cargo bench -p gatto-kernels --bench maths`. All are work
//! of the calling thread, however many there are.

mod beside;

use beside::{Beside, values};
use gatto_kernels::maths;

/// On one value, and on all of a slice.
type Function = (&'static str, fn(f32) -> f32, fn(&mut [f32]));

const FUNCTIONS: [Function; 3] = [
    ("exp", f32::exp, maths::exp_in_place),
    ("tanh", f32::tanh, maths::tanh_in_place),
    ("sigmoid", |x| 1.0 / (1.0 + (-x).exp()), maths::sigmoid_in_place),
];

fn main() {
    let mut table = Beside::new("maths");
    // A row of scores; the gates of one step of W2's decoder.
    for count in [8000, 64 * 2048] {
        let x: Vec<f32> = values(count, 1).iter().map(|x| 4.0 * x).collect();
        for (name, single, slice) in FUNCTIONS {
            table.compare(
                &format!("{name} of {count} values"),
                || [x.iter().map(|&x| single(x)).collect()],
                || {
                    let mut y = x.clone();
                    slice(&mut y);
                    [y]
                },
            );
        }
    }
    table.finish();
}
