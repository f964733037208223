//! A beam as wide as the space finds what looking at every sequence finds.

use crate::table::{Table, contains, whole};
use gatto_search::{Beam, Normalisation, Required, Stop, Wanted, beam_search, score};
use proptest::prelude::*;

/// No space of these tests has more sequences.
const ALL: usize = 2000;

const NORMALISATIONS: [Normalisation; 4] =
    [Normalisation::None, Normalisation::Power(1.0), Normalisation::Power(0.6), Normalisation::Wu(1.5)];

/// Compares with every sequence that is allowed.
fn assert_exhaustive(table: &Table, wanted: &Wanted, beam: &Beam) {
    let found = beam_search(table, std::slice::from_ref(wanted), beam).remove(0).best;
    let expected = table.best(0, wanted, beam);
    if expected.is_empty() {
        assert!(found.iter().all(|ranked| !ranked.written.hypothesis.finished), "{found:?}");
        assert!(!found.is_empty());
        return;
    }
    assert_eq!(found.len(), expected.len().min(beam.n_best), "{wanted:?} {beam:?}");
    for (ranked, (tokens, score)) in found.iter().zip(&expected) {
        assert_eq!(&whole(wanted, ranked), tokens, "{wanted:?} {beam:?}\n{found:?}\n{expected:?}");
        assert!((ranked.score - score).abs() < 1e-5, "{} and not {score}", ranked.score);
    }
}

fn wide(normalisation: Normalisation) -> Beam {
    Beam { size: ALL, n_best: 5, normalisation, ..Beam::default() }
}

pub(crate) fn phrases() -> impl Strategy<Value = Vec<Required>> {
    let phrase = prop::collection::vec(1u32..4, 1..3).prop_map(Required::from);
    prop::collection::vec(phrase, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_best_of_all_are_found(
        seed: u64,
        words in 2usize..5,
        which in 0usize..4,
        coverage in prop::sample::select(vec![0.0, 0.3, 2.0]),
        min_length in 0usize..4,
        max_length in 1usize..6,
    ) {
        let wanted = Wanted { min_length, max_length, ..Wanted::default() };
        let beam = Beam { coverage, ..wide(NORMALISATIONS[which]) };
        assert_exhaustive(&Table::new(&[seed], words), &wanted, &beam);
    }

    #[test]
    fn the_best_that_the_rules_allow_are_found(
        seed: u64,
        which in 0usize..4,
        no_repeat_ngram in 0usize..4,
        never in prop::collection::vec(prop::collection::vec(0u32..4, 1..4), 0..4),
        prefix in prop::collection::vec(1u32..4, 0..3),
    ) {
        let wanted = Wanted { prefix, never, max_length: 5, ..Wanted::default() };
        let beam = Beam { no_repeat_ngram, ..wide(NORMALISATIONS[which]) };
        assert_exhaustive(&Table::new(&[seed], 3), &wanted, &beam);
    }

    #[test]
    fn the_best_with_all_phrases_are_found(
        seed: u64,
        which in 0usize..4,
        phrases in phrases(),
        prefix in prop::collection::vec(1u32..4, 0..3),
        max_length in 0usize..6,
    ) {
        let wanted = Wanted { prefix, phrases, max_length, ..Wanted::default() };
        assert_exhaustive(&Table::new(&[seed], 3), &wanted, &wide(NORMALISATIONS[which]));
    }

    #[test]
    fn phrases_appear_whatever_the_beam(
        seed: u64,
        size in 1usize..6,
        groups in 1usize..3,
        no_repeat_ngram in 0usize..3,
        phrases in phrases(),
        max_length in 1usize..8,
    ) {
        let table = Table::new(&[seed], 3);
        let wanted = Wanted { phrases, max_length, ..Wanted::default() };
        let beam = Beam { size, groups, diversity: 1.0, no_repeat_ngram, ..Beam::default() };
        let found = beam_search(&table, std::slice::from_ref(&wanted), &beam).remove(0).best;
        let tokens = &found[0].written.hypothesis.tokens;
        let met = wanted.phrases.iter().all(|phrase| contains(tokens, &phrase.tokens));
        // All that is possible within the limit, with an end or without one.
        let room = Wanted { max_length: max_length + 1, ..wanted.clone() };
        let plain = Beam::default();
        prop_assert_eq!(met, !table.best(0, &room, &plain).is_empty());
        let ended = found[0].written.hypothesis.finished;
        prop_assert!(met || !ended);
    }

    #[test]
    fn a_wider_beam_finds_nothing_worse_than_all_there_is(seed: u64, size in 1usize..30) {
        let table = Table::new(&[seed], 3);
        let wanted = [Wanted { max_length: 5, ..Wanted::default() }];
        let found = |size| beam_search(&table, &wanted, &Beam { size, ..Beam::default() }).remove(0);
        let of = |size| found(size).best.remove(0);
        let narrow = of(size);
        prop_assume!(narrow.written.hypothesis.finished);
        prop_assert!(of(ALL).score >= narrow.score);
    }

    #[test]
    fn scores_are_those_of_forced_decoding(seeds: [u64; 3], size in 1usize..9, which in 0usize..4) {
        let table = Table::new(&seeds, 4);
        let prefixes = [vec![], vec![2], vec![1, 3]];
        let wanted = prefixes.map(|prefix| Wanted { prefix, max_length: 5, ..Wanted::default() });
        let beam = Beam { size, n_best: size, ..wide(NORMALISATIONS[which]) };
        for (row, (found, wanted)) in beam_search(&table, &wanted, &beam).iter().zip(&wanted).enumerate() {
            for ranked in found.best.iter().filter(|ranked| ranked.written.hypothesis.finished) {
                let mut targets = vec![Vec::new(); 3];
                let tokens = whole(wanted, ranked);
                targets[row] = tokens[..tokens.len() - 1].to_vec();
                let forced = score(&table, &targets).remove(row);
                let prompt = &ranked.written.prompt;
                let ours = [&prompt[..], &ranked.written.hypothesis.log_probabilities[..]].concat();
                let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&ours), bits(&forced.log_probabilities));
                let sum: f64 = forced.log_probabilities.iter().map(|&x| f64::from(x)).sum();
                prop_assert_eq!(ranked.score, sum / beam.normalisation.divisor(tokens.len()));
            }
        }
    }
}

