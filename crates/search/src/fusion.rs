//! A model that writes, and others that have a say in it: a language model (shallow fusion, Gülçehre et al., 2015), or what
//! frames tell by themselves (joint CTC and attention, Watanabe et al., 2017).
//!
//! ```text
//! s(y) = w₀ log p₀(y) + Σ_m w_m log p_m(y)
//! ```
//!
//! Scores are compared as they stand, across hypotheses: they are not made to sum to one. None is above 0, so that what
//! [`crate::Stop::Exact`] rests on holds.

use crate::{Logits, Step};

/// A model with others beside it; row i of all of them is the same sentence.
pub struct Fusion<S, O> {
    model: S,
    weight: f64,
    others: Vec<(O, f64)>,
}

/// What all of them carry from step to step.
pub struct FusionState<T, U> {
    state: T,
    others: Vec<U>,
    /// The token that starts each of the others, until it has been read.
    firsts: Vec<u32>,
}

/// What no token scores below, so that a hypothesis that one of the models rules out is still better than none.
const LEAST: f32 = -100.0;

impl<S: Step, O: Step> Fusion<S, O> {
    /// A model by itself.
    pub fn alone(model: S) -> Self {
        Self { model, weight: 1.0, others: Vec::new() }
    }

    /// A model whose log-probabilities count so much, beside others of the same vocabulary. Weights are not below 0.
    pub fn new(model: S, weight: f64, others: Vec<(O, f64)>) -> Self {
        Self { model, weight, others }
    }

    /// The model without the others.
    pub fn model(&self) -> &S {
        &self.model
    }

    fn fused(&self, own: &Logits, others: &[Logits]) -> Logits {
        let weights = std::iter::once(self.weight).chain(self.others.iter().map(|(_, weight)| *weight));
        let parts: Vec<(&Logits, f64)> = std::iter::once(own).chain(others).zip(weights).collect();
        let mut values: Vec<f32> = Vec::new();
        let mut rows: Vec<_> = parts.iter().map(|(part, _)| part.rows()).collect();
        let mut vocabulary = 1;
        loop {
            let row: Vec<&[f32]> = rows.iter_mut().filter_map(Iterator::next).collect();
            let Some(first) = row.first().filter(|_| row.len() == parts.len()) else {
                return Logits::scores(values, vocabulary);
            };
            vocabulary = first.len();
            let mut sums = vec![0.0f64; vocabulary];
            for (scores, (part, weight)) in row.iter().zip(&parts) {
                let log_sum = part.log_sum(scores);
                for (token, sum) in sums.iter_mut().enumerate() {
                    let said = scores.get(token).map_or(LEAST, |score| (score - log_sum).clamp(LEAST, 0.0));
                    *sum += weight * f64::from(said);
                }
            }
            values.extend(sums.into_iter().map(|sum| sum as f32));
        }
    }
}

impl<S: Step, O: Step> Step for Fusion<S, O> {
    type State = FusionState<S::State, O::State>;

    fn start(&self) -> (Self::State, u32) {
        let (state, first) = self.model.start();
        let (others, firsts) = self.others.iter().map(|(other, _)| other.start()).unzip();
        (FusionState { state, others, firsts }, first)
    }

    fn step(&self, tokens: &[u32], before: Self::State) -> (Logits, Self::State) {
        let (own, state) = self.model.step(tokens, before.state);
        if self.others.is_empty() {
            return (own, FusionState { state, others: Vec::new(), firsts: Vec::new() });
        }
        let each = self.others.iter().zip(before.others).enumerate();
        let (said, others): (Vec<Logits>, Vec<O::State>) = each
            .map(|(number, ((other, _), state))| match before.firsts.get(number) {
                Some(&first) => other.step(&vec![first; tokens.len()], state),
                None => other.step(tokens, state),
            })
            .unzip();
        (self.fused(&own, &said), FusionState { state, others, firsts: Vec::new() })
    }

