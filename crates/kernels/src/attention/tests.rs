//! Attention against its definition in `f64`: its output, and its gradients against differences of the definition.

use proptest::prelude::*;

use super::{Args, Attended, Bias, Gradients, Shape, backward, forward};
use crate::dropout::{Dropout, keep_mask};
use crate::samples::values;

/// Everything that attention reads, owned.
#[derive(Clone, Debug)]
struct Case {
    shape: Shape,
    mask: Option<Vec<f32>>,
    causal: Option<usize>,
    /// Whether there is a bias, and whether it is the same for all sentences.
    bias: Option<bool>,
    dropout: Option<Dropout>,
    /// q, k, v, bias.
    values: [Vec<f32>; 4],
}

impl Case {
    fn new(shape: Shape, bias: Option<bool>, seed: u32) -> Self {
        let Shape { batch, heads, queries, keys, width } = shape;
        let (square, row) = (heads * queries * keys, heads * width);
        let of_bias = bias.map_or(0, |shared| if shared { square } else { batch * square });
        let lengths = [batch * queries * row, batch * keys * row, batch * keys * row, of_bias];
        let values = std::array::from_fn(|index| values(lengths[index], seed ^ index as u32));
        Self { shape, mask: None, causal: None, bias, dropout: None, values }
    }

    fn args(&self) -> Args<'_> {
        let [q, k, v, bias] = &self.values;
        let bias = self.bias.map(|shared| if shared { Bias::Shared(bias) } else { Bias::Own(bias) });
        let Self { shape, causal, dropout, .. } = *self;
        Args { shape, q, k, v, scale: SCALE, mask: self.mask.as_deref(), causal, bias, dropout }
    }

    fn wide(&self) -> [Vec<f64>; 4] {
        self.values.each_ref().map(|values| values.iter().map(|&v| f64::from(v)).collect())
    }

    fn sees(&self, b: usize, t: usize, s: usize) -> bool {
        let exists = self.mask.as_ref().is_none_or(|mask| mask[b * self.shape.keys + s] != 0.0);
        exists && self.causal.is_none_or(|first| s <= first + t)
    }

    /// The definition: context `[B, T, H·D]` and weights `[B, H, T, S]`.
    fn reference(&self, [q, k, v, bias]: &[Vec<f64>; 4]) -> (Vec<f64>, Vec<f64>) {
        let Shape { batch, heads, queries, keys, width } = self.shape;
        let row = heads * width;
        let mut weights = vec![0.0; batch * heads * queries * keys];
        let mut context = vec![0.0; batch * queries * row];
        let mut factors = vec![1.0; weights.len()];
        if let Some(Dropout { key, offset, rate }) = self.dropout {
            keep_mask(key, offset, rate, &mut factors);
        }
        for at in 0..batch * heads * queries {
            let (b, h, t) = (at / queries / heads, at / queries % heads, at % queries);
            let query = &q[(b * queries + t) * row + h * width..][..width];
            let exponential = |s: usize| {
                let key = &k[(b * keys + s) * row + h * width..][..width];
                let product: f64 = query.iter().zip(key).map(|(q, k)| q * k).sum();
                let place = if self.bias == Some(true) { at % (heads * queries) } else { at } * keys + s;
                (f64::from(SCALE) * product + bias.get(place).unwrap_or(&0.0)).exp()
            };
            let visible: Vec<usize> = (0..keys).filter(|&s| self.sees(b, t, s)).collect();
            let sum: f64 = visible.iter().map(|&s| exponential(s)).sum();
            for s in visible {
                weights[at * keys + s] = exponential(s) / sum;
                for d in 0..width {
                    context[(b * queries + t) * row + h * width + d] += weights[at * keys + s]
                        * f64::from(factors[at * keys + s])
                        * v[(b * keys + s) * row + h * width + d];
                }
            }
        }
        (context, weights)
    }
}

const SCALE: f32 = 0.7;

