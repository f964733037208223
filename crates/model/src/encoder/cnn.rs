//! The convolutional encoder: a residual network whose last map has a state for every region of the image. Its context
//! c is the mean region.
//!
//! A window of 3 × 3 that moves by two pixels stands over the first of each two, so that, stage after stage, a place of
//! the map comes to stand over the upper left corner of what it is called after. Half a region of zeros above and to the
//! left of the image brings it back to the middle: a region is where its state looks.

use super::regions::image_of;
use super::transformer::mean;
use crate::memory::Memory;
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::images::ImageBatch;
use gatto_nn::recurrent::CellState;
use gatto_nn::vision::{GridPositions, ResidualNetwork, coordinates};
use gatto_nn::{Noise, dropout};

/// Convolutions, and where each region stands.
#[derive(Module, Debug)]
pub(crate) struct CnnEncoder {
    pub(crate) network: ResidualNetwork,
    pub(crate) positions: Option<GridPositions>,
    /// Whether a region's state ends with the coordinates of the region.
    #[module(skip)]
    pub(crate) coordinates: bool,
    /// Pixels from one region to the next.
    #[module(skip)]
    pub(crate) stride: usize,
    #[module(skip)]
    pub(crate) dropout: f64,
}

impl CnnEncoder {
    /// Reads the pixels of every region [B, N, stride·stride·C].
    pub(crate) fn read(&self, images: &ImageBatch, vectors: Tensor<3>, noise: &mut Noise) -> Memory {
        let (rows, columns) = (images.height / self.stride, images.width / self.stride);
        let map = self.network.forward(self.centred(image_of(vectors, images, self.stride)));
        let [batch, more_rows, more_columns, width] = map.dims();
        // Without the places in the middle of the zeros: [B, rows, columns, width].
        let map = map.narrow(1, more_rows - rows, rows).narrow(2, more_columns - columns, columns);
        let mut states = map.reshape([batch, rows * columns, width]);
        if let Some(positions) = &self.positions {
            states =
                states.clone() + positions.forward(rows, columns, &states.device()).unsqueeze_dim::<3>(0);
        }
        let mut states = dropout(states, self.dropout, noise);
        if self.coordinates {
            let places = coordinates(rows, columns, &states.device()).unsqueeze_dim::<3>(0);
            states = Tensor::cat(vec![states, places.repeat_dim(0, batch)], 2); // [B, N, width + places]
        }
        let memory = Memory::of_regions(states, images);
        let summary = vec![CellState { hidden: mean(&memory.states, &memory.mask), cell: None }];
        Memory { summary, ..memory }
    }

    /// Images [B, H, W, C] with half a region of zeros before their rows and columns.
    fn centred(&self, images: Tensor<4>) -> Tensor<4> {
        let half = self.stride / 2;
        if half == 0 {
            return images;
        }
        let [batch, height, width, channels] = images.dims();
        let zeros = |rows, columns| Tensor::zeros([batch, rows, columns, channels], &images.device());
        let below = Tensor::cat(vec![zeros(height, half), images.clone()], 2);
        Tensor::cat(vec![zeros(half, half + width), below], 1)
    }
}
