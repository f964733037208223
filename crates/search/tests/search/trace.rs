//! The record of a search tells the same story as its result.

use crate::table::{END, Table, whole};
use gatto_search::{Beam, Considered, Fate, Found, Normalisation, Wanted, beam_search};
use proptest::prelude::*;

const MOST: usize = 4;

/// The tokens up to a candidate, by its parents.
fn path(trace: &[Vec<Considered>], step: usize, place: usize) -> Vec<u32> {
    let (mut tokens, mut at) = (Vec::new(), Some(place));
    for step in (0..=step).rev() {
        let seen = &trace[step][at.expect("a parent")];
        tokens.push(seen.token);
        at = seen.parent;
    }
    assert_eq!(at, None);
    tokens.reverse();
    tokens
}

fn is_chosen(fate: Fate) -> bool {
    use Fate::{Dropped, Finished, Given, Kept, Unfinished};
    matches!(fate, Given | Kept | Finished { .. } | Unfinished { .. } | Dropped)
}

/// Checks the tree, and that the results are its leaves.
fn assert_consistent(found: &Found, wanted: &Wanted, beam: &Beam) {
    let trace = &found.trace;
    let mut ranks = vec![0; found.best.len()];
    for (t, step) in trace.iter().enumerate() {
        let chosen = step.iter().filter(|seen| is_chosen(seen.fate)).count();
        assert!(chosen <= beam.size, "{chosen} were chosen");
        assert!(step.len() - chosen <= MOST);
        assert!(step[..chosen].iter().all(|seen| is_chosen(seen.fate)), "the chosen ones come first");
        for (place, seen) in step.iter().enumerate() {
            let parent = seen.parent.map(|parent| trace[t - 1][parent].fate);
            let went_on = |fate| matches!(fate, Fate::Kept | Fate::Given);
            // Behind one that nothing may follow there are only candidates that were not chosen.
            let last = |fate| matches!(fate, Fate::Unfinished { .. } | Fate::Dropped);
            assert!(parent.is_none_or(|fate| went_on(fate) || (last(fate) && !is_chosen(seen.fate))));
            assert_eq!(parent.is_none(), t == 0);
            assert_eq!(seen.fate == Fate::Given, t < wanted.prefix.len());
            match seen.fate {
                Fate::Finished { rank: Some(rank) } | Fate::Unfinished { rank } => {
                    ranks[rank] += 1;
                    assert_eq!(path(trace, t, place), whole(wanted, &found.best[rank]));
                    assert_eq!(found.best[rank].written.hypothesis.finished, seen.token == END);
                    if seen.token == END {
                        assert_eq!(seen.score, found.best[rank].score);
                    }
                }
                Fate::Beaten { by } => assert!(by >= 0.0 && by.is_finite()),
                Fate::TooShort => assert!(seen.token == END && t - wanted.prefix.len() < wanted.min_length),
                _ => {}
            }
        }
    }
    // A prefix that nothing stands behind remains a prefix.
    let is_prefix = |rank: usize| found.best[rank].written.hypothesis.log_probabilities.is_empty();
    for (rank, count) in ranks.into_iter().enumerate() {
        assert_eq!(count, usize::from(!is_prefix(rank)));
    }
}

proptest! {
    #[test]
    fn the_record_is_that_of_the_search(
        seed: u64,
        size in 1usize..6,
        groups in 1usize..3,
        no_repeat_ngram in 0usize..3,
        prefix in prop::collection::vec(1u32..4, 0..3),
        phrases in crate::exhaustive::phrases(),
        min_length in 0usize..4,
        max_length in 0usize..7,
    ) {
        let table = Table::new(&[seed], 3);
        let wanted = Wanted { prefix, phrases, min_length, max_length, never: vec![vec![2, 1]] };
        let normalisation = Normalisation::Power(0.5);
        let quiet = Beam {
            size,
            n_best: size,
            groups,
            diversity: 0.4,
            no_repeat_ngram,
            normalisation,
            coverage: 0.1,
            ..Beam::default()
        };
        let beam = Beam { trace: Some(MOST), ..quiet.clone() };
        let found = beam_search(&table, std::slice::from_ref(&wanted), &beam).remove(0);
        assert_consistent(&found, &wanted, &beam);
        let untraced = beam_search(&table, std::slice::from_ref(&wanted), &quiet).remove(0);
        prop_assert_eq!(untraced.best, found.best);
        prop_assert!(untraced.trace.is_empty());
    }
}

#[test]
fn every_fate_is_told() {
    let table = Table::new(&[21], 3);
    let fates = |wanted: Wanted, beam: Beam| -> Vec<Fate> {
        let beam = Beam { trace: Some(99), ..beam };
        let trace = beam_search(&table, &[wanted], &beam).remove(0).trace;
        trace.into_iter().flatten().map(|seen| seen.fate).collect()
    };
    let plain = Wanted { max_length: 6, ..Wanted::default() };
    let beam = Beam { size: 2, ..Beam::default() };
    let of = |wanted: Wanted| fates(wanted, beam.clone());
    let usual = of(plain.clone());
    assert!(usual.contains(&Fate::Kept) && usual.contains(&Fate::Forbidden));
    assert!(usual.iter().any(|fate| matches!(fate, Fate::Beaten { .. })));
    assert!(usual.contains(&Fate::Finished { rank: Some(0) }) && usual.contains(&Fate::Dropped));
    assert!(of(Wanted { min_length: 2, ..plain.clone() }).contains(&Fate::TooShort));
    assert!(of(Wanted { prefix: vec![1], ..plain.clone() }).contains(&Fate::Given));
    assert!(of(Wanted { phrases: vec![vec![3, 3].into()], ..plain.clone() }).contains(&Fate::Phrases));
    assert!(
        of(Wanted { min_length: 9, max_length: 2, ..plain.clone() }).contains(&Fate::Unfinished { rank: 0 })
    );
    assert!(fates(plain, Beam { no_repeat_ngram: 1, ..beam.clone() }).contains(&Fate::Repeated));
}
