//! Labels, gaps and continuations: `gatto predict` and `gatto evaluate` for models that do not translate.

use crate::models::{bidirectional, classifier, labeller, masked, writer};
use crate::{gatto, json, json_lines, names, numbers, refused, run, snapshot, text, written};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn predicted(model: &Path, more: &[&str], input: &str) -> Output {
    run(gatto(&["predict"]).arg(model).args(more), Some(input.as_bytes()))
}

fn evaluated(model: &Path, more: &[&str]) -> Output {
    run(gatto(&["evaluate"]).arg(model).args(more), None)
}

/// A file beside the run of a model.
fn beside(model: &Path, name: &str, content: &str) -> PathBuf {
    let path = model.parent().expect("a folder").join(name);
    fs::write(&path, content).expect("written");
    path
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// What the last validation of a run says.
fn last_validation(model: &Path) -> Value {
    let journal = fs::read_to_string(model.join("metrics.jsonl")).expect("figures");
    let mut entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).expect("valid JSON"));
    entries.rfind(|entry| entry["kind"] == "valid").expect("a validation")
}

#[test]
fn a_classifier_prints_a_label_for_every_line() {
    let lines = "the film is good\nis the book awful ?\n\nthe meal is nice\n";
    let found = written(predicted(classifier(), &[], lines));
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(
        (found.len(), found[0], found[1], found[3]),
        (4, "very positive", "negative", "very positive")
    );
    assert_eq!(written(predicted(classifier(), &["--batch", "1"], lines)).lines().collect::<Vec<_>>(), found);
    let objects = json_lines(predicted(classifier(), &["--json"], lines));
    for (object, label) in objects.iter().zip(&found) {
        assert_eq!(object["label"], *label);
        let probabilities = object["probabilities"].as_object().expect("an object");
        assert_eq!(probabilities.keys().collect::<Vec<_>>(), ["negative", "very positive"]);
        assert!((probabilities.values().map(number).sum::<f64>() - 1.0).abs() < 1e-5);
        assert_eq!(object["confidence"], probabilities[*label]);
        let weights = numbers(&object["weights"]);
        assert_eq!(weights.len(), object["tokens"].as_array().expect("a list").len());
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-5);
    }
    assert_eq!(objects[0]["source"], "the film is good");
}

#[test]
fn a_labeller_prints_a_label_for_every_word() {
    let lines = "the film is good\n\n is  the book awful ? \n";
    let found = written(predicted(labeller(), &[], lines));
    assert_eq!(found, "DET NOUN AUX ADJ\n\nAUX DET NOUN ADJ PUNCT\n");
    let objects = json_lines(predicted(labeller(), &["--json", "--batch", "2"], lines));
    assert_eq!(objects[2]["words"], serde_json::json!(["is", "the", "book", "awful", "?"]));
    assert_eq!(objects[2]["labels"], serde_json::json!(["AUX", "DET", "NOUN", "ADJ", "PUNCT"]));
    assert!(numbers(&objects[2]["confidences"]).iter().all(|p| (0.2..=1.0).contains(p)));
    assert_eq!(objects[1]["words"], serde_json::json!([]));
}

