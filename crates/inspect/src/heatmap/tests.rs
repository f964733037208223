//! The checks of [`Heatmap::new`], and what its views keep.

use proptest::prelude::*;

use super::samples::{attention, diagonal, panel, words};
use super::*;

fn refused(source: &str, target: &str, panels: Vec<Panel>) -> HeatmapError {
    Heatmap::new("", words(source), words(target), panels).unwrap_err()
}

#[test]
fn what_does_not_fit_its_axes_is_refused() {
    let share = |values| vec![panel("attention", Scale::Share, values)];
    assert_eq!(refused("", "a", share(vec![vec![]])), HeatmapError::Empty("source tokens"));
    assert_eq!(refused("a", "a", vec![]), HeatmapError::Empty("panels"));
    let rows = HeatmapError::Rows { panel: "attention".to_owned(), rows: 1, targets: 2 };
    assert_eq!(refused("a", "b c", share(vec![vec![1.0]])), rows);
    let columns = HeatmapError::Columns { panel: "attention".to_owned(), row: 1, columns: 2, sources: 1 };
    assert_eq!(refused("a", "b c", share(vec![vec![1.0], vec![0.5, 0.5]])), columns);
}

#[test]
fn what_is_no_number_is_refused() {
    for value in [f32::NAN, f32::INFINITY, -0.5, 1.5] {
        let panels = vec![panel("attention", Scale::Share, vec![vec![0.5, value]])];
        assert!(matches!(refused("a b", "c", panels), HeatmapError::Value { column: 1, .. }), "{value}");
    }
    for value in [f32::NAN, f32::NEG_INFINITY] {
        let panels = vec![panel("erasure", Scale::Signed, vec![vec![0.5, value]])];
        assert!(matches!(refused("a b", "c", panels), HeatmapError::Value { column: 1, .. }), "{value}");
    }
    let panels = vec![panel("attention", Scale::Share, vec![vec![0.9, 0.9]])];
    let message = refused("a b", "c", panels).to_string();
    assert_eq!(message, "row 0 of panel `attention` sums to 1.8, but shares sum to at most 1");
}

#[test]
fn absurd_sizes_are_refused() {
    let many = "a ".repeat(MOST_TOKENS + 1);
    let long = vec![panel("attention", Scale::Share, vec![vec![0.0; MOST_TOKENS + 1]])];
    let message = refused(&many, "b", long).to_string();
    assert_eq!(message, "a heatmap of 1025 source tokens; at most 1024 can be drawn: split the sentence");
    let panels = vec![panel("attention", Scale::Share, vec![vec![1.0]]); MOST_PANELS + 1];
    assert!(matches!(refused("a", "b", panels), HeatmapError::TooLarge { what: "panels", .. }));
    let full = "a ".repeat(MOST_TOKENS);
    let panels = vec![panel("attention", Scale::Share, vec![vec![0.0; MOST_TOKENS]; MOST_TOKENS])];
    assert!(matches!(refused(&full, &full, panels), HeatmapError::TooLarge { what: "cells", .. }));
}

#[test]
fn probabilities_are_checked() {
    let heatmap = attention("a b", "c d");
    let wrong = heatmap.clone().with_probabilities(vec![0.5]);
    assert_eq!(wrong.unwrap_err(), HeatmapError::Probabilities { found: 1, targets: 2 });
    let wrong = heatmap.clone().with_probabilities(vec![0.5, -0.5]);
    assert_eq!(wrong.unwrap_err(), HeatmapError::Probability { index: 1, value: -0.5 });
    assert_eq!(heatmap.with_probabilities(vec![0.5, 1.0]).unwrap().probabilities(), Some(&[0.5, 1.0][..]));
}

/// `the un believ able` and its end, to `in cred ibile` and its end.
fn pieces() -> Heatmap {
    let piece = |(text, word): &(&str, usize)| Token::piece(*text, *word);
    let source: Vec<Token> =
        [("▁the", 0), ("▁un", 1), ("able", 1)].iter().map(piece).chain([Token::end("</s>")]).collect();
    let target: Vec<Token> =
        [("in", 0), ("ibile", 0)].iter().map(piece).chain([Token::end("</s>")]).collect();
    let values = vec![vec![0.5, 0.25, 0.25, 0.0], vec![0.0, 0.5, 0.0, 0.5], vec![0.0, 0.0, 0.0, 1.0]];
    let signed = vec![vec![1.0, -2.0, 0.5, 1.0], vec![3.0, 0.0, 0.5, 0.0], vec![0.0, 0.0, 0.0, -1.0]];
    let panels = vec![panel("attention", Scale::Share, values), panel("erasure", Scale::Signed, signed)];
    Heatmap::new("", source, target, panels).unwrap().with_probabilities(vec![0.5, 0.5, 1.0]).unwrap()
}

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

#[test]
fn words_are_sums_over_the_source_and_means_over_the_target() {
    let merged = pieces().merge_words();
    assert_eq!(texts(merged.source()), ["the", "unable", "</s>"]);
    assert_eq!(texts(merged.target()), ["inibile", "</s>"]);
    assert_eq!(merged.panels()[0].values, [vec![0.25, 0.5, 0.25], vec![0.0, 0.0, 1.0]]);
    assert_eq!(merged.panels()[1].values, [vec![2.0, -0.5, 0.5], vec![0.0, 0.0, -1.0]]);
    assert_eq!(merged.probabilities(), Some(&[0.25, 1.0][..]));
}

