//! Groups that keep away from each other.

use crate::table::Table;
use gatto_search::{Beam, Considered, Fate, Stop, Wanted, beam_search};
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_first_group_is_a_beam_of_its_own(seed: u64, size in 2usize..5, groups in 2usize..4) {
        let table = Table::new(&[seed], 4);
        let wanted = [Wanted { max_length: 6, ..Wanted::default() }];
        // What the first group chose at each step, as long as it did.
        let of = |size, groups| {
            let beam = Beam { size, groups, diversity: 3.0, stop: Stop::Never, ..Beam::default() };
            let beam = Beam { trace: Some(0), ..beam };
            let trace = beam_search(&table, &wanted, &beam).remove(0).trace;
            let first = |step: &Vec<Considered>| -> Vec<(u32, f64)> {
                step.iter().filter(|seen| seen.group == 0).map(|seen| (seen.token, seen.score)).collect()
            };
            trace.iter().map(first).filter(|step| !step.is_empty()).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(size * groups, groups), of(size, 1));
    }
}

/// The tokens that two groups of one choose at the first step.
fn firsts(diversity: f64) -> Vec<(usize, u32)> {
    let table = Table::new(&[4], 4);
    let wanted = [Wanted { min_length: 1, max_length: 3, ..Wanted::default() }];
    let beam = Beam { size: 2, groups: 2, diversity, trace: Some(0), ..Beam::default() };
    let trace = beam_search(&table, &wanted, &beam).remove(0).trace;
    let chosen = trace[0].iter().filter(|seen| seen.fate == Fate::Kept);
    chosen.map(|seen| (seen.group, seen.token)).collect()
}

#[test]
fn a_token_that_an_earlier_group_took_costs_more() {
    let (same, other) = (firsts(0.0), firsts(50.0));
    assert_eq!(same[0].1, same[1].1);
    assert_eq!(same[0], other[0]);
    assert_ne!(other[0].1, other[1].1);
    assert_eq!(other.iter().map(|&(group, _)| group).collect::<Vec<_>>(), [0, 1]);
}

proptest! {
    /// Groups that do not keep away from each other would all end the same sequence.
    #[test]
    fn what_one_group_has_ended_no_other_ends_again(seed: u64, groups in 2usize..4) {
        let beam = Beam { size: 2 * groups, n_best: 2 * groups, groups, trace: Some(9), ..Beam::default() };
        let wanted = [Wanted { max_length: 6, ..Wanted::default() }];
        let found = beam_search(&Table::new(&[seed], 4), &wanted, &beam).remove(0);
        let mut ended: Vec<Vec<u32>> = Vec::new();
        for (step, seen) in found.trace.iter().enumerate() {
            for (place, _) in seen.iter().enumerate().filter(|(_, seen)| matches!(seen.fate, Fate::Finished { .. })) {
                let (mut at, mut tokens) = (Some(place), Vec::new());
                for step in (0..=step).rev() {
                    let considered = &found.trace[step][at.expect("a parent")];
                    tokens.push(considered.token);
                    at = considered.parent;
                }
                prop_assert!(!ended.contains(&tokens));
                ended.push(tokens);
            }
        }
        prop_assert!(ended.is_empty() || found.best.len() == ended.len().min(beam.n_best));
    }
}
