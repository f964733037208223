//! BLEU, chrF, TER and the significance tests against sacreBLEU's values (`tools/golden_metrics.py`).

use gatto_metrics::translation::significance::{self, Interval, SEED, Side};
use gatto_metrics::translation::{
    Bleu, Chrf, Metric, References, Score, Signature, Smoothing, Statistics, Ter, Tokenizer,
};
use serde_json::Value;

/// How far a score may be off, relative to itself: the mathematical functions of another machine
/// may round differently.
const TOLERANCE: f64 = 1e-13;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../tests/golden/metrics_translation.json")).expect("valid JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn whole(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

#[track_caller]
fn assert_close(found: f64, expected: f64, case: &Value) {
    let close = (found - expected).abs() <= TOLERANCE * expected.abs();
    assert!(close, "{found} and not {expected}: {} {} {}", case["metric"], case["args"], case["system"]);
}

/// A metric with the settings of a case.
enum AnyMetric {
    Bleu(Bleu),
    Chrf(Chrf),
    Ter(Ter),
}

impl AnyMetric {
    fn of(case: &Value) -> Self {
        let args = &case["args"];
        let flag = |name: &str| args[name].as_bool().unwrap_or(false);
        let size = |name: &str, usual| args[name].as_u64().map_or(usual, |size| size as usize);
        match text(&case["metric"]) {
            "bleu" => Self::Bleu(Bleu {
                tokenizer: args["tokenize"].as_str().unwrap_or("13a").parse().expect("a tokenizer"),
                smoothing: Smoothing::named(
                    args["smooth_method"].as_str().unwrap_or("exp"),
                    args["smooth_value"].as_f64(),
                )
                .expect("a smoothing"),
                lowercase: flag("lowercase"),
                max_order: size("max_ngram_order", 4),
                effective_order: flag("effective_order"),
            }),
            "chrf" => Self::Chrf(Chrf {
                char_order: size("char_order", 6),
                word_order: size("word_order", 0),
                beta: size("beta", 2) as u32,
                lowercase: flag("lowercase"),
                whitespace: flag("whitespace"),
                eps_smoothing: flag("eps_smoothing"),
            }),
            "ter" => Self::Ter(Ter {
                normalized: flag("normalized"),
                no_punct: flag("no_punct"),
                asian_support: flag("asian_support"),
                case_sensitive: flag("case_sensitive"),
            }),
            other => panic!("no metric {other}"),
        }
    }
}

/// Runs the same lines with whichever metric a case has.
macro_rules! with_metric {
    ($case:expr, $metric:ident => $body:expr) => {
        match AnyMetric::of($case) {
            AnyMetric::Bleu($metric) => $body,
            AnyMetric::Chrf($metric) => $body,
            AnyMetric::Ter($metric) => $body,
        }
    };
}

fn references<'a>(golden: &'a Value, case: &Value) -> Vec<Vec<&'a str>> {
    let count = match text(&case["references"]) {
        "one" => 1,
        "two" => 2,
        _ => 3,
    };
    let present = |line: &'a Value| array(line)[..count].iter().filter_map(Value::as_str).collect();
    array(&golden["references"]).iter().map(present).collect()
}

fn statistics<M: Metric>(golden: &Value, case: &Value, system: &str, metric: &M) -> Statistics {
    let hypotheses: Vec<&str> = array(&golden[system]).iter().map(text).collect();
    let references = references(golden, case);
    let references = References::per_line(&references).expect("references");
    metric.statistics(&hypotheses, &references).expect("as many lines of each")
}

/// A signature of sacreBLEU with our version.
fn with_our_version(golden: &Value, signature: &Value) -> String {
    text(signature).replace(text(&golden["version"]), Signature::VERSION)
}

#[test]
fn tokens_are_the_same() {
    for case in array(&golden()["tokens"]) {
        let line = text(&case["text"]);
        for tokenizer in Tokenizer::ALL {
            let found = tokenizer.tokenize(line.trim_end());
            assert_eq!(found, text(&case[tokenizer.name()]), "{tokenizer} of {line:?}");
        }
        for setting in 0..8 {
            let [normalized, no_punct, asian_support] = [1, 2, 4].map(|bit| setting & bit != 0);
            let mut name = "ter".to_owned();
            for (on, part) in [(normalized, "-norm"), (no_punct, "-nopunct"), (asian_support, "-asian")] {
                name += if on { part } else { "" };
            }
            let ter = Ter { normalized, no_punct, asian_support, case_sensitive: false };
            assert_eq!(ter.tokenize(line), text(&case[&name]), "{name} of {line:?}");
        }
    }
}

