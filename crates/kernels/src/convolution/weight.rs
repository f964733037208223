//! The gradient of the weight and of the bias.
//!
//! A tile of `dW`, some rows of it and some registers of channels, is summed over the places of a band while what they
//! read is in the first cache; the sums of bands are then added up.

use super::Shape;
use super::field::{Band, Field, bands_of};
use crate::instructions::arch;
use crate::maths::vectorised;
use crate::packed::{ACROSS, Tiles, in_tiles, most_rows, store};
use crate::product::ViewMut;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Places of a band: what the channels of a tile take of the gradient stays in the first cache.
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
    let (mut part, mut scratch, mut columns_of_gradient) = (Part::new(shape), Vec::new(), Vec::new());
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
            columns_of_gradient: &mut columns_of_gradient,
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
    /// For some channels of it, side by side: where they stand, places lie too far apart for the first cache.
    columns_of_gradient: &'a mut Vec<f32>,
    output: usize,
    /// `[segments · segment, O]`.
    to: &'a mut [f32],
}

impl WithSimd for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { field, stride, channels, segments, segment, rows, columns, output, .. } = self;
        let reach = ((rows - 1) * stride + segments) * field.row;
        let across = (columns - 1) * stride * channels + segment;
        assert!(segments * segment == 0 || across <= field.row && reach <= field.values.len());
        assert_eq!(self.gradient.len(), rows * columns * output);
        assert_eq!(self.to.len(), segments * segment * output);
        let place = |at: usize| (at / columns * field.row + at % columns * channels) * stride;
        let starts: Vec<usize> = (0..rows * columns).map(place).collect();
        for from in (0..output).step_by(ACROSS * S::F32_LANES) {
            let count = (output - from).min(ACROSS * S::F32_LANES);
            let registers = count.div_ceil(S::F32_LANES);
            self.columns_of_gradient.clear();
            for place in self.gradient.chunks_exact(output) {
                self.columns_of_gradient.extend_from_slice(&place[from..from + count]);
                let whole = self.columns_of_gradient.len().next_multiple_of(S::F32_LANES);
                self.columns_of_gradient.resize(whole, 0.0);
            }
            let gradient = S::as_simd_f32s(self.columns_of_gradient).0;
            assert_eq!(gradient.len(), rows * columns * registers);
            for u in 0..segments {
                let to = &mut self.to[u * segment * output..][..segment * output];
                let to = ViewMut::strided(to, segment, output, output);
                let seen = &field.values[u * field.row..];
                let mut rows = Rows { seen, starts: &starts, gradient, from, count, to };
                match registers {
                    1 => in_tiles(simd, segment, most_rows::<S>(1), &mut Across::<1, S>(&mut rows)),
                    _ => in_tiles(simd, segment, most_rows::<S>(ACROSS), &mut Across::<ACROSS, S>(&mut rows)),
                }
            }
        }
    }
}

/// The rows of `dW` that belong to row `u` of the window, in the `count` channels from `from` on.
struct Rows<'a, 'b, S: Simd> {
    /// What the windows see, from row `u` of the first one on.
    seen: &'a [f32],
    /// Where the window of each place starts.
    starts: &'a [usize],
    /// The gradient of these channels, place by place, with zeros up to whole registers.
    gradient: &'a [S::f32s],
    from: usize,
    count: usize,
    to: ViewMut<'b>,
}

/// The same with the registers that hold its channels.
struct Across<'p, 'a, 'b, const A: usize, S: Simd>(&'p mut Rows<'a, 'b, S>);

impl<S: Simd, const A: usize> Tiles<S> for Across<'_, '_, '_, A, S> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, row: usize) {
        let sums = places_times::<S, R, A>(simd, self.0, row);
        let Rows { from, count, to, .. } = &mut *self.0;
        store(simd, to, (row, *from, *count), &sums, true);
    }
}

/// What `R` values of a window from `row` on give with the gradient, over all places.
#[inline(always)]
fn places_times<S: Simd, const R: usize, const A: usize>(
    simd: S,
    rows: &Rows<'_, '_, S>,
    row: usize,
) -> [[S::f32s; A]; R] {
    let mut sums = [[simd.splat_f32s(0.0); A]; R];
    let seen = rows.seen[row..].as_ptr();
    for (&start, registers) in rows.starts.iter().zip(rows.gradient.as_chunks::<A>().0) {
        // SAFETY: `Sums` has checked that all windows end inside the field.
        #[allow(unsafe_code, reason = "a check for each place would double the inner loop")]
        let values = unsafe { &*seen.wrapping_add(start).cast::<[f32; R]>() };
        for r in 0..R {
            let value = simd.splat_f32s(values[r]);
            for a in 0..A {
                sums[r][a] = simd.mul_add_e_f32s(value, registers[a], sums[r][a]);
            }
        }
    }
    sums
}
