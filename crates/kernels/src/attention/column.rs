//! Attention of one query in each row, over keys and values that lie where they were made.
//!
//! While a sequence is written, every step leaves a column of keys and values. Here they are read from as many pieces
//! as there are, each with places of its own: which of them a row goes on from is all that changes when rows are chosen,
//! and nothing is ever copied. What a row sees depends on nothing but the row.
//!
//! Letters: `R` rows, `H` heads, `D` width of a head, `S` keys of a row.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::softmax::{LANES, softmax};
use crate::kept::{self, Kept, emptied};
use std::cell::Cell;

/// Multiplications that are worth a thread of their own.
const WORTH: usize = 1 << 17;
/// Keys that are compared side by side.
const FOUR: usize = 4;

/// Some columns of keys and values.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// `[…, H·D]`.
    pub keys: &'a [f32],
    /// `[…, H·D]`.
    pub values: &'a [f32],
    /// How many columns.
    pub columns: usize,
    /// Which of the keys and values are those of a row.
    pub places: Places<'a>,
}

/// Where the columns of each of the `R` rows lie in a piece.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    /// One behind the other, `[…, columns]`: those of row r are the r-th of them, or those that stand here for it.
    Together(Option<&'a [u32]>),
    /// Each by itself: `[columns, R]`.
    Apart(&'a [u32]),
}

/// Which keys exist.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    /// `[…, columns]`, 0 where a key does not exist. There are `S` columns, or more.
    pub exists: &'a [f32],
    /// How many columns.
    pub columns: usize,
    /// Of each of the `R` rows, which row of the mask is its own; all in order if not given.
    pub rows: Option<&'a [u32]>,
}

/// What a column of queries looks at.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// `H`.
    pub heads: usize,
    /// `D`.
    pub width: usize,
    /// What the products are multiplied by.
    pub scale: f32,
    /// The keys and values, in order.
    pub pieces: &'a [Piece<'a>],
    /// Which of them exist; all if not given.
    pub mask: Option<Mask<'a>>,
    /// Added to the scores: `[H, S]` for all rows, or `[R, H, S]`.
    pub bias: Option<&'a [f32]>,
}

impl Mask<'_> {
    /// Where the first `count` keys of a row exist.
    pub(super) fn of_row(&self, row: usize, count: usize) -> &[f32] {
        &self.exists[own(self.rows, row) * self.columns..][..count]
    }
}

/// Which row is that of `row`.
pub(super) fn own(rows: Option<&[u32]>, row: usize) -> usize {
    rows.map_or(row, |rows| rows[row] as usize)
}

impl<'a> Column<'a> {
    /// `S`.
    fn keys(&self) -> usize {
        self.pieces.iter().map(|piece| piece.columns).sum()
    }

    /// The keys and the values of a row, one behind the other, where there are so many rows.
    fn of_row(&self, row: usize, rows: usize, keys: &mut Vec<&'a [f32]>, values: &mut Vec<&'a [f32]>) {
        let width = self.heads * self.width;
        keys.clear();
        values.clear();
        for piece in self.pieces {
            match piece.places {
                Places::Together(of_rows) => {
                    let first = own(of_rows, row) * piece.columns * width;
                    let place = first..first + piece.columns * width;
                    keys.extend(piece.keys[place.clone()].chunks_exact(width));
                    values.extend(piece.values[place].chunks_exact(width));
                }
                Places::Apart(places) => {
                    for column in places.chunks_exact(rows).take(piece.columns) {
                        let place = column[row] as usize * width..(column[row] as usize + 1) * width;
                        keys.push(&piece.keys[place.clone()]);
                        values.push(&piece.values[place]);
                    }
                }
            }
        }
    }
}

/// What a thread looks with.
#[derive(Default)]
pub(super) struct Room {
    keys: Vec<&'static [f32]>,
    pub(super) values: Vec<&'static [f32]>,
    pub(super) scores: Vec<f32>,
    pub(super) exists: Vec<f32>,
}

thread_local! {
    pub(super) static ROOM: Cell<Room> = Cell::default();
}

impl Room {
    /// Makes place for the scores of so many keys, and for which of them exist: zeros.
    pub(super) fn clear(&mut self, keys: usize) {
        for list in [&mut self.scores, &mut self.exists] {
            list.clear();
            list.resize(keys.next_multiple_of(LANES), 0.0);
        }
    }
}

