//! Several models as one.

use crate::table::Table;
use gatto_search::{Beam, Ensemble, EnsembleError, Mean, Step, Wanted, beam_search, score};
use proptest::prelude::*;

const MEANS: [Mean; 2] = [Mean::Probabilities, Mean::LogProbabilities];

/// p of each token of a sequence and of the end.
fn probabilities<S: Step>(model: &S, tokens: &[u32]) -> Vec<f64> {
    let found = score(model, &[tokens.to_vec()]).remove(0).log_probabilities;
    found.iter().map(|&x| f64::from(x).exp()).collect()
}

proptest! {
    #[test]
    fn an_ensemble_of_one_is_the_model(seeds: [u64; 3], which in 0usize..2, size in 1usize..5) {
        let table = Table::new(&seeds, 4);
        let alone = Ensemble::new(vec![table.clone()], MEANS[which]).expect("one model");
        let wanted = vec![Wanted { max_length: 6, ..Wanted::default() }; 3];
        let beam = Beam { size, n_best: size, coverage: 0.3, trace: Some(2), ..Beam::default() };
        prop_assert_eq!(beam_search(&alone, &wanted, &beam), beam_search(&table, &wanted, &beam));
    }

    #[test]
    fn means_are_those_of_the_models(seeds: [u64; 3], tokens in prop::collection::vec(1u32..5, 0..4)) {
        let tables: Vec<Table> = seeds.iter().map(|&seed| Table::new(&[seed], 4)).collect();
        let each: Vec<Vec<f64>> = tables.iter().map(|table| probabilities(table, &tokens)).collect();
        let together = Ensemble::new(tables.clone(), Mean::Probabilities).expect("one vocabulary");
        for (i, found) in probabilities(&together, &tokens).into_iter().enumerate() {
            let mean = each.iter().map(|all| all[i]).sum::<f64>() / 3.0;
            prop_assert!((found - mean).abs() < 1e-5, "{found} and not {mean}");
        }
        // The geometric mean, up to what makes the sum one.
        let together = Ensemble::new(tables.clone(), Mean::LogProbabilities).expect("one vocabulary");
        let geometric = |token: u32| {
            let path = [&tokens[..], &[token]].concat();
            tables.iter().map(|table| probabilities(table, &path)[tokens.len()].ln()).sum::<f64>() / 3.0
        };
        let all: f64 = (0..6).map(|token| geometric(token).exp()).sum();
        for token in 1..5 {
            let path = [&tokens[..], &[token]].concat();
            let found = probabilities(&together, &path)[tokens.len()];
            prop_assert!((found - geometric(token).exp() / all).abs() < 1e-5);
        }
    }
}

#[test]
fn models_of_different_vocabularies_are_refused() {
    let of = |words: &[usize]| {
        let tables = words.iter().map(|&words| Table::new(&[1], words)).collect();
        Ensemble::new(tables, Mean::default()).err()
    };
    assert_eq!(of(&[4, 4]), None);
    assert_eq!(of(&[4, 4, 3]), Some(EnsembleError::Vocabulary { model: 3, found: 5, expected: 6 }));
    assert_eq!(of(&[]), Some(EnsembleError::Empty));
}
