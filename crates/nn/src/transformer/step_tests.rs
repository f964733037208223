//! A step is what the composed form makes, for every choice that there is.

use super::{NormOrder, Stack, StackSettings, StackState};
use crate::positions::{PositionKind, PositionSettings};
use crate::{Activation, Initial, Noise, Precision};
use burn::tensor::{Device, Int, Tensor};

const WIDTH: usize = 8;
const HEADS: usize = 2;

fn settings(kind: PositionKind, norm: NormOrder, activation: Activation, projected: bool) -> StackSettings {
    let positions =
        PositionSettings { kind, width: WIDTH, heads: HEADS, causal: true, most: 20, buckets: 8, reach: 6 };
    StackSettings {
        width: WIDTH,
        layers: 2,
        heads: HEADS,
        inner: 20,
        projected,
        causal: true,
        source: Some(WIDTH),
        norm,
        activation,
        positions,
        dropout: 0.1,
        embedding_dropout: 0.1,
        attention_dropout: 0.1,
        activation_dropout: 0.1,
    }
}

fn numbers<const D: usize>(seed: usize, shape: [usize; D]) -> Tensor<D> {
    let count = shape.iter().product::<usize>() as i64;
    let ids = Tensor::<1, Int>::arange(0..count, &Device::flex()).float();
    ((ids + seed as f64 * 0.37) * 12.9898).sin().reshape(shape)
}

fn assert_near<const D: usize>(found: &Tensor<D>, expected: &Tensor<D>, what: &str) {
    assert_eq!(found.dims(), expected.dims(), "{what}");
    let far = (found.clone() - expected.clone()).abs().max().into_scalar::<f32>();
    assert!(far < 1e-4, "{what}: {far}");
}

/// Steps, with rows chosen between them, by both forms from the same states on.
fn compare(plain: &Stack, ready: &Stack, mut states: [StackState; 2], what: &str) {
    let mut rows = 3;
    let chosen: [&[usize]; 5] = [&[0, 0, 1, 2, 2, 2], &[1, 0, 2, 5, 3], &[4, 2, 0], &[0, 1, 2], &[2, 0]];
    for (time, chosen) in chosen.into_iter().enumerate() {
        let x = numbers(time, [rows, 1, WIDTH]);
        let [left, right] = states;
        let expected = plain.forward(x.clone(), None, left, &mut Noise::none());
        let found = ready.forward(x, None, right, &mut Noise::none());
        assert_near(&found.states, &expected.states, what);
        for (found, expected) in
            [(found.weights, expected.weights), (found.cross_weights, expected.cross_weights)]
        {
            let (found, expected) = (found.tensors(), expected.tensors());
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                assert_near(found, expected, what);
            }
        }
        states = [expected.state.select(chosen), found.state.select(chosen)];
        rows = chosen.len();
    }
    // Several columns behind steps: what the steps left in pieces is put together.
    let x = numbers(9, [rows, 3, WIDTH]);
    let [left, right] = states;
    let expected = plain.forward(x.clone(), None, left, &mut Noise::none());
    assert_near(&ready.forward(x, None, right, &mut Noise::none()).states, &expected.states, what);
}

#[test]
fn a_step_is_what_the_layers_make_of_a_column() {
    for kind in PositionKind::ALL {
        for norm in [NormOrder::Pre, NormOrder::Post] {
            for (activation, projected) in
                [(Activation::Relu, true), (Activation::Gelu, true), (Activation::Relu, false)]
            {
                let settings = settings(kind, norm, activation, projected);
                let plain = Stack::new(settings, &mut Initial::new(5, &Device::flex()));
                let mut ready = plain.clone();
                ready.prepare(Precision::Float.into());
                let what = format!("{settings:?}");
                assert_eq!(ready.layers.iter().all(|layer| layer.step.0.is_some()), projected, "{what}");
                // One position of the source does not exist.
                let mask =
                    Tensor::from_floats([[1., 1., 1., 1.], [1., 1., 1., 0.], [1.; 4]], &Device::flex());
                let source = numbers(3, [3, 4, WIDTH]);
                let states = [&plain, &ready].map(|stack| stack.beside(&source, &mask));
                compare(&plain, &ready, states, &what);
                // Behind a beginning that was read at once, in rows that end together.
                let settings = StackSettings { source: None, ..settings };
                let plain = Stack::new(settings, &mut Initial::new(6, &Device::flex()));
                let mut ready = plain.clone();
                ready.prepare(Precision::Float.into());
                let exists = Tensor::from_floats([[1., 1., 1.], [0., 1., 1.], [0., 0., 1.]], &Device::flex());
                let states = [&plain, &ready].map(|stack| {
                    let before = Stack::ending_together(exists.clone(), vec![0, 1, 2]);
                    stack.forward(numbers(7, [3, 3, WIDTH]), None, before, &mut Noise::none()).state
                });
                compare(&plain, &ready, states, &what);
            }
        }
    }
}

#[test]
fn no_bit_of_a_step_depends_on_the_company() {
    let kinds = PositionKind::ALL.into_iter().map(|kind| (kind, Precision::Float));
    for (kind, precision) in kinds.chain([(PositionKind::Sinusoidal, Precision::Int8)]) {
        let settings = settings(kind, NormOrder::Post, Activation::Relu, true);
        let mut stack = Stack::new(settings, &mut Initial::new(5, &Device::flex()));
        stack.prepare(precision.into());
        let (source, mask) = (numbers(3, [3, 4, WIDTH]), Tensor::ones([3, 4], &Device::flex()));
        let written = |rows: &[usize]| {
            let mut state = stack.beside(&source, &mask).select(rows);
            let mut all = Vec::new();
            for time in 0..6 {
                let ids: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
                let x = numbers(time, [3, 1, WIDTH]).select(0, Tensor::from_ints(&ids[..], &Device::flex()));
                let made = stack.forward(x, None, state, &mut Noise::none());
                state = made.state;
                all.push(made.states);
            }
            Tensor::cat(all, 1).try_into_vec_as::<f32>().unwrap()
        };
        let together = written(&[0, 1, 2]);
        let alone: Vec<f32> = (0..3).flat_map(|row| written(&[row])).collect();
        assert_eq!(together, alone);
        assert_eq!(written(&[1, 1]), [written(&[1]), written(&[1])].concat());
    }
}
