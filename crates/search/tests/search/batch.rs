//! Sentences side by side, and a beam of one.

use crate::table::Table;
use gatto_search::{
    Beam, Logits, Normalisation, Required, Step, Stop, Wanted, beam_search, greedy, greedy_from,
};
use proptest::prelude::*;
use std::cell::RefCell;

fn beams() -> impl Strategy<Value = Beam> {
    (1usize..7, 1usize..4, 0usize..3, any::<bool>(), 0usize..3).prop_map(
        |(size, groups, no_repeat_ngram, first, n)| Beam {
            size,
            n_best: size,
            groups,
            diversity: 0.7,
            no_repeat_ngram,
            coverage: 0.2,
            stop: if first { Stop::First } else { Stop::Exact },
            normalisation: [Normalisation::None, Normalisation::Power(0.8), Normalisation::Wu(0.6)][n],
            trace: Some(3),
        },
    )
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let tokens = || prop::collection::vec(1u32..5, 0..3);
    (tokens(), 0usize..3, 0usize..8, prop::collection::vec(tokens(), 0..3)).prop_map(
        |(prefix, min_length, max_length, phrases)| Wanted {
            prefix,
            min_length,
            max_length,
            phrases: phrases.into_iter().map(Required::from).collect(),
            never: vec![vec![3, 4]],
        },
    )
}

proptest! {
    #[test]
    fn neighbours_change_nothing(
        sentences in prop::collection::vec((any::<u64>(), wanted()), 1..6),
        beam in beams(),
    ) {
        let (seeds, wanted): (Vec<u64>, Vec<Wanted>) = sentences.into_iter().unzip();
        let together = beam_search(&Table::new(&seeds, 4), &wanted, &beam);
        let (mut turned_seeds, mut turned_wanted) = (seeds.clone(), wanted.clone());
        turned_seeds.reverse();
        turned_wanted.reverse();
        let mut turned = beam_search(&Table::new(&turned_seeds, 4), &turned_wanted, &beam);
        turned.reverse();
        prop_assert_eq!(&turned, &together);
        for (i, found) in together.iter().enumerate() {
            let alone = beam_search(&Table::new(&seeds[i..=i], 4), &wanted[i..=i], &beam);
            prop_assert_eq!(&alone[0], found);
        }
    }

    #[test]
    fn a_beam_of_one_is_greedy(
        seeds in prop::collection::vec(any::<u64>(), 1..5),
        prompt in prop::collection::vec(1u32..5, 0..3),
        limit in 0usize..9,
        alpha in 0.0..2.0,
        sharpness in prop::sample::select(vec![0.0, 1e-6, 4.0]), // ties, near ties, and neither
    ) {
        let table = Table { sharpness, ..Table::new(&seeds, 4) };
        let begun = |&seed: &u64| prompt[..seed as usize % (prompt.len() + 1)].to_vec();
        let prompts: Vec<Vec<u32>> = seeds.iter().map(begun).collect();
        let limits: Vec<usize> = (0..seeds.len()).map(|row| limit + row).collect();
        let wanted: Vec<Wanted> = prompts
            .iter()
            .zip(&limits)
            .map(|(prefix, &max_length)| Wanted { prefix: prefix.clone(), max_length, ..Wanted::default() })
            .collect();
        let beam = Beam { normalisation: Normalisation::Power(alpha), ..Beam::default() };
        let found = beam_search(&table, &wanted, &beam);
        let best = found.into_iter().flat_map(|found| found.best);
        let found: Vec<_> = best.map(|ranked| ranked.written).collect();
        prop_assert_eq!(&found, &greedy_from(&table, &prompts, &limits));
        if prompt.is_empty() {
            let hypotheses: Vec<_> = found.into_iter().map(|found| found.hypothesis).collect();
            prop_assert_eq!(hypotheses, greedy(&table, &limits));
        }
    }
}

/// Notes how many rows each step has.
struct Counted {
    table: Table,
    rows: RefCell<Vec<usize>>,
}

impl Step for Counted {
    type State = Vec<u64>;
    fn start(&self) -> (Vec<u64>, u32) {
        self.table.start()
    }
    fn step(&self, tokens: &[u32], state: Vec<u64>) -> (Logits, Vec<u64>) {
        self.rows.borrow_mut().push(tokens.len());
        self.table.step(tokens, state)
    }
    fn select(&self, state: Vec<u64>, rows: &[usize]) -> Vec<u64> {
        self.table.select(state, rows)
    }
    fn end(&self) -> u32 {
        self.table.end()
    }
    fn forbidden(&self) -> &[u32] {
        self.table.forbidden()
    }
}

#[test]
fn all_rows_go_in_one_step_and_leave_when_they_are_done() {
    let model = Counted { table: Table::new(&[1, 2, 3], 4), rows: RefCell::default() };
    let of = |prefix: &[u32], max_length: usize| Wanted {
        prefix: prefix.to_vec(),
        min_length: 9,
        max_length,
        ..Wanted::default()
    };
    // Groups share a row until they have chosen.
    let beam = Beam { size: 4, groups: 2, ..Beam::default() };
    beam_search(&model, &[of(&[1, 2], 3), of(&[], 2), of(&[], 0)], &beam);
    assert_eq!(model.rows.into_inner(), [2, 1 + 4, 1, 4, 4]);
}

#[test]
fn no_sentences_are_no_work() {
    assert_eq!(beam_search(&Table::new(&[], 4), &[], &Beam { size: 3, ..Beam::default() }), []);
}

#[test]
fn a_model_without_attention_has_no_coverage() {
    let model = Counted { table: Table::new(&[8], 4), rows: RefCell::default() };
    let wanted = [Wanted { max_length: 5, ..Wanted::default() }];
    let of = |coverage| beam_search(&model, &wanted, &Beam { size: 3, coverage, ..Beam::default() });
    assert_eq!(of(5.0), of(0.0));
}
