//! Optimisers in place, one pass over memory each, and the sum of squares that clipping needs.
//!
//! With `θ` a parameter, `g` its gradient times the factor of clipping, `λ` the decay and `t` the step from 1:
//!
//! - Adam: `m = β₁ m + (1 − β₁) g`, `v = β₂ v + (1 − β₂) g²`,
//!   `θ −= lr / (1 − β₁ᵗ) · m / (√v / √(1 − β₂ᵗ) + eps)`
//! - SGD: `u = μ u + (1 − dampening) g` (`u = g` in the first step), `θ −= lr · u`, with Nesterov's look ahead `θ −= lr · (g + μ u)`
//!
//! in the order of operations of PyTorch, its constants computed in `f64` and then rounded, so that results agree to the last bits.

mod muon;

use rayon::prelude::*;
use std::borrow::Cow;

pub use muon::{Matrices, MuonStep, muon};

use crate::embedding::Rows;
use crate::maths::vectorised;

/// Where the decay of the weights enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decay {
    /// None.
    None,
    /// `λ θ` is added to the gradient (PyTorch's `Adam` and `SGD`).
    L2(f64),
    /// `θ` shrinks by `lr · λ θ` before the step (AdamW, Loshchilov & Hutter 2019).
    Decoupled(f64),
}

impl Decay {
    /// What of `θ` is added to the gradient, and what `θ` is multiplied by.
    fn factors(self, lr: f64) -> (f32, f32) {
        match self {
            Decay::None => (0.0, 1.0),
            Decay::L2(decay) => (decay as f32, 1.0),
            Decay::Decoupled(decay) => (0.0, (1.0 - lr * decay) as f32),
        }
    }
}

/// One step of [`adam`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// The learning rate of this step.
    pub lr: f64,
    /// The decay of the mean of the gradients, `β₁`.
    pub beta1: f64,
    /// The decay of the mean of their squares, `β₂`.
    pub beta2: f64,
    /// What is added to the root.
    pub eps: f64,
    /// The decay of the weights.
    pub weight_decay: Decay,
    /// What the gradient is multiplied by first: the factor of clipping, or 1.
    pub scale: f32,
    /// The number of this step, from 1.
    pub step: u64,
}

/// One step of [`sgd`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdStep {
    /// The learning rate of this step.
    pub lr: f64,
    /// The part of the velocity that is kept, `μ`.
    pub momentum: f64,
    /// The part of a new gradient that does not enter the velocity.
    pub dampening: f64,
    /// Look ahead by one more step of the velocity (Nesterov).
    pub nesterov: bool,
    /// The decay of the weights.
    pub weight_decay: Decay,
    /// What the gradient is multiplied by first: the factor of clipping, or 1.
    pub scale: f32,
    /// The number of this step, from 1; the first sets the velocity to the gradient.
    pub step: u64,
}

/// Values that one task takes; sums are made per chunk, whatever the threads.
const CHUNK: usize = 1 << 14;

/// `Σ v²`, in an order that does not depend on the threads.
pub fn sum_of_squares(values: &[f32]) -> f64 {
    const LANES: usize = 16;
    let of_chunk = |chunk: &[f32]| {
        vectorised(
            #[inline(always)]
            || {
                let mut lanes = [0.0f64; LANES];
                let (whole, rest) = chunk.as_chunks::<LANES>();
                for values in whole {
                    for lane in 0..LANES {
                        let value = f64::from(values[lane]);
                        lanes[lane] += value * value;
                    }
                }
                let rest: f64 = rest.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
                lanes.iter().sum::<f64>() + rest
            },
        )
    };
    values.par_chunks(CHUNK).map(of_chunk).collect::<Vec<f64>>().iter().sum()
}

/// Multiplies all values by a factor.
pub fn scale(values: &mut [f32], factor: f32) {
    values.par_chunks_mut(CHUNK).for_each(|chunk| {
        vectorised(
            #[inline(always)]
            || {
                for value in chunk {
                    *value *= factor;
                }
            },
        );
    });
}

/// Adds `more` to `sum`, value by value.
///
/// # Panics
/// If the slices differ in length.
pub fn add(sum: &mut [f32], more: &[f32]) {
    assert_eq!(sum.len(), more.len(), "add: the values differ in number");
    sum.par_chunks_mut(CHUNK).zip(more.par_chunks(CHUNK)).for_each(|(sum, more)| {
        vectorised(
            #[inline(always)]
            || {
                for (sum, more) in sum.iter_mut().zip(more) {
                    *sum += more;
                }
            },
        );
    });
}

/// The gradient of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Gradient<'a> {
    /// All of it.
    Whole(&'a [f32]),
    /// That of a table: what is not in these rows is zero, and is not there to be read.
    Rows(&'a Rows),
}

impl<'a> Gradient<'a> {
    /// All numbers of it, of which there are so many.
    fn whole(self, count: usize) -> Cow<'a, [f32]> {
        match self {
            Self::Whole(values) => Cow::Borrowed(values),
            Self::Rows(rows) => Cow::Owned(rows.whole(count)),
        }
    }
}

