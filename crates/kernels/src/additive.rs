//! The additive score of attention, for all queries and positions at once:
//! `e[b, t, s] = Σ_a v[a] · tanh(q[b, t, a] + k[b, s, a])` (Bahdanau et al., 2015).
//!
//! Letters: `B` sentences, `T` queries of each, `S` positions of each, `A` width. Nothing of the size
//! `B·T·S·A` is stored: the backward pass computes the tangents again, which is cheaper than memory.

use crate::maths::{tanh, vectorised};
use rayon::prelude::*;

/// The sizes of the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: sentences of the batch.
    pub batch: usize,
    /// `T`: queries of a sentence.
    pub queries: usize,
    /// `S`: positions of a sentence.
    pub positions: usize,
    /// `A`: width of a query and of a key.
    pub width: usize,
}

/// The gradients of the inputs, in their shapes.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[B, T, A]`.
    pub queries: Vec<f32>,
    /// `[B, S, A]`.
    pub keys: Vec<f32>,
    /// `[A]`.
    pub vector: Vec<f32>,
}

/// Sums are kept in this many parts, so that they can be made in one register.
const LANES: usize = 16;

fn check(shape: Shape, queries: &[f32], keys: &[f32], vector: &[f32]) {
    let Shape { batch, queries: t, positions: s, width } = shape;
    assert_eq!(queries.len(), batch * t * width, "additive: the queries are not [B, T, A] for {shape:?}");
    assert_eq!(keys.len(), batch * s * width, "additive: the keys are not [B, S, A] for {shape:?}");
    assert_eq!(vector.len(), width, "additive: the vector is not [A] for {shape:?}");
}

/// The scores, `[B, T, S]`.
///
/// # Panics
/// If a slice does not have the length that `shape` asks for.
pub fn forward(shape: Shape, queries: &[f32], keys: &[f32], vector: &[f32]) -> Vec<f32> {
    check(shape, queries, keys, vector);
    let Shape { batch, queries: t, positions: s, width } = shape;
    let mut scores = vec![0.0; batch * t * s];
    if scores.is_empty() || width == 0 {
        return scores;
    }
    scores.par_chunks_mut(t * s).enumerate().for_each(|(b, scores)| {
        let queries = &queries[b * t * width..][..t * width];
        let keys = &keys[b * s * width..][..s * width];
        vectorised(
            #[inline(always)]
            || {
                for (query, scores) in queries.chunks_exact(width).zip(scores.chunks_exact_mut(s)) {
                    for (key, to) in keys.chunks_exact(width).zip(scores) {
                        *to = score(query, key, vector);
                    }
                }
            },
        );
    });
    scores
}

/// The score of one query and one key, compiled into the vectorised loop of its caller.
#[inline(always)]
pub(crate) fn score(query: &[f32], key: &[f32], vector: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (queries, query) = query.as_chunks::<LANES>();
    let (keys, key) = key.as_chunks::<LANES>();
    let (vectors, vector) = vector.as_chunks::<LANES>();
    for ((q, k), v) in queries.iter().zip(keys).zip(vectors) {
        for lane in 0..LANES {
            sums[lane] += v[lane] * tanh(q[lane] + k[lane]);
        }
    }
    let rest: f32 = query.iter().zip(key).zip(vector).map(|((q, k), v)| v * tanh(q + k)).sum();
    sums.iter().sum::<f32>() + rest
}

