//! What may not be written behind a hypothesis.

use super::trace::Fate;
use super::{Beam, Wanted};

/// The rules of one sentence that look at tokens alone.
pub(super) struct Rules<'a> {
    pub(super) end: u32,
    /// Tokens that the model never writes.
    forbidden: &'a [u32],
    /// Tokens that are not wanted, sorted.
    tokens: Vec<u32>,
    /// Sequences of two and more tokens that are not wanted.
    sequences: Vec<&'a [u32]>,
    no_repeat: Option<usize>,
}

/// What the rules say of a single hypothesis.
#[derive(Default)]
pub(super) struct Barred {
    /// Tokens that would complete a sequence that is not wanted.
    completing: Vec<u32>,
    /// Tokens that would repeat an n-gram.
    pub(super) repeating: Vec<u32>,
    /// Why it may not end here.
    pub(super) end: Option<Fate>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(wanted: &'a Wanted, beam: &Beam, end: u32, forbidden: &'a [u32]) -> Self {
        let mut tokens: Vec<u32> =
            wanted.never.iter().filter(|never| never.len() == 1).flatten().copied().collect();
        tokens.sort_unstable();
        let sequences = wanted.never.iter().filter(|never| never.len() > 1).map(Vec::as_slice).collect();
        let no_repeat = Some(beam.no_repeat_ngram).filter(|&n| n > 0);
        Self { end, forbidden, tokens, sequences, no_repeat }
    }

    /// Whether the rules look at what a hypothesis has written.
    pub(super) fn need_history(&self) -> bool {
        self.no_repeat.is_some() || !self.sequences.is_empty()
    }

    /// What is barred behind these tokens.
    pub(super) fn barred(&self, tokens: &[u32]) -> Barred {
        let begun = self.sequences.iter().filter_map(|never| never.split_last());
        let completing = begun.filter(|(_, begun)| tokens.ends_with(begun)).map(|(&last, _)| last).collect();
        let repeating = self.no_repeat.map_or_else(Vec::new, |n| repeating(tokens, n));
        Barred { completing, repeating, end: None }
    }

    /// Whether a token is never written behind such a hypothesis.
    pub(super) fn forbid(&self, token: u32, barred: &Barred) -> bool {
        self.forbidden.contains(&token)
            || self.tokens.binary_search(&token).is_ok()
            || barred.completing.contains(&token)
    }
}

/// The tokens that would make an n-gram of these tokens occur a second time.
fn repeating(tokens: &[u32], n: usize) -> Vec<u32> {
    let Some(behind) = (tokens.len() + 1).checked_sub(n) else { return Vec::new() };
    let begun = &tokens[behind..];
    tokens.windows(n).filter(|gram| gram.starts_with(begun)).map(|gram| gram[n - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_n_gram_is_not_written_twice() {
        assert_eq!(repeating(&[1, 2, 3, 1, 2], 3), [3]);
        assert_eq!(repeating(&[1, 2, 1, 3, 1], 2), [2, 3]);
        assert_eq!(repeating(&[4, 5], 1), [4, 5]);
        assert_eq!(repeating(&[4, 4], 3), []);
        assert_eq!(repeating(&[4], 3), []);
        assert_eq!(repeating(&[], 1), []);
    }

    #[test]
    fn sequences_are_barred_at_their_last_token() {
        let wanted = Wanted { never: vec![vec![1, 2, 3], vec![7], vec![], vec![2, 9]], ..Wanted::default() };
        let rules = Rules::new(&wanted, &Beam::default(), 0, &[8]);
        let forbidden = |tokens: &[u32]| -> Vec<u32> {
            let barred = rules.barred(tokens);
            (0..10).filter(|&token| rules.forbid(token, &barred)).collect()
        };
        assert_eq!(forbidden(&[]), [7, 8]);
        assert_eq!(forbidden(&[1, 2]), [3, 7, 8, 9]);
        assert_eq!(forbidden(&[1, 2, 1]), [7, 8]);
    }
}
