//! One look of every row at a sentence, with a single set of weights: that of a recurrent decoder at prediction.
//!
//! Letters: `R` rows, `B` sentences, `S` positions, `A` width of queries and keys, `C` width of states.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::column::{Mask, ROOM, Room, average, dots, own};
use super::softmax::softmax;
use crate::additive;
use crate::kept::{self, emptied};

/// Multiplications, or a twentieth as many tangents, that are worth a thread of their own.
const WORTH: usize = 1 << 17;

/// How relevant a position is.
#[derive(Clone, Copy, Debug)]
pub enum Relevance<'a> {
    /// `vᵀ tanh(q + k)`, with v `[A]`.
    Additive(&'a [f32]),
    /// `q · k` times a number.
    Product(f32),
    /// The cosine of the angle between the two, times a number; `ε` keeps that of a zero vector defined.
    Cosine(f32, f32),
    /// The queries are the scores themselves, of as many positions as they are wide.
    Given,
}

/// What rows look at.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// `[B, S, A]`; not read where scores are given.
    pub keys: &'a [f32],
    /// `[B, S, C]`.
    pub states: &'a [f32],
    /// Which positions exist, and the sentence of each row.
    pub mask: Mask<'a>,
    /// `A` and `C`.
    pub widths: [usize; 2],
}

/// Looks with the queries `q` `[R, A]`: the context goes to `context` `[R, C]`.
///
/// # Panics
/// If lengths do not fit.
pub fn look(q: &[f32], relevance: Relevance<'_>, source: &Source<'_>, context: &mut [f32]) {
    let [width, wide] = source.widths;
    let positions = source.mask.columns;
    if q.is_empty() || positions == 0 {
        return context.fill(0.0);
    }
    let rows = q.len() / width;
    assert_eq!(
        (q.len(), context.len()),
        (rows * width, rows * wide),
        "look: q is not [R, A], or the context not [R, C]"
    );
    let each = if matches!(relevance, Relevance::Additive(_)) { 20 * width } else { width } + wide;
    let parts = rayon::current_num_threads().min((rows * positions * each).div_ceil(WORTH)).min(rows);
    let block = rows.div_ceil(parts);
    let part = |index: usize, context: &mut [f32]| {
        let first = index * block;
        let q = &q[first * width..][..context.len() / wide * width];
        kept::with(&ROOM, |room| {
            crate::instructions::arch().dispatch(Rows { relevance, source, first, q, context, room });
        });
    };
    if parts == 1 {
        return part(0, context);
    }
    context.par_chunks_mut(block * wide).enumerate().for_each(|(index, context)| part(index, context));
}

/// Some rows from `first` on.
struct Rows<'a, 'b> {
    relevance: Relevance<'b>,
    source: &'b Source<'a>,
    first: usize,
    q: &'b [f32],
    context: &'b mut [f32],
    room: &'b mut Room,
}

