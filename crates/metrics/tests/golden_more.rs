//! Error rates, ROUGE, labels, spans, calibration and intervals against the values of jiwer, rouge-score,
//! scikit-learn, seqeval, numpy and SciPy (`tools/golden_metrics_more.py`).

use gatto_metrics::translation::References;
use gatto_metrics::{
    Bootstrap, Calibration, CalibrationBin, Edits, ErrorRate, Figures, LabelCount, LabelCounts, Rouge,
    RougeScores, SpanCounts, SpanScheme, Unit, porter, wilson,
};
use serde_json::Value;

const GOLDEN: &str = include_str!("../../../tests/golden/metrics_more.json");

/// The cases of a kind, of which there must be some.
fn golden(kind: &str) -> Vec<Value> {
    let golden: Value = serde_json::from_str(GOLDEN).expect("valid JSON");
    let cases = array(&golden[kind]).clone();
    assert!(!cases.is_empty(), "{kind}");
    cases
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn texts(value: &Value) -> Vec<&str> {
    array(value).iter().map(text).collect()
}

fn lists(value: &Value) -> Vec<Vec<&str>> {
    array(value).iter().map(texts).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    array(value).iter().map(number).collect()
}

fn counts(value: &Value) -> Vec<usize> {
    array(value).iter().map(|value| value.as_u64().expect("a count") as usize).collect()
}

fn truth(value: &Value) -> bool {
    value.as_bool().expect("true or false")
}

fn assert_near(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12, "{what}: {found} and not {expected}");
    }
}

fn values(figures: Figures) -> [f64; 3] {
    [figures.precision, figures.recall, figures.f1]
}

#[test]
fn error_rates_are_those_of_jiwer() {
    for case in golden("errors") {
        let unit = match text(&case["unit"]) {
            "words" => Unit::Words,
            "characters" => Unit::Characters,
            _ => Unit::Phonemes,
        };
        let (lowercase, strip_punctuation) = (truth(&case["lowercase"]), truth(&case["strip_punctuation"]));
        let rate = ErrorRate { unit, lowercase, strip_punctuation };
        let (outputs, references) = (texts(&case["outputs"]), lists(&case["references"]));
        let references = References::per_line(&references).expect("references");
        let name = text(&case["name"]);
        let lines = rate.lines(&outputs, &references).expect("one length");
        for (line, (found, expected)) in lines.iter().zip(array(&case["lines"])).enumerate() {
            let Edits { substitutions, deletions, insertions, length } = *found;
            let found = [substitutions, deletions, insertions, length];
            assert_eq!(
                found[..],
                counts(expected),
                "{name}: {:?}, {:?}",
                outputs[line],
                references.line(line)
            );
        }
        let found = rate.corpus(&outputs, &references).expect("one length").rate();
        assert_near(name, &[found], &[number(&case["rate"])]);
    }
}

#[test]
fn stems_are_those_of_nltk() {
    for pair in golden("stems") {
        let pair = texts(&pair);
        assert_eq!(porter::stem(pair[0]), pair[1], "of {}", pair[0]);
    }
}

#[test]
fn rouge_is_that_of_rouge_score() {
    let assert_scores = |what: &str, found: RougeScores, expected: &Value| {
        let found = [found.one, found.two, found.longest, found.longest_by_sentence];
        for (found, expected) in found.into_iter().zip(array(expected)) {
            assert_near(what, &values(found), &numbers(expected));
        }
    };
    for case in golden("rouge") {
        let rouge = Rouge { stem: truth(&case["stem"]) };
        let (outputs, references) = (texts(&case["outputs"]), lists(&case["references"]));
        let references = References::per_line(&references).expect("references");
        let lines = rouge.lines(&outputs, &references).expect("one length");
        for (line, (found, expected)) in lines.into_iter().zip(array(&case["lines"])).enumerate() {
            let what = format!("{}: {:?}, {:?}", case["name"], outputs[line], references.line(line));
            assert_scores(&what, found, expected);
        }
        let mean = rouge.corpus(&outputs, &references).expect("one length");
        assert_scores(text(&case["name"]), mean, &case["mean"]);
    }
}

