//! Affine maps with weights of eight bits.
//!
//! Column o of W has a scale, and so has every row of x, found when it comes:
//!
//! ```text
//! W_io ≈ s_o q_io      q from −127 to 127, s_o = max_i |W_io| / 127
//! x_i  ≈ t p_i         p from −127 to 127, t = max_i |x_i| / 127
//! y_o  = t s_o Σ_i p_i q_io + b_o
//! ```
//!
//! The sum is of integers, and exact: every instruction set gives the same numbers, and a row is what it would be
//! alone. Weights are a quarter of their size, which is what decoding few rows takes its time from.

mod sums;

use crate::ending::Ending;
use crate::instructions::arch;
use crate::kept::{self, Kept};
use crate::parts::{Grain, in_parts};
use crate::product::ViewMut;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use sums::{GROUP, Instructions, Integers, Line, MOST_ROWS, Panel, STRIP, WIDTH};

/// The largest of the integers.
const MOST: f32 = 127.0;
/// Added to a number of at most 2²² in magnitude and taken away again, this rounds it, of halves to the even one.
const ROUND: f32 = 12_582_912.0;

/// A matrix of `input` rows and `output` columns in eight bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    input: usize,
    output: usize,
    /// For each [`STRIP`] columns their rows by fours, zeros beyond the last of either. Strips fill panels of [`WIDTH`] columns.
    strips: Vec<Line>,
    /// s of each column, and Σ q.
    scales: Vec<f32>,
    totals: Vec<i32>,
}

/// Rows of x in eight bits. Their memory is that of the rows which the thread had before.
pub(crate) struct Rows(Room);

#[derive(Default)]
struct Room {
    integers: Integers,
    scales: Vec<f32>,
}

thread_local! {
    static ROOM: Cell<Room> = Cell::default();
}

impl Kept for Room {
    fn bytes(&self) -> usize {
        self.integers.bytes() + self.scales.capacity() * size_of::<f32>()
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        kept::keep(&ROOM, std::mem::take(&mut self.0));
    }
}

impl Quantised {
    /// The weights `[input, output]`, or `[output, input]` if `transposed`, in eight bits.
    ///
    /// # Panics
    /// If their number is another, or if a sum could be too large for an integer: beyond 65,536 rows.
    pub fn new(weight: &[f32], input: usize, output: usize, transposed: bool) -> Self {
        assert!(input <= Self::MOST_ROWS, "quantised: {input} rows are too many");
        assert_eq!(weight.len(), input * output, "quantised: the weight is not [{input}, {output}]");
        Self::of_strips(input, output, |from, strip, scales, totals| match transposed {
            true => {
                let rows = weight[from * input..].chunks_exact(input.max(1));
                let mut integers = vec![[0; GROUP]; strip.len()];
                for (column, ((row, scale), total)) in rows.zip(scales).zip(totals).enumerate() {
                    let (found, inverse) = scale_of(row);
                    *scale = found;
                    for (to, value) in integers.as_flattened_mut().iter_mut().zip(row) {
                        *to = rounded(value * inverse) as i8;
                    }
                    *total = integers.as_flattened().iter().map(|&q| i32::from(q)).sum();
                    for (Line(groups), integers) in strip.iter_mut().zip(&integers) {
                        groups[column] = *integers;
                    }
                }
            }
            false => {
                let rows = || weight.chunks_exact(output).map(|row| &row[from..][..scales.len()]);
                let mut most = [0; STRIP];
                for row in rows() {
                    most.iter_mut().zip(row).for_each(|(most, value)| *most = (*most).max(magnitude(*value)));
                }
                let found = most.map(|most| scale_from(of_magnitude(most)));
                let inverses = found.map(|(_, inverse)| inverse);
                let integers = |at: usize, value: f32| rounded(value * inverses[at]) as i8;
                fill(strip, totals, rows(), integers);
                scales.iter_mut().zip(found).for_each(|(scale, (found, _))| *scale = found);
            }
        })
    }

    /// The most rows of a matrix: beyond, a sum could be too large for an integer.
    pub const MOST_ROWS: usize = 1 << 16;

