//! ReLU and GELU of feed-forward blocks: `cargo bench -p gatto-kernels --bench activation`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::activation::{Activation, backward, forward};
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// Abramowitz and Stegun, 7.1.26.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let sum = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_8) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

fn below(x: f32) -> f32 {
    0.5 * (1.0 + erf(x * FRAC_1_SQRT_2))
}

fn plain(activation: Activation, x: &[f32]) -> Vec<f32> {
    match activation {
        Activation::Relu => x.iter().map(|x| x.max(0.0)).collect(),
        Activation::Gelu => x.iter().map(|&x| x * below(x)).collect(),
    }
}

fn plain_backward(activation: Activation, x: &[f32], gradient: &[f32]) -> Vec<f32> {
    let slopes: Vec<f32> = match activation {
        Activation::Relu => x.iter().map(|&x| f32::from(x > 0.0)).collect(),
        Activation::Gelu => {
            x.iter().map(|&x| below(x) + x * (-0.5 * x * x).exp() / (2.0 * PI).sqrt()).collect()
        }
    };
    slopes.iter().zip(gradient).map(|(slope, gradient)| slope * gradient).collect()
}

fn main() {
    let mut table = Beside::new("activation");
    for (work, rows, width) in [("W1", 1536, 1024), ("W3b", 160, 2048)] {
        let x: Vec<f32> = values(rows * width, 1).iter().map(|x| 3.0 * x).collect();
        let gradient = values(x.len(), 2);
        for activation in [Activation::Relu, Activation::Gelu] {
            table.compare(
                &format!("{work} {rows} × {width}, {activation:?}"),
                || [plain(activation, &x)],
                || [forward(activation, &x)],
            );
            table.compare(
                &format!("{work} {rows} × {width}, {activation:?} backward"),
                || [plain_backward(activation, &x, &gradient)],
                || [backward(activation, &x, &gradient)],
            );
        }
    }
    table.finish();
}
