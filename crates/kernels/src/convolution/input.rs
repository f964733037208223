//! The gradient of the image.
//!
//! A pixel `y = s i + r` (rows; columns alike) is seen by the places `i + q − t` through row `e + s t` of the window, where
//! `q` and `e` are quotient and remainder of `r + p` by `s`. For each remainder `r` that is a convolution of the gradient
//! with those rows of the window, last one first, with stride 1.

use super::field::{Area, Band, Field, bands, new_in_bands};
use super::slide::{Grid, Slide};
use super::{Shape, panels};
use crate::packed::Panels;
use crate::product::transposed;
use std::mem::MaybeUninit;
use std::ops::Range;

/// What is seen of the pixels with one remainder, along one side.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// `r`.
    remainder: usize,
    /// `e`: the first row of the window that sees them.
    first: usize,
    /// How many rows of the window do.
    taps: usize,
    /// Of pixel `i`, the first place is `i + offset`.
    offset: isize,
}

impl Side {
    /// For each remainder by `stride`, with a window of so many rows.
    fn all(window: usize, stride: usize, padding: usize) -> Vec<Self> {
        let side = |remainder| {
            let (quotient, first) = ((remainder + padding) / stride, (remainder + padding) % stride);
            let taps = window.saturating_sub(first).div_ceil(stride);
            Self { remainder, first, taps, offset: quotient as isize + 1 - taps as isize }
        };
        (0..stride).map(side).collect()
    }

    /// The numbers `i` of its pixels among `pixels`.
    fn own(self, pixels: &Range<usize>, stride: usize) -> Range<usize> {
        let number = |pixel: usize| (pixel + stride - 1 - self.remainder) / stride;
        number(pixels.start)..number(pixels.end)
    }

    /// The places that see them.
    fn places(self, own: &Range<usize>) -> Range<isize> {
        own.start as isize + self.offset..(own.end + self.taps) as isize - 1 + self.offset
    }
}

/// All places that see one of `pixels`.
fn seen(sides: &[Side], pixels: &Range<usize>, stride: usize) -> Range<isize> {
    let used = sides.iter().map(|side| (side, side.own(pixels, stride)));
    let used = used.filter(|(side, own)| side.taps > 0 && !own.is_empty());
    let all = used.map(|(side, own)| side.places(&own));
    all.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0)
}

/// The weights `[taps · taps · O, C]` that see the pixels of two remainders, of a weight `[U·V·C, O]`.
fn turned(shape: Shape, weight: &[f32], down: Side, along: Side) -> Panels {
    let Shape { input, output, window, .. } = shape;
    let (size, stride) = (input * output, window.stride);
    let mut turned = Vec::with_capacity(down.taps * along.taps * size);
    for (t, l) in (0..down.taps).rev().flat_map(|t| (0..along.taps).rev().map(move |l| (t, l))) {
        let tap = (down.first + stride * t) * window.width + along.first + stride * l;
        turned.extend_from_slice(&transposed(&weight[tap * size..][..size], input, output)); // [O, C]
    }
    panels(&turned, down.taps * along.taps * output, input)
}

/// `dx`, `[B, H, W, C]`, from the gradient of the output, `[B, H′, W′, O]`.
pub(super) fn gradient(shape: Shape, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
    let Shape { batch, height, width, input, output, window } = shape;
    let (stride, (rows, columns)) = (window.stride, shape.places());
    let down = Side::all(window.height, stride, window.padding);
    let along = Side::all(window.width, stride, window.padding);
    let both = down.iter().flat_map(|&down| along.iter().map(move |&along| (down, along)));
    let both: Vec<_> = both.map(|(down, along)| (down, along, turned(shape, weight, down, along))).collect();
    let across = seen(&along, &(0..width), stride);
    // Some of the places that `across` counts may be none, beside the last.
    let products = columns * shape.depth() * output / stride;
    let bands = bands(batch, height, across.len() * output / stride, products);
    let write = |scratch: &mut Vec<f32>, band: &Band, to: &mut [MaybeUninit<f32>]| {
        let image = &gradient[band.image * rows * columns * output..][..rows * columns * output];
        let area = Area { rows: seen(&down, &band.rows, stride), columns: across.clone() };
        let field = Field::of(image, [rows, columns, output], &area, scratch);
        for (down, along, panels) in &both {
            let (own, inside) = (down.own(&band.rows, stride), along.own(&(0..width), stride));
            if own.is_empty() || inside.is_empty() {
                continue;
            }
            let row = own.start * stride + down.remainder - band.rows.start;
            let grid = Grid {
                first: (row * width + along.remainder) * input,
                down: stride * width * input,
                right: stride * input,
            };
            if down.taps == 0 || along.taps == 0 {
                clear(to, grid, [own.len(), inside.len(), input]);
                continue;
            }
            let above = (down.places(&own).start - area.rows.start) as usize;
            let before = (along.places(&inside).start - area.columns.start) as usize;
            let slide = Slide {
                field,
                first: above * field.row + before * output,
                down: field.row,
                right: output,
                segments: down.taps,
                segment: along.taps * output,
                rows: own.len(),
                columns: inside.len(),
                panels,
                bias: None,
            };
            slide.write(to, grid);
        }
    };
    // SAFETY: every pixel of a band has one remainder in each direction, and those of all remainders are written or cleared.
    #[allow(unsafe_code, reason = "what is overwritten at once is not zeroed before")]
    unsafe {
        new_in_bands(&bands, width * input, write)
    }
}

/// Pixels that no window sees.
fn clear(to: &mut [MaybeUninit<f32>], grid: Grid, [rows, columns, channels]: [usize; 3]) {
    for row in 0..rows {
        for column in 0..columns {
            let first = grid.first + row * grid.down + column * grid.right;
            to[first..first + channels].fill(MaybeUninit::new(0.0));
        }
    }
}
