//! Models that take the place of others, and a service that comes to its end: no request is dropped.

use crate::client::{read, read_chunk, read_head};
use crate::models::{endless, other, reversing};
use crate::{KEY, Running, patient, settings};
use burn::tensor::Device;
use gatto_model::Saved;
use gatto_serve::{Keys, Limits, Service};
use serde_json::json;
use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn predicted(model: &Path) -> String {
    let saved = Saved::load(model, &Device::flex()).expect("a model");
    saved.predict(&["a b c"], 1).expect("a prediction").remove(0).text
}

/// Puts the files of a run into a directory, each whole.
pub(crate) fn put(run: &Path, directory: &Path) {
    for file in fs::read_dir(run).expect("a run").flatten().filter(|entry| entry.path().is_file()) {
        let (new, name) = (directory.join(".new"), directory.join(file.file_name()));
        fs::copy(file.path(), &new).expect("copied");
        fs::rename(&new, name).expect("renamed");
    }
}

#[test]
fn a_model_is_replaced_under_load() {
    let folder = tempfile::tempdir().expect("a folder");
    put(reversing(), folder.path());
    let mut locked = settings(&[("model", folder.path())]);
    locked.keys = Keys::new([KEY]).expect("a key");
    let running = Running::new(locked);
    let known = || running.client().with("authorization", &format!("Bearer {KEY}"));
    let (old, new) = (predicted(reversing()), predicted(other()));
    assert_ne!(old, new, "the test needs models that differ");
    let replaced = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let client = || {
            let mut after = 0;
            let mut seen = Vec::new();
            while after < 3 {
                after += u32::from(replaced.load(Ordering::SeqCst));
                let found = known().post("/v1/predict", &json!({ "text": ["a b c", "a b c"] })).json();
                let text = found["answers"][0]["text"].clone();
                assert_eq!(text, found["answers"][1]["text"], "a request has one model");
                assert!(text == old.as_str() || text == new.as_str(), "{text}");
                seen.push(text);
            }
            assert_eq!(seen.last(), Some(&json!(new)), "who comes later finds the new model");
        };
        let clients: Vec<_> = (0..6).map(|_| scope.spawn(client)).collect();
        put(other(), folder.path());
        let told = known().post("/v1/models/replace", &json!({ "model": "model" })).json();
        assert_eq!(told, json!({ "replaced": ["model"], "failed": [] }));
        replaced.store(true, Ordering::SeqCst);
        clients.into_iter().for_each(|client| client.join().expect("answers"));
    });
    assert_eq!(known().get("/v1/models").json()["models"][0]["load"], 2);

    fs::write(folder.path().join("model.safetensors"), b"damaged").expect("written");
    let failed = known().post("/v1/models/replace", &json!({}));
    assert_eq!(failed.status, 500);
    assert!(failed.text().contains("\"failed\":[{\"model\":\"model\""), "{}", failed.text());
    let path = folder.path().display().to_string();
    assert!(!failed.text().contains(&path), "where files lie is nobody's business");
    let found = known().post("/v1/predict", &json!({ "text": "a b c" })).json();
    assert_eq!(found["answers"][0]["text"], new, "what cannot be loaded takes no place");
    known().post("/v1/models/replace", &json!({ "model": "unheard" })).refused(404);
    known().post("/v1/models/replace", &json!({ "directory": "/etc" })).refused(400);
    // What it depends on cannot be told of a model whose files are another one's.
    let trace = known().post("/v1/trace", &json!({ "text": "a b", "attributions": true }));
    assert!(trace.status == 400 || trace.status == 500, "{}", trace.text());
}

#[test]
fn without_keys_nobody_replaces_a_model_but_the_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    put(reversing(), folder.path());
    let running = Running::of(folder.path());
    running.post("/v1/models/replace", &json!({})).refused(403);
    put(other(), folder.path());
    running.control.replace(); // as a SIGHUP does
    while running.get("/v1/models").json()["models"][0]["load"] == 1 {
        std::thread::yield_now();
    }
    let found = running.post("/v1/predict", &json!({ "text": "a b c" })).json();
    assert_eq!(found["answers"][0]["text"], predicted(other()));
}

#[test]
fn requests_under_way_are_answered_before_the_end() {
    let mut service = settings(&[("model", reversing())]);
    service.limits = Limits { gather: Duration::from_millis(300), ..Limits::default() };
    let mut running = Running::new(service);
    let expected = predicted(reversing());
    let waiting: Vec<_> =
        (0..8).map(|_| running.client().begin("/v1/predict", &json!({ "text": "a b c" }))).collect();
    // They wait for company, and the service is told to stop.
    while !running.get("/metrics").text().contains("gatto_queue_sources 8") {
        std::thread::yield_now();
    }
    running.stop();
    for waiting in waiting {
        assert_eq!(read(waiting).json()["answers"][0]["text"], expected);
    }
}

#[test]
fn what_takes_too_long_does_not_keep_a_service_from_its_end() {
    let mut service = settings(&[("long", endless())]);
    service.limits = Limits { grace: Duration::from_millis(100), ..patient() };
    let mut running = Running::new(service);
    let busy = running.client().begin("/v1/predict", &json!({ "text": "a", "stream": true }));
    let mut events = BufReader::new(busy);
    read_head(&mut events).expect("a head");
    read_chunk(&mut events).expect("a token");
    running.stop();
}

#[test]
fn services_that_cannot_be_are_refused() {
    let told = |change: fn(&mut gatto_serve::Settings)| {
        let mut settings = settings(&[("model", reversing())]);
        change(&mut settings);
        Service::open(settings).err().expect("a refusal").to_string()
    };
    assert!(told(|settings| settings.places.clear()).contains("no model"));
    assert!(told(|settings| settings.places.push(settings.places[0].clone())).contains("two models"));
    assert!(
        told(|settings| settings.places[0].directory = "nowhere".into()).contains("is not a run directory")
    );
    assert!(told(|settings| settings.origins = vec!["example.org".to_owned()]).contains("no origin"));
    assert!(told(|settings| settings.limits.queue = 1).contains("queue"));
    let taken = Running::of(reversing());
    let mut second = settings(&[("model", reversing())]);
    second.listen = taken.address;
    assert!(Service::open(second).err().expect("a refusal").to_string().contains("cannot be listened on"));
}
