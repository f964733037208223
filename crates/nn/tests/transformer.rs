//! The fused blocks of a Transformer against their plain forms, forward and backward, on random shapes.

use burn::tensor::{Device, Gradients, Tensor, TensorData};
use gatto_kernels::dropout::keep_mask;
use gatto_nn::attention::{Comparison, KeysValues, Sight, attend, attend_plain};
use gatto_nn::positions::{rotary, rotary_plain};
use gatto_nn::{
    Activation, Initial, Noise, activate, activate_plain, add_dropped, dropout, layer_norm, layer_norm_plain,
    linear_plain, linear_transposed,
};
use proptest::prelude::*;

fn device() -> Device {
    Device::flex().autodiff()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("f32 values")
}

/// The gradients of a weighted sum of the output, whose weights come from `seed`.
fn gradients<const D: usize>(output: &Tensor<D>, seed: u64) -> Gradients {
    let weights = Initial::new(!seed, &device()).normal(output.dims(), 1.0).val().detach();
    (output.clone() * weights).sum().backward()
}

fn gradient<const D: usize>(of: &Tensor<D>, found: &Gradients) -> Vec<f32> {
    values(of.grad(found).expect("a gradient"))
}

fn assert_same(fused: &[Vec<f32>], plain: &[Vec<f32>], tolerance: f32) {
    assert_eq!(fused.len(), plain.len());
    for (part, (fused, plain)) in fused.iter().zip(plain).enumerate() {
        assert_eq!(fused.len(), plain.len(), "part {part}");
        for (at, (a, b)) in fused.iter().zip(plain).enumerate() {
            assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "part {part} at {at}: {a} and not {b}");
        }
    }
}

type Map = fn(Tensor<2>, Tensor<2>, Tensor<1>) -> Tensor<2>;

fn mapped(form: Map, [rows, input, output]: [usize; 3], seed: u64) -> Vec<Vec<f32>> {
    let mut initial = Initial::new(seed, &device());
    let x = initial.normal([rows, input], 1.0).val();
    let weight = initial.normal([output, input], 1.0).val();
    let bias = initial.normal([output], 1.0).val();
    let y = form(x.clone(), weight.clone(), bias.clone());
    let found = gradients(&y, seed);
    vec![values(y), gradient(&x, &found), gradient(&weight, &found), gradient(&bias, &found)]
}

type Norm = fn(Tensor<2>, Tensor<1>, Tensor<1>) -> Tensor<2>;

fn normed(form: Norm, [rows, width]: [usize; 2], seed: u64) -> Vec<Vec<f32>> {
    let mut initial = Initial::new(seed, &device());
    let x = initial.normal([rows, width], 2.0).val();
    let (scale, shift) = (initial.normal([width], 1.0).val(), initial.normal([width], 1.0).val());
    let y = form(x.clone(), scale.clone(), shift.clone());
    let found = gradients(&y, seed);
    vec![values(y), gradient(&x, &found), gradient(&scale, &found), gradient(&shift, &found)]
}

/// What a function of one tensor gives, and its gradient.
fn changed(form: impl FnOnce(Tensor<3>) -> Tensor<3>, shape: [usize; 3], seed: u64) -> Vec<Vec<f32>> {
    let x = Initial::new(seed, &device()).normal(shape, 2.0).val();
    let y = form(x.clone());
    let found = gradients(&y, seed);
    vec![values(y), gradient(&x, &found)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn token_vectors_as_output_layer(rows in 1usize..60, input in 1usize..30, output in 1usize..40, seed: u64) {
        let plain: Map = |x, weight, bias| linear_plain(x, weight.transpose(), bias);
        let [fused, plain] = [linear_transposed, plain].map(|form| mapped(form, [rows, input, output], seed));
        assert_same(&fused, &plain, 2e-5);
    }

    #[test]
    fn layer_norms(rows in 1usize..80, width in 1usize..80, seed: u64) {
        let [fused, plain] = [layer_norm as Norm, layer_norm_plain].map(|form| normed(form, [rows, width], seed));
        // Of two features that are nearly the same, what is left is a difference times up to 1/√ε.
        assert_same(&fused, &plain, if width < 4 { 2e-3 } else { 5e-5 });
    }

    #[test]
    fn activations(batch in 1usize..4, time in 1usize..20, width in 1usize..200, seed: u64) {
        for activation in [Activation::Relu, Activation::Gelu] {
            let fused = changed(|x| activate(x, activation), [batch, time, width], seed);
            let plain = changed(|x| activate_plain(x, activation), [batch, time, width], seed);
            assert_same(&fused, &plain, 2e-6);
        }
    }

    #[test]
    fn rotations(
        batch in 1usize..5, time in 1usize..30, heads in 1usize..5, half in 1usize..20, first in 0usize..300, seed: u64,
    ) {
        let shape = [batch, time, heads * 2 * half];
        let fused = changed(|x| rotary(x, heads, first), shape, seed);
        let plain = changed(|x| rotary_plain(x, heads, first), shape, seed);
        assert_same(&fused, &plain, 1e-5);
    }

    #[test]
    fn dropped_elements(
        batch in 1usize..5, time in 1usize..20, width in 1usize..60, skipped in 1usize..100, rate in 0.01f64..0.95,
        seed: u64,
    ) {
        let shape = [batch, time, width];
        let mask = |x: &Tensor<3>| {
            let mut mask = vec![0.0; batch * time * width];
            keep_mask(seed, skipped as u64, rate as f32, &mut mask);
            Tensor::<3>::from_data(TensorData::new(mask, shape), &x.device())
        };
        let noise = || {
            let mut noise = Noise::seeded(seed);
            dropout(Tensor::<1>::ones([skipped], &device()), rate, &mut noise);
            noise
        };
        let fused = changed(|x| dropout(x, rate, &mut noise()), shape, seed);
        let plain = changed(|x| mask(&x) * x, shape, seed);
        assert_same(&fused, &plain, 0.0);

        let sum = |form: &dyn Fn(Tensor<3>, Tensor<3>) -> Tensor<3>| {
            let mut initial = Initial::new(seed, &device());
            let (residual, x) = (initial.normal(shape, 1.0).val(), initial.normal(shape, 1.0).val());
            let y = form(residual.clone(), x.clone());
            let found = gradients(&y, seed);
            vec![values(y), gradient(&residual, &found), gradient(&x, &found)]
        };
        let fused = sum(&|residual, x| add_dropped(residual, x, rate, &mut noise()));
        let plain = sum(&|residual, x| residual + mask(&x) * x);
        assert_same(&fused, &plain, 1e-6);
        // Nothing is dropped at prediction.
        let kept = sum(&|residual, x| add_dropped(residual, x, rate, &mut Noise::none()));
        assert_same(&kept, &sum(&|residual, x| residual + x), 0.0);
    }
}

/// What is added to the scores.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bias {
    None,
    /// The same for all sentences.
    Shared,
    Own,
}