fn case() -> impl Strategy<Value = Case> {
    let sizes = (1..4usize, 1..4usize, 1..7usize, prop_oneof![1..7usize, 15..35usize], 1..9usize);
    let dropout = (any::<u64>(), any::<u64>(), 0.0..0.8f32).prop_map(|(key, offset, rate)| Dropout {
        key,
        offset,
        rate,
    });
    let options = (
        prop::option::of(0..8usize),
        prop::option::of(any::<bool>()),
        prop::option::of(dropout),
        any::<bool>(),
        any::<u32>(),
    );
    (sizes, options).prop_flat_map(|((batch, heads, queries, keys, width), options)| {
        let (causal, bias, dropout, masked, seed) = options;
        let shape = Shape { batch, heads, queries, keys, width };
        let case = Case { causal, dropout, ..Case::new(shape, bias, seed) };
        let exists = prop_oneof![Just(0.0f32), Just(1.0f32)];
        prop::collection::vec(exists, batch * keys)
            .prop_map(move |mask| Case { mask: masked.then_some(mask), ..case.clone() })
    })
}

fn dot(a: &[f32], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(&a, b)| f64::from(a) * b).sum()
}

fn check_output(case: &Case) {
    let Attended { context, weights } = forward(&case.args());
    let (exact, exact_weights) = case.reference(&case.wide());
    for (got, expected) in context.iter().zip(&exact).chain(weights.iter().zip(&exact_weights)) {
        assert!((f64::from(*got) - expected).abs() < 1e-5, "{got} {expected}");
    }
    assert_eq!((context.len(), weights.len()), (exact.len(), exact_weights.len()));
    // Not merely small.
    assert!(weights.iter().zip(&exact_weights).all(|(&got, &expected)| expected != 0.0 || got == 0.0));
}

fn check_gradients(case: &Case) {
    const STEP: f64 = 1e-5;
    let weights = forward(&case.args()).weights;
    let g = values(case.values[0].len(), 77);
    let Gradients { q, k, v, bias } = backward(&case.args(), &weights, &g);
    assert_eq!(bias.is_some(), case.bias.is_some());
    let wide = case.wide();
    for (argument, found) in [q, k, v, bias.unwrap_or_default()].iter().enumerate() {
        assert_eq!(found.len(), case.values[argument].len());
        // Along a direction that moves every element, and along some single elements.
        let everywhere = values(found.len(), 78).into_iter().map(f64::from).collect::<Vec<f64>>();
        let single = (0..found.len()).step_by(found.len() / 12 + 1).map(|index| {
            let mut direction = vec![0.0; found.len()];
            direction[index] = 1.0;
            direction
        });
        for direction in single.chain([everywhere]) {
            let loss = |by: f64| {
                let mut moved = wide.clone();
                moved[argument].iter_mut().zip(&direction).for_each(|(v, d)| *v += by * d);
                dot(&g, &case.reference(&moved).0)
            };
            let (got, expected) = (dot(found, &direction), (loss(STEP) - loss(-STEP)) / (2.0 * STEP));
            let error = (got - expected).abs();
            assert!(error < 3e-5 * (1.0 + expected.abs()), "argument {argument}: {got} {expected}");
        }
    }
}

proptest! {
    #[test]
    fn output_agrees_with_the_definition(case in case()) {
        check_output(&case);
    }

    #[test]
    fn gradients_agree_with_differences(case in case()) {
        check_gradients(&case);
    }

    #[test]
    fn a_sentence_does_not_see_the_others(case in case()) {
        let one = forward(&case.args());
        let mut other = case.clone();
        let Shape { batch, queries, keys, heads, width } = case.shape;
        other.values[0][queries * heads * width..].fill(f32::NAN);
        other.values[1][keys * heads * width..].fill(f32::NAN);
        other.values[2][keys * heads * width..].fill(f32::NAN);
        let changed = forward(&other.args());
        let (context, weights) = (one.context.len() / batch, one.weights.len() / batch);
        prop_assert_eq!(&one.context[..context], &changed.context[..context]);
        prop_assert_eq!(&one.weights[..weights], &changed.weights[..weights]);
    }

    #[test]
    fn padding_and_the_future_are_not_seen(case in case()) {
        let Shape { batch, queries, keys, heads, width } = case.shape;
        let row = heads * width;
        let mut other = case.clone();
        for at in 0..batch * keys {
            if (0..queries).all(|t| !case.sees(at / keys, t, at % keys)) {
                other.values[1][at * row..][..row].fill(1e9);
                other.values[2][at * row..][..row].fill(-1e9);
            }
        }
        let (one, changed) = (forward(&case.args()), forward(&other.args()));
        prop_assert_eq!(&one.context, &changed.context);
        prop_assert_eq!(&one.weights, &changed.weights);
        let g = values(case.values[0].len(), 5);
        let (one, changed) =
            (backward(&case.args(), &one.weights, &g), backward(&other.args(), &one.weights, &g));
        prop_assert_eq!((&one.q, &one.k, &one.v), (&changed.q, &changed.k, &changed.v));
    }

    /// Decoding step by step with kept keys is the causal square row by row.
    #[test]
    fn single_queries_are_rows_of_the_square(batch in 1usize..3, heads in 1usize..3, steps in 1usize..40, seed: u32) {
        let shape = Shape { batch, heads, queries: steps, keys: steps, width: 5 };
        let square = Case { causal: Some(0), ..Case::new(shape, None, seed) };
        let whole = forward(&square.args());
        let row = heads * 5;
        for t in 0..steps {
            let mut step = Case { shape: Shape { queries: 1, ..shape }, causal: Some(t), ..square.clone() };
            step.values[0] = (0..batch).flat_map(|b| square.values[0][(b * steps + t) * row..][..row].to_vec()).collect();
            for (b, got) in forward(&step.args()).context.chunks_exact(row).enumerate() {
                let expected = &whole.context[(b * steps + t) * row..][..row];
                prop_assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5));
            }
        }
    }
}

