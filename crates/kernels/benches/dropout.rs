//! Dropout, as a mask and on its way into a residual stream: `cargo bench -p gatto-kernels --bench dropout`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::dropout::{add, keep_mask};
use std::hint::black_box;

const RATE: f32 = 0.1;

/// A mask from a generator that is carried from value to value (SplitMix64).
fn drawn(len: usize) -> Vec<f32> {
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z >> 40) as f32 / (1 << 24) as f32
    };
    (0..len).map(|_| if draw() < RATE { 0.0 } else { 1.0 / (1.0 - RATE) }).collect()
}

fn mask(len: usize) -> Vec<f32> {
    let mut mask = vec![0.0; len];
    keep_mask(1, 0, RATE, &mut mask);
    mask
}

fn main() {
    let mut table = Beside::new("dropout");
    for (what, rows, width) in [("W1 a sublayer", 1536, 256), ("W1 inside a block", 1536, 1024)] {
        let (x, residual) = (values(rows * width, 1), values(rows * width, 2));
        // Other random numbers, so that there is nothing to compare but times.
        table.compare(
            &format!("{what}, {rows} × {width}, the mask"),
            || {
                black_box(drawn(x.len()));
                []
            },
            || {
                black_box(mask(x.len()));
                []
            },
        );
        table.compare(
            &format!("{what}, {rows} × {width}, residual + x ⊙ mask"),
            || {
                let dropped: Vec<f32> = x.iter().zip(mask(x.len())).map(|(x, m)| x * m).collect();
                [residual.iter().zip(dropped).map(|(residual, x)| residual + x).collect()]
            },
            || [add(&residual, &x, 1, 0, RATE)],
        );
    }
    table.finish();
}
