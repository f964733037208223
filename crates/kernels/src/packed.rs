//! Products with a matrix that many steps share: packed once, multiplied often.
//!
//! The matrix `[K, N]` is cut into panels of a few registers' width, each stored row after row, so that the
//! inner loop reads it from front to back whatever its strides were. A tile of the result, some rows of the
//! left factor `[M, K]` times one panel, stays in registers over the whole sum.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

use crate::ending::Ending;
use crate::instructions::arch;
use crate::prepared::Prepared;
use crate::product::{View, ViewMut, multiply, zeros};
use crate::steady::multiply_steady;

/// Registers across a panel. With two a panel of 256 terms stays in the first cache while one tile comes after the other; with three
/// those of convolutions did not stay registers.
pub(crate) const ACROSS: usize = 2;
/// Panels that a single row is multiplied with at the same time.
const BESIDE: usize = 2;
/// Lanes of the widest registers.
const LANES: usize = 16;
/// Packing pays from this many products.
const USES: usize = 4;

/// The right factor of one product per step.
pub(crate) enum Weights<'a> {
    /// As it stands.
    Plain(View<'a>),
    /// As it stands, for products that do not depend on the number of rows.
    Steady(View<'a>),
    /// In panels.
    Packed(Panels),
    /// Made ready before.
    Prepared(&'a Prepared),
}

impl<'a> Weights<'a> {
    /// Prepares `matrix` for `uses` products.
    pub(crate) fn new(matrix: View<'a>, uses: usize) -> Self {
        // Without vectors the tiles below have nothing to offer.
        let lanes = lanes();
        if uses < USES || !(4..=LANES).contains(&lanes) {
            Self::Plain(matrix)
        } else {
            Self::Packed(Panels::new(matrix, ACROSS * lanes))
        }
    }

    /// The same for products whose every row is what it would be alone, which packed ones are.
    pub(crate) fn steady(matrix: View<'a>, uses: usize) -> Self {
        match Self::new(matrix, uses) {
            Self::Plain(matrix) => Self::Steady(matrix),
            packed => packed,
        }
    }

    /// `to = a · self`, or `to += a · self`, on the calling thread.
    pub(crate) fn multiply(&self, to: ViewMut<'_>, a: View<'_>, add: bool) {
        match self {
            Self::Plain(matrix) => multiply(to, a, *matrix, add),
            Self::Steady(matrix) => multiply_steady(to, a, *matrix, add),
            Self::Packed(panels) => panels.multiply(to, a, add),
            Self::Prepared(weight) => weight.multiply(to, a, add),
        }
    }
}

/// The number of `f32` in a register.
pub(crate) fn lanes() -> usize {
    arch().dispatch(Lanes)
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

/// A matrix in panels of [`ACROSS`] registers each.
#[derive(Clone, Debug)]
pub(crate) struct Panels {
    /// `[N / width, K, width]` from `start` on, zeros beyond the last column.
    data: Vec<f32>,
    /// Where a cache line begins, so that no register is loaded from two.
    start: usize,
    /// `K`.
    depth: usize,
    /// `N`.
    columns: usize,
    /// Columns of a panel.
    width: usize,
}

impl Panels {
    pub(crate) fn new(matrix: View<'_>, width: usize) -> Self {
        /// Rows that are copied at a time, so that what they touch stays in the first cache.
        const BLOCK: usize = 64;
        let (depth, columns) = matrix.shape();
        Self::filled(depth, columns, width, |from, count, panel| {
            let matrix = matrix.columns(from, count);
            for (block, rows) in panel.chunks_mut(BLOCK * width).enumerate() {
                matrix.copy_rows(block * BLOCK, rows, width);
            }
        })
    }

    /// Some columns of it, in this order; one may be taken more than once.
    pub(crate) fn gathered(&self, ids: &[u32]) -> Self {
        Self::filled(self.depth, ids.len(), self.width, |from, count, panel| {
            // One column after the other: the panels that they come from are read from front to back.
            for (place, &id) in ids[from..from + count].iter().enumerate() {
                let (column, width) = (id as usize, self.width);
                assert!(column < self.columns, "product: there is no column {column} of {}", self.columns);
                let lane = column % width;
                let values = self.panel(column - lane)[lane..].iter().step_by(width);
                panel[place..].iter_mut().step_by(width).zip(values).for_each(|(to, value)| *to = *value);
            }
        })
    }

    /// Panels of `columns` in all, each as `fill` leaves it: it is told the first of its columns and how many they are.
    fn filled(
        depth: usize,
        columns: usize,
        width: usize,
        fill: impl Fn(usize, usize, &mut [f32]) + Sync,
    ) -> Self {
        let len = columns.div_ceil(width) * depth * width;
        let mut data = zeros(len + LANES);
        let start = data.as_ptr().align_offset(64).min(LANES);
        data[start..][..len].par_chunks_mut((depth * width).max(1)).enumerate().for_each(|(index, panel)| {
            let from = index * width;
            fill(from, width.min(columns - from), panel);
        });
        Self { data, start, depth, columns, width }
    }

    /// Rows and columns of the matrix.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.depth, self.columns)
    }

    /// Columns of a panel.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The panel that begins with column `from`, `[K, width]`.
    #[inline(always)]
    pub(crate) fn panel(&self, from: usize) -> &[f32] {
        &self.data[self.start + from * self.depth..][..self.depth * self.width]
    }

    pub(crate) fn multiply(&self, to: ViewMut<'_>, a: View<'_>, add: bool) {
        self.multiply_columns(0..self.columns, to, a, Ending { add, ..Ending::default() });
    }

    /// Some columns of the product, the first of which begins a panel.
    pub(crate) fn multiply_columns(
        &self,
        columns: Range<usize>,
        to: ViewMut<'_>,
        a: View<'_>,
        ending: Ending<'_>,
    ) {
        let (rows, depth) = a.shape();
        assert_eq!(
            (to.rows, to.columns, depth, columns.start % self.width),
            (rows, columns.len(), self.depth, 0),
            "product: shapes do not fit"
        );
        arch().dispatch(Product { panels: self, columns, to, a, ending });
    }
}

/// One product with a packed matrix.
struct Product<'a, 'b> {
    panels: &'a Panels,
    columns: Range<usize>,
    to: ViewMut<'b>,
    a: View<'a>,
    ending: Ending<'a>,
}

impl WithSimd for Product<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let width = self.panels.width;
        assert_eq!(width, ACROSS * S::F32_LANES, "product: the panels are of other registers");
        let done = if self.to.rows == 1 { self.side_by_side(simd) } else { 0 };
        for from in (done..self.to.columns).step_by(width) {
            let panel = self.panel::<S>(from);
            let count = width.min(self.to.columns - from);
            let rows = self.to.rows;
            let tiles = &mut PanelTiles { product: &mut self, panel, from, count, asked: 0 };
            in_tiles(simd, rows, most_rows::<S>(ACROSS), tiles);
        }
    }
}

