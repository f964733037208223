//! A product in parts, one for each thread: some of its rows, or where these are few, some of its columns.

use rayon::prelude::*;
use std::ops::Range;

/// Rows of a part are at least so many, else columns are split.
const FEW: usize = 16;
/// Products of fewer multiplications than this are not split.
const LITTLE: usize = 1 << 15;

/// A row-major matrix of `rows × columns` sums of `depth` terms. `work` makes the elements of some rows and columns,
/// row after row; the first column is a multiple of `align`.
pub(crate) fn in_parts(
    [rows, depth, columns]: [usize; 3],
    align: usize,
    work: impl Fn(Range<usize>, Range<usize>, &mut [f32]) + Sync,
) -> Vec<f32> {
    let mut result = vec![0.0; rows * columns];
    if result.is_empty() {
        return result;
    }
    let threads = rayon::current_num_threads();
    if threads == 1 || rows * depth * columns < LITTLE {
        work(0..rows, 0..columns, &mut result);
        return result;
    }
    let block = rows.div_ceil(threads);
    if block >= FEW {
        result.par_chunks_mut(block * columns).enumerate().for_each(|(index, to)| {
            let first = index * block;
            work(first..first + to.len() / columns, 0..columns, to);
        });
        return result;
    }
    let block = columns.div_ceil(align).div_ceil(threads) * align;
    let parts = (0..columns).into_par_iter().step_by(block).map(|from| {
        let inside = from..columns.min(from + block);
        let mut part = vec![0.0; rows * inside.len()];
        work(0..rows, inside.clone(), &mut part);
        (inside, part)
    });
    for (inside, part) in parts.collect::<Vec<_>>() {
        for (to, row) in result.chunks_exact_mut(columns).zip(part.chunks_exact(inside.len())) {
            to[inside.clone()].copy_from_slice(row);
        }
    }
    result
}
