//! Edit distance: the fewest substitutions, deletions and insertions that make one sequence of another.
//!
//! With D(i, j) the distance between the first i symbols of the reference and the first j of the output,
//!
//! ```text
//! D(i, j) = min { D(i−1, j) + 1, D(i, j−1) + 1, D(i−1, j−1) + [reference i ≠ output j] }
//! ```
//!
//! There may be several shortest ways with different shares of the three. The one taken here is what jiwer
//! takes: with equal ends cut off, and backwards from the last symbols, a deletion where one is on a shortest
//! way; else an insertion where D(i, j) = D(i−1, j−1) too; else the diagonal.
//!
//! Neighbours in a column differ by −1, 0 or 1, so that 64 of them fit into two words, and a column follows
//! from the one before in a few operations on words (Myers 1999; in this form Hyyrö 2003, *A Bit-Vector
//! Algorithm for Computing Levenshtein and Damerau Edit Distances*). The way back reads the kept columns,
//! a quarter of a byte for each cell. Where that would be much memory, two columns of numbers do instead.

use crate::places::Places;

/// More bytes of columns than this are not kept.
const MOST_KEPT: usize = 1 << 24;

/// What a shortest way consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) substitutions: usize,
    pub(crate) deletions: usize,
    pub(crate) insertions: usize,
}

impl Way {
    /// The way between sequences of these lengths: its length and its substitutions leave no choice
    /// of the others, as D − I is the difference of the lengths.
    fn of(reference: usize, output: usize, distance: usize, substitutions: usize) -> Self {
        let deletions = (distance + reference - substitutions - output) / 2;
        Self { substitutions, deletions, insertions: distance - substitutions - deletions }
    }
}

/// The shortest way from reference to output. Symbols are small numbers, without gaps.
pub(crate) fn shortest(reference: &[u32], output: &[u32]) -> Way {
    let (reference, output) = without_equal_ends(reference, output);
    if reference.is_empty() || output.is_empty() {
        return Way { substitutions: 0, deletions: reference.len(), insertions: output.len() };
    }
    let words = reference.len().div_ceil(64);
    if words * output.len() * size_of::<Column>() <= MOST_KEPT {
        by_words(reference, output)
    } else {
        by_numbers(reference, output)
    }
}

fn without_equal_ends<'a>(mut a: &'a [u32], mut b: &'a [u32]) -> (&'a [u32], &'a [u32]) {
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (&a[..a.len() - back], &b[..b.len() - back])
}

/// 64 cells of a column, as differences from the cell above: the set bits are +1 and −1.
#[derive(Clone, Copy)]
struct Column {
    up: u64,
    down: u64,
}

/// All columns, a word of the reference at a time. Neither sequence is empty.
fn by_words(reference: &[u32], output: &[u32]) -> Way {
    let places = Places::of(reference);
    let words = places.words();
    let mut columns: Vec<Column> = Vec::with_capacity(words * output.len());
    let mut column = vec![Column { up: u64::MAX, down: 0 }; words];
    for &symbol in output {
        // The row above the first grows by one with each symbol of the output.
        let mut above = Column { up: 1, down: 0 };
        for (cells, &equal) in column.iter_mut().zip(places.of_symbol(symbol)) {
            above = next_column(cells, equal, above);
        }
        columns.extend_from_slice(&column);
    }
    way_back(reference, output, |i, j| {
        let cells = columns[j * words + i / 64];
        (cells.up >> (i % 64) & 1 == 1, cells.down >> (i % 64) & 1 == 1)
    })
}

/// Moves 64 cells to the next column. `equal` marks the rows whose symbol is that of the column; `above` is
/// how the row above the cells changes from column to column, and what is returned how their last one does.
fn next_column(cells: &mut Column, equal: u64, above: Column) -> Column {
    let equal = equal | above.down;
    // Where a cell is what its upper left neighbour is.
    let same = ((equal & cells.up).wrapping_add(cells.up) ^ cells.up) | equal | cells.down;
    let grown = cells.down | !(same | cells.up);
    let shrunk = same & cells.up;
    let grown_above = grown << 1 | above.up;
    let shrunk_above = shrunk << 1 | above.down;
    *cells = Column { up: shrunk_above | !(same | grown_above), down: grown_above & same };
    Column { up: grown >> 63, down: shrunk >> 63 }
}

