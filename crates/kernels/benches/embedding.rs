//! Token vectors of two batches, the sum of their gradients and its norm: `cargo bench -p gatto-kernels --bench embedding`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::embedding::{Rows, forward};
use gatto_kernels::optimise::{add, sum_of_squares};

const TOKENS: usize = 1536;

/// A gradient of the whole table for each batch, as automatic differentiation has it.
fn plain(table: &[f32], width: usize, batches: &[Vec<u32>; 2], gradient: &[f32]) -> [Vec<f32>; 2] {
    let mut vectors = Vec::new();
    let mut sum = vec![0.0; table.len()];
    for ids in batches {
        vectors.extend(ids.iter().flat_map(|&id| &table[id as usize * width..][..width]));
        let mut whole = vec![0.0; table.len()];
        for (&id, gradient) in ids.iter().zip(gradient.chunks_exact(width)) {
            let row = &mut whole[id as usize * width..][..width];
            row.iter_mut().zip(gradient).for_each(|(sum, more)| *sum += more);
        }
        add(&mut sum, &whole);
    }
    [vectors, vec![sum_of_squares(&sum) as f32]]
}

fn ours(table: &[f32], width: usize, batches: &[Vec<u32>; 2], gradient: &[f32]) -> [Vec<f32>; 2] {
    let mut vectors = Vec::new();
    let mut sum = Rows::new(width);
    for ids in batches {
        vectors.extend(forward(table, width, ids));
        sum.add(ids, gradient);
    }
    [vectors, vec![sum_of_squares(sum.values()) as f32]]
}

fn main() {
    let mut compared = Beside::new("embedding");
    for (work, vocabulary, width) in [("W2", 8000, 256), ("W3b's vocabulary", 32_000, 512)] {
        let table = values(vocabulary * width, 1);
        let gradient = values(TOKENS * width, 2);
        let drawn = |seed| {
            values(TOKENS, seed).iter().map(|x| ((x + 1.0) / 2.0 * vocabulary as f32) as u32).collect()
        };
        let batches = [drawn(3), drawn(4)];
        compared.compare(
            &format!("{work}, {TOKENS} tokens of {vocabulary} × {width}"),
            || plain(&table, width, &batches, &gradient),
            || ours(&table, width, &batches, &gradient),
        );
    }
    compared.finish();
}
