//! The one trait that search sees.

use crate::log_sum::log_sum_exp;

/// A model that writes sequences token by token, for several rows (sentences or beams) at once.
pub trait Step {
    /// All that is carried from step to step.
    type State;

    /// The state before the first token, one row per sentence, and the token that starts them all.
    fn start(&self) -> (Self::State, u32);

    /// Reads one token per row and gives a score for every token that may follow.
    fn step(&self, tokens: &[u32], state: Self::State) -> (Logits, Self::State);

    /// The state with only these rows, in this order; a row may be taken more than once.
    fn select(&self, state: Self::State, rows: &[usize]) -> Self::State;

    /// The token that ends a sequence.
    fn end(&self) -> u32;

    /// Tokens that are never written, such as padding.
    fn forbidden(&self) -> &[u32];

    /// Takes scores back that nobody reads any more, for the step behind `state` to write its own there.
    fn take_back(&self, _logits: Logits, _state: &mut Self::State) {}

    /// How many tokens there are, if the model says so; models that write together must.
    fn vocabulary(&self) -> Option<usize> {
        None
    }

    /// Where each row looked at the step that left this state: a weight for every position that its source
    /// has, without padding. None for a model that does not look.
    fn attention(&self, _state: &Self::State) -> Option<Vec<Vec<f32>>> {
        None
    }
}

/// Unnormalised scores, one row of the vocabulary's size per row of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Logits {
    values: Vec<f32>,
    vocabulary: usize,
    /// Whether they are what hypotheses are compared by as they stand, and not made to sum to one.
    fixed: bool,
}

impl Logits {
    /// Scores of `values.len() / vocabulary` rows.
    pub fn new(values: Vec<f32>, vocabulary: usize) -> Self {
        debug_assert!(vocabulary > 0 && values.len().is_multiple_of(vocabulary));
        Self { values, vocabulary, fixed: false }
    }

    /// Scores that stand for log-probabilities, though those of a row may not sum to one; none is above 0.
    pub fn scores(values: Vec<f32>, vocabulary: usize) -> Self {
        Self { fixed: true, ..Self::new(values, vocabulary) }
    }

    /// What is taken off the scores of a row to make them log-probabilities.
    pub(crate) fn log_sum(&self, row: &[f32]) -> f32 {
        if self.fixed { 0.0 } else { log_sum_exp(row) }
    }

    /// log p of a token, from the scores of all.
    pub(crate) fn log_probability(&self, row: &[f32], token: u32) -> f32 {
        row.get(token as usize).map_or(f32::NEG_INFINITY, |score| score - self.log_sum(row))
    }

    /// [`Logits::log_sum`] of every row.
    pub(crate) fn log_sums(&self, to: &mut Vec<f32>) {
        to.clear();
        to.extend(self.rows().map(|row| self.log_sum(row)));
    }

    /// A row; nothing if there is none.
    pub(crate) fn row(&self, number: usize) -> &[f32] {
        self.values.get(number * self.vocabulary..(number + 1) * self.vocabulary).unwrap_or_default()
    }

    /// The scores of all rows, one behind the other.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.vocabulary)
    }

    /// The same with every row as `change` leaves it.
    pub(crate) fn changed(mut self, change: impl Fn(usize, &mut [f32])) -> Self {
        self.values
            .chunks_exact_mut(self.vocabulary)
            .enumerate()
            .for_each(|(row, scores)| change(row, scores));
        self
    }

    /// The best token of each row that is not in `forbidden`, and its log-probability. Of equals,
    /// the lowest id wins.
    pub fn best<'a>(&'a self, forbidden: &'a [u32]) -> impl Iterator<Item = (u32, f32)> + 'a {
        self.rows().map(move |row| {
            let (token, score) = best(row, forbidden).unwrap_or((0, f32::NEG_INFINITY));
            (token, score - self.log_sum(row))
        })
    }
}

/// The best token of a row that is not in `forbidden`, and its score. Of equals, the lowest id wins.
pub(crate) fn best(row: &[f32], forbidden: &[u32]) -> Option<(u32, f32)> {
    let mut best = None;
    for (token, &score) in row.iter().enumerate() {
        let token = token as u32;
        if best.is_none_or(|(_, found)| score > found) && !forbidden.contains(&token) {
            best = Some((token, score));
        }
    }
    best
}

/// A sequence that search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hypothesis {
    /// The tokens, without the one that ends the sequence.
    pub tokens: Vec<u32>,
    /// log p of each token, and of the end if it was written.
    pub log_probabilities: Vec<f32>,
    /// Whether the model ended the sequence itself; otherwise the length limit did.
    pub finished: bool,
}

impl Hypothesis {
    /// log p of the whole sequence.
    pub fn score(&self) -> f32 {
        self.log_probabilities.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_token_is_never_a_forbidden_one() {
        let logits = Logits::new(vec![9.0, 1.0, 1.0, 0.5], 4);
        let (token, score) = logits.best(&[0]).next().expect("one row");
        assert_eq!(token, 1);
        let sum: f64 = [9.0f64, 1.0, 1.0, 0.5].iter().map(|x| x.exp()).sum();
        assert!((f64::from(score) - (1.0 - sum.ln())).abs() < 1e-5);
    }
}
