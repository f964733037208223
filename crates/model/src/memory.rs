//! What an encoder leaves behind, and tokens as tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};
use gatto_data::Padded;
use gatto_data::random::mixed;
use gatto_nn::recurrent::CellState;

/// What is known of the source once it has been read.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The encoder's state at every position: [B, positions, width].
    pub states: Tensor<3>,
    /// 1 where a position exists, 0 on padding: [B, positions].
    pub mask: Tensor<2>,
    /// The context c: the last state of every layer.
    pub summary: Vec<CellState>,
    /// A number for each row that depends on its source alone, whatever stands beside it.
    pub identities: Vec<u64>,
}

impl Memory {
    /// The memory with only these rows, in this order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let ids = row_ids(rows, &self.mask.device());
        let select = |state: &CellState| state.map(|part| part.select(0, ids.clone()));
        Self {
            states: self.states.clone().select(0, ids.clone()),
            mask: self.mask.clone().select(0, ids.clone()),
            summary: self.summary.iter().map(select).collect(),
            identities: rows.iter().map(|&row| self.identities[row]).collect(),
        }
    }

    /// The summary of the last layer: [B, width].
    pub fn context(&self) -> Option<Tensor<2>> {
        self.summary.last().map(|state| state.hidden.clone())
    }
}

/// Token ids and which of them exist.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// Token ids: [B, T].
    pub ids: Tensor<2, Int>,
    /// 1 where a token exists, 0 on padding: [B, T].
    pub mask: Tensor<2>,
    /// A number for each row that depends on its tokens alone.
    pub identities: Vec<u64>,
}

impl Tokens {
    /// The tensors of padded rows.
    pub fn new(rows: &Padded, device: &Device) -> Self {
        Self::with_lengths(rows, rows.lengths.iter().copied(), device)
    }

    /// The tensors of padded rows without the token that ends each of them.
    pub fn without_end(rows: &Padded, device: &Device) -> Self {
        Self::with_lengths(rows, rows.lengths.iter().map(|length| length.saturating_sub(1)), device)
    }

    fn with_lengths(rows: &Padded, lengths: impl Iterator<Item = usize>, device: &Device) -> Self {
        let shape = [rows.rows, rows.width];
        let mut mask = vec![0.0f32; rows.rows * rows.width];
        let mut identities = Vec::with_capacity(rows.rows);
        for (row, length) in lengths.enumerate() {
            mask[row * rows.width..][..length].fill(1.0);
            let tokens = &rows.ids[row * rows.width..][..length];
            identities.push(tokens.iter().fold(0, |sum, &token| mixed(sum, u64::from(token))));
        }
        Self {
            ids: ids(&rows.ids, shape, device),
            mask: Tensor::from_data(TensorData::new(mask, shape), device),
            identities,
        }
    }

    /// One token per row.
    pub fn column(tokens: &[u32], device: &Device) -> Self {
        let shape = [tokens.len(), 1];
        let identities = vec![0; tokens.len()]; // of no use behind the source
        Self { ids: ids(tokens, shape, device), mask: Tensor::ones(shape, device), identities }
    }
}

/// Rows to select, as a tensor.
pub(crate) fn row_ids(rows: &[usize], device: &Device) -> Tensor<1, Int> {
    let count = rows.len();
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    Tensor::from_data(TensorData::new(rows, [count]), device)
}

fn ids(ids: &[u32], shape: [usize; 2], device: &Device) -> Tensor<2, Int> {
    let ids: Vec<i64> = ids.iter().map(|&id| i64::from(id)).collect();
    Tensor::from_data(TensorData::new(ids, shape), device)
}
