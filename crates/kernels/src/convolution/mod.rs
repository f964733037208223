//! Convolution of images with their channels last: `y[i, j] = Σ_{u, v} x[s i + u − p, s j + v − p] W[u, v] + b`, with
//! stride `s`, padding `p`, and zeros outside the image.
//!
//! Letters: `B` images of `H × W` pixels with `C` channels, `U × V` the window, `H′ × W′` its places, `O` output channels.
//! The weight is a matrix `[U·V·C, O]`.
//!
//! What a window sees of one row of an image lies in one piece, `V·C` values. So nothing is unfolded: some rows of an image
//! are copied with the zeros around them (`field`), and the products read the windows where they stand (`slide`).
//! Backwards, with `g` the gradient of `y`, `dx` is a convolution of `g` with the window turned round, one for each place
//! that a pixel can have between two strides (`input`); `dW` sums the products of what a window saw with `g` (`weight`).
//!
//! Every value of `y` and `dx` is one chain of multiply-adds, in the order of the weight's rows: it depends neither on the
//! other images nor on the threads. `dW` and `db` are sums over all places, in as many parts as there are threads.

mod field;
mod input;
mod slide;
mod weight;

#[cfg(test)]
mod tests;

use crate::packed::{ACROSS, Panels, lanes};
use crate::prepared::{Packed, Prepared};
use crate::product::View;
use field::{Area, Band, Field, bands, new_in_bands};
use slide::{Grid, Slide};
use std::mem::MaybeUninit;

/// The window of a convolution, and how it moves over an image that is surrounded by zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// `U`: rows of the window.
    pub height: usize,
    /// `V`: columns of the window.
    pub width: usize,
    /// `s`: rows and columns from one place of the window to the next; not zero.
    pub stride: usize,
    /// `p`: rows and columns of zeros on every side of the image.
    pub padding: usize,
}

impl Window {
    /// A square window of odd size that stands over every `stride`-th pixel, half of it outside at the border.
    pub const fn square(size: usize, stride: usize) -> Self {
        Self { height: size, width: size, stride, padding: size / 2 }
    }

    /// `H′` and `W′`: rows and columns of places that the window has in an image of so many rows and columns.
    pub fn places(self, height: usize, width: usize) -> (usize, usize) {
        let places = |image: usize, window: usize| {
            (image + 2 * self.padding).checked_sub(window).map_or(0, |room| room / self.stride.max(1) + 1)
        };
        (places(height, self.height), places(width, self.width))
    }
}

/// The sizes of a convolution and of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: images.
    pub batch: usize,
    /// `H`: rows of an image.
    pub height: usize,
    /// `W`: columns of an image.
    pub width: usize,
    /// `C`: channels of an image.
    pub input: usize,
    /// `O`: channels of a place.
    pub output: usize,
    /// What moves over them.
    pub window: Window,
}

impl Shape {
    /// `H′` and `W′`.
    pub fn places(self) -> (usize, usize) {
        self.window.places(self.height, self.width)
    }

    /// `U·V·C`: rows of the weight.
    pub fn depth(self) -> usize {
        self.window.height * self.window.width * self.input
    }

    /// `B·H′·W′·O`: values of the output.
    fn written(self) -> usize {
        let (rows, columns) = self.places();
        self.batch * rows * columns * self.output
    }

    /// Where the windows of the rows of places `rows` stand, in the image with its surroundings.
    fn area(self, rows: &std::ops::Range<usize>) -> Area {
        let Window { height, width, stride, padding } = self.window;
        let (columns, padding) = (self.places().1, padding as isize);
        let first = (rows.start * stride) as isize - padding;
        Area {
            rows: first..first + ((rows.len() - 1) * stride + height) as isize,
            columns: -padding..(columns.saturating_sub(1) * stride + width) as isize - padding,
        }
    }
}

/// The gradients of the inputs.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[B, H, W, C]`, if it was asked for.
    pub x: Option<Vec<f32>>,
    /// `[U·V·C, O]`.
    pub weight: Vec<f32>,
    /// `[O]`.
    pub bias: Vec<f32>,
}

fn check(shape: Shape, x: &[f32], weight: (usize, usize), bias: Option<&[f32]>) {
    let Shape { batch, height, width, input, output, window } = shape;
    assert!(window.stride > 0, "convolution: the window does not move");
    assert_eq!(x.len(), batch * height * width * input, "convolution: x is not [B, H, W, C] for {shape:?}");
    assert_eq!(weight, (shape.depth(), output), "convolution: the weight is not [U·V·C, O] for {shape:?}");
    assert!(bias.is_none_or(|bias| bias.len() == output), "convolution: the bias is not [O] for {shape:?}");
}