    /// What parts of a product with it are made of.
    pub(crate) const GRAIN: Grain = Grain { align: WIDTH, bytes: 1 };

    /// A matrix that is in eight bits already: its values row after row, as [`quantise`] leaves them, and the scale of
    /// each column.
    ///
    /// # Panics
    /// As [`Quantised::new`].
    pub fn of_rows(values: &[i8], scales: &[f32], input: usize) -> Self {
        let output = scales.len();
        assert!(input <= Self::MOST_ROWS, "quantised: {input} rows are too many");
        assert_eq!(values.len(), input * output, "quantised: the weight is not [{input}, {output}]");
        Self::of_strips(input, output, |from, strip, to, totals| {
            let rows = values.chunks_exact(output).map(|row| &row[from..][..to.len()]);
            fill(strip, totals, rows, |_, q| q);
            to.copy_from_slice(&scales[from..][..to.len()]);
        })
    }

    /// Some columns of it, in this order; one may be taken more than once.
    ///
    /// # Panics
    /// If there is no such column.
    pub(crate) fn gathered(&self, ids: &[u32]) -> Self {
        let depth = self.input.div_ceil(GROUP);
        Self::of_strips(self.input, ids.len(), |from, strip, scales, totals| {
            let places = ids[from..].iter().zip(scales.iter_mut().zip(totals));
            for (place, (&id, (scale, total))) in places.enumerate() {
                let column = id as usize;
                assert!(column < self.output, "quantised: there is no column {column} of {}", self.output);
                (*scale, *total) = (self.scales[column], self.totals[column]);
                let own = &self.strips[column / STRIP * depth..][..depth];
                for (Line(to), Line(own)) in strip.iter_mut().zip(own) {
                    to[place] = own[column % STRIP];
                }
            }
        })
    }

    /// All strips, each as `make` fills it for the columns from the given one on: zeros, and places for the scale and
    /// the total of each column.
    fn of_strips(
        input: usize,
        output: usize,
        make: impl Fn(usize, &mut [Line], &mut [f32], &mut [i32]) + Sync,
    ) -> Self {
        let (depth, panels) = (input.div_ceil(GROUP), output.div_ceil(WIDTH));
        let (mut scales, mut totals) = (vec![0.0; output], vec![0; output]);
        let mut strips = vec![Line::default(); depth * panels * (WIDTH / STRIP)];
        let columns = scales.par_chunks_mut(STRIP).zip(totals.par_chunks_mut(STRIP));
        strips.par_chunks_mut(depth.max(1)).zip(columns).enumerate().for_each(
            |(index, (strip, (scales, totals)))| {
                pulp::Arch::new().dispatch(|| make(index * STRIP, strip, scales, totals));
            },
        );
        Self { input, output, strips, scales, totals }
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> (usize, usize) {
        (self.input, self.output)
    }

    /// x W + b for rows of `input` numbers, or x W without a bias.
    ///
    /// # Panics
    /// If lengths do not fit.
    pub fn forward(&self, x: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        self.forward_with(Instructions::best(), x, bias)
    }

    fn forward_with(&self, instructions: Instructions, x: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let count = x.len() / self.input.max(1);
        assert_eq!(x.len(), count * self.input, "quantised: x is not of rows of {}", self.input);
        assert!(
            bias.is_none_or(|bias| bias.len() == self.output),
            "quantised: the bias is not [{}]",
            self.output
        );
        let rows = Rows::for_instructions(instructions, x, self.input);
        let part = |inside: Range<usize>, columns: Range<usize>, y: ViewMut<'_>| {
            self.multiply(&rows, inside, columns, Ending::bias(bias), y);
        };
        // SAFETY: with an ending that does not add, a product writes all of its place and reads nothing of it.
        #[allow(unsafe_code, reason = "what is overwritten at once is not zeroed before")]
        unsafe {
            in_parts([count, self.input, self.output], Self::GRAIN, part)
        }
    }