#[test]
fn a_sentence_that_cannot_end_gives_its_best_open_hypotheses() {
    let table = Table::new(&[5], 3);
    let wanted = [Wanted { min_length: 3, max_length: 3, ..Wanted::default() }];
    let beam = Beam { size: ALL, n_best: 4, stop: Stop::Exact, ..Beam::default() };
    let found = beam_search(&table, &wanted, &beam).remove(0).best;
    // What ends behind three tokens, ranked by the three tokens alone.
    let room = Wanted { min_length: 3, max_length: 4, ..Wanted::default() };
    let mut expected: Vec<(f64, Vec<u32>)> = table
        .best(0, &room, &beam)
        .into_iter()
        .map(|(tokens, _)| {
            let forced = score(&table, &[tokens[..3].to_vec()]).remove(0);
            (forced.log_probabilities[..3].iter().map(|&x| f64::from(x)).sum(), forced.tokens)
        })
        .collect();
    expected.sort_by(|left, right| right.0.total_cmp(&left.0));
    assert_eq!(found.len(), 4);
    for (ranked, (sum, tokens)) in found.iter().zip(expected) {
        assert!(!ranked.written.hypothesis.finished);
        assert_eq!((ranked.written.hypothesis.tokens.clone(), ranked.score), (tokens, sum));
    }
}

#[test]
fn phrases_outrank_the_rule_against_repetition() {
    // Behind the prefix "1 2 1" the pair "1 2" would be a repetition, but the phrase needs it now.
    let table = Table::new(&[11], 3);
    let wanted = [Wanted {
        prefix: vec![1, 2, 1],
        phrases: vec![vec![1, 2, 3].into()],
        max_length: 3,
        ..Wanted::default()
    }];
    let beam = Beam { size: 2, no_repeat_ngram: 2, ..Beam::default() };
    let found = beam_search(&table, &wanted, &beam).remove(0).best;
    assert_eq!(found[0].written.hypothesis.tokens[..2], [2, 3]);
}

#[test]
fn a_phrase_that_may_not_be_written_leaves_the_sentence_open() {
    let table = Table::new(&[3], 3);
    let wanted =
        [Wanted { phrases: vec![vec![2].into()], never: vec![vec![2]], max_length: 4, ..Wanted::default() }];
    let found = beam_search(&table, &wanted, &Beam { size: 3, ..Beam::default() }).remove(0).best;
    assert!(!found[0].written.hypothesis.finished);
    assert!(!found[0].written.hypothesis.tokens.contains(&2));
}

proptest! {
    /// A phrase may have other tokens at the very beginning: either is found where it is the better one.
    #[test]
    fn a_phrase_appears_inside_or_opens_the_sequence(
        seed: u64,
        tokens in prop::collection::vec(1u32..4, 1..3),
        opening in prop::collection::vec(1u32..4, 1..3),
        max_length in 3usize..6,
    ) {
        let table = Table::new(&[seed], 3);
        let beam = wide(Normalisation::None);
        let best = |phrases: Vec<Required>, prefix: Vec<u32>| {
            let max_length = max_length - prefix.len();
            let wanted = Wanted { phrases, prefix: prefix.clone(), max_length, ..Wanted::default() };
            let best = beam_search(&table, &[wanted], &beam).remove(0).best.remove(0);
            (best.written.hypothesis.finished, best.score, best.written.whole(&prefix).tokens)
        };
        let either = best(vec![Required { tokens: tokens.clone(), opening: opening.clone() }], vec![]);
        let (inside, opened) = (best(vec![tokens.into()], vec![]), best(vec![], opening));
        let better = if opened.1 > inside.1 { opened } else { inside };
        prop_assert_eq!(either, better);
    }
}
