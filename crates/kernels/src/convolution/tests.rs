//! Against plain loops in f64, and what must hold whatever the company, the threads and the instructions.

use super::*;
use crate::instructions::sets::with_each;
use crate::samples::values;
use proptest::prelude::*;

/// The definition: a sum for every place and channel.
fn reference(shape: Shape, x: &[f64], weight: &[f64], bias: &[f64]) -> Vec<f64> {
    let Shape { batch, height, width, input, output, window } = shape;
    let (rows, columns) = shape.places();
    let mut y = Vec::new();
    for place in 0..batch * rows * columns {
        let (image, i, j) = (place / (rows * columns), place / columns % rows, place % columns);
        for o in 0..output {
            let mut sum = bias[o];
            for tap in 0..window.height * window.width {
                let row = (i * window.stride + tap / window.width).wrapping_sub(window.padding);
                let column = (j * window.stride + tap % window.width).wrapping_sub(window.padding);
                if row < height && column < width {
                    let pixel = ((image * height + row) * width + column) * input;
                    sum += (0..input)
                        .map(|c| x[pixel + c] * weight[(tap * input + c) * output + o])
                        .sum::<f64>();
                }
            }
            y.push(sum);
        }
    }
    y
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

/// `d/dv Σ y ⊙ g` at one value of one argument; exact, as the sum is linear in it.
fn slope(shape: Shape, arguments: &[Vec<f64>; 3], gradient: &[f32], argument: usize, at: usize) -> f64 {
    let loss = |by: f64| {
        let mut moved = arguments.clone();
        moved[argument][at] += by;
        let y = reference(shape, &moved[0], &moved[1], &moved[2]);
        y.iter().zip(gradient).map(|(y, &g)| y * f64::from(g)).sum::<f64>()
    };
    loss(0.5) - loss(-0.5)
}

fn window() -> impl Strategy<Value = Window> {
    (1usize..5, 1usize..5, 1usize..4, 0usize..3).prop_map(|(height, width, stride, padding)| Window {
        height,
        width,
        stride,
        padding,
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let channels = || prop_oneof![1usize..6, 15usize..18, 30usize..50];
    (0usize..3, 0usize..8, 0usize..20, channels(), channels(), window()).prop_map(
        |(batch, height, width, input, output, window)| Shape { batch, height, width, input, output, window },
    )
}

/// x, weight, bias and gradient.
fn sample(shape: Shape, seed: u32) -> [Vec<f32>; 4] {
    let x = values(shape.batch * shape.height * shape.width * shape.input, seed);
    let weight = values(shape.depth() * shape.output, seed ^ 1);
    [x, weight, values(shape.output, seed ^ 2), values(shape.written(), seed ^ 3)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn places_and_gradients_are_those_of_the_definition(shape in shapes(), biased: bool, seed: u32, pick: u32) {
        let [x, weight, bias, gradient] = sample(shape, seed);
        let given = biased.then_some(&bias[..]);
        let arguments = [wide(&x), wide(&weight), if biased { wide(&bias) } else { vec![0.0; bias.len()] }];
        let expected = reference(shape, &arguments[0], &arguments[1], &arguments[2]);
        for y in [
            forward(shape, &x, &weight, given),
            forward_prepared(shape, &x, &Prepared::floats(&weight, shape.depth(), shape.output, false), given),
        ] {
            prop_assert_eq!(y.len(), expected.len());
            for (y, expected) in y.iter().zip(&expected) {
                prop_assert!((f64::from(*y) - expected).abs() < 1e-4, "{} and not {}", y, expected);
            }
        }
        let found = backward(shape, &x, &weight, &gradient, true);
        let of_x = found.x.expect("asked for");
        for (argument, found) in [&of_x, &found.weight, &found.bias].into_iter().enumerate() {
            prop_assert_eq!(found.len(), arguments[argument].len());
            // Some of them, beginning anywhere: each asks for two whole convolutions.
            let step = (found.len() / 12).max(1);
            for at in (pick as usize % step..found.len()).step_by(step) {
                let expected = slope(shape, &arguments, &gradient, argument, at);
                let error = (f64::from(found[at]) - expected).abs();
                prop_assert!(error < 1e-4 * (1.0 + expected.abs()), "{argument} at {at}: {} {expected}", found[at]);
            }
        }
        let without = backward(shape, &x, &weight, &gradient, false);
        prop_assert!(without.x.is_none());
        prop_assert_eq!(without.weight, found.weight);
    }

    #[test]
    fn no_bit_depends_on_the_company_or_on_the_threads(shape in shapes(), seed: u32) {
        let [x, weight, bias, gradient] = sample(shape, seed);
        let run = |threads: usize, shape, x: &[f32], gradient: &[f32]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let y = forward(shape, x, &weight, Some(&bias));
                let back = backward(shape, x, &weight, gradient, true);
                (y, back.x.expect("asked for"), back.weight, back.bias)
            })
        };
        let two = run(2, shape, &x, &gradient);
        prop_assert_eq!(&run(2, shape, &x, &gradient), &two, "not even twice the same");
        let one = Shape { batch: 1, ..shape };
        let (image, map) = (x.len() / shape.batch.max(1), gradient.len() / shape.batch.max(1));
        for number in 0..shape.batch {
            let (x, gradient) = (&x[number * image..][..image], &gradient[number * map..][..map]);
            for threads in [1, 3] {
                let (y, of_x, ..) = run(threads, one, x, gradient);
                prop_assert_eq!(&y[..], &two.0[number * map..][..map]);
                prop_assert_eq!(&of_x[..], &two.1[number * image..][..image]);
            }
        }
    }
}

#[test]
fn large_images_are_cut_into_bands() {
    let window = Window::square(3, 2);
    let shape = Shape { batch: 1, height: 150, width: 90, input: 20, output: 7, window };
    let [x, weight, bias, _] = sample(shape, 5);
    let (rows, columns) = shape.places();
    assert!(bands(1, rows, columns * 4 * 20, columns * shape.depth() * 7).len() > 4);
    let expected = reference(shape, &wide(&x), &wide(&weight), &wide(&bias));
    for (y, expected) in forward(shape, &x, &weight, Some(&bias)).iter().zip(expected) {
        assert!((f64::from(*y) - expected).abs() < 1e-4);
    }
}

#[test]
fn whole_numbers_are_exact_with_every_set() {
    let whole = |values: Vec<f32>| values.iter().map(|x| (x * 16.0).round()).collect::<Vec<f32>>();
    for (input, output, window) in [
        (3, 32, Window::square(3, 2)),
        (32, 50, Window::square(3, 1)),
        (5, 16, Window::square(1, 1)),
        (17, 7, Window { height: 2, width: 4, stride: 3, padding: 1 }),
    ] {
        let shape = Shape { batch: 2, height: 9, width: 26, input, output, window };
        let [x, weight, bias, gradient] = sample(shape, 7).map(whole);
        let found = with_each(|| {
            let prepared = Prepared::floats(&weight, shape.depth(), output, false);
            let y = forward(shape, &x, &weight, Some(&bias));
            assert_eq!(y, forward_prepared(shape, &x, &prepared, Some(&bias)));
            let back = backward(shape, &x, &weight, &gradient, true);
            [y, back.x.expect("asked for"), back.weight, back.bias]
        });
        for (set, results) in &found {
            assert!(*results == found[0].1, "{set} is not {}", found[0].0);
        }
        let expected = reference(shape, &wide(&x), &wide(&weight), &wide(&bias));
        assert_eq!(wide(&found[0].1[0]), expected);
    }
}

#[test]
fn eight_bits_are_near_and_do_not_depend_on_the_company() {
    for window in [Window::square(3, 2), Window::square(1, 1)] {
        let shape = Shape { batch: 3, height: 6, width: 5, input: 12, output: 20, window };
        let [x, weight, bias, _] = sample(shape, 11);
        let prepared = Prepared::bytes(&weight, shape.depth(), shape.output, false);
        let y = forward_prepared(shape, &x, &prepared, Some(&bias));
        for (y, exact) in y.iter().zip(forward(shape, &x, &weight, Some(&bias))) {
            assert!((y - exact).abs() < shape.depth() as f32 / 100.0, "{y} and not {exact}");
        }
        let one = Shape { batch: 1, ..shape };
        let alone: Vec<f32> = x
            .chunks_exact(x.len() / 3)
            .flat_map(|x| forward_prepared(one, x, &prepared, Some(&bias)))
            .collect();
        assert_eq!(y, alone);
    }
}

#[test]
fn windows_have_the_places_that_there_is_room_for() {
    assert_eq!(Window::square(3, 1).places(5, 7), (5, 7));
    assert_eq!(Window::square(3, 2).places(5, 8), (3, 4));
    assert_eq!(Window { height: 4, width: 2, stride: 3, padding: 0 }.places(3, 9), (0, 3));
}
