//! Matrix products over strided views of slices: the safe face of the `gemm` crate.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use gemm::Parallelism;
use rayon::prelude::*;

/// A matrix inside a slice: element `(r, c)` stands at `r · row_stride + c · column_stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> View<'a> {
    /// A row-major matrix whose rows stand `row_stride` apart.
    pub(crate) fn strided(data: &'a [f32], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(fits(data.len(), rows, columns, row_stride), "product: a view reaches beyond its slice");
        Self { data, rows, columns, row_stride, column_stride: 1 }
    }

    /// A row-major matrix without gaps.
    pub(crate) fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The columns `from .. from + count`.
    pub(crate) fn columns(self, from: usize, count: usize) -> Self {
        assert!(from + count <= self.columns, "product: no such columns");
        let start = (from * self.column_stride).min(self.data.len());
        Self { data: &self.data[start..], columns: count, ..self }
    }

    /// The rows `from .. from + count`.
    pub(crate) fn rows(self, from: usize, count: usize) -> Self {
        self.transposed().columns(from, count).transposed()
    }

    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Whether rows lie in one piece; if not, columns do.
    pub(crate) fn has_whole_rows(&self) -> bool {
        self.column_stride == 1
    }

    /// A row of a matrix whose rows lie in one piece.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &'a [f32] {
        debug_assert_eq!(self.column_stride, 1, "product: no row of a transposed matrix");
        &self.data[row * self.row_stride..][..self.columns]
    }

    /// Copies the rows from `from` on to `to`, whose rows stand `stride` apart, as many as it holds.
    pub(crate) fn copy_rows(&self, from: usize, to: &mut [f32], stride: usize) {
        if self.column_stride == 1 {
            for (index, to) in to.chunks_exact_mut(stride).enumerate() {
                to[..self.columns].copy_from_slice(self.row(from + index));
            }
            return;
        }
        let count = to.len() / stride;
        for column in 0..self.columns {
            let source = &self.data[from * self.row_stride + column * self.column_stride..];
            let source = source.iter().step_by(self.row_stride).take(count);
            for (to, value) in to[column..].iter_mut().step_by(stride).zip(source) {
                *to = *value;
            }
        }
    }
}

/// Whether the last element of a row-major matrix lies inside a slice of `len`.
fn fits(len: usize, rows: usize, columns: usize, row_stride: usize) -> bool {
    rows == 0
        || columns == 0
        || (row_stride >= columns || rows == 1) && (rows - 1) * row_stride + columns <= len
}

/// A row-major matrix to write to, its rows `row_stride` apart. What lies between them may be another's.
#[derive(Debug)]
pub(crate) struct ViewMut<'a> {
    data: *mut f32,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    row_stride: usize,
    borrowed: PhantomData<&'a mut [f32]>,
}

impl<'a> ViewMut<'a> {
    pub(crate) fn strided(data: &'a mut [f32], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(fits(data.len(), rows, columns, row_stride), "product: a view reaches beyond its slice");
        Self { data: data.as_mut_ptr(), rows, columns, row_stride, borrowed: PhantomData }
    }

    /// The same of a place that is not, or not alone, a slice.
    ///
    /// # Safety
    /// As long as the view lives, its rows are valid for writing and nothing else accesses them; what is not
    /// initialised is written before it is read.
    #[allow(unsafe_code, reason = "threads write side by side to the rows of one matrix")]
    pub(crate) unsafe fn raw(data: *mut f32, rows: usize, columns: usize, row_stride: usize) -> Self {
        Self { data, rows, columns, row_stride, borrowed: PhantomData }
    }

    /// A row of it.
    #[inline(always)]
    pub(crate) fn row(&mut self, row: usize) -> &mut [f32] {
        assert!(row < self.rows, "product: no such row");
        // SAFETY: whoever made the view has seen to it that its rows are there, and its own.
        #[allow(unsafe_code, reason = "rows of one matrix that are written side by side are no slices of it")]
        unsafe {
            std::slice::from_raw_parts_mut(self.data.add(row * self.row_stride), self.columns)
        }
    }
}

/// `to = a · b`, or `to += a · b`, on the calling thread.
pub(crate) fn multiply(to: ViewMut<'_>, a: View<'_>, b: View<'_>, add: bool) {
    assert_eq!((to.rows, to.columns, a.columns), (a.rows, b.columns, b.rows), "product: shapes do not fit");
    let ViewMut { data, row_stride, .. } = to;
    // SAFETY: the constructors of the views have checked that all elements lie inside the slices,
    // and `data` is borrowed mutably, so that it overlaps with neither factor.
    #[allow(unsafe_code, reason = "the interface of gemm is made of pointers")]
    unsafe {
        multiply_into(data, row_stride, a, b, add);
    }
}

