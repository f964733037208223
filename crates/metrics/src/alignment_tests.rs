//! Tests of alignments.

use super::*;
use proptest::prelude::*;

fn links(text: &str) -> Alignment {
    text.parse().unwrap()
}

fn message(text: &str) -> String {
    text.parse::<Alignment>().unwrap_err().to_string()
}

#[test]
fn pharaoh_format_is_read_as_a_set() {
    assert_eq!(links("0-0 1-2"), Alignment::from_iter([(0, 0), (1, 2)]));
    assert_eq!(links(" 10-2\t0-3  0-3\n").iter().collect::<Vec<_>>(), [(0, 3), (10, 2)]);
    assert_eq!(links("10-2 2-1 2-0").to_string(), "2-0 2-1 10-2");
    assert!(links("").is_empty());
    assert_eq!(Alignment::default().to_string(), "");
}

#[test]
fn a_bad_link_is_named() {
    assert_eq!(message("0-0 1:2 3-3"), "link 2, `1:2`, has no hyphen; write source-target, such as 0-2");
    for (link, side, word) in [
        ("-1-2", "source", ""),
        ("1--2", "target", "-2"),
        ("1-2-3", "target", "2-3"),
        ("1-", "target", ""),
        ("+1-2", "source", "+1"),
        ("1-x", "target", "x"),
        ("1-٣", "target", "٣"),
        ("99999999999999999999-0", "source", "99999999999999999999"),
    ] {
        let found = message(&format!("0-0 {link}"));
        let expected = format!("link 2, `{link}`: the {side} word `{word}` is not a whole number");
        assert!(found.starts_with(&expected), "{found}");
    }
}

#[test]
fn weights_link_each_target_word_to_the_largest() {
    let weights = [vec![0.2, 0.7, 0.1], vec![0.1, 0.4, 0.5], vec![0.9, 0.05, 0.05]];
    assert_eq!(Alignment::from_weights(&weights, 1.0), links("1-0 2-1 0-2"));
    assert_eq!(Alignment::from_weights(&weights, 0.8), links("1-0 1-1 2-1 0-2"));
    assert_eq!(Alignment::from_weights(&weights, 0.0).len(), 9);
}

#[test]
fn a_tie_goes_to_the_first_unless_others_may_join() {
    let weights = [vec![0.2, 0.4, 0.4]];
    assert_eq!(Alignment::from_weights(&weights, 1.0), links("1-0"));
    assert_eq!(Alignment::from_weights(&weights, 0.999), links("1-0 2-0"));
    assert_eq!(Alignment::from_weights(&weights, 0.5), links("0-0 1-0 2-0"));
}

#[test]
fn nothing_is_linked_by_weights_that_are_not_positive() {
    let weights = [vec![0.0, 0.0], vec![], vec![-1.0, f32::NAN], vec![0.0, 0.3], vec![f32::NAN, 0.3]];
    for share in [1.0, 0.5, 0.0, -1.0] {
        assert_eq!(Alignment::from_weights(&weights, share), links("1-3 1-4"), "share {share}");
    }
}

#[test]
fn error_rate_by_hand() {
    // |A| = 4, |S| = 2, |A ∩ S| = 1, |A ∩ P| = 2.
    let gold = GoldAlignment::new(links("0-0 1-1"), links("1-1 1-2"));
    let found = AlignmentErrorRate::of([(&links("0-0 1-2 2-2 3-3"), &gold)]);
    assert_eq!((found.found, found.sure, found.found_sure, found.found_possible), (4, 2, 1, 2));
    assert_eq!((found.rate(), found.precision(), found.recall()), (Some(0.5), Some(0.5), Some(0.5)));
}

#[test]
fn error_rate_is_of_the_corpus_and_not_a_mean_of_sentences() {
    let mut found = AlignmentErrorRate::default();
    found.count(&links("0-0 1-1 2-2"), &links("0-0 1-1 2-2").into());
    found.count(&links("0-0"), &links("0-1").into());
    found.count(&links(""), &links("").into());
    assert_eq!(found.rate(), Some(0.25));
    assert_eq!((found.precision(), found.recall()), (Some(0.75), Some(0.75)));
}

#[test]
fn error_rate_of_nothing_is_undefined() {
    let nothing = AlignmentErrorRate::default();
    assert_eq!((nothing.rate(), nothing.precision(), nothing.recall()), (None, None, None));
    let missed = AlignmentErrorRate::of([(&links(""), &links("0-0").into())]);
    assert_eq!((missed.rate(), missed.precision(), missed.recall()), (Some(1.0), None, Some(0.0)));
    let only_possible = GoldAlignment::new(links(""), links("0-0"));
    let found = AlignmentErrorRate::of([(&links("0-0"), &only_possible)]);
    assert_eq!((found.rate(), found.precision(), found.recall()), (Some(0.0), Some(1.0), None));
}

#[test]
fn pieces_become_words() {
    // Source: two pieces, one piece, the end. Target: one piece, two pieces, the end.
    let weights = [
        vec![0.5, 0.25, 0.125, 0.125],
        vec![0.0, 0.25, 0.5, 0.25],
        vec![0.25, 0.0, 0.75, 0.0],
        vec![0.25; 4],
    ];
    let (source, target) = ([Some(0), Some(0), Some(1), None], [Some(0), Some(1), Some(1), None]);
    assert_eq!(merge(&weights, &source, &target), [[0.75, 0.125], [0.25, 0.625]]);
}

