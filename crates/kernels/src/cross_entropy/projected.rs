//! [Label-smoothed cross-entropy](super) of logits that are never all in memory: `z = x W + b` is made for a slice of
//! rows, and its losses and gradients are taken before the next slice is made in the same place.
//!
//! Letters: `N` rows, `I` width of a row, `V` classes. A row of weight 0 is left out of all products. The gradients are
//! those of `Σ g_n L_n`, where `g` is given: whoever knows it only later can take ones, and scale what comes out if `g`
//! turns out to be the same for all rows.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{LANES, Smoothing, Target, TargetOutOfRange, outside};
use crate::linear::{Gradients, Shape};
use crate::maths::{exp, vectorised};
use crate::product::{View, ViewMut, multiply, multiply_to_new, product, product_onto, transposed, zeros};

/// The logits of a slice, at most (unless a single row has more): 12 MiB.
const SLICE: usize = 3 << 20;

/// The map in front of the loss.
#[derive(Clone, Copy, Debug)]
pub struct Projection<'a> {
    /// `N`, `I` and `V`, and how the weight is stored.
    pub shape: Shape,
    /// `[N, I]`.
    pub x: &'a [f32],
    /// `[I, V]`, or `[V, I]` if transposed.
    pub weight: &'a [f32],
    /// `[V]`.
    pub bias: &'a [f32],
}

/// The loss of each row of `x W + b` against its target, times its weight, `[N]`, and the gradients of
/// `Σ g_n L_n`.
///
/// # Errors
/// If the target of a row whose weight is not 0 is negative or not below `V`.
///
/// # Panics
/// If a slice does not have the length that the shape asks for, or there are rows without width.
pub fn losses_and_gradients<I: Target>(
    projection: Projection<'_>,
    targets: &[I],
    weights: &[f32],
    smoothing: f32,
    g: Option<&[f32]>,
) -> Result<(Vec<f32>, Gradients), TargetOutOfRange> {
    let Projection { shape, bias, .. } = projection;
    let Shape { rows, input, output: classes, .. } = shape;
    check(projection, targets, weights, g)?;
    let counted: Vec<usize> = (0..rows).filter(|&row| weights[row] != 0.0).collect();
    let x = rows_of(projection.x, &counted, rows, input);
    let smoothing = Smoothing::new(smoothing, classes);

    let threads = rayon::current_num_threads();
    let slices = (counted.len() * classes).div_ceil(SLICE).clamp(1, counted.len().max(1));
    let count = counted.len().div_ceil(slices); // rows of a slice
    let share = count.div_ceil(threads).max(1); // rows of a thread
    let mut logits = Box::new_uninit_slice(count * classes);
    let mut of_x = zeros(counted.len() * input); // [counted, I]
    let mut of_weight = Vec::new(); // [I, V]
    let mut of_bias = vec![0.0; threads * classes];
    let mut losses = vec![0.0; counted.len()];
    let (all, weight) = (View::new(&x, counted.len(), input), shape.weight(projection.weight));
    for (index, rows) in counted.chunks(count.max(1)).enumerate() {
        let first = index * count;
        let slice = &mut logits[..rows.len() * classes];
        let parts = slice
            .par_chunks_mut(share * classes)
            .zip(of_x[first * input..][..rows.len() * input].par_chunks_mut(share * input))
            .zip(of_bias.par_chunks_mut(classes))
            .zip(losses[first..].par_chunks_mut(share))
            .zip(rows.par_chunks(share));
        parts.enumerate().for_each(|(part, ((((logits, of_x), of_bias), losses), rows))| {
            let logits = multiply_to_new(logits, all.rows(first + part * share, rows.len()), weight);
            for ((z, loss), &row) in logits.chunks_exact_mut(classes).zip(losses).zip(rows) {
                let Ok(target) = targets[row].try_into() else { continue }; // not so: it was checked
                let scale = weights[row] * g.map_or(1.0, |g| g[row]);
                *loss = weights[row] * turn(z, bias, of_bias, target, smoothing, scale);
            }
            let of_x = ViewMut::strided(of_x, rows.len(), input, input);
            multiply(of_x, View::new(logits, rows.len(), classes), weight.transposed(), false);
        });
        // SAFETY: the parts cover the slice, with as many in each of the others, and each has been written by its product.
        #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
        let slice = unsafe { slice.assume_init_ref() };
        let (gradient, x) = (View::new(slice, rows.len(), classes), all.rows(first, rows.len()));
        match index {
            0 => of_weight = product(x.transposed(), gradient),
            _ => product_onto(&mut of_weight, x.transposed(), gradient),
        }
    }
    drop(logits);
    of_weight.resize(input * classes, 0.0); // where no row counts
    if shape.transposed {
        // To turn it round at the end is faster than products whose long side is the left one.
        of_weight = transposed(&of_weight, input, classes);
    }
    let (sum, others) = of_bias.split_at_mut(classes);
    for other in others.chunks_exact(classes.max(1)) {
        sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
    }
    of_bias.truncate(classes);
    let losses = spread(losses, &counted, rows, 1);
    Ok((losses, Gradients { x: spread(of_x, &counted, rows, input), weight: of_weight, bias: of_bias }))
}

