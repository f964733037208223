//! Which columns exist.

use crate::flex::Values;
use burn::tensor::{Int, Tensor};
use gatto_kernels::attention::Mask;

/// 1 where a column exists [B, S]; beside it the same as plain values, where they live on the CPU.
#[derive(Clone, Debug)]
pub(super) struct Exists {
    pub(super) tensor: Tensor<2>,
    values: Option<Values>,
}

impl Exists {
    pub(super) fn new(tensor: Tensor<2>) -> Self {
        Self { values: Values::of(&tensor), tensor }
    }

    /// Only these rows, in this order.
    pub(super) fn select(&self, ids: Tensor<1, Int>) -> Self {
        Self::new(self.tensor.clone().select(0, ids))
    }

    /// Whether the plain values are there.
    pub(super) fn is_plain(&self) -> bool {
        self.values.is_some()
    }

    /// For rows that have these rows of it as their own; none where there are no plain values.
    pub(super) fn of_rows<'a>(&'a self, rows: &'a [u32]) -> Option<Mask<'a>> {
        let (values, columns) = (self.values.as_ref()?, self.tensor.dims()[1]);
        Some(Mask { exists: values.slice(), columns, rows: Some(rows) })
    }

    /// Writes down so many columns of each row, of which those behind its own exist: [B, `columns`].
    pub(super) fn widened(&self, columns: usize, to: &mut Vec<f32>) {
        to.clear();
        let own = self.tensor.dims()[1].max(1);
        for row in self.values.iter().flat_map(|values| values.slice().chunks_exact(own)) {
            to.extend(row);
            to.resize(to.len() + columns.saturating_sub(own), 1.0);
        }
    }
}