    /// The columns of some rows, on the calling thread; the first of them begins a panel.
    pub(crate) fn multiply(
        &self,
        rows: &Rows,
        inside: Range<usize>,
        columns: Range<usize>,
        ending: Ending<'_>,
        mut y: ViewMut<'_>,
    ) {
        let Room { integers, scales: of_rows } = &rows.0;
        let (depth, together) = (self.input.div_ceil(GROUP), integers.columns());
        for from in columns.clone().step_by(together) {
            let these = from..columns.end.min(from + together);
            let panel = Panel {
                strips: &self.strips[from / STRIP * depth..][..together / STRIP * depth],
                depth,
                scales: &self.scales[these.clone()],
                #[cfg(target_arch = "x86_64")]
                totals: &self.totals[these.clone()],
                from,
                ending,
            };
            for row in inside.clone().step_by(MOST_ROWS) {
                let together = MOST_ROWS.min(inside.end - row);
                let scales = &of_rows[row..][..together];
                let place = (row - inside.start, from - columns.start);
                panel.multiply(integers, row * depth, scales, &mut y, place);
            }
        }
    }
}

impl Rows {
    pub(crate) fn new(x: &[f32], input: usize) -> Self {
        Self::for_instructions(Instructions::best(), x, input)
    }

    fn for_instructions(instructions: Instructions, x: &[f32], input: usize) -> Self {
        let (depth, count) = (input.div_ceil(GROUP), x.len() / input.max(1));
        let mut room = ROOM.take();
        room.integers.become_zeros(instructions, count * depth);
        let Room { integers, scales } = &mut room;
        scales.resize(count, 0.0);
        match integers {
            #[cfg(target_arch = "x86_64")]
            Integers::Vnni(values) => quantise_rows(x, input, values, scales, |p| (p + 128) as u8),
            #[cfg(target_arch = "x86_64")]
            Integers::Avx2(values) => quantise_rows(x, input, values, scales, |p| p as i16),
            Integers::Plain(values) => quantise_rows(x, input, values, scales, |p| p as i8),
        }
        Self(room)
    }
}

/// Writes the integers of rows, as `form` has them, and their scales.
fn quantise_rows<T>(
    x: &[f32],
    input: usize,
    to: &mut [[T; GROUP]],
    scales: &mut [f32],
    form: impl Fn(i32) -> T,
) {
    let rows = x.chunks_exact(input.max(1)).zip(to.chunks_exact_mut(input.div_ceil(GROUP).max(1)));
    for ((x, to), scale) in rows.zip(scales) {
        arch().dispatch(
            #[inline(always)]
            || {
                let (found, inverse) = scale_of(x);
                *scale = found;
                for (to, x) in to.as_flattened_mut().iter_mut().zip(x) {
                    *to = form(rounded(x * inverse));
                }
            },
        );
    }
}

/// Fills a strip from its rows, each number as `integers` makes it of its column and value, and adds up the columns.
#[inline(always)]
fn fill<'a, T: Copy + 'a>(
    strip: &mut [Line],
    totals: &mut [i32],
    mut rows: impl Iterator<Item = &'a [T]>,
    integers: impl Fn(usize, T) -> i8,
) {
    let mut sums = [0; STRIP];
    for Line(groups) in strip {
        // Rows first, then all columns of them: both loops are of a length that is known.
        let mut together = [[0; STRIP]; GROUP];
        for (to, row) in together.iter_mut().zip(rows.by_ref()) {
            for (column, (to, &value)) in to.iter_mut().zip(row).enumerate() {
                *to = integers(column, value);
            }
        }
        for (column, (group, sum)) in groups.iter_mut().zip(&mut sums).enumerate() {
            *group = std::array::from_fn(|place| together[place][column]);
            *sum += group.iter().map(|&q| i32::from(q)).sum::<i32>();
        }
    }
    totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = sum);
}