/// Checks shapes and targets.
fn check<I: Target>(
    Projection { shape, x, weight, bias }: Projection<'_>,
    targets: &[I],
    weights: &[f32],
    g: Option<&[f32]>,
) -> Result<(), TargetOutOfRange> {
    let Shape { rows, input, output: classes, .. } = shape;
    assert_eq!(x.len(), rows * input, "cross-entropy: x is not [N, I] for {shape:?}");
    assert!(rows == 0 || input > 0, "cross-entropy: rows without width");
    assert_eq!(weight.len(), input * classes, "cross-entropy: the weight does not fit {shape:?}");
    assert_eq!(bias.len(), classes, "cross-entropy: the bias is not [V] for {shape:?}");
    assert_eq!((targets.len(), weights.len()), (rows, rows), "cross-entropy: targets or weights are not [N]");
    assert_eq!(g.map_or(rows, <[f32]>::len), rows, "cross-entropy: g is not [N]");
    outside(targets, weights, classes)
}

/// The rows that count, one behind the other.
fn rows_of<'a>(x: &'a [f32], counted: &[usize], rows: usize, width: usize) -> Cow<'a, [f32]> {
    if counted.len() == rows {
        return Cow::Borrowed(x);
    }
    Cow::Owned(counted.iter().flat_map(|row| &x[row * width..][..width]).copied().collect())
}

/// The way back: each row at its own place, and zeros between them.
fn spread(values: Vec<f32>, counted: &[usize], rows: usize, width: usize) -> Vec<f32> {
    if counted.len() == rows {
        return values;
    }
    let mut all = vec![0.0; rows * width];
    for (values, row) in values.chunks_exact(width.max(1)).zip(counted) {
        all[row * width..][..width].copy_from_slice(values);
    }
    all
}

