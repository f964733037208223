//! `/v1/runs`: training as it goes on.

use crate::models::{captioner, classifier, listener, reversing};
use crate::{KEY, Running, settings};
use gatto_serve::{Keys, ServeError, Service};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A service that shows the runs in a folder, and nothing else.
fn showing(folder: &Path) -> Running {
    let mut shown = settings(&[]);
    shown.runs = Some(folder.to_path_buf());
    Running::new(shown)
}

fn curve<'a>(run: &'a Value, name: &str) -> &'a Value {
    let all = run["curves"].as_array().expect("curves");
    all.iter().find(|curve| curve["name"] == name).unwrap_or_else(|| panic!("no {name} in {all:?}"))
}

#[test]
fn a_run_is_shown_as_training_has_left_it() {
    let folder = reversing().parent().expect("a folder");
    let running = showing(folder);
    let all = running.get("/v1/runs").json();
    assert_eq!(all["runs"].as_array().map(Vec::len), Some(1));
    let info = &all["runs"][0];
    assert_eq!((&info["name"], &info["task"]), (&json!("run"), &json!("translate")));
    assert_eq!((&info["step"], &info["steps"], &info["going_on"]), (&json!(120), &json!(120), &json!(false)));
    assert!(info["train_loss"].is_f64() && info["valid_loss"].is_f64() && info["seconds"].is_f64());
    assert_eq!(info["best"], json!({ "step": 120, "loss": info["valid_loss"] }));
    let run = running.get("/v1/runs/run").json();
    assert_eq!(run["name"], "run");
    assert_eq!(run["configuration"], fs::read_to_string(reversing().join("config.toml")).expect("text"));
    let lines = fs::read_to_string(reversing().join("metrics.jsonl")).expect("lines");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_training = lines.iter().filter(|line| line["kind"] == "train");
    let (steps, losses): (Vec<Value>, Vec<Value>) =
        of_training.map(|line| (line["step"].clone(), line["loss"].clone())).unzip();
    assert_eq!(
        (&curve(&run, "train.loss")["steps"], &curve(&run, "train.loss")["values"]),
        (&json!(steps), &json!(losses))
    );
    assert_eq!(curve(&run, "valid.exact_match")["steps"], json!([120]));
    // What training wrote of its first examples.
    let sampled = run["samples"].as_array().expect("samples");
    assert_eq!((sampled.len(), &sampled[0]["step"]), (1, &json!(120)));
    let examples = sampled[0]["examples"].as_array().expect("examples");
    assert_eq!(examples.len(), 4);
    for example in examples {
        let [source, reference] = ["source", "reference"].map(|key| example[key].as_str().expect("text"));
        let reversed: Vec<&str> = source.split(' ').rev().collect();
        assert_eq!(reference, reversed.join(" "), "the examples are those of the task");
        assert!(example["output"].is_string());
    }
}

#[test]
fn what_was_written_of_images_and_recordings_is_shown_too() {
    for model in [captioner(), listener()] {
        let running = showing(model.parent().expect("a folder"));
        let run = running.get("/v1/runs/run").json();
        let examples = run["samples"][0]["examples"].as_array().expect("examples");
        assert_eq!(examples.len(), 4);
        for example in examples {
            assert_eq!(example.get("source"), None);
            assert!(!example["reference"].as_str().expect("text").is_empty());
            assert!(example["output"].is_string());
        }
    }
    let running = showing(classifier().parent().expect("a folder"));
    assert_eq!(running.get("/v1/runs/run").json()["samples"], json!([]), "labels are no texts");
}

