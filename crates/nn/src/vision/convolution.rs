//! Convolution: y_{ij} = Σ_{uv} x_{si+u−p, sj+v−p} W_{uv} + b, with stride s, padding p and zeros outside the image.
//!
//! The weight is one matrix [U·V·C, O]: a row for every row u and column v of the window and every channel.

use super::Window;
use crate::flex::{Gradient, Operand, Values, operation, plain};
use crate::{Initial, Preparing, Ready};
use burn::module::{Module, Param};
use burn::tensor::{Int, Shape, Tensor, TensorData};
use gatto_kernels::convolution as kernel;

/// A convolution with its weight and, if any, its bias.
#[derive(Module, Debug)]
pub struct Convolution {
    /// W: [U·V·C, O].
    pub weight: Param<Tensor<2>>,
    /// b: `[O]`.
    pub bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    window: Window,
    #[module(skip)]
    ready: Ready,
}

impl Convolution {
    /// A convolution from `input` to `output` channels.
    pub fn new(input: usize, output: usize, window: Window, biased: bool, initial: &mut Initial) -> Self {
        let weight = initial.he([window.height * window.width * input, output]);
        Self {
            weight,
            bias: biased.then(|| initial.constant([output], 0.0)),
            window,
            ready: Ready::default(),
        }
    }

    /// Makes the weight ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.ready = Ready::new(&self.weight, false, how);
    }

    /// [B, H, W, C] → [B, H′, W′, O].
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        if let Some(y) = self.predicted(&x) {
            return y;
        }
        convolution(x, self.weight.val(), self.bias.as_ref().map(Param::val), self.window)
    }
}

impl Convolution {
    /// With the weight that was made ready; none if it was not, or gradients may be asked for.
    fn predicted(&self, x: &Tensor<4>) -> Option<Tensor<4>> {
        let weight = self.ready.prepared().filter(|_| !x.is_autodiff())?;
        let bias = match &self.bias {
            Some(bias) => Some(Operand::of(&bias.val())?.values),
            None => None,
        };
        let shape = shape(x, weight.shape().1, self.window);
        let (x, (rows, columns)) = (Operand::of(x)?.values, shape.places());
        let y = kernel::forward_prepared(shape, x.slice(), &weight, bias.as_ref().map(Values::slice));
        Some(plain(y, [shape.batch, rows, columns, shape.output]))
    }
}

/// Convolves `x` [B, H, W, C] with `weight` [U·V·C, O] and `bias` `[O]`: [B, H′, W′, O].
pub fn convolution(x: Tensor<4>, weight: Tensor<2>, bias: Option<Tensor<1>>, window: Window) -> Tensor<4> {
    match fused(&x, &weight, bias.as_ref(), window) {
        Some(y) => y,
        None => convolution_plain(x, weight, bias, window),
    }
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

fn shape(x: &Tensor<4>, output: usize, window: Window) -> kernel::Shape {
    let [batch, height, width, input] = x.dims();
    kernel::Shape { batch, height, width, input, output, window }
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    shape: kernel::Shape,
    x: Values,
    weight: Values,
    /// Whether x gets a gradient: an image needs none.
    with_x: bool,
}

impl Kept {
    /// The gradients of x, the weight and the bias.
    fn all(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let kernel::Shape { batch, height, width, input, output: out, .. } = self.shape;
        let found = kernel::backward(self.shape, self.x.slice(), self.weight.slice(), output, self.with_x);
        [
            found.x.map(|x| (x, Shape::new([batch, height, width, input]))),
            Some((found.weight, Shape::new([self.shape.depth(), out]))),
            Some((found.bias, Shape::new([out]))),
        ]
    }
}

impl Gradient<3> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        self.all(output)
    }
}

/// Without a bias.
impl Gradient<2> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 2] {
        let [x, weight, _] = self.all(output);
        [x, weight]
    }
}

fn fused(x: &Tensor<4>, weight: &Tensor<2>, bias: Option<&Tensor<1>>, window: Window) -> Option<Tensor<4>> {
    let shape = shape(x, weight.dims()[1], window);
    let (rows, columns) = shape.places();
    let shape_out = [shape.batch, rows, columns, shape.output];
    let operands = [Operand::of(x)?, Operand::of(weight)?];
    let [x, weight] = operands.each_ref().map(|operand| operand.values.clone());
    let with_x = operands[0].wants_gradient();
    let remember = |x: &Values, weight: &Values| Kept { shape, x: x.clone(), weight: weight.clone(), with_x };
    let Some(bias) = bias else {
        let y = kernel::forward(shape, x.slice(), weight.slice(), None);
        return Some(operation(operands, y, shape_out, || remember(&x, &weight)));
    };
    let ([of_x, of_weight], bias) = (operands, Operand::of(bias)?);
    let y = kernel::forward(shape, x.slice(), weight.slice(), Some(bias.values.slice()));
    Some(operation([of_x, of_weight, bias], y, shape_out, || remember(&x, &weight)))
}
