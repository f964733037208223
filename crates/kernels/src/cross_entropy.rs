//! Label-smoothed cross-entropy from logits, without a dense target and without stored probabilities.
//!
//! Letters: `N` rows (positions of the batch), `V` classes (the vocabulary), `ε` smoothing. With
//! `log p(k) = z_k − lse(z)` and `lse(z) = log Σ_k exp z_k`, the loss of a row with target `y` and weight `m` is
//!
//! `m · −[(1 − ε) log p(y) + ε/V Σ_k log p(k)] = m · [lse − (1 − ε) z_y − ε/V Σ_k z_k]`
//!
//! (Szegedy et al. 2016; the `label_smoothing` of PyTorch), and its gradient is `m · [p(k) − (1 − ε) [k = y] − ε/V]`.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use crate::maths::{exp, vectorised};

mod projected;

pub use projected::{Projection, losses_and_gradients};

/// A target that is no class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetOutOfRange {
    /// The row of the target.
    pub row: usize,
    /// The number of classes.
    pub classes: usize,
}

impl std::fmt::Display for TargetOutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { row, classes } = self;
        write!(f, "cross-entropy: the target of row {row} is not one of the {classes} classes")
    }
}

impl std::error::Error for TargetOutOfRange {}

/// What the forward pass returns.
#[derive(Clone, Debug)]
pub struct Losses {
    /// `[N]`: the loss of each row, times its weight.
    pub rows: Vec<f32>,
    /// `[N]`: `log Σ exp` of each row, for the backward pass (0 where the weight is 0).
    pub log_sums: Vec<f32>,
}

/// The target classes of the rows; an id of any integer type.
pub trait Target: Copy + Sync + TryInto<usize> {}
impl<I: Copy + Sync + TryInto<usize>> Target for I {}

/// The loss of each row of `logits` `[N, V]` against its target. Rows of weight 0 are not looked at:
/// their loss is 0 and their target may be anything.
///
/// # Errors
/// If the target of a row whose weight is not 0 is negative or not below `V`.
///
/// # Panics
/// If `logits` is not `N · V` long for the `N` of `targets` and `weights`.
pub fn forward<I: Target>(
    logits: &[f32],
    targets: &[I],
    weights: &[f32],
    smoothing: f32,
) -> Result<Losses, TargetOutOfRange> {
    let classes = check(logits, targets, weights)?;
    let smoothing_of = Smoothing::new(smoothing, classes);
    let (rows, log_sums) = (0..targets.len())
        .into_par_iter()
        .map(|row| match (weights[row], targets[row].try_into()) {
            (weight, Ok(target)) if weight != 0.0 => {
                let (loss, log_sum) = row_loss(&logits[row * classes..][..classes], target, smoothing_of);
                (weight * loss, log_sum)
            }
            _ => (0.0, 0.0),
        })
        .unzip();
    Ok(Losses { rows, log_sums })
}

/// The gradient of the logits, `[N, V]`, from that of the losses of the rows, `[N]`; the other arguments
/// as in [`forward`], `log_sums` from what it returned.
///
/// # Errors
/// As [`forward`].
///
/// # Panics
/// As [`forward`], and if `log_sums` or `grad_rows` is not `N` long.
pub fn backward<I: Target>(
    logits: &[f32],
    targets: &[I],
    weights: &[f32],
    smoothing: f32,
    log_sums: &[f32],
    grad_rows: &[f32],
) -> Result<Vec<f32>, TargetOutOfRange> {
    let classes = check(logits, targets, weights)?;
    assert_eq!(log_sums.len(), targets.len(), "cross-entropy: log_sums is not [N]");
    assert_eq!(grad_rows.len(), targets.len(), "cross-entropy: grad_rows is not [N]");
    let smoothing = Smoothing::new(smoothing, classes);
    let mut gradient = Vec::with_capacity(logits.len());
    gradient.spare_capacity_mut()[..logits.len()]
        .par_chunks_mut(classes.max(1))
        .zip(logits.par_chunks(classes.max(1)))
        .enumerate()
        .for_each(|(row, (to, logits))| match (weights[row], targets[row].try_into()) {
            (weight, Ok(target)) if weight != 0.0 => {
                row_gradient(to, logits, target, smoothing, log_sums[row], weight * grad_rows[row]);
            }
            _ => to.fill(MaybeUninit::new(0.0)),
        });
    // SAFETY: the chunks cover the first `logits.len()` values, and every branch writes all of its chunk.
    #[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
    unsafe {
        gradient.set_len(logits.len());
    }
    Ok(gradient)
}