/// The weights `[input, output]` in eight bits as they are kept in files: in the same order, and the scale of each of the
/// `output` columns. [`Quantised::of_rows`] makes of them what [`Quantised::new`] makes of the weights.
///
/// # Panics
/// If the weights are not rows of so many columns.
pub fn quantise(weight: &[f32], output: usize) -> (Vec<i8>, Vec<f32>) {
    assert_eq!(weight.len() % output.max(1), 0, "quantised: the weight has no rows of {output}");
    let mut most = vec![0; output];
    for row in weight.chunks_exact(output.max(1)) {
        most.iter_mut().zip(row).for_each(|(most, value)| *most = (*most).max(magnitude(*value)));
    }
    let scales_of = |most| scale_from(of_magnitude(most));
    let (scales, inverses): (Vec<f32>, Vec<f32>) = most.into_iter().map(scales_of).unzip();
    let integers = |(value, inverse): (&f32, &f32)| rounded(value * inverse) as i8;
    let rows = weight.par_chunks_exact(output.max(1));
    let values = rows.flat_map_iter(|row| row.iter().zip(&inverses).map(integers)).collect();
    (values, scales)
}

/// What one step of the integers is worth, and its inverse. Where all are zero, or one is not a number, all that
/// stands for them is 0.
#[inline(always)]
fn scale_of(values: &[f32]) -> (f32, f32) {
    scale_from(of_magnitude(values.iter().copied().map(magnitude).max().unwrap_or(0)))
}

/// The same of numbers whose largest magnitude is this.
#[inline(always)]
fn scale_from(most: f32) -> (f32, f32) {
    if most > 0.0 && most.is_finite() && (MOST / most).is_finite() {
        (most / MOST, MOST / most)
    } else {
        (0.0, 0.0)
    }
}

/// A magnitude as an integer, which has the same order; what is not a number is above infinity.
#[inline(always)]
fn magnitude(value: f32) -> u32 {
    value.to_bits() & 0x7fff_ffff
}

/// The magnitude back again; infinite if it is not a number.
#[inline(always)]
fn of_magnitude(most: u32) -> f32 {
    if most > f32::INFINITY.to_bits() { f32::INFINITY } else { f32::from_bits(most) }
}

