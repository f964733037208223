//! Longest common subsequences.
//!
//! With L(i, j) the length for the first i symbols of a and the first j of b,
//!
//! ```text
//! L(i, j) = L(i−1, j−1) + 1                if a's i-th symbol is b's j-th
//!           max { L(i−1, j), L(i, j−1) }   otherwise
//! ```
//!
//! Neighbours in a column differ by 0 or 1, so that 64 of them fit into one word, and a column follows from
//! the one before in a few operations on words (Hyyrö 2004, *Bit-parallel LCS-length computation revisited*).

use crate::places::Places;

/// The length of a longest common subsequence.
pub(crate) fn common_length(a: &[u32], b: &[u32]) -> usize {
    let mut last = Vec::new();
    each_column(a, b, |column| {
        last.clear();
        last.extend_from_slice(column);
    });
    // The bits behind the end of a match nothing, and stay set.
    last.iter().map(|cells| cells.count_zeros() as usize).sum()
}

/// The places in `a` of one longest common subsequence, the last first. Of several, the one that is found
/// going back from the ends, over a symbol of `b` only where that leaves more in common than going back over
/// a symbol of `a`.
pub(crate) fn common_places(a: &[u32], b: &[u32]) -> Vec<usize> {
    let words = a.len().div_ceil(64);
    let mut columns = Vec::with_capacity(words * b.len());
    each_column(a, b, |column| columns.extend_from_slice(column));
    let (mut i, mut j) = (a.len(), b.len());
    let mut places = Vec::new();
    while i > 0 && j > 0 {
        let (row, column) = (i - 1, j - 1);
        if a[row] == b[column] {
            places.push(row);
            (i, j) = (row, column);
        } else if columns[column * words + row / 64] >> (row % 64) & 1 == 0 {
            // More than above, which can only have come from the left.
            j = column;
        } else {
            i = row;
        }
    }
    places
}

/// Calls `visit` with the column of each symbol of `b`: the bits of a's symbols, unset where L is one more
/// than above.
fn each_column(a: &[u32], b: &[u32], mut visit: impl FnMut(&[u64])) {
    let places = Places::of(a);
    let mut column = vec![u64::MAX; places.words()];
    for &symbol in b {
        let mut carry = false;
        for (cells, &equal) in column.iter_mut().zip(places.of_symbol(symbol)) {
            let (sum, over) = cells.overflowing_add(*cells & equal);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            *cells = sum | (*cells & !equal);
            carry = over || over_again;
        }
        visit(&column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition.
    fn plain(a: &[u32], b: &[u32]) -> (usize, Vec<usize>) {
        let mut lengths = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let longest = lengths[i][j + 1].max(lengths[i + 1][j]);
                lengths[i + 1][j + 1] = if x == y { lengths[i][j] + 1 } else { longest };
            }
        }
        let (mut i, mut j, mut places) = (a.len(), b.len(), Vec::new());
        while i > 0 && j > 0 {
            if a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
                places.push(i);
            } else if lengths[i][j - 1] > lengths[i - 1][j] {
                j -= 1;
            } else {
                i -= 1;
            }
        }
        (lengths[a.len()][b.len()], places)
    }

    #[test]
    fn nothing_has_nothing_in_common() {
        for (a, b) in [(&[][..], &[][..]), (&[0, 1], &[]), (&[], &[0, 1]), (&[0], &[1])] {
            assert_eq!((common_length(a, b), common_places(a, b)), (0, vec![]));
        }
    }

    proptest! {
        #[test]
        fn words_of_bits_are_the_definition(
            a in prop::collection::vec(0_u32..6, 0..200),
            b in prop::collection::vec(0_u32..7, 0..200),
        ) {
            prop_assert_eq!((common_length(&a, &b), common_places(&a, &b)), plain(&a, &b));
        }
    }
}
