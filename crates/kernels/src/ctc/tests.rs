use super::*;
use proptest::prelude::*;

fn drawn(count: usize, seed: u32) -> Vec<f32> {
    let hash = |i: u32| i.wrapping_add(seed.wrapping_mul(7919)).wrapping_mul(2_654_435_761) >> 8;
    (0..count as u32).map(|i| hash(i) as f32 / (1 << 24) as f32 * 6.0 - 3.0).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

/// Targets of such lengths over the classes but the blank.
fn target_of(length: usize, classes: usize, blank: u32, seed: u32) -> Vec<u32> {
    let label = |at: usize| {
        let label = (at as u32).wrapping_mul(31).wrapping_add(seed) / 3 % (classes as u32 - 1);
        if label >= blank { label + 1 } else { label }
    };
    (0..length).map(label).collect()
}

proptest! {
    /// Rows of different lengths in one batch, some of them too short for their targets.
    #[test]
    fn losses_and_gradients_agree_with_the_sum_over_all_paths(
        lengths in prop::collection::vec((0..6usize, 0..4usize), 1..4),
        classes in 2..4usize,
        blank in 0..2u32,
        seed in 0..1000u32,
    ) {
        let frames = lengths.iter().map(|(frames, _)| *frames).max().unwrap_or(0) + 1;
        let rows = lengths.len();
        let logits = drawn(rows * frames * classes, seed);
        let targets: Vec<Vec<u32>> =
            lengths.iter().map(|(_, length)| target_of(*length, classes, blank, seed)).collect();
        let lengths: Vec<usize> = lengths.into_iter().map(|(frames, _)| frames).collect();
        let args = Args { logits: &logits, frames, classes, lengths: &lengths, targets: &targets, blank };
        let (found, gradient) = losses_and_gradient(args).expect("labels in range");
        prop_assert_eq!(&losses(args).expect("labels in range"), &found);
        for row in 0..rows {
            let (length, target) = (lengths[row], &targets[row]);
            let own = &logits[row * frames * classes..][..length * classes];
            let slope = &gradient[row * frames * classes..][..frames * classes];
            prop_assert!(slope[length * classes..].iter().all(|value| *value == 0.0), "behind the row");
            if length == 0 || length < fewest_frames(target) {
                if length > 0 {
                    prop_assert!(reference::loss(&wide(own), classes, target, blank).is_infinite());
                }
                prop_assert_eq!(found[row], 0.0);
                prop_assert!(slope.iter().all(|value| *value == 0.0));
                continue;
            }
            let exact = reference::loss(&wide(own), classes, target, blank);
            prop_assert!((f64::from(found[row]) - exact).abs() < 1e-5 * (1.0 + exact.abs()), "{} {exact}", found[row]);
            for at in 0..length * classes {
                let moved = |by: f64| {
                    let mut logits = wide(own);
                    logits[at] += by;
                    reference::loss(&logits, classes, target, blank)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!((f64::from(slope[at]) - expected).abs() < 1e-5, "{} {expected}", slope[at]);
            }
        }
    }

    #[test]
    fn beginnings_agree_with_the_sum_over_all_paths(
        frames in 1..6usize,
        classes in 3..5usize,
        length in 0..4usize,
        seed in 0..1000u32,
    ) {
        let (blank, end) = (0, classes as u32 - 1);
        // The end is no label: frames never tell it.
        let mut logits = drawn(frames * classes, seed);
        logits.chunks_exact_mut(classes).for_each(|frame| frame[end as usize] = -1e4);
        let told = reference::softmax(&wide(&logits), classes);
        let narrow: Vec<f32> = told.iter().map(|&told| told as f32).collect();
        let begin = target_of(length, classes - 1, blank, seed);
        let mut prefix = Prefix::empty(&narrow, classes, blank);
        for &label in &begin {
            prefix = prefix.with(&narrow, classes, blank, label);
        }
        let of = |begin: &[u32]| reference::probability_of(&told, classes, blank, |read| read.starts_with(begin));
        let all = of(&begin);
        let next = prefix.next(&narrow, classes, blank, end);
        prop_assert_eq!(next[blank as usize], f32::NEG_INFINITY);
        if all == 0.0 {
            return Ok(());
        }
        for label in 1..classes as u32 {
            let expected = if label == end {
                reference::probability_of(&told, classes, blank, |read| read == begin)
            } else {
                of(&[&begin[..], &[label]].concat())
            };
            let found = f64::from(next[label as usize]).exp();
            prop_assert!((found - expected / all).abs() < 1e-5, "{label}: {found} {}", expected / all);
        }
        let sum: f64 = next.iter().map(|&next| f64::from(next).exp()).sum();
        prop_assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    }
}

#[test]
fn long_sequences_neither_vanish_nor_overflow() {
    let (frames, classes) = (3000, 5);
    let logits: Vec<f32> = drawn(frames * classes, 7).iter().map(|value| value * 30.0).collect();
    let targets = [target_of(400, classes, 0, 3)];
    let args = Args { logits: &logits, frames, classes, lengths: &[frames], targets: &targets, blank: 0 };
    let (found, gradient) = losses_and_gradient(args).expect("labels in range");
    assert!(found[0].is_finite() && found[0] > 100.0, "{}", found[0]);
    for frame in gradient.chunks_exact(classes) {
        assert!(frame.iter().sum::<f32>().abs() < 1e-4, "shares of a frame add up: {frame:?}");
    }
}

#[test]
fn labels_that_are_no_class_are_errors() {
    let args = |targets| Args { logits: &[0.0; 6], frames: 2, classes: 3, lengths: &[2], targets, blank: 0 };
    for target in [vec![3], vec![1, 0]] {
        assert_eq!(losses(args(&[target])).err(), Some(LabelOutOfRange { row: 0, classes: 3 }));
    }
    assert_eq!(fewest_frames(&[1, 1, 2, 2, 2]), 8);
}
