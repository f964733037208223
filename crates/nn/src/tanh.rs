//! y = tanh x, as one operation that vectorises.

use crate::flex::{Gradient, Operand, operation};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::maths::tanh_in_place;
use std::sync::Arc;

/// The hyperbolic tangent of every value.
pub fn tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    fused(&x).unwrap_or_else(|| x.tanh())
}

/// What the backward pass reads again: y, since dy/dx = 1 − y².
#[derive(Clone, Debug)]
struct Kept {
    y: Arc<Vec<f32>>,
    shape: Shape,
}

impl Gradient<1> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        let slope = |(gradient, y): (&f32, &f32)| gradient * (1.0 - y * y);
        [Some((output.iter().zip(self.y.iter()).map(slope).collect(), self.shape.clone()))]
    }
}

fn fused<const D: usize>(x: &Tensor<D>) -> Option<Tensor<D>> {
    let operand = Operand::of(x)?;
    let mut y = operand.values.slice().to_vec();
    tanh_in_place(&mut y);
    let remember = operand.is_tracked().then(|| Arc::new(y.clone()));
    let kept = || Kept { y: remember.unwrap_or_default(), shape: x.shape() };
    Some(operation([operand], y, x.dims(), kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Initial;
    use burn::tensor::{Device, Tolerance};

    #[test]
    fn values_and_gradients_are_those_of_the_plain_form() {
        let device = Device::flex().autodiff();
        let x = Initial::new(3, &device).normal([4, 5, 6], 2.0).val().detach().require_grad();
        let [fused, plain] = [tanh(x.clone()), x.clone().tanh()].map(|y| {
            let gradients = y.clone().powf_scalar(3.0).sum().backward();
            (y.into_data(), x.grad(&gradients).unwrap().into_data())
        });
        let near = Tolerance::absolute(1e-6);
        fused.0.assert_approx_eq::<f32>(&plain.0, near);
        fused.1.assert_approx_eq::<f32>(&plain.1, near);
    }
}
