//! Products in parts, one for each thread: some of their columns, or where rows are many, some of their rows.

use crate::product::{Shared, ViewMut};
use crate::team;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Rows of a part are at least so many, else columns are split: each thread then reads its part of the weights alone.
const MANY: usize = 256;
/// Products of less effort than the least of these are never shared, and those of more than the most always are: between them it
/// depends on the machine. The unit is a multiplication of floats.
const LITTLE: Range<usize> = 1 << 14..1 << 17;
/// For each nanosecond that it takes to tell other threads of their parts, a product that is shared has so many multiplications. Chosen
/// where that takes a tenth of a microsecond and where it takes a whole one, for a single row.
const SHARED: usize = 128;
/// Products of more effort than this take long enough for threads to be woken, and need none that stand ready.
const MUCH: usize = 1 << 24;

/// What parts of a product are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// The first column of a part is a multiple of it.
    pub(crate) align: usize,
    /// Bytes of a weight: a quarter of them is a quarter of the effort.
    pub(crate) bytes: usize,
}

/// A row-major matrix of sums that is written in parts, and what `T` says of it.
pub(crate) struct Parts<'a, T> {
    to: Shared,
    /// Rows, terms of a sum, columns.
    shape: [usize; 3],
    grain: Grain,
    about: T,
    borrowed: PhantomData<&'a mut [f32]>,
}

impl<'a, T> Parts<'a, T> {
    /// A matrix in a place that is there already.
    pub(crate) fn new(to: &'a mut [f32], shape: [usize; 3], grain: Grain, about: T) -> Self {
        assert_eq!(to.len(), shape[0] * shape[2], "product: the place is not [{}, {}]", shape[0], shape[2]);
        Self { to: Shared(to.as_mut_ptr()), shape, grain, about, borrowed: PhantomData }
    }

    /// What it takes to make it, in multiplications of floats.
    fn effort(&self) -> usize {
        self.shape.iter().product::<usize>() * self.grain.bytes / size_of::<f32>()
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
            false => (0..rows, range(columns, self.grain.align)),
        };
        let offset = own.start * columns + inside.start;
        // SAFETY: the place has room for the whole, and the parts of different indices are disjoint.
        #[allow(unsafe_code, reason = "blocks of one matrix cannot be split off as slices")]
        let view = unsafe { ViewMut::raw(self.to.at(offset), own.len(), inside.len(), columns) };
        (!own.is_empty() && !inside.is_empty()).then_some((own, inside, view))
    }
}

/// A new matrix of `rows × columns` sums of `depth` terms, of which `work` makes some rows and columns at a time.
///
/// # Safety
/// `work` writes all elements of its view, and reads none before.
#[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
pub(crate) unsafe fn in_parts(
    shape: [usize; 3],
    grain: Grain,
    work: impl Fn(Range<usize>, Range<usize>, ViewMut<'_>) + Sync,
) -> Vec<f32> {
    let len = shape[0] * shape[2];
    let mut result = Vec::with_capacity(len);
    let to = Shared(result.as_mut_ptr());
    let parts = Parts { to, shape, grain, about: (), borrowed: PhantomData };
    in_parts_of([parts], |(), own, inside, to| work(own, inside, to));
    // SAFETY: there is room for the whole result, and the parts cover it, each of which `work` has written.
    unsafe {
        result.set_len(len);
    }
    result
}

/// The least effort of a product that is worth telling other threads of, who are told in so many nanoseconds.
fn least_shared(cost: u32) -> usize {
    (cost as usize).saturating_mul(SHARED).clamp(LITTLE.start, LITTLE.end)
}

/// How many of the threads take part in a product of so much effort.
fn threads_for(effort: usize, threads: usize) -> usize {
    if threads == 1 || effort < LITTLE.start {
        return 1;
    }
    let cost = || if threads <= team::cores() { team::cost(threads) } else { None };
    if effort >= LITTLE.end || cost().is_some_and(|cost| effort >= least_shared(cost)) { threads } else { 1 }
}

/// Has several matrices written: a part of each by every thread.
pub(crate) fn in_parts_of<T: Sync, const N: usize>(
    matrices: [Parts<'_, T>; N],
    work: impl Fn(&T, Range<usize>, Range<usize>, ViewMut<'_>) + Sync,
) {
    let effort: usize = matrices.iter().map(Parts::effort).sum();
    let count = threads_for(effort, rayon::current_num_threads());
    let part = |index: usize| {
        for matrix in &matrices {
            if let Some((own, inside, view)) = matrix.part(index, count) {
                work(&matrix.about, own, inside, view);
            }
        }
    };
    match count {
        1 => part(0),
        _ if effort < MUCH && count <= team::cores() && team::at_once(count, &part) => {}
        // To wake threads that sleep takes longer.
        _ if effort < LITTLE.end => (0..count).for_each(part),
        _ => (0..count).into_par_iter().for_each(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearer_it_is_to_tell_others_the_more_is_done_alone() {
        let least = [0, 100, 500, 1000, 5000, u32::MAX].map(least_shared);
        assert_eq!(least, [LITTLE.start, LITTLE.start, 64_000, 128_000, LITTLE.end, LITTLE.end]);
    }

    #[test]
    fn only_what_lies_between_depends_on_the_machine() {
        for threads in [2, 64] {
            assert_eq!(threads_for(LITTLE.start - 1, threads), 1);
            assert_eq!(threads_for(LITTLE.end, threads), threads);
        }
        assert_eq!(threads_for(MUCH, 1), 1);
        assert_eq!(threads_for(LITTLE.end - 1, team::cores() + 1), 1, "not all of them stand ready");
    }
}
