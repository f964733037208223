//! The softmax between the two products, on rows that are padded to whole registers.

use super::{Block, Sentence};
use crate::maths::{exp, vectorised};

/// Values that are worked on side by side; rows are a multiple of it long.
pub(super) const LANES: usize = 16;

/// Scores this far below the largest have no say: their weights would be below 1e-20. Weights that end among the
/// numbers below the normal ones would make the exponential and every product many times slower.
const LOWEST: f32 = -46.0;

/// Turns the products of a block, `[rows, stride]`, into weights, which are copied to the `[H, T, S]` of the sentence.
pub(super) fn forward(
    sentence: &Sentence<'_>,
    head: usize,
    block: Block,
    scores: &mut [f32],
    weights: &mut [f32],
) {
    let (scale, bias) = (sentence.args.scale, sentence.args.bias_of(sentence.index));
    let exists = &sentence.exists[..block.stride()];
    vectorised(
        #[inline(always)]
        || {
            for (t, row) in (block.first..).zip(scores.chunks_exact_mut(block.stride().max(1))) {
                let place = sentence.place(head, t);
                match bias {
                    Some(bias) => {
                        let bias = &bias[place..][..block.keys];
                        row.iter_mut().zip(bias).for_each(|(x, bias)| *x = scale * *x + bias);
                    }
                    None => row.iter_mut().for_each(|x| *x *= scale),
                }
                softmax(row, exists, sentence.seen(t, block));
                weights[place..][..block.keys].copy_from_slice(&row[..block.keys]);
            }
        },
    );
}

/// Turns scores into weights over the keys that exist among the first `seen`.
#[inline(always)]
pub(super) fn softmax(row: &mut [f32], exists: &[f32], seen: usize) {
    let (chunks, _) = row.as_chunks_mut::<LANES>();
    let (exists, _) = exists.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut left = seen as i32;
    for (chunk, exists) in chunks.iter_mut().zip(exists) {
        for lane in 0..LANES {
            let visible = (exists[lane] != 0.0) & ((lane as i32) < left);
            let score = if visible { chunk[lane] } else { f32::NEG_INFINITY };
            chunk[lane] = score;
            lanes[lane] = larger(lanes[lane], score);
        }
        left -= LANES as i32;
    }
    let max = largest(&lanes);
    // Where nothing is seen, −∞ − −∞ would be NaN.
    let max = if max == f32::NEG_INFINITY { 0.0 } else { max };
    let mut lanes = [0.0; LANES];
    for chunk in chunks.iter_mut() {
        for lane in 0..LANES {
            // Comparisons this way round keep NaN.
            let score = chunk[lane] - max;
            let weight = exp(if score < LOWEST { LOWEST } else { score });
            chunk[lane] = if score < LOWEST { 0.0 } else { weight };
            lanes[lane] += chunk[lane];
        }
    }
    let sum = sum(&lanes);
    let share = if sum == 0.0 { 0.0 } else { 1.0 / sum };
    for value in chunks.as_flattened_mut() {
        *value *= share;
    }
}

/// Turns the gradients of the weights of a row into those of its scores, in place.
#[inline(always)]
pub(super) fn backward(weights: &[f32], gradients: &mut [f32]) {
    let (weights, _) = weights.as_chunks::<LANES>();
    let (gradients, _) = gradients.as_chunks_mut::<LANES>();
    let mut lanes = [0.0; LANES];
    for (weights, gradients) in weights.iter().zip(gradients.iter()) {
        for lane in 0..LANES {
            lanes[lane] += weights[lane] * gradients[lane];
        }
    }
    let mean = sum(&lanes);
    for (weight, gradient) in weights.as_flattened().iter().zip(gradients.as_flattened_mut()) {
        *gradient = weight * (*gradient - mean);
    }
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// The largest lane. Not inlined, and so is [`sum`]: the halves would be carried back into the loop before.
#[inline(never)]
fn largest(lanes: &[f32; LANES]) -> f32 {
    reduce(*lanes, larger)
}

#[inline(never)]
fn sum(lanes: &[f32; LANES]) -> f32 {
    reduce(*lanes, |a, b| a + b)
}

/// The lanes in one value, by halves.
#[inline(always)]
fn reduce(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}
