//! Images as sequences of patches (Dosovitskiy et al., 2021), and where each stands in the grid of them.

use crate::positions::wave;
use crate::{Initial, linear_map};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// Cuts images [B, H, W, C] into squares of `size` pixels a side, row by row: [B, N, size·size·C]. H and W are multiples
/// of `size`.
pub fn patches(images: Tensor<4>, size: usize) -> Tensor<3> {
    let [batch, height, width, channels] = images.dims();
    let (rows, columns) = (height / size, width / size);
    images
        .reshape([batch, rows, size, columns, size * channels])
        .swap_dims(2, 3) // [B, rows, columns, size, size·C]
        .reshape([batch, rows * columns, size * size * channels])
}

/// The list of positions in a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GridPositionKind {
    /// A vector for each; those of a grid of another size lie between them.
    #[default]
    Learned,
    /// Waves of many lengths: half of the features for the row, half for the column.
    Sinusoidal,
}

/// Vectors of the positions in a grid.
#[derive(Module, Debug)]
pub struct GridPositions {
    /// `learned`: [rows·columns, C].
    weight: Option<Param<Tensor<2>>>,
    #[module(skip)]
    shape: [usize; 3],
}

impl GridPositions {
    /// Positions of width `width` with first values from `initial`; learned ones for a grid of `rows` × `columns`.
    pub fn new(
        kind: GridPositionKind,
        rows: usize,
        columns: usize,
        width: usize,
        initial: &mut Initial,
    ) -> Self {
        let learned = kind == GridPositionKind::Learned;
        let weight = learned.then(|| initial.normal([rows * columns, width], 0.02));
        Self { weight, shape: [rows, columns, width] }
    }

    /// The positions of a grid of `rows` × `columns`, row by row, on the device of what they are added to:
    /// [rows·columns, C].
    pub fn forward(&self, rows: usize, columns: usize, device: &Device) -> Tensor<2> {
        let [own_rows, own_columns, width] = self.shape;
        let Some(weight) = self.weight.as_ref().map(Param::val) else {
            return waves(rows, columns, width, device);
        };
        if (rows, columns) == (own_rows, own_columns) {
            return weight;
        }
        // Along the columns of the grid, then along its rows: [r, c·C] → [r′, c·C] → [c, r′·C] → [c′, r′·C].
        let down = between(own_rows, rows, device); // [r′, r]
        let along = between(own_columns, columns, device); // [c′, c]
        let weight = linear_map(down, weight.reshape([own_rows, own_columns * width]));
        let weight = weight.reshape([rows, own_columns, width]).swap_dims(0, 1);
        let weight = linear_map(along, weight.reshape([own_columns, rows * width]));
        weight.reshape([columns, rows, width]).swap_dims(0, 1).reshape([rows * columns, width])
    }
}

/// How many values tell a place by its [`coordinates`].
pub const COORDINATES: usize = 10;

/// The coordinates of the places in a grid, row by row: [rows·columns, [`COORDINATES`]]. With u from −1 at the upper border to
/// 1 at the lower one: u, sin πu, cos πu, sin 2πu, cos 2πu; then the same from left to right. Which of two places lies
/// further to the left is a matter of one difference.
pub fn coordinates(rows: usize, columns: usize, device: &Device) -> Tensor<2> {
    let along = |place: usize, count: usize| {
        let u = (2 * place + 1) as f64 / count as f64 - 1.0;
        let angle = std::f64::consts::PI * u;
        [u, angle.sin(), angle.cos(), (2.0 * angle).sin(), (2.0 * angle).cos()].map(|value| value as f32)
    };
    let values = (0..rows * columns)
        .flat_map(|place| [along(place / columns, rows), along(place % columns, columns)].concat());
    Tensor::from_data(TensorData::new(values.collect::<Vec<f32>>(), [rows * columns, COORDINATES]), device)
}

/// Waves of the row in the first half of the features, of the column in the second: [rows·columns, C].
fn waves(rows: usize, columns: usize, width: usize, device: &Device) -> Tensor<2> {
    let half = width / 2;
    let feature = |row: usize, column: usize, i: usize| match i.checked_sub(half) {
        Some(i) => wave(column, i, width - half),
        None => wave(row, i, half),
    };
    let values = (0..rows * columns)
        .flat_map(|place| (0..width).map(move |i| feature(place / columns, place % columns, i)));
    Tensor::from_data(TensorData::new(values.collect::<Vec<f32>>(), [rows * columns, width]), device)
}

/// The matrix that takes values at the centres of `from` cells to those at the centres of `to` cells of the same
/// stretch, linearly between neighbours and constant outside: [to, from].
fn between(from: usize, to: usize, device: &Device) -> Tensor<2> {
    let mut values = vec![0.0f32; to * from];
    for (place, row) in values.chunks_exact_mut(from.max(1)).enumerate() {
        let centre = (place as f64 + 0.5) * from as f64 / to as f64 - 0.5;
        let (centre, last) = (centre.max(0.0), from - 1);
        let left = (centre.floor() as usize).min(last);
        let share = centre - left as f64;
        row[left] += (1.0 - share) as f32;
        row[(left + 1).min(last)] += share as f32;
    }
    Tensor::from_data(TensorData::new(values, [to, from]), device)
}
