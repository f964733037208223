//! The gradient of the weight and of the bias.
//!
//! A tile of `dW`, some rows of it and some registers of channels, is summed over the places of a band while what they
//! read is in the first cache; the sums of bands are then added up.

use super::Shape;
use super::field::{Band, Field, bands_of};
use super::slide::{WIDE, most, spread};
use crate::instructions::arch;
use crate::maths::vectorised;
use crate::packed::{Tiles, store};
use crate::product::ViewMut;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Places of a band: what a register's channels take of the gradient stays in the first cache.
const PLACES: usize = 192;

/// `dW` `[U·V·C, O]` and `db` `[O]`, from the gradient of the output, `[B, H′, W′, O]`.
pub(super) fn gradient(shape: Shape, x: &[f32], gradient: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let (rows, columns) = shape.places();
    let mut bands = bands_of(shape.batch, rows, PLACES / columns.max(1));
    if columns == 0 {
        bands.clear();
    }
    let share = bands.len().div_ceil(rayon::current_num_threads()).max(1);
    let parts: Vec<Part> = bands.par_chunks(share).map(|bands| part(shape, x, gradient, bands)).collect();
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_else(|| Part::new(shape));
    for part in parts {
        vectorised(
            #[inline(always)]
            || {
                sum.weight.iter_mut().zip(&part.weight).for_each(|(sum, value)| *sum += value);
                sum.bias.iter_mut().zip(&part.bias).for_each(|(sum, value)| *sum += value);
            },
        );
    }
    (sum.weight, sum.bias)
}

/// What some bands give.
struct Part {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Part {
    fn new(shape: Shape) -> Self {
        Self { weight: vec![0.0; shape.depth() * shape.output], bias: vec![0.0; shape.output] }
    }
}

fn part(shape: Shape, x: &[f32], gradient: &[f32], bands: &[Band]) -> Part {
    let Shape { height, width, input, output, window, .. } = shape;
    let (rows, columns) = shape.places();
    let image = height * width * input;
    let (mut part, mut scratch) = (Part::new(shape), Vec::new());
    for band in bands {
        let x = &x[band.image * image..][..image];
        let first = (band.image * rows + band.rows.start) * columns;
        let gradient = &gradient[first * output..][..band.rows.len() * columns * output];
        add_rows(&mut part.bias, gradient);
        arch().dispatch(Sums {
            field: Field::of(x, [height, width, input], &shape.area(&band.rows), &mut scratch),
            stride: window.stride,
            channels: input,
            segments: window.height,
            segment: window.width * input,
            rows: band.rows.len(),
            columns,
            gradient,
            output,
            to: &mut part.weight,
        });
    }
    part
}

/// Adds the sum of all rows.
fn add_rows(sums: &mut [f32], rows: &[f32]) {
    /// Channels of which the sums stay in registers.
    const LANES: usize = 32;
    vectorised(
        #[inline(always)]
        || {
            let width = sums.len();
            for (index, sums) in sums.chunks_mut(LANES).enumerate() {
                let mut lanes = [0.0; LANES];
                for row in rows.chunks_exact(width) {
                    let row = &row[index * LANES..][..sums.len()];
                    match row.first_chunk::<LANES>() {
                        Some(row) => (0..LANES).for_each(|lane| lanes[lane] += row[lane]),
                        None => lanes.iter_mut().zip(row).for_each(|(sum, value)| *sum += value),
                    }
                }
                sums.iter_mut().zip(lanes).for_each(|(sum, lane)| *sum += lane);
            }
        },
    );
}

/// What a band adds to `dW`.
struct Sums<'a> {
    field: Field<'a>,
    stride: usize,
    channels: usize,
    /// Rows of a window, and the values of each.
    segments: usize,
    segment: usize,
    /// Rows and columns of places.
    rows: usize,
    columns: usize,
    /// `[rows · columns, O]`.
    gradient: &'a [f32],
    output: usize,
    /// `[segments · segment, O]`.
    to: &'a mut [f32],
}

