//! One more token behind a hypothesis, and the best of many such candidates.

use crate::log_sum::largest;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A hypothesis with one more token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The number of the hypothesis in its group.
    pub(super) parent: usize,
    pub(super) token: u32,
    /// What the model gave the token, before normalisation.
    pub(super) raw: f32,
    pub(super) log_probability: f32,
    /// log p of the whole.
    pub(super) sum: f64,
    /// What it is chosen by: the sum less what earlier groups have made it lose.
    pub(super) worth: f64,
}

/// What candidates are made of: a hypothesis and the model's scores behind it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) parent: usize,
    pub(super) sum: f64,
    /// The scores of all tokens, and log Σ exp of them.
    pub(super) scores: &'a [f32],
    pub(super) log_sum: f32,
}

impl Source<'_> {
    /// The hypothesis with one more token, however improbable.
    pub(super) fn with(&self, token: u32, penalty: f64) -> Candidate {
        let raw = self.scores.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
        let log_probability = raw - self.log_sum;
        let sum = self.sum + f64::from(log_probability);
        Candidate { parent: self.parent, token, raw, log_probability, sum, worth: sum - penalty }
    }

    /// The same if the model gives the token any probability.
    pub(super) fn candidate(&self, token: u32, penalty: f64) -> Option<Candidate> {
        Some(self.with(token, penalty)).filter(|found| found.log_probability > f32::NEG_INFINITY)
    }
}

/// The better one is the smaller: higher worth, then lower parent, then lower token. Where rounding has made
/// two tokens of one parent equal, the model's own score still tells them apart, as it does in greedy search.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_worth = other.worth.total_cmp(&self.worth).then(self.parent.cmp(&other.parent));
        by_worth.then(other.raw.total_cmp(&self.raw)).then(self.token.cmp(&other.token))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Tokens that are passed over together if the best of them is not good enough.
const TOGETHER: usize = 64;

/// The best candidates of those that were offered, without sorting the rest.
pub(super) struct Best {
    size: usize,
    worst_first: BinaryHeap<Candidate>,
}

impl Best {
    pub(super) fn new(size: usize) -> Self {
        Self::within(Vec::new(), size)
    }

    /// The same in the memory of a list that is not needed.
    pub(super) fn within(mut memory: Vec<Candidate>, size: usize) -> Self {
        memory.clear();
        Self { size, worst_first: memory.into() }
    }

    /// Offers every token behind one hypothesis. `penalty` (not below 0) and `admitted` are asked only for
    /// tokens that would be among the best.
    pub(super) fn offer(
        &mut self,
        source: &Source<'_>,
        penalty: impl Fn(u32) -> f64,
        admitted: impl Fn(u32) -> bool,
    ) {
        for (tokens, scores) in (0u32..).step_by(TOGETHER).zip(source.scores.chunks(TOGETHER)) {
            if self.beats(source, largest(scores)) {
                continue;
            }
            for (token, &raw) in (tokens..).zip(scores) {
                if self.beats(source, raw) {
                    continue;
                }
                let Some(candidate) = source.candidate(token, penalty(token)) else { continue };
                if self.has_place(&candidate) && admitted(token) {
                    self.worst_first.push(candidate);
                    if self.worst_first.len() > self.size {
                        self.worst_first.pop();
                    }
                }
            }
        }
    }

    /// Whether a token with this score, and all with lower ones, are surely not among the best.
    fn beats(&self, source: &Source<'_>, raw: f32) -> bool {
        let sum = source.sum + f64::from(raw - source.log_sum);
        self.is_full() && self.worst_first.peek().is_none_or(|worst| sum < worst.worth)
    }

    fn has_place(&self, candidate: &Candidate) -> bool {
        !self.is_full() || self.worst_first.peek().is_some_and(|worst| candidate < worst)
    }

    fn is_full(&self) -> bool {
        self.worst_first.len() >= self.size
    }

    /// Best first.
    pub(super) fn sorted(self) -> Vec<Candidate> {
        self.worst_first.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_that_sorting_finds(
            scores in prop::collection::vec(-3i8..3, 1..200), // few values, so that ties are many
            sums in prop::collection::vec(-3i8..3, 1..4),
            size in 0usize..12,
        ) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let (penalty, admitted) = (|token: u32| f64::from(token % 3), |token: u32| token % 5 != 1);
            let mut best = Best::new(size);
            let mut all = Vec::new();
            for (parent, &sum) in sums.iter().enumerate() {
                let source = Source { parent, sum: f64::from(sum), scores: &scores, log_sum: 4.0 };
                best.offer(&source, penalty, admitted);
                let tokens = (0..scores.len() as u32).filter(|&token| admitted(token));
                all.extend(tokens.filter_map(|token| source.candidate(token, penalty(token))));
            }
            all.sort();
            all.truncate(size);
            let key = |found: &Candidate| (found.parent, found.token, found.worth.to_bits());
            let found: Vec<_> = best.sorted().iter().map(key).collect();
            prop_assert_eq!(found, all.iter().map(key).collect::<Vec<_>>());
        }
    }

    #[test]
    fn tokens_without_probability_are_no_candidates() {
        let scores = [f32::NAN, f32::NEG_INFINITY, 0.0, f32::NAN];
        let mut best = Best::new(3);
        best.offer(&Source { parent: 0, sum: 0.0, scores: &scores, log_sum: 0.0 }, |_| 0.0, |_| true);
        assert_eq!(best.sorted().iter().map(|found| found.token).collect::<Vec<_>>(), [2]);
    }
}