/// `a · b` to a place that need not be initialised, row-major without gaps; it is so afterwards.
pub(crate) fn multiply_to_new<'a>(to: &'a mut [MaybeUninit<f32>], a: View<'_>, b: View<'_>) -> &'a mut [f32] {
    assert_eq!((to.len(), a.columns), (a.rows * b.columns, b.rows), "product: shapes do not fit");
    // SAFETY: the views have been checked when made, and the length just now; every element is written.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    unsafe {
        multiply_into(to.as_mut_ptr().cast(), b.columns, a, b, false);
        to.assume_init_mut()
    }
}

/// `a · b + bias` to a place that need not be initialised, row-major without gaps, on the calling thread.
pub(crate) fn multiply_onto_bias(to: &mut [MaybeUninit<f32>], a: View<'_>, b: View<'_>, bias: &[f32]) {
    assert_eq!((to.len(), bias.len()), (a.rows * b.columns, b.columns), "product: shapes do not fit");
    for row in to.chunks_exact_mut(b.columns.max(1)) {
        row.write_copy_of_slice(bias);
    }
    // SAFETY: the rows above cover all of it: the length is a multiple of theirs.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    let to = unsafe { to.assume_init_mut() };
    multiply(ViewMut::strided(to, a.rows, b.columns, b.columns), a, b, true);
}

/// [`multiply`] to a place that need not be initialised when `add` is false.
///
/// # Safety
/// `to` is valid for writing `a.rows` rows of `b.columns` values, `row_stride` apart, that nothing else
/// accesses meanwhile; with `add` they are initialised.
#[allow(unsafe_code, reason = "the interface of gemm is made of pointers")]
unsafe fn multiply_into(to: *mut f32, row_stride: usize, a: View<'_>, b: View<'_>, add: bool) {
    // SAFETY: the caller vouches for `to`; the views have been checked when made.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            to,
            1,
            row_stride as isize,
            add,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            // Zero, not one, makes gemm write zeros for an empty sum.
            if add { 1.0 } else { 0.0 },
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// A place that several threads write to, each at its own elements.
#[derive(Clone, Copy)]
pub(crate) struct Shared(pub(crate) *mut f32);

// SAFETY: its users, `product_split` and `parts`, give every thread a block of its own.
#[allow(unsafe_code, reason = "blocks of one matrix cannot be split off as slices")]
unsafe impl Send for Shared {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "blocks of one matrix cannot be split off as slices")]
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn at(self, offset: usize) -> *mut f32 {
        self.0.wrapping_add(offset)
    }
}

/// Blocks of the result start at multiples of this, so that no kernel is left with a narrow rest.
const GRAIN: usize = 16;

/// `a · b` as a new row-major matrix, its longer side split over the threads of the pool.
///
/// Each thread runs the product of its block alone: on the shapes of weight gradients (long sums, small
/// results) that is twice as fast as the threads of `gemm` itself.
pub(crate) fn product(a: View<'_>, b: View<'_>) -> Vec<f32> {
    let len = a.rows * b.columns;
    let mut result = Vec::with_capacity(len);
    // SAFETY: the allocation has room for the whole result, and all of it is written.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    unsafe {
        product_split(result.as_mut_ptr(), b.columns, a, b, false);
        result.set_len(len);
    }
    result
}

/// `to = a · b`, split as [`product`] is.
pub(crate) fn product_into(to: ViewMut<'_>, a: View<'_>, b: View<'_>) {
    assert_eq!((to.rows, to.columns), (a.rows, b.columns), "product: shapes do not fit");
    // SAFETY: the constructor of `to` has checked that its rows lie inside its slice.
    #[allow(unsafe_code, reason = "the threads write to interleaved blocks")]
    unsafe {
        product_split(to.data, to.row_stride, a, b, false);
    }
}

/// `to += a · b`, split as [`product`] is.
pub(crate) fn product_onto(to: &mut [f32], a: View<'_>, b: View<'_>) {
    assert_eq!(to.len(), a.rows * b.columns, "product: shapes do not fit");
    // SAFETY: the length has just been checked.
    #[allow(unsafe_code, reason = "the threads write to interleaved blocks")]
    unsafe {
        product_split(to.as_mut_ptr(), b.columns, a, b, true);
    }
}

/// Writes all elements of `a · b`, or adds them to what is there.
///
/// # Safety
/// As [`multiply_into`].
#[allow(unsafe_code, reason = "blocks of one matrix cannot be split off as slices")]
unsafe fn product_split(to: *mut f32, row_stride: usize, a: View<'_>, b: View<'_>, add: bool) {
    assert_eq!(a.columns, b.rows, "product: shapes do not fit");
    let (rows, columns) = (a.rows, b.columns);
    let to = Shared(to);
    let by_rows = rows > columns;
    let side = if by_rows { rows } else { columns };
    let block = side.div_ceil(rayon::current_num_threads()).next_multiple_of(GRAIN).max(GRAIN);
    (0..side.div_ceil(block)).into_par_iter().for_each(|index| {
        let from = index * block;
        let count = block.min(side - from);
        let (a, b, offset) = if by_rows {
            (a.rows(from, count), b, from * row_stride)
        } else {
            (a, b.columns(from, count), from)
        };
        // SAFETY: the caller vouches for the place; the blocks are disjoint parts of it.
        unsafe {
            multiply_into(to.at(offset), row_stride, a, b, add);
        }
    });
}

