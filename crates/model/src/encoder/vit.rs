//! The Vision Transformer's encoder (Dosovitskiy et al., 2021): every patch of the image is a token, and so is what
//! stands for the whole. Its context c is the state of that class token or, without one, the mean patch.

use super::transformer::mean;
use crate::memory::Memory;
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use gatto_data::images::ImageBatch;
use gatto_nn::recurrent::CellState;
use gatto_nn::transformer::{Stack, StackState};
use gatto_nn::vision::GridPositions;
use gatto_nn::{Linear, Noise};

/// A linear map of flattened patches, positions in the grid, and layers of self-attention.
#[derive(Module, Debug)]
pub(crate) struct VitEncoder {
    pub(crate) projection: Linear,
    pub(crate) positions: GridPositions,
    /// The vector of the class token: [1, width].
    pub(crate) class: Option<Param<Tensor<2>>>,
    pub(crate) stack: Stack,
    /// Pixels of a patch on a side.
    #[module(skip)]
    pub(crate) patch: usize,
}

impl VitEncoder {
    /// Reads flattened patches [B, N, patch·patch·C].
    pub(crate) fn read(&self, images: &ImageBatch, vectors: Tensor<3>, noise: &mut Noise) -> Memory {
        let (rows, columns) = (images.height / self.patch, images.width / self.patch);
        let projected = self.projection.forward(vectors); // [B, N, width]
        let [batch, patches, width] = projected.dims();
        let placed = projected.clone()
            + self.positions.forward(rows, columns, &projected.device()).unsqueeze_dim::<3>(0);
        let tokens = match &self.class {
            Some(class) => {
                let class = class.val().unsqueeze_dim::<3>(0).expand([batch, 1, width]);
                Tensor::cat(vec![class, placed], 1)
            }
            None => placed,
        };
        // The stack multiplies token vectors by √width, and these are none.
        let tokens = tokens * (width as f64).sqrt().recip();
        let read = self.stack.forward(tokens, None, StackState::default(), noise);
        let first = usize::from(self.class.is_some());
        let class = self.class.is_some().then(|| read.states.clone().narrow(1, 0, 1).squeeze_dim::<2>(1));
        let memory = Memory::of_regions(read.states.narrow(1, first, patches), images);
        let hidden = class.clone().unwrap_or_else(|| mean(&memory.states, &memory.mask));
        Memory {
            summary: vec![CellState { hidden, cell: None }],
            heads: read.weights.tensors(),
            class,
            ..memory
        }
    }
}