impl WithSimd for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { field, stride, channels, segments, segment, rows, columns, gradient, output, .. } = self;
        let reach = ((rows - 1) * stride + segments) * field.row;
        let across = (columns - 1) * stride * channels + segment;
        assert!(segments * segment == 0 || across <= field.row && reach <= field.values.len());
        assert_eq!((gradient.len(), self.to.len()), (rows * columns * output, segments * segment * output));
        let mut from = 0;
        while from < output {
            let count = (output - from).min(WIDE * S::F32_LANES);
            for u in 0..segments {
                let to = &mut self.to[u * segment * output..][..segment * output];
                let to = ViewMut::strided(to, segment, output, output);
                let mut rows = Rows {
                    field,
                    u,
                    step: stride * channels,
                    stride,
                    rows,
                    columns,
                    gradient,
                    output,
                    from,
                    to,
                };
                if count == WIDE * S::F32_LANES {
                    spread(simd, segment, most::<S>(WIDE), &mut Whole::<WIDE>(&mut rows));
                } else if count >= S::F32_LANES {
                    spread(simd, segment, most::<S>(1), &mut Whole::<1>(&mut rows));
                } else {
                    spread(simd, segment, most::<S>(1), &mut Narrow(&mut rows, count));
                }
            }
            from += match count {
                count if count == WIDE * S::F32_LANES => count,
                count => count.min(S::F32_LANES),
            };
        }
    }
}

/// The rows of `dW` that belong to row `u` of the window, in the channels from `from` on.
struct Rows<'a, 'b> {
    field: Field<'a>,
    u: usize,
    /// Values from a window to the one on its right.
    step: usize,
    stride: usize,
    rows: usize,
    columns: usize,
    gradient: &'a [f32],
    output: usize,
    from: usize,
    to: ViewMut<'b>,
}

impl Rows<'_, '_> {
    /// Adds `R` rows from `row` on, where `load` gives the registers of a place.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const A: usize>(
        &mut self,
        simd: S,
        row: usize,
        count: usize,
        load: impl Fn(&[f32]) -> [S::f32s; A],
    ) {
        let mut sums = [[simd.splat_f32s(0.0); A]; R];
        for y in 0..self.rows {
            let field = &self.field.values[(y * self.stride + self.u) * self.field.row + row..];
            let gradient = &self.gradient[y * self.columns * self.output + self.from..];
            debug_assert!((self.columns - 1) * self.step + R <= field.len());
            debug_assert!((self.columns - 1) * self.output + count <= gradient.len());
            let (mut seen, mut gradient) = (field.as_ptr(), gradient.as_ptr());
            for _ in 0..self.columns {
                // SAFETY: `Sums` has checked that the windows of a row end inside the field, and that there is a
                // gradient `[O]` for each.
                #[allow(
                    unsafe_code,
                    reason = "checks of two slices for each place would double the inner loop"
                )]
                let (values, registers) =
                    unsafe { (&*seen.cast::<[f32; R]>(), load(std::slice::from_raw_parts(gradient, count))) };
                seen = seen.wrapping_add(self.step);
                gradient = gradient.wrapping_add(self.output);
                for r in 0..R {
                    let value = simd.splat_f32s(values[r]);
                    for a in 0..A {
                        sums[r][a] = simd.mul_add_e_f32s(value, registers[a], sums[r][a]);
                    }
                }
            }
        }
        store(simd, &mut self.to, (row, self.from, count), &sums, true);
    }
}

/// Tiles of whole registers.
struct Whole<'p, 'a, 'b, const A: usize>(&'p mut Rows<'a, 'b>);

impl<S: Simd, const A: usize> Tiles<S> for Whole<'_, '_, '_, A> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, row: usize) {
        self.0.tile::<S, R, A>(simd, row, A * S::F32_LANES, |gradient| {
            let registers = S::as_simd_f32s(gradient).0;
            std::array::from_fn(|a| registers[a])
        });
    }
}

/// Tiles of fewer channels than a register holds.
struct Narrow<'p, 'a, 'b>(&'p mut Rows<'a, 'b>, usize);

impl<S: Simd> Tiles<S> for Narrow<'_, '_, '_> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, row: usize) {
        self.0.tile::<S, R, 1>(simd, row, self.1, |gradient| [simd.partial_load_f32s(gradient)]);
    }
}
