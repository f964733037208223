//! Rotary positions (Su et al. 2021): a query and a key turned by their positions meet in a product that knows
//! only how far apart they stand.
//!
//! Letters: `B` sentences, `T` positions, `H` heads, `D` width of a head. At position `p` the values `i` and
//! `i + D/2` of every head, `i < D/2`, are the coordinates of a point that is turned by the angle `θ = p · 10000^(−2i/D)`:
//!
//! `y_i = x_i cos θ − x_{i+D/2} sin θ`, `y_{i+D/2} = x_{i+D/2} cos θ + x_i sin θ`.
//!
//! Backwards the gradient is turned by `−θ`.

use crate::kept::{self, Kept};
use crate::maths::vectorised;
use crate::pieces::changed;
use std::cell::Cell;

/// What the exponents of the angles stand over.
const BASE: f64 = 10_000.0;

/// The sizes of a batch, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `B`: sentences.
    pub batch: usize,
    /// `T`: positions of a sentence.
    pub steps: usize,
    /// `H`: heads, side by side in a row.
    pub heads: usize,
    /// `D`: width of a head.
    pub width: usize,
    /// The position of the first row of a sentence.
    pub first: usize,
}

/// `x` `[B, T, H·D]`, every row turned by its position.
///
/// # Panics
/// If `D` is odd or `x` does not have the length that `shape` asks for.
pub fn forward(shape: Shape, x: &[f32]) -> Vec<f32> {
    turned(shape, x, 1.0)
}

/// The gradient of `x`, from that of the output, both `[B, T, H·D]`.
///
/// # Panics
/// As [`forward`].
pub fn backward(shape: Shape, output: &[f32]) -> Vec<f32> {
    turned(shape, output, -1.0)
}

/// [`forward`] of few rows, in place.
///
/// # Panics
/// As [`forward`].
pub fn in_place(shape: Shape, x: &mut [f32]) {
    let half = shape.width / 2;
    kept::with(&ROOM, |Turns { cosines, sines }| {
        cosines.clear();
        sines.clear();
        for (cosine, sine) in angles(shape, x, 1.0) {
            cosines.push(cosine);
            sines.push(sine);
        }
        vectorised(
            #[inline(always)]
            || {
                for (row, values) in x.chunks_exact_mut((shape.heads * shape.width).max(1)).enumerate() {
                    let from = row % shape.steps * half;
                    let (cosines, sines) = (&cosines[from..][..half], &sines[from..][..half]);
                    values.chunks_exact_mut(shape.width).for_each(|head| turn(head, cosines, sines));
                }
            },
        );
    });
}

