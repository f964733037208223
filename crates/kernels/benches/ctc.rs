//! Connectionist temporal classification: `cargo bench -p gatto-kernels --bench ctc`.
//!
//! Plain is the table of all places at all frames, filled once from the beginning and once from the end; and for the label
//! that may come next, the sum over all frames of one class after the other. That label is work of the calling thread,
//! however many there are.

mod beside;

use beside::{Beside, values};
use gatto_kernels::ctc::{Args, Prefix, losses, losses_and_gradient};
use std::iter::once;

/// The class that is no label, and the one whose place the end has.
const BLANK: usize = 0;
const END: usize = 1;

/// log 0.
const NEVER: f64 = f64::NEG_INFINITY;

/// `log Σ exp`.
fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(NEVER, f64::max);
    if largest == NEVER {
        return NEVER;
    }
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

/// `z − log Σ exp z`, `[T, V]`.
fn log_softmax(logits: &[f32], classes: usize) -> Vec<f64> {
    let wide: Vec<f64> = logits.iter().map(|&z| f64::from(z)).collect();
    let sums: Vec<f64> = wide.chunks_exact(classes).map(log_sum).collect();
    wide.iter().enumerate().map(|(at, z)| z - sums[at / classes]).collect()
}

/// Of each row the frames that exist, as `log p` `[length, V]`, and its labels with blanks between and around them, `[S]`.
fn rows(args: Args<'_>) -> impl Iterator<Item = (Vec<f64>, Vec<usize>)> {
    let rows = args.logits.chunks_exact(args.frames * args.classes).zip(args.lengths).zip(args.targets);
    rows.map(move |((logits, &length), target)| {
        let labels = target.iter().flat_map(|&label| [label as usize, BLANK]);
        let labels: Vec<usize> = once(BLANK).chain(labels).collect();
        (log_softmax(&logits[..length * args.classes], args.classes), labels)
    })
}

/// `log α`, `[T, S]`.
fn read(told: &[f64], classes: usize, labels: &[usize]) -> Vec<f64> {
    let places = labels.len();
    let mut all: Vec<f64> = Vec::with_capacity(told.len() / classes * places);
    for frame in told.chunks_exact(classes) {
        let before = all.len().checked_sub(places);
        for (place, &label) in labels.iter().enumerate() {
            let reached = match before {
                None if place < 2 => 0.0,
                None => NEVER,
                Some(before) => {
                    let skips = place >= 2 && label != BLANK && label != labels[place - 2];
                    let from = place - usize::from(place >= 1) - usize::from(skips);
                    log_sum(&all[before + from..=before + place])
                }
            };
            all.push(reached + frame[label]);
        }
    }
    all
}

/// From `log α`: a path ends with the last label, or with the blank behind it.
fn loss(forward: &[f64], places: usize) -> f64 {
    -log_sum(&forward[forward.len() - places.min(2)..])
}

fn plain(args: Args<'_>) -> Vec<f32> {
    let loss = |(told, labels): (Vec<f64>, Vec<usize>)| {
        loss(&read(&told, args.classes, &labels), labels.len()) as f32
    };
    rows(args).map(loss).collect()
}

fn plain_with_gradient(args: Args<'_>) -> [Vec<f32>; 2] {
    let Args { frames, classes, .. } = args;
    let (mut losses, mut gradient) = (Vec::new(), vec![0.0f32; args.logits.len()]);
    for ((told, labels), gradient) in rows(args).zip(gradient.chunks_exact_mut(frames * classes)) {
        let places = labels.len();
        let forward = read(&told, classes, &labels);
        let of_row = loss(&forward, places);
        // From the end it is the same with everything turned round.
        let turned: Vec<f64> = told.chunks_exact(classes).rev().flatten().copied().collect();
        let opposite: Vec<usize> = labels.iter().rev().copied().collect();
        let mut backward = read(&turned, classes, &opposite);
        backward.reverse();
        gradient.iter_mut().zip(&told).for_each(|(to, told)| *to = told.exp() as f32);
        for (at, (forward, backward)) in forward.iter().zip(&backward).enumerate() {
            let here = at / places * classes + labels[at % places];
            // Both count the frame.
            gradient[here] -= (forward + backward - told[here] + of_row).exp() as f32;
        }
        losses.push(of_row as f32);
    }
    [losses, gradient]
}

/// A beginning of what was heard.
struct Beginning {
    /// `log r_t^n` and `log r_t^b`, from `t` = 0.
    labelled: Vec<f64>,
    blank: Vec<f64>,
    /// The blank if there is none.
    last: usize,
    /// `log ψ`.
    sum: f64,
}

impl Beginning {
    /// No label yet, of frames `[T, V]` of `log p`.
    fn empty(told: &[f64], classes: usize) -> Self {
        let mut blank = vec![0.0f64];
        for (t, frame) in told.chunks_exact(classes).enumerate() {
            blank.push(blank[t] + frame[BLANK]);
        }
        Self { labelled: vec![NEVER; blank.len()], blank, last: BLANK, sum: 0.0 }
    }

