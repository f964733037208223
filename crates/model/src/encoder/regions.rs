//! Images as the pixels of their regions, and back.

use burn::tensor::{Device, Tensor, TensorData};
use gatto_data::images::ImageBatch;
use gatto_nn::vision::patches;

/// The pixels of every region, row by row: [B, N, size·size·C].
pub(super) fn regions_of(images: &ImageBatch, size: usize, device: &Device) -> Tensor<3> {
    let shape = [images.rows, images.height, images.width, images.channels];
    patches(Tensor::from_data(TensorData::new(images.values.clone(), shape), device), size)
}

/// The images [B, H, W, C] again.
pub(super) fn image_of(regions: Tensor<3>, images: &ImageBatch, size: usize) -> Tensor<4> {
    let [batch, _, _] = regions.dims();
    let ImageBatch { height, width, channels, .. } = *images;
    regions
        .reshape([batch, height / size, width / size, size, size * channels])
        .swap_dims(2, 3) // [B, rows, size, columns, size·C]
        .reshape([batch, height, width, channels])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_the_image_again() {
        let images = ImageBatch {
            values: (0..2 * 4 * 6 * 3).map(|n| n as f32).collect(),
            rows: 2,
            channels: 3,
            height: 4,
            width: 6,
        };
        let regions = regions_of(&images, 2, &Device::flex());
        assert_eq!(regions.dims(), [2, 6, 12]);
        let second = regions.clone().slice([0..1, 1..2, 0..7]).try_into_vec_as::<f32>().unwrap();
        assert_eq!(second, [6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 24.0], "two pixels, then those below them");
        let back = image_of(regions, &images, 2).try_into_vec_as::<f32>().unwrap();
        assert_eq!(back, images.values);
    }
}
