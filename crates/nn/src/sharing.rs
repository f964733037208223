//! Rows that share a sentence: the hypotheses of a beam all look at the same source, of which there is no need to
//! have a copy for each.

use crate::flex::{Operand, plain};
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::sync::Arc;

/// How rows belong to sentences: those of a sentence stand one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fan {
    /// Each sentence has as many.
    Even(usize),
    /// Not all have as many. What they look at side by side has places for the most of them, of which some stay
    /// empty: the sentences, the most rows of one, and the place of each row.
    Uneven { sentences: usize, most: usize, places: Arc<[usize]> },
}

impl Default for Fan {
    fn default() -> Self {
        Self::ONE
    }
}

impl Fan {
    /// A row for every sentence.
    pub(crate) const ONE: Self = Self::Even(1);

    /// The sentences that these rows need, in order, and how the rows belong to them then.
    pub(crate) fn select(&self, rows: &[usize]) -> (Vec<usize>, Self) {
        let owners: Vec<usize> = rows.iter().map(|&row| self.owner(row)).collect();
        let runs: Vec<&[usize]> = owners.chunk_by(|left, right| left == right).collect();
        let most = runs.iter().map(|run| run.len()).max().unwrap_or(1);
        let fan = match runs.iter().all(|run| run.len() == most) {
            true => Self::Even(most),
            false => {
                let places = runs
                    .iter()
                    .enumerate()
                    .flat_map(|(sentence, run)| (0..run.len()).map(move |place| sentence * most + place));
                Self::Uneven { sentences: runs.len(), most, places: places.collect() }
            }
        };
        (runs.iter().map(|run| run[0]).collect(), fan)
    }

    /// The sentence of a row.
    fn owner(&self, row: usize) -> usize {
        match self {
            Self::Even(count) => row / count,
            Self::Uneven { most, places, .. } => places[row] / most,
        }
    }

    /// The sentence of each of `rows` rows.
    pub(crate) fn owners(&self, rows: usize) -> impl Iterator<Item = u32> {
        (0..rows).map(|row| self.owner(row) as u32)
    }

    /// Whether these rows, chosen of as many, belong to their sentences as those whose places they take.
    pub(crate) fn stays(&self, rows: &[usize]) -> bool {
        rows.iter().enumerate().all(|(place, &row)| self.owner(row) == self.owner(place))
    }

    /// Rows [R, T, W] as the queries of their sentences: [B, most · T, W].
    pub(crate) fn gather(&self, x: Tensor<3>) -> Tensor<3> {
        let [rows, time, width] = x.dims();
        match self {
            Self::Even(1) => x,
            Self::Even(count) => x.reshape([rows / count, count * time, width]),
            Self::Uneven { sentences, most, places } => {
                let mut from = vec![0; sentences * most]; // an empty place takes any row
                places.iter().enumerate().for_each(|(row, &place)| from[place] = row);
                let ids = ids(&from, &x.device());
                x.select(0, ids).reshape([*sentences, most * time, width])
            }
        }
    }

    /// The queries of sentences [B, most · T, W] as rows again: [R, T, W].
    pub(crate) fn scatter(&self, x: Tensor<3>) -> Tensor<3> {
        let [sentences, queries, width] = x.dims();
        match self {
            Self::Even(1) => x,
            Self::Even(count) => x.reshape([sentences * count, queries / count, width]),
            Self::Uneven { most, places, .. } => {
                let ids = ids(places, &x.device());
                x.reshape([sentences * most, queries / most, width]).select(0, ids)
            }
        }
    }

    /// The same of weights [B, H, most · T, S]: [R, H, T, S].
    pub(crate) fn scatter_heads(&self, x: Tensor<4>) -> Tensor<4> {
        let (most, places) = match self {
            Self::Even(1) => return x,
            Self::Even(count) => (*count, None),
            Self::Uneven { most, places, .. } => (*most, Some(places)),
        };
        let [sentences, heads, queries, keys] = x.dims();
        let time = queries / most;
        let apart = x.swap_dims(1, 2).reshape([sentences * most, time, heads, keys]);
        let rows = match places {
            Some(places) => {
                let ids = ids(places, &apart.device());
                apart.select(0, ids)
            }
            None => apart,
        };
        rows.swap_dims(1, 2)
    }
}

/// The rows of `before` [B, S, C] that are named, in their order, or all, each with that of `more` [R, T, C] behind it.
pub(crate) fn followed_by(before: Tensor<3>, rows: Option<&[usize]>, more: Tensor<3>) -> Tensor<3> {
    if let Some(joined) = followed_on_the_cpu(&before, rows, &more) {
        return joined;
    }
    let before = match rows {
        Some(rows) => {
            let ids = ids(rows, &before.device());
            before.select(0, ids)
        }
        None => before,
    };
    Tensor::cat(vec![before, more], 1)
}

/// The same in one pass over the values, where no gradient is asked for.
fn followed_on_the_cpu(before: &Tensor<3>, rows: Option<&[usize]>, more: &Tensor<3>) -> Option<Tensor<3>> {
    if before.is_autodiff() || more.is_autodiff() {
        return None;
    }
    let ([count, length, width], [wanted, time, _]) = (before.dims(), more.dims());
    let (first, second) = (Operand::of(before)?.values, Operand::of(more)?.values);
    let (first, second) = (first.slice(), second.slice());
    let mut joined = Vec::with_capacity(wanted * (length + time) * width);
    for row in 0..wanted {
        let from = rows.map_or(row, |rows| rows[row]);
        debug_assert!(from < count);
        joined.extend_from_slice(&first[from * length * width..][..length * width]);
        joined.extend_from_slice(&second[row * time * width..][..time * width]);
    }
    Some(plain(joined, [wanted, length + time, width]))
}

