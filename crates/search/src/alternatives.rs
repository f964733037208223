//! What else could stand at a place of a sequence, and how it would have gone on from there.

use crate::repeated::Repeated;
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

/// A place of a sequence, and what is asked about it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The sequence, without its end.
    pub tokens: &'a [u32],
    /// The token in whose place others are looked for; the end, if it is behind the last token.
    pub position: usize,
    /// How many others, the most probable ones.
    pub count: usize,
    /// The fewest tokens of the whole before its end.
    pub min_length: usize,
    /// The most tokens of the whole, the end among them.
    pub max_length: usize,
}

/// The most probable tokens that can stand at a place of the sequence in row `row` of the model, each continued to
/// the end by a beam; the default beam is greedy.
pub fn alternatives<S: Step>(model: &S, row: usize, place: &Place<'_>, beam: &Beam) -> Vec<Alternative> {
    let &Place { tokens, position, count, min_length, max_length } = place;
    let before = &tokens[..position.min(tokens.len())];
    let may_end = before.len() >= min_length;
    let (log_probabilities, found) =
        most_probable(&Repeated { model, rows: vec![row] }, before, count, may_end);
    let others: Vec<u32> =
        found.iter().map(|&(token, _)| token).filter(|&token| token != model.end()).collect();
    let wanted = |&token: &u32| Wanted {
        prefix: [before, &[token]].concat(),
        min_length: min_length.saturating_sub(before.len() + 1),
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
/// log p of each; the end among them if the sequence may end here.
fn most_probable<S: Step>(
    model: &S,
    given: &[u32],
    count: usize,
    may_end: bool,
) -> (Vec<f32>, Vec<(u32, f32)>) {
    let (mut state, mut last) = model.start();
    let mut log_probabilities = Vec::with_capacity(given.len());
    for &token in given {
        let (logits, next) = model.step(&[last], state);
        log_probabilities.extend(logits.rows().map(|scores| logits.log_probability(scores, token)));
        (state, last) = (next, token);
    }
    let (logits, _) = model.step(&[last], state);
    let scores = logits.rows().next().unwrap_or_default();
    let sum = logits.log_sum(scores);
    let allowed = |(token, score): &(u32, f32)| {
        score.is_finite() && !model.forbidden().contains(token) && (may_end || *token != model.end())
    };
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
        let of = |position, count| {
            let place = Place { tokens: &[3, 2, 1], position, count, min_length: 0, max_length: 10 };
            alternatives(&model, 2, &place, &Beam::default())
        };
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
        let place = Place { tokens: &[1], position: 0, count: 9, min_length: 0, max_length: 3 };
        let found = alternatives(&Countdown { rows: 1 }, 0, &place, &Beam::default());
        let longest = found.iter().map(|other| other.hypothesis.tokens.len()).max();
        assert_eq!(longest, Some(3));
        assert!(found.iter().all(|other| other.hypothesis.finished == (other.hypothesis.tokens.len() < 3)));
    }

    #[test]
    fn no_sequence_ends_too_early() {
        let place = Place { tokens: &[3, 2, 1], position: 1, count: 9, min_length: 3, max_length: 10 };
        let found = alternatives(&Countdown { rows: 3 }, 2, &place, &Beam::default());
        assert!(found.iter().all(|other| other.token != 0 && other.hypothesis.tokens.len() >= 3));
    }
}
