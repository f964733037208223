//! `gatto explain-report`

use crate::models::{attentive, language_model, model};
use crate::{gatto, json, refused, run, snapshot, written};
use serde_json::Value;
use std::fs;
use std::process::Command;

fn report(more: &[&str]) -> Command {
    let mut command = gatto(&["explain-report"]);
    command.arg(attentive()).args(more);
    command
}

const CORRELATIONS: [&str; 3] = ["attention_and_gradient", "attention_and_erasure", "gradient_and_erasure"];

/// All numbers of a text.
fn figures(text: &str) -> Vec<f64> {
    let parts = text.split(|sign: char| !sign.is_ascii_digit() && sign != '.' && sign != '-');
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn the_report_says_what_json_says() {
    let text = written(run(&mut report(&["--examples", "20"]), None));
    let found = json(run(&mut report(&["--examples", "20", "--json"]), None));
    assert_eq!(
        text,
        written(run(&mut report(&["--examples", "20"]), None)),
        "the same seed, the same figures"
    );

    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(figures(lines[0]), [20.0, found["tokens"].as_f64().expect("a number")]);
    let close = |shown: f64, exact: &Value| {
        let exact = exact.as_f64().expect("a number");
        assert!((shown - exact).abs() < 0.00051, "{text}{found}");
        assert!((-1.0..=1.0).contains(&exact), "{exact}");
    };
    for (line, name) in lines[2..5].iter().zip(CORRELATIONS) {
        close(*figures(line).last().expect("a figure"), &found["kendall_tau"][name]);
    }
    let falls = found["fall_of_probability"].as_array().expect("falls");
    assert_eq!((lines.len(), falls.len()), (6 + 3, 3), "{text}");
    for (deleted, (line, fall)) in (1..).zip(lines[6..].iter().zip(falls)) {
        let [count, attended, random] = figures(line)[..] else { panic!("{line}") };
        assert_eq!((count, &fall["deleted"]), (f64::from(deleted), &Value::from(deleted)));
        close(attended, &fall["attended"]);
        close(random, &fall["random"]);
    }
    // Without the symbol that it looks at, a model that looks symbols up cannot write it.
    let [attended, random] = ["attended", "random"].map(|name| falls[0][name].as_f64().expect("a fall"));
    assert!(attended > 0.5 && attended > random + 0.1, "{text}");
}

#[test]
fn a_seed_changes_the_random_deletions_alone() {
    let mut one = json(run(&mut report(&["--examples", "20", "--json"]), None));
    let mut other = json(run(&mut report(&["--examples", "20", "--json", "--seed", "2"]), None));
    let random = |found: &mut Value| -> Vec<Value> {
        let falls = found["fall_of_probability"].as_array_mut().expect("falls");
        falls.iter_mut().map(|fall| fall["random"].take()).collect()
    };
    assert_ne!(random(&mut one), random(&mut other));
    assert_eq!(one, other);
}

#[test]
fn the_output_of_the_model_can_be_explained_in_place_of_targets() {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, target, own] = ["source", "target", "own"].map(|name| folder.path().join(name));
    let lines = "a b c\nd e\nf g h i\n";
    fs::write(&source, lines).expect("written");
    fs::write(&target, "x\ny z\nw\n").expect("written");
    fs::write(&own, written(run(gatto(&["predict"]).arg(attentive()), Some(lines.as_bytes()))))
        .expect("written");
    let of = |target, more: &[&str]| {
        let mut command = report(&["--json"]);
        json(run(command.arg("--source").arg(&source).arg("--target").arg(target).args(more), None))
    };
    let (given, own) = (of(&target, &[]), of(&own, &[]));
    assert_eq!((&given["sentences"], &given["tokens"]), (&Value::from(3), &Value::from(2 + 3 + 2)));
    assert_ne!(given, own);
    assert_eq!(of(&target, &["--own"]), own);
}

#[test]
fn models_that_look_at_nothing_are_refused() {
    let said = refused(run(gatto(&["explain-report"]).arg(model()), None));
    snapshot("explain-report-no-attention", &said, model().parent());
    let said = refused(run(gatto(&["explain-report"]).arg(language_model()), None));
    snapshot("explain-report-language-model", &said, language_model().parent());
}
