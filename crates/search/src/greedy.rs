//! Greedy search: at every step the most probable token, ŷ_t = argmax p(y | y_<t, x).

use crate::{Hypothesis, Step};

/// Writes one sequence per row, the i-th at most `limits[i]` tokens long. Rows that have ended
/// leave the batch.
pub fn greedy<S: Step>(model: &S, limits: &[usize]) -> Vec<Hypothesis> {
    let mut found = vec![Hypothesis::default(); limits.len()];
    let (mut state, first) = model.start();
    let mut tokens = vec![first; limits.len()];
    let mut rows: Vec<usize> = (0..limits.len()).collect(); // rows[i]: the sentence of state row i
    loop {
        let open: Vec<usize> = (0..rows.len())
            .filter(|&i| !found[rows[i]].finished && found[rows[i]].tokens.len() < limits[rows[i]])
            .collect();
        if open.is_empty() {
            return found;
        }
        if open.len() < rows.len() {
            state = model.select(state, &open);
            rows = open.iter().map(|&i| rows[i]).collect();
            tokens = open.iter().map(|&i| tokens[i]).collect();
        }
        let (logits, next) = model.step(&tokens, state);
        state = next;
        for ((token, score), (last, &row)) in logits.best(model.forbidden()).zip(tokens.iter_mut().zip(&rows))
        {
            let hypothesis = &mut found[row];
            hypothesis.log_probabilities.push(score);
            hypothesis.finished = token == model.end();
            if !hypothesis.finished {
                hypothesis.tokens.push(token);
            }
            *last = token;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Logits;

    /// Row r counts down from r + 1 to the end token 0; token 9 starts.
    struct Countdown {
        rows: usize,
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