#[test]
fn a_masked_language_model_fills_the_gaps() {
    let lines = "the film [MASK] good\nno gap here\n\n[MASK] the book bad [MASK]\n";
    let found = written(predicted(masked(), &[], lines));
    assert_eq!(found, "the film is good\nno gap here\n\nis the book bad ?\n");
    let objects = json_lines(predicted(masked(), &["--json"], lines));
    let gap = objects[0]["gaps"][0].as_array().expect("tokens").clone();
    assert_eq!((gap.len(), gap[0]["token"].as_str()), (5, Some("is")));
    let probabilities: Vec<f64> = gap.iter().map(|token| number(&token["probability"])).collect();
    assert!(probabilities.is_sorted_by(|a, b| a >= b) && probabilities.iter().sum::<f64>() <= 1.0 + 1e-6);
    assert_eq!(objects[1]["gaps"], serde_json::json!([]));
    assert_eq!(objects[3]["gaps"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_language_model_goes_on_where_the_line_ends() {
    let found = written(predicted(writer(), &[], "the film is\n\nis the\n"));
    for (line, begin) in found.lines().zip(["the film is ", "", "is the "]) {
        assert!(line.starts_with(begin) && line.len() > begin.len(), "{found}");
    }
    let objects = json_lines(predicted(writer(), &["--json"], "the film is\n"));
    assert_eq!(objects[0]["text"].as_str(), found.lines().next());
    let lengths = |tokens: &str, logs: &str| {
        (objects[0][tokens].as_array().expect("a list").len(), numbers(&objects[0][logs]).len())
    };
    let (prompt, of_prompt) = lengths("prompt_tokens", "prompt_log_probabilities");
    assert!(prompt > 0 && prompt == of_prompt);
    let (tokens, logs) = lengths("tokens", "log_probabilities");
    assert_eq!(logs, tokens + usize::from(objects[0]["finished"] == true));
    let short = written(predicted(writer(), &["--max-length", "1"], "the\n"));
    assert_eq!(short.split_whitespace().count(), 2, "{short}");
}

/// A draw depends on the seed and on the number of the line.
#[test]
fn a_language_model_draws() {
    let lines = "the\n".repeat(40);
    let draw = |more: &[&str]| written(predicted(writer(), &[&["--sample"], more].concat(), &lines));
    let first = draw(&[]);
    assert_eq!(draw(&["--batch", "3"]), first, "whatever is computed together");
    assert_eq!(draw(&["--seed", "1", "--temperature", "1"]), first, "these are what is taken if not given");
    assert_ne!(draw(&["--seed", "2"]), first);
    let kinds =
        |found: &str| found.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>().len();
    assert!(kinds(&first) > 5, "{first}");
    let best = written(predicted(writer(), &[], "the\n"));
    for more in [["--top-k", "1"], ["--top-p", "0.01"]] {
        assert_eq!(draw(&more), best.repeat(40), "{more:?}");
    }
    // What was never seen is written only where improbable tokens are drawn, too.
    let known = |found: &str| found.lines().filter(|line| line.split(' ').nth(2) == Some("is")).count();
    let (cold, hot) = (draw(&["--temperature", "0.1"]), draw(&["--temperature", "10"]));
    assert_eq!((known(&cold), known(&hot)), (40, 0), "{cold}{hot}");
}

#[test]
fn flags_and_models_that_do_not_go_together_are_refused() {
    for (name, model, more) in [
        ("sample", classifier(), &["--sample"][..]),
        ("max-length", labeller(), &["--max-length", "3"]),
        ("alignment", masked(), &["--alignment"]),
        ("bidirectional", bidirectional(), &[]),
        ("long", labeller(), &[]),
    ] {
        let line = if name == "long" { "a\n".to_owned() + &"a ".repeat(40) } else { "a".to_owned() };
        let output = predicted(model, more, &line);
        assert_eq!(output.status.code(), Some(1));
        snapshot(&format!("predict-task-{name}"), &text(&output.stderr), model.parent());
    }
    for (name, model, more) in [
        ("text", classifier(), &["--text", "a"][..]),
        ("pairs", writer(), &["--source", "a", "--target", "b"]),
        ("plot", masked(), &["--plot", "a.svg"]),
        ("wrong", bidirectional(), &["--wrong", "3"]),
        ("no-test", labeller(), &[]),
        ("no-test-text", writer(), &[]),
    ] {
        snapshot(&format!("evaluate-task-{name}"), &refused(evaluated(model, more)), model.parent());
    }
}

#[test]
fn labels_are_measured_one_by_one() {
    for model in [classifier(), labeller()] {
        let report = written(evaluated(model, &["--part", "valid"]));
        assert!(report.starts_with("accuracy  100.00 %  ("), "{report}");
        let found = json(evaluated(model, &["--part", "valid", "--json"]));
        assert_eq!((number(&found["accuracy"]), number(&found["macro_f1"])), (1.0, 1.0));
        assert_eq!(number(&found["examples"]), 36.0);
    }
    // Two of three are right: the third should be the other.
    let source = beside(classifier(), "s", "the film is good\nthe book is bad\nthe meal is great\n");
    let target = beside(classifier(), "t", "very positive\nnegative\nnegative\n");
    let files = ["--source", source.to_str().expect("text"), "--target", target.to_str().expect("text")];
    let report = written(evaluated(classifier(), &[&files[..], &["--wrong", "5"]].concat()));
    snapshot("evaluate-labels", &report, None);
    let found = json(evaluated(classifier(), &[&files[..], &["--json"]].concat()));
    assert_eq!(found["labels"][0]["label"], "negative");
    let figures = ["precision", "recall", "f1", "count"].map(|name| number(&found["labels"][0][name]));
    assert_eq!(figures, [1.0, 0.5, 2.0 / 3.0, 2.0]);
}

#[test]
fn language_models_are_measured_as_in_training() {
    for model in [masked(), bidirectional(), writer()] {
        let found = json(evaluated(model, &["--part", "valid", "--json"]));
        let expected = last_validation(model);
        for figure in ["loss", "perplexity", "accuracy"] {
            let (a, b) = (number(&found[figure]), number(&expected[figure]));
            assert!((a - b).abs() < 1e-4 * b.abs().max(1.0), "{figure}: {a} and not {b}");
        }
        assert_eq!(found.get("bits_per_byte").is_some(), model != masked());
        let text = model.parent().expect("a folder").join("text.txt");
        let same = json(evaluated(model, &["--text", text.to_str().expect("text"), "--json"]));
        assert_eq!(same, found);
        let report = written(evaluated(model, &["--part", "valid"]));
        assert_eq!(report.contains("per byte"), model != masked(), "{report}");
    }
    // The same sum over tokens and over bytes.
    let found = json(evaluated(writer(), &["--part", "valid", "--json"]));
    let text = fs::read_to_string(writer().parent().expect("a folder").join("text.txt")).expect("text");
    let bits = number(&found["loss"]) * number(&found["tokens"]) / (text.len() as f64 * 2f64.ln());
    assert!((number(&found["bits_per_byte"]) - bits).abs() < 1e-9, "{found}");
    assert_eq!(found["perplexity_per_byte"], found["perplexity_per_character"], "it is ASCII");
}

#[test]
fn labels_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let cases = [
        ("unknown", "label", "a b\tX Y\n", "a\tX\nb\tZ\n"),
        ("counts", "label", "a b\tX Y\na b\tX\n", "a\tX\n"),
        ("no-labels", "classify", "", "a\tX\n"),
        ("no-valid", "classify", "a\tX\n", ""),
    ];
    for (name, task, train, valid) in cases {
        fs::write(path("train.tsv"), train).expect("written");
        fs::write(path("valid.tsv"), valid).expect("written");
        let config = format!(
            "task = \"{task}\"\n[data]\ntrain = {{ tsv = \"train.tsv\" }}\nvalid = {{ tsv = \"valid.tsv\" }}\n\
             [tokens]\nkind = \"word\"\n[encoder.gru]\nwidth = 4\n[train]\nsteps = 1\n"
        );
        fs::write(path("config.toml"), config).expect("written");
        let mut command = gatto(&["train", "--quiet"]);
        let said = refused(run(command.arg(path("config.toml")).arg("--out").arg(path("run")), None));
        snapshot(&format!("train-labels-{name}"), &said, Some(folder.path()));
        assert!(!path("run").exists(), "what could not start leaves nothing behind");
    }
}

#[test]
fn a_model_without_its_labels_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_directory = folder.path().join("run");
    fs::create_dir(&run_directory).expect("created");
    for file in ["config.toml", "model.safetensors", "tokenizer.json"] {
        fs::copy(classifier().join(file), run_directory.join(file)).expect("copied");
    }
    for (name, labels) in
        [("missing", None), ("one-more", Some("[\"a\", \"b\", \"c\"]")), ("none", Some("[]"))]
    {
        if let Some(labels) = labels {
            fs::write(run_directory.join("labels.json"), labels).expect("written");
        }
        let said = refused(predicted(&run_directory, &[], "a\n"));
        snapshot(&format!("labels-{name}"), &said, Some(folder.path()));
    }
    assert!(names(classifier()).contains(&"labels.json".to_owned()));
}