/// The nearest integer to a number of at most 127 in magnitude; 0 for what is not a number.
#[inline(always)]
fn rounded(value: f32) -> i32 {
    (value + ROUND).to_bits() as i32 - ROUND.to_bits() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::samples::values;
    use proptest::prelude::*;

    /// The scale of some numbers, and the integers that stand for them.
    fn quantised(values: &[f32]) -> (f32, Vec<i8>) {
        let (scale, inverse) = scale_of(values);
        (scale, values.iter().map(|value| rounded(value * inverse) as i8).collect())
    }

    proptest! {
        #[test]
        fn what_a_file_holds_is_the_same_matrix(input in 1usize..70, output in 1usize..200, seed: u32) {
            let weight = values(input * output, seed);
            let (integers, scales) = quantise(&weight, output);
            let whole = Quantised::new(&weight, input, output, false);
            prop_assert_eq!(&Quantised::of_rows(&integers, &scales, input), &whole);
            let turned: Vec<f32> = (0..output).flat_map(|o| weight[o..].iter().step_by(output).copied()).collect();
            prop_assert_eq!(&Quantised::new(&turned, input, output, true), &whole);
            for (o, scale) in scales.iter().enumerate() {
                let column: Vec<f32> = weight[o..].iter().step_by(output).copied().collect();
                let (expected, column) = quantised(&column);
                prop_assert_eq!(*scale, expected);
                prop_assert!(integers[o..].iter().step_by(output).eq(&column));
            }
        }

        #[test]
        fn every_instruction_set_gives_the_sums(
            rows in 0usize..20, input in 1usize..70, output in 1usize..200, transposed: bool, biased: bool, seed: u32,
        ) {
            let (x, weight) = (values(rows * input, seed), values(input * output, seed ^ 1));
            let bias = values(output, seed ^ 2);
            let bias = biased.then_some(&bias[..]);
            let quantised_weight = Quantised::new(&weight, input, output, transposed);
            let mut expected = Vec::new();
            for row in x.chunks_exact(input) {
                let (t, p) = quantised(row);
                for o in 0..output {
                    let column: Vec<f32> = (0..input)
                        .map(|i| weight[if transposed { o * input + i } else { i * output + o }])
                        .collect();
                    let (s, q) = quantised(&column);
                    let sum: i32 = p.iter().zip(&q).map(|(&p, &q)| i32::from(p) * i32::from(q)).sum();
                    expected.push(sum as f32 * (t * s) + bias.map_or(0.0, |bias| bias[o]));
                }
            }
            for instructions in Instructions::all() {
                prop_assert_eq!(&quantised_weight.forward_with(instructions, &x, bias), &expected);
            }
            // One row is what it is among others, and threads change nothing.
            for (row, y) in x.chunks_exact(input).zip(expected.chunks_exact(output)) {
                prop_assert_eq!(&quantised_weight.forward(row, bias), y);
            }
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
            prop_assert_eq!(&pool.install(|| quantised_weight.forward(&x, bias)), &expected);
        }

        #[test]
        fn it_is_near_the_product(rows in 1usize..9, input in 1usize..300, output in 1usize..100, seed: u32) {
            let (x, weight) = (values(rows * input, seed), values(input * output, seed ^ 5));
            let y = Quantised::new(&weight, input, output, false).forward(&x, None);
            for (n, y) in y.iter().enumerate() {
                let (row, column) = (n / output, n % output);
                let product = |i: usize| f64::from(x[row * input + i]) * f64::from(weight[i * output + column]);
                let exact: f64 = (0..input).map(product).sum();
                // Either factor is off by half a step, 1/254 of at most 1.
                let bound = input as f64 * (1.0 / 127.0 + 1e-4);
                prop_assert!((f64::from(*y) - exact).abs() <= bound, "{y} and not {exact}");
            }
        }
    }

    #[test]
    fn what_is_no_number_counts_as_nothing() {
        let weight = Quantised::new(&[1.0, 2.0, 3.0, 4.0], 2, 2, false);
        let y = weight.forward(&[f32::NAN, 1.0, f32::INFINITY, 1.0, 0.0, 0.0, 1e-45, 1.0], Some(&[5.0, 6.0]));
        assert_eq!(y[..6], [5.0, 6.0, 5.0, 6.0, 5.0, 6.0]);
        let empty = Quantised::new(&[], 0, 3, false);
        assert!(empty.forward(&[], None).is_empty());
    }

    #[test]
    fn every_instruction_set_ends_the_sums_alike() {
        let (rows, input, output) = (8, 37, 77);
        let (x, weight) = (values(rows * input, 5), values(input * output, 6));
        let (bias, there) = (values(output, 7), values(rows * output, 8));
        let weight = Quantised::new(&weight, input, output, false);
        for activation in [None, Some(Activation::Relu), Some(Activation::Gelu)] {
            for (bias, add) in
                [(None, false), (None, true), (Some(&bias[..]), false), (Some(&bias[..]), true)]
            {
                let ended = |instructions: Instructions, rows: usize| {
                    let x = Rows::for_instructions(instructions, &x[..rows * input], input);
                    let mut y = there[..rows * output].to_vec();
                    let to = ViewMut::strided(&mut y, rows, output, output);
                    weight.multiply(&x, 0..rows, 0..output, Ending { bias, activation, add }, to);
                    y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                for rows in [1, 2, 5, rows] {
                    let expected = ended(Instructions::Plain, rows);
                    for instructions in Instructions::all() {
                        let what = format!("{instructions:?}: {rows} rows, {activation:?}, {add}");
                        assert_eq!(ended(instructions, rows), expected, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn large_products_are_split_over_threads() {
        let (rows, input, output) = (40, 900, 400);
        let (x, weight) = (values(rows * input, 3), values(input * output, 4));
        let weight = Quantised::new(&weight, input, output, false);
        let with = |threads: usize, x: &[f32]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| weight.forward(x, None))
        };
        let all = with(1, &x);
        for threads in [2, 3, 5] {
            assert_eq!(with(threads, &x), all);
            assert_eq!(with(threads, &x[..2 * input]), all[..2 * output]);
        }
    }
}
