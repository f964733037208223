//! A search that someone follows as it goes, and may call off.
//!
//! Every search reads what it has written token by token, so that a model between the two sees all of it: this
//! one tells the tokens that the first hypothesis of each sentence has so far, which is the best one still open. A
//! sentence that is no longer wanted gets an end as its only token, whatever the model thinks; once that is true of all of
//! them, the model is not asked any more.

use crate::{Logits, Step};
use std::collections::BTreeMap;

/// Someone who follows a search.
pub trait Follower: Sync {
    /// A sentence has these tokens so far, the prefix among them; whether it is still wanted.
    fn follow(&self, sentence: usize, tokens: &[u32]) -> bool;
}

/// A model whose sequences are followed.
pub struct Followed<'a, S> {
    model: S,
    /// The sentence of each row at the start, as the follower knows it.
    sentences: Vec<usize>,
    follower: Option<&'a dyn Follower>,
}

/// The state of a followed model.
pub struct FollowedState<T> {
    inner: T,
    /// One for each row; none if nobody follows.
    rows: Vec<Row>,
    /// Whether the token that starts all sequences has been read.
    begun: bool,
}

/// What a row has read.
#[derive(Clone)]
struct Row {
    sentence: usize,
    tokens: Vec<u32>,
}

impl<'a, S> Followed<'a, S> {
    /// The model, whose row i is `sentences[i]`. Without a follower it is as it was.
    pub fn new(model: S, sentences: Vec<usize>, follower: Option<&'a dyn Follower>) -> Self {
        Self { model, sentences, follower }
    }

    /// The model without whoever follows.
    pub fn model(&self) -> &S {
        &self.model
    }
}

impl<S: Step> Followed<'_, S> {
    /// Tells every sentence once, by the first of its rows; which of the rows are still wanted.
    fn tell(follower: &dyn Follower, rows: &[Row]) -> Vec<bool> {
        let mut told = BTreeMap::new();
        let wanted = |row: &Row| {
            *told.entry(row.sentence).or_insert_with(|| follower.follow(row.sentence, &row.tokens))
        };
        rows.iter().map(wanted).collect()
    }

    /// The scores of rows that must end.
    fn ended(&self, rows: usize, vocabulary: usize) -> Logits {
        let mut values = vec![f32::NEG_INFINITY; rows * vocabulary];
        values.chunks_exact_mut(vocabulary).for_each(|row| self.end_row(row));
        Logits::new(values, vocabulary)
    }

    fn end_row(&self, scores: &mut [f32]) {
        scores.fill(f32::NEG_INFINITY);
        if let Some(end) = scores.get_mut(self.model.end() as usize) {
            *end = 0.0;
        }
    }
}

