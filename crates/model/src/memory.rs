//! What an encoder leaves behind, and tokens as tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};
use gatto_data::images::ImageBatch;
use gatto_data::random::mixed;
use gatto_data::sound::SoundBatch;
use gatto_data::tokens::START;
use gatto_data::{Padded, Sources};
use gatto_nn::recurrent::CellState;
use gatto_nn::repeated;
use gatto_nn::transformer::StackState;

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
    /// How many positions of each row exist.
    pub lengths: Vec<usize>,
    /// Where each layer's heads looked while reading: [B, H, positions, positions]; with the class token as the first,
    /// where there is one.
    pub heads: Vec<Tensor<4>>,
    /// The state of a token that stands for the whole, where it is not among `states`: [B, width].
    pub class: Option<Tensor<2>>,
    /// Frames of a sound that a position stands for, with which [`gatto_data::sound::Timeline::joined`] tells when it is;
    /// 1 for what is no sound.
    pub frames_per_state: usize,
    /// What a decoder that read the source itself goes on from.
    pub(crate) prefix: Option<StackState>,
}

impl Memory {
    /// The memory of an encoder that leaves `states` [B, positions, width] and nothing else.
    pub(crate) fn new(states: Tensor<3>, source: &Tokens) -> Self {
        let Tokens { mask, lengths, identities, .. } = source.clone();
        Self::of_positions(states, mask, lengths, identities)
    }

    /// The same of anything that has positions, some of which exist.
    pub(crate) fn of_positions(
        states: Tensor<3>,
        mask: Tensor<2>,
        lengths: Vec<usize>,
        identities: Vec<u64>,
    ) -> Self {
        let (summary, heads) = (Vec::new(), Vec::new());
        Self {
            states,
            mask,
            summary,
            identities,
            lengths,
            heads,
            class: None,
            frames_per_state: 1,
            prefix: None,
        }
    }

    /// The memory of an encoder of images that leaves `states` [B, regions, width], all of which exist.
    pub(crate) fn of_regions(states: Tensor<3>, images: &ImageBatch) -> Self {
        let [batch, regions, _] = states.dims();
        let of_image =
            |row| images.row(row).iter().fold(0, |sum, value| mixed(sum, u64::from(value.to_bits())));
        let mask = Tensor::ones([batch, regions], &states.device());
        Self::of_positions(states, mask, vec![regions; batch], (0..batch).map(of_image).collect())
    }

    /// The memory with only these rows, in this order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let ids = row_ids(rows, &self.mask.device());
        let select = |state: &CellState| state.map(|part| part.select(0, ids.clone()));
        Self {
            states: match evenly_repeated(rows, self.lengths.len()) {
                Some(each) => repeated(self.states.clone(), each),
                None => self.states.clone().select(0, ids.clone()),
            },
            mask: self.mask.clone().select(0, ids.clone()),
            summary: self.summary.iter().map(select).collect(),
            identities: rows.iter().map(|&row| self.identities[row]).collect(),
            lengths: rows.iter().map(|&row| self.lengths[row]).collect(),
            heads: self.heads.iter().map(|heads| heads.clone().select(0, ids.clone())).collect(),
            class: self.class.clone().map(|class| class.select(0, ids.clone())),
            frames_per_state: self.frames_per_state,
            prefix: self.prefix.as_ref().map(|prefix| prefix.clone().select(rows)),
        }
    }

    /// The summary of the last layer: [B, width].
    pub fn context(&self) -> Option<Tensor<2>> {
        self.summary.last().map(|state| state.hidden.clone())
    }
}

/// What is read, wherever it is held.
#[derive(Clone, Copy, Debug)]
pub enum Reading<'a> {
    /// Rows of tokens.
    Tokens(&'a Padded),
    /// Images.
    Images(&'a ImageBatch),
    /// Sounds.
    Sound(&'a SoundBatch),
}

impl Reading<'_> {
    /// How many sources there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.rows,
            Self::Images(images) => images.rows,
            Self::Sound(sounds) => sounds.rows,
        }
    }
}

impl<'a> From<&'a Padded> for Reading<'a> {
    fn from(tokens: &'a Padded) -> Self {
        Self::Tokens(tokens)
    }
}

impl<'a> From<&'a Sources> for Reading<'a> {
    fn from(sources: &'a Sources) -> Self {
        match sources {
            Sources::Tokens(tokens) => Self::Tokens(tokens),
            Sources::Images(images) => Self::Images(images),
            Sources::Sound(sounds) => Self::Sound(sounds),
        }
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
    /// How many tokens of each row exist.
    pub lengths: Vec<usize>,
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
        let lengths: Vec<usize> = lengths.collect();
        for (row, &length) in lengths.iter().enumerate() {
            mask[row * rows.width..][..length].fill(1.0);
            let tokens = &rows.ids[row * rows.width..][..length];
            identities.push(tokens.iter().fold(0, |sum, &token| mixed(sum, u64::from(token))));
        }
        Self {
            ids: ids(&rows.ids, shape, device),
            mask: Tensor::from_data(TensorData::new(mask, shape), device),
            identities,
            lengths,
        }
    }

    /// One token per row.
    pub fn column(tokens: &[u32], device: &Device) -> Self {
        let shape = [tokens.len(), 1];
        let identities = vec![0; tokens.len()]; // of no use behind the source
        let lengths = vec![1; tokens.len()];
        Self { ids: ids(tokens, shape, device), mask: Tensor::ones(shape, device), identities, lengths }
    }

    /// The same tokens with `START` before each row.
    pub(crate) fn behind_start(&self) -> Self {
        let ([batch, _], device) = (self.ids.dims(), self.ids.device());
        let start = Tensor::full([batch, 1], i64::from(START), &device);
        Self {
            ids: Tensor::cat(vec![start, self.ids.clone()], 1),
            mask: Tensor::cat(vec![Tensor::ones([batch, 1], &device), self.mask.clone()], 1),
            identities: self.identities.clone(),
            lengths: self.lengths.iter().map(|length| length + 1).collect(),
        }
    }
}

/// Rows to select, as a tensor.
pub(crate) fn row_ids(rows: &[usize], device: &Device) -> Tensor<1, Int> {
    let count = rows.len();
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    Tensor::from_data(TensorData::new(rows, [count]), device)
}

/// How often every one of `count` rows stands in `rows`, if it is equally often and in order.
fn evenly_repeated(rows: &[usize], count: usize) -> Option<usize> {
    let each = rows.len() / count.max(1);
    let even = each > 0 && rows.len() == count * each;
    (even && rows.iter().enumerate().all(|(at, &row)| row == at / each)).then_some(each)
}

fn ids(ids: &[u32], shape: [usize; 2], device: &Device) -> Tensor<2, Int> {
    let ids: Vec<i64> = ids.iter().map(|&id| i64::from(id)).collect();
    Tensor::from_data(TensorData::new(ids, shape), device)
}

#[cfg(test)]
mod tests {
    use super::evenly_repeated;

    #[test]
    fn rows_that_are_repeated_evenly_are_known() {
        assert_eq!(evenly_repeated(&[0, 0, 0, 1, 1, 1], 2), Some(3));
        assert_eq!(evenly_repeated(&[0, 1, 2], 3), Some(1));
        for (rows, count) in [
            (&[][..], 0),
            (&[], 2),
            (&[0, 1], 3),
            (&[1, 0], 2),
            (&[0, 0, 1], 2),
            (&[0, 1, 0, 1], 2),
            (&[0, 0, 0, 0], 2),
        ] {
            assert_eq!(evenly_repeated(rows, count), None, "{rows:?} of {count}");
        }
    }
}
