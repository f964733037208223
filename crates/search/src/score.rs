//! Forced decoding: how probable given sequences are.

use crate::{Continuation, Hypothesis, Step, continued};

/// log p of every token of `targets[i]` in row i, and of the end behind them. What search reports for the
/// same tokens is equal to the bit, as far as the model computes a row alike whatever stands beside it.
pub fn score<S: Step>(model: &S, targets: &[Vec<u32>]) -> Vec<Hypothesis> {
    let written = continued(model, targets, &vec![1; targets.len()], |_, _, _| model.end());
    let whole = |(tokens, found): (&Vec<u32>, Continuation)| Hypothesis {
        tokens: tokens.clone(),
        log_probabilities: [found.prompt, found.hypothesis.log_probabilities].concat(),
        finished: true,
    };
    targets.iter().zip(written).map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy;
    use crate::greedy::tests::Countdown;

    #[test]
    fn targets_of_different_length_are_scored_with_their_end() {
        let model = Countdown { rows: 3 };
        let found = score(&model, &[vec![], vec![2, 1], vec![3, 3]]);
        assert_eq!(found.iter().map(|found| found.log_probabilities.len()).collect::<Vec<_>>(), [1, 3, 3]);
        assert_eq!(found[1], greedy(&model, &[9; 3])[1]);
        // Behind 3 this model writes 2.
        assert!(found[2].log_probabilities[1] < found[2].log_probabilities[0]);
    }
}
