//! The Transformer's encoder: every state has seen every token. Its context c is the mean of all states.

use crate::decoder::Lent;
use crate::memory::{Memory, Tokens, row_ids};
use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use gatto_nn::recurrent::CellState;
use gatto_nn::transformer::{Stack, StackState};
use gatto_nn::{Embedding, Noise};

/// Token vectors and layers of self-attention; `None` where the decoder's do double duty.
#[derive(Module, Debug)]
pub(crate) struct TransformerEncoder {
    pub(crate) embedding: Option<Embedding>,
    pub(crate) stack: Option<Stack>,
}

impl TransformerEncoder {
    pub(crate) fn read(
        &self,
        source: &Tokens,
        vectors: Tensor<3>,
        lent: Lent<'_>,
        noise: &mut Noise,
    ) -> Memory {
        let Some(stack) = &self.stack else { return prefix(source, vectors, lent, noise) };
        let read = stack.forward(vectors, Some(&source.mask), StackState::default(), noise);
        let summary = vec![CellState { hidden: mean(&read.states, &source.mask), cell: None }];
        Memory { summary, heads: read.weights.tensors(), ..Memory::new(read.states, source) }
    }
}

/// A source that the decoder reads as the beginning of what it writes. Its rows end together, so
/// that the target follows each of them at once.
fn prefix(source: &Tokens, vectors: Tensor<3>, lent: Lent<'_>, noise: &mut Noise) -> Memory {
    let Some(stack) = lent.stack else { unreachable!("what an encoder has not, the decoder lends") };
    let [batch, time, width] = vectors.dims();
    let padding: Vec<usize> = source.lengths.iter().map(|&length| time - length).collect();
    let device = vectors.device();
    let from = padding.iter().flat_map(|&padding| {
        (0..time).map(move |column| column.saturating_sub(padding)) // padding takes any token
    });
    let ids: Vec<usize> =
        from.enumerate().map(|(place, column)| place / time.max(1) * time + column).collect();
    let vectors = vectors.reshape([batch * time, width]).select(0, row_ids(&ids, &device));
    let mut exists = vec![1.0f32; batch * time];
    for (row, &padding) in padding.iter().enumerate() {
        exists[row * time..][..padding].fill(0.0);
    }
    let exists = Tensor::from_data(TensorData::new(exists, [batch, time]), &device);
    let before = Stack::ending_together(exists.clone(), padding);
    let read = stack.forward(vectors.reshape([batch, time, width]), None, before, noise);
    Memory {
        mask: exists,
        heads: read.weights.tensors(),
        prefix: Some(read.state),
        ..Memory::new(read.states, source)
    }
}

/// The mean over the positions that exist: [B, S, C] → [B, C].
pub(crate) fn mean(states: &Tensor<3>, mask: &Tensor<2>) -> Tensor<2> {
    let count = mask.clone().sum_dim(1).clamp_min(1.0); // [B, 1]
    let sum = (states.clone() * mask.clone().unsqueeze_dim::<3>(2)).sum_dim(1).squeeze_dim::<2>(1);
    sum / count
}
