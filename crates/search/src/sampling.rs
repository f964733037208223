//! Sampling: every token is drawn from what the model thinks of it, p(y)^(1/T) up to a constant, after the
//! tail of the distribution was cut off.
//!
//! Three cuts are known: the k most probable tokens (Fan et al., 2018), the fewest whose probabilities
//! sum to p (Holtzman et al., 2020), and those that are not much less probable than the best (Nguyen et al.,
//! 2024). The other two cut what the first has left; where both do, the shorter piece remains.

use crate::repeated::Repeated;
use crate::{Continuation, Step, continued};

/// How tokens are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// T: below 1 the probable tokens gain, above 1 the improbable ones.
    pub temperature: f64,
    /// The most tokens that are drawn from.
    pub top_k: Option<usize>,
    /// The share of the probability that is drawn from; 1 for all.
    pub top_p: f64,
    /// How probable a token must be, as a share of the most probable one; 0 for all.
    pub min_p: f64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: 1.0, min_p: 0.0 }
    }
}

/// What is drawn from. A draw has the memory of the one before.
#[derive(Clone, Debug, Default)]
struct Urn {
    /// Tokens and their scores, the most probable first.
    tokens: Vec<(u32, f32)>,
    /// How probable each is, as a share of the first.
    weights: Vec<f64>,
}

impl Sampling {
    /// The token that `number`, from 0 to below 1, draws from the scores; never one of `forbidden`.
    pub fn draw(&self, scores: &[f32], forbidden: &[u32], number: f64) -> u32 {
        self.draw_from(&mut Urn::default(), scores, forbidden, number)
    }

    fn draw_from(&self, urn: &mut Urn, scores: &[f32], forbidden: &[u32], number: f64) -> u32 {
        let Urn { tokens, weights } = urn;
        let allowed = |(token, score): &(u32, f32)| score.is_finite() && !forbidden.contains(token);
        tokens.clear();
        tokens.extend((0..).zip(scores.iter().copied()).filter(allowed));
        tokens.sort_unstable_by(|(a, left), (b, right)| right.total_cmp(left).then(a.cmp(b)));
        tokens.truncate(self.top_k.unwrap_or(usize::MAX).max(1));
        let Some(&(first, largest)) = tokens.first() else { return 0 };
        let weight = |score: f32| (f64::from(score - largest) / self.temperature).exp();
        weights.clear();
        weights.extend(tokens.iter().map(|&(_, score)| weight(score)));
        let by_sum = reach(weights, self.top_p * weights.iter().sum::<f64>()) + 1;
        // The weight of the first is 1.
        let by_share = weights.partition_point(|&weight| weight >= self.min_p).max(1);
        let kept = &weights[..by_sum.min(by_share)];
        let drawn = reach(kept, number * kept.iter().sum::<f64>());
        tokens.get(drawn).map_or(first, |&(token, _)| token)
    }
}

/// The first place where the sum of weights, from the first one on, is beyond `sum`; the last if none is.
fn reach(weights: &[f64], sum: f64) -> usize {
    let mut total = 0.0;
    let beyond = weights.iter().position(|weight| {
        total += weight;
        total > sum
    });
    beyond.unwrap_or(weights.len().saturating_sub(1))
}

/// Writes behind prompts, as [`continued`] does, tokens that are drawn. `number` gives a number from 0 to
/// below 1 for a row and a place behind its prompt.
pub fn sample<S: Step>(
    model: &S,
    prompts: &[Vec<u32>],
    limits: &[usize],
    sampling: &Sampling,
    number: impl Fn(usize, usize) -> f64,
) -> Vec<Continuation> {
    let mut urn = Urn::default();
    continued(model, prompts, limits, |row, place, scores| {
        sampling.draw_from(&mut urn, scores, model.forbidden(), number(row, place))
    })
}

