//! A step of Muon (Jordan et al. 2024): a matrix changes by as much in all of its directions.
//!
//! With `G` the gradient of a matrix times the factor of clipping, `μ` the momentum and `λ` the decay:
//!
//! - `M = μ M + (1 − μ) G`, and with Nesterov's look ahead `U = (1 − μ) G + μ M`
//! - `θ = (1 − lr · λ) θ − lr · 0.2 √max(rows, columns) · ortho(U)`
//!
//! `ortho(U)` has the singular vectors of `U`, and singular values near one; the factor makes the step as large as one of Adam
//! is (Liu et al. 2025), so that both can share a learning rate. It is found by products alone: with `X = U / ‖U‖` and
//! `A = X Xᵀ`, each round makes `X = a X + (b A + c A²) X`, which leaves the vectors and changes every singular value `σ` to
//! `a σ + b σ³ + c σ⁵`.
//!
//! But for its rounds that is PyTorch's `Muon` with `match_rms_adamw`.

use rayon::prelude::*;

use super::{Decay, sum_of_squares};
use crate::maths::vectorised;
use crate::product::{View, ViewMut, product_into, transposed, zeros};

/// `a`, `b`, `c` of every round. The first is the polynomial that is nearest to one from 0.01 to 1, each other one that for
/// what the one before it leaves of these (Amsel et al. 2025): in the end between 0.73 and 1.27. Smaller values grow 78 times.
const ROUNDS: [[f32; 3]; 3] =
    [[8.0935, -23.6209, 17.4464], [3.6368, -2.7221, 0.5366], [2.6616, -1.9774, 0.4526]];

/// The least norm that a matrix is divided by.
const LEAST_NORM: f32 = 1e-7;

/// One step of [`muon`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuonStep {
    /// The learning rate of this step.
    pub lr: f64,
    /// The part of the mean of gradients that is kept, `μ`.
    pub momentum: f64,
    /// The decay of the weights.
    pub weight_decay: Decay,
    /// What the gradient is multiplied by first: the factor of clipping, or 1.
    pub scale: f32,
}

/// The matrices of a parameter: so many of equal size, side by side in its columns, as those of a recurrent layer's gates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrices {
    /// Columns of all together.
    pub columns: usize,
    /// How many there are.
    pub count: usize,
}

/// A step of Muon for the matrices of a parameter `[rows, columns]`; `mean` starts as zeros.
///
/// # Panics
/// If the slices differ in length, or the matrices do not fit.
pub fn muon(param: &mut [f32], grad: &[f32], mean: &mut [f32], matrices: Matrices, step: &MuonStep) {
    let Matrices { columns, count } = matrices;
    assert_eq!([grad.len(), mean.len()], [param.len(); 2], "muon: parameter, gradient and mean differ");
    let (rows, width) = (param.len() / columns.max(1), columns / count.max(1));
    assert_eq!([rows * columns, width * count], [param.len(), columns], "muon: the matrices do not fit");
    if param.is_empty() {
        return;
    }
    let (decay, shrink) = step.weight_decay.factors(step.lr);
    let (keep, new, scale) = (step.momentum as f32, (1.0 - step.momentum) as f32, step.scale);
    let mut ahead = zeros(param.len());
    vectorised(
        #[inline(always)]
        || {
            for ((p, g), (m, u)) in param.iter().zip(grad).zip(mean.iter_mut().zip(&mut ahead)) {
                let g = g * scale + decay * p;
                *m += new * (g - *m);
                *u = new * g + keep * *m;
            }
        },
    );
    let of = |matrix: usize| {
        let rows = ahead.chunks_exact(columns).map(|row| &row[matrix * width..][..width]);
        orthogonal(rows.flatten().copied().collect(), width)
    };
    let steps: Vec<Vec<f32>> = (0..count).into_par_iter().map(of).collect();
    let size = (step.lr * 0.2 * (rows.max(width) as f64).sqrt()) as f32;
    for (row, param) in param.chunks_exact_mut(columns).enumerate() {
        for (param, steps) in param.chunks_exact_mut(width).zip(&steps) {
            for (p, s) in param.iter_mut().zip(&steps[row * width..]) {
                *p = *p * shrink - size * s;
            }
        }
    }
}

