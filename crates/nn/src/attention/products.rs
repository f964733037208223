//! The two operations that attention spends its time in, fused and plain.

use crate::flex::{Gradient, Operand, Values, operation};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::{additive as additive_kernel, batched as batched_kernel};

/// vᵀ tanh(q_t + k_i): `queries` `[B, T, A]`, `keys` `[B, S, A]`, `vector` `[A]` → `[B, T, S]`.
pub fn additive(queries: Tensor<3>, keys: Tensor<3>, vector: Tensor<1>) -> Tensor<3> {
    match additive_fused(&queries, &keys, &vector) {
        Some(scores) => scores,
        None => additive_plain(queries, keys, vector),
    }
}

/// The additive score in plain tensor operations.
pub fn additive_plain(queries: Tensor<3>, keys: Tensor<3>, vector: Tensor<1>) -> Tensor<3> {
    let width = vector.dims()[0];
    let sums = queries.unsqueeze_dim::<4>(2) + keys.unsqueeze_dim::<4>(1); // [B, T, S, A]
    (sums.tanh() * vector.reshape([1, 1, 1, width])).sum_dim(3).squeeze_dim::<3>(3)
}

/// One product per sentence: `a` [B, N, K] times `m` [B, K, M], or with `transposed` times `m`
/// [B, M, K] transposed → [B, N, M].
pub fn batched(a: Tensor<3>, m: Tensor<3>, transposed: bool) -> Tensor<3> {
    match batched_fused(&a, &m, transposed) {
        Some(products) => products,
        None => batched_plain(a, m, transposed),
    }
}

/// The products in plain tensor operations.
pub fn batched_plain(a: Tensor<3>, m: Tensor<3>, transposed: bool) -> Tensor<3> {
    a.matmul(if transposed { m.swap_dims(1, 2) } else { m })
}

#[derive(Clone, Debug)]
struct KeptAdditive {
    shape: additive_kernel::Shape,
    inputs: [Values; 3],
}

impl Gradient<3> for KeptAdditive {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let additive_kernel::Shape { batch, queries, positions, width } = self.shape;
        let [q, k, v] = self.inputs.each_ref().map(Values::slice);
        let found = additive_kernel::backward(self.shape, q, k, v, output);
        [
            Some((found.queries, Shape::new([batch, queries, width]))),
            Some((found.keys, Shape::new([batch, positions, width]))),
            Some((found.vector, Shape::new([width]))),
        ]
    }
}

fn additive_fused(queries: &Tensor<3>, keys: &Tensor<3>, vector: &Tensor<1>) -> Option<Tensor<3>> {
    let ([batch, count, width], [_, positions, _]) = (queries.dims(), keys.dims());
    let shape = additive_kernel::Shape { batch, queries: count, positions, width };
    let operands = [Operand::of(queries)?, Operand::of(keys)?, Operand::of(vector)?];
    let inputs = operands.each_ref().map(|operand| operand.values.clone());
    let [q, k, v] = inputs.each_ref().map(Values::slice);
    let scores = additive_kernel::forward(shape, q, k, v);
    Some(operation(operands, scores, [batch, count, positions], || KeptAdditive { shape, inputs }))
}

#[derive(Clone, Debug)]
struct KeptFactors {
    shape: batched_kernel::Shape,
    factors: [Values; 2],
}

impl Gradient<2> for KeptFactors {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 2] {
        let batched_kernel::Shape { batch, rows, inner, columns, transposed } = self.shape;
        let [a, m] = self.factors.each_ref().map(Values::slice);
        let (of_a, of_m) = batched_kernel::backward(self.shape, a, m, output);
        let right = if transposed { [batch, columns, inner] } else { [batch, inner, columns] };
        [Some((of_a, Shape::new([batch, rows, inner]))), Some((of_m, Shape::new(right)))]
    }
}

fn batched_fused(a: &Tensor<3>, m: &Tensor<3>, transposed: bool) -> Option<Tensor<3>> {
    let ([batch, rows, inner], [_, first, second]) = (a.dims(), m.dims());
    let columns = if transposed { first } else { second };
    let shape = batched_kernel::Shape { batch, rows, inner, columns, transposed };
    let operands = [Operand::of(a)?, Operand::of(m)?];
    let factors = operands.each_ref().map(|operand| operand.values.clone());
    let [left, right] = factors.each_ref().map(Values::slice);
    let forward = match operands.iter().any(Operand::is_tracked) {
        true => batched_kernel::forward,
        false => batched_kernel::forward_steady,
    };
    let products = forward(shape, left, right);
    Some(operation(operands, products, [batch, rows, columns], || KeptFactors { shape, factors }))
}