impl<S: Step> Step for Followed<'_, S> {
    type State = FollowedState<S::State>;

    fn start(&self) -> (Self::State, u32) {
        let (inner, first) = self.model.start();
        let row = |&sentence: &usize| Row { sentence, tokens: Vec::new() };
        let rows = match self.follower {
            Some(_) => self.sentences.iter().map(row).collect(),
            None => Vec::new(),
        };
        (FollowedState { inner, rows, begun: false }, first)
    }

    fn step(&self, tokens: &[u32], mut state: Self::State) -> (Logits, Self::State) {
        let Some(follower) = self.follower else {
            let (logits, inner) = self.model.step(tokens, state.inner);
            return (logits, FollowedState { inner, ..state });
        };
        if std::mem::replace(&mut state.begun, true) {
            state.rows.iter_mut().zip(tokens).for_each(|(row, &token)| row.tokens.push(token));
        }
        let wanted = Self::tell(follower, &state.rows);
        if let (false, Some(vocabulary)) = (wanted.contains(&true), self.model.vocabulary()) {
            return (self.ended(wanted.len(), vocabulary), state);
        }
        let (logits, inner) = self.model.step(tokens, state.inner);
        (
            logits.changed(|row, scores| {
                if !wanted[row] {
                    self.end_row(scores);
                }
            }),
            FollowedState { inner, ..state },
        )
    }

    fn select(&self, state: Self::State, rows: &[usize]) -> Self::State {
        let chosen = match self.follower {
            Some(_) => rows.iter().map(|&row| state.rows[row].clone()).collect(),
            None => Vec::new(),
        };
        FollowedState { inner: self.model.select(state.inner, rows), rows: chosen, begun: state.begun }
    }

    fn take_back(&self, logits: Logits, state: &mut Self::State) {
        self.model.take_back(logits, &mut state.inner);
    }

    fn end(&self) -> u32 {
        self.model.end()
    }

    fn forbidden(&self) -> &[u32] {
        self.model.forbidden()
    }

    fn vocabulary(&self) -> Option<usize> {
        self.model.vocabulary()
    }

    fn attention(&self, state: &Self::State) -> Option<Vec<Vec<f32>>> {
        self.model.attention(&state.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Countdown;
    use crate::{Beam, Sampling, Wanted, beam_search, greedy, samples};
    use std::sync::Mutex;

    /// Notes what is told, and no longer wants sentences that have so many tokens.
    #[derive(Default)]
    struct Notes {
        told: Mutex<Vec<(usize, Vec<u32>)>>,
        most: BTreeMap<usize, usize>,
    }

    impl Follower for Notes {
        fn follow(&self, sentence: usize, tokens: &[u32]) -> bool {
            self.told.lock().expect("a list").push((sentence, tokens.to_vec()));
            self.most.get(&sentence).is_none_or(|&most| tokens.len() < most)
        }
    }

    fn followed(rows: usize, notes: &Notes) -> Followed<'_, Countdown> {
        Followed::new(Countdown { rows }, (0..rows).map(|row| row + 10).collect(), Some(notes))
    }

    #[test]
    fn every_token_is_told_and_nothing_is_changed() {
        let notes = Notes::default();
        let found = greedy(&followed(3, &notes), &[10; 3]);
        assert_eq!(found, greedy(&Countdown { rows: 3 }, &[10; 3]));
        let told = notes.told.into_inner().expect("a list");
        let of = |sentence: usize| -> Vec<Vec<u32>> {
            told.iter().filter(|(of, _)| *of == sentence).map(|(_, tokens)| tokens.clone()).collect()
        };
        assert_eq!(of(12), [vec![], vec![3], vec![3, 2], vec![3, 2, 1]]);
        assert_eq!(of(10), [vec![], vec![1]]);
        let nobody = Followed::new(Countdown { rows: 3 }, vec![0, 1, 2], None);
        assert_eq!(greedy(&nobody, &[10; 3]), found);
    }

    #[test]
    fn what_is_not_wanted_ends_and_the_others_go_on() {
        let notes = Notes { most: [(12, 1), (13, 0)].into(), ..Notes::default() };
        let found = greedy(&followed(4, &notes), &[10; 4]);
        let tokens: Vec<_> = found.iter().map(|found| found.tokens.clone()).collect();
        assert_eq!(tokens, [vec![1], vec![2, 1], vec![3], vec![]]);
    }

    /// A model that must not be asked.
    struct Silent;

    impl Step for Silent {
        type State = ();
        fn start(&self) -> ((), u32) {
            ((), 9)
        }
        fn step(&self, _: &[u32], (): ()) -> (Logits, ()) {
            panic!("nobody wants to know")
        }
        fn select(&self, (): (), _: &[usize]) {}
        fn end(&self) -> u32 {
            0
        }
        fn forbidden(&self) -> &[u32] {
            &[8]
        }
        fn vocabulary(&self) -> Option<usize> {
            Some(10)
        }
    }

    #[test]
    fn a_model_is_not_asked_for_what_nobody_wants() {
        let notes = Notes { most: [(0, 0), (1, 0)].into(), ..Notes::default() };
        let silent = || Followed::new(Silent, vec![0, 1], Some(&notes));
        assert!(greedy(&silent(), &[1_000_000; 2]).iter().all(|found| found.tokens.is_empty()));
        let wanted = Wanted { max_length: 1_000_000, min_length: 5, ..Wanted::default() };
        let beam = Beam { size: 4, n_best: 2, ..Beam::default() };
        assert_eq!(beam_search(&silent(), &[wanted.clone(), wanted], &beam).len(), 2, "it comes to an end");
        let drawn = samples(&silent(), &[vec![], vec![]], &[99; 2], 3, &Sampling::default(), |_, _, _| 0.5);
        assert!(drawn.iter().flatten().all(|found| found.hypothesis.tokens.is_empty()));
    }

    #[test]
    fn a_beam_tells_its_best_hypothesis() {
        let notes = Notes::default();
        let wanted = vec![Wanted { max_length: 8, ..Wanted::default() }; 2];
        let beam = Beam { size: 3, n_best: 3, ..Beam::default() };
        let found = beam_search(&followed(2, &notes), &wanted, &beam);
        assert_eq!(found, beam_search(&Countdown { rows: 2 }, &wanted, &beam));
        let told = notes.told.into_inner().expect("a list");
        assert!(told.contains(&(11, vec![2, 1])), "{told:?}");
        let first = told.iter().filter(|(sentence, tokens)| *sentence == 11 && tokens.len() == 1);
        assert_eq!(first.count(), 1, "once for all rows of a sentence");
    }
}
