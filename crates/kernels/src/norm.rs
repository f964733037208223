//! Layer normalisation of rows (Ba et al. 2016): `y = (x − μ) / √(σ² + ε) · γ + β`.
//!
//! Letters: `N` rows, `C` width, `μ` and `σ²` the mean and the variance (with `1 / C`) of a row, `r = 1 / √(σ² + ε)`,
//! `x̂ = (x − μ) r`. Backwards, with `g` the gradient of `y` and means over the row:
//! `dx = r (gγ − mean(gγ) − x̂ mean(gγ x̂))`, `dγ = Σ g x̂` and `dβ = Σ g` over the rows.

use rayon::prelude::*;

use crate::dropout::{Dropout, Factors};
use crate::maths::vectorised;
use crate::pieces::changed_with;

/// What the forward pass returns.
#[derive(Clone, Debug)]
pub struct Normed {
    /// `[N, C]`.
    pub y: Vec<f32>,
    /// What the backward pass reads.
    pub tape: Tape,
}

/// What the forward pass knows of each row.
#[derive(Clone, Debug)]
pub struct Tape {
    /// `[N]`: `μ`.
    pub mean: Vec<f32>,
    /// `[N]`: `1 / √(σ² + ε)`.
    pub reciprocal: Vec<f32>,
}

/// The gradients of the inputs.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[N, C]`.
    pub x: Vec<f32>,
    /// `[C]`.
    pub gamma: Vec<f32>,
    /// `[C]`.
    pub beta: Vec<f32>,
}

/// Sums are kept in this many parts: two registers of the widest machines.
const LANES: usize = 32;
/// Rows that one task takes; what they add to `dγ` and `dβ` is summed per task, whatever the threads.
const ROWS: usize = 32;

/// `N` of `x`, `[N, C]`.
fn rows(x: &[f32], width: usize) -> usize {
    let rows = x.len() / width.max(1);
    assert_eq!(x.len(), rows * width, "norm: x is not [N, C] for the C = {width} of gamma");
    rows
}

/// Normalises every row of `x` `[N, C]`; `gamma` and `beta` are `[C]`.
///
/// # Panics
/// If `gamma` and `beta` differ in length or `x` is no multiple of it.
pub fn forward(x: &[f32], gamma: &[f32], beta: &[f32], epsilon: f32) -> Normed {
    let width = gamma.len();
    assert_eq!(beta.len(), width, "norm: gamma and beta are not both [C]");
    let rows = rows(x, width);
    let (mut mean, mut reciprocal) = (vec![0.0; rows], vec![0.0; rows]);
    let statistics = mean.par_chunks_mut(ROWS).zip(reciprocal.par_chunks_mut(ROWS));
    let y = changed_with(x, ROWS * width, statistics, |_, rows, (mean, reciprocal)| {
        vectorised(
            #[inline(always)]
            || {
                for ((row, mean), reciprocal) in rows.chunks_exact_mut(width).zip(mean).zip(reciprocal) {
                    (*mean, *reciprocal) = normalise(row, gamma, beta, epsilon);
                }
            },
        );
    });
    Normed { y, tape: Tape { mean, reciprocal } }
}

/// What [`forward_sum`] returns.
#[derive(Clone, Debug)]
pub struct NormedSum {
    /// `[N, C]`: what was normalised, the `x` of [`backward`].
    pub sum: Vec<f32>,
    /// `[N, C]`.
    pub y: Vec<f32>,
    /// What the backward pass reads.
    pub tape: Tape,
}

