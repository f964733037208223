//! Every instruction set of the machine against the others, and products against their bound.

use super::sets::with_each;
use crate::attention::{self, Attended, Bias};
use crate::dropout::Dropout;
use crate::embedding::Rows;
use crate::norm::Normed;
use crate::optimise::{AdamStep, Decay, Gradient, SgdStep};
use crate::packed::lanes;
use crate::prepared::Prepared;
use crate::samples::values;
use crate::{activation, additive, batched, cross_entropy, dropout, linear, norm, optimise, rotary};

/// What several kernels give, one after the other.
type Results = Vec<Vec<f32>>;

/// Fails unless all sets give the same bits.
fn same_bits(work: impl Fn() -> Results + Sync) {
    let bits = |results: &Results| -> Vec<Vec<u32>> {
        results.iter().map(|result| result.iter().map(|x| x.to_bits()).collect()).collect()
    };
    let found = with_each(work);
    for (set, results) in &found[1..] {
        for (kernel, (got, expected)) in bits(results).iter().zip(bits(&found[0].1)).enumerate() {
            assert!(*got == expected, "result {kernel} of {set} is not that of {}", found[0].0);
        }
    }
}

#[test]
fn each_set_is_really_run() {
    let found = with_each(lanes);
    #[cfg(target_arch = "x86_64")]
    assert_eq!(found, [("plain", 1), ("AVX2", 8), ("AVX-512", 16)][..found.len()]);
    // The last is what runs without a choice.
    assert_eq!(found.last().map(|(_, lanes)| *lanes), Some(lanes()));
}

#[test]
fn what_is_done_value_by_value_has_the_same_bits() {
    // Every 9973rd bit pattern: all exponents and both signs.
    let patterns = (0..=u32::MAX / 9973).map(|i| f32::from_bits(i * 9973));
    let mut x: Vec<f32> = patterns.filter(|x| x.is_finite()).collect();
    x.truncate(x.len() / 2 * 2);
    let ones = vec![1.0; x.len()];
    same_bits(|| {
        let kinds = [activation::Activation::Relu, activation::Activation::Gelu];
        let mut found: Results = kinds.iter().map(|&kind| activation::forward(kind, &x)).collect();
        found.extend(kinds.iter().map(|&kind| activation::backward(kind, &x, &ones)));
        found.push(dropout::apply(7, 9, 0.3, &x));
        found.push(dropout::add(&ones, &x, 7, 9, 0.3));
        let shape = rotary::Shape { batch: 1, steps: x.len() / 2, heads: 1, width: 2, first: 3 };
        found.push(rotary::forward(shape, &x));
        found.extend(updated(&x));
        found
    });
}

/// Parameters after a step of each optimiser, and what it remembers.
fn updated(gradient: &[f32]) -> Results {
    let (mut adam, mut sgd) = (values(gradient.len(), 5), values(gradient.len(), 6));
    let (mut m, mut v, mut velocity) = (adam.clone(), vec![0.5; adam.len()], sgd.clone());
    let (lr, weight_decay, scale, step) = (1e-3, Decay::L2(0.1), 0.5, 3);
    let (beta1, beta2, eps) = (0.9, 0.98, 1e-9);
    let with = AdamStep { lr, beta1, beta2, eps, weight_decay, scale, step };
    optimise::adam(&mut adam, Gradient::Whole(gradient), &mut m, &mut v, &with);
    // Every third row of a table of seven columns.
    let mut read = Rows::new(7);
    let places: Vec<u32> = (0..(adam.len() / 7) as u32).step_by(3).collect();
    read.add(&places, &gradient[..places.len() * 7]);
    let whole = adam.len() / 7 * 7;
    optimise::adam(&mut adam[..whole], Gradient::Rows(&read), &mut m[..whole], &mut v[..whole], &with);
    let with = SgdStep { lr, momentum: 0.9, dampening: 0.1, nesterov: true, weight_decay, scale, step };
    optimise::sgd(&mut sgd, Gradient::Whole(gradient), &mut velocity, &with);
    let small: Vec<f32> = gradient.iter().map(|g| g.clamp(-1e9, 1e9)).collect();
    let sum = optimise::sum_of_squares(&small).to_bits();
    vec![adam, m, v, sgd, velocity, vec![f32::from_bits(sum as u32), f32::from_bits((sum >> 32) as u32)]]
}

