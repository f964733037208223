//! The loss of connectionist temporal classification (Graves et al., 2006): −log of the probability that frames tell a
//! sequence of labels, summed over all places where the labels may stand. See [`gatto_kernels::ctc`] for the formulas.
//!
//! `B` sequences, `T` frames, `V` classes, `S` = 2 L + 1 labels of the longest target with blanks around them.

use crate::flex::{Gradient, Operand, operation};
use crate::recurrent::existing;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Shape, Tensor, TensorData};
use gatto_kernels::ctc::{self as kernel, fewest_frames};
use std::sync::Arc;

/// What frames are compared with.
#[derive(Clone, Debug)]
pub struct CtcTargets {
    /// How many frames of each row exist.
    pub lengths: Vec<usize>,
    /// The labels of each row.
    pub labels: Vec<Vec<u32>>,
    /// The class that is no label.
    pub blank: u32,
}

/// The loss of each row: `logits` [B, T, V] → `[B]`. Where there are too few frames for the labels, it is 0.
///
/// # Panics
/// If a label is the blank or no class.
pub fn ctc_loss(logits: Tensor<3>, targets: &CtcTargets) -> Tensor<1> {
    match fused(&logits, targets) {
        Some(loss) => loss,
        None => ctc_loss_plain(logits, targets),
    }
}

/// What stands for log 0.
const NEVER: f64 = -1e30;

/// The loss in plain tensor operations, frame by frame.
pub fn ctc_loss_plain(logits: Tensor<3>, targets: &CtcTargets) -> Tensor<1> {
    let ([batch, frames, _], device) = (logits.dims(), logits.device());
    let places = 2 * targets.labels.iter().map(Vec::len).max().unwrap_or(0) + 1;
    let lattice = Lattice::new(targets, places);
    let numbers =
        |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values, [batch, places]), &device);
    let ids = Tensor::<2, Int>::from_data(TensorData::new(lattice.ids, [batch, places]), &device);
    let ids = ids.unsqueeze_dim::<3>(1).repeat_dim(1, frames); // [B, T, S]
    let told = log_softmax(logits, 2).gather(2, ids); // [B, T, S]
    let told = |frame: usize| told.clone().narrow(1, frame, 1).squeeze_dim::<2>(1); // [B, S]
    let exists = existing(&targets.lengths, frames, &device);
    let skips = (numbers(lattice.skips) - 1.0) * -NEVER; // 0, or as good as −∞
    let mut forward = told(0) + (numbers(lattice.first) - 1.0) * -NEVER;
    for frame in 1..frames {
        let skipped = shifted(forward.clone(), 2) + skips.clone();
        let next = log_add([forward.clone(), shifted(forward.clone(), 1), skipped]) + told(frame);
        let now = exists.clone().narrow(1, frame, 1); // [B, 1]
        forward = next * now.clone() + forward * (now.neg() + 1.0);
    }
    let last = (numbers(lattice.last) - 1.0) * -NEVER;
    let loss = -log_sum(forward + last); // [B]
    let possible = Tensor::<1>::from_data(TensorData::new(lattice.possible, [batch]), &device);
    loss * possible
}

/// The labels of all rows with blanks around them, and where paths begin, skip and end.
struct Lattice {
    ids: Vec<i64>,
    skips: Vec<f32>,
    first: Vec<f32>,
    last: Vec<f32>,
    possible: Vec<f32>,
}

impl Lattice {
    fn new(targets: &CtcTargets, places: usize) -> Self {
        let count = targets.labels.len() * places;
        let zeros = || vec![0.0; count];
        let mut lattice = Self {
            ids: vec![i64::from(targets.blank); count],
            skips: zeros(),
            first: zeros(),
            last: zeros(),
            possible: Vec::new(),
        };
        for (row, (labels, &length)) in targets.labels.iter().zip(&targets.lengths).enumerate() {
            let at = row * places;
            for (number, &label) in labels.iter().enumerate() {
                lattice.ids[at + 2 * number + 1] = i64::from(label);
                let other = number > 0 && labels[number - 1] != label;
                lattice.skips[at + 2 * number + 1] = f32::from(other);
            }
            let end = 2 * labels.len();
            lattice.first[at..=at + end.min(1)].fill(1.0);
            lattice.last[at + end.saturating_sub(1)..=at + end].fill(1.0);
            lattice.possible.push(f32::from(length > 0 && length >= fewest_frames(labels)));
        }
        lattice
    }
}