/// The cosines and sines of all positions and pairs, `[T, D/2]` each.
#[derive(Default)]
struct Turns {
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

thread_local! {
    static ROOM: Cell<Turns> = Cell::default();
}

impl Kept for Turns {
    fn bytes(&self) -> usize {
        (self.cosines.capacity() + self.sines.capacity()) * size_of::<f32>()
    }
}

/// The cosine and the sine of each position and pair.
fn angles(shape: Shape, x: &[f32], sign: f64) -> impl Iterator<Item = (f32, f32)> + use<> {
    let Shape { batch, steps, heads, width, first } = shape;
    assert_eq!(x.len(), batch * steps * heads * width, "rotary: x is not [B, T, H·D] for {shape:?}");
    assert!(width.is_multiple_of(2), "rotary: the width of a head is odd in {shape:?}");
    let half = width / 2;
    // In f64, because the angles of late positions have few digits behind the point.
    let angles = (0..steps * half).map(move |at| {
        let (t, i) = (at / half, at % half);
        sign * (first + t) as f64 * BASE.powf(-2.0 * i as f64 / width as f64)
    });
    angles.map(|angle| (angle.cos() as f32, angle.sin() as f32))
}

fn turned(shape: Shape, x: &[f32], sign: f64) -> Vec<f32> {
    let Shape { steps, heads, width, .. } = shape;
    let half = width / 2;
    let (cosines, sines): (Vec<f32>, Vec<f32>) = angles(shape, x, sign).unzip();
    changed(x, heads * width, |row, values| {
        let from = row % steps * half;
        let (cosines, sines) = (&cosines[from..][..half], &sines[from..][..half]);
        vectorised(
            #[inline(always)]
            || values.chunks_exact_mut(width).for_each(|head| turn(head, cosines, sines)),
        );
    })
}

#[inline(always)]
fn turn(head: &mut [f32], cosines: &[f32], sines: &[f32]) {
    let (low, high) = head.split_at_mut(cosines.len());
    for ((low, high), (cosine, sine)) in low.iter_mut().zip(high).zip(cosines.iter().zip(sines)) {
        (*low, *high) = (*low * cosine - *high * sine, *high * cosine + *low * sine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::values;
    use proptest::prelude::*;

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    }

    proptest! {
        #[test]
        fn rows_are_turned_and_gradients_turned_back(
            batch in 1usize..4, steps in 1usize..6, heads in 1usize..4, half in 1usize..20, first in 0usize..3000,
            seed: u32,
        ) {
            let (width, row) = (2 * half, heads * 2 * half);
            let shape = Shape { batch, steps, heads, width, first };
            let x = values(batch * steps * row, seed);
            let y = forward(shape, &x);
            for b in 0..batch {
                for t in 0..steps {
                    for at in 0..heads * half {
                        let (head, i) = (at / half, at % half);
                        let low = (b * steps + t) * row + head * width + i;
                        let angle = (first + t) as f64 / 10_000f64.powf(i as f64 / half as f64);
                        // As complex numbers: y = x · exp(iθ).
                        let (re, im) = (f64::from(x[low]), f64::from(x[low + half]));
                        let (cosine, sine) = (angle.cos(), angle.sin());
                        prop_assert!((f64::from(y[low]) - (re * cosine - im * sine)).abs() < 1e-6);
                        prop_assert!((f64::from(y[low + half]) - (re * sine + im * cosine)).abs() < 1e-6);
                    }
                }
            }
            // The gradient of a linear map is its transpose: ⟨g, y⟩ = ⟨dx, x⟩ for every g; and that of a
            // rotation its inverse.
            let g = values(x.len(), seed ^ 1);
            let found = backward(shape, &g);
            prop_assert!((dot(&g, &y) - dot(&found, &x)).abs() < 1e-5 * (1.0 + x.len() as f64));
            for (back, x) in backward(shape, &y).iter().zip(&x) {
                prop_assert!((back - x).abs() < 1e-6);
            }
        }

        #[test]
        fn products_depend_on_the_distance_alone(first in 0usize..500, distance in 0usize..50, seed: u32) {
            let (q, k) = (values(16, seed), values(16, seed ^ 1));
            let product = |from: usize| {
                let at = |first: usize| Shape { batch: 1, steps: 1, heads: 1, width: 16, first };
                dot(&forward(at(from + distance), &q), &forward(at(from), &k))
            };
            prop_assert!((product(first) - product(0)).abs() < 1e-5);
        }

        #[test]
        fn rows_one_by_one_are_those_of_the_whole(steps in 1usize..8, first in 0usize..100, seed: u32) {
            let shape = Shape { batch: 1, steps, heads: 2, width: 6, first };
            let x = values(steps * 12, seed);
            let single = |t: usize| {
                forward(Shape { steps: 1, first: first + t, ..shape }, &x[t * 12..][..12])
            };
            prop_assert_eq!(forward(shape, &x), (0..steps).flat_map(single).collect::<Vec<f32>>());
            let mut turned = x.clone();
            in_place(shape, &mut turned);
            prop_assert_eq!(forward(shape, &x), turned);
        }
    }

    #[test]
    #[should_panic(expected = "odd")]
    fn odd_widths_are_refused() {
        forward(Shape { batch: 1, steps: 1, heads: 1, width: 3, first: 0 }, &[0.0; 3]);
    }
}