/// How the target is spread over the classes.
#[derive(Clone, Copy)]
struct Smoothing {
    /// `1 − ε`: what the target has besides its share.
    target: f32,
    /// `ε / V`: the share of every class.
    share: f32,
}

impl Smoothing {
    fn new(smoothing: f32, classes: usize) -> Self {
        Self { target: 1.0 - smoothing, share: smoothing / classes as f32 }
    }
}

/// Checks shapes and targets; returns `V`.
fn check<I: Target>(logits: &[f32], targets: &[I], weights: &[f32]) -> Result<usize, TargetOutOfRange> {
    assert_eq!(weights.len(), targets.len(), "cross-entropy: targets and weights are not both [N]");
    let classes = logits.len() / targets.len().max(1);
    assert_eq!(logits.len(), targets.len() * classes, "cross-entropy: logits are not [N, V]");
    outside(targets, weights, classes)?;
    Ok(classes)
}

/// Refuses a target that is no class where its row counts.
fn outside<I: Target>(targets: &[I], weights: &[f32], classes: usize) -> Result<(), TargetOutOfRange> {
    let outside = |row: &usize| {
        let id: Result<usize, _> = targets[*row].try_into();
        weights[*row] != 0.0 && id.map_or(true, |id| id >= classes)
    };
    match (0..targets.len()).find(outside) {
        Some(row) => Err(TargetOutOfRange { row, classes }),
        None => Ok(()),
    }
}

/// Values that are summed side by side: two registers of the widest machines.
const LANES: usize = 32;

/// The loss of a row and its `log Σ exp`.
fn row_loss(logits: &[f32], target: usize, smoothing: Smoothing) -> (f32, f32) {
    let (max, exponentials, shifted) = vectorised(
        #[inline(always)]
        || {
            let larger = |a: f32, b: f32| if b > a { b } else { a };
            let mut lanes = [f32::NEG_INFINITY; LANES];
            let (chunks, rest) = logits.as_chunks::<LANES>();
            for chunk in chunks {
                lanes.iter_mut().zip(chunk).for_each(|(lane, &z)| *lane = larger(*lane, z));
            }
            let max = lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |a, &b| larger(a, b));

            let (mut exponentials, mut shifted) = ([0.0f32; LANES], [0.0f32; LANES]);
            for chunk in chunks {
                for lane in 0..LANES {
                    let z = chunk[lane] - max;
                    exponentials[lane] += exp(z);
                    shifted[lane] += z;
                }
            }
            for (lane, z) in rest.iter().enumerate() {
                exponentials[lane] += exp(z - max);
                shifted[lane] += z - max;
            }
            (max, exponentials.iter().sum::<f32>(), shifted.iter().sum::<f32>())
        },
    );
    // All relative to the largest logit: the weights of the terms add up to one, so that it cancels.
    let log_sum = exponentials.ln();
    let spread = if smoothing.share == 0.0 { 0.0 } else { smoothing.share * shifted };
    (log_sum - smoothing.target * (logits[target] - max) - spread, max + log_sum)
}

