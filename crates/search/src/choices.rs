//! What could have stood at a place, and how undecided a model was about it.

use crate::log_sum::log_sum_exp;

/// What could have stood at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// −Σ p log p over all tokens, in nats.
    pub entropy: f32,
    /// The most probable tokens with log p, the best first.
    pub best: Vec<(u32, f32)>,
}

impl Choices {
    /// The choices by unnormalised scores of all tokens, with the `count` best of them.
    pub fn of(scores: &[f32], count: usize) -> Self {
        let log_sum = log_sum_exp(scores);
        let logs = (0u32..).zip(scores.iter().map(|&score| score - log_sum));
        let mut logs: Vec<(u32, f32)> = logs.filter(|(_, log)| log.is_finite()).collect();
        // Of equals the lowest id wins, as in greedy search.
        let better =
            |left: &(u32, f32), right: &(u32, f32)| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0));
        if count < logs.len() {
            logs.select_nth_unstable_by(count, better);
            logs.truncate(count);
        }
        logs.sort_unstable_by(better);
        Self { entropy: entropy(scores), best: logs }
    }
}

/// How undecided a choice by these scores is: −Σ p log p in nats, with p ∝ exp(score). Tokens without any probability add
/// nothing.
pub(crate) fn entropy(scores: &[f32]) -> f32 {
    let log_sum = f64::from(log_sum_exp(scores));
    if !log_sum.is_finite() {
        return 0.0;
    }
    let logs = scores.iter().map(|&score| f64::from(score) - log_sum).filter(|log| log.is_finite());
    logs.map(|log| -log.exp() * log).sum::<f64>().max(0.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_nats() {
        assert_eq!(entropy(&[7.0]), 0.0, "one token leaves no doubt");
        assert!((entropy(&[2.0; 8]) - 8f32.ln()).abs() < 1e-6, "eight that are alike leave log 8");
        let scores = [0.5f32, 0.25, 0.125, 0.125].map(f32::ln);
        assert!((entropy(&scores) - 1.75 * 2f32.ln()).abs() < 1e-6);
        assert!((entropy(&[0.0, f32::NEG_INFINITY, 0.0]) - 2f32.ln()).abs() < 1e-6);
        assert_eq!([entropy(&[]), entropy(&[f32::NEG_INFINITY; 2]), entropy(&[f32::NAN])], [0.0; 3]);
    }

    #[test]
    fn the_best_come_first_and_have_their_logs() {
        let scores = [0.125f32, 0.5, 0.25, 0.125].map(|p| p.ln() + 3.0);
        let ids = |count| Choices::of(&scores, count).best.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        assert_eq!([ids(0), ids(1), ids(3), ids(9)], [vec![], vec![1], vec![1, 2, 0], vec![1, 2, 0, 3]]);
        let found = Choices::of(&scores, 2);
        for ((_, log), p) in found.best.iter().zip([0.5f32, 0.25]) {
            assert!((log - p.ln()).abs() < 1e-6);
        }
        let odd = Choices::of(&[f32::NEG_INFINITY, 1.0], 2);
        assert_eq!((odd.best, odd.entropy), (vec![(1, 0.0)], 0.0));
        assert_eq!(Choices::of(&[], 3), Choices::default());
    }
}