#[derive(Clone, Debug)]
struct Look {
    batch: usize,
    queries: usize,
    keys: usize,
    heads: usize,
    head: usize,
    /// How many keys of each sentence exist; all if not given.
    lengths: Option<Vec<usize>>,
    causal: Option<usize>,
    bias: Bias,
    dropout: f64,
    seed: u64,
}

fn looks() -> impl Strategy<Value = Look> {
    let sizes = (1usize..5, 1usize..24, 1usize..40, 1usize..4, 1usize..20);
    let bias = prop_oneof![Just(Bias::None), Just(Bias::Shared), Just(Bias::Own)];
    let lengths = prop::option::of(prop::collection::vec(0usize..40, 4));
    let causal = prop::option::of(0usize..20);
    let dropout = prop_oneof![Just(0.0), 0.1..0.6];
    (sizes, lengths, causal, bias, dropout, any::<u64>()).prop_map(
        |((batch, queries, keys, heads, head), lengths, causal, bias, dropout, seed)| {
            let lengths = lengths
                .map(|lengths: Vec<usize>| lengths[..batch].iter().map(|&length| length.min(keys)).collect());
            Look { batch, queries, keys, heads, head, lengths, causal, bias, dropout, seed }
        },
    )
}

impl Look {
    fn mask(&self) -> Option<Tensor<2>> {
        let exists = |&length: &usize| (0..self.keys).map(move |key| f32::from(u8::from(key < length)));
        let mask: Vec<f32> = self.lengths.as_ref()?.iter().flat_map(exists).collect();
        Some(Tensor::from_data(TensorData::new(mask, [self.batch, self.keys]), &device()))
    }

    /// Whether a query may see a key.
    fn sees(&self, sentence: usize, query: usize, key: usize) -> bool {
        self.lengths.as_ref().is_none_or(|lengths| key < lengths[sentence])
            && self.causal.is_none_or(|first| key <= first + query)
    }

    /// Context, weights, and every gradient.
    fn outcome(&self, form: Form) -> Vec<Vec<f32>> {
        let &Self { batch, queries, keys, heads, head, causal, dropout, seed, .. } = self;
        let mut initial = Initial::new(seed, &device());
        let q = initial.normal([batch, queries, heads * head], 1.0).val();
        let mut rows = || initial.normal([batch, keys, heads * head], 1.0).val();
        let at = KeysValues { keys: rows(), values: rows() };
        let bias = match self.bias {
            Bias::None => None,
            Bias::Shared => Some(initial.normal([1, heads, queries, keys], 1.0).val()),
            Bias::Own => Some(initial.normal([batch, heads, queries, keys], 1.0).val()),
        };
        let sight = Sight { mask: self.mask(), causal, bias: bias.clone() };
        let comparison = Comparison { heads, scale: (head as f64).sqrt().recip(), dropout };
        let (context, weights) = form(q.clone(), &at, comparison, &sight, &mut Noise::seeded(seed));
        let found = gradients(&context, seed);
        let mut parts = vec![values(weights), values(context)];
        parts.extend([&q, &at.keys, &at.values].map(|input| gradient(input, &found)));
        parts.extend(bias.map(|bias| gradient(&bias, &found)));
        parts
    }
}

type Form = fn(Tensor<3>, &KeysValues, Comparison, &Sight, &mut Noise) -> (Tensor<3>, Tensor<4>);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn looks_of_all_heads(look in looks()) {
        let [fused, plain] = [attend as Form, attend_plain].map(|form| look.outcome(form));
        assert_same(&fused, &plain, 2e-5);
        // Weights are shares of what may be seen, before dropout, and of nothing else.
        let rows = fused[0].chunks_exact(look.keys).enumerate();
        for (row, weights) in rows {
            let (sentence, query) = (row / (look.heads * look.queries), row % look.queries);
            let sum: f32 = weights.iter().sum();
            let any = (0..look.keys).any(|key| look.sees(sentence, query, key));
            assert!((sum - f32::from(u8::from(any))).abs() < 1e-5, "{sum} of {look:?}");
            for (key, &weight) in weights.iter().enumerate() {
                assert!(weight == 0.0 || look.sees(sentence, query, key), "{key} of {look:?}");
            }
        }
    }
}
