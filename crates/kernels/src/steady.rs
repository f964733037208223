//! Products of which every element depends on its own row and column alone.
//!
//! A general product chooses its way by the sizes of the matrices, and with the way the order of its sums: the same row
//! comes out a little different with other rows beside it. Training does not mind. At prediction a sentence must not
//! depend on its company, so here the order of a sum is a matter of its length only. Two layouts of the right
//! factor are known: rows in one piece, as weights have them, and columns in one piece, as token vectors that serve
//! as output layer do.

use pulp::{Simd, WithSimd};

use crate::instructions::arch;
use crate::packed::{ACROSS, Tiles, in_tiles, most_rows, store, sums};
use crate::parts::{Grain, in_parts};
use crate::product::{View, ViewMut};
use std::ops::Range;

/// `to = a · b`, or `to += a · b`, on the calling thread. The rows of `a` lie in one piece.
pub(crate) fn multiply_steady(to: ViewMut<'_>, a: View<'_>, b: View<'_>, add: bool) {
    let ((rows, depth), (inner, columns)) = (a.shape(), b.shape());
    assert_eq!((to.rows, to.columns, depth), (rows, columns, inner), "product: shapes do not fit");
    if b.has_whole_rows() {
        arch().dispatch(Across { to, a, b, add });
    } else {
        arch().dispatch(Along { to, a, b: b.transposed(), add });
    }
}

/// `a · b` as a new row-major matrix, its rows or, where these are few, its columns split over the threads.
pub(crate) fn product_steady(a: View<'_>, b: View<'_>) -> Vec<f32> {
    let ((rows, depth), (_, columns)) = (a.shape(), b.shape());
    let part = |rows: Range<usize>, columns: Range<usize>, to: ViewMut<'_>| {
        let (a, b) = (a.rows(rows.start, rows.len()), b.columns(columns.start, columns.len()));
        multiply_steady(to, a, b, false);
    };
    // SAFETY: a product that does not add writes all of its place and reads nothing of it.
    #[allow(unsafe_code, reason = "what is overwritten at once is not zeroed before")]
    unsafe {
        in_parts([rows, depth, columns], Grain { align: 1, bytes: size_of::<f32>() }, part)
    }
}

/// A product with a right factor whose rows lie in one piece: registers across its columns.
struct Across<'a, 'b> {
    to: ViewMut<'b>,
    a: View<'a>,
    b: View<'a>,
    add: bool,
}

impl WithSimd for Across<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let width = ACROSS * S::F32_LANES;
        let whole = self.to.columns / width * width;
        let rows = self.to.rows;
        for from in (0..whole).step_by(width) {
            in_tiles(simd, rows, most_rows::<S>(ACROSS), &mut ColumnTiles { product: &mut self, from });
        }
        let columns = self.to.columns;
        for from in (whole..columns).step_by(S::F32_LANES) {
            let count = S::F32_LANES.min(columns - from);
            in_tiles(simd, rows, most_rows::<S>(1), &mut NarrowTiles { product: &mut self, from, count });
        }
    }
}

/// A product with the `count` columns from `from` on, no more than one register holds.
struct NarrowTiles<'p, 'a, 'b> {
    product: &'p mut Across<'a, 'b>,
    from: usize,
    count: usize,
}

impl<S: Simd> Tiles<S> for NarrowTiles<'_, '_, '_> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, row: usize) {
        let (from, count) = (self.from, self.count);
        let Across { a, b, to, add } = &mut *self.product;
        let depth = b.shape().0;
        let a: [&[f32]; R] = std::array::from_fn(|r| &a.row(row + r)[..depth]);
        let mut sums = [[simd.splat_f32s(0.0)]; R];
        for k in 0..depth {
            let b = simd.partial_load_f32s(&b.row(k)[from..from + count]);
            for (sum, a) in sums.iter_mut().zip(&a) {
                sum[0] = simd.mul_add_e_f32s(simd.splat_f32s(a[k]), b, sum[0]);
            }
        }
        store(simd, to, (row, from, count), &sums, *add);
    }
}

/// A product with the columns from `from` on that the registers of a tile hold.
struct ColumnTiles<'p, 'a, 'b> {
    product: &'p mut Across<'a, 'b>,
    from: usize,
}

impl<S: Simd> Tiles<S> for ColumnTiles<'_, '_, '_> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, row: usize) {
        let (from, width) = (self.from, ACROSS * S::F32_LANES);
        let Across { a, b, to, add } = &mut *self.product;
        let sums = sums::<S, R>(simd, a, row, b.shape().0, |k| {
            let (registers, _) = S::as_simd_f32s(&b.row(k)[from..from + width]).0.as_chunks::<ACROSS>();
            &registers[0]
        });
        store(simd, to, (row, from, width), &sums, *add);
    }
}