/// `vec![0.0; len]`, written (and its pages mapped) by all threads.
pub(crate) fn zeros(len: usize) -> Vec<f32> {
    const PIECE: usize = 1 << 16;
    let mut values = Vec::with_capacity(len);
    values.spare_capacity_mut()[..len]
        .par_chunks_mut(PIECE)
        .for_each(|piece| piece.fill(MaybeUninit::new(0.0)));
    // SAFETY: the pieces cover the first `len` values.
    #[allow(unsafe_code, reason = "one thread alone would take as long as the rest of a small layer")]
    unsafe {
        values.set_len(len);
    }
    values
}

/// Splits `[rows, …]` into pieces of `count` rows; empty pieces, as many, of empty data.
pub(crate) fn split_rows<T>(data: &mut [T], rows: usize, count: usize) -> impl Iterator<Item = &mut [T]> {
    let row = data.len() / rows.max(1);
    let mut rest = data;
    (0..rows).step_by(count).map(move |from| {
        let (piece, tail) = std::mem::take(&mut rest).split_at_mut(count.min(rows - from) * row);
        rest = tail;
        piece
    })
}

/// The matrix `[rows, columns]` turned round: `[columns, rows]`.
pub(crate) fn transposed(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    assert_eq!(values.len(), rows * columns, "product: shapes do not fit");
    let mut result = zeros(values.len());
    result.par_chunks_mut((GRAIN * rows).max(1)).enumerate().for_each(|(index, to)| {
        // A line of the cache from each row, to a block that stays in the first cache.
        let (first, count) = (index * GRAIN, to.len() / rows);
        for (row, from) in values.chunks_exact(columns).enumerate() {
            for (to, value) in to[row..].iter_mut().step_by(rows).zip(&from[first..first + count]) {
                *to = *value;
            }
        }
    });
    result
}

/// The sum over the rows of a matrix without gaps, `[rows, columns]` → `[columns]`, columns split over the threads.
pub(crate) fn sum_rows(data: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0; columns];
    if columns == 0 {
        return sums;
    }
    let block = columns.div_ceil(rayon::current_num_threads()).next_multiple_of(GRAIN);
    sums.par_chunks_mut(block).enumerate().for_each(|(index, sums)| {
        let from = index * block;
        for row in data.chunks_exact(columns) {
            sums.iter_mut().zip(&row[from..]).for_each(|(sum, value)| *sum += value);
        }
    });
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_sums_are_zero() {
        let mut to = [7.0; 6];
        multiply(ViewMut::strided(&mut to, 2, 3, 3), View::new(&[], 2, 0), View::new(&[], 0, 3), true);
        assert_eq!(to, [7.0; 6]);
        multiply(ViewMut::strided(&mut to, 2, 3, 3), View::new(&[], 2, 0), View::new(&[], 0, 3), false);
        assert_eq!(to, [0.0; 6]);
        assert_eq!(product(View::new(&[], 20, 0), View::new(&[], 0, 3)), [0.0; 60]);
    }

    #[test]
    fn products_do_not_depend_on_the_threads() {
        let values: Vec<f32> =
            (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32 - 128.0).collect();
        for (rows, depth, columns) in [(1, 3, 2), (50, 7, 33), (16, 20, 100)] {
            let (a, b) =
                (View::new(&values, rows, depth), View::strided(&values[9..], depth, columns, columns + 1));
            let sum = |r: usize, c: usize| (0..depth).map(|k| a.row(r)[k] * b.row(k)[c]).sum::<f32>();
            let expected: Vec<f32> = (0..rows * columns).map(|i| sum(i / columns, i % columns)).collect();
            let rows_summed: Vec<f32> =
                (0..columns).map(|c| (0..rows).map(|r| expected[r * columns + c]).sum()).collect();
            for threads in 1..5 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                assert_eq!(pool.install(|| product(a, b)), expected);
                assert_eq!(pool.install(|| sum_rows(&expected, columns)), rows_summed);
            }
        }
    }

    #[test]
    fn matrices_are_turned_round() {
        for (rows, columns) in [(0, 3), (1, 1), (3, 0), (5, 50), (33, 16)] {
            let values: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
            let turned = transposed(&values, rows, columns);
            let expected: Vec<f32> =
                (0..columns).flat_map(|c| (0..rows).map(move |r| (r * columns + c) as f32)).collect();
            assert_eq!(turned, expected);
        }
    }

    #[test]
    #[should_panic(expected = "beyond its slice")]
    fn views_stay_inside_their_slices() {
        View::strided(&[0.0; 9], 2, 4, 6);
    }
}