impl<'a> Product<'a, '_> {
    /// The panel of the columns from `from` on.
    #[inline(always)]
    fn panel<S: Simd>(&self, from: usize) -> &'a [[S::f32s; ACROSS]] {
        S::as_simd_f32s(self.panels.panel(self.columns.start + from)).0.as_chunks::<ACROSS>().0
    }

    /// A single row with [`BESIDE`] panels at a time, as far as there are so many; tells how many columns these are. A sum waits
    /// for its last term but not for other sums, and with one row those of a panel are too few to keep a machine busy. Each is one
    /// chain in the order of the terms, as those of [`sums`] are.
    #[inline(always)]
    fn side_by_side<S: Simd>(&mut self, simd: S) -> usize {
        let (width, depth) = (self.panels.width, self.panels.depth);
        let whole = self.to.columns / (BESIDE * width) * BESIDE * width;
        for from in (0..whole).step_by(BESIDE * width) {
            let mut panels = [&[][..]; BESIDE];
            for (index, panel) in panels.iter_mut().enumerate() {
                *panel = self.panel::<S>(from + index * width);
            }
            let row = &self.a.row(0)[..depth];
            let mut sums = [[simd.splat_f32s(0.0); ACROSS]; BESIDE];
            for (k, &value) in row.iter().enumerate() {
                let value = simd.splat_f32s(value);
                for p in 0..BESIDE {
                    let b = &panels[p][k];
                    for c in 0..ACROSS {
                        sums[p][c] = simd.mul_add_e_f32s(value, b[c], sums[p][c]);
                    }
                }
            }
            for (sums, from) in sums.iter().zip((from..).step_by(width)) {
                let to = &mut self.to.row(0)[from..][..width];
                write::<S>(sums, &self.ending, self.columns.start + from, to);
            }
        }
        whole
    }
}