    fn select(&self, before: Self::State, rows: &[usize]) -> Self::State {
        let others = self.others.iter().zip(before.others);
        FusionState {
            state: self.model.select(before.state, rows),
            others: others.map(|((other, _), state)| other.select(state, rows)).collect(),
            firsts: before.firsts,
        }
    }

    fn take_back(&self, logits: Logits, state: &mut Self::State) {
        if self.others.is_empty() {
            self.model.take_back(logits, &mut state.state);
        }
    }

    fn end(&self) -> u32 {
        self.model.end()
    }

    fn forbidden(&self) -> &[u32] {
        self.model.forbidden()
    }

    fn vocabulary(&self) -> Option<usize> {
        self.model.vocabulary()
    }

    fn attention(&self, state: &Self::State) -> Option<Vec<Vec<f32>>> {
        self.model.attention(&state.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_sum::log_sum_exp;
    use crate::{Beam, Wanted, beam_search, greedy, score};

    /// Behind every token the same scores; token 0 ends, 9 starts. A row is what has been read so far.
    struct Fixed {
        scores: Vec<f32>,
        first: u32,
    }

    impl Step for Fixed {
        type State = Vec<Vec<u32>>;
        fn start(&self) -> (Self::State, u32) {
            (vec![Vec::new(); 2], self.first)
        }
        fn step(&self, tokens: &[u32], mut state: Self::State) -> (Logits, Self::State) {
            let mut values = Vec::new();
            for (&token, read) in tokens.iter().zip(&mut state) {
                assert_eq!(read.is_empty(), token == self.first, "each reads its own first token first");
                read.push(token);
                values.extend(&self.scores);
            }
            (Logits::new(values, self.scores.len()), state)
        }
        fn select(&self, state: Self::State, rows: &[usize]) -> Self::State {
            rows.iter().map(|&row| state[row].clone()).collect()
        }
        fn end(&self) -> u32 {
            0
        }
        fn forbidden(&self) -> &[u32] {
            &[]
        }
    }

    fn model(scores: [f32; 3]) -> Fixed {
        Fixed { scores: scores.to_vec(), first: 9 }
    }

    #[test]
    fn a_model_alone_writes_as_without_company() {
        let alone = Fusion::<Fixed, Fixed>::alone(model([0.5, 1.0, 0.0]));
        assert_eq!(greedy(&alone, &[3, 3]), greedy(&model([0.5, 1.0, 0.0]), &[3, 3]));
    }

    #[test]
    fn scores_are_weighted_sums_of_log_probabilities() {
        let other = Fixed { scores: vec![0.0, -1.0, 3.0], first: 7 };
        let log = |scores: [f32; 3], token: usize| scores[token] - log_sum_exp(&scores);
        let expected = |token| 0.7 * log([0.5, 1.0, 0.0], token) + 0.4 * log([0.0, -1.0, 3.0], token);
        let fused = Fusion::new(model([0.5, 1.0, 0.0]), 0.7, vec![(other, 0.4)]);
        let found = score(&fused, &[vec![1, 2], vec![2]]);
        for (found, wanted) in found[0].log_probabilities.iter().zip([1, 2, 0].map(expected)) {
            assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        }
        let wanted = [1, 2].map(|max_length| Wanted { max_length, ..Wanted::default() });
        let found = beam_search(&fused, &wanted, &Beam { size: 3, n_best: 3, ..Beam::default() });
        let best = &found[0].best[0];
        assert!((best.score - f64::from(expected(0))).abs() < 1e-6, "{}", best.score);
        assert!(found[1].best.iter().all(|ranked| ranked.score <= 0.0));
    }

    #[test]
    fn what_one_rules_out_is_only_improbable() {
        let never = Fixed { scores: vec![0.0, f32::NEG_INFINITY, 0.0], first: 9 };
        let fused = Fusion::new(model([0.0; 3]), 1.0, vec![(never, 0.5)]);
        let found = score(&fused, &[vec![1], vec![2]]);
        assert!((found[0].log_probabilities[0] - (-(3f32.ln()) - 50.0)).abs() < 1e-4);
        assert!(found[1].log_probabilities[0] > -3.0);
    }
}