/// A matrix of so many columns with the same singular vectors, and singular values near one.
fn orthogonal(values: Vec<f32>, columns: usize) -> Vec<f32> {
    let rows = values.len() / columns;
    if rows > columns {
        // The fewer rows, the smaller the square matrices.
        return transposed(&orthogonal(transposed(&values, rows, columns), rows), columns, rows);
    }
    let norm = (sum_of_squares(&values).sqrt() as f32).max(LEAST_NORM);
    let mut x: Vec<f32> = values.into_iter().map(|value| value / norm).collect(); // [R, C]
    let (mut second, mut fourth) = (zeros(rows * rows), zeros(rows * rows));
    let mut next = zeros(x.len());
    for [a, b, c] in ROUNDS {
        let matrix = View::new(&x, rows, columns);
        product_into(ViewMut::strided(&mut second, rows, rows, rows), matrix, matrix.transposed()); // [R, R]
        let square = View::new(&second, rows, rows);
        product_into(ViewMut::strided(&mut fourth, rows, rows, rows), square, square); // [R, R]
        for (place, (fourth, second)) in fourth.iter_mut().zip(&second).enumerate() {
            let itself = if place % (rows + 1) == 0 { a } else { 0.0 };
            *fourth = itself + b * second + c * *fourth;
        }
        let sum = View::new(&fourth, rows, rows);
        product_into(ViewMut::strided(&mut next, rows, columns, columns), sum, matrix); // [R, C]
        std::mem::swap(&mut x, &mut next);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use serde_json::Value;

    fn floats(value: &Value) -> Vec<f32> {
        value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
    }

    #[test]
    fn it_agrees_with_pytorch_and_singular_value_decomposition() {
        let golden = include_str!("../../../../tests/golden/muon.json");
        let golden: Value = serde_json::from_str(golden).expect("valid JSON");
        let cases = golden["cases"].as_array().expect("cases");
        for case in cases {
            let [lr, momentum, decay] =
                ["lr", "momentum", "weight_decay"].map(|key| case[key].as_f64().expect("a number"));
            let columns = case["columns"].as_u64().expect("a number") as usize;
            let mut param = floats(&case["start"]);
            let mut mean = vec![0.0; param.len()];
            let steps = case["gradients"].as_array().expect("rows").iter();
            for (grad, expected) in steps.zip(case["parameters"].as_array().expect("rows")) {
                let grad: Vec<f32> = floats(grad).into_iter().map(|g| g * 0.5).collect();
                let step = MuonStep { lr, momentum, weight_decay: Decay::Decoupled(decay), scale: 2.0 };
                muon(&mut param, &grad, &mut mean, Matrices { columns, count: 1 }, &step);
                for (got, expected) in param.iter().zip(floats(expected)) {
                    assert!((got - expected).abs() < 2e-5, "{got} and not {expected}");
                }
            }
        }
        assert_eq!(cases.len(), 3);
    }

    #[test]
    fn singular_values_come_near_one() {
        for sine in (10..=1000).map(|thousandth| f64::from(thousandth) / 1000.0) {
            // A matrix with these two singular values, in a row and a column that others are beside.
            let cosine = (1.0 - sine * sine).sqrt();
            let x = orthogonal(vec![0.0, sine as f32, 0.0, cosine as f32, 0.0, 0.0], 3);
            for (value, was) in [(x[1], sine), (x[3], cosine)].into_iter().filter(|(_, was)| *was >= 0.01) {
                assert!((0.73..1.275).contains(&value), "{was} became {value}");
            }
        }
        assert_eq!(orthogonal(vec![0.0; 6], 3), [0.0; 6], "nothing has no direction");
    }

    #[test]
    fn matrices_side_by_side_are_each_by_itself() {
        let (rows, width, count) = (7, 5, 3);
        let columns = width * count;
        let [start, grad] = [1, 2].map(|seed| values(rows * columns, seed));
        let of = |from: &[f32], matrix: usize| -> Vec<f32> {
            from.chunks_exact(columns).flat_map(|row| &row[matrix * width..][..width]).copied().collect()
        };
        let step = MuonStep { lr: 0.1, momentum: 0.9, weight_decay: Decay::L2(0.01), scale: 1.0 };
        let (mut whole, mut mean) = (start.clone(), vec![0.0; start.len()]);
        muon(&mut whole, &grad, &mut mean, Matrices { columns, count }, &step);
        for matrix in 0..count {
            let (mut own, mut own_mean) = (of(&start, matrix), vec![0.0; rows * width]);
            let alone = Matrices { columns: width, count: 1 };
            muon(&mut own, &of(&grad, matrix), &mut own_mean, alone, &step);
            assert_eq!((of(&whole, matrix), of(&mean, matrix)), (own, own_mean));
        }
    }

    #[test]
    #[should_panic(expected = "the matrices do not fit")]
    fn matrices_that_do_not_fit_are_refused() {
        let step = MuonStep { lr: 0.1, momentum: 0.9, weight_decay: Decay::None, scale: 1.0 };
        muon(&mut [0.0; 6], &[0.0; 6], &mut [0.0; 6], Matrices { columns: 3, count: 2 }, &step);
    }
}
