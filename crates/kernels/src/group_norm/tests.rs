//! Against the definition in f64 and its slopes, and what must hold whatever the company, the threads and the instructions.

use super::*;
use crate::instructions::sets::with_each;
use crate::samples::values;
use proptest::prelude::*;

const EPSILON: f32 = 1e-5;

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

/// The definition before the ReLU, of x, γ, β and the residual.
fn reference(shape: Shape, [x, scale, shift, residual]: &[Vec<f64>; 4]) -> Vec<f64> {
    let Shape { batch, pixels, channels, groups } = shape;
    let (inside, image) = (channels / groups, pixels * channels);
    let mut y = residual.clone();
    for b in 0..batch {
        for group in 0..groups {
            let of_pixel =
                |pixel: usize| (0..inside).map(move |c| b * image + pixel * channels + group * inside + c);
            let places: Vec<usize> = (0..pixels).flat_map(of_pixel).collect();
            let count = places.len() as f64;
            let mean = places.iter().map(|&at| x[at]).sum::<f64>() / count;
            let variance = places.iter().map(|&at| (x[at] - mean).powi(2)).sum::<f64>() / count;
            for at in places {
                let normed = (x[at] - mean) / (variance + f64::from(EPSILON)).sqrt();
                y[at] += normed * scale[at % channels] + shift[at % channels];
            }
        }
    }
    y
}

/// `d/dv Σ relu(y) ⊙ g` at one value of one argument; what passes the ReLU is told.
fn slope(
    shape: Shape,
    arguments: &[Vec<f64>; 4],
    passes: &[bool],
    gradient: &[f32],
    (argument, at): (usize, usize),
) -> f64 {
    const STEP: f64 = 1e-6;
    let loss = |by: f64| {
        let mut moved = arguments.clone();
        moved[argument][at] += by;
        let y = reference(shape, &moved);
        let terms = y.iter().zip(gradient).zip(passes);
        terms.filter(|(_, passes)| **passes).map(|((y, &g), _)| y * f64::from(g)).sum::<f64>()
    };
    (loss(STEP) - loss(-STEP)) / (2.0 * STEP)
}

/// x, γ, β, residual and gradient.
fn sample(shape: Shape, seed: u32) -> [Vec<f32>; 5] {
    let count = shape.batch * shape.image();
    [
        values(count, seed),
        values(shape.channels, seed ^ 1),
        values(shape.channels, seed ^ 2),
        values(count, seed ^ 3),
        values(count, seed ^ 4),
    ]
}

/// y, and the gradients of x, γ, β and the residual.
fn run(
    shape: Shape,
    [x, scale, shift, residual, gradient]: [&[f32]; 5],
    added: bool,
    relu: bool,
) -> Vec<Vec<f32>> {
    let residual = added.then_some(residual);
    let Normed { y, tape } = forward(&Args { shape, x, scale, shift, epsilon: EPSILON, residual, relu });
    let kept = Kept { shape, x, scale, tape: &tape, residual: added, y: relu.then_some(&y[..]) };
    let found = backward(&kept, gradient);
    assert_eq!(found.residual.is_some(), added);
    [y, found.x, found.scale, found.shift].into_iter().chain(found.residual).collect()
}

proptest! {
    #[test]
    fn images_and_gradients_are_those_of_the_definition(
        batch in 1usize..4, pixels in prop_oneof![2usize..8, 60usize..70], groups in 1usize..4,
        inside in prop_oneof![1usize..6, 12usize..20], residual: bool, relu: bool, seed: u32, pick: u32,
    ) {
        let shape = Shape { batch, pixels, channels: groups * inside, groups };
        let sample = sample(shape, seed);
        let found = run(shape, sample.each_ref().map(|values| &values[..]), residual, relu);
        let [x, scale, shift, added, gradient] = sample;
        let added = if residual { wide(&added) } else { vec![0.0; x.len()] };
        let arguments = [wide(&x), wide(&scale), wide(&shift), added];
        let before = reference(shape, &arguments);
        for (y, &expected) in found[0].iter().zip(&before) {
            let expected = if relu { expected.max(0.0) } else { expected };
            prop_assert!((f64::from(*y) - expected).abs() < 2e-4, "{} and not {}", y, expected);
        }
        let passes: Vec<bool> = found[0].iter().map(|&y| !relu || y > 0.0).collect();
        for (argument, found) in found[1..].iter().enumerate() {
            prop_assert_eq!(found.len(), arguments[argument].len());
            let step = (found.len() / 16).max(1);
            for at in (pick as usize % step..found.len()).step_by(step) {
                let expected = slope(shape, &arguments, &passes, &gradient, (argument, at));
                let error = (f64::from(found[at]) - expected).abs();
                // Groups of few values that differ little from each other lose what they have in common.
                prop_assert!(error < 1e-3 * (1.0 + expected.abs()), "{argument} at {at}: {} {expected}", found[at]);
            }
        }
    }
}

#[test]
fn no_bit_depends_on_the_company_the_threads_or_the_instructions() {
    for (pixels, channels, groups) in [(1, 4, 4), (70, 57, 3), (130, 64, 8)] {
        let shape = Shape { batch: 3, pixels, channels, groups };
        let sample = sample(shape, 9);
        let all = sample.each_ref().map(|values| &values[..]);
        for (residual, relu) in [(true, true), (true, false), (false, true), (false, false)] {
            let sets = with_each(|| run(shape, all, residual, relu));
            for (set, found) in &sets {
                assert!(*found == sets[0].1, "{set} is not {}", sets[0].0);
            }
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                assert_eq!(pool.install(|| run(shape, all, residual, relu)), sets[0].1);
            }
            let (one, image) = (Shape { batch: 1, ..shape }, pixels * channels);
            for number in 0..3 {
                let own = |values| -> &[f32] { &<[f32]>::as_ref(values)[number * image..][..image] };
                let [x, scale, shift, added, gradient] = all;
                let alone = run(one, [own(x), scale, shift, own(added), own(gradient)], residual, relu);
                assert_eq!(alone[0], own(&sets[0].1[0]));
                assert_eq!(alone[1], own(&sets[0].1[1]));
            }
        }
    }
}

#[test]
fn what_is_no_number_stays_so_and_nothing_is_no_trouble() {
    let shape = Shape { batch: 1, pixels: 2, channels: 2, groups: 1 };
    let args = Args {
        shape,
        x: &[1.0, f32::NAN, 2.0, 3.0],
        scale: &[1.0; 2],
        shift: &[0.0; 2],
        epsilon: EPSILON,
        residual: None,
        relu: true,
    };
    assert!(forward(&args).y.iter().all(|y| y.is_nan()));
    for shape in [Shape { batch: 0, ..shape }, Shape { pixels: 0, ..shape }] {
        assert!(run(shape, [&[], &[1.0; 2], &[0.0; 2], &[], &[]], true, true)[0].is_empty());
    }
}