#[test]
fn sums_over_rows_have_the_same_bits() {
    // Whole registers of every set, and a rest behind them.
    for width in [3, 32, 53, 200] {
        let rows = 70;
        let (x, gradient) = (values(rows * width, 1), values(rows * width, 2));
        let (gamma, targets) = (values(width, 3), (0..rows as u32).map(|row| row % 3).collect::<Vec<u32>>());
        let ones = vec![1.0; rows];
        same_bits(|| {
            let Normed { y, tape } = norm::forward(&x, &gamma, &gamma, 1e-5);
            let back = norm::backward(&x, &gamma, &tape, &gradient);
            let losses = cross_entropy::forward(&x, &targets, &ones, 0.1).expect("classes");
            let of_logits = cross_entropy::backward(&x, &targets, &ones, 0.1, &losses.log_sums, &ones);
            let shape = additive::Shape { batch: 7, queries: 10, positions: 10, width };
            let scores = additive::forward(shape, &x, &gradient, &gamma);
            let score = additive::backward(shape, &x, &gradient, &gamma, &scores);
            let mut found = vec![y, tape.mean, tape.reciprocal, back.x, back.gamma, back.beta];
            found.extend([losses.rows, losses.log_sums, of_logits.expect("classes"), scores]);
            found.extend([score.queries, score.keys, score.vector]);
            found
        });
    }
}

#[test]
fn integers_have_the_same_bits() {
    for (rows, input, output) in [(1, 7, 5), (9, 64, 130), (40, 203, 64)] {
        let (x, weight) = (values(rows * input, 1), values(input * output, 2));
        same_bits(|| vec![Prepared::bytes(&weight, input, output, false).forward(&x, None)]);
    }
}

#[test]
fn columns_that_are_taken_give_what_they_gave() {
    let (rows, input, output) = (5, 33, 150);
    let (x, weight) = (values(rows * input, 1), values(input * output, 2));
    let ids: Vec<u32> = (0..output as u32).rev().step_by(7).collect();
    for (set, same) in with_each(|| {
        let floats = Prepared::floats(&weight, input, output, false);
        let all = floats.forward(&x, None);
        let taken = all.chunks_exact(output).flat_map(|row| ids.iter().map(|&id| row[id as usize].to_bits()));
        let found = floats.columns(&ids).forward(&x, None);
        taken.eq(found.iter().map(|value| value.to_bits()))
    }) {
        assert!(same, "{set}");
    }
}

/// Attention with a mask, a bias and dropout: queries, keys and values are all of `x`.
fn attention(x: &[f32], bias: &[f32], shape: attention::Shape, steady: bool) -> Results {
    let exists: Vec<f32> = (0..shape.batch * shape.keys).map(|at| f32::from(at % 7 != 3)).collect();
    let dropout = (!steady).then_some(Dropout { key: 3, offset: 5, rate: 0.1 });
    let args = attention::Args {
        shape,
        q: x,
        k: x,
        v: x,
        scale: 0.3,
        mask: Some(&exists),
        causal: Some(0),
        bias: Some(Bias::Shared(bias)),
        dropout,
    };
    if steady {
        let Attended { context, weights } = attention::forward_steady(&args);
        return vec![context, weights];
    }
    let Attended { context, weights } = attention::forward(&args);
    let back = attention::backward(&args, &weights, x);
    vec![context, weights, back.q, back.k, back.v, back.bias.expect("a bias")]
}

#[test]
fn attention_agrees() {
    for (steps, width) in [(5, 8), (40, 33)] {
        let shape = attention::Shape { batch: 3, heads: 2, queries: steps, keys: steps, width };
        let (x, bias) = (values(3 * steps * 2 * width, 1), values(2 * steps * steps, 2));
        // Products of training choose their instructions themselves, and are the same here.
        same_bits(|| attention(&x, &bias, shape, false));
        let found = with_each(|| attention(&x, &bias, shape, true));
        for (set, results) in &found {
            for (got, expected) in results.iter().flatten().zip(found[0].1.iter().flatten()) {
                assert!((got - expected).abs() < 1e-5, "{set}: {got} and not {expected}");
            }
            // A sentence is what it is alone.
            let (one, row) = (attention::Shape { batch: 1, ..shape }, steps * 2 * width);
            let alone = with_each(|| attention(&x[..row], &bias, one, true));
            let (_, alone) = alone.into_iter().find(|(name, _)| name == set).expect("the same sets");
            assert_eq!(results[0][..row], alone[0], "{set}");
        }
    }
}

/// Rows times a matrix.
type Product<'a> = &'a (dyn Fn(&[f32]) -> Vec<f32> + Sync);