/// Follows the way from the last cell. `differences(i, j)` says whether the cell of reference symbol i and
/// output symbol j is one more, or one less, than the cell above it.
fn way_back(reference: &[u32], output: &[u32], differences: impl Fn(usize, usize) -> (bool, bool)) -> Way {
    let (mut i, mut j) = (reference.len(), output.len());
    let mut way = Way::default();
    while i > 0 && j > 0 {
        if differences(i - 1, j - 1).0 {
            way.deletions += 1;
            i -= 1;
        } else if j > 1 && differences(i - 1, j - 2).1 {
            way.insertions += 1;
            j -= 1;
        } else {
            way.substitutions += usize::from(reference[i - 1] != output[j - 1]);
            (i, j) = (i - 1, j - 1);
        }
    }
    way.deletions += i;
    way.insertions += j;
    way
}

/// The same by the definition, column by column: each cell carries the substitutions on its way.
fn by_numbers(reference: &[u32], output: &[u32]) -> Way {
    let mut last: Vec<(usize, usize)> = (0..=reference.len()).map(|i| (i, 0)).collect();
    let mut column = last.clone();
    for (j, symbol) in output.iter().enumerate() {
        column[0] = (j + 1, 0);
        for (i, expected) in reference.iter().enumerate() {
            let (above, left, diagonal) = (column[i], last[i + 1], last[i]);
            let wrong = usize::from(expected != symbol);
            let distance = (above.0 + 1).min(left.0 + 1).min(diagonal.0 + wrong);
            let substitutions = if distance == above.0 + 1 {
                above.1
            } else if distance == left.0 + 1 && distance == diagonal.0 {
                left.1
            } else {
                diagonal.1 + wrong
            };
            column[i + 1] = (distance, substitutions);
        }
        std::mem::swap(&mut last, &mut column);
    }
    let (distance, substitutions) = last[reference.len()];
    Way::of(reference.len(), output.len(), distance, substitutions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn way(substitutions: usize, deletions: usize, insertions: usize) -> Way {
        Way { substitutions, deletions, insertions }
    }

    #[test]
    fn small_ways_are_known() {
        assert_eq!(shortest(&[], &[]), way(0, 0, 0));
        assert_eq!(shortest(&[1, 2], &[]), way(0, 2, 0));
        assert_eq!(shortest(&[], &[1, 2]), way(0, 0, 2));
        assert_eq!(shortest(&[0, 1, 2, 3], &[0, 9, 2, 3]), way(1, 0, 0));
        // a b c d → b c x d, where three substitutions would be as many symbols but more edits.
        assert_eq!(shortest(&[0, 1, 2, 3], &[1, 2, 9, 3]), way(0, 1, 1));
    }

    #[test]
    fn much_text_in_one_line_needs_little_memory() {
        let reference: Vec<u32> = (0..12_000).map(|i| i * i % 97).collect();
        let output: Vec<u32> = (0..6_000).map(|i| i * i % 89 + 5).collect();
        let (short, long) = (shortest(&reference[..300], &output), shortest(&reference, &output));
        assert_eq!(short, by_numbers(&reference[..300], &output));
        assert!(long.deletions == long.insertions + 6_000);
    }

    proptest! {
        #[test]
        fn words_and_numbers_agree(
            reference in prop::collection::vec(0_u32..5, 1..200),
            output in prop::collection::vec(0_u32..6, 1..200),
        ) {
            prop_assert_eq!(by_words(&reference, &output), by_numbers(&reference, &output));
        }

        #[test]
        fn ways_keep_to_their_bounds(
            reference in prop::collection::vec(0_u32..9, 0..90),
            output in prop::collection::vec(0_u32..9, 0..90),
        ) {
            let found = shortest(&reference, &output);
            let distance = found.substitutions + found.deletions + found.insertions;
            prop_assert!(distance >= reference.len().abs_diff(output.len()));
            prop_assert!(distance <= reference.len().max(output.len()));
            prop_assert_eq!(reference.len() + found.insertions, output.len() + found.deletions);
            let back = shortest(&output, &reference);
            prop_assert_eq!(distance, back.substitutions + back.deletions + back.insertions);
            prop_assert_eq!(shortest(&reference, &reference), Way::default());
        }
    }
}