/// Each label or type with its precision, recall, F₁ and count.
fn assert_labels<'a>(what: &str, found: impl Iterator<Item = (&'a str, &'a LabelCount)>, expected: &[Value]) {
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for ((name, count), expected) in found.into_iter().zip(expected) {
        let (label, figures) = array(expected).split_first().expect("a label");
        assert_eq!(name, text(label), "{what}");
        let [precision, recall, f1] = values(count.figures());
        let figures: Vec<f64> = figures.iter().map(number).collect();
        assert_near(&format!("{what}, {name}"), &[precision, recall, f1, count.gold as f64], &figures);
    }
}

#[test]
fn labels_are_those_of_scikit_learn() {
    for case in golden("classification") {
        let name = text(&case["name"]);
        let found = LabelCounts::of_lists(&texts(&case["answers"]), &texts(&case["references"]));
        let found = found.expect("one length");
        assert_near(name, &[found.accuracy()], &[number(&case["accuracy"])]);
        assert_labels(name, found.labels(), array(&case["labels"]));
        assert_near(name, &values(found.micro_average()), &numbers(&case["micro"]));
        assert_near(name, &values(found.macro_average()), &numbers(&case["macro"]));
        assert_near(name, &values(found.weighted_average()), &numbers(&case["weighted"]));
        let confusion: Vec<_> = array(&case["confusion"]).iter().map(counts).collect();
        assert_eq!(found.confusion().counts, confusion, "{name}");
    }
}

#[test]
fn spans_are_those_of_seqeval() {
    for case in golden("spans") {
        let scheme = match text(&case["scheme"]) {
            "lenient" => SpanScheme::Lenient,
            "iob2" => SpanScheme::Iob2,
            _ => SpanScheme::Iobes,
        };
        let what = format!("{}, {scheme:?}", case["name"]);
        let found = SpanCounts::of(&lists(&case["outputs"]), &lists(&case["references"]), scheme);
        let found = found.expect("tags of the scheme");
        assert_labels(&what, found.types(), array(&case["types"]));
        assert_near(&what, &values(found.micro_average()), &numbers(&case["micro"]));
        assert_near(&what, &values(found.macro_average()), &numbers(&case["macro"]));
        assert_near(&what, &values(found.weighted_average()), &numbers(&case["weighted"]));
    }
}

#[test]
fn calibration_is_that_of_the_definition() {
    for case in golden("calibration") {
        let name = text(&case["name"]);
        let right = array(&case["right"]).iter().map(truth);
        let answers: Vec<_> = numbers(&case["confidences"]).into_iter().zip(right).collect();
        let expected = array(&case["bins"]);
        let found = Calibration::of(&answers, expected.len()).expect("probabilities");
        for (bin, expected) in found.bins.iter().zip(expected) {
            let CalibrationBin { count, confidence, accuracy } = *bin;
            assert_near(name, &[count as f64, confidence, accuracy], &numbers(expected));
        }
        let found = [found.expected_error(), found.maximum_error(), found.brier];
        let expected = ["expected_error", "maximum_error", "brier"].map(|key| number(&case[key]));
        assert_near(name, &found, &expected);
    }
}

#[test]
fn wilson_is_that_of_scipy() {
    for case in golden("wilson") {
        let case = numbers(&case);
        let found = wilson(case[0] as usize, case[1] as usize);
        assert_near(&format!("{case:?}"), &[found.low, found.high], &case[2..]);
    }
}

/// Many draws come close to all draws that there are.
#[test]
fn drawn_intervals_are_near_those_of_all_draws() {
    for case in golden("bootstrap") {
        let examples: Vec<_> =
            array(&case["examples"]).iter().map(|pair| (number(&pair[0]), number(&pair[1]))).collect();
        let found = Bootstrap { resamples: 20_000, ..Bootstrap::new(3) }.ratio(&examples).expect("examples");
        for (found, expected) in [(found.low, number(&case["low"])), (found.high, number(&case["high"]))] {
            assert!((found - expected).abs() < 0.01, "{examples:?}: {found} and not {expected}");
        }
    }
}
