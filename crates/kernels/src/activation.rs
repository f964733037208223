//! The activations of a feed-forward block, value by value.
//!
//! - [`Activation::Relu`]: `max(x, 0)`, with the slope 0 at 0
//! - [`Activation::Gelu`]: `x Φ(x)` with `Φ(x) = (1 + erf(x / √2)) / 2` (Hendrycks & Gimpel 2016, exact and not by tanh, as
//!   PyTorch's default), with the slope `Φ(x) + x φ(x)` and `φ(x) = exp(−x² / 2) / √(2π)`

use std::f32::consts::FRAC_1_SQRT_2;

use crate::dropout::{Dropout, Factors};
use crate::maths::{exp, vectorised};
use crate::pieces::{PIECE, changed};

/// What a feed-forward block puts between its two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The rectified linear unit.
    Relu,
    /// The Gaussian error linear unit.
    Gelu,
}

// Plain loops below, because a long `for_each` and a function as an argument are not inlined, and so would be
// compiled for the narrowest machine.

/// The activation of every value.
pub fn forward(activation: Activation, x: &[f32]) -> Vec<f32> {
    changed(x, PIECE, |_, piece| activate_all(activation, piece))
}

/// The gradient of `x`, from that of the activations. That of [`Activation::Relu`] may be given the activations in
/// place of `x`.
///
/// # Panics
/// If the slices differ in length.
pub fn backward(activation: Activation, x: &[f32], output: &[f32]) -> Vec<f32> {
    assert_eq!(x.len(), output.len(), "activation: x and the gradient differ in length");
    changed(output, PIECE, |index, piece| slopes(activation, &x[index * PIECE..][..piece.len()], piece))
}

/// [`forward`] and dropout behind it, in one pass.
///
/// # Panics
/// If the rate is not in 0 ≤ rate < 1.
pub fn forward_dropped(activation: Activation, x: &[f32], dropout: Dropout) -> Vec<f32> {
    let factors = Factors::new(dropout);
    changed(x, PIECE, |index, piece| {
        activate_all(activation, piece);
        factors.apply(index * PIECE, piece);
    })
}

/// The gradient of the `x` of [`forward_dropped`]. That of [`Activation::Relu`] must be given its result in place of
/// `x`: what is not above zero there has been dropped, or was below before.
///
/// # Panics
/// If the slices differ in length, or the rate is not in 0 ≤ rate < 1.
pub fn backward_dropped(activation: Activation, kept: &[f32], output: &[f32], dropout: Dropout) -> Vec<f32> {
    assert_eq!(kept.len(), output.len(), "activation: x and the gradient differ in length");
    let factors = Factors::new(dropout);
    changed(output, PIECE, |index, piece| {
        let kept = &kept[index * PIECE..][..piece.len()];
        match activation {
            Activation::Relu => vectorised(
                #[inline(always)]
                move || {
                    for (gradient, &y) in piece.iter_mut().zip(kept) {
                        *gradient = if y > 0.0 { *gradient * factors.keep } else { 0.0 };
                    }
                },
            ),
            Activation::Gelu => {
                slopes(activation, kept, piece);
                factors.apply(index * PIECE, piece);
            }
        }
    })
}

fn activate_all(activation: Activation, values: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || activate(activation, values),
    );
}

/// The activation of every value in place, compiled into the vectorised loop of its caller.
#[inline(always)]
pub(crate) fn activate(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::Relu => {
            for value in values {
                *value = relu(*value);
            }
        }
        Activation::Gelu => {
            for value in values {
                *value = gelu(*value);
            }
        }
    }
}

/// Multiplies gradients by the slopes at `x`.
fn slopes(activation: Activation, x: &[f32], gradients: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || match activation {
            Activation::Relu => {
                for (gradient, &x) in gradients.iter_mut().zip(x) {
                    *gradient = if x > 0.0 { *gradient } else { 0.0 };
                }
            }
            Activation::Gelu => {
                for (gradient, &x) in gradients.iter_mut().zip(x) {
                    *gradient *= gelu_slope(x);
                }
            }
        },
    );
}

/// This way round NaN stays NaN.
#[inline(always)]
pub(crate) fn relu(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    x * normal_below(x)
}

#[inline(always)]
fn gelu_slope(x: f32) -> f32 {
    /// `1 / √(2π)`.
    const PEAK: f32 = 0.398_942_3;
    // Further out the density is nothing, and numbers below the normal ones would be slow.
    let near = x.clamp(-10.0, 10.0);
    let density = PEAK * exp(-0.5 * near * near);
    let density = if x.abs() > 10.0 { 0.0 } else { density };
    normal_below(x) + near * density
}

/// `Φ(x)`: the part of the normal distribution below `x`.
#[inline(always)]
fn normal_below(x: f32) -> f32 {
    0.5 + 0.5 * erf(x * FRAC_1_SQRT_2)
}

