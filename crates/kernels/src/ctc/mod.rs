//! Connectionist temporal classification (Graves et al., 2006): how probable a sequence of labels is, whatever frames they
//! stand at.
//!
//! Every frame tells one label or a blank; repeated labels and then blanks are left out, so that `aa_ab` reads `aab`. With
//! `p_t(k) = softmax(z_t)_k`, the probability of a target is the sum over all paths that read so, and the loss is
//!
//! `L = −log Σ_paths Π_t p_t(path_t)`.
//!
//! With blanks between and around the labels, `l = ∅ y_1 ∅ y_2 … ∅`, a path stays, goes on by one or, from one label to a
//! different one, by two:
//!
//! `α_t(s) = [α_{t−1}(s) + α_{t−1}(s − 1) + α_{t−1}(s − 2) if l_s ∉ {∅, l_{s−2}}] · p_t(l_s)`
//!
//! and `β` the same from the end. The gradient is `∂L/∂z_t(k) = p_t(k) − Σ_{s: l_s = k} α_t(s) β_t(s) / p(target)`, where `β`
//! does not count the frame itself. All sums are sums of logarithms, in f64. A target that no path reads, because there are
//! too few frames, has the loss 0 and no gradient.
//!
//! Letters: `B` sequences, `T` frames, `V` classes, `S = 2 L + 1` labels and blanks.

mod prefix;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use prefix::Prefix;

use rayon::prelude::*;

/// What is compared: `logits` `[B, T, V]`, of which each row has so many frames, with a target for each row.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// `[B, T, V]`.
    pub logits: &'a [f32],
    /// `T`.
    pub frames: usize,
    /// `V`.
    pub classes: usize,
    /// `[B]`: how many frames of each row exist.
    pub lengths: &'a [usize],
    /// `[B]`: the labels of each row.
    pub targets: &'a [Vec<u32>],
    /// The class that is no label.
    pub blank: u32,
}

/// A label that is no class, or the blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelOutOfRange {
    /// The row of the label.
    pub row: usize,
    /// The number of classes.
    pub classes: usize,
}

impl std::fmt::Display for LabelOutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { row, classes } = self;
        write!(f, "CTC: a label of row {row} is the blank, or not one of the {classes} classes")
    }
}

impl std::error::Error for LabelOutOfRange {}

/// The fewest frames that can tell a target: one for each label, and a blank between two that are the same.
pub fn fewest_frames(target: &[u32]) -> usize {
    target.len() + target.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// The loss of each row: `[B]`.
///
/// # Errors
/// If a label is not below `V`, or the blank.
///
/// # Panics
/// If the slices are not of the stated sizes.
pub fn losses(args: Args<'_>) -> Result<Vec<f32>, LabelOutOfRange> {
    check(args)?;
    let loss = |row: usize| Lattice::new(args, row).map_or(0.0, |lattice| lattice.loss as f32);
    Ok((0..args.targets.len()).into_par_iter().map(loss).collect())
}

/// The loss of each row `[B]`, and the gradient of the sum of all of them, `[B, T, V]`.
///
/// # Errors
/// As [`losses`].
///
/// # Panics
/// As [`losses`].
pub fn losses_and_gradient(args: Args<'_>) -> Result<(Vec<f32>, Vec<f32>), LabelOutOfRange> {
    check(args)?;
    let mut gradient = vec![0.0; args.logits.len()];
    let rows = gradient.par_chunks_mut((args.frames * args.classes).max(1));
    let losses = rows.enumerate().map(|(row, gradient)| match Lattice::new(args, row) {
        Some(lattice) => {
            lattice.write_gradient(gradient);
            lattice.loss as f32
        }
        None => 0.0,
    });
    let mut losses: Vec<f32> = losses.collect();
    losses.resize(args.targets.len(), 0.0); // where there is no frame at all
    Ok((losses, gradient))
}

fn check(args: Args<'_>) -> Result<(), LabelOutOfRange> {
    let Args { logits, frames, classes, lengths, targets, blank } = args;
    assert_eq!(logits.len(), targets.len() * frames * classes, "CTC: logits are not [B, T, V]");
    assert_eq!(lengths.len(), targets.len(), "CTC: lengths and targets are not both [B]");
    assert!(lengths.iter().all(|&length| length <= frames), "CTC: a row has more frames than there are");
    let outside = |target: &Vec<u32>| target.iter().any(|&id| id == blank || id as usize >= classes);
    match targets.iter().position(outside) {
        Some(row) => Err(LabelOutOfRange { row, classes }),
        None => Ok(()),
    }
}

/// The paths of one row that read its target.
struct Lattice<'a> {
    /// `[length, V]`.
    logits: &'a [f32],
    classes: usize,
    /// `l`: `[S]`.
    labels: Vec<u32>,
    blank: u32,
    /// `log Σ exp` of every frame.
    log_sums: Vec<f64>,
    /// `log α`: `[length, S]`.
    forward: Vec<f64>,
    loss: f64,
}