#[test]
fn without_the_end_shares_are_divided_again() {
    let cut = pieces().without_end();
    assert_eq!(texts(cut.source()), ["▁the", "▁un", "able"]);
    assert_eq!(texts(cut.target()), ["in", "ibile"]);
    assert_eq!(cut.panels()[0].values, [vec![0.5, 0.25, 0.25], vec![0.0, 1.0, 0.0]]);
    assert_eq!(cut.panels()[1].values, [vec![1.0, -2.0, 0.5], vec![3.0, 0.0, 0.5]]);
    assert_eq!(cut.probabilities(), Some(&[0.5, 0.5][..]));
}

#[test]
fn a_row_that_looks_at_the_end_alone_stays_zero() {
    let source = vec![Token::piece("a", 0), Token::end("</s>")];
    let panels = vec![panel("attention", Scale::Share, vec![vec![0.0, 1.0]])];
    let cut = Heatmap::new("", source, words("b"), panels).unwrap().without_end();
    assert_eq!(cut.panels()[0].values, [vec![0.0]]);
}

#[test]
fn an_axis_of_end_tokens_alone_stays() {
    let panels = vec![panel("attention", Scale::Share, vec![vec![1.0]])];
    let heatmap = Heatmap::new("", vec![Token::end("</s>")], words("a"), panels).unwrap();
    assert!(!heatmap.has_end());
    assert_eq!(heatmap.without_end(), heatmap);
}

#[test]
fn bytes_become_characters_again() {
    let source = ["<0xC3>", "<0xA8>", "<0x41>"].map(|text| Token::piece(text, 0)).to_vec();
    let heatmap =
        Heatmap::new("", source, words("b"), vec![panel("attention", Scale::Share, diagonal(3, 1))]).unwrap();
    assert_eq!(texts(heatmap.merge_words().source()), ["è<0x41>"]);
    let broken = ["<0xC3>", "<0x", "€>"].map(|text| Token::piece(text, 0)).to_vec();
    let panels = vec![panel("attention", Scale::Share, diagonal(3, 1))];
    let heatmap = Heatmap::new("", broken, words("b"), panels).unwrap();
    assert_eq!(texts(heatmap.merge_words().source()), ["<0xC3><0x€>"]);
}

/// Tokens of words in one to three pieces, with or without an end token.
fn axis() -> impl Strategy<Value = Vec<Token>> {
    (prop::collection::vec(1usize..4, 1..6), any::<bool>()).prop_map(|(words, ended)| {
        let pieces = words
            .iter()
            .enumerate()
            .flat_map(|(word, &pieces)| (0..pieces).map(move |_| Token::piece("x", word)));
        pieces.chain(ended.then(|| Token::end("</s>"))).collect()
    })
}

/// A heatmap with a panel of shares, whose rows sum to one, and a signed one.
fn heatmaps() -> impl Strategy<Value = Heatmap> {
    (axis(), axis()).prop_flat_map(|(source, target)| {
        let row = prop::collection::vec(0.0f32..1.0, source.len());
        let matrix = prop::collection::vec(row, target.len());
        (Just(source), Just(target), matrix).prop_map(|(source, target, signed)| {
            let share = |row: &Vec<f32>| {
                let sum: f32 = row.iter().sum();
                row.iter().map(|value| if sum > 0.0 { value / sum } else { 0.0 }).collect()
            };
            let shares = signed.iter().map(share).collect();
            let panels =
                vec![panel("attention", Scale::Share, shares), panel("erasure", Scale::Signed, signed)];
            Heatmap::new("", source, target, panels).unwrap()
        })
    })
}

fn sums(panel: &Panel) -> Vec<f32> {
    panel.values.iter().map(|row| row.iter().sum()).collect()
}

/// Whether the heatmap would pass its own checks: views are made without them.
fn holds(heatmap: &Heatmap) -> bool {
    let Heatmap { title, source, target, panels, .. } = heatmap.clone();
    Heatmap::new(title, source, target, panels).is_ok()
}

proptest! {
    #[test]
    fn merging_keeps_sums_and_is_done_once(heatmap in heatmaps()) {
        let merged = heatmap.merge_words();
        prop_assert!(holds(&merged));
        prop_assert!(!merged.has_pieces());
        prop_assert_eq!(&merged.merge_words(), &merged);
        for sum in sums(&merged.panels[0]) {
            prop_assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-5, "{sum}");
        }
    }

    #[test]
    fn hiding_the_end_keeps_sums_and_is_done_once(heatmap in heatmaps()) {
        let cut = heatmap.without_end();
        prop_assert!(holds(&cut));
        prop_assert!(!cut.has_end());
        prop_assert_eq!(&cut.without_end(), &cut);
        for sum in sums(&cut.panels[0]) {
            prop_assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-5, "{sum}");
        }
        // What is left keeps its proportions.
        for (row, cut_row) in heatmap.panels[0].values.iter().zip(&cut.panels[0].values) {
            let rest: f32 = row[..cut_row.len()].iter().sum();
            for (value, cut_value) in row.iter().zip(cut_row) {
                prop_assert!((value - cut_value * rest).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn every_view_can_be_drawn(heatmap in heatmaps(), text in ".{0,12}", width in 0usize..120) {
        let mut heatmap = heatmap;
        heatmap.source[0].text = text.clone();
        heatmap.target[0].text = text;
        for view in [heatmap.merge_words(), heatmap.merge_words().without_end()] {
            crate::svg::assert_well_formed(&svg(&view));
            terminal(&view, width, Colours::None);
        }
        html(&[heatmap]);
    }
}