/// Normalises `residual + x ⊙ m`, each `[N, C]`, where `m` is the mask of `dropout`, if any: what stands behind a
/// sublayer, in one pass. Backwards the residual gets the gradient that [`backward`] gives `sum`, and `x` gets it through
/// [`crate::dropout::apply`].
///
/// # Panics
/// As [`forward`], and if `residual` and `x` differ in length.
pub fn forward_sum(
    residual: &[f32],
    x: &[f32],
    dropout: Option<Dropout>,
    gamma: &[f32],
    beta: &[f32],
    epsilon: f32,
) -> NormedSum {
    let width = gamma.len();
    assert_eq!(beta.len(), width, "norm: gamma and beta are not both [C]");
    assert_eq!(residual.len(), x.len(), "norm: residual and x differ in length");
    let (rows, factors) = (rows(x, width), dropout.map(Factors::new));
    let (mut mean, mut reciprocal) = (vec![0.0; rows], vec![0.0; rows]);
    let mut sum = Box::new_uninit_slice(x.len());
    let len = (ROWS * width).max(1);
    let statistics = mean.par_chunks_mut(ROWS).zip(reciprocal.par_chunks_mut(ROWS));
    let others = sum.par_chunks_mut(len).zip(statistics);
    let y = changed_with(x, len, others, |index, rows, (sum, (mean, reciprocal))| {
        if let Some(factors) = factors {
            factors.apply(index * len, rows);
        }
        let residual = &residual[index * len..][..rows.len()];
        vectorised(
            #[inline(always)]
            || {
                for (value, residual) in rows.iter_mut().zip(residual) {
                    *value += residual;
                }
                sum.write_copy_of_slice(rows);
                for ((row, mean), reciprocal) in rows.chunks_exact_mut(width).zip(mean).zip(reciprocal) {
                    (*mean, *reciprocal) = normalise(row, gamma, beta, epsilon);
                }
            },
        );
    });
    // SAFETY: the chunks cover it, and each is written as a whole.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    let sum = unsafe { sum.assume_init() }.into_vec();
    NormedSum { sum, y, tape: Tape { mean, reciprocal } }
}

/// [`forward`] for few rows at prediction, in place.
///
/// # Panics
/// As [`forward`].
pub fn in_place(x: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) {
    let width = gamma.len();
    assert_eq!(beta.len(), width, "norm: gamma and beta are not both [C]");
    assert_eq!(rows(x, width) * width, x.len());
    vectorised(
        #[inline(always)]
        || {
            for row in x.chunks_exact_mut(width.max(1)) {
                normalise(row, gamma, beta, epsilon);
            }
        },
    );
}

/// Normalises a row in place; returns its mean and its reciprocal deviation.
#[inline(always)]
fn normalise(row: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) -> (f32, f32) {
    let share = 1.0 / row.len() as f32;
    let mean = share * sum(row, |x| x);
    let variance = share * sum(row, |x| (x - mean) * (x - mean));
    let reciprocal = 1.0 / (variance + epsilon).sqrt();
    for ((x, gamma), beta) in row.iter_mut().zip(gamma).zip(beta) {
        *x = (*x - mean) * reciprocal * gamma + beta;
    }
    (mean, reciprocal)
}

/// `Σ f(x)`.
#[inline(always)]
fn sum(values: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += f(chunk[lane]);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += f(x);
    }
    lanes.iter().sum()
}

/// The gradients, from that of the output, `[N, C]`; `x` and `gamma` as in [`forward`], `tape` from what it returned.
///
/// # Panics
/// As [`forward`], and if `tape` or the gradient belongs to another shape.
pub fn backward(x: &[f32], gamma: &[f32], tape: &Tape, output: &[f32]) -> Gradients {
    let width = gamma.len();
    let rows = rows(x, width);
    assert_eq!(output.len(), x.len(), "norm: the gradient is not [N, C]");
    assert_eq!((tape.mean.len(), tape.reciprocal.len()), (rows, rows), "norm: the tape is not that of x");
    let mut shares = vec![0.0; rows.div_ceil(ROWS) * 2 * width]; // [N / ROWS, 2, C]
    let of_pieces = shares.par_chunks_mut((2 * width).max(1));
    let d_x = changed_with(output, ROWS * width, of_pieces, |piece, gradients, shares| {
        let (d_gamma, d_beta) = shares.split_at_mut(width);
        vectorised(
            #[inline(always)]
            || {
                for (index, gradient) in gradients.chunks_exact_mut(width).enumerate() {
                    let row = piece * ROWS + index;
                    let x = &x[row * width..][..width];
                    let (mean, reciprocal) = (tape.mean[row], tape.reciprocal[row]);
                    row_backward(x, gamma, mean, reciprocal, gradient, d_gamma, d_beta);
                }
            },
        );
    });
    let mut found = Gradients { x: d_x, gamma: vec![0.0; width], beta: vec![0.0; width] };
    for share in shares.chunks_exact((2 * width).max(1)) {
        let (d_gamma, d_beta) = share.split_at(width);
        found.gamma.iter_mut().zip(d_gamma).for_each(|(sum, share)| *sum += share);
        found.beta.iter_mut().zip(d_beta).for_each(|(sum, share)| *sum += share);
    }
    found
}