/// Ends sums of the columns from `column` on.
#[inline(always)]
fn write<S: Simd>(sums: &[S::f32s; ACROSS], ending: &Ending<'_>, column: usize, to: &mut [f32]) {
    let mut values = [0.0; ACROSS * LANES];
    let (registers, _) = S::as_mut_simd_f32s(&mut values);
    registers[..ACROSS].copy_from_slice(sums);
    ending.write(column, &values, to);
}

/// A product with one panel, of the `count` columns from `from` on.
struct PanelTiles<'p, 'a, 'b, S: Simd> {
    product: &'p mut Product<'a, 'b>,
    panel: &'p [[S::f32s; ACROSS]],
    from: usize,
    count: usize,
    /// Bytes of the next panel that were asked for.
    asked: usize,
}

impl<S: Simd> Tiles<S> for PanelTiles<'_, '_, '_, S> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, row: usize) {
        let Product { a, to, ending, columns, .. } = &mut *self.product;
        let depth = self.panel.len();
        let bytes = size_of_val(self.panel);
        // One row of tiles has hardly begun with a panel before it needs all of it. Where there are more, the first of them ask for
        // the next panel, a line with each term, which so is there when its turn comes.
        let asked = self.asked;
        self.asked += depth * LINE;
        let sums = if to.rows == R {
            sums::<S, R>(simd, a, row, depth, |k| {
                ahead(&raw const self.panel[k], DISTANCE, size_of::<[S::f32s; ACROSS]>());
                &self.panel[k]
            })
        } else if asked < bytes {
            sums::<S, R>(simd, a, row, depth, |k| {
                ahead(self.panel.as_ptr(), bytes + asked + k * LINE, LINE);
                &self.panel[k]
            })
        } else {
            sums::<S, R>(simd, a, row, depth, |k| &self.panel[k])
        };
        for (r, sums) in sums.iter().enumerate() {
            let to = &mut to.row(row + r)[self.from..][..self.count];
            write::<S>(sums, ending, columns.start + self.from, to);
        }
    }
}

/// Bytes of a line of the caches.
const LINE: usize = 64;
/// How many bytes later one asks for what is read only once.
const DISTANCE: usize = 4096;

/// Asks for some bytes that stand a distance behind a place: pages behind each other are more than the machine foresees by itself.
#[inline(always)]
fn ahead<T>(place: *const T, distance: usize, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = place.cast::<i8>().wrapping_add(distance + line);
        // SAFETY: nothing is read, wherever it may point.
        #[allow(unsafe_code, reason = "hints are given with pointers")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, distance, bytes);
}

/// A product that is made some rows at a time.
pub(crate) trait Tiles<S: Simd> {
    /// `R` rows from `row` on.
    fn tile<const R: usize>(&mut self, simd: S, row: usize);
}

/// The most rows of a tile that is so many registers wide: 24 sums in the 32 registers of AVX-512 and NEON, 12 in the 16 of AVX2, but
/// never more than twelve rows.
pub(crate) const fn most_rows<S: Simd>(across: usize) -> usize {
    let sums = if S::REGISTER_COUNT >= 32 { 24 } else { 12 };
    if sums / across < 12 { sums / across } else { 12 }
}

/// All `rows`, in as few tiles as can be: of about the same size, and of `most` rows at most.
#[inline(always)]
pub(crate) fn in_tiles<S: Simd>(simd: S, rows: usize, most: usize, product: &mut impl Tiles<S>) {
    let size = rows.div_ceil(rows.div_ceil(most).max(1)).max(1);
    for row in (0..rows).step_by(size) {
        match size.min(rows - row) {
            1 => product.tile::<1>(simd, row),
            2 => product.tile::<2>(simd, row),
            3 => product.tile::<3>(simd, row),
            4 => product.tile::<4>(simd, row),
            5 if most >= 5 => product.tile::<5>(simd, row),
            6 if most >= 6 => product.tile::<6>(simd, row),
            7 if most >= 7 => product.tile::<7>(simd, row),
            8 if most >= 8 => product.tile::<8>(simd, row),
            9 if most >= 9 => product.tile::<9>(simd, row),
            10 if most >= 10 => product.tile::<10>(simd, row),
            11 if most >= 11 => product.tile::<11>(simd, row),
            12 if most >= 12 => product.tile::<12>(simd, row),
            size => unreachable!("a tile of {size} rows, of {most} at most"),
        }
    }
}