#[test]
fn only_what_is_new_is_told() {
    let place = tempfile::tempdir().expect("a folder");
    let run = place.path().join("group/two");
    fs::create_dir_all(&run).expect("created");
    fs::write(run.join("config.toml"), "task = \"classify\"\n[train]\nsteps = 5000\n").expect("written");
    let line = |step: u64| {
        format!("{{\"kind\":\"train\",\"step\":{step},\"loss\":{}.5,\"seconds\":{step}.0}}\n", step % 7)
    };
    let mut metrics = fs::File::create(run.join("metrics.jsonl")).expect("created");
    (1..=2500).for_each(|step| metrics.write_all(line(step).as_bytes()).expect("written"));
    let running = showing(place.path());
    assert_eq!(running.get("/v1/runs").json()["runs"][0]["name"], "group/two");
    let whole = running.get("/v1/runs/group%2Ftwo").json();
    assert_eq!(
        (&whole["task"], &whole["step"], &whole["going_on"]),
        (&json!("classify"), &json!(2500), &json!(true))
    );
    let steps = curve(&whole, "train.loss")["steps"].as_array().expect("steps").clone();
    assert_eq!((steps.len(), &steps[0], &steps[999]), (1000, &json!(1), &json!(2500)));
    let few = running.get("/v1/runs/group/two?points=3").json();
    assert_eq!(curve(&few, "train.loss")["steps"].as_array().map(Vec::len), Some(3));
    assert_eq!(running.get("/v1/runs/group%2Ftwo?after=2500").json()["curves"], json!([]));
    metrics.write_all(line(2501).as_bytes()).expect("written");
    metrics.write_all(b"{\"kind\":\"train\",\"st").expect("written");
    let new = running.get("/v1/runs/group%2Ftwo?after=2500").json();
    assert_eq!((&new["step"], &curve(&new, "train.loss")["steps"]), (&json!(2501), &json!([2501])));
    for bad in ["?points=1", "?points=100000", "?after=-1", "?other=1", "?after=x"] {
        running.get(&format!("/v1/runs/group%2Ftwo{bad}")).refused(400);
    }
}

#[test]
fn nothing_else_is_told() {
    let place = tempfile::tempdir().expect("a folder");
    for folder in ["runs", "secret"] {
        let folder = place.path().join(folder);
        fs::create_dir_all(&folder).expect("created");
        fs::write(folder.join("config.toml"), "task = \"classify\"\n").expect("written");
        fs::write(folder.join("metrics.jsonl"), "").expect("written");
    }
    let running = showing(&place.path().join("runs"));
    for bad in [
        "..%2Fsecret",
        "../secret",
        "%2e%2e%2fsecret",
        "%2Fetc",
        "..",
        ".",
        "%00",
        "a%2Fb%2Fc",
        "nothing",
        "%ff",
    ] {
        running.get(&format!("/v1/runs/{bad}")).refused(if bad == "%ff" { 400 } else { 404 });
    }
    assert_eq!(running.get("/v1/runs").json(), json!({ "runs": [] }));
    running.get("/v1/runs/").refused(404);
}

#[test]
fn runs_and_models_go_together_or_alone() {
    let folder = reversing().parent().expect("a folder");
    let alone = showing(folder);
    assert_eq!(alone.get("/v1/models").json(), json!({ "models": [], "runs": true }));
    let told = alone.post("/v1/predict", &json!({ "text": "a" })).refused(404);
    assert!(told.contains("no models"), "{told}");
    assert_eq!(alone.get("/languages").json(), json!([]));
    assert_eq!(alone.get("/ready").status, 200);
    let mut both = settings(&[("model", reversing())]);
    both.runs = Some(folder.to_path_buf());
    both.keys = Keys::new([KEY]).expect("a key");
    let both = Running::new(both);
    both.get("/v1/runs").refused(403);
    both.get("/v1/runs/run").refused(403);
    let known = || both.client().with("authorization", &format!("Bearer {KEY}"));
    assert_eq!(known().get("/v1/runs").json()["runs"][0]["name"], "run");
    assert_eq!(known().get("/v1/models").json()["models"][0]["name"], "model");
    let without = Running::of(reversing());
    assert!(without.get("/v1/runs").refused(404).contains("--runs"));
    assert!(matches!(Service::open(settings(&[])), Err(ServeError::NoModels)));
    let mut nowhere = settings(&[("model", reversing())]);
    nowhere.runs = Some(folder.join("nothing"));
    assert!(matches!(Service::open(nowhere), Err(ServeError::Runs { .. })));
}
