//! From the open hypotheses of a group to the candidates that are chosen.

use super::Stepped;
use super::candidate::{Best, Candidate, Source};
use super::phrases::Phrases;
use super::rules::{Barred, Rules};
use super::sentence::Open;
use super::trace::Fate;

/// One step of one group.
pub(super) struct Expansion<'a> {
    pub(super) parents: &'a [Open],
    /// What is barred behind each parent.
    pub(super) barred: &'a [Barred],
    pub(super) stepped: &'a Stepped<'a>,
    pub(super) rules: &'a Rules<'a>,
    pub(super) phrases: &'a Phrases,
    /// The most tokens that phrases may still need behind this step; none if they cannot all be met anyway.
    pub(super) left: Option<usize>,
    /// The tokens that earlier groups have chosen at this step, and what each of them costs.
    pub(super) taken: &'a [u32],
    pub(super) diversity: f64,
}

impl Expansion<'_> {
    /// The candidates that are chosen, at most `size`, best first; in the memory of a list that is not needed.
    pub(super) fn choose(&self, size: usize, memory: Vec<Candidate>) -> Vec<Candidate> {
        let best =
            self.best(Best::within(memory, size), |parent, token| self.verdict(parent, token).is_none());
        if self.phrases.is_empty() {
            return best;
        }
        // Beside the best of all: the best of each hypothesis, and what brings its phrases forward.
        let mut pool = best;
        for (parent, open) in self.parents.iter().enumerate() {
            let source = self.source(parent);
            let admitted = |token: u32| self.verdict(parent, token).is_none();
            let mut first = Best::new(1);
            first.offer(&source, |token| self.penalty(token), admitted);
            pool.extend(first.sorted());
            let forward = self.phrases.next(&open.progress).filter(|&token| admitted(token));
            pool.extend(forward.filter_map(|token| source.candidate(token, self.penalty(token))));
        }
        pool.sort_unstable();
        pool.dedup_by_key(|candidate| (candidate.parent, candidate.token));
        shared_out(pool, |candidate| self.needed(candidate.parent, candidate.token), size)
    }

    /// The best candidates that were not chosen, at most `most`, and why.
    pub(super) fn rejected(&self, chosen: &[Candidate], most: usize) -> Vec<(Candidate, Fate)> {
        let is_chosen = |candidate: &Candidate| {
            chosen.iter().any(|other| (other.parent, other.token) == (candidate.parent, candidate.token))
        };
        let worst = chosen.last().map_or(f64::INFINITY, |candidate| candidate.worth);
        let fate = |candidate: Candidate| {
            let beaten = if candidate.worth < worst || self.phrases.is_empty() {
                Fate::Beaten { by: worst - candidate.worth }
            } else {
                Fate::Phrases
            };
            (candidate, self.verdict(candidate.parent, candidate.token).unwrap_or(beaten))
        };
        let best = self.best(Best::new(chosen.len() + most), |_, _| true);
        best.into_iter().filter(|candidate| !is_chosen(candidate)).take(most).map(fate).collect()
    }

    fn best(&self, mut best: Best, admitted: impl Fn(usize, u32) -> bool) -> Vec<Candidate> {
        for parent in 0..self.parents.len() {
            best.offer(&self.source(parent), |token| self.penalty(token), |token| admitted(parent, token));
        }
        best.sorted()
    }

    fn source(&self, parent: usize) -> Source<'_> {
        self.stepped.source(parent, &self.parents[parent])
    }

    fn penalty(&self, token: u32) -> f64 {
        self.diversity * self.taken.iter().filter(|&&taken| taken == token).count() as f64
    }

    /// The tokens that the phrases still need behind this one.
    fn needed(&self, parent: usize, token: u32) -> usize {
        self.phrases.needed(&self.phrases.behind(&self.parents[parent].progress, token))
    }

    /// Why a token may not follow a hypothesis, if so.
    fn verdict(&self, parent: usize, token: u32) -> Option<Fate> {
        let barred = &self.barred[parent];
        if self.rules.forbid(token, barred) {
            return Some(Fate::Forbidden);
        }
        if token == self.rules.end {
            return barred.end;
        }
        if !self.phrases.is_empty() {
            let needed = self.needed(parent, token);
            if needed > 0 && self.left.is_some_and(|left| needed > left) {
                return Some(Fate::Phrases);
            }
            if needed < self.parents[parent].needed {
                return None;
            }
        }
        barred.repeating.contains(&token).then_some(Fate::Repeated)
    }
}

/// Shares the places out among candidates that still need different numbers of tokens for their phrases, so
/// that those further ahead are not beaten by those that put it off (Post and Vilar, 2018). Every number that
/// occurs gets as many places, the fewest needed one more where they do not come out even; what some do not
/// use goes to the best that are left. `pool` and what is given back are sorted.
fn shared_out(pool: Vec<Candidate>, needed: impl Fn(&Candidate) -> usize, size: usize) -> Vec<Candidate> {
    let needs: Vec<usize> = pool.iter().map(needed).collect();
    let mut banks = needs.clone();
    banks.sort_unstable();
    banks.dedup();
    let quota = |bank: usize| size / banks.len() + usize::from(bank < size % banks.len());
    let mut places: Vec<usize> = (0..banks.len()).map(quota).collect();
    let (mut chosen, mut left) = (Vec::new(), Vec::new());
    for (candidate, need) in pool.into_iter().zip(needs) {
        let bank = banks.partition_point(|&other| other < need);
        if places[bank] > 0 {
            places[bank] -= 1;
            chosen.push(candidate);
        } else {
            left.push(candidate);
        }
    }
    let free = size - chosen.len();
    chosen.extend(left.into_iter().take(free));
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_shared_out_by_what_phrases_need() {
        // Tokens 0 to 7 with falling worth; 6 and 7 are further ahead.
        let scores: Vec<f32> = (0..8u8).map(|token| -f32::from(token)).collect();
        let source = Source { parent: 0, sum: 0.0, scores: &scores, log_sum: 0.0 };
        let pool = || (0..8).filter_map(|token| source.candidate(token, 0.0)).collect();
        let tokens = |needed: fn(&Candidate) -> usize, size: usize| -> Vec<u32> {
            shared_out(pool(), needed, size).iter().map(|candidate| candidate.token).collect()
        };
        let ahead = |candidate: &Candidate| if candidate.token < 6 { 3 } else { 2 };
        assert_eq!(tokens(ahead, 2), [0, 6]);
        assert_eq!(tokens(ahead, 3), [0, 6, 7]);
        assert_eq!(tokens(ahead, 6), [0, 1, 2, 3, 6, 7]);
        assert_eq!(tokens(ahead, 1), [6]);
        assert_eq!(tokens(|_| 3, 3), [0, 1, 2]);
        assert_eq!(tokens(ahead, 99).len(), 8);
    }
}