#[test]
fn corpus_scores_and_signatures_are_the_same() {
    let golden = golden();
    for case in array(&golden["corpora"]) {
        with_metric!(case, metric => {
            let statistics = statistics(&golden, case, text(&case["system"]), &metric);
            let score = metric.corpus_score(&statistics).unwrap();
            assert_close(score.value(), number(&case["score"]), case);
            assert_eq!(score.to_string(), text(&case["text"]), "{case}");
            let signature = metric.signature(&statistics);
            assert_eq!(signature.to_string(), with_our_version(&golden, &case["signature"]));
            assert_eq!(signature.short(), with_our_version(&golden, &case["short"]));
        });
    }
}

#[test]
fn sentence_scores_are_the_same() {
    let golden = golden();
    for case in array(&golden["sentences"]) {
        with_metric!(case, metric => {
            let lines = references(&golden, case);
            let hypotheses = array(&golden[text(&case["system"])]).iter().map(text);
            for ((hypothesis, references), expected) in hypotheses.zip(&lines).zip(array(&case["scores"])) {
                let score = metric.sentence_score(hypothesis, references).unwrap();
                assert_close(score.value(), number(expected), case);
            }
        });
    }
}

#[test]
fn confidence_intervals_are_the_same() {
    let golden = golden();
    for case in array(&golden["confidence"]) {
        with_metric!(case, metric => {
            let statistics = statistics(&golden, case, text(&case["system"]), &metric);
            let samples = whole(&case["samples"]);
            let interval = significance::confidence(&metric, &statistics, samples, SEED).unwrap();
            assert_close(interval.mean, number(&case["mean"]), case);
            assert_close(interval.half_width, number(&case["half_width"]), case);
            let signature = metric.signature(&statistics).with_bootstrap(samples, SEED);
            let score = metric.corpus_score(&statistics).unwrap();
            let line = score.line(2, Some(&signature), Some(interval));
            assert_eq!(line, with_our_version(&golden, &case["text"]));
            assert_eq!(signature.short(), with_our_version(&golden, &case["short"]));
        });
    }
}

fn assert_side(side: Side, expected: &Value, case: &Value) {
    assert_close(side.score, number(&expected[0]), case);
    match side.interval {
        Some(Interval { mean, half_width }) => {
            assert_close(mean, number(&expected[1]), case);
            assert_close(half_width, number(&expected[2]), case);
        }
        None => assert!(expected[1].is_null() && expected[2].is_null(), "no interval: {case}"),
    }
}

#[test]
fn paired_tests_are_the_same() {
    let golden = golden();
    for case in array(&golden["paired"]) {
        with_metric!(case, metric => {
            let baseline = statistics(&golden, case, "close", &metric);
            let system = statistics(&golden, case, text(&case["system"]), &metric);
            let samples = whole(&case["samples"]);
            let signature = metric.signature(&baseline);
            let (comparison, signature) = if text(&case["test"]) == "bs" {
                let test = significance::paired_bootstrap(&metric, &baseline, &system, samples, SEED);
                (test, signature.with_bootstrap(samples, SEED))
            } else {
                let bootstrap = case["ar_samples"].as_u64().map(|count| count as usize);
                let signature = match bootstrap {
                    Some(count) => signature.with_bootstrap(count, SEED),
                    None => signature,
                };
                let test =
                    significance::paired_randomisation(&metric, &baseline, &system, samples, bootstrap, SEED);
                (test, signature.with_randomisation(samples, SEED))
            };
            let comparison = comparison.unwrap();
            assert_side(comparison.baseline, &case["baseline"], case);
            assert_side(comparison.system, &case["compared"], case);
            assert_eq!(comparison.p_value, number(&case["p_value"]), "{case}");
            assert_eq!(signature.to_string(), with_our_version(&golden, &case["signature"]));
        });
    }
}
