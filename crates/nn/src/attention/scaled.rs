//! Scaled dot-product attention of several heads: softmax(scale · Q Kᵀ + bias) V.
//!
//! Letters: `B` sentences, `T` queries, `S` keys, `H` heads, `D` width of a head, `C` = H · D.

use super::multi_head::KeysValues;
use crate::flex::{Gradient, Operand, Values, operation, plain};
use crate::{Noise, dropout};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Shape, Tensor, TensorData};
use gatto_kernels::attention as kernel;
use gatto_kernels::dropout::Dropout;

/// What queries may see, and what speaks for it besides queries and keys.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// 1 where a key exists: [B, S]. All exist if not given.
    pub mask: Option<Tensor<2>>,
    /// Query t sees keys up to number `first + t` and none behind it.
    pub causal: Option<usize>,
    /// Added to the scores: [1 or B, H, T, S].
    pub bias: Option<Tensor<4>>,
}

/// How queries and keys are compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// H.
    pub heads: usize,
    /// What scores are multiplied by.
    pub scale: f64,
    /// Dropout on the weights.
    pub dropout: f64,
}

/// The context [B, T, C] of `queries` [B, T, C], and the weights [B, H, T, S] outside any gradient.
/// A query that may see nothing has no weight anywhere.
pub fn attend(
    queries: Tensor<3>,
    at: &KeysValues,
    comparison: Comparison,
    sight: &Sight,
    noise: &mut Noise,
) -> (Tensor<3>, Tensor<4>) {
    match fused(&queries, at, comparison, sight, noise) {
        Some(attended) => attended,
        None => attend_plain(queries, at, comparison, sight, noise),
    }
}

/// The attention in plain tensor operations.
pub fn attend_plain(
    queries: Tensor<3>,
    at: &KeysValues,
    comparison: Comparison,
    sight: &Sight,
    noise: &mut Noise,
) -> (Tensor<3>, Tensor<4>) {
    let ([batch, time, width], keys) = (queries.dims(), at.keys.dims()[1]);
    let heads = comparison.heads;
    let split = |x: Tensor<3>, length| x.reshape([batch, length, heads, width / heads]).swap_dims(1, 2);
    let key = split(at.keys.clone(), keys).swap_dims(2, 3); // [B, H, D, S]
    let mut scores = split(queries, time).matmul(key) * comparison.scale; // [B, H, T, S]
    if let Some(bias) = &sight.bias {
        scores = scores + bias.clone().expand([batch, heads, time, keys]);
    }
    let seen = seen(sight, [batch, time, keys], &scores.device()); // [B, 1, T, S]
    let hidden = seen.clone().equal_elem(0.0).expand([batch, heads, time, keys]);
    let weights = softmax(scores.mask_fill(hidden, -1e30), 3) * seen;
    let context = dropout(weights.clone(), comparison.dropout, noise).matmul(split(at.values.clone(), keys));
    let weights = weights.detach();
    (context.swap_dims(1, 2).reshape([batch, time, width]), weights)
}

/// 1 where a query may see a key: [B, 1, T, S].
fn seen(sight: &Sight, [batch, time, keys]: [usize; 3], device: &Device) -> Tensor<4> {
    let exists = match &sight.mask {
        Some(mask) => mask.clone().reshape([batch, 1, 1, keys]).expand([batch, 1, time, keys]),
        None => Tensor::ones([batch, 1, time, keys], device),
    };
    let Some(first) = sight.causal else { return exists };
    let allowed = (0..time).flat_map(|t| (0..keys).map(move |key| f32::from(u8::from(key <= first + t))));
    let allowed = TensorData::new(allowed.collect::<Vec<_>>(), [1, 1, time, keys]);
    exists * Tensor::from_data(allowed, device)
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    shape: kernel::Shape,
    /// q, k and v.
    inputs: [Values; 3],
    /// And whether it is for all sentences.
    bias: Option<(Values, bool)>,
    mask: Option<Values>,
    weights: Values,
    scale: f32,
    causal: Option<usize>,
    dropout: Option<Dropout>,
}

impl Kept {
    fn args(&self) -> kernel::Args<'_> {
        let [q, k, v] = self.inputs.each_ref().map(Values::slice);
        let bias = self.bias.as_ref().map(|(bias, shared)| match shared {
            true => kernel::Bias::Shared(bias.slice()),
            false => kernel::Bias::Own(bias.slice()),
        });
        let Self { shape, scale, causal, dropout, .. } = *self;
        kernel::Args {
            shape,
            q,
            k,
            v,
            scale,
            mask: self.mask.as_ref().map(Values::slice),
            causal,
            bias,
            dropout,
        }
    }

    /// The gradients of q, k, v and the bias, in their shapes.
    fn found(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 4] {
        let kernel::Shape { batch, heads, queries, keys, width } = self.shape;
        let found = kernel::backward(&self.args(), self.weights.slice(), output);
        let rows = |count| Shape::new([batch, count, heads * width]);
        let sentences = if self.bias.as_ref().is_some_and(|(_, shared)| *shared) { 1 } else { batch };
        let bias = found.bias.map(|bias| (bias, Shape::new([sentences, heads, queries, keys])));
        [Some((found.q, rows(queries))), Some((found.k, rows(keys))), Some((found.v, rows(keys))), bias]
    }
}

impl Gradient<3> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 3] {
        let [q, k, v, _] = self.found(output);
        [q, k, v]
    }
}

impl Gradient<4> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 4] {
        self.found(output)
    }
}

fn fused(
    queries: &Tensor<3>,
    at: &KeysValues,
    comparison: Comparison,
    sight: &Sight,
    noise: &mut Noise,
) -> Option<(Tensor<3>, Tensor<4>)> {
    let ([batch, time, width], keys) = (queries.dims(), at.keys.dims()[1]);
    let Comparison { heads, scale, dropout } = comparison;
    let shape = kernel::Shape { batch, heads, queries: time, keys, width: width / heads };
    let [q, k, v] = [Operand::of(queries)?, Operand::of(&at.keys)?, Operand::of(&at.values)?];
    let bias = match &sight.bias {
        Some(bias) => Some((Operand::of(bias)?, bias.dims()[0] == 1 && batch != 1)),
        None => None,
    };
    let mask = match &sight.mask {
        Some(mask) => Some(Operand::of(mask)?.values),
        None => None,
    };
    let mut kept = Kept {
        shape,
        inputs: [&q, &k, &v].map(|operand| operand.values.clone()),
        bias: bias.as_ref().map(|(bias, shared)| (bias.values.clone(), *shared)),
        mask,
        weights: q.values.clone(),
        scale: scale as f32,
        causal: sight.causal,
        dropout: noise.draw(dropout, batch * heads * time * keys),
    };
    let forward = match [&q, &k, &v].into_iter().any(Operand::is_tracked) {
        true => kernel::forward,
        false => kernel::forward_steady,
    };
    let kernel::Attended { context, weights } = forward(&kept.args());
    let weights = plain::<4>(weights, [batch, heads, time, keys]);
    kept.weights = Operand::of(&weights)?.values;
    let context = match bias {
        Some((bias, _)) => operation::<3, 4, Kept>([q, k, v, bias], context, [batch, time, width], || kept),
        None => operation::<3, 3, Kept>([q, k, v], context, [batch, time, width], || kept),
    };
    Some((context, weights))
}