    /// `log φ`, `[T]`, for a label that is not the last one; for that it is `log r^b` alone.
    fn begun(&self) -> Vec<f64> {
        let frames = self.blank.len() - 1;
        (0..frames).map(|t| log_sum(&[self.blank[t], self.labelled[t]])).collect()
    }

    /// With one more label.
    fn with(&self, told: &[f64], classes: usize, label: usize) -> Self {
        let begun = if label == self.last { self.blank.clone() } else { self.begun() };
        let (mut labelled, mut blank) = (vec![NEVER], vec![NEVER]);
        for (t, frame) in told.chunks_exact(classes).enumerate() {
            labelled.push(log_sum(&[labelled[t], begun[t]]) + frame[label]);
            blank.push(log_sum(&[blank[t], labelled[t]]) + frame[BLANK]);
        }
        Self { labelled, blank, last: label, sum: sum_of(told, classes, &begun, label) }
    }

    /// The probability of each class to be the next label, with that of the end in its place: `[V]`.
    fn next(&self, told: &[f64], classes: usize) -> Vec<f32> {
        let (begun, frames) = (self.begun(), self.blank.len() - 1);
        let log_of = |label: usize| match label {
            BLANK => NEVER,
            END => log_sum(&[self.blank[frames], self.labelled[frames]]),
            _ if label == self.last => sum_of(told, classes, &self.blank, label),
            _ => sum_of(told, classes, &begun, label),
        };
        (0..classes).map(|label| (log_of(label) - self.sum).exp() as f32).collect()
    }
}

/// `log ψ` with one more label, from `log φ`.
fn sum_of(told: &[f64], classes: usize, begun: &[f64], label: usize) -> f64 {
    let terms = told.chunks_exact(classes).zip(begun).map(|(frame, begun)| begun + frame[label]);
    log_sum(&terms.collect::<Vec<_>>())
}

fn logarithms(probabilities: &[f32]) -> Vec<f64> {
    probabilities.iter().map(|&p| f64::from(p).ln()).collect()
}

/// Labels of a row, each twice, so that a blank must stand between them.
fn target(row: usize, count: usize, classes: usize) -> Vec<u32> {
    let label = |at: usize| (END + 1 + ((at / 2).pow(2) + row) % (classes - END - 1)) as u32;
    (0..count).map(label).collect()
}

fn main() {
    let mut table = Beside::new("ctc");
    // W9's recordings behind two convolutions that halve the frames, with letters; longer ones with parts of words.
    for (what, batch, frames, classes, count) in
        [("letters", 32, 75, 32, 24), ("parts of words", 8, 250, 1000, 60)]
    {
        let logits: Vec<f32> = values(batch * frames * classes, 1).iter().map(|z| 4.0 * z).collect();
        let lengths: Vec<usize> = (0..batch).map(|row| frames - row % 8).collect();
        let targets: Vec<Vec<u32>> = (0..batch).map(|row| target(row, count, classes)).collect();
        let blank = BLANK as u32;
        let args = Args { logits: &logits, frames, classes, lengths: &lengths, targets: &targets, blank };
        let size = format!("{what}, {batch} × {frames} × {classes} → {count}");
        table.compare(&size, || [plain(args)], || [losses(args).expect("labels in range")]);
        table.compare(
            &format!("{size}, gradient"),
            || plain_with_gradient(args),
            || {
                let (losses, gradient) = losses_and_gradient(args).expect("labels in range");
                [losses, gradient]
            },
        );

        // A step of the search, when half of each target is written: one more label, and what may follow it.
        let written = count / 2;
        let heard: Vec<Vec<f32>> =
            rows(args).map(|(told, _)| told.iter().map(|log| log.exp() as f32).collect()).collect();
        let beginnings = heard.iter().zip(&targets).map(|(heard, target)| {
            let (told, begin) = (logarithms(heard), &target[..written]);
            let plain = begin.iter().fold(Beginning::empty(&told, classes), |beginning, &label| {
                beginning.with(&told, classes, label as usize)
            });
            let ours = begin.iter().fold(Prefix::empty(heard, classes, blank), |prefix, &label| {
                prefix.with(heard, classes, blank, label)
            });
            (plain, ours)
        });
        let (plain_begun, ours_begun): (Vec<Beginning>, Vec<Prefix>) = beginnings.unzip();
        let labels: Vec<u32> = targets.iter().map(|target| target[written]).collect();
        let steps = || heard.iter().zip(&labels);
        table.compare(
            &format!("{size}, next label"),
            || {
                let next = |((heard, &label), beginning): ((&Vec<f32>, &u32), &Beginning)| {
                    let told = logarithms(heard);
                    beginning.with(&told, classes, label as usize).next(&told, classes)
                };
                [steps().zip(&plain_begun).flat_map(next).collect()]
            },
            || {
                let next = |((heard, &label), prefix): ((&Vec<f32>, &u32), &Prefix)| {
                    let prefix = prefix.with(heard, classes, blank, label);
                    prefix.next(heard, classes, blank, END as u32).into_iter().map(f32::exp)
                };
                [steps().zip(&ours_begun).flat_map(next).collect()]
            },
        );
    }
    table.finish();
}