impl WithSimd for Rows<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { relevance, source, first, q, context, room } = self;
        let Source { keys, states, mask, widths: [width, wide] } = *source;
        let positions = mask.columns;
        room.clear(positions);
        let Room { values: kept, scores, exists, .. } = room;
        let mut values: Vec<&[f32]> = emptied(std::mem::take(kept));
        for (index, (q, context)) in q.chunks_exact(width).zip(context.chunks_exact_mut(wide)).enumerate() {
            let row = first + index;
            let sentence = own(mask.rows, row);
            exists[..positions].copy_from_slice(mask.of_row(row, positions));
            let keys = || keys[sentence * positions * width..].chunks_exact(width);
            let to = &mut scores[..positions];
            match relevance {
                Relevance::Additive(vector) => {
                    to.iter_mut().zip(keys()).for_each(|(to, key)| *to = additive::score(q, key, vector));
                }
                Relevance::Product(scale) => {
                    to.iter_mut().zip(keys()).for_each(|(to, key)| [*to] = dots(simd, scale, q, [key]));
                }
                Relevance::Cosine(sharpness, epsilon) => {
                    let [of_query] = dots(simd, 1.0, q, [q]);
                    for (to, key) in to.iter_mut().zip(keys()) {
                        let [of_key] = dots(simd, 1.0, key, [key]);
                        let lengths = (of_query + epsilon).sqrt() * (of_key + epsilon).sqrt();
                        [*to] = dots(simd, sharpness / lengths, q, [key]);
                    }
                }
                Relevance::Given => to.copy_from_slice(&q[..positions]),
            }
            softmax(scores, exists, positions);
            values.clear();
            values.extend(states[sentence * positions * wide..].chunks_exact(wide).take(positions));
            average(simd, &scores[..positions], &values, 0, context);
        }
        *kept = emptied(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_context_is_the_mean_of_states_by_their_weights(
            sentences in 1usize..4, positions in 1usize..30, width in 1usize..40, wide in 1usize..70,
            of_rows in prop::collection::vec(0u32..3, 0..6), kind in 0usize..4, seed: u32,
        ) {
            let rows: Vec<u32> = of_rows.iter().map(|row| row % sentences as u32).collect();
            let width = if kind == 3 { positions + width } else { width };
            let q = values(rows.len() * width, seed);
            let (keys, states) = (values(sentences * positions * width, seed ^ 1), values(sentences * positions * wide, seed ^ 2));
            let exists: Vec<f32> =
                (0..sentences * positions).map(|n| f32::from(u8::from(n % 3 != 1 || n % positions == 0))).collect();
            let vector = values(width, seed ^ 3);
            let relevance = [
                Relevance::Additive(&vector), Relevance::Product(0.3), Relevance::Cosine(7.0, 1e-6), Relevance::Given,
            ][kind];
            let source = Source {
                keys: &keys, states: &states, mask: Mask { exists: &exists, columns: positions, rows: Some(&rows) },
                widths: [width, wide],
            };
            let mut context = vec![9.0; rows.len() * wide];
            look(&q, relevance, &source, &mut context);
            let dot = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
            for (row, &sentence) in rows.iter().enumerate() {
                let (q, sentence) = (&q[row * width..][..width], sentence as usize);
                let score = |s: usize| {
                    let key = &keys[(sentence * positions + s) * width..][..width];
                    match relevance {
                        Relevance::Additive(vector) => (0..width)
                            .map(|a| f64::from(vector[a]) * (f64::from(q[a]) + f64::from(key[a])).tanh())
                            .sum(),
                        Relevance::Product(scale) => f64::from(scale) * dot(q, key),
                        Relevance::Cosine(sharpness, epsilon) => {
                            let length = |x: &[f32]| (dot(x, x) + f64::from(epsilon)).sqrt();
                            f64::from(sharpness) * dot(q, key) / length(q) / length(key)
                        }
                        Relevance::Given => f64::from(q[s]),
                    }
                };
                let there = |s: &usize| exists[sentence * positions + s] != 0.0;
                let weights: Vec<(usize, f64)> = (0..positions).filter(there).map(|s| (s, score(s).exp())).collect();
                let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
                for at in 0..wide {
                    let value = |s: usize| f64::from(states[(sentence * positions + s) * wide + at]);
                    let expected: f64 = weights.iter().map(|&(s, weight)| weight / all * value(s)).sum();
                    let found = context[row * wide + at];
                    prop_assert!((f64::from(found) - expected).abs() < 1e-5, "{} and not {}", found, expected);
                }
                let mut alone = vec![9.0; wide];
                let own = Source { mask: Mask { rows: Some(&rows[row..=row]), ..source.mask }, ..source };
                look(q, relevance, &own, &mut alone);
                prop_assert_eq!(&alone, &context[row * wide..][..wide]);
            }
        }
    }

    #[test]
    fn threads_change_nothing() {
        let (rows, positions, width) = (40, 24, 64);
        let (q, keys) = (values(rows * width, 1), values(rows * positions * width, 2));
        let (vector, exists) = (values(width, 3), vec![1.0; rows * positions]);
        let mask = Mask { exists: &exists, columns: positions, rows: None };
        let source = Source { keys: &keys, states: &keys, mask, widths: [width, width] };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut context = vec![0.0; rows * width];
            pool.install(|| look(&q, Relevance::Additive(&vector), &source, &mut context));
            context
        };
        let one = with(1);
        assert!([2, 3].into_iter().all(|threads| with(threads) == one));
    }
}
