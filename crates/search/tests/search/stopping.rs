//! When search stops, and what the list of the best looks like.

use crate::table::{Table, whole};
use gatto_search::{Beam, Fate, Found, Normalisation, Stop, Wanted, beam_search};
use proptest::prelude::*;

const LIMIT: usize = 12;

fn search(seed: u64, beam: &Beam) -> Found {
    let wanted = [Wanted { max_length: LIMIT, ..Wanted::default() }];
    beam_search(&Table::new(&[seed], 3), &wanted, beam).remove(0)
}

proptest! {
    #[test]
    fn exact_stopping_loses_nothing(
        seed: u64,
        size in 1usize..8,
        n_best in 1usize..8,
        groups in 1usize..4,
        alpha in -1.0..2.0,
        kind in 0usize..3,
        coverage in prop::sample::select(vec![0.0, 0.5]),
    ) {
        let normalisation = [Normalisation::None, Normalisation::Power(alpha), Normalisation::Wu(alpha)][kind];
        let of = |stop| {
            let beam = Beam { size, n_best, groups, normalisation, coverage, stop, ..Beam::default() };
            search(seed, &Beam { diversity: 0.5, ..beam })
        };
        prop_assert_eq!(of(Stop::Exact), of(Stop::Never));
        if let (Some(first), Some(exact)) = (of(Stop::First).best.first(), of(Stop::Exact).best.first()) {
            prop_assert!(first.score <= exact.score);
        }
    }

    #[test]
    fn the_best_are_sorted_and_distinct(seed: u64, size in 1usize..8, groups in 1usize..8, alpha in 0.0..2.0) {
        let normalisation = Normalisation::Power(alpha);
        let beam = Beam { size, n_best: 99, groups, diversity: 0.1, normalisation, ..Beam::default() };
        let found = search(seed, &beam).best;
        prop_assert!(!found.is_empty() && found.len() <= size);
        prop_assert!(found.is_sorted_by(|left, right| left.score >= right.score));
        let mut tokens: Vec<Vec<u32>> = found.iter().map(|ranked| whole(&Wanted::default(), ranked)).collect();
        tokens.sort();
        tokens.dedup();
        prop_assert_eq!(tokens.len(), found.len());
    }
}

/// How many steps were made, and how many hypotheses had ended by then.
fn effort(seed: u64, beam: &Beam) -> (usize, usize) {
    let trace = search(seed, beam).trace;
    let ended = trace.iter().flatten().filter(|seen| matches!(seen.fate, Fate::Finished { .. })).count();
    (trace.len(), ended)
}

#[test]
fn the_rules_do_stop() {
    let beam = |stop| Beam { size: 4, stop, trace: Some(0), ..Beam::default() };
    let mut sooner = [0; 2];
    for seed in 0..50 {
        let all = effort(seed, &beam(Stop::Never));
        let exact = effort(seed, &beam(Stop::Exact));
        let first = effort(seed, &beam(Stop::First));
        assert!(first.1 >= 4 || first.0 == LIMIT || first == all, "{first:?}");
        sooner[0] += usize::from(exact.0 < all.0);
        sooner[1] += usize::from(first.0 < all.0);
    }
    assert!(sooner.iter().all(|&count| count > 25), "{sooner:?}");
}
