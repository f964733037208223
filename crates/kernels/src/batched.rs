//! One small product per sentence: `c[b] = a[b] · m[b]`, or `a[b] · m[b]ᵀ`.
//!
//! Attention is made of these: scores are queries times keys transposed, contexts are weights times
//! states. Letters: `B` sentences, `N` rows, `K` length of the sums, `M` columns. Backwards, with `g`
//! the gradient of `c`: `da = g · mᵀ`, `dm = aᵀ · g` (and for the transposed `da = g · m`, `dm = gᵀ · a`).

use crate::product::{View, ViewMut, multiply};
use crate::steady::multiply_steady;
use rayon::prelude::*;

/// The sizes of the products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: products.
    pub batch: usize,
    /// `N`: rows of the left factor and of the result.
    pub rows: usize,
    /// `K`: length of the sums.
    pub inner: usize,
    /// `M`: columns of the result.
    pub columns: usize,
    /// Whether the right factor is given as `[M, K]` and not as `[K, M]`.
    pub transposed: bool,
}

/// A matrix per sentence, one behind the other.
#[derive(Clone, Copy)]
struct Matrices<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl<'a> Matrices<'a> {
    fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        Self { values, rows, columns, transposed: false }
    }

    fn of(self, sentence: usize) -> View<'a> {
        let size = self.rows * self.columns;
        let view = View::new(&self.values[sentence * size..][..size], self.rows, self.columns);
        if self.transposed { view.transposed() } else { view }
    }

    fn transposed(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    /// Rows and columns as they stand in a product.
    fn shape(self) -> (usize, usize) {
        if self.transposed { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }
}

fn products(batch: usize, a: Matrices<'_>, b: Matrices<'_>) -> Vec<f32> {
    products_by(multiply, batch, a, b)
}

fn products_by(
    multiply: fn(ViewMut<'_>, View<'_>, View<'_>, bool),
    batch: usize,
    a: Matrices<'_>,
    b: Matrices<'_>,
) -> Vec<f32> {
    let (rows, columns) = (a.shape().0, b.shape().1);
    let mut result = vec![0.0; batch * rows * columns];
    if !result.is_empty() {
        result.par_chunks_mut(rows * columns).enumerate().for_each(|(sentence, to)| {
            multiply(ViewMut::strided(to, rows, columns, columns), a.of(sentence), b.of(sentence), false);
        });
    }
    result
}

fn factors<'a>(shape: Shape, a: &'a [f32], m: &'a [f32]) -> (Matrices<'a>, Matrices<'a>) {
    let Shape { batch, rows, inner, columns, transposed } = shape;
    assert_eq!(a.len(), batch * rows * inner, "batched: the left factor is not [B, N, K] for {shape:?}");
    assert_eq!(m.len(), batch * inner * columns, "batched: the right factor does not fit {shape:?}");
    let right = match transposed {
        true => Matrices::new(m, columns, inner).transposed(),
        false => Matrices::new(m, inner, columns),
    };
    (Matrices::new(a, rows, inner), right)
}

/// The products, `[B, N, M]`.
///
/// # Panics
/// If a slice does not have the length that `shape` asks for.
pub fn forward(shape: Shape, a: &[f32], m: &[f32]) -> Vec<f32> {
    let (a, m) = factors(shape, a, m);
    products(shape.batch, a, m)
}

/// [`forward`] for prediction: no row depends on how many there are.
///
/// # Panics
/// As [`forward`].
pub fn forward_steady(shape: Shape, a: &[f32], m: &[f32]) -> Vec<f32> {
    let (a, m) = factors(shape, a, m);
    products_by(multiply_steady, shape.batch, a, m)
}

/// The gradients of both factors in their shapes, from that of the result.
///
/// # Panics
/// As [`forward`].
pub fn backward(shape: Shape, a: &[f32], m: &[f32], gradient: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let Shape { batch, rows, columns, transposed, .. } = shape;
    assert_eq!(
        gradient.len(),
        batch * rows * columns,
        "batched: the gradient is not [B, N, M] for {shape:?}"
    );
    let (a, m) = factors(shape, a, m);
    let gradient = Matrices::new(gradient, rows, columns);
    let of_m = match transposed {
        true => products(batch, gradient.transposed(), a),
        false => products(batch, a.transposed(), gradient),
    };
    (products(batch, gradient, m.transposed()), of_m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(count: usize, seed: u32) -> Vec<f32> {
        (0..count as u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 17) as f32 - 8.0).collect()
    }

    proptest! {
        #[test]
        fn products_and_gradients_are_those_of_the_sums(
            batch in 1usize..4, rows in 1usize..6, inner in 1usize..20, columns in 1usize..9,
            transposed: bool, seed: u32,
        ) {
            let shape = Shape { batch, rows, inner, columns, transposed };
            let (a, m) = (values(batch * rows * inner, seed), values(batch * inner * columns, seed ^ 1));
            let g = values(batch * rows * columns, seed ^ 2);
            let at_m = |b: usize, k: usize, c: usize| {
                b * inner * columns + if transposed { c * inner + k } else { k * columns + c }
            };
            let (mut result, mut d_a, mut d_m) =
                (vec![0.0; g.len()], vec![0.0; a.len()], vec![0.0; m.len()]);
            for b in 0..batch {
                for n in 0..rows {
                    for c in 0..columns {
                        for k in 0..inner {
                            let (at_a, at_m, at) =
                                ((b * rows + n) * inner + k, at_m(b, k, c), (b * rows + n) * columns + c);
                            result[at] += a[at_a] * m[at_m];
                            d_a[at_a] += g[at] * m[at_m];
                            d_m[at_m] += g[at] * a[at_a];
                        }
                    }
                }
            }
            prop_assert_eq!(forward(shape, &a, &m), result); // small whole numbers: exact in any order
            prop_assert_eq!(backward(shape, &a, &m, &g), (d_a, d_m));
        }
    }
}