/// The error function, within 1e-7 of the exact value (see the tests): a polynomial near zero and `1 − exp` of one
/// elsewhere, with the coefficients of N. Juffa's `erff`. Free of branches and of fused multiply–adds, as the
/// functions of [`crate::maths`].
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let (a, s) = (x.abs(), x * x);
    let mut p = -5.967_617e-4;
    p = p * s + 4.991_194_2e-3;
    p = p * s - 2.676_813_5e-2;
    p = p * s + 1.128_199_25e-1;
    p = p * s - 3.761_253_4e-1;
    p = p * s + 1.283_791_7e-1;
    let near = p * x + x;
    // From here on 1 in f32; further out exp would give numbers below the normal ones, which are slow.
    let a = if a > 4.0 { 4.0 } else { a };
    let s = a * a;
    let mut p = (-1.728_534_7e-5 * a + 3.831_971_3e-4) * s + (-3.883_964_4e-3 * a + 2.425_462_2e-2);
    p = p * a - 1.067_778_8e-1;
    p = p * a - 6.348_467e-1;
    p = p * a - 1.287_175_1e-1;
    let far = (1.0 - exp(p * a - a)).copysign(x);
    if a < 0.927_734_4 { near } else { far }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dropout::apply;
    use proptest::prelude::*;

    /// `2 / √π · exp(−x²) · Σ_n 2ⁿ x²ⁿ⁺¹ / (2n + 1)!!`, whose terms all have the sign of `x`.
    fn exact_erf(x: f64) -> f64 {
        if x.abs() > 6.0 {
            return x.signum();
        }
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-18 * sum.abs() {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
    }

    fn exact(activation: Activation, x: f64) -> f64 {
        match activation {
            Activation::Relu => x.max(0.0),
            Activation::Gelu => x * 0.5 * (1.0 + exact_erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        }
    }

    #[test]
    fn the_reference_is_the_error_function() {
        for (x, value) in
            [(0.5, 0.520_499_877_813_046_5), (1.0, 0.842_700_792_949_714_9), (3.0, 0.999_977_909_503_001_4)]
        {
            assert!((exact_erf(x) - value).abs() < 1e-15 && (exact_erf(-x) + value).abs() < 1e-15);
        }
    }

    #[test]
    fn the_error_function_stays_within_its_bound() {
        // Every 997th bit pattern: all exponents and both signs.
        let values = (0..=u32::MAX / 997).map(|i| f32::from_bits(i * 997)).filter(|x| !x.is_nan());
        let worst = values.map(|x| (f64::from(erf(x)) - exact_erf(f64::from(x))).abs()).fold(0.0, f64::max);
        assert!(worst <= 1e-7, "{worst}");
        assert_eq!([f32::NEG_INFINITY, -4.0, 0.0, 4.0, f32::INFINITY].map(erf), [-1.0, -1.0, 0.0, 1.0, 1.0]);
        assert!(erf(f32::NAN).is_nan());
    }

    #[test]
    fn the_ends_of_the_range_are_their_limits() {
        for activation in [Activation::Relu, Activation::Gelu] {
            let ends = [-1e30, -100.0, 100.0, 1e30, f32::INFINITY];
            assert_eq!(forward(activation, &ends), [0.0, 0.0, 100.0, 1e30, f32::INFINITY]);
            assert_eq!(backward(activation, &ends, &[2.0; 5]), [0.0, 0.0, 2.0, 2.0, 2.0]);
            assert!(forward(activation, &[f32::NAN])[0].is_nan());
        }
        assert_eq!(backward(Activation::Relu, &[0.0], &[1.0]), [0.0]);
    }

    proptest! {
        #[test]
        fn values_and_slopes_are_those_of_the_formulas(
            x in prop::collection::vec((-9.0f32..9.0).prop_filter("a corner", |x| x.abs() > 1e-4), 0..200),
            gelu: bool,
        ) {
            let activation = if gelu { Activation::Gelu } else { Activation::Relu };
            let output: Vec<f32> = x.iter().map(|x| 1.5 - x / 9.0).collect();
            let (y, slopes) = (forward(activation, &x), backward(activation, &x, &output));
            for (i, x) in x.iter().map(|&x| f64::from(x)).enumerate() {
                let slope = (exact(activation, x + 1e-5) - exact(activation, x - 1e-5)) / 2e-5;
                prop_assert!((f64::from(y[i]) - exact(activation, x)).abs() < 1e-6);
                prop_assert!((f64::from(slopes[i]) - slope * f64::from(output[i])).abs() < 2e-6);
            }
        }
    }

    #[test]
    fn dropout_in_the_same_pass_is_dropout_behind() {
        let x: Vec<f32> = (0..3 * PIECE + 5).map(|i| (i as f32 * 0.37).sin()).collect();
        let output: Vec<f32> = x.iter().map(|x| 1.0 - 0.5 * x).collect();
        for (activation, rate) in [(Activation::Relu, 0.3), (Activation::Gelu, 0.3), (Activation::Relu, 0.0)]
        {
            let drop = Dropout { key: 3, offset: 77, rate };
            let y = forward_dropped(activation, &x, drop);
            assert_eq!(y, apply(3, 77, rate, &forward(activation, &x)));
            let kept = if activation == Activation::Relu { &y } else { &x };
            let expected = backward(activation, &x, &apply(3, 77, rate, &output));
            let found = backward_dropped(activation, kept, &output, drop);
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs()));
            assert_eq!(
                backward(Activation::Relu, &x, &output),
                backward(Activation::Relu, &forward(Activation::Relu, &x), &output)
            );
        }
    }

    #[test]
    fn pieces_give_the_same_bits_as_single_values() {
        let x: Vec<f32> = (0..3 * PIECE + 5).map(|i| (i as f32 - 6000.0) * 0.001).collect();
        let y = forward(Activation::Gelu, &x);
        assert!(y.iter().zip(&x).all(|(y, &x)| y.to_bits() == gelu(x).to_bits()));
        let slopes = backward(Activation::Gelu, &x, &vec![1.0; x.len()]);
        assert!(slopes.iter().zip(&x).all(|(slope, &x)| slope.to_bits() == gelu_slope(x).to_bits()));
    }
}