impl<'a> Lattice<'a> {
    /// None if no path reads the target, or nothing is to be read.
    fn new(args: Args<'a>, row: usize) -> Option<Self> {
        let Args { frames, classes, blank, .. } = args;
        let (length, target) = (args.lengths[row], &args.targets[row]);
        if length == 0 || length < fewest_frames(target) {
            return None;
        }
        let logits = &args.logits[row * frames * classes..][..length * classes];
        let mut labels = Vec::with_capacity(2 * target.len() + 1);
        for &label in target {
            labels.extend([blank, label]);
        }
        labels.push(blank);
        let log_sums = logits.chunks_exact(classes).map(log_sum_exp).collect();
        let mut lattice = Self { logits, classes, labels, blank, log_sums, forward: Vec::new(), loss: 0.0 };
        lattice.read();
        lattice.loss.is_finite().then_some(lattice)
    }

    /// log p of a label at a frame.
    fn told(&self, frame: usize, label: u32) -> f64 {
        f64::from(self.logits[frame * self.classes + label as usize]) - self.log_sums[frame]
    }

    /// Whether a path may go from two places before to here at once.
    fn skips(&self, place: usize) -> bool {
        place >= 2 && self.labels[place] != self.blank && self.labels[place] != self.labels[place - 2]
    }

    /// `α`, and the loss.
    fn read(&mut self) {
        let (places, frames) = (self.labels.len(), self.log_sums.len());
        let mut forward = vec![f64::NEG_INFINITY; frames * places];
        for (first, &label) in forward.iter_mut().zip(&self.labels).take(2) {
            *first = self.told(0, label);
        }
        for frame in 1..frames {
            let (before, now) = forward.split_at_mut(frame * places);
            let before = &before[(frame - 1) * places..];
            for (place, now) in now.iter_mut().take(places).enumerate() {
                let from = [
                    before[place],
                    if place >= 1 { before[place - 1] } else { f64::NEG_INFINITY },
                    if self.skips(place) { before[place - 2] } else { f64::NEG_INFINITY },
                ];
                *now = log_add(from) + self.told(frame, self.labels[place]);
            }
        }
        let last = &forward[(frames - 1) * places..];
        let before = if places >= 2 { last[places - 2] } else { f64::NEG_INFINITY };
        self.loss = -log_add([last[places - 1], before, f64::NEG_INFINITY]);
        self.forward = forward;
    }

    /// `∂L/∂z`, into the first rows of `[T, V]`, which are zeros.
    fn write_gradient(&self, gradient: &mut [f32]) {
        let (places, frames) = (self.labels.len(), self.log_sums.len());
        let mut behind = vec![f64::NEG_INFINITY; places]; // log β of the frame
        behind[places - 1] = 0.0;
        if places >= 2 {
            behind[places - 2] = 0.0;
        }
        for frame in (0..frames).rev() {
            let row = &mut gradient[frame * self.classes..][..self.classes];
            let logits = &self.logits[frame * self.classes..][..self.classes];
            for (to, &logit) in row.iter_mut().zip(logits) {
                *to = (f64::from(logit) - self.log_sums[frame]).exp() as f32;
            }
            let forward = &self.forward[frame * places..][..places];
            for ((&label, forward), behind) in self.labels.iter().zip(forward).zip(&behind) {
                row[label as usize] -= (forward + behind + self.loss).exp() as f32;
            }
            // What stands behind the frame before: this frame counts.
            let told: Vec<f64> =
                (0..places).map(|place| behind[place] + self.told(frame, self.labels[place])).collect();
            for (place, behind) in behind.iter_mut().enumerate() {
                let to = |next: usize| told.get(next).copied().unwrap_or(f64::NEG_INFINITY);
                let skipped = if place + 2 < places && self.skips(place + 2) {
                    to(place + 2)
                } else {
                    f64::NEG_INFINITY
                };
                *behind = log_add([to(place), to(place + 1), skipped]);
            }
        }
    }
}

fn log_sum_exp(row: &[f32]) -> f64 {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !largest.is_finite() {
        return f64::from(largest);
    }
    let sum: f64 = row.iter().map(|&logit| f64::from(logit - largest).exp()).sum();
    f64::from(largest) + sum.ln()
}

/// `log Σ exp` of three numbers, any of which may be −∞.
fn log_add(numbers: [f64; 3]) -> f64 {
    let largest = numbers.into_iter().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + numbers.into_iter().map(|number| (number - largest).exp()).sum::<f64>().ln()
}
