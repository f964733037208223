//! Convolution: y_{ij} = Σ_{uv} x_{si+u−p, sj+v−p} W_{uv} + b, with stride s, padding p and zeros outside the image.
//!
//! The weight is one matrix [U·V·C, O]: a row for every row u and column v of the window and every channel.

use super::Window;
use crate::Initial;
use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, TensorData};

/// A convolution with its weight and, if any, its bias.
#[derive(Module, Debug)]
pub struct Convolution {
    /// W: [U·V·C, O].
    pub weight: Param<Tensor<2>>,
    /// b: `[O]`.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    window: Window,
}

impl Convolution {
    /// A convolution from `input` to `output` channels.
    pub fn new(input: usize, output: usize, window: Window, biased: bool, initial: &mut Initial) -> Self {
        let weight = initial.he([window.height * window.width * input, output]);
        Self { weight, bias: biased.then(|| initial.constant([output], 0.0)), window }
    }

    /// [B, H, W, C] → [B, H′, W′, O].
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        convolution(x, self.weight.val(), self.bias.as_ref().map(Param::val), self.window)
    }
}

/// Convolves `x` [B, H, W, C] with `weight` [U·V·C, O] and `bias` `[O]`: [B, H′, W′, O].
pub fn convolution(x: Tensor<4>, weight: Tensor<2>, bias: Option<Tensor<1>>, window: Window) -> Tensor<4> {
    convolution_plain(x, weight, bias, window)
}

/// The convolution in plain tensor operations: what the window sees at each place, side by side, times the weight.
pub fn convolution_plain(
    x: Tensor<4>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
    window: Window,
) -> Tensor<4> {
    let ([batch, height, width, _], output) = (x.dims(), weight.dims()[1]);
    let (rows, columns) = window.places(height, width);
    let x = surrounded(surrounded(x, 1, window.padding), 2, window.padding);
    let offsets = (0..window.height).flat_map(|u| (0..window.width).map(move |v| (u, v)));
    let seen = offsets.map(|(u, v)| {
        let of_rows = x.clone().select(1, every(u, rows, window.stride, &x));
        of_rows.select(2, every(v, columns, window.stride, &x)) // [B, H′, W′, C]
    });
    let unfolded = Tensor::cat(seen.collect(), 3); // [B, H′, W′, U·V·C]
    let depth = weight.dims()[0];
    let y = unfolded.reshape([batch * rows * columns, depth]).matmul(weight);
    let y = match bias {
        Some(bias) => y + bias.unsqueeze(),
        None => y,
    };
    y.reshape([batch, rows, columns, output])
}

/// `x` with `count` zeros on either side along one dimension.
fn surrounded(x: Tensor<4>, dimension: usize, count: usize) -> Tensor<4> {
    if count == 0 {
        return x;
    }
    let mut shape = x.dims();
    shape[dimension] = count;
    let zeros = Tensor::zeros(shape, &x.device());
    Tensor::cat(vec![zeros.clone(), x, zeros], dimension)
}

/// The numbers `from`, `from` + `step` and so on, `count` of them, where `x` is.
fn every(from: usize, count: usize, step: usize, x: &Tensor<4>) -> Tensor<1, Int> {
    let numbers: Vec<i64> = (0..count).map(|number| (from + number * step) as i64).collect();
    Tensor::from_data(TensorData::new(numbers, [count]), &x.device())
}