/// A product with a right factor whose columns, the rows of `b`, lie in one piece: registers along the sums.
struct Along<'a, 'b> {
    to: ViewMut<'b>,
    a: View<'a>,
    b: View<'a>,
    add: bool,
}

impl WithSimd for Along<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (rows, columns) = (self.to.rows, self.to.columns);
        for column in (0..columns).step_by(4) {
            for row in (0..rows).step_by(4) {
                match (rows - row, columns - column) {
                    (4.., 4..) => self.tile::<S, 4, 4>(simd, row, column),
                    (3, 4..) => self.tile::<S, 3, 4>(simd, row, column),
                    (2, 4..) => self.tile::<S, 2, 4>(simd, row, column),
                    (1, 4..) => self.tile::<S, 1, 4>(simd, row, column),
                    (_, rest) => {
                        for row in row..rows.min(row + 4) {
                            (column..column + rest)
                                .for_each(|column| self.tile::<S, 1, 1>(simd, row, column));
                        }
                    }
                }
            }
        }
    }
}

impl Along<'_, '_> {
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const C: usize>(&mut self, simd: S, row: usize, column: usize) {
        let a: [_; R] = std::array::from_fn(|r| S::as_simd_f32s(self.a.row(row + r)));
        let b: [_; C] = std::array::from_fn(|c| S::as_simd_f32s(self.b.row(column + c)));
        let mut sums = [[simd.splat_f32s(0.0); C]; R];
        for k in 0..a[0].0.len() {
            let b: [S::f32s; C] = std::array::from_fn(|c| b[c].0[k]);
            for (sums, a) in sums.iter_mut().zip(&a) {
                for c in 0..C {
                    sums[c] = simd.mul_add_e_f32s(a.0[k], b[c], sums[c]);
                }
            }
        }
        if !a[0].1.is_empty() {
            let b: [S::f32s; C] = std::array::from_fn(|c| simd.partial_load_f32s(b[c].1));
            for (sums, a) in sums.iter_mut().zip(&a) {
                let a = simd.partial_load_f32s(a.1);
                for c in 0..C {
                    sums[c] = simd.mul_add_e_f32s(a, b[c], sums[c]);
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            for (c, sum) in sums.into_iter().enumerate() {
                let to = &mut self.to.row(row + r)[column + c];
                let sum = simd.reduce_sum_f32s(sum);
                *to = if self.add { *to + sum } else { sum };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::multiply;
    use crate::samples::values;

    /// A matrix `[rows, columns]` in either layout, with gaps.
    fn layouts(data: &[f32], rows: usize, columns: usize) -> [View<'_>; 2] {
        [
            View::strided(data, rows, columns, columns + 2),
            View::strided(data, columns, rows, rows + 1).transposed(),
        ]
    }

    #[test]
    fn they_agree_with_general_products() {
        let whole: Vec<f32> = values(40_000, 3).iter().map(|x| (x * 100.0).round()).collect();
        for (rows, depth, columns) in [
            (1, 1, 1),
            (3, 5, 31),
            (6, 16, 32),
            (12, 16, 64),
            (13, 31, 33),
            (23, 40, 130),
            (7, 0, 5),
            (1, 100, 7),
        ] {
            let a = View::strided(&whole, rows, depth, depth + 3);
            for b in layouts(&whole[99..], depth, columns) {
                for add in [false, true] {
                    let (mut got, mut expected) =
                        (whole[..rows * 150].to_vec(), whole[..rows * 150].to_vec());
                    multiply_steady(ViewMut::strided(&mut got, rows, columns, 150), a, b, add);
                    multiply(ViewMut::strided(&mut expected, rows, columns, 150), a, b, add);
                    // Integers of this size are exact in f32, whatever the order of the sum.
                    assert_eq!(got, expected, "{rows} {depth} {columns} {add}");
                }
            }
        }
    }

    #[test]
    fn no_bit_depends_on_the_company_or_on_the_threads() {
        let (x, weights) = (values(70 * 700, 1), values(800 * 133, 2));
        for (depth, columns) in [(700, 100), (40, 133), (7, 48)] {
            for b in layouts(&weights, depth, columns) {
                let alone: Vec<f32> = (0..70)
                    .flat_map(|row| product_steady(View::new(&x, 70, depth).rows(row, 1), b))
                    .collect();
                for threads in [1, 2, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    for rows in [2, 5, 64, 70] {
                        let found = pool.install(|| product_steady(View::new(&x, rows, depth), b));
                        assert_eq!(
                            found,
                            alone[..rows * columns],
                            "{rows} {depth} {columns}, {threads} threads"
                        );
                    }
                }
            }
        }
    }
}
