//! Phrases that must appear, and how many tokens are still needed until all have.
//!
//! A phrase appears where its tokens stand side by side; two may share tokens ("a b" and "b c" are both in
//! "a b c"), and one that is part of another needs nothing of its own. How far a hypothesis has come with a
//! phrase is the longest beginning of it that the hypothesis ends with (Knuth, Morris, Pratt).
//!
//! The fewest tokens still needed: some order of the missing phrases, each overlapping the one before as
//! far as it can. Over all orders that is the shortest common superstring, computed once per sentence by
//! dynamic programming over sets of phrases; beyond [`MOST_ORDERED`] phrases overlaps are not counted on.
//!
//! A phrase may have other tokens where it opens the sequence: "cat" with no space before it. Such an opening
//! is not counted on to overlap with anything.

use super::Required;

/// The most phrases whose orders are all looked at: 2^10 sets.
const MOST_ORDERED: usize = 10;

/// All phrases of one sentence.
pub(super) struct Phrases {
    phrases: Vec<Phrase>,
    /// `rest[set * phrases + last]`: the tokens that the phrases of `set` need behind the phrase `last`.
    rest: Option<Vec<usize>>,
}

/// How far a hypothesis has come.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Progress {
    /// For each phrase the tokens in place, all of them once it has appeared.
    places: Vec<usize>,
    /// For each phrase the tokens of its opening that the hypothesis begins with.
    opened: Vec<usize>,
    /// How many tokens the hypothesis has.
    length: usize,
}

struct Phrase {
    tokens: Vec<u32>,
    /// The tokens that stand for it at the very beginning, where they are others; else empty.
    opening: Vec<u32>,
    /// `shorter[i]`: the longest beginning of the phrase that its first i + 1 tokens end with, not all of them.
    shorter: Vec<usize>,
}

