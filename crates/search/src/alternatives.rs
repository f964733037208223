//! What else could stand at a place of a sequence, and how it would have gone on from there.

use crate::log_sum::log_sum_exp;
use crate::repeated::Repeated;
use crate::step::log_probability;
use crate::{Beam, Hypothesis, Step, Wanted, beam_search};

/// A token at the chosen place, and the sequence with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The token; the end is one too.
    pub token: u32,
    /// p of the token at that place.
    pub probability: f32,
    /// The whole sequence: what stands before the place, the token, and the best continuation.
    pub hypothesis: Hypothesis,
}

/// The `count` most probable tokens that can stand in place of `tokens[position]` (of the end, if the
/// position is behind the last token), each continued to the end by a beam; the default beam is greedy.
/// The sequence is that of row `row` of the model, and no continuation makes it longer than `max_length`.
pub fn alternatives<S: Step>(
    model: &S,
    row: usize,
    tokens: &[u32],
    position: usize,
    count: usize,
    max_length: usize,
    beam: &Beam,
) -> Vec<Alternative> {
    let before = &tokens[..position.min(tokens.len())];
    let (log_probabilities, found) = most_probable(&Repeated { model, rows: vec![row] }, before, count);
    let others: Vec<u32> =
        found.iter().map(|&(token, _)| token).filter(|&token| token != model.end()).collect();
    let wanted = |&token: &u32| Wanted {
        prefix: [before, &[token]].concat(),
        max_length: max_length.saturating_sub(before.len() + 1),
        ..Wanted::default()
    };
    let wanted: Vec<Wanted> = others.iter().map(wanted).collect();
    let repeated = Repeated { model, rows: vec![row; wanted.len()] };
    let searched = beam_search(&repeated, &wanted, beam).into_iter().map(|found| found.best);
    let mut continued = wanted.into_iter().zip(searched).map(|(Wanted { prefix, .. }, best)| {
        let written = best.into_iter().next().map(|ranked| ranked.written).unwrap_or_default();
        written.whole(&prefix)
    });
    let ended = |score: f32| Hypothesis {
        tokens: before.to_vec(),
        log_probabilities: [&log_probabilities[..], &[score]].concat(),
        finished: true,
    };
    let alternative = |(token, score): (u32, f32)| {
        let hypothesis =
            if token == model.end() { ended(score) } else { continued.next().unwrap_or_default() };
        Alternative { token, probability: score.exp(), hypothesis }
    };
    found.into_iter().map(alternative).collect()
}

/// log p of given tokens in the only row of a model, and behind them the `count` most probable tokens with
/// log p of each.
fn most_probable<S: Step>(model: &S, given: &[u32], count: usize) -> (Vec<f32>, Vec<(u32, f32)>) {
    let (mut state, mut last) = model.start();
    let mut log_probabilities = Vec::with_capacity(given.len());
    for &token in given {
        let (logits, next) = model.step(&[last], state);
        log_probabilities.extend(logits.rows().map(|scores| log_probability(scores, token)));
        (state, last) = (next, token);
    }
    let (logits, _) = model.step(&[last], state);
    let scores = logits.rows().next().unwrap_or_default();
    let sum = log_sum_exp(scores);
    let allowed = |(token, score): &(u32, f32)| score.is_finite() && !model.forbidden().contains(token);
    let mut found: Vec<(u32, f32)> = (0..).zip(scores.iter().copied()).filter(allowed).collect();
    let best_first = |(a, left): &(u32, f32), (b, right): &(u32, f32)| right.total_cmp(left).then(a.cmp(b));
    if (1..found.len()).contains(&count) {
        found.select_nth_unstable_by(count - 1, best_first);
    }
    found.truncate(count);
    found.sort_by(best_first);
    (log_probabilities, found.into_iter().map(|(token, score)| (token, score - sum)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Countdown;
    use crate::score;

    #[test]
    fn each_token_goes_on_in_its_own_way() {
        let model = Countdown { rows: 3 };
        let of = |position, count| alternatives(&model, 2, &[3, 2, 1], position, count, 10, &Beam::default());
        let found = of(1, 4);
        assert_eq!(found.iter().map(|other| other.token).collect::<Vec<_>>(), [2, 0, 1, 3]);
        let tokens: Vec<_> = found.iter().map(|other| other.hypothesis.tokens.clone()).collect();
        assert_eq!(tokens, [vec![3, 2, 1], vec![3], vec![3, 1], vec![3, 3, 2, 1]]);
        for other in &found {
            let targets = [vec![], vec![], other.hypothesis.tokens.clone()];
            assert_eq!(other.hypothesis, score(&model, &targets)[2]);
            let place = other.hypothesis.log_probabilities[1];
            assert!((other.probability - place.exp()).abs() < 1e-7);
        }
        assert_eq!(of(3, 1)[0].token, 0);
        assert_eq!(of(99, 1), of(3, 1));
        assert_eq!(of(0, 99).len(), 9, "all but the forbidden one");
        assert_eq!(of(0, 0), []);
    }

    #[test]
    fn the_limit_is_that_of_the_whole_sequence() {
        let found = alternatives(&Countdown { rows: 1 }, 0, &[1], 0, 9, 3, &Beam::default());
        let longest = found.iter().map(|other| other.hypothesis.tokens.len()).max();
        assert_eq!(longest, Some(3));
        assert!(found.iter().all(|other| other.hypothesis.finished == (other.hypothesis.tokens.len() < 3)));
    }
}
