//! Rows that share a sentence: the hypotheses of a beam all look at the same source, of which there is no need to
//! have a copy for each.

use burn::tensor::{Device, Int, Tensor, TensorData};

/// How rows belong to sentences: each sentence has `fan` rows, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fan(usize);

impl Default for Fan {
    fn default() -> Self {
        Self::ONE
    }
}

impl Fan {
    /// A row for every sentence.
    pub(crate) const ONE: Self = Self(1);

    /// The sentences that these rows need, in order, and how the rows belong to them then. Where they cannot
    /// be shared evenly, each row gets a sentence of its own.
    pub(crate) fn select(self, rows: &[usize]) -> (Vec<usize>, Self) {
        let owners: Vec<usize> = rows.iter().map(|row| row / self.0).collect();
        let fan = owners.iter().take_while(|owner| Some(*owner) == owners.first()).count().max(1);
        let even = owners.len().is_multiple_of(fan)
            && owners.chunks(fan).all(|rows| rows.iter().all(|owner| *owner == rows[0]));
        match even {
            true => (owners.into_iter().step_by(fan).collect(), Self(fan)),
            false => (owners, Self::ONE),
        }
    }

    /// Rows [R, T, W] as the queries of their sentences: [B, fan · T, W].
    pub(crate) fn gather(self, x: Tensor<3>) -> Tensor<3> {
        let [rows, time, width] = x.dims();
        if self == Self::ONE { x } else { x.reshape([rows / self.0, self.0 * time, width]) }
    }

    /// The queries of sentences [B, fan · T, W] as rows again: [R, T, W].
    pub(crate) fn scatter(self, x: Tensor<3>) -> Tensor<3> {
        let [sentences, queries, width] = x.dims();
        if self == Self::ONE { x } else { x.reshape([sentences * self.0, queries / self.0, width]) }
    }

    /// The same of weights [B, H, fan · T, S]: [R, H, T, S].
    pub(crate) fn scatter_heads(self, x: Tensor<4>) -> Tensor<4> {
        if self == Self::ONE {
            return x;
        }
        let [sentences, heads, queries, keys] = x.dims();
        let time = queries / self.0;
        let apart = x.swap_dims(1, 2).reshape([sentences * self.0, time, heads, keys]);
        apart.swap_dims(1, 2)
    }
}

/// These rows as a tensor; `None` if they are all of `count` in order, and nothing is to be done.
pub(crate) fn row_ids(rows: &[usize], count: usize, device: &Device) -> Option<Tensor<1, Int>> {
    if rows.len() == count && rows.iter().enumerate().all(|(place, row)| place == *row) {
        return None;
    }
    let ids: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    Some(Tensor::from_data(TensorData::new(ids, [rows.len()]), device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_where_they_can_be() {
        let three = Fan::ONE.select(&[0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(three, (vec![0, 1, 2], Fan(3)));
        // Any hypotheses of sentences 0 and 2, which stay where they are.
        assert_eq!(Fan(3).select(&[1, 1, 0, 8, 6, 6]), (vec![0, 2], Fan(3)));
        assert_eq!(Fan(3).select(&[2, 4]), (vec![0, 1], Fan::ONE));
        assert_eq!(Fan(3).select(&[0, 1, 3]), (vec![0, 0, 1], Fan::ONE));
        assert_eq!(Fan(3).select(&[0, 3, 4]), (vec![0, 1, 1], Fan::ONE));
        assert_eq!(Fan::ONE.select(&[]), (vec![], Fan::ONE));
    }

    #[test]
    fn what_is_gathered_comes_back() {
        let x = Tensor::<1, Int>::arange(0..6 * 2 * 4, &Device::flex()).float().reshape([6, 2, 4]);
        let fan = Fan(3);
        let together = fan.gather(x.clone());
        assert_eq!(together.dims(), [2, 6, 4]);
        assert_eq!(fan.scatter(together.clone()).to_data(), x.to_data());
        // With one head, weights are queries.
        let heads = fan.scatter_heads(together.unsqueeze_dim::<4>(1));
        assert_eq!(heads.squeeze_dim::<3>(1).to_data(), x.to_data());
    }

    #[test]
    fn all_rows_in_order_need_no_copy() {
        let device = Device::flex();
        assert!(row_ids(&[0, 1, 2], 3, &device).is_none());
        assert!(row_ids(&[0, 1], 3, &device).is_some());
        assert!(row_ids(&[1, 0], 2, &device).is_some());
    }
}
