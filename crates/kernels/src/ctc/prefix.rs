//! How probable it is that what was heard begins with given labels (Graves, 2012; Watanabe et al., 2017).
//!
//! Of a beginning `g`, `r_t^n` and `r_t^b` are the probabilities of all paths over the first `t` frames that read `g` and end
//! with its last label, or with a blank. With one more label `c`,
//!
//! ```text
//! φ_t       = r_{t−1}^b(g) + r_{t−1}^n(g),  without the second where c is the last label of g
//! r_t^n(gc) = (r_{t−1}^n(gc) + φ_t) p_t(c)
//! r_t^b(gc) = (r_{t−1}^b(gc) + r_{t−1}^n(gc)) p_t(∅)
//! ψ(gc)     = Σ_t φ_t p_t(c)
//! ```
//!
//! `ψ(g)` is the probability that the labels begin with `g`, and `r_T^n(g) + r_T^b(g)` that they are `g`. So
//! `ψ(gc) / ψ(g)`, and `(r_T^n + r_T^b) / ψ(g)` for the end, sum to one over all that may follow: a beginning has a
//! probability for the next label, as a decoder has.

/// A beginning of what was heard. Its numbers are logarithms.
#[derive(Clone, Debug)]
pub struct Prefix {
    /// `log r_t^n`, from `t` = 0.
    labelled: Vec<f64>,
    /// `log r_t^b`.
    blank: Vec<f64>,
    last: Option<u32>,
    /// `log ψ`.
    sum: f64,
}

impl Prefix {
    /// No label yet, of frames `[T, V]` that hold the probability of each class.
    pub fn empty(frames: &[f32], classes: usize, blank: u32) -> Self {
        let mut all = vec![0.0];
        let mut sum = 0.0;
        for frame in frames.chunks_exact(classes.max(1)) {
            sum += log(frame[blank as usize]);
            all.push(sum);
        }
        Self { labelled: vec![f64::NEG_INFINITY; all.len()], blank: all, last: None, sum: 0.0 }
    }

    /// With one more label.
    pub fn with(&self, frames: &[f32], classes: usize, blank: u32, label: u32) -> Self {
        let mut next = Self {
            labelled: vec![f64::NEG_INFINITY; self.blank.len()],
            blank: vec![f64::NEG_INFINITY; self.blank.len()],
            last: Some(label),
            sum: f64::NEG_INFINITY,
        };
        for (before, frame) in frames.chunks_exact(classes.max(1)).enumerate() {
            let begun = self.begun(before, label);
            let told = log(frame[label as usize]);
            next.sum = log_add(next.sum, begun + told);
            next.labelled[before + 1] = log_add(next.labelled[before], begun) + told;
            next.blank[before + 1] =
                log_add(next.blank[before], next.labelled[before]) + log(frame[blank as usize]);
        }
        next
    }

    /// `log φ` behind so many frames.
    fn begun(&self, frames: usize, label: u32) -> f64 {
        match self.last == Some(label) {
            true => self.blank[frames],
            false => log_add(self.blank[frames], self.labelled[frames]),
        }
    }

    /// log of the probability of each class to be the next label, with that of the end in place of `end`; −∞ for the
    /// blank and what cannot be: `[V]`.
    pub fn next(&self, frames: &[f32], classes: usize, blank: u32, end: u32) -> Vec<f32> {
        let count = self.blank.len() - 1;
        // Any label but the last: Σ_t φ_t p_t(c) is a product of a row and a matrix, relative to the largest φ.
        let begun: Vec<f64> = (0..count).map(|t| log_add(self.blank[t], self.labelled[t])).collect();
        let largest = begun.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sums = vec![0.0f64; classes];
        for (frame, begun) in frames.chunks_exact(classes.max(1)).zip(&begun) {
            let share = (begun - largest).exp();
            if share > 0.0 {
                sums.iter_mut().zip(frame).for_each(|(sum, &told)| *sum += share * f64::from(told));
            }
        }
        let mut next: Vec<f64> = sums.into_iter().map(|sum| largest + sum.ln()).collect();
        if let Some(last) = self.last {
            let again = frames.chunks_exact(classes.max(1)).zip(&self.blank);
            next[last as usize] = again.fold(f64::NEG_INFINITY, |sum, (frame, blank)| {
                log_add(sum, blank + log(frame[last as usize]))
            });
        }
        next[end as usize] = log_add(self.blank[count], self.labelled[count]);
        next[blank as usize] = f64::NEG_INFINITY;
        let relative = |next: f64| if next == f64::NEG_INFINITY { next } else { (next - self.sum).min(0.0) };
        next.into_iter().map(|next| relative(next) as f32).collect()
    }
}

fn log(probability: f32) -> f64 {
    f64::from(probability).ln()
}

fn log_add(one: f64, other: f64) -> f64 {
    let (more, less) = if one > other { (one, other) } else { (other, one) };
    match more == f64::NEG_INFINITY {
        true => more,
        false => more + (less - more).exp().ln_1p(),
    }
}
