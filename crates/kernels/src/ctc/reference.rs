//! The loss as it is defined: every path, one after the other. For a few frames and classes.

/// −log of the probability of a target, from logits `[T, V]`; infinite if no path reads it.
pub(super) fn loss(logits: &[f64], classes: usize, target: &[u32], blank: u32) -> f64 {
    -probability_of(&softmax(logits, classes), classes, blank, |read| read == target).ln()
}

/// The probability that what is read of frames `[T, V]` is as `wanted`.
pub(super) fn probability_of(
    told: &[f64],
    classes: usize,
    blank: u32,
    wanted: impl Fn(&[u32]) -> bool,
) -> f64 {
    let frames = told.len() / classes;
    let paths = classes.pow(frames as u32);
    let mut sum = 0.0;
    for number in 0..paths {
        let path: Vec<u32> = (0..frames).map(|t| (number / classes.pow(t as u32) % classes) as u32).collect();
        if wanted(&read(&path, blank)) {
            sum += path.iter().enumerate().map(|(t, &k)| told[t * classes + k as usize]).product::<f64>();
        }
    }
    sum
}

/// What a path reads: repeated labels once, and no blanks.
fn read(path: &[u32], blank: u32) -> Vec<u32> {
    let mut labels = Vec::new();
    let mut before = blank;
    for &label in path {
        if label != before && label != blank {
            labels.push(label);
        }
        before = label;
    }
    labels
}

pub(super) fn softmax(logits: &[f64], classes: usize) -> Vec<f64> {
    let of_frame = |frame: &[f64]| {
        let sum: f64 = frame.iter().map(|logit| logit.exp()).sum();
        frame.iter().map(|logit| logit.exp() / sum).collect::<Vec<_>>()
    };
    logits.chunks_exact(classes).flat_map(of_frame).collect()
}