/// The sums of `R` rows of `a` from `row` on with the columns that `load` gives for each of `depth` terms. Each is one
/// chain of multiply-adds in the order of the terms, whatever stands beside it.
#[inline(always)]
pub(crate) fn sums<'b, S: Simd, const R: usize>(
    simd: S,
    a: &View<'_>,
    row: usize,
    depth: usize,
    load: impl Fn(usize) -> &'b [S::f32s; ACROSS],
) -> [[S::f32s; ACROSS]; R] {
    let a: [&[f32]; R] = std::array::from_fn(|r| &a.row(row + r)[..depth]);
    let mut sums = [[simd.splat_f32s(0.0); ACROSS]; R];
    for k in 0..depth {
        let b = load(k);
        for r in 0..R {
            // SAFETY: `k` is below the depth, to which the rows have been cut.
            #[allow(unsafe_code, reason = "checks of twelve slices would double the inner loop")]
            let value = simd.splat_f32s(unsafe { *a[r].get_unchecked(k) });
            for c in 0..ACROSS {
                sums[r][c] = simd.mul_add_e_f32s(value, b[c], sums[r][c]);
            }
        }
    }
    // One by one to another place. What a caller does with them row after row has them in memory, and if that were the same place,
    // each would be written there with every term.
    let mut found = [[simd.splat_f32s(0.0); ACROSS]; R];
    for r in 0..R {
        for c in 0..ACROSS {
            found[r][c] = sums[r][c];
        }
    }
    found
}

/// Writes or adds sums to the rows from `row` on, in the `count` columns from `from` on.
#[inline(always)]
pub(crate) fn store<S: Simd, const N: usize>(
    simd: S,
    to: &mut ViewMut<'_>,
    (row, from, count): (usize, usize, usize),
    sums: &[[S::f32s; N]],
    add: bool,
) {
    for (r, sums) in sums.iter().enumerate() {
        let to = &mut to.row(row + r)[from..from + count];
        let (whole, rest) = S::as_mut_simd_f32s(to);
        for (to, &sum) in whole.iter_mut().zip(sums) {
            *to = if add { simd.add_f32s(*to, sum) } else { sum };
        }
        if !rest.is_empty() {
            let sum = sums[whole.len()];
            let sum = if add { simd.add_f32s(simd.partial_load_f32s(rest), sum) } else { sum };
            simd.partial_store_f32s(rest, sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_products_agree_with_plain_ones() {
        let values: Vec<f32> =
            (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32 - 128.0).collect();
        for (rows, depth, columns) in
            [(1, 1, 1), (3, 5, 31), (6, 16, 32), (12, 16, 64), (13, 31, 33), (23, 40, 130), (7, 0, 5)]
        {
            let a = View::strided(&values, rows, depth, depth + 3);
            let straight = View::strided(&values[99..], depth, columns, columns + 2);
            let across = View::strided(&values[99..], columns, depth, depth + 1).transposed();
            for (b, add) in [(straight, false), (straight, true), (across, false), (across, true)] {
                let (mut got, mut expected) = (values[..rows * 150].to_vec(), values[..rows * 150].to_vec());
                Weights::new(b, USES).multiply(ViewMut::strided(&mut got, rows, columns, 150), a, add);
                multiply(ViewMut::strided(&mut expected, rows, columns, 150), a, b, add);
                // Integers of this size are exact in f32, whatever the order of the sum.
                assert_eq!(got, expected, "{rows} {depth} {columns} {add}");
            }
        }
    }

    /// The tiles of AVX2, on machines that would otherwise never run them.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn narrower_registers_agree() {
        let Some(simd) = pulp::x86::V3::try_new() else { return };
        let values: Vec<f32> =
            (0..9000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32 - 128.0).collect();
        let (a, b) = (View::new(&values, 11, 30), View::new(&values[500..], 30, 61));
        let (mut got, mut expected) = (vec![0.0; 11 * 61], vec![0.0; 11 * 61]);
        let panels = Panels::new(b, ACROSS * 8);
        let to = ViewMut::strided(&mut got, 11, 61, 61);
        Simd::vectorize(simd, Product { panels: &panels, columns: 0..61, to, a, ending: Ending::default() });
        multiply(ViewMut::strided(&mut expected, 11, 61, 61), a, b, false);
        assert_eq!(got, expected);
    }
}
