//! Attention beside other explanations, over many sentences or images.

use super::{Case, Explanation, TextCase, explain};
use gatto_data::random::generator;
use gatto_metrics::rank::kendall_tau;
use gatto_model::{Forced, Matrix, ModelError, Saved};
use rand::{Rng, RngExt};

/// Source tokens that are deleted together.
const DELETED: [usize; 3] = [1, 2, 3];
/// Random deletions that one of the most attended parts is compared with.
const DRAWS: usize = 3;

/// How far attention agrees with other explanations. The parts of a source are its tokens, or the regions of an
/// image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Sentences or images looked at.
    pub examples: usize,
    /// Target tokens, ends included; or labels.
    pub tokens: usize,
    /// Kendall's τ of attention and |gradient × input| over the parts of a source, a mean over target tokens.
    pub gradient: Option<f64>,
    /// Kendall's τ of attention and erasure.
    pub erasure: Option<f64>,
    /// Kendall's τ of |gradient × input| and erasure: how far those two agree.
    pub gradient_and_erasure: Option<f64>,
    /// What deleting costs, by the number of parts.
    pub falls: Vec<Fall>,
}

/// How far the probability of an output token falls when parts of the source are deleted, on average.
#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    /// Parts deleted together.
    pub deleted: usize,
    /// Those with most attention.
    pub attended: f64,
    /// As many at random.
    pub random: f64,
    /// Target tokens that were looked at.
    pub tokens: usize,
}

/// A mean that grows.
#[derive(Clone, Copy, Debug, Default)]
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

/// What a report is the mean of, as it grows.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    examples: usize,
    tokens: usize,
    gradient: Mean,
    erasure: Mean,
    both: Mean,
    /// By the number of parts that are left out together: those with most weight, and random ones.
    falls: Vec<(usize, Mean, Mean)>,
    seed: u64,
}

impl Agreement {
    /// Nothing yet; so many parts of a source are to be left out together.
    pub(super) fn new(deleted: &[usize], seed: u64) -> Self {
        let none = Mean::default();
        let falls = deleted.iter().map(|deleted| (*deleted, none, none)).collect();
        Self { examples: 0, tokens: 0, gradient: none, erasure: none, both: none, falls, seed }
    }

    /// Adds an explained case: rows of tokens over at least `parts` of its source, of which only these count.
    pub(super) fn add(
        &mut self,
        saved: &Saved,
        case: &impl Case,
        log_probabilities: &[f32],
        [weights, gradient, erasure]: [&Matrix; 3],
        parts: usize,
    ) -> Result<(), ModelError> {
        for (t, weights) in weights.iter().enumerate() {
            let sizes: Vec<f32> = gradient[t][..parts].iter().map(|value| value.abs()).collect();
            let (weights, erased) = (&weights[..parts], &erasure[t][..parts]);
            for (mean, value) in [
                (&mut self.gradient, kendall_tau(weights, &sizes)),
                (&mut self.erasure, kendall_tau(weights, erased)),
                (&mut self.both, kendall_tau(&sizes, erased)),
            ] {
                value.into_iter().for_each(|value| mean.add(value));
            }
        }
        for (deleted, attended, random) in self.falls.iter_mut().filter(|(deleted, ..)| parts > *deleted) {
            let deletions = deletions(weights, parts, *deleted, self.seed, self.examples as u64);
            for (place, left) in case.without(saved, &deletions)?.into_iter().enumerate() {
                let t = place / (1 + DRAWS);
                let fall = log_probabilities[t].exp() - left[t].exp();
                let mean = if place % (1 + DRAWS) == 0 { &mut *attended } else { &mut *random };
                mean.add(f64::from(fall));
            }
        }
        self.examples += 1;
        self.tokens += weights.len();
        Ok(())
    }

    /// The means.
    pub(super) fn report(&self) -> Report {
        let fall = |(deleted, attended, random): &(usize, Mean, Mean)| {
            let (deleted, tokens) = (*deleted, attended.count);
            Some(Fall { deleted, attended: attended.get()?, random: random.get()?, tokens })
        };
        Report {
            examples: self.examples,
            tokens: self.tokens,
            gradient: self.gradient.get(),
            erasure: self.erasure.get(),
            gradient_and_erasure: self.both.get(),
            falls: self.falls.iter().filter_map(fall).collect(),
        }
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
    let mut agreement = Agreement::new(&DELETED, seed);
    for pair in pairs {
        let Explanation { trace, gradient, erasure } = explain(saved, pair)?;
        let Some(weights) = &trace.weights else { return Ok(None) };
        let read = pair.0.len(); // the end has no vector of its own to erase
        let maps = [weights, &gradient, &erasure];
        agreement.add(saved, &TextCase(pair), &trace.log_probabilities, maps, read)?;
        seen();
    }
    Ok(Some(agreement.report()))
}

/// For every target token the `count` parts of the source with most attention, and then some random ones.
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
