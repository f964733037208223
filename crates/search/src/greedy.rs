//! Greedy search: at every step the most probable token, ŷ_t = argmax p(y | y_<t, x).

use crate::step::best;
use crate::{Continuation, Hypothesis, Step, continued};

/// Writes one sequence per row, the i-th at most `limits[i]` tokens long.
pub fn greedy<S: Step>(model: &S, limits: &[usize]) -> Vec<Hypothesis> {
    let written = greedy_from(model, &vec![Vec::new(); limits.len()], limits);
    written.into_iter().map(|found| found.hypothesis).collect()
}

/// The same behind prompts, as [`continued`] does.
pub fn greedy_from<S: Step>(model: &S, prompts: &[Vec<u32>], limits: &[usize]) -> Vec<Continuation> {
    continued(model, prompts, limits, |_, _, scores| {
        best(scores, model.forbidden()).map_or(0, |(token, _)| token)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Logits;

    /// Row r counts down from r + 1 to the end token 0; token 9 starts.
    pub(crate) struct Countdown {
        pub(crate) rows: usize,
    }

    impl Step for Countdown {
        type State = Vec<u32>;
        fn start(&self) -> (Vec<u32>, u32) {
            ((0..self.rows as u32).map(|row| row + 1).collect(), 9)
        }
        fn step(&self, tokens: &[u32], state: Vec<u32>) -> (Logits, Vec<u32>) {
            assert_eq!(tokens.len(), state.len());
            let mut values = vec![0.0; 10 * state.len()];
            for (row, (&token, &first)) in tokens.iter().zip(&state).enumerate() {
                let next = if token == 9 { first } else { token - 1 };
                values[row * 10 + next as usize] = 5.0;
                values[row * 10 + 8] = 50.0; // forbidden
            }
            (Logits::new(values, 10), state)
        }
        fn select(&self, state: Vec<u32>, rows: &[usize]) -> Vec<u32> {
            rows.iter().map(|&row| state[row]).collect()
        }
        fn end(&self) -> u32 {
            0
        }
        fn forbidden(&self) -> &[u32] {
            &[8]
        }
    }

    #[test]
    fn rows_of_different_length_end_on_their_own() {
        let found = greedy(&Countdown { rows: 4 }, &[10, 10, 2, 0]);
        let tokens: Vec<_> = found.iter().map(|h| h.tokens.clone()).collect();
        assert_eq!(tokens, [vec![1], vec![2, 1], vec![3, 2], vec![]]);
        assert_eq!(found.iter().map(|h| h.finished).collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!(found[1].log_probabilities.len(), 3);
    }
}