fn panels(weight: &[f32], rows: usize, columns: usize) -> Panels {
    Panels::new(View::new(weight, rows, columns), ACROSS * lanes())
}

/// The convolution of `x` `[B, H, W, C]` with `weight` `[U·V·C, O]` and `bias` `[O]`: `[B, H′, W′, O]`.
///
/// # Panics
/// If a slice does not have the length that `shape` asks for, or the stride is zero.
pub fn forward(shape: Shape, x: &[f32], weight: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    assert_eq!(weight.len(), shape.depth() * shape.output, "convolution: the weight does not fit {shape:?}");
    check(shape, x, (shape.depth(), shape.output), bias);
    sliding(shape, x, &panels(weight, shape.depth(), shape.output), bias)
}

/// [`forward`] with a weight that was made ready.
///
/// # Panics
/// As [`forward`].
pub fn forward_prepared(shape: Shape, x: &[f32], weight: &Prepared, bias: Option<&[f32]>) -> Vec<f32> {
    check(shape, x, weight.shape(), bias);
    match weight {
        Prepared::Floats(Packed(panels)) => sliding(shape, x, panels, bias),
        Prepared::Bytes(_) => weight.forward(&unfolded(shape, x), bias),
    }
}

/// The convolution of floats.
fn sliding(shape: Shape, x: &[f32], panels: &Panels, bias: Option<&[f32]>) -> Vec<f32> {
    let Shape { batch, height, width, input, output, window } = shape;
    let (rows, columns) = shape.places();
    let image = height * width * input;
    let line = columns * window.stride * input;
    let bands = bands(batch, rows, line * window.stride, columns * shape.depth() * output);
    let write = |scratch: &mut Vec<f32>, band: &Band, to: &mut [MaybeUninit<f32>]| {
        let x = &x[band.image * image..][..image];
        let field = Field::of(x, [height, width, input], &shape.area(&band.rows), scratch);
        let slide = Slide {
            field,
            first: 0,
            down: window.stride * field.row,
            right: window.stride * input,
            segments: window.height,
            segment: window.width * input,
            rows: band.rows.len(),
            columns,
            panels,
            bias,
        };
        slide.write(to, Grid { first: 0, down: columns * output, right: output });
    };
    // SAFETY: a band has `columns` places in each of its rows, and `O` sums are written at each.
    #[allow(unsafe_code, reason = "what is overwritten at once is not zeroed before")]
    unsafe {
        new_in_bands(&bands, columns * output, write)
    }
}

/// What the window sees at each place, side by side: `[B·H′·W′, U·V·C]`.
fn unfolded(shape: Shape, x: &[f32]) -> Vec<f32> {
    let Shape { batch, height, width, input, window, .. } = shape;
    let ((rows, columns), image) = (shape.places(), height * width * input);
    let mut seen = Vec::with_capacity(batch * rows * columns * shape.depth());
    let mut scratch = Vec::new();
    for number in 0..batch {
        let x = &x[number * image..][..image];
        for row in 0..rows {
            let field = Field::of(x, [height, width, input], &shape.area(&(row..row + 1)), &mut scratch);
            for column in 0..columns {
                for u in 0..window.height {
                    let from = u * field.row + column * window.stride * input;
                    seen.extend_from_slice(&field.values[from..][..window.width * input]);
                }
            }
        }
    }
    seen
}

/// The gradients, from that of the output, `[B, H′, W′, O]`; that of `x` only `with_x`, as the image itself needs none.
///
/// # Panics
/// As [`forward`].
pub fn backward(shape: Shape, x: &[f32], weight: &[f32], output: &[f32], with_x: bool) -> Gradients {
    assert_eq!(weight.len(), shape.depth() * shape.output, "convolution: the weight does not fit {shape:?}");
    check(shape, x, (shape.depth(), shape.output), None);
    assert_eq!(
        output.len(),
        shape.written(),
        "convolution: the gradient is not [B, H′, W′, O] for {shape:?}"
    );
    let of_x = with_x.then(|| input::gradient(shape, weight, output));
    let (weight, bias) = weight::gradient(shape, x, output);
    Gradients { x: of_x, weight, bias }
}
