//! Positions as rotations of queries and keys: `cargo bench -p gatto-kernels --bench rotary`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::rotary::{Shape, forward};

/// `x ⊙ cos + turned(x) ⊙ sin`, with tables as wide as a head.
fn plain(shape: Shape, x: &[f32]) -> Vec<f32> {
    let Shape { steps, heads, width, first, .. } = shape;
    let half = width / 2;
    let angle =
        |t: usize, i: usize| (first + t) as f64 * 10_000f64.powf(-2.0 * (i % half) as f64 / width as f64);
    let table = |f: fn(f64) -> f64| -> Vec<f32> {
        (0..steps * width).map(|at| f(angle(at / width, at % width)) as f32).collect()
    };
    // Every head of a row is multiplied by the row of a table, `[T, D]`.
    let times = |x: &[f32], table: &[f32]| {
        let mut y = x.to_vec();
        for (row, values) in y.chunks_exact_mut(heads * width).enumerate() {
            let factors = &table[row % steps * width..][..width];
            for head in values.chunks_exact_mut(width) {
                head.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
            }
        }
        y
    };
    let mut turned = x.to_vec();
    for (to, from) in turned.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        to[..half].iter_mut().zip(&from[half..]).for_each(|(to, from)| *to = -from);
        to[half..].copy_from_slice(&from[..half]);
    }
    let (straight, across) = (times(x, &table(f64::cos)), times(&turned, &table(f64::sin)));
    straight.iter().zip(across).map(|(a, b)| a + b).collect()
}

fn main() {
    let mut table = Beside::new("rotary");
    for (what, batch, steps, heads, first) in
        [("W1 a batch", 64, 24, 4, 0), ("W3b a step", 160, 1, 8, 20), ("W3b the source", 32, 24, 8, 0)]
    {
        let shape = Shape { batch, steps, heads, width: 64, first };
        let x = values(batch * steps * heads * 64, 1);
        let size = format!("{what}, {batch} × {steps} × {heads} × 64");
        table.compare(&size, || [plain(shape, &x)], || [forward(shape, &x)]);
    }
    table.finish();
}