/// Writes `count` sequences behind each prompt. `number` gives a number for a row, a sample and a place, so
/// that a sample does not depend on how many there are.
pub fn samples<S: Step>(
    model: &S,
    prompts: &[Vec<u32>],
    limits: &[usize],
    count: usize,
    sampling: &Sampling,
    number: impl Fn(usize, usize, usize) -> f64,
) -> Vec<Vec<Continuation>> {
    let rows: Vec<usize> = (0..prompts.len()).flat_map(|row| std::iter::repeat_n(row, count)).collect();
    let prompts_of_all: Vec<Vec<u32>> = rows.iter().map(|&row| prompts[row].clone()).collect();
    let limits_of_all: Vec<usize> = rows.iter().map(|&row| limits[row]).collect();
    let number = |row: usize, place: usize| number(row / count, row % count, place);
    let model = Repeated { model, rows };
    let mut found = sample(&model, &prompts_of_all, &limits_of_all, sampling, number).into_iter();
    prompts.iter().map(|_| found.by_ref().take(count).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Countdown;

    /// Scores of these probabilities.
    fn scores(probabilities: &[f32]) -> Vec<f32> {
        probabilities.iter().map(|p| p.ln() + 3.0).collect()
    }

    /// How often each token is drawn by numbers that go evenly from 0 to 1.
    fn shares(sampling: Sampling, probabilities: &[f32], forbidden: &[u32]) -> Vec<f64> {
        let mut found = vec![0.0; probabilities.len()];
        for number in 0..10_000 {
            let token =
                sampling.draw(&scores(probabilities), forbidden, (f64::from(number) + 0.5) / 10_000.0);
            found[token as usize] += 1e-4;
        }
        found
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 2e-3, "{found:?} and not {expected:?}");
        }
    }

    #[test]
    fn tokens_come_as_often_as_they_are_probable() {
        let probabilities = [0.1, 0.5, 0.15, 0.25];
        let all = Sampling::default();
        assert_near(&shares(all, &probabilities, &[]), &[0.1, 0.5, 0.15, 0.25]);
        assert_near(&shares(all, &probabilities, &[1]), &[0.2, 0.0, 0.3, 0.5]);
        // p² of 0.01, 0.25, 0.0225, 0.0625.
        let cold = Sampling { temperature: 0.5, ..all };
        assert_near(&shares(cold, &probabilities, &[]), &[0.029, 0.7246, 0.0652, 0.1812]);
    }

    #[test]
    fn the_tail_is_cut_off() {
        let probabilities = [0.1, 0.5, 0.15, 0.25];
        let of = |top_k, top_p| {
            let sampling = Sampling { top_k, top_p, ..Sampling::default() };
            shares(sampling, &probabilities, &[])
        };
        assert_near(&of(Some(2), 1.0), &[0.0, 2.0 / 3.0, 0.0, 1.0 / 3.0]);
        assert_near(&of(None, 0.7), &[0.0, 2.0 / 3.0, 0.0, 1.0 / 3.0]);
        assert_near(&of(None, 0.4), &[0.0, 1.0, 0.0, 0.0]);
        assert_near(&of(Some(1), 0.9), &[0.0, 1.0, 0.0, 0.0]);
        // Of the three that are left, two thirds of the mass are the first two.
        assert_near(&of(Some(3), 0.7), &[0.0, 2.0 / 3.0, 0.0, 1.0 / 3.0]);
        assert_near(&of(Some(99), 1.0), &[0.1, 0.5, 0.15, 0.25]);
    }

    #[test]
    fn what_is_much_less_probable_than_the_best_is_cut_off() {
        let probabilities = [0.1, 0.5, 0.15, 0.25];
        let of = |sampling| shares(sampling, &probabilities, &[]);
        let all = Sampling::default();
        assert_near(&of(Sampling { min_p: 0.4, ..all }), &[0.0, 2.0 / 3.0, 0.0, 1.0 / 3.0]);
        assert_near(&of(Sampling { min_p: 0.6, ..all }), &[0.0, 1.0, 0.0, 0.0]);
        assert_near(&of(Sampling { min_p: 2.0, ..all }), &[0.0, 1.0, 0.0, 0.0]);
        assert_near(&of(Sampling { min_p: 0.1, ..all }), &probabilities.map(f64::from));
        // The shorter of two pieces, of the same probabilities.
        assert_near(&of(Sampling { min_p: 0.25, top_p: 0.7, ..all }), &[0.0, 2.0 / 3.0, 0.0, 1.0 / 3.0]);
        // A low temperature takes 0.25 / 0.5 to a quarter.
        assert_near(&of(Sampling { min_p: 0.3, temperature: 0.5, ..all }), &[0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn samples_are_those_of_their_own_numbers() {
        let model = Countdown { rows: 3 };
        let sampling = Sampling { temperature: 50.0, ..Sampling::default() };
        let numbers = |row: usize, sample: usize, place: usize| {
            ((row * 71 + sample * 37 + place * 13) % 100) as f64 / 100.0
        };
        let prompts = vec![vec![6], vec![], vec![5, 5]];
        let found = samples(&model, &prompts, &[4, 5, 6], 3, &sampling, numbers);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3]);
        for i in 0..3 {
            let alone = sample(&model, &prompts, &[4, 5, 6], &sampling, |row, place| numbers(row, i, place));
            assert_eq!(alone, found.iter().map(|samples| samples[i].clone()).collect::<Vec<_>>());
        }
        assert_ne!(found[0][0], found[0][1]);
        assert_eq!(samples(&model, &prompts, &[4; 3], 0, &sampling, numbers), vec![vec![]; 3]);
    }

    #[test]
    fn odd_scores_do_no_harm() {
        let all = Sampling::default();
        let cold = Sampling { temperature: 1e-6, ..all };
        assert_eq!(cold.draw(&[1.0, 1.1, f32::NEG_INFINITY, f32::NAN], &[], 0.999), 1);
        assert_eq!(all.draw(&[f32::NEG_INFINITY, 0.0], &[], 0.0), 1);
        assert_eq!(all.draw(&[f32::NAN; 3], &[], 0.5), 0);
        assert_eq!(all.draw(&[1e30, 1e30], &[], 0.75), 1);
    }

    #[test]
    fn a_row_is_the_same_whatever_stands_beside_it() {
        let sampling = Sampling { temperature: 50.0, ..Sampling::default() };
        let numbers = |row: usize, place: usize| ((row * 7 + place * 3) % 10) as f64 / 10.0;
        let prompts = vec![vec![6], vec![], vec![5, 5]];
        let all = sample(&Countdown { rows: 3 }, &prompts, &[6; 3], &sampling, numbers);
        // Behind a prompt, what a row of this model counts down from does not depend on its number.
        for row in [0, 2] {
            let alone =
                sample(&Countdown { rows: 1 }, &prompts[row..=row], &[6], &sampling, |_, t| numbers(row, t));
            assert_eq!(alone[0], all[row]);
        }
        assert!(all.iter().all(|found| !found.hypothesis.tokens.contains(&8)), "forbidden: {all:?}");
    }
}
