//! An affine map of rows: `y = x W + b`.
//!
//! Letters: `N` rows, `I` input width, `O` output width. Backwards, with `g` the gradient of `y`:
//! `dx = g Wᵀ`, `dW = xᵀ g`, `db = Σ g` over the rows. The weight may be stored as `Wᵀ`, as token vectors that also
//! serve as the output layer are (Press & Wolf 2017); its gradient then is `gᵀ x`.

use rayon::prelude::*;

use crate::product::{View, multiply_onto_bias, product, split_rows, sum_rows};
use crate::steady::product_steady;

/// The sizes of a map and of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `N`: rows.
    pub rows: usize,
    /// `I`: width of a row that is read.
    pub input: usize,
    /// `O`: width of a row that is written.
    pub output: usize,
    /// Whether the weight is given as `[O, I]` and not as `[I, O]`.
    pub transposed: bool,
}

impl Shape {
    /// `W`, `[I, O]`, however it is stored.
    pub(crate) fn weight(self, weight: &[f32]) -> View<'_> {
        match self.transposed {
            true => View::new(weight, self.output, self.input).transposed(),
            false => View::new(weight, self.input, self.output),
        }
    }
}

/// The gradients of the inputs.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[N, I]`.
    pub x: Vec<f32>,
    /// `[I, O]`, or `[O, I]` for a transposed weight.
    pub weight: Vec<f32>,
    /// `[O]`.
    pub bias: Vec<f32>,
}

fn check(shape: Shape, x: &[f32], weight: &[f32]) {
    assert_eq!(x.len(), shape.rows * shape.input, "linear: x is not [N, I] for {shape:?}");
    assert_eq!(weight.len(), shape.input * shape.output, "linear: the weight does not fit {shape:?}");
}

/// `x W + b`, `[N, O]`.
///
/// # Panics
/// If a slice does not have the length that `shape` asks for.
pub fn forward(shape: Shape, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    check(shape, x, weight);
    let Shape { rows, input, output, .. } = shape;
    assert_eq!(bias.len(), output, "linear: the bias is not [O] for {shape:?}");
    let (x, weight) = (View::new(x, rows, input), shape.weight(weight));
    let count = rows.div_ceil(rayon::current_num_threads()).max(1);
    if count < 16 {
        // Few rows: the columns are split over the threads instead.
        let mut y = product(x, weight);
        add_to_rows(&mut y, bias);
        return y;
    }
    let mut y = Box::new_uninit_slice(rows * output);
    let parts: Vec<_> = split_rows(&mut y, rows, count).collect();
    parts.into_par_iter().enumerate().for_each(|(part, y)| {
        let first = part * count;
        let own = count.min(rows - first);
        multiply_onto_bias(y, x.rows(first, own), weight, bias);
    });
    // SAFETY: the parts cover all rows, and each is written.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    unsafe { y.assume_init() }.into_vec()
}

/// [`forward`] for prediction: no row depends on how many there are, nor on the number of threads.
///
/// # Panics
/// As [`forward`].
pub fn forward_steady(shape: Shape, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    check(shape, x, weight);
    assert_eq!(bias.len(), shape.output, "linear: the bias is not [O] for {shape:?}");
    let mut y = product_steady(View::new(x, shape.rows, shape.input), shape.weight(weight));
    add_to_rows(&mut y, bias);
    y
}

/// Adds the bias to every row.
pub(crate) fn add_to_rows(y: &mut [f32], bias: &[f32]) {
    y.chunks_exact_mut(bias.len().max(1)).for_each(|row| row.iter_mut().zip(bias).for_each(|(y, b)| *y += b));
}

/// The gradients, from that of the output, `[N, O]`.
///
/// # Panics
/// As [`forward`].
pub fn backward(shape: Shape, x: &[f32], weight: &[f32], output: &[f32]) -> Gradients {
    check(shape, x, weight);
    assert_eq!(output.len(), shape.rows * shape.output, "linear: the gradient is not [N, O] for {shape:?}");
    let (x, gradient) = (View::new(x, shape.rows, shape.input), View::new(output, shape.rows, shape.output));
    Gradients {
        x: product(gradient, shape.weight(weight).transposed()),
        weight: match shape.transposed {
            true => product(gradient.transposed(), x),
            false => product(x.transposed(), gradient),
        },
        bias: sum_rows(output, shape.output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_mapped_and_gradients_are_those_of_the_sums(
            rows in 1usize..70, input in 1usize..20, output in 1usize..40, transposed: bool,
            seed: u32,
        ) {
            let shape = Shape { rows, input, output, transposed };
            let at = |i: usize, o: usize| if transposed { o * input + i } else { i * output + o };
            let (x, weight) = (values(rows * input, seed), values(input * output, seed ^ 1));
            let (bias, grad) = (values(output, seed ^ 2), values(rows * output, seed ^ 3));
            let y = forward(shape, &x, &weight, &bias);
            let found = backward(shape, &x, &weight, &grad);
            let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4;
            let sum = |n: usize, f: &dyn Fn(usize) -> f32| (0..n).map(|k| f64::from(f(k))).sum::<f64>();
            for n in 0..rows {
                for o in 0..output {
                    let expected = sum(input, &|i| x[n * input + i] * weight[at(i, o)]) + f64::from(bias[o]);
                    prop_assert!(close(y[n * output + o], expected));
                }
                for i in 0..input {
                    let expected = sum(output, &|o| grad[n * output + o] * weight[at(i, o)]);
                    prop_assert!(close(found.x[n * input + i], expected));
                }
            }
            for o in 0..output {
                prop_assert!(close(found.bias[o], sum(rows, &|n| grad[n * output + o])));
                for i in 0..input {
                    let expected = sum(rows, &|n| x[n * input + i] * grad[n * output + o]);
                    prop_assert!(close(found.weight[at(i, o)], expected));
                }
            }
        }
    }
}