/// Turns the gradient of a row of `y` into that of `x` in place, and adds what the row gives to `dγ` and `dβ`.
#[inline(always)]
fn row_backward(
    x: &[f32],
    gamma: &[f32],
    mean: f32,
    reciprocal: f32,
    gradient: &mut [f32],
    d_gamma: &mut [f32],
    d_beta: &mut [f32],
) {
    let share = 1.0 / x.len() as f32;
    let (mut straight, mut along) = ([0.0; LANES], [0.0; LANES]); // Σ gγ, Σ gγ x̂
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (gamma_chunks, gamma_rest) = gamma.as_chunks::<LANES>();
    let (gradient_chunks, gradient_rest) = gradient.as_chunks::<LANES>();
    for ((x, gamma), gradient) in x_chunks.iter().zip(gamma_chunks).zip(gradient_chunks) {
        for lane in 0..LANES {
            let scaled = gradient[lane] * gamma[lane];
            straight[lane] += scaled;
            along[lane] += scaled * ((x[lane] - mean) * reciprocal);
        }
    }
    for (lane, ((x, gamma), gradient)) in x_rest.iter().zip(gamma_rest).zip(gradient_rest).enumerate() {
        let scaled = gradient * gamma;
        straight[lane] += scaled;
        along[lane] += scaled * ((x - mean) * reciprocal);
    }
    let (straight, along) = (share * straight.iter().sum::<f32>(), share * along.iter().sum::<f32>());
    let sums = d_gamma.iter_mut().zip(d_beta);
    for (((gradient, x), gamma), (d_gamma, d_beta)) in gradient.iter_mut().zip(x).zip(gamma).zip(sums) {
        let normed = (x - mean) * reciprocal;
        *d_gamma += *gradient * normed;
        *d_beta += *gradient;
        *gradient = reciprocal * (*gradient * gamma - straight - normed * along);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    const EPSILON: f32 = 1e-5;

    fn wide(values: &[f32]) -> Vec<f64> {
        values.iter().map(|&v| f64::from(v)).collect()
    }

    /// The definition, in f64.
    fn reference(x: &[f64], gamma: &[f64], beta: &[f64]) -> Vec<f64> {
        let count = gamma.len() as f64;
        let of_row = |row: &[f64]| {
            let mean = row.iter().sum::<f64>() / count;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            let deviation = (variance + f64::from(EPSILON)).sqrt();
            let y = |((x, gamma), beta): ((&f64, &f64), &f64)| (x - mean) / deviation * gamma + beta;
            row.iter().zip(gamma).zip(beta).map(y).collect::<Vec<f64>>()
        };
        x.chunks_exact(gamma.len()).flat_map(of_row).collect()
    }

    /// `d/dv Σ y ⊙ g` at one value of one argument.
    fn slope(arguments: &[Vec<f64>; 3], gradient: &[f32], argument: usize, at: usize) -> f64 {
        const STEP: f64 = 1e-6;
        let loss = |by: f64| {
            let mut moved = arguments.clone();
            moved[argument][at] += by;
            let y = reference(&moved[0], &moved[1], &moved[2]);
            y.iter().zip(gradient).map(|(y, &g)| y * f64::from(g)).sum::<f64>()
        };
        (loss(STEP) - loss(-STEP)) / (2.0 * STEP)
    }

    proptest! {
        #[test]
        fn rows_and_gradients_are_those_of_the_definition(
            rows in 1usize..5, width in prop_oneof![3usize..12, 30usize..70], seed: u32, shift in -3.0f32..3.0,
        ) {
            let x: Vec<f32> = values(rows * width, seed).iter().map(|x| x + shift).collect();
            let (gamma, beta) = (values(width, seed ^ 1), values(width, seed ^ 2));
            let gradient = values(x.len(), seed ^ 3);
            let Normed { y, tape } = forward(&x, &gamma, &beta, EPSILON);
            let found = backward(&x, &gamma, &tape, &gradient);
            let arguments = [wide(&x), wide(&gamma), wide(&beta)];
            // Values that differ little from each other lose what they have in common.
            let lost = tape.reciprocal.iter().fold(1.0, |a: f64, &b| a.max(f64::from(b)));
            for (y, expected) in y.iter().zip(reference(&arguments[0], &arguments[1], &arguments[2])) {
                prop_assert!((f64::from(*y) - expected).abs() < 2e-6 * lost, "{y} {expected}");
            }
            for (argument, found) in [&found.x, &found.gamma, &found.beta].into_iter().enumerate() {
                prop_assert_eq!(found.len(), arguments[argument].len());
                for (at, got) in found.iter().enumerate() {
                    let expected = slope(&arguments, &gradient, argument, at);
                    let error = (f64::from(*got) - expected).abs();
                    prop_assert!(error < 2e-6 * lost * lost * (1.0 + expected.abs()), "{argument} at {at}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_the_threads() {
        let (rows, width) = (5 * ROWS + 3, 50);
        let (x, gamma, gradient) = (values(rows * width, 1), values(width, 2), values(rows * width, 3));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let Normed { y, tape } = forward(&x, &gamma, &gamma, EPSILON);
                let Gradients { x: d_x, gamma, beta } = backward(&x, &gamma, &tape, &gradient);
                (y, d_x, gamma, beta)
            })
        };
        let one = run(1);
        assert!((2..4).all(|threads| run(threads) == one));
        // The sums go over all rows, those behind the last whole task too.
        let expected: f32 = (0..rows).map(|row| gradient[row * width]).sum();
        assert!((one.3[0] - expected).abs() < 1e-4);
    }

    #[test]
    fn a_sum_is_normalised_as_if_it_were_given() {
        for (rows, width) in [(0, 3), (1, 7), (2 * ROWS + 5, 50)] {
            let (x, residual) = (values(rows * width, 1), values(rows * width, 2));
            let (gamma, beta) = (values(width, 3), values(width, 4));
            for dropout in [None, Some(Dropout { key: 5, offset: 9, rate: 0.4 })] {
                let expected = match dropout {
                    Some(Dropout { key, offset, rate }) => {
                        crate::dropout::add(&residual, &x, key, offset, rate)
                    }
                    None => residual.iter().zip(&x).map(|(r, x)| x + r).collect(),
                };
                let normed = forward(&expected, &gamma, &beta, EPSILON);
                let found = forward_sum(&residual, &x, dropout, &gamma, &beta, EPSILON);
                assert_eq!((found.sum, found.y), (expected, normed.y));
                assert_eq!(found.tape.mean, normed.tape.mean);
                assert_eq!(found.tape.reciprocal, normed.tape.reciprocal);
            }
        }
    }

    #[test]
    fn equal_values_and_empty_rows_are_no_trouble() {
        let Normed { y, tape } = forward(&[3.0; 8], &[1.0; 4], &[0.5; 4], EPSILON);
        assert_eq!(y, [0.5; 8]);
        assert!(backward(&[3.0; 8], &[1.0; 4], &tape, &[1.0; 8]).x.iter().all(|x| x.abs() < 1e-3));
        let Normed { y, tape } = forward(&[], &[1.0; 4], &[0.5; 4], EPSILON);
        assert!(y.is_empty());
        assert_eq!(backward(&[], &[1.0; 4], &tape, &[]).gamma, [0.0; 4]);
        assert!(forward(&[], &[], &[], EPSILON).y.is_empty());
    }

    #[test]
    #[should_panic(expected = "not [N, C]")]
    fn broken_rows_are_refused() {
        forward(&[0.0; 7], &[1.0; 4], &[0.0; 4], EPSILON);
    }
}
