//! The convolutional encoder: a residual network whose last map has a state for every region of the image. Its context
//! c is the mean region.

use super::regions::image_of;
use super::transformer::mean;
use crate::memory::Memory;
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::images::ImageBatch;
use gatto_nn::recurrent::CellState;
use gatto_nn::vision::{GridPositions, ResidualNetwork};
use gatto_nn::{Noise, dropout};

/// Convolutions, and where each region stands.
#[derive(Module, Debug)]
pub(crate) struct CnnEncoder {
    pub(crate) network: ResidualNetwork,
    pub(crate) positions: Option<GridPositions>,
    /// Pixels from one region to the next.
    #[module(skip)]
    pub(crate) stride: usize,
    #[module(skip)]
    pub(crate) dropout: f64,
}

impl CnnEncoder {
    /// Reads the pixels of every region [B, N, stride·stride·C].
    pub(crate) fn read(&self, images: &ImageBatch, vectors: Tensor<3>, noise: &mut Noise) -> Memory {
        let map = self.network.forward(image_of(vectors, images, self.stride)); // [B, rows, columns, width]
        let [batch, rows, columns, width] = map.dims();
        let mut states = map.reshape([batch, rows * columns, width]);
        if let Some(positions) = &self.positions {
            states =
                states.clone() + positions.forward(rows, columns, &states.device()).unsqueeze_dim::<3>(0);
        }
        let states = dropout(states, self.dropout, noise);
        let memory = Memory::of_regions(states, images);
        let summary = vec![CellState { hidden: mean(&memory.states, &memory.mask), cell: None }];
        Memory { summary, ..memory }
    }
}
