//! First values of parameters, drawn from a seed.

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Draws first values one parameter after the other, so that a model of one configuration and one
/// seed always starts the same.
pub struct Initial {
    /// `None`: there are no values.
    generator: Option<ChaCha8Rng>,
    device: Device,
}

impl Initial {
    /// Starts drawing from `seed`, for parameters on `device`.
    pub fn new(seed: u64, device: &Device) -> Self {
        Self { generator: Some(ChaCha8Rng::seed_from_u64(seed)), device: device.clone() }
    }

    /// Draws nothing, for parameters whose values come from elsewhere: each has its shape, and takes no memory. Should it
    /// be used all the same, what comes out is not a number.
    pub fn blank(device: &Device) -> Self {
        Self { generator: None, device: device.clone() }
    }

    fn parameter<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        Param::from_data(TensorData::new(values, shape), &self.device)
    }

    fn shape<const D: usize>(&self, shape: [usize; D]) -> Param<Tensor<D>> {
        Param::from_tensor(Tensor::<D>::full([1; D], f32::NAN, &self.device).expand(shape))
    }

    /// Uniform between −`bound` and `bound`.
    pub fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let Some(generator) = &mut self.generator else { return self.shape(shape) };
        let count = shape.iter().product();
        let values = (0..count).map(|_| (generator.random::<f32>() * 2.0 - 1.0) * bound as f32).collect();
        self.parameter(values, shape)
    }

    /// Uniform with the bound √(6 / (rows + columns)) of Glorot & Bengio (2010).
    pub fn glorot(&mut self, shape: [usize; 2]) -> Param<Tensor<2>> {
        self.uniform(shape, (6.0 / (shape[0] + shape[1]) as f64).sqrt())
    }

    /// Normal with the deviation √(2 / rows) of He et al. (2015), for what a ReLU stands behind.
    pub fn he(&mut self, shape: [usize; 2]) -> Param<Tensor<2>> {
        self.normal(shape, (2.0 / shape[0].max(1) as f64).sqrt())
    }

    /// Normal with mean 0.
    pub fn normal<const D: usize>(&mut self, shape: [usize; D], deviation: f64) -> Param<Tensor<D>> {
        let Some(generator) = &mut self.generator else { return self.shape(shape) };
        let drawn = gaussian(generator, shape.iter().product());
        let values = drawn.into_iter().map(|z| (z * deviation) as f32).collect();
        self.parameter(values, shape)
    }

    /// `gates` orthogonal matrices [H, H] side by side, as [H, gates · H]: a recurrent product that
    /// neither stretches nor shrinks a state (Saxe et al., 2014).
    pub fn orthogonal(&mut self, width: usize, gates: usize) -> Param<Tensor<2>> {
        let Some(generator) = &mut self.generator else { return self.shape([width, gates * width]) };
        let mut values = vec![0.0f32; width * gates * width];
        for gate in 0..gates {
            for (row, basis) in orthonormal_rows(generator, width).into_iter().enumerate() {
                let start = row * gates * width + gate * width;
                for (to, from) in values[start..start + width].iter_mut().zip(basis) {
                    *to = from as f32;
                }
            }
        }
        self.parameter(values, [width, gates * width])
    }

    /// The same value everywhere.
    pub fn constant<const D: usize>(&self, shape: [usize; D], value: f32) -> Param<Tensor<D>> {
        self.given(vec![value; shape.iter().product()], shape)
    }

    /// The given values.
    pub fn given<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        if self.generator.is_none() {
            return self.shape(shape);
        }
        self.parameter(values, shape)
    }
}

/// Standard normal numbers (Box–Muller).
fn gaussian(generator: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        let radius = (-2.0 * (1.0 - generator.random::<f64>()).ln()).sqrt();
        let angle = std::f64::consts::TAU * generator.random::<f64>();
        values.extend([radius * angle.cos(), radius * angle.sin()]);
    }
    values.truncate(count);
    values
}

/// A random orthonormal basis, by Gram–Schmidt.
fn orthonormal_rows(generator: &mut ChaCha8Rng, width: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(width);
    while basis.len() < width {
        let mut row = gaussian(generator, width);
        for known in &basis {
            let along: f64 = row.iter().zip(known).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(known).for_each(|(a, b)| *a -= along * b);
        }
        let norm = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 1e-6 {
            row.iter_mut().for_each(|a| *a /= norm);
            basis.push(row);
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recurrent_weights_start_orthogonal() {
        let device = Device::flex();
        let weight = Initial::new(1, &device).orthogonal(7, 3).val();
        for gate in 0..3 {
            let square = weight.clone().narrow(1, gate * 7, 7);
            let product = square.clone().matmul(square.transpose());
            product.into_data().assert_approx_eq::<f32>(
                &Tensor::<2>::eye(7, &device).into_data(),
                burn::tensor::Tolerance::absolute(1e-5),
            );
        }
    }

    #[test]
    fn what_is_blank_has_the_shapes_and_no_values() {
        let blank = &mut Initial::blank(&Device::flex());
        let parameters = [
            (blank.orthogonal(4, 3), [4, 12]),
            (blank.glorot([2, 3]), [2, 3]),
            (blank.normal([2, 3], 1.0), [2, 3]),
            (blank.constant([1, 2], 1.0), [1, 2]),
            (blank.given(vec![1.0, 2.0], [2, 1]), [2, 1]),
        ];
        for (parameter, shape) in parameters {
            assert_eq!(parameter.dims(), shape);
            assert!(parameter.val().try_into_vec_as::<f32>().unwrap().iter().all(|value| value.is_nan()));
        }
    }

    #[test]
    fn a_seed_gives_the_same_values_again() {
        let device = Device::flex();
        let draw = |seed| Initial::new(seed, &device).normal([3, 4], 1.0).val().into_data();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
