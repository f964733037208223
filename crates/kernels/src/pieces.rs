//! New vectors made from old ones piece by piece, over all threads and without a pass of zeros.

use std::mem::MaybeUninit;

use rayon::prelude::*;

/// Values of a piece where nothing else sets its size: they stay in the first cache while they are changed.
pub(crate) const PIECE: usize = 1 << 12;

/// A copy of `x` whose pieces of `len` values have been changed by `change(index, piece)`.
pub(crate) fn changed(x: &[f32], len: usize, change: impl Fn(usize, &mut [f32]) + Sync) -> Vec<f32> {
    let nothing = rayon::iter::repeat_n((), x.len().div_ceil(len.max(1)));
    changed_with(x, len, nothing, |index, piece, ()| change(index, piece))
}

/// [`changed`], where each piece comes with its own of `others`.
pub(crate) fn changed_with<T: Send>(
    x: &[f32],
    len: usize,
    others: impl IndexedParallelIterator<Item = T>,
    change: impl Fn(usize, &mut [f32], T) + Sync,
) -> Vec<f32> {
    let len = len.max(1);
    assert_eq!(others.len(), x.len().div_ceil(len), "pieces: another number of others");
    let mut result = Vec::with_capacity(x.len());
    result.spare_capacity_mut()[..x.len()]
        .par_chunks_mut(len)
        .zip(x.par_chunks(len))
        .zip(others)
        .enumerate()
        .for_each(|(index, ((to, from), other)): (usize, ((&mut [MaybeUninit<f32>], _), _))| {
            change(index, to.write_copy_of_slice(from), other);
        });
    // SAFETY: the pieces cover the first `x.len()` values, and each begins as a copy of its part of `x`.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    unsafe {
        result.set_len(x.len());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_whole() {
        for (count, len) in [(0, 3), (1, 3), (9, 3), (10, 3), (1000, 7), (4, 0)] {
            let x: Vec<f32> = (0..count).map(|i| i as f32).collect();
            let mut others = vec![0; x.len().div_ceil(len.max(1))];
            let y = changed_with(&x, len, others.par_iter_mut(), |index, piece, other| {
                piece.iter_mut().for_each(|v| *v = 2.0 * *v + index as f32);
                *other = piece.len();
            });
            let expected: Vec<f32> = (0..count).map(|i| 2.0 * i as f32 + (i / len.max(1)) as f32).collect();
            assert_eq!(y, expected);
            assert_eq!(others.iter().sum::<usize>(), count);
        }
    }
}
