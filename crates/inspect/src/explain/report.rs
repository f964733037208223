//! Attention beside other explanations, over many sentences.

use super::{BATCH, explain, without};
use gatto_data::random::generator;
use gatto_metrics::rank::kendall_tau;
use gatto_model::{Forced, ModelError, Saved};
use rand::{Rng, RngExt};

/// The most tokens that are deleted together.
const MOST_DELETED: usize = 3;
/// Random deletions that one of the most attended tokens is compared with.
const DRAWS: usize = 3;

/// How far attention agrees with other explanations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Sentences looked at.
    pub sentences: usize,
    /// Target tokens, ends included.
    pub tokens: usize,
    /// Kendall's τ of attention and |gradient × input| over source tokens, a mean over target tokens.
    pub gradient: Option<f64>,
    /// Kendall's τ of attention and erasure.
    pub erasure: Option<f64>,
    /// Kendall's τ of |gradient × input| and erasure: how far those two agree.
    pub gradient_and_erasure: Option<f64>,
    /// What deleting costs, by the number of tokens.
    pub falls: Vec<Fall>,
}

/// How far the probability of an output token falls when source tokens are deleted, on average.
#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    /// Source tokens deleted together.
    pub deleted: usize,
    /// Those with most attention.
    pub attended: f64,
    /// As many at random.
    pub random: f64,
    /// Target tokens that were looked at.
    pub tokens: usize,
}

/// A mean that grows.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Explains pairs of sources and targets, and averages. `None` for a model without attention. `seen` is
/// told after each.
pub fn report(
    saved: &Saved,
    pairs: &[Forced],
    seed: u64,
    mut seen: impl FnMut(),
) -> Result<Option<Report>, ModelError> {
    let (mut gradient, mut erasure, mut both) = (Mean::default(), Mean::default(), Mean::default());
    let mut falls = [(Mean::default(), Mean::default()); MOST_DELETED];
    let mut tokens = 0;
    for (number, pair) in pairs.iter().enumerate() {
        let explanation = explain(saved, pair)?;
        let Some(weights) = &explanation.trace.weights else { return Ok(None) };
        let read = pair.0.len(); // the end has no vector of its own to erase
        tokens += weights.len();
        for (t, weights) in weights.iter().enumerate() {
            let sizes: Vec<f32> = explanation.gradient[t][..read].iter().map(|value| value.abs()).collect();
            let (weights, erased) = (&weights[..read], &explanation.erasure[t][..read]);
            for (mean, value) in [
                (&mut gradient, kendall_tau(weights, &sizes)),
                (&mut erasure, kendall_tau(weights, erased)),
                (&mut both, kendall_tau(&sizes, erased)),
            ] {
                value.into_iter().for_each(|value| mean.add(value));
            }
        }
        let whole = &explanation.trace.log_probabilities;
        for (deleted, (attended, random)) in (1..).zip(&mut falls) {
            if read <= deleted {
                continue;
            }
            let deletions = deletions(weights, read, deleted, seed, number as u64);
            let changed: Vec<Forced> =
                deletions.iter().map(|left_out| (without(&pair.0, left_out), pair.1.clone())).collect();
            for (first, changed) in changed.chunks(BATCH).enumerate() {
                for (place, trace) in (first * BATCH..).zip(saved.trace(changed, BATCH)?) {
                    let t = place / (1 + DRAWS);
                    let fall = whole[t].exp() - trace.log_probabilities[t].exp();
                    let mean = if place % (1 + DRAWS) == 0 { &mut *attended } else { &mut *random };
                    mean.add(f64::from(fall));
                }
            }
        }
        seen();
    }
    let fall = |(index, (attended, random)): (usize, (Mean, Mean))| {
        let (tokens, deleted) = (attended.count, index + 1);
        Some(Fall { deleted, attended: attended.get()?, random: random.get()?, tokens })
    };
    Ok(Some(Report {
        sentences: pairs.len(),
        tokens,
        gradient: gradient.get(),
        erasure: erasure.get(),
        gradient_and_erasure: both.get(),
        falls: falls.into_iter().enumerate().filter_map(fall).collect(),
    }))
}

/// For every target token the `count` source tokens with most attention, and then some random ones.
fn deletions(weights: &[Vec<f32>], read: usize, count: usize, seed: u64, sentence: u64) -> Vec<Vec<usize>> {
    let mut generator = generator(seed, sentence);
    let mut found = Vec::with_capacity(weights.len() * (1 + DRAWS));
    for weights in weights {
        let mut order: Vec<usize> = (0..read).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        order.truncate(count);
        found.push(order);
        found.extend((0..DRAWS).map(|_| some_of(read, count, &mut generator)));
    }
    found
}

/// `count` different numbers below `all`.
fn some_of(all: usize, count: usize, generator: &mut impl Rng) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..all).collect();
    for place in 0..count {
        numbers.swap(place, generator.random_range(place..all));
    }
    numbers.truncate(count);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_attended_tokens_are_deleted_and_then_random_ones() {
        let weights = [vec![0.1, 0.5, 0.3, 0.1], vec![0.0, 0.2, 0.0, 0.8]];
        let found = deletions(&weights, 3, 2, 1, 0);
        assert_eq!(found.len(), 2 * (1 + DRAWS));
        assert_eq!(found[0], [1, 2]);
        assert_eq!(found[1 + DRAWS], [1, 0], "the end is never deleted");
        for drawn in found.iter().filter(|drawn| **drawn != found[0]) {
            assert!(drawn.len() == 2 && drawn[0] != drawn[1] && drawn.iter().all(|at| *at < 3), "{drawn:?}");
        }
        assert_eq!(found, deletions(&weights, 3, 2, 1, 0));
    }
}