#[test]
fn products_stay_within_the_bound_of_their_sums() {
    for (rows, input, output) in
        [(1, 1, 1), (3, 5, 47), (8, 64, 48), (9, 131, 49), (70, 40, 130), (5, 700, 7)]
    {
        let (x, weight, zeros) = (values(rows * input, 1), values(input * output, 2), vec![0.0; output]);
        let at = |transposed: bool, i: usize, o: usize| {
            weight[if transposed { o * input + i } else { i * output + o }]
        };
        let steady = |x: &[f32], transposed: bool| {
            let shape = linear::Shape { rows: x.len() / input, input, output, transposed };
            linear::forward_steady(shape, x, &weight, &zeros)
        };
        // Made anew each time, as its panels are as wide as the registers.
        let ready =
            |x: &[f32], transposed| Prepared::floats(&weight, input, output, transposed).forward(x, None);
        let one = |x: &[f32]| {
            let (rows, inner, columns) = (x.len() / input, input, output);
            let shape = batched::Shape { batch: 1, rows, inner, columns, transposed: false };
            batched::forward_steady(shape, x, &weight)
        };
        let products: [(&str, bool, Product<'_>); 5] = [
            ("steady", false, &|x| steady(x, false)),
            ("steady, transposed", true, &|x| steady(x, true)),
            ("ready", false, &|x| ready(x, false)),
            ("ready, transposed", true, &|x| ready(x, true)),
            ("batched", false, &one),
        ];
        for (name, transposed, product) in products {
            for (set, found) in with_each(|| product(&x)) {
                for (n, y) in found.iter().enumerate() {
                    let (row, o) = (n / output, n % output);
                    let term = |i: usize| f64::from(x[row * input + i]) * f64::from(at(transposed, i, o));
                    let (exact, size) = (0..input)
                        .map(term)
                        .fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                    // Higham, Accuracy and Stability of Numerical Algorithms, 3.5: in whatever order.
                    let bound = input as f64 * f64::from(f32::EPSILON / 2.0) * 1.001 * size;
                    assert!((f64::from(*y) - exact).abs() <= bound, "{name} with {set}: {y} and not {exact}");
                }
            }
            // A row is what it is alone.
            let alone = with_each(|| x.chunks_exact(input).flat_map(product).collect::<Vec<f32>>());
            assert_eq!(with_each(|| product(&x)), alone, "{name}");
        }
    }
}

#[test]
fn whole_numbers_are_exact() {
    let whole = |count: usize, seed: u32| -> Vec<f32> {
        values(count, seed).iter().map(|x| (x * 100.0).round()).collect()
    };
    for (rows, input, output) in [(1, 1, 1), (3, 5, 47), (23, 40, 130)] {
        let (x, weight, bias) = (whole(rows * input, 1), whole(input * output, 2), whole(output, 3));
        same_bits(|| {
            [false, true]
                .into_iter()
                .flat_map(|transposed| {
                    let shape = linear::Shape { rows, input, output, transposed };
                    let packed =
                        Prepared::floats(&weight, input, output, transposed).forward(&x, Some(&bias));
                    let steady = linear::forward_steady(shape, &x, &weight, &bias);
                    assert_eq!(packed, steady);
                    assert_eq!(linear::forward(shape, &x, &weight, &bias), steady);
                    [packed, steady]
                })
                .collect()
        });
    }
}

/// Attention of one column after the other, whose products are sums and so differ in their last bits.
#[test]
fn a_column_looks_alike_with_every_set() {
    let (rows, heads, width, keys) = (3, 2, 37, 9);
    let row = heads * width;
    let (q, k, v) = (values(rows * row, 1), values(rows * keys * row, 2), values(rows * keys * row, 3));
    let pieces =
        [attention::Piece { keys: &k, values: &v, columns: keys, places: attention::Places::Together(None) }];
    let column = attention::Column { heads, width, scale: 0.3, pieces: &pieces, mask: None, bias: None };
    let found = with_each(|| {
        let (mut context, mut weights) = (vec![0.0; rows * row], vec![0.0; rows * heads * keys]);
        attention::forward_column(&q, &column, &mut context, &mut weights);
        [context, weights]
    });
    for (set, results) in &found[1..] {
        for (got, expected) in results.iter().flatten().zip(found[0].1.iter().flatten()) {
            assert!((got - expected).abs() < 1e-5, "{got} with {set} and not {expected}");
        }
    }
}

/// A choice holds for its own work only.
#[test]
fn choices_end() {
    for (_, arch) in super::sets::all() {
        super::sets::with(arch, || {
            assert_eq!(std::mem::discriminant(&super::arch()), std::mem::discriminant(&arch))
        });
    }
    assert_eq!(std::mem::discriminant(&super::arch()), std::mem::discriminant(&pulp::Arch::new()));
}