/// Sizes beyond those of the property tests: several blocks of a causal square, the product kernels with full
/// tiles; and any number of threads.
#[test]
fn large_squares_agree_whatever_the_threads() {
    for (queries, keys, causal) in [(70, 70, Some(0)), (40, 75, Some(33)), (50, 90, None)] {
        let shape = Shape { batch: 3, heads: 2, queries, keys, width: 33 };
        let lengths = [keys, keys / 2, 0];
        let mask = lengths.iter().flat_map(|&n| (0..keys).map(move |s| f32::from(s < n))).collect();
        let dropout = Some(Dropout { key: 3, offset: (1 << 32) - 20_000, rate: 0.1 });
        let case = Case { mask: Some(mask), causal, dropout, ..Case::new(shape, Some(true), 9) };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let Attended { context, weights } = forward(&case.args());
                let Gradients { q, k, v, bias } = backward(&case.args(), &weights, &case.values[0]);
                [context, weights, q, k, v, bias.expect("a bias")]
            })
        };
        let one = run(1);
        assert!((2..5).all(|threads| run(threads) == one));
        check_output(&case);
        check_gradients(&case);
    }
}

#[test]
fn large_and_small_scores_stay_finite() {
    let shape = Shape { batch: 1, heads: 1, queries: 2, keys: 3, width: 1 };
    let case = Case {
        values: [vec![1000.0, -1000.0], vec![0.0, 1.0, -1.0], vec![5.0, 7.0, 9.0], vec![]],
        ..Case::new(shape, None, 0)
    };
    let Attended { context, weights } = forward(&case.args());
    assert_eq!((context, weights), (vec![7.0, 9.0], vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
}

#[test]
fn nothing_in_nothing_out() {
    let full = Shape { batch: 2, heads: 2, queries: 3, keys: 4, width: 5 };
    for shape in [
        Shape { batch: 0, ..full },
        Shape { queries: 0, ..full },
        Shape { keys: 0, ..full },
        Shape { heads: 0, ..full },
    ] {
        let case = Case {
            causal: Some(0),
            mask: Some(vec![1.0; shape.batch * shape.keys]),
            ..Case::new(shape, Some(true), 1)
        };
        let Attended { context, weights } = forward(&case.args());
        assert_eq!((context.len(), weights.len()), (case.values[0].len(), 0));
        assert!(context.iter().all(|&c| c == 0.0));
        let found = backward(&case.args(), &weights, &context);
        assert!([found.q, found.k, found.v].iter().flatten().all(|&g| g == 0.0));
    }
}

#[test]
#[should_panic(expected = "k is not [B, S, H·D]")]
fn a_slice_of_another_length_is_refused() {
    let mut case = Case::new(Shape { batch: 1, heads: 2, queries: 3, keys: 4, width: 5 }, None, 1);
    case.values[1].pop();
    forward(&case.args());
}
