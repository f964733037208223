//! The loop of every search: tokens that are given first, then those that are chosen.

use crate::{Hypothesis, Step};

/// What was written behind a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Continuation {
    /// log p of each token of the prompt.
    pub prompt: Vec<f32>,
    /// What stands behind it.
    pub hypothesis: Hypothesis,
}

impl Continuation {
    /// The prompt, which had these tokens, and what stands behind it as one sequence.
    pub fn whole(self, prompt: &[u32]) -> Hypothesis {
        let Hypothesis { tokens, log_probabilities, finished } = self.hypothesis;
        Hypothesis {
            tokens: [prompt, &tokens].concat(),
            log_probabilities: [self.prompt, log_probabilities].concat(),
            finished,
        }
    }
}

/// Writes one sequence per row: the tokens of `prompts[i]`, and behind them at most `limits[i]` more,
/// each of which `choose` takes by the row, its place behind the prompt and the scores of all tokens.
/// Rows that have ended leave the batch.
pub fn continued<S: Step>(
    model: &S,
    prompts: &[Vec<u32>],
    limits: &[usize],
    mut choose: impl FnMut(usize, usize, &[f32]) -> u32,
) -> Vec<Continuation> {
    let mut found = vec![Continuation::default(); prompts.len()];
    let (mut state, first) = model.start();
    let mut tokens = vec![first; prompts.len()];
    let mut rows: Vec<usize> = (0..prompts.len()).collect(); // rows[i]: the sentence of state row i
    for place in 0.. {
        let is_open = |row: usize| {
            let Hypothesis { finished, tokens, .. } = &found[row].hypothesis;
            place < prompts[row].len() || (!finished && tokens.len() < limits[row])
        };
        if !rows.iter().any(|&row| is_open(row)) {
            break;
        }
        if !rows.iter().all(|&row| is_open(row)) {
            let open: Vec<usize> = (0..rows.len()).filter(|&i| is_open(rows[i])).collect();
            state = model.select(state, &open);
            rows = open.iter().map(|&i| rows[i]).collect();
            tokens = open.iter().map(|&i| tokens[i]).collect();
        }
        let (logits, mut next) = model.step(&tokens, state);
        for (scores, (last, &row)) in logits.rows().zip(tokens.iter_mut().zip(&rows)) {
            let Continuation { prompt, hypothesis } = &mut found[row];
            if let Some(&given) = prompts[row].get(place) {
                prompt.push(logits.log_probability(scores, given));
                *last = given;
                continue;
            }
            let token = choose(row, place - prompts[row].len(), scores);
            hypothesis.log_probabilities.push(logits.log_probability(scores, token));
            hypothesis.finished = token == model.end();
            if !hypothesis.finished {
                hypothesis.tokens.push(token);
            }
            *last = token;
        }
        model.take_back(logits, &mut next);
        state = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Countdown;

    #[test]
    fn prompts_are_read_first_and_scored() {
        let prompts = [vec![5, 4], vec![], vec![7], vec![3, 2]];
        let best = |_: usize, _: usize, scores: &[f32]| {
            let best = (0..8).max_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize]));
            best.expect("a token")
        };
        let found = continued(&Countdown { rows: 4 }, &prompts, &[10, 10, 2, 0], best);
        let tokens: Vec<_> = found.iter().map(|found| found.hypothesis.tokens.clone()).collect();
        assert_eq!(tokens, [vec![3, 2, 1], vec![2, 1], vec![6, 5], vec![]]);
        let finished: Vec<_> = found.iter().map(|found| found.hypothesis.finished).collect();
        assert_eq!(finished, [true, true, false, false]);
        assert_eq!(found.iter().map(|found| found.prompt.len()).collect::<Vec<_>>(), [2, 0, 1, 2]);
        // Row 0 would begin with 1, so 5 is a surprise there and 4 behind it is none.
        assert!(found[0].prompt[0] < found[0].prompt[1]);
        assert_eq!(found[3].hypothesis.log_probabilities, []);
    }

    #[test]
    fn the_choice_is_told_its_row_and_place() {
        let limits = [3, 1];
        let prompts = [vec![5, 4], vec![]];
        let seen = std::cell::RefCell::new(Vec::new());
        continued(&Countdown { rows: 2 }, &prompts, &limits, |row, place, _| {
            seen.borrow_mut().push((row, place));
            7
        });
        assert_eq!(seen.into_inner(), [(1, 0), (0, 0), (0, 1), (0, 2)]);
    }
}
