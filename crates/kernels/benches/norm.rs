//! Layer normalisation: `cargo bench -p gatto-kernels --bench norm`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::norm::{Gradients, backward, forward};

const EPSILON: f32 = 1e-5;

/// The means of the rows.
fn means(x: &[f32], width: usize) -> Vec<f32> {
    x.chunks_exact(width).map(|row| row.iter().sum::<f32>() / width as f32).collect()
}

/// `f` of every value and of what belongs to its row.
fn by_rows(x: &[f32], of_rows: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let mut y = x.to_vec();
    for (row, &of_row) in y.chunks_exact_mut(x.len() / of_rows.len()).zip(of_rows) {
        row.iter_mut().for_each(|x| *x = f(*x, of_row));
    }
    y
}

/// `f` of every value and of what belongs to its column.
fn by_columns(x: &[f32], of_columns: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let mut y = x.to_vec();
    for row in y.chunks_exact_mut(of_columns.len()) {
        row.iter_mut().zip(of_columns).for_each(|(x, &of_column)| *x = f(*x, of_column));
    }
    y
}

fn times(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

fn sums_of_columns(x: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0; width];
    x.chunks_exact(width).for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x));
    sums
}

/// `x̂` and `1 / √(σ² + ε)`.
fn normed(x: &[f32], width: usize) -> (Vec<f32>, Vec<f32>) {
    let centred = by_rows(x, &means(x, width), |x, mean| x - mean);
    let variances = means(&times(&centred, &centred), width);
    let reciprocals: Vec<f32> = variances.iter().map(|variance| 1.0 / (variance + EPSILON).sqrt()).collect();
    (by_rows(&centred, &reciprocals, |x, reciprocal| x * reciprocal), reciprocals)
}

fn plain(x: &[f32], gamma: &[f32], beta: &[f32]) -> Vec<f32> {
    let scaled = by_columns(&normed(x, gamma.len()).0, gamma, |x, gamma| x * gamma);
    by_columns(&scaled, beta, |x, beta| x + beta)
}

/// The gradients of x, γ and β; `x̂` is what the forward pass has kept.
fn plain_backward(hat: &[f32], reciprocals: &[f32], gamma: &[f32], gradient: &[f32]) -> [Vec<f32>; 3] {
    let width = gamma.len();
    let scaled = by_columns(gradient, gamma, |g, gamma| g * gamma);
    let along = by_rows(hat, &means(&times(&scaled, hat), width), |x, mean| x * mean);
    let centred = by_rows(&scaled, &means(&scaled, width), |g, mean| g - mean);
    let rest: Vec<f32> = centred.iter().zip(&along).map(|(g, along)| g - along).collect();
    [
        by_rows(&rest, reciprocals, |g, reciprocal| g * reciprocal),
        sums_of_columns(&times(gradient, hat), width),
        sums_of_columns(gradient, width),
    ]
}

fn main() {
    let mut table = Beside::new("norm");
    for (work, rows, width) in [("W1", 1536, 256), ("W3b", 160, 512)] {
        let (x, gradient) = (values(rows * width, 1), values(rows * width, 2));
        let (gamma, beta) = (values(width, 3), values(width, 4));
        table.compare(
            &format!("{work} {rows} × {width}"),
            || [plain(&x, &gamma, &beta)],
            || [forward(&x, &gamma, &beta, EPSILON).y],
        );
        let (hat, reciprocals) = normed(&x, width);
        let tape = forward(&x, &gamma, &beta, EPSILON).tape;
        table.compare(
            &format!("{work} {rows} × {width}, backward"),
            || plain_backward(&hat, &reciprocals, &gamma, &gradient),
            || {
                let Gradients { x, gamma, beta } = backward(&x, &gamma, &tape, &gradient);
                [x, gamma, beta]
            },
        );
    }
    table.finish();
}
