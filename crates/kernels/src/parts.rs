//! Products in parts, one for each thread: some of their columns, or where rows are many, some of their rows.

use crate::product::{Shared, ViewMut};
use crate::team;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Rows of a part are at least so many, else columns are split: each thread then reads its part of the weights alone.
const MANY: usize = 256;
/// Products of fewer multiplications than this are not split.
const LITTLE: usize = 1 << 15;
/// Those of fewer are not split either where a thread would have to be woken for it.
const WORTH_WAKING: usize = 1 << 17;
/// Those of more take long enough for that not to matter.
const MUCH: usize = 1 << 24;

/// A row-major matrix of sums that is written in parts, and what `T` says of it.
pub(crate) struct Parts<'a, T> {
    to: Shared,
    /// Rows, terms of a sum, columns.
    shape: [usize; 3],
    /// The first column of a part is a multiple of it.
    align: usize,
    about: T,
    borrowed: PhantomData<&'a mut [f32]>,
}

impl<'a, T> Parts<'a, T> {
    /// A matrix in a place that is there already.
    pub(crate) fn new(to: &'a mut [f32], shape: [usize; 3], align: usize, about: T) -> Self {
        assert_eq!(to.len(), shape[0] * shape[2], "product: the place is not [{}, {}]", shape[0], shape[2]);
        Self { to: Shared(to.as_mut_ptr()), shape, align, about, borrowed: PhantomData }
    }

    /// Part `index` of `count`, if there is so much of it.
    fn part(&self, index: usize, count: usize) -> Option<(Range<usize>, Range<usize>, ViewMut<'_>)> {
        let [rows, _, columns] = self.shape;
        let range = |all: usize, align: usize| {
            let block = all.div_ceil(align).div_ceil(count) * align;
            (index * block).min(all)..((index + 1) * block).min(all)
        };
        let (own, inside) = match rows.div_ceil(count) >= MANY {
            true => (range(rows, 1), 0..columns),
            false => (0..rows, range(columns, self.align)),
        };
        let offset = own.start * columns + inside.start;
        // SAFETY: the place has room for the whole, and the parts of different indices are disjoint.
        #[allow(unsafe_code, reason = "blocks of one matrix cannot be split off as slices")]
        let view = unsafe { ViewMut::raw(self.to.at(offset), own.len(), inside.len(), columns) };
        (!own.is_empty() && !inside.is_empty()).then_some((own, inside, view))
    }
}

/// A new matrix of `rows × columns` sums of `depth` terms, of which `work` makes some rows and columns at a time; the first
/// column is a multiple of `align`.
///
/// # Safety
/// `work` writes all elements of its view, and reads none before.
#[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
pub(crate) unsafe fn in_parts(
    shape: [usize; 3],
    align: usize,
    work: impl Fn(Range<usize>, Range<usize>, ViewMut<'_>) + Sync,
) -> Vec<f32> {
    let len = shape[0] * shape[2];
    let mut result = Vec::with_capacity(len);
    let to = Shared(result.as_mut_ptr());
    let parts = Parts { to, shape, align, about: (), borrowed: PhantomData };
    in_parts_of([parts], |(), own, inside, to| work(own, inside, to));
    // SAFETY: there is room for the whole result, and the parts cover it, each of which `work` has written.
    unsafe {
        result.set_len(len);
    }
    result
}

/// Has several matrices written: a part of each by every thread.
pub(crate) fn in_parts_of<T: Sync, const N: usize>(
    matrices: [Parts<'_, T>; N],
    work: impl Fn(&T, Range<usize>, Range<usize>, ViewMut<'_>) + Sync,
) {
    let products: usize = matrices.iter().map(|matrix| matrix.shape.iter().product::<usize>()).sum();
    let count = if products < LITTLE { 1 } else { rayon::current_num_threads() };
    let part = |index: usize| {
        for matrix in &matrices {
            if let Some((own, inside, view)) = matrix.part(index, count) {
                work(&matrix.about, own, inside, view);
            }
        }
    };
    match count {
        1 => part(0),
        _ if products < MUCH && count <= team::cores() && team::at_once(count, &part) => {}
        _ if products < WORTH_WAKING => (0..count).for_each(part),
        _ => (0..count).into_par_iter().for_each(part),
    }
}