fn row_gradient(
    to: &mut [MaybeUninit<f32>],
    logits: &[f32],
    target: usize,
    smoothing: Smoothing,
    log_sum: f32,
    scale: f32,
) {
    vectorised(
        #[inline(always)]
        || {
            for (to, z) in to.iter_mut().zip(logits) {
                to.write(scale * (exp(z - log_sum) - smoothing.share));
            }
        },
    );
    to[target].write(scale * (exp(logits[target] - log_sum) - smoothing.share - smoothing.target));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, in f64: `−[(1 − ε) log p(y) + ε/V Σ_k log p(k)]`.
    fn reference(logits: &[f64], target: usize, smoothing: f64) -> f64 {
        let sum: f64 = logits.iter().map(|z| z.exp()).sum();
        let log_p = |z: f64| z - sum.ln();
        let uniform: f64 = logits.iter().map(|&z| log_p(z)).sum::<f64>() / logits.len() as f64;
        -((1.0 - smoothing) * log_p(logits[target]) + smoothing * uniform)
    }

    proptest! {
        #[test]
        fn losses_and_gradients_agree_with_the_definition(
            rows in 1..6usize,
            classes in 1..80usize,
            smoothing in prop_oneof![Just(0.0f32), 0.0..1.0f32],
            seed in 0..1000u32,
        ) {
            let hash = |i: u32| (i.wrapping_add(seed * 7919).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
            let logits: Vec<f32> = (0..(rows * classes) as u32).map(|i| hash(i) * 16.0 - 8.0).collect();
            let targets: Vec<i64> = (0..rows).map(|row| (row * 31 % classes) as i64).collect();
            let weights: Vec<f32> = (0..rows).map(|row| [1.0, 0.0, 0.5][row % 3]).collect();
            let grad_rows: Vec<f32> = (0..rows as u32).map(|row| hash(row + 5) - 0.5).collect();
            let losses = forward(&logits, &targets, &weights, smoothing).expect("targets in range");
            let gradient = backward(&logits, &targets, &weights, smoothing, &losses.log_sums, &grad_rows)
                .expect("targets in range");
            for row in 0..rows {
                let wide: Vec<f64> = logits[row * classes..][..classes].iter().map(|&z| f64::from(z)).collect();
                let loss = |z: &[f64]| f64::from(weights[row]) * reference(z, targets[row] as usize, f64::from(smoothing));
                let exact = loss(&wide);
                prop_assert!((f64::from(losses.rows[row]) - exact).abs() < 1e-5 * (1.0 + exact.abs()));
                for k in 0..classes {
                    let moved = |by: f64| {
                        let mut z = wide.clone();
                        z[k] += by;
                        loss(&z)
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5 * f64::from(grad_rows[row]);
                    let got = f64::from(gradient[row * classes + k]);
                    prop_assert!((got - slope).abs() < 1e-5, "row {row} class {k}: {got} {slope}");
                }
            }
        }
    }

    #[test]
    fn large_logits_do_not_overflow() {
        let losses =
            forward(&[1000.0, 0.0, -1000.0, f32::NEG_INFINITY], &[1u32], &[1.0], 0.0).expect("in range");
        assert_eq!((losses.rows[0], losses.log_sums[0]), (1000.0, 1000.0));
    }

    #[test]
    fn targets_that_are_no_class_are_errors_unless_masked() {
        let logits = [0.0; 6];
        let outside = |row| Some(TargetOutOfRange { row, classes: 3 });
        assert_eq!(forward(&logits, &[0i64, -1], &[1.0, 1.0], 0.1).err(), outside(1));
        assert_eq!(forward(&logits, &[3u32, 0], &[1.0, 1.0], 0.1).err(), outside(0));
        assert_eq!(backward(&logits, &[3u32, 0], &[1.0, 1.0], 0.1, &[0.0; 2], &[1.0; 2]).err(), outside(0));
        let losses = forward(&logits, &[0i64, -1], &[1.0, 0.0], 0.1).expect("the bad target is masked");
        assert_eq!(losses.rows[1], 0.0);
        let gradient = backward(&logits, &[0i64, -1], &[1.0, 0.0], 0.1, &losses.log_sums, &[1.0; 2]);
        assert_eq!(gradient.expect("the bad target is masked")[3..], [0.0; 3]);
    }
}
