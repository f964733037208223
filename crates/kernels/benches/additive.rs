//! The additive score of attention: `cargo bench -p gatto-kernels --bench additive`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::additive::{Gradients, Shape, backward, forward};

/// `tanh(q + k)`, `[B, T, S, A]`.
fn tangents(shape: Shape, queries: &[f32], keys: &[f32]) -> Vec<f32> {
    let Shape { batch, queries: t, positions: s, width } = shape;
    let mut sums = Vec::with_capacity(batch * t * s * width);
    for at in 0..batch * t * s {
        let (query, key) =
            (&queries[at / s * width..][..width], &keys[(at / s / t * s + at % s) * width..][..width]);
        sums.extend(query.iter().zip(key).map(|(q, k)| q + k));
    }
    sums.iter().map(|x| x.tanh()).collect()
}

fn plain(shape: Shape, queries: &[f32], keys: &[f32], vector: &[f32]) -> Vec<f32> {
    let mut weighted = tangents(shape, queries, keys);
    for row in weighted.chunks_exact_mut(shape.width) {
        row.iter_mut().zip(vector).for_each(|(x, v)| *x *= v);
    }
    weighted.chunks_exact(shape.width).map(|row| row.iter().sum()).collect()
}

/// From the tangents that the forward pass has kept.
fn plain_backward(shape: Shape, tangents: &[f32], vector: &[f32], scores: &[f32]) -> [Vec<f32>; 3] {
    let Shape { batch, queries: t, positions: s, width } = shape;
    let rows = || tangents.chunks_exact(width).zip(scores);
    let mut of_vector = vec![0.0; width];
    rows().for_each(|(row, g)| of_vector.iter_mut().zip(row).for_each(|(sum, x)| *sum += g * x));
    let mut of_tangents = vector.repeat(scores.len());
    let of_rows = of_tangents.chunks_exact_mut(width).zip(scores);
    of_rows.for_each(|(row, g)| row.iter_mut().for_each(|x| *x *= g));
    let slopes: Vec<f32> = tangents.iter().map(|x| 1.0 - x * x).collect();
    let of_sums: Vec<f32> = of_tangents.iter().zip(slopes).map(|(g, slope)| g * slope).collect();
    let (mut of_queries, mut of_keys) = (vec![0.0; batch * t * width], vec![0.0; batch * s * width]);
    for (at, row) in of_sums.chunks_exact(width).enumerate() {
        let query = &mut of_queries[at / s * width..][..width];
        query.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        let key = &mut of_keys[(at / s / t * s + at % s) * width..][..width];
        key.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    [of_queries, of_keys, of_vector]
}

fn main() {
    let mut table = Beside::new("additive");
    for (what, queries) in [("W2 a step", 1), ("W2c all steps", 24)] {
        let shape = Shape { batch: 64, queries, positions: 24, width: 512 };
        let (q, k) = (values(64 * queries * 512, 1), values(64 * 24 * 512, 2));
        let (v, scores) = (values(512, 3), values(64 * queries * 24, 4));
        let size = format!("{what}, 64 × {queries} × 24 × 512");
        table.compare(&size, || [plain(shape, &q, &k, &v)], || [forward(shape, &q, &k, &v)]);
        let kept = tangents(shape, &q, &k);
        table.compare(
            &format!("{size}, backward"),
            || plain_backward(shape, &kept, &v, &scores),
            || {
                let Gradients { queries, keys, vector } = backward(shape, &q, &k, &v, &scores);
                [queries, keys, vector]
            },
        );
    }
    table.finish();
}