impl Kept for Room {
    fn bytes(&self) -> usize {
        let lists = self.keys.capacity() + self.values.capacity();
        lists * size_of::<&[f32]>() + (self.scores.capacity() + self.exists.capacity()) * size_of::<f32>()
    }
}

/// Looks with the queries `q` `[R, H·D]`; the context goes to `context` `[R, H·D]`, the weights to `weights` `[R, H, S]`.
///
/// # Panics
/// If lengths do not fit.
pub fn forward_column(q: &[f32], column: &Column<'_>, context: &mut [f32], weights: &mut [f32]) {
    let (row, keys) = (column.heads * column.width, column.keys());
    if q.is_empty() || keys == 0 {
        return context.fill(0.0);
    }
    let rows = q.len() / row;
    assert_eq!((q.len(), context.len()), (rows * row, rows * row), "attention: q is not [R, H·D]");
    assert_eq!(weights.len(), rows * column.heads * keys, "attention: the weights are not [R, H, S]");
    let parts = rayon::current_num_threads().min((rows * row * keys * 2).div_ceil(WORTH)).min(rows);
    let block = rows.div_ceil(parts);
    let part = |index: usize, context: &mut [f32], weights: &mut [f32]| {
        let first = index * block;
        let q = &q[first * row..][..context.len()];
        kept::with(&ROOM, |room| {
            crate::instructions::arch().dispatch(Rows {
                column,
                first,
                rows,
                q,
                context,
                weights,
                keys,
                room,
            });
        });
    };
    if parts == 1 {
        return part(0, context, weights);
    }
    (context.par_chunks_mut(block * row))
        .zip(weights.par_chunks_mut(block * column.heads * keys))
        .enumerate()
        .for_each(|(index, (context, weights))| part(index, context, weights));
}

/// Some rows from `first` on.
struct Rows<'a, 'b> {
    column: &'b Column<'a>,
    first: usize,
    /// How many there are in all.
    rows: usize,
    q: &'b [f32],
    context: &'b mut [f32],
    weights: &'b mut [f32],
    keys: usize,
    room: &'b mut Room,
}

impl WithSimd for Rows<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { column, first, rows, q, context, weights, keys, room } = self;
        let Column { heads, width, scale, mask, bias, .. } = *column;
        room.clear(keys);
        let Room { keys: kept_keys, values: kept_values, scores, exists } = room;
        let mut own_keys = emptied(std::mem::take(kept_keys));
        let mut own_values = emptied(std::mem::take(kept_values));
        exists[..keys].fill(1.0);
        let each = q.chunks_exact(heads * width).zip(context.chunks_exact_mut(heads * width));
        for (index, ((q, context), weights)) in each.zip(weights.chunks_exact_mut(heads * keys)).enumerate() {
            let row = first + index;
            column.of_row(row, rows, &mut own_keys, &mut own_values);
            if let Some(mask) = mask {
                exists[..keys].copy_from_slice(mask.of_row(row, keys));
            }
            let of_heads = q.chunks_exact(width).zip(context.chunks_exact_mut(width));
            for (head, ((q, context), weights)) in of_heads.zip(weights.chunks_exact_mut(keys)).enumerate() {
                let own = head * width..(head + 1) * width;
                let (fours, rest) = own_keys.as_chunks::<FOUR>();
                let (four_scores, rest_scores) = scores[..keys].as_chunks_mut::<FOUR>();
                for (scores, [a, b, c, d]) in four_scores.iter_mut().zip(fours) {
                    let keys = [&a[own.clone()], &b[own.clone()], &c[own.clone()], &d[own.clone()]];
                    *scores = dots(simd, scale, q, keys);
                }
                for (score, key) in rest_scores.iter_mut().zip(rest) {
                    [*score] = dots(simd, scale, q, [&key[own.clone()]]);
                }
                if let Some(bias) = bias {
                    let shared = bias.len() == heads * keys;
                    let from = if shared { head } else { row * heads + head } * keys;
                    for (score, bias) in scores.iter_mut().zip(&bias[from..][..keys]) {
                        *score += bias;
                    }
                }
                softmax(scores, exists, keys);
                weights.copy_from_slice(&scores[..keys]);
                average(simd, weights, &own_values, head * width, context);
            }
        }
        (*kept_keys, *kept_values) = (emptied(own_keys), emptied(own_values));
    }
}