impl Phrases {
    pub(super) fn new(given: &[Required]) -> Self {
        let mut longest_first: Vec<&Required> = given.iter().filter(|one| !one.tokens.is_empty()).collect();
        longest_first.sort_by_key(|one| std::cmp::Reverse(one.tokens.len()));
        let mut phrases: Vec<Phrase> = Vec::new();
        for required in longest_first {
            let tokens = &required.tokens;
            let part_of = |other: &Phrase| other.tokens.windows(tokens.len()).any(|part| part == tokens);
            if !phrases.iter().any(part_of) {
                phrases.push(Phrase::new(required));
            }
        }
        let rest = (phrases.len() <= MOST_ORDERED).then(|| rests(&phrases));
        Self { phrases, rest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// How far an empty hypothesis has come.
    pub(super) fn start(&self) -> Progress {
        let none = vec![0; self.phrases.len()];
        Progress { places: none.clone(), opened: none, length: 0 }
    }

    /// How far a hypothesis has come with one more token.
    pub(super) fn behind(&self, progress: &Progress, token: u32) -> Progress {
        let mut next = progress.clone();
        next.length += 1;
        let places = next.places.iter_mut().zip(&mut next.opened);
        for (phrase, (place, opened)) in self.phrases.iter().zip(places) {
            *place = phrase.behind(*place, token);
            if *opened == progress.length && phrase.opening.get(*opened) == Some(&token) {
                *opened += 1;
                if *opened == phrase.opening.len() {
                    *place = phrase.len();
                }
            }
        }
        next
    }

    /// The fewest tokens with which all phrases have appeared.
    pub(super) fn needed(&self, progress: &Progress) -> usize {
        let missing = || (0..self.phrases.len()).filter(|&i| progress.places[i] < self.phrases[i].len());
        let lengths: usize = missing().map(|i| self.phrases[i].len()).sum();
        let set: usize = if self.rest.is_some() { missing().map(|i| 1 << i).sum() } else { 0 };
        let apart = |i: usize| lengths - self.phrases[i].len();
        let others = |i: usize| match &self.rest {
            Some(rest) => rest[(set & !(1 << i)) * self.phrases.len() + i],
            None => apart(i),
        };
        let inside = |i: usize| self.phrases[i].len() - progress.places[i] + others(i);
        let opening = |i: usize| self.open_rest(progress, i).map(|rest| rest.len() + apart(i));
        missing().map(|i| opening(i).unwrap_or(usize::MAX).min(inside(i))).min().unwrap_or(0)
    }

    /// The tokens that would bring a missing phrase forward.
    pub(super) fn next<'a>(&'a self, progress: &'a Progress) -> impl Iterator<Item = u32> + 'a {
        let missing = (0..self.phrases.len()).filter(|&i| progress.places[i] < self.phrases[i].len());
        missing.flat_map(|i| {
            let opening = self.open_rest(progress, i).and_then(|rest| rest.first());
            let first = progress.length == 0 && opening.is_some(); // where it opens the sequence, it opens it so
            let inside = self.phrases[i].tokens.get(progress.places[i]).filter(|_| !first);
            inside.into_iter().chain(opening).copied()
        })
    }

    /// What is left of the opening of a phrase, if the hypothesis can still have begun with it.
    fn open_rest(&self, progress: &Progress, i: usize) -> Option<&[u32]> {
        let opening = &self.phrases[i].opening;
        let alive = !opening.is_empty() && progress.opened[i] == progress.length;
        opening.get(progress.opened[i]..).filter(|_| alive)
    }
}

impl Phrase {
    fn new(required: &Required) -> Self {
        let Required { tokens, opening } = required.clone();
        let mut phrase = Self { tokens, opening, shorter: vec![0] };
        let mut place = 0;
        for &token in required.tokens.iter().skip(1) {
            place = phrase.longer(place, token);
            phrase.shorter.push(place);
        }
        phrase
    }

    fn len(&self) -> usize {
        self.tokens.len()
    }

    /// How many tokens are in place behind `token`, if `place` were; once all are, they stay.
    fn behind(&self, place: usize, token: u32) -> usize {
        if place == self.len() { place } else { self.longer(place, token) }
    }

    /// The longest beginning that `place` tokens of the phrase and `token` end with.
    fn longer(&self, mut place: usize, token: u32) -> usize {
        while place > 0 && self.tokens[place] != token {
            place = self.shorter[place - 1];
        }
        if self.tokens[place] == token { place + 1 } else { 0 }
    }

    /// How many tokens of this phrase are in place where another has just been written; neither is part of
    /// the other.
    fn overlap(&self, other: &Self) -> usize {
        other.tokens.iter().fold(0, |place, &token| self.longer(place, token))
    }
}

/// `Phrases::rest`, from the smaller sets to the larger ones.
fn rests(phrases: &[Phrase]) -> Vec<usize> {
    let count = phrases.len();
    let cost = |last: usize, next: usize| phrases[next].len() - phrases[next].overlap(&phrases[last]);
    let costs: Vec<usize> = (0..count * count).map(|i| cost(i / count, i % count)).collect();
    let mut rest = vec![0; count << count];
    for set in 1..1usize << count {
        for last in 0..count {
            let members = (0..count).filter(|next| set & (1 << next) != 0);
            let behind =
                members.map(|next| costs[last * count + next] + rest[(set & !(1 << next)) * count + next]);
            rest[set * count + last] = behind.min().unwrap_or(0);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn progress(phrases: &Phrases, tokens: &[u32]) -> Progress {
        tokens.iter().fold(phrases.start(), |progress, &token| phrases.behind(&progress, token))
    }

    fn required(phrases: &[Vec<u32>]) -> Vec<Required> {
        phrases.iter().cloned().map(Required::from).collect()
    }

    fn contains(tokens: &[u32], phrase: &[u32]) -> bool {
        phrase.is_empty() || tokens.windows(phrase.len()).any(|part| part == phrase)
    }

    /// Whether `more` tokens of 0..3 behind these can complete all phrases, by trying all.
    fn completes(tokens: &mut Vec<u32>, given: &[Vec<u32>], more: usize) -> bool {
        if given.iter().all(|phrase| contains(tokens, phrase)) {
            return true;
        }
        more > 0
            && (0..3).any(|token| {
                tokens.push(token);
                let found = completes(tokens, given, more - 1);
                tokens.pop();
                found
            })
    }

    proptest! {
        #[test]
        fn needed_is_the_fewest_of_all_continuations(
            given in prop::collection::vec(prop::collection::vec(0u32..3, 0..4), 0..4),
            mut tokens in prop::collection::vec(0u32..3, 0..6),
        ) {
            let phrases = Phrases::new(&required(&given));
            let needed = phrases.needed(&progress(&phrases, &tokens));
            prop_assume!(needed < 8);
            prop_assert!(completes(&mut tokens, &given, needed));
            prop_assert!(needed == 0 || !completes(&mut tokens, &given, needed - 1));
        }
    }

    #[test]
    fn a_phrase_that_breaks_off_begins_again_where_it_can() {
        let phrases = Phrases::new(&required(&[vec![1, 1, 2]]));
        assert_eq!(progress(&phrases, &[1, 1, 1]).places, [2]);
        assert_eq!(progress(&phrases, &[1, 1, 3]).places, [0]);
        assert_eq!(progress(&phrases, &[1, 1, 1, 2, 3, 3]).places, [3]);
    }

    #[test]
    fn many_phrases_are_taken_one_by_one() {
        let given: Vec<Vec<u32>> = (0..20).map(|i| vec![i, i + 1]).collect();
        let phrases = Phrases::new(&required(&given));
        assert_eq!(phrases.needed(&phrases.start()), 40);
        assert_eq!(phrases.needed(&progress(&phrases, &[0, 1])), 37);
        let few = Phrases::new(&required(&given[..4]));
        assert_eq!(few.needed(&few.start()), 5);
    }

    #[test]
    fn other_tokens_may_open_the_sequence() {
        let phrases = Phrases::new(&[
            Required { tokens: vec![5, 6], opening: vec![7, 6] },
            Required { tokens: vec![8], opening: vec![9, 9] },
        ]);
        let needed = |tokens: &[u32]| phrases.needed(&progress(&phrases, tokens));
        assert_eq!(needed(&[]), 3);
        assert_eq!(needed(&[7]), 2, "one of the opening, and the other phrase");
        assert_eq!(needed(&[7, 6]), 1);
        assert_eq!(needed(&[7, 6, 8]), 0);
        assert_eq!(needed(&[1, 7, 6]), 3, "an opening opens");
        assert_eq!(needed(&[7, 1]), 3);
        assert_eq!(needed(&[9]), 3, "one of the opening and two, or one and two");
        assert_eq!(needed(&[9, 9]), 2);
        assert_eq!(needed(&[8, 5, 6]), 0);
        let next = |tokens: &[u32]| phrases.next(&progress(&phrases, tokens)).collect::<Vec<_>>();
        assert_eq!(next(&[]), [7, 9]);
        assert_eq!(next(&[7]), [5, 6, 8]);
        assert_eq!(next(&[7, 6]), [8]);
    }
}