/// A step of Adam (Kingma & Ba 2015) or AdamW; `m` and `v` start as zeros.
///
/// # Panics
/// If the slices differ in length or `step` is 0.
pub fn adam(param: &mut [f32], grad: Gradient<'_>, m: &mut [f32], v: &mut [f32], step: &AdamStep) {
    assert_eq!([m.len(), v.len()], [param.len(); 2], "adam: parameter and means differ in length");
    assert!(step.step > 0, "adam: steps count from 1");
    let power = |beta: f64| beta.powf(step.step as f64);
    let step_size = (step.lr / (1.0 - power(step.beta1))) as f32;
    let root = (1.0 - power(step.beta2)).sqrt() as f32;
    let (new1, keep2, new2) = ((1.0 - step.beta1) as f32, step.beta2 as f32, (1.0 - step.beta2) as f32);
    let (eps, scale) = (step.eps as f32, step.scale);
    let (decay, shrink) = step.weight_decay.factors(step.lr);
    let one = |param: &mut [f32], grad: &[f32], m: &mut [f32], v: &mut [f32]| {
        vectorised(
            #[inline(always)]
            || {
                for ((p, g), (m, v)) in param.iter_mut().zip(grad).zip(m.iter_mut().zip(v)) {
                    let g = g * scale + decay * *p;
                    *m += new1 * (g - *m);
                    *v = *v * keep2 + new2 * g * g;
                    *p = *p * shrink - step_size * *m / (v.sqrt() / root + eps);
                }
            },
        );
    };
    match grad {
        Gradient::Whole(grad) => {
            assert_eq!(grad.len(), param.len(), "adam: parameter and gradient differ in length");
            let means = m.par_chunks_mut(CHUNK).zip(v.par_chunks_mut(CHUNK));
            let parts = param.par_chunks_mut(CHUNK).zip(grad.par_chunks(CHUNK)).zip(means);
            parts.for_each(|((param, grad), (m, v))| one(param, grad, m, v));
        }
        Gradient::Rows(rows) => {
            let width = rows.width().max(1);
            let count = param.len() / width;
            assert_eq!(count * width, param.len(), "adam: parameter and rows differ in width");
            assert!(rows.from(count as u32).next().is_none(), "adam: a row that the parameter has not");
            let (many, zeros) = ((CHUNK / width).max(1), vec![0.0; width]);
            let means = m.par_chunks_mut(many * width).zip(v.par_chunks_mut(many * width));
            param.par_chunks_mut(many * width).zip(means).enumerate().for_each(|(part, (param, (m, v)))| {
                let first = part * many;
                let mut read = rows.from(first as u32).peekable();
                let means = m.chunks_mut(width).zip(v.chunks_mut(width));
                for (row, (param, (m, v))) in (first..).zip(param.chunks_mut(width).zip(means)) {
                    let found = read.next_if(|(id, _)| *id as usize == row);
                    one(param, found.map_or(&zeros[..], |(_, grad)| grad), m, v);
                }
            });
        }
    }
}

/// A step of stochastic gradient descent. Without momentum `velocity` is not touched and may be empty.
///
/// # Panics
/// If the slices differ in length.
pub fn sgd(param: &mut [f32], grad: Gradient<'_>, velocity: &mut [f32], step: &SgdStep) {
    let grad = grad.whole(param.len());
    assert_eq!(grad.len(), param.len(), "sgd: parameter and gradient differ in length");
    let (lr, scale) = (step.lr as f32, step.scale);
    let (decay, shrink) = step.weight_decay.factors(step.lr);
    if step.momentum == 0.0 {
        param.par_chunks_mut(CHUNK).zip(grad.par_chunks(CHUNK)).for_each(|(param, grad)| {
            for (p, g) in param.iter_mut().zip(grad) {
                *p = *p * shrink - lr * (g * scale + decay * *p);
            }
        });
        return;
    }
    assert_eq!(velocity.len(), param.len(), "sgd: parameter and velocity differ in length");
    let momentum = step.momentum as f32;
    let (keep, new) = if step.step <= 1 { (0.0, 1.0) } else { (momentum, (1.0 - step.dampening) as f32) };
    let (of_gradient, of_velocity) = if step.nesterov { (1.0, momentum) } else { (0.0, 1.0) };
    param.par_chunks_mut(CHUNK).zip(grad.par_chunks(CHUNK)).zip(velocity.par_chunks_mut(CHUNK)).for_each(
        |((param, grad), velocity)| {
            for ((p, g), u) in param.iter_mut().zip(grad).zip(velocity) {
                let g = g * scale + decay * *p;
                *u = *u * keep + new * g;
                *p = *p * shrink - lr * (of_gradient * g + of_velocity * *u);
            }
        },
    );
}

#[cfg(test)]
mod tests;