#[test]
fn words_without_tokens_have_zeros() {
    let merged = merge(&[vec![1.0, 0.5]], &[Some(2), None], &[Some(1)]);
    assert_eq!(merged, [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    assert_eq!(Alignment::from_weights(&merged, 1.0), links("2-1"));
    assert_eq!(merge(&[], &[], &[]), Vec::<Vec<f32>>::new());
    assert_eq!(merge(&[vec![0.5]], &[None], &[Some(0)]), [[]; 1]);
}

#[test]
#[should_panic(expected = "a row of weights for each target token")]
fn a_missing_row_is_refused() {
    merge(&[vec![1.0]], &[Some(0)], &[Some(0), Some(1)]);
}

#[test]
#[should_panic(expected = "a weight for each source token")]
fn a_missing_column_is_refused() {
    merge(&[vec![1.0]], &[Some(0), Some(1)], &[Some(0)]);
}

fn alignments() -> impl Strategy<Value = Alignment> {
    prop::collection::vec((0_usize..6, 0_usize..6), 0..12).prop_map(Alignment::from_iter)
}

type Words = Vec<Option<usize>>;

/// A matrix of weights, and the word of each source and target token.
fn weighted_tokens() -> impl Strategy<Value = (Vec<Vec<f32>>, Words, Words)> {
    let words = || prop::collection::vec(prop::option::of(0_usize..5), 0..8);
    (words(), words()).prop_flat_map(|(source, target)| {
        let row = prop::collection::vec(0.0_f32..1.0, source.len());
        (prop::collection::vec(row, target.len()), Just(source), Just(target))
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(pairs in prop::collection::vec(any::<(usize, usize)>(), 0..9)) {
        let alignment = Alignment::from_iter(pairs);
        prop_assert_eq!(links(&alignment.to_string()), alignment);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-0-9 a+]{0,12}") {
        if let Ok(alignment) = text.parse::<Alignment>() {
            prop_assert!(alignment.len() <= text.split_whitespace().count());
        }
    }

    #[test]
    fn rates_are_shares((found, sure, possible) in (alignments(), alignments(), alignments())) {
        let counted = AlignmentErrorRate::of([(&found, &GoldAlignment::new(sure.clone(), possible))]);
        for rate in [counted.rate(), counted.precision(), counted.recall()] {
            prop_assert!(rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)));
        }
        let perfect = AlignmentErrorRate::of([(&sure, &sure.clone().into())]);
        prop_assert_eq!(perfect.rate(), (!sure.is_empty()).then_some(0.0));
    }

    /// With sure links alone, 1 − AER is the harmonic mean of precision and recall.
    #[test]
    fn without_possible_links_the_rate_is_one_minus_f1((found, gold) in (alignments(), alignments())) {
        let counted = AlignmentErrorRate::of([(&found, &gold.into())]);
        if let (Some(rate), Some(precision), Some(recall)) =
            (counted.rate(), counted.precision(), counted.recall())
        {
            let sum = precision + recall;
            let f1 = if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum };
            prop_assert!((1.0 - rate - f1).abs() < 1e-12);
        }
    }

    /// Uneven rows of few distinct weights, zeros and ties among them.
    #[test]
    fn a_smaller_share_only_adds_links(
        weights in prop::collection::vec(prop::collection::vec((0_u8..5).prop_map(f32::from), 0..6), 0..6),
        share in 0.0_f32..1.0,
    ) {
        let (largest, more) = (Alignment::from_weights(&weights, 1.0), Alignment::from_weights(&weights, share));
        let looking = weights.iter().filter(|row| row.iter().any(|&weight| weight > 0.0)).count();
        prop_assert_eq!(largest.len(), looking);
        for (source, target) in largest.iter() {
            prop_assert!(more.contains(source, target));
            prop_assert!(weights[target].iter().all(|&weight| weight <= weights[target][source]));
            for (other, &weight) in weights[target].iter().enumerate() {
                let enough = weight > 0.0 && weight >= share * weights[target][source];
                prop_assert_eq!(more.contains(other, target), enough);
            }
        }
    }

    /// A word's weight by its definition: over its target pieces, the mean of sums over its source pieces.
    #[test]
    fn merging_sums_the_source_and_averages_the_target((weights, source, target) in weighted_tokens()) {
        let merged = merge(&weights, &source, &target);
        prop_assert_eq!(merged.len(), target.iter().flatten().max().map_or(0, |last| last + 1));
        for (j, row) in merged.iter().enumerate() {
            prop_assert_eq!(row.len(), source.iter().flatten().max().map_or(0, |last| last + 1));
            let pieces = |tokens: &[Option<usize>], word| -> Vec<usize> {
                (0..tokens.len()).filter(|&at| tokens[at] == Some(word)).collect()
            };
            let targets = pieces(&target, j);
            for (i, &found) in row.iter().enumerate() {
                let sum = |t: usize| pieces(&source, i).iter().map(|&s| weights[t][s]).sum::<f32>();
                let mean = targets.iter().map(|&t| sum(t)).sum::<f32>() / targets.len().max(1) as f32;
                prop_assert!((found - mean).abs() < 1e-5, "{found} and not {mean}");
            }
        }
    }

    #[test]
    fn tokens_that_are_words_stay_as_they_are(
        weights in (1_usize..5).prop_flat_map(|size| {
            prop::collection::vec(prop::collection::vec(0.0_f32..1.0, size), size)
        })
    ) {
        let words: Vec<_> = (0..weights.len()).map(Some).collect();
        prop_assert_eq!(merge(&weights, &words, &words), weights);
    }
}