/// Turns the products of a row into the gradient of its logits times `scale`, adds that to the bias's, and returns the
/// loss.
fn turn(
    z: &mut [f32],
    bias: &[f32],
    of_bias: &mut [f32],
    target: usize,
    smoothing: Smoothing,
    scale: f32,
) -> f32 {
    vectorised(
        #[inline(always)]
        || {
            let larger = |a: f32, b: f32| if b > a { b } else { a };
            let whole = z.len() / LANES * LANES;
            let mut lanes = [f32::NEG_INFINITY; LANES];
            for (z, bias) in z[..whole].chunks_exact_mut(LANES).zip(bias.chunks_exact(LANES)) {
                for lane in 0..LANES {
                    z[lane] += bias[lane];
                    lanes[lane] = larger(lanes[lane], z[lane]);
                }
            }
            for (lane, (z, bias)) in z[whole..].iter_mut().zip(&bias[whole..]).enumerate() {
                *z += bias;
                lanes[lane] = larger(lanes[lane], *z);
            }
            let max = lanes.iter().fold(f32::NEG_INFINITY, |a, &b| larger(a, b));
            let of_target = z[target] - max;

            let (mut exponentials, mut shifted) = ([0.0f32; LANES], [0.0f32; LANES]);
            for z in z[..whole].chunks_exact_mut(LANES) {
                for lane in 0..LANES {
                    let behind = z[lane] - max;
                    z[lane] = exp(behind);
                    exponentials[lane] += z[lane];
                    shifted[lane] += behind;
                }
            }
            for (lane, z) in z[whole..].iter_mut().enumerate() {
                let behind = *z - max;
                *z = exp(behind);
                exponentials[lane] += *z;
                shifted[lane] += behind;
            }
            let (sum, shifted) = (exponentials.iter().sum::<f32>(), shifted.iter().sum::<f32>());

            let (part, share) = (scale / sum, scale * smoothing.share);
            for (z, of_bias) in z.iter_mut().zip(of_bias.iter_mut()) {
                *z = *z * part - share;
                *of_bias += *z;
            }
            z[target] -= scale * smoothing.target;
            of_bias[target] -= scale * smoothing.target;
            // All relative to the largest logit: the weights of the terms add up to one, so that it cancels.
            let spread = if smoothing.share == 0.0 { 0.0 } else { smoothing.share * shifted };
            sum.ln() - smoothing.target * of_target - spread
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{backward, forward};
    use super::*;
    use crate::linear;
    use crate::samples::values;

    /// The same from logits that are all in memory.
    fn composed(
        projection: Projection<'_>,
        targets: &[i64],
        weights: &[f32],
        smoothing: f32,
        g: &[f32],
    ) -> (Vec<f32>, Gradients) {
        let Projection { shape, x, weight, bias } = projection;
        let logits = linear::forward(shape, x, weight, bias);
        let losses = forward(&logits, targets, weights, smoothing).expect("targets in range");
        let gradient = backward(&logits, targets, weights, smoothing, &losses.log_sums, g);
        (losses.rows, linear::backward(shape, x, weight, &gradient.expect("targets in range")))
    }

    fn close(a: &[f32], b: &[f32]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-5 * (1.0 + b.abs()))
    }

    proptest! {
        #[test]
        fn slices_give_what_all_logits_together_give(
            rows in 0usize..60, input in 1usize..20, classes in 1usize..90, transposed: bool,
            smoothing in prop_oneof![Just(0.0f32), 0.0..1.0f32],
            threads in 1usize..4, padding in 1usize..5, given: bool, seed: u32,
        ) {
            let shape = Shape { rows, input, output: classes, transposed };
            let (x, weight) = (values(rows * input, seed), values(input * classes, seed ^ 1));
            let bias = values(classes, seed ^ 2);
            let projection = Projection { shape, x: &x, weight: &weight, bias: &bias };
            let weights: Vec<f32> = (0..rows).map(|row| [0.0, 1.0, 0.5, 1.0, 2.0][row % (padding + 1).min(5)]).collect();
            let targets: Vec<i64> =
                (0..rows).map(|row| if weights[row] == 0.0 { -1 } else { (row * 31 % classes) as i64 }).collect();
            let g = if given { values(rows, seed ^ 3) } else { vec![1.0; rows] };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let (losses, found) = pool
                .install(|| losses_and_gradients(projection, &targets, &weights, smoothing, given.then_some(&g)))
                .expect("targets in range");
            let (expected, gradients) = composed(projection, &targets, &weights, smoothing, &g);
            prop_assert!(close(&losses, &expected));
            prop_assert!(close(&found.x, &gradients.x));
            prop_assert!(close(&found.weight, &gradients.weight));
            prop_assert!(close(&found.bias, &gradients.bias));
        }
    }

    #[test]
    fn many_classes_are_taken_in_several_slices() {
        let (rows, input, classes) = (9, 3, SLICE / 4);
        let shape = Shape { rows, input, output: classes, transposed: true };
        let (x, weight) = (values(rows * input, 1), values(input * classes, 2));
        let projection = Projection { shape, x: &x, weight: &weight, bias: &vec![0.0; classes] };
        let targets: Vec<i64> = (0..rows as i64).map(|row| row * 1000).collect();
        let (weights, g) = ([1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0; 9]);
        let (losses, found) =
            losses_and_gradients(projection, &targets, &weights, 0.1, None).expect("targets in range");
        let (expected, gradients) = composed(projection, &targets, &weights, 0.1, &g);
        assert!(close(&losses, &expected) && close(&found.x, &gradients.x));
        assert!(close(&found.weight, &gradients.weight) && close(&found.bias, &gradients.bias));
        assert_eq!(found.x[2 * input..][..input], [0.0; 3]);
    }

    #[test]
    fn targets_that_are_no_class_are_errors_unless_masked() {
        let shape = Shape { rows: 2, input: 1, output: 3, transposed: false };
        let projection = Projection { shape, x: &[1.0; 2], weight: &[1.0; 3], bias: &[0.0; 3] };
        let found = |targets: [i64; 2], weights: [f32; 2]| {
            losses_and_gradients(projection, &targets, &weights, 0.1, None).map(|(losses, _)| losses)
        };
        assert_eq!(found([0, -1], [1.0, 1.0]), Err(TargetOutOfRange { row: 1, classes: 3 }));
        assert_eq!(found([3, 0], [1.0, 1.0]), Err(TargetOutOfRange { row: 0, classes: 3 }));
        assert_eq!(found([0, -1], [1.0, 0.0]).expect("the bad target is masked")[1], 0.0);
        assert_eq!(found([-1, -1], [0.0, 0.0]), Ok(vec![0.0; 2]));
    }
}
