//! Token vectors: rows of a table, and the gradient of those that were read.
//!
//! `yₙ = E[idₙ]`, and so `∂L/∂E[v] = Σ ∂L/∂yₙ` over all `n` with `idₙ = v`. A vocabulary has many tokens and a batch has few
//! of them: all other rows of the gradient are zero, and [`Rows`] does not have them.

use std::collections::BTreeMap;

/// The rows `ids` of a table, one after the other.
///
/// # Panics
/// If the table has no row of such a number, or no width.
pub fn forward(table: &[f32], width: usize, ids: &[u32]) -> Vec<f32> {
    let mut found = Vec::with_capacity(ids.len() * width);
    read(table, width, ids, &mut found);
    found
}

/// Puts the rows `ids` of a table behind what is in a list.
///
/// # Panics
/// As [`forward`].
pub fn read(table: &[f32], width: usize, ids: &[u32], to: &mut Vec<f32>) {
    let rows = table.len() / width;
    for &id in ids {
        assert!((id as usize) < rows, "embedding: row {id} of {rows}");
        to.extend_from_slice(&table[id as usize * width..][..width]);
    }
}

/// The gradient of a table that has rows for some of its tokens and zeros for all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    width: usize,
    /// Where the values of a row begin.
    places: BTreeMap<u32, usize>,
    values: Vec<f32>,
}

impl Rows {
    /// Zeros everywhere, in rows of this width.
    pub fn new(width: usize) -> Self {
        Self { width, places: BTreeMap::new(), values: Vec::new() }
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds the gradients of what was read, a row for each of `ids`; an id may be there more than once.
    ///
    /// # Panics
    /// If there are not as many rows as ids.
    pub fn add(&mut self, ids: &[u32], gradients: &[f32]) {
        assert_eq!(gradients.len(), ids.len() * self.width, "embedding: not a row for each id");
        for (&id, gradient) in ids.iter().zip(gradients.chunks_exact(self.width.max(1))) {
            self.add_row(id, gradient);
        }
    }

    fn add_row(&mut self, id: u32, gradient: &[f32]) {
        let end = self.values.len();
        match *self.places.entry(id).or_insert(end) {
            place if place == end => self.values.extend_from_slice(gradient),
            place => {
                let sums = &mut self.values[place..][..self.width];
                sums.iter_mut().zip(gradient).for_each(|(sum, more)| *sum += more);
            }
        }
    }

    /// Adds all rows of another gradient of the same table.
    ///
    /// # Panics
    /// If its rows have another width.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.width, other.width, "embedding: rows of another width");
        other.from(0).for_each(|(id, gradient)| self.add_row(id, gradient));
    }

    /// The rows that are there, in the order of their ids, from `first` on.
    pub fn from(&self, first: u32) -> impl Iterator<Item = (u32, &[f32])> {
        self.places.range(first..).map(|(&id, &place)| (id, &self.values[place..][..self.width]))
    }

    /// The values of all rows that are there, in the order in which they came.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Adds the rows to a gradient that has all of them.
    ///
    /// # Panics
    /// If it has not.
    pub fn add_to(&self, table: &mut [f32]) {
        for (id, gradient) in self.from(0) {
            let sums = &mut table[id as usize * self.width..][..self.width];
            sums.iter_mut().zip(gradient).for_each(|(sum, more)| *sum += more);
        }
    }

    /// The same with its zeros, as a table of so many numbers.
    ///
    /// # Panics
    /// If that has fewer rows.
    pub fn whole(&self, count: usize) -> Vec<f32> {
        let mut table = vec![0.0; count];
        self.add_to(&mut table);
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_the_gradient_without_its_zeros(
            width in 1usize..9,
            first in prop::collection::vec(0u32..12, 0..30),
            second in prop::collection::vec(0u32..12, 0..30),
            seed: u32,
        ) {
            let mut expected = vec![0.0f32; 12 * width];
            let mut rows = Rows::new(width);
            for (ids, seed) in [(&first, seed), (&second, seed ^ 1)] {
                let gradients = values(ids.len() * width, seed);
                for (&id, gradient) in ids.iter().zip(gradients.chunks_exact(width)) {
                    for (sum, more) in expected[id as usize * width..].iter_mut().zip(gradient) {
                        *sum += more;
                    }
                }
                rows.add(ids, &gradients);
            }
            prop_assert_eq!(&rows.whole(12 * width), &expected);
            let mut read: Vec<u32> = first.iter().chain(&second).copied().collect();
            read.sort_unstable();
            read.dedup();
            prop_assert!(rows.from(0).map(|(id, _)| id).eq(read.iter().copied()), "only what was read, in order");
            prop_assert!(rows.from(5).map(|(id, _)| id).eq(read.into_iter().filter(|&id| id >= 5)));

            let mut twice = rows.clone();
            twice.merge(&rows);
            let mut sum = rows.whole(12 * width);
            rows.add_to(&mut sum);
            prop_assert_eq!(twice.whole(12 * width), sum);
        }
    }

    #[test]
    fn what_is_read_are_rows_of_the_table() {
        let table = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(forward(&table, 2, &[2, 0, 2]), [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
        assert!(forward(&table, 2, &[]).is_empty());
    }

    #[test]
    #[should_panic(expected = "row 3 of 3")]
    fn a_row_that_is_not_there_is_not_read() {
        forward(&[0.0; 6], 2, &[3]);
    }
}