pub(crate) fn ids(rows: &[usize], device: &Device) -> Tensor<1, Int> {
    let ids: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    Tensor::from_data(TensorData::new(ids, [rows.len()]), device)
}

/// These rows as a tensor; `None` if they are all of `count` in order, and nothing is to be done.
pub(crate) fn row_ids(rows: &[usize], count: usize, device: &Device) -> Option<Tensor<1, Int>> {
    if rows.len() == count && rows.iter().enumerate().all(|(place, row)| place == *row) {
        return None;
    }
    Some(ids(rows, device))
}

/// Every row of `x` [B, S, W] so many times, one behind the other. A selection gives the same; its gradient, which may
/// meet a row anywhere, takes longer.
pub fn repeated(x: Tensor<3>, each: usize) -> Tensor<3> {
    let [count, positions, width] = x.dims();
    x.repeat_dim(1, each).reshape([count * each, positions, width])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fan whose sentences have so many rows.
    fn fan(counts: &[usize]) -> Fan {
        let rows = counts.iter().enumerate().flat_map(|(sentence, &count)| vec![sentence; count]);
        Fan::ONE.select(&rows.collect::<Vec<_>>()).1
    }

    #[test]
    fn rows_share_their_sentence() {
        let three = Fan::ONE.select(&[0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(three, (vec![0, 1, 2], Fan::Even(3)));
        assert_eq!(three.1.owners(6).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
        assert_eq!(fan(&[2, 1, 3]).owners(6).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2]);
        assert!(Fan::Even(3).stays(&[1, 1, 0, 5, 3, 3]) && fan(&[2, 1]).stays(&[1, 0, 2]));
        assert!(!Fan::Even(2).stays(&[1, 2]) && !fan(&[2, 1]).stays(&[0, 2, 2]));
        // Any hypotheses of sentences 0 and 2, which stay where they are.
        assert_eq!(Fan::Even(3).select(&[1, 1, 0, 8, 6, 6]), (vec![0, 2], Fan::Even(3)));
        assert_eq!(Fan::Even(3).select(&[2, 4]), (vec![0, 1], Fan::ONE));
        assert_eq!(Fan::Even(3).select(&[0, 1, 3]), (vec![0, 1], fan(&[2, 1])));
        assert_eq!(fan(&[2, 1]).select(&[1, 0, 2]), (vec![0, 1], fan(&[2, 1])));
        assert_eq!(fan(&[2, 1, 3]).select(&[2, 5, 5, 3]), (vec![1, 2], fan(&[1, 3])));
        assert_eq!(fan(&[2, 1, 3]).select(&[2, 5]), (vec![1, 2], Fan::ONE));
        assert_eq!(Fan::ONE.select(&[]), (vec![], Fan::ONE));
    }

    #[test]
    fn rows_are_repeated_as_a_selection_would() {
        let device = Device::flex().autodiff();
        let values = |count: i64| (Tensor::<1, Int>::arange(0..count, &device).float() * 0.7).sin();
        let rows = values(24).reshape([2, 3, 4]).require_grad();
        let seed = values(72).reshape([6, 3, 4]);
        let outcome = |y: Tensor<3>| {
            let mut pass = (y.clone() * seed.clone()).sum().backward();
            [y.inner(), rows.grad_remove(&mut pass).unwrap()].map(|x| x.try_into_vec_as::<f32>().unwrap())
        };
        let ids = Tensor::from_data([0, 0, 0, 1, 1, 1], &device);
        assert_eq!(outcome(repeated(rows.clone(), 3)), outcome(rows.clone().select(0, ids)));
        let nothing = Tensor::<3>::zeros([2, 0, 4], &device);
        assert_eq!(repeated(nothing, 3).dims(), [6, 0, 4]);
    }

    #[test]
    fn what_is_gathered_comes_back() {
        let x = Tensor::<1, Int>::arange(0..6 * 2 * 4, &Device::flex()).float().reshape([6, 2, 4]);
        for (fan, sentences, most) in
            [(Fan::ONE, 6, 1), (Fan::Even(3), 2, 3), (fan(&[1, 3, 2]), 3, 3), (fan(&[5, 1]), 2, 5)]
        {
            let together = fan.gather(x.clone());
            assert_eq!(together.dims(), [sentences, most * 2, 4]);
            assert_eq!(fan.scatter(together.clone()).to_data(), x.to_data());
            // With one head, weights are queries.
            let heads = fan.scatter_heads(together.unsqueeze_dim::<4>(1));
            assert_eq!(heads.squeeze_dim::<3>(1).to_data(), x.to_data());
        }
    }

    #[test]
    fn rows_are_chosen_and_followed_in_one_pass() {
        let device = Device::flex();
        let numbers = |from: i64, shape: [usize; 3]| {
            let count = shape.iter().product::<usize>() as i64;
            Tensor::<1, Int>::arange(from..from + count, &device).float().reshape(shape)
        };
        let before = numbers(0, [3, 2, 4]);
        for rows in [None, Some([2, 0, 2])] {
            let rows = rows.as_ref().map(|rows| &rows[..]);
            let more = numbers(100, [3, 1, 4]);
            let chosen = match rows {
                Some(rows) => before.clone().select(0, ids(rows, &device)),
                None => before.clone(),
            };
            let expected = Tensor::cat(vec![chosen, more.clone()], 1);
            assert_eq!(followed_by(before.clone(), rows, more).to_data(), expected.to_data());
        }
    }

    #[test]
    fn all_rows_in_order_need_no_copy() {
        let device = Device::flex();
        assert!(row_ids(&[0, 1, 2], 3, &device).is_none());
        assert!(row_ids(&[0, 1], 3, &device).is_some());
        assert!(row_ids(&[1, 0], 2, &device).is_some());
    }
}
