//! Measures beside the metrics that they stand for, and their intervals.

use super::*;
use crate::translation::significance;
use crate::translation::{Bleu, Chrf, Metric, References, Score, Ter};
use crate::{Calibration, LabelCounts, SpanCounts, SpanScheme};
use proptest::prelude::*;

fn all(measure: &Measure) -> Vec<usize> {
    (0..measure.len()).collect()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a figure");
    assert!((found - expected).abs() < 1e-9, "{found} and not {expected}");
}

#[test]
fn translation_metrics_keep_their_scores_on_all_lines_and_on_some() {
    let outputs = ["the cat is on a table", "a dog ran", "he sees the small house", "no"];
    let gold = ["the cat is on the table", "a dog runs", "he sees a small house", "yes"];
    let some = [0, 2];
    let [few, few_gold] = [&outputs, &gold].map(|lines| some.map(|line| lines[line]));
    fn check<M: Metric + Clone + Send + 'static>(metric: M, texts: [&[&str]; 4], some: &[usize]) {
        let [outputs, gold, few, few_gold] = texts;
        let statistics = metric.statistics(outputs, &References::single(gold)).expect("one length");
        let measure = Measure::translation(metric.clone(), &statistics).expect("its own");
        near(measure.of(&all(&measure)), metric.corpus_score(&statistics).expect("lines").value());
        let statistics = metric.statistics(few, &References::single(few_gold)).expect("one length");
        near(measure.of(some), metric.corpus_score(&statistics).expect("lines").value());
    }
    let texts: [&[&str]; 4] = [&outputs, &gold, &few, &few_gold];
    check(Bleu::default(), texts, &some);
    check(Chrf::default(), texts, &some);
    check(Ter::default(), texts, &some);
    let foreign = Ter::default().statistics(&outputs, &References::single(&gold)).expect("one length");
    assert!(Measure::translation(Bleu::default(), &foreign).is_err());
}

#[test]
fn labels_spans_and_confidences_have_the_figures_of_their_counts() {
    let pairs = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "c"), ("c", "c"), ("a", "a")];
    let measure = Measure::macro_f1(pairs.map(|pair| [pair]));
    near(measure.of(&all(&measure)), LabelCounts::of(pairs).macro_f1());
    near(measure.of(&[0, 1]), LabelCounts::of([pairs[0], pairs[1]]).macro_f1());
    // The same words, three to an example.
    let measure = Measure::macro_f1([pairs[..3].to_vec(), pairs[3..].to_vec()]);
    near(measure.of(&[0, 1]), LabelCounts::of(pairs).macro_f1());

    let (output, gold) = ([vec!["B-X", "O"], vec!["B-Y", "I-Y"]], [vec!["B-X", "B-X"], vec!["B-Y", "O"]]);
    let spans = SpanCounts::of(&output, &gold, SpanScheme::Lenient).expect("tags");
    let measure = Measure::f1([[1, 1, 2], [0, 1, 1]]);
    near(measure.of(&[0, 1]), spans.micro_average().f1);

    let answers = [(0.9, true), (0.8, true), (0.7, false), (0.4, false), (1.0, false), (0.0, true)];
    let measure = Measure::calibration_error(answers, 5);
    near(measure.of(&all(&measure)), Calibration::of(&answers, 5).expect("bins").expected_error());
}

#[test]
fn what_there_is_nothing_of_has_no_figure() {
    let nothing: [(f64, f64); 0] = [];
    assert!(Measure::ratio(nothing).is_empty());
    assert_eq!(Measure::ratio([(1.0, 0.0)]).of(&[0]), None);
    assert_eq!(Measure::f1([[0, 0, 0]]).of(&[0]), None);
    assert_eq!(Measure::share([true]).of(&[7]), None, "there is no such example");
    let one = Measure::share([true]);
    assert_eq!(one.above(&Measure::share([true, true]), &Bootstrap::new(1)), None);
}

#[test]
fn few_examples_have_an_interval_only_if_they_are_right_or_wrong() {
    let bootstrap = Bootstrap::new(1);
    let some: Vec<usize> = (0..FEWEST).collect();
    let rates = Measure::ratio((0..20).map(|i| (f64::from(i % 3), 4.0)));
    assert_eq!(rates.interval(&some[1..], &bootstrap), None);
    assert!(rates.interval(&some, &bootstrap).is_some());
    let shares = Measure::share((0..20).map(|i| i % 3 == 0));
    assert_eq!(shares.interval(&[0], &bootstrap), Some(wilson(1, 1)));
}

/// sacreBLEU's interval is of other draws, and as wide.
#[test]
fn intervals_of_a_corpus_are_as_wide_as_those_of_sacrebleu() {
    let gold: Vec<String> =
        (0..200).map(|i| format!("the {i} cats of {} houses sleep", i * 7 % 13)).collect();
    let outputs: Vec<String> =
        (0..200).map(|i| format!("the {} cats of {} houses sleep", i / 2 * 2, i * 7 % 11)).collect();
    let metric = Chrf::default();
    let statistics = metric.statistics(&outputs, &References::single(&gold)).expect("one length");
    let expected = significance::confidence(&metric, &statistics, 1000, 1).expect("lines");
    let measure = Measure::translation(metric, &statistics).expect("its own");
    let found = measure.interval(&all(&measure), &Bootstrap::new(1)).expect("an interval");
    let half = (found.high - found.low) / 2.0;
    assert!((half / expected.half_width - 1.0).abs() < 0.15, "{half} {expected:?}");
}

#[test]
fn a_difference_is_of_the_same_examples() {
    // The second is wrong wherever the first is, and once more: that is sure, though both vary widely.
    let right: Vec<bool> = (0..100).map(|i| i % 2 == 0).collect();
    let less: Vec<bool> = (0..100).map(|i| i % 2 == 0 && i % 5 != 0).collect();
    let [clean, noisy] = [right, less].map(Measure::share);
    let found = clean.above(&noisy, &Bootstrap::new(1)).expect("figures");
    assert!((found.value - 0.1).abs() < 1e-12);
    let interval = found.interval.expect("enough examples");
    assert!(interval.low > 0.03 && interval.high < 0.18, "{interval:?}");
    let same = clean.above(&clean, &Bootstrap::new(1)).expect("figures");
    assert_eq!((same.value, same.interval), (0.0, Some(Interval { low: 0.0, high: 0.0 })));
}

proptest! {
    #[test]
    fn a_figure_lies_between_those_of_its_parts(
        examples in prop::collection::vec((0.0..5.0, 1.0..9.0), 2..30), at in 0_usize..30,
    ) {
        let measure = Measure::ratio(examples);
        let chosen = all(&measure);
        let (left, right) = chosen.split_at(at.clamp(1, chosen.len() - 1));
        let [whole, left, right] = [&chosen[..], left, right].map(|part| measure.of(part).expect("units"));
        prop_assert!(left.min(right) - 1e-9 <= whole && whole <= left.max(right) + 1e-9);
    }
}
