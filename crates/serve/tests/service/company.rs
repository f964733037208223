//! Many clients at once: answers do not depend on their company, and there is a bound to it.

use crate::client::{read, read_chunk, read_head};
use crate::models::{classifier, endless, reversing, transformer, writer};
use crate::{Running, patient, settings};
use burn::tensor::Device;
use gatto_model::Saved;
use serde_json::{Value, json};
use std::io::BufReader;
use std::time::Duration;

/// What so many clients ask at once, each of them several times, and what they are answered.
fn asked_together(running: &Running, model: &str, texts: &[String]) -> Vec<(String, Value)> {
    std::thread::scope(|scope| {
        let client = |number: usize| {
            scope.spawn(move || {
                let own = |turn: usize| texts[(number * 7 + turn * 3) % texts.len()].clone();
                let ask = |text: String| {
                    let asked = json!({ "model": model, "text": [text, texts[number % texts.len()]] });
                    let found = running.post("/v1/predict", &asked).json();
                    [
                        (text, found["answers"][0].clone()),
                        (texts[number % texts.len()].clone(), found["answers"][1].clone()),
                    ]
                };
                (0..4).flat_map(|turn| ask(own(turn))).collect::<Vec<_>>()
            })
        };
        let clients: Vec<_> = (0..16).map(client).collect();
        clients.into_iter().flat_map(|client| client.join().expect("answers")).collect()
    })
}

#[test]
fn no_answer_depends_on_its_company() {
    let models =
        [("gru", reversing()), ("transformer", transformer()), ("class", classifier()), ("text", writer())];
    let mut together = settings(&models);
    together.limits.gather = Duration::from_millis(20);
    let (together, mut alone) = (Running::new(together), settings(&models));
    alone.limits.batch = 1;
    let alone = Running::new(alone);
    let symbols = ["a b c", "c b a", "d", "e f", "g h i j", "a", "", "b b b"];
    let words = ["the film is", "is the", "the", "bad film"];
    for (model, texts) in
        [("gru", &symbols[..]), ("transformer", &symbols), ("class", &words), ("text", &words)]
    {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        for (text, answer) in asked_together(&together, model, &texts) {
            let expected = alone.post("/v1/predict", &json!({ "model": model, "text": text })).json();
            assert_eq!(answer, expected["answers"][0], "{model}: {text}");
        }
    }
    // Some of them were computed together: otherwise this test has seen nothing.
    let metrics = together.get("/metrics");
    let value = |name: &str| -> f64 {
        let line = metrics.text().lines().find_map(|line| line.strip_prefix(name)).expect("a figure");
        line.trim().parse().expect("a number")
    };
    assert!(value("gatto_batch_sources_sum") > value("gatto_batch_sources_count"), "{}", metrics.text());
}

#[test]
fn one_bad_request_spoils_no_other() {
    let mut settings = settings(&[("model", reversing())]);
    settings.limits.gather = Duration::from_millis(50);
    settings.threads = 1;
    let running = Running::new(settings);
    let saved = Saved::load(reversing(), &Device::flex()).expect("a model");
    let expected = saved.predict(&["a b"], 1).expect("a prediction").remove(0).text;
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (running, expected) = (&running, &expected);
            scope.spawn(move || match number % 2 {
                0 => {
                    let asked = json!({ "text": "a b", "beam": 5 });
                    let found = running.post("/v1/predict", &asked).json();
                    assert!(found["answers"][0]["text"].is_string(), "{found}");
                    let plain = running.post("/v1/predict", &json!({ "text": "a b" })).json();
                    assert_eq!(plain["answers"][0]["text"], **expected);
                }
                _ => {
                    let asked = json!({ "text": ["a", "a b"], "beam": 5, "constraints": [{}, { "must": ["unheard"] }] });
                    let refused = running.post("/v1/predict", &asked).refused(400);
                    assert!(refused.starts_with("source 2: `unheard` cannot be written"), "{refused}");
                }
            });
        }
    });
}

#[test]
fn a_full_queue_is_told_and_empties_again() {
    let mut narrow = settings(&[("long", endless()), ("model", reversing())]);
    narrow.limits = patient();
    (narrow.limits.queue, narrow.limits.texts, narrow.threads) = (2, 2, 1);
    let running = Running::new(narrow);
    // The one worker is busy with a text that it is told token by token.
    let busy =
        running.client().begin("/v1/predict", &json!({ "model": "long", "text": "a", "stream": true }));
    let mut events = BufReader::new(busy);
    assert_eq!(read_head(&mut events).expect("a head").0, 200);
    read_chunk(&mut events).expect("a token");
    let waiting: Vec<_> = (0..2)
        .map(|_| running.client().begin("/v1/predict", &json!({ "model": "model", "text": "a b" })))
        .collect();
    while !running.get("/metrics").text().contains("gatto_queue_sources 2") {
        std::thread::yield_now();
    }
    let refused = running.post("/v1/predict", &json!({ "model": "model", "text": "a b" }));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.refused(429).contains("try again"));
    let many = running.post("/v1/predict", &json!({ "model": "model", "text": ["a", "b", "c"] }));
    assert!(many.refused(413).contains("2 are read at once"));
    drop(events); // the client leaves, and those that wait have their turn
    for waiting in waiting {
        assert!(read(waiting).json()["answers"][0]["text"].is_string());
    }
}

#[test]
fn who_leaves_is_not_computed_for() {
    let mut single = settings(&[("long", endless()), ("model", reversing())]);
    (single.limits, single.threads) = (patient(), 1);
    let running = Running::new(single);
    for _ in 0..3 {
        drop(running.client().begin("/v1/predict", &json!({ "model": "long", "text": ["a", "b"] })));
        let busy =
            running.client().begin("/v1/predict", &json!({ "model": "long", "text": "a", "stream": true }));
        let mut events = BufReader::new(busy);
        read_head(&mut events).expect("a head");
        read_chunk(&mut events).expect("a token: what the first client asked for is given up");
    }
    running.post("/v1/predict", &json!({ "model": "model", "text": "a b" })).json();
}

#[test]
fn a_deadline_ends_what_takes_too_long() {
    let mut single = settings(&[("long", endless()), ("model", reversing())]);
    (single.limits, single.threads) = (patient(), 1);
    let running = Running::new(single);
    let late = running.post("/v1/predict", &json!({ "model": "long", "text": "a", "deadline_ms": 50 }));
    assert!(late.refused(504).contains("deadline"));
    let streamed = json!({ "model": "long", "text": "a", "deadline_ms": 50, "stream": true });
    let answer = running.post("/v1/predict", &streamed);
    let last = crate::native::events(answer.text()).pop().expect("an event");
    assert_eq!(last.0, "error");
    running.post("/v1/predict", &json!({ "model": "model", "text": "a b" })).json();
}