/// The products of a vector with some others, each times `scale`, side by side; the order of each is a matter of its length.
#[inline(always)]
pub(super) fn dots<S: Simd, const N: usize>(simd: S, scale: f32, a: &[f32], others: [&[f32]; N]) -> [f32; N] {
    let (whole, rest) = S::as_simd_f32s(a);
    let others: [_; N] = std::array::from_fn(|n| S::as_simd_f32s(&others[n][..a.len()]));
    let mut sums = [simd.splat_f32s(0.0); N];
    for (at, &a) in whole.iter().enumerate() {
        for n in 0..N {
            sums[n] = simd.mul_add_e_f32s(a, others[n].0[at], sums[n]);
        }
    }
    if !rest.is_empty() {
        let rest = simd.partial_load_f32s(rest);
        for n in 0..N {
            sums[n] = simd.mul_add_e_f32s(rest, simd.partial_load_f32s(others[n].1), sums[n]);
        }
    }
    // A loop: what `map` calls would not always be compiled for these instructions.
    let mut found = [0.0; N];
    for n in 0..N {
        found[n] = scale * simd.reduce_sum_f32s(sums[n]);
    }
    found
}

/// The sum of the values, each from `from` on and by its weight.
#[inline(always)]
pub(super) fn average<S: Simd>(simd: S, weights: &[f32], values: &[&[f32]], from: usize, to: &mut [f32]) {
    // As many registers side by side as there is work for: a sum waits for its last term, but not for other sums.
    let done = averaged::<S, 8>(simd, weights, values, from, to);
    let done = done + averaged::<S, 4>(simd, weights, values, from + done, &mut to[done..]);
    let to = &mut to[done..];
    for start in (0..to.len()).step_by(S::F32_LANES) {
        let count = S::F32_LANES.min(to.len() - start);
        let mut sum = simd.splat_f32s(0.0);
        for (&weight, value) in weights.iter().zip(values) {
            let value = simd.partial_load_f32s(&value[from + done + start..][..count]);
            sum = simd.mul_add_e_f32s(simd.splat_f32s(weight), value, sum);
        }
        simd.partial_store_f32s(&mut to[start..][..count], sum);
    }
}