/// The places before, with none before the first: [B, S].
fn shifted(x: Tensor<2>, by: usize) -> Tensor<2> {
    let [batch, places] = x.dims();
    let never = Tensor::full([batch, by.min(places)], NEVER, &x.device());
    match places > by {
        true => Tensor::cat(vec![never, x.narrow(1, 0, places - by)], 1),
        false => never,
    }
}

/// log Σ exp of three, place by place: [B, S].
fn log_add(parts: [Tensor<2>; 3]) -> Tensor<2> {
    let [batch, places] = parts[0].dims();
    let stacked = Tensor::cat(parts.map(|part| part.unsqueeze_dim::<3>(2)).to_vec(), 2); // [B, S, 3]
    log_sum(stacked.reshape([batch * places, 3])).reshape([batch, places])
}

/// log Σ exp of each row: [N, C] → `[N]`.
fn log_sum(x: Tensor<2>) -> Tensor<1> {
    let largest = x.clone().max_dim(1).detach(); // [N, 1]
    ((x - largest.clone()).exp().sum_dim(1).log() + largest).squeeze_dim::<1>(1)
}

/// The gradient of the sum of all losses, which the forward pass has found along the way.
#[derive(Clone, Debug)]
struct Kept {
    gradient: Arc<Vec<f32>>,
    shape: [usize; 3],
}

impl Gradient<1> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        let [_, frames, classes] = self.shape;
        let rows = self.gradient.chunks_exact((frames * classes).max(1)).zip(output);
        let gradient = rows.flat_map(|(row, &share)| row.iter().map(move |value| value * share)).collect();
        [Some((gradient, Shape::new(self.shape)))]
    }
}

fn fused(logits: &Tensor<3>, targets: &CtcTargets) -> Option<Tensor<1>> {
    let operand = Operand::of(logits)?;
    let shape = logits.dims();
    let [rows, frames, classes] = shape;
    let values = operand.values.clone();
    let args = kernel::Args {
        logits: values.slice(),
        frames,
        classes,
        lengths: &targets.lengths,
        targets: &targets.labels,
        blank: targets.blank,
    };
    let (losses, gradient) = match operand.wants_gradient() {
        true => kernel::losses_and_gradient(args),
        false => kernel::losses(args).map(|losses| (losses, Vec::new())),
    }
    .unwrap_or_else(|error| panic!("{error}"));
    Some(operation([operand], losses, [rows], || Kept { gradient: Arc::new(gradient), shape }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    fn targets() -> CtcTargets {
        CtcTargets {
            lengths: vec![7, 3, 2, 5, 1],
            labels: vec![vec![1, 2, 2, 3], vec![3], vec![1, 1], vec![], vec![2]],
            blank: 0,
        }
    }

    #[test]
    fn the_fused_loss_is_the_plain_one_in_value_and_gradient() {
        let device = Device::flex().autodiff();
        let values: Vec<f32> = (0..5 * 7 * 4).map(|n| ((n * n) as f32 * 0.37).sin() * 2.0).collect();
        let logits =
            || Tensor::<3>::from_data(TensorData::new(values.clone(), [5, 7, 4]), &device).require_grad();
        let shares = Tensor::<1>::from_data([1.0f32, 0.5, 2.0, -1.0, 0.25], &device);
        let found = [ctc_loss, ctc_loss_plain].map(|loss| {
            let logits = logits();
            let losses = loss(logits.clone(), &targets());
            let gradients = (losses.clone() * shares.clone()).sum().backward();
            let gradient = logits.grad(&gradients).unwrap().try_into_vec_as::<f32>().unwrap();
            (losses.try_into_vec_as::<f32>().unwrap(), gradient)
        });
        let [(fused, fused_gradient), (plain, plain_gradient)] = found;
        assert_eq!((fused[2], plain[2]), (0.0, 0.0), "two frames cannot tell the same label twice");
        assert!(fused[0] > 0.1 && fused_gradient.iter().any(|value| value.abs() > 0.1));
        for (one, other) in fused.iter().zip(&plain).chain(fused_gradient.iter().zip(&plain_gradient)) {
            assert!((one - other).abs() < 1e-5, "{one} {other}");
        }
    }
}