/// The gradients, from that of the scores, `[B, T, S]`.
///
/// # Panics
/// As [`forward`].
pub fn backward(shape: Shape, queries: &[f32], keys: &[f32], vector: &[f32], scores: &[f32]) -> Gradients {
    check(shape, queries, keys, vector);
    let Shape { batch, queries: t, positions: s, width } = shape;
    assert_eq!(scores.len(), batch * t * s, "additive: the gradient is not [B, T, S] for {shape:?}");
    let mut found = Gradients {
        queries: vec![0.0; queries.len()],
        keys: vec![0.0; keys.len()],
        vector: vec![0.0; width],
    };
    if scores.is_empty() || width == 0 {
        return found;
    }
    // A share of the vector's gradient per sentence: their sum does not depend on the threads.
    let mut of_vector = vec![0.0; batch * width]; // [B, A]
    (found.queries.par_chunks_mut(t * width))
        .zip(found.keys.par_chunks_mut(s * width))
        .zip(of_vector.par_chunks_mut(width))
        .enumerate()
        .for_each(|(b, ((d_queries, d_keys), d_vector))| {
            let queries = &queries[b * t * width..][..t * width];
            let keys = &keys[b * s * width..][..s * width];
            let scores = &scores[b * t * s..][..t * s];
            vectorised(
                #[inline(always)]
                || {
                    let rows = queries.chunks_exact(width).zip(d_queries.chunks_exact_mut(width));
                    for ((query, d_query), scores) in rows.zip(scores.chunks_exact(s)) {
                        let columns = keys.chunks_exact(width).zip(d_keys.chunks_exact_mut(width));
                        for ((key, d_key), &gradient) in columns.zip(scores) {
                            score_backward(query, key, vector, gradient, d_query, d_key, d_vector);
                        }
                    }
                },
            );
        });
    for share in of_vector.chunks_exact(width) {
        found.vector.iter_mut().zip(share).for_each(|(sum, share)| *sum += share);
    }
    found
}

/// Adds what comes of the gradient of one score to those of its query, its key and the vector.
#[inline(always)]
pub(crate) fn score_backward(
    query: &[f32],
    key: &[f32],
    vector: &[f32],
    gradient: f32,
    d_query: &mut [f32],
    d_key: &mut [f32],
    d_vector: &mut [f32],
) {
    let width = vector.len();
    let (query, key) = (&query[..width], &key[..width]);
    let (d_query, d_key, d_vector) = (&mut d_query[..width], &mut d_key[..width], &mut d_vector[..width]);
    for a in 0..width {
        let tangent = tanh(query[a] + key[a]);
        let slope = gradient * vector[a] * (1.0 - tangent * tangent);
        d_query[a] += slope;
        d_key[a] += slope;
        d_vector[a] += gradient * tangent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scores_and_gradients_are_those_of_the_formula(
            batch in 1usize..4, queries in 1usize..5, positions in 1usize..6, width in 1usize..40, seed: u32,
        ) {
            let shape = Shape { batch, queries, positions, width };
            let (q, k) = (values(batch * queries * width, seed), values(batch * positions * width, seed ^ 1));
            let (v, g) = (values(width, seed ^ 2), values(batch * queries * positions, seed ^ 3));
            let scores = forward(shape, &q, &k, &v);
            let found = backward(shape, &q, &k, &v, &g);
            let (mut d_q, mut d_k, mut d_v) = (vec![0.0f64; q.len()], vec![0.0f64; k.len()], vec![0.0f64; width]);
            for b in 0..batch {
                for t in 0..queries {
                    for s in 0..positions {
                        let at = (b * queries + t) * positions + s;
                        let mut score = 0.0;
                        for a in 0..width {
                            let (iq, ik) = ((b * queries + t) * width + a, (b * positions + s) * width + a);
                            let tangent = f64::from(q[iq] + k[ik]).tanh();
                            score += f64::from(v[a]) * tangent;
                            let slope = f64::from(g[at] * v[a]) * (1.0 - tangent * tangent);
                            d_q[iq] += slope;
                            d_k[ik] += slope;
                            d_v[a] += f64::from(g[at]) * tangent;
                        }
                        prop_assert!((f64::from(scores[at]) - score).abs() < 1e-4);
                    }
                }
            }
            for (found, expected) in [(&found.queries, &d_q), (&found.keys, &d_k), (&found.vector, &d_v)] {
                for (a, b) in found.iter().zip(expected) {
                    prop_assert!((f64::from(*a) - b).abs() < 1e-4, "{a} {b}");
                }
            }
        }
    }
}