/// [`average`] of as many values as fill `N` registers, once or more; tells how many these are.
#[inline(always)]
fn averaged<S: Simd, const N: usize>(
    simd: S,
    weights: &[f32],
    values: &[&[f32]],
    from: usize,
    to: &mut [f32],
) -> usize {
    let block = N * S::F32_LANES;
    let whole = to.len() / block * block;
    for start in (0..whole).step_by(block) {
        let mut sums = [simd.splat_f32s(0.0); N];
        for (&weight, value) in weights.iter().zip(values) {
            let weight = simd.splat_f32s(weight);
            let (value, _) = S::as_simd_f32s(&value[from + start..][..block]);
            for n in 0..N {
                sums[n] = simd.mul_add_e_f32s(weight, value[n], sums[n]);
            }
        }
        let (to, _) = S::as_mut_simd_f32s(&mut to[start..][..block]);
        to.copy_from_slice(&sums);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::super::{Args, Bias, Shape, forward_steady};
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_attention_of_keys_in_one_piece(
            rows in 1usize..6, heads in 1usize..4, width in prop_oneof![1usize..9, 60usize..70, 96usize..140],
            lengths in prop::collection::vec(1usize..20, 1..4), biased: bool, shared: bool, masked: bool, seed: u32,
        ) {
            let (row, keys) = (heads * width, lengths.iter().sum::<usize>());
            let shape = Shape { batch: rows, heads, queries: 1, keys, width };
            let q = values(rows * row, seed);
            // Pieces of more rows than there are, of which some are taken.
            let made: Vec<[Vec<f32>; 2]> = (1u32..)
                .zip(&lengths)
                .map(|(n, &len)| [values(7 * len * row, seed ^ n), values(7 * len * row, seed ^ (n << 8))])
                .collect();
            let chosen: Vec<Vec<u32>> =
                (0..lengths.len()).map(|n| (0..rows).map(|r| ((3 * r + 5 * n) % 7) as u32).collect()).collect();
            let of = |part: usize| -> Vec<f32> {
                let mut all = Vec::new();
                for r in 0..rows {
                    for ((made, rows), &len) in made.iter().zip(&chosen).zip(&lengths) {
                        all.extend(&made[part][rows[r] as usize * len * row..][..len * row]);
                    }
                }
                all
            };
            let (k, v) = (of(0), of(1));
            let mask: Vec<f32> = (0..rows * keys).map(|n| f32::from(u8::from(n % 3 != 1 || n % keys == 0))).collect();
            let bias = values(if shared { heads * keys } else { rows * heads * keys }, seed ^ 77);
            let args = Args {
                shape, q: &q, k: &k, v: &v, scale: 0.7, mask: masked.then_some(&mask[..]), causal: Some(keys - 1),
                bias: biased.then_some(if shared { Bias::Shared(&bias) } else { Bias::Own(&bias) }), dropout: None,
            };
            let expected = forward_steady(&args);
            let pieces: Vec<Piece<'_>> = made
                .iter()
                .zip(&chosen)
                .zip(&lengths)
                .map(|((made, rows), &columns)| {
                    Piece { keys: &made[0], values: &made[1], columns, places: Places::Together(Some(rows)) }
                })
                .collect();
            let column = Column {
                heads, width, scale: 0.7, pieces: &pieces,
                mask: masked.then_some(Mask { exists: &mask, columns: keys, rows: None }),
                bias: biased.then_some(&bias[..]),
            };
            let (mut context, mut weights) = (vec![9.0; rows * row], vec![9.0; rows * heads * keys]);
            forward_column(&q, &column, &mut context, &mut weights);
            for (found, expected) in context.iter().zip(&expected.context) {
                prop_assert!((found - expected).abs() < 1e-5, "{found} and not {expected}");
            }
            for (found, expected) in weights.iter().zip(&expected.weights) {
                prop_assert!((found - expected).abs() < 1e-5, "{found} and not {expected}");
            }
            // Columns that lie apart are those that lie together.
            let apart: Vec<Vec<u32>> = chosen
                .iter()
                .zip(&lengths)
                .map(|(rows, &len)| {
                    (0..len).flat_map(|at| rows.iter().map(move |row| row * len as u32 + at as u32)).collect()
                })
                .collect();
            let spread: Vec<Piece<'_>> = pieces
                .iter()
                .zip(&apart)
                .map(|(piece, places)| Piece { places: Places::Apart(places), ..*piece })
                .collect();
            let (mut again, mut looked) = (vec![9.0; rows * row], vec![9.0; rows * heads * keys]);
            forward_column(&q, &Column { pieces: &spread, ..column }, &mut again, &mut looked);
            prop_assert_eq!((&again, &looked), (&context, &weights));
            // One row alone is what it is beside others.
            let own = [rows as u32 - 1];
            let pieces: Vec<Piece<'_>> = pieces
                .iter()
                .zip(&chosen)
                .map(|(piece, rows)| Piece { places: Places::Together(Some(&rows[rows.len() - 1..])), ..*piece })
                .collect();
            let last = Column {
                pieces: &pieces, mask: column.mask.map(|mask| Mask { rows: Some(&own), ..mask }),
                bias: biased.then_some(&bias[bias.len() - heads * keys..]), ..column
            };
            let (mut alone, mut looked) = (vec![0.0; row], vec![0.0; heads * keys]);
            forward_column(&q[(rows - 1) * row..], &last, &mut alone, &mut looked);
            prop_assert_eq!(&alone, &context[(rows - 1) * row..]);
            prop_assert_eq!(&looked, &weights[(rows - 1) * heads * keys..]);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let (rows, keys, heads, width) = (64, 20, 4, 64);
        let row = heads * width;
        let (q, k, v) = (values(rows * row, 1), values(rows * keys * row, 2), values(rows * keys * row, 3));
        let pieces = [Piece { keys: &k, values: &v, columns: keys, places: Places::Together(None) }];
        let column = Column { heads, width, scale: 1.0, pieces: &pieces, mask: None, bias: None };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let (mut context, mut weights) = (vec![0.0; rows * row], vec![0.0; rows * heads * keys]);
            pool.install(|| forward_column(&q, &column, &mut context, &mut weights));
            (context, weights)
        };
        let one = with(1);
        assert!([2, 3].into_iter().all(|threads| with(threads) == one));
    }
}
