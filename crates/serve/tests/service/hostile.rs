//! Clients that mean no good, or do not know better: each gets an answer or is given up, and the next one is served.

use crate::client::{read, read_head};
use crate::models::reversing;
use crate::{KEY, Running, settings};
use gatto_serve::{Keys, Limits};
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::time::Duration;

/// That it still answers.
fn assert_well(running: &Running) {
    let found = running.post("/v1/predict", &json!({ "text": "a b" })).json();
    assert!(found["answers"][0]["text"].is_string(), "{found}");
}

#[test]
fn malformed_requests_are_refused() {
    let running = Running::of(reversing());
    let send = |body: &[u8]| running.client().send("POST", "/v1/predict", Some("application/json"), body);
    for body in [
        "",
        "{",
        "[]",
        "null",
        "nonsense",
        "{\"text\": 7}",
        "{\"text\": [\"a\", 7]}",
        "{\"texts\": \"a\"}",
        "{\"text\": \"a\", \"beam\": -1}",
        "{\"text\": \"a\", \"beam\": 1e99}",
        "{\"text\": \"\\ud800\"}",
        "{\"text\": \"a\", \"text\": \"b\"}",
        "{}",
        "{\"text\": \"a\", \"image\": \"b\"}",
    ] {
        let told = send(body.as_bytes()).refused(400);
        assert!(!told.is_empty(), "{body}");
    }
    let deep = format!("{{\"text\": {}", "[".repeat(100_000));
    send(deep.as_bytes()).refused(400);
    send(b"{\"text\": \"\xff\xfe\"}").refused(400);
    for (key, value) in [
        ("beam", json!(0)),
        ("beam", json!(17)),
        ("n_best", json!(0)),
        ("n_best", json!(2)),
        ("n_best", json!(1000)),
        ("max_length", json!(513)),
        ("max_length", json!(0)),
        ("search", json!({ "alpha": 1e300 })),
        ("search", json!({ "beams": 2 })),
        ("sample", json!({ "temperature": 0 })),
        ("sample", json!({ "top_p": 2 })),
        ("alternatives", json!({ "count": 0 })),
        ("alternatives", json!({ "count": 2, "at": 0 })),
        ("must", json!([""])),
        ("constraints", json!([])),
    ] {
        let asked = json!({ "text": "a b", key: value });
        let told = running.post("/v1/predict", &asked).refused(400);
        assert!(!told.contains("panicked"), "{told}");
    }
    let both = json!({ "text": "a", "sample": {}, "beam": 2 });
    assert!(running.post("/v1/predict", &both).refused(400).contains("do not go together"));
    let kind = running.client().send("POST", "/v1/predict", Some("text/plain"), b"a").refused(415);
    assert!(kind.contains("application/json"), "{kind}");
    running.client().send("POST", "/v1/predict?what=1", Some("image/png"), b"a").refused(400);
    assert_well(&running);
}

#[test]
fn odd_texts_are_answered() {
    let running = Running::of(reversing());
    let texts = ["\u{0}\u{7}", "🐱\u{301}", "\n\n", "\u{202e}abc", "<script>alert(1)</script>", "a\tb\r\n"];
    let found = running.post("/v1/predict", &json!({ "text": texts })).json();
    assert_eq!(found["answers"].as_array().map(Vec::len), Some(texts.len()));
    assert_eq!(found["answers"][4]["source"], texts[4]);
}

#[test]
fn requests_beyond_the_limits_are_refused() {
    let mut small = settings(&[("model", reversing())]);
    small.limits = Limits { body: 20_000, characters: 100, texts: 3, queue: 3, ..Limits::default() };
    let running = Running::new(small);
    let long = running.post("/v1/predict", &json!({ "text": ["a", "é".repeat(101)] })).refused(413);
    assert_eq!(long, "text 2 has more than 100 characters; split it");
    running.post("/v1/predict", &json!({ "text": "é".repeat(100) })).json();
    running.post("/v1/predict", &json!({ "text": ["a", "b", "c", "d"] })).refused(413);
    let large = running.post("/v1/predict", &json!({ "text": "a".repeat(30_000) })).refused(413);
    assert!(large.contains("20000 bytes"), "{large}");
    // A length that nobody will ever send is refused without waiting for it.
    let mut connection = running.client().connect();
    connection
        .write_all(&running.client().head("POST", "/v1/predict", Some("application/json"), usize::MAX / 2))
        .expect("sent");
    read(connection).refused(413);
    // Neither is a body whose length is not told read for ever.
    let mut connection = running.client().connect();
    let head = "POST /v1/predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
                transfer-encoding: chunked\r\n\r\n";
    connection.write_all(head.as_bytes()).expect("sent");
    for _ in 0..10 {
        let sent = connection.write_all(format!("1000\r\n{}\r\n", "a".repeat(0x1000)).as_bytes());
        if sent.is_err() {
            break; // it has been refused by now
        }
    }
    read(connection).refused(413);
    assert_well(&running);
}

#[test]
fn memory_that_a_search_needs_is_bounded() {
    let mut small = settings(&[("model", reversing())]);
    small.limits.memory = 1000;
    let running = Running::new(small);
    let refused =
        running.post("/v1/predict", &json!({ "text": "a b", "beam": 16, "max_length": 512 })).refused(413);
    assert!(refused.contains("a beam of 16"), "{refused}");
    assert_well(&running);
}

#[test]
fn bytes_that_are_no_http_end_the_connection_alone() {
    let running = Running::of(reversing());
    let noise: Vec<u8> =
        (0..4096u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for bytes in [
        &noise[..],
        b"\r\n\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\0/ HTTP/1.1\r\n\r\n",
        &[0x16, 3, 1, 2, 0],
    ] {
        let mut connection = running.client().connect();
        connection.write_all(bytes).ok();
        connection.shutdown(std::net::Shutdown::Write).ok();
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).ok();
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    let mut connection = running.client().connect();
    connection.write_all(b"GET / HTTP/1.1\r\n").expect("sent");
    let line = format!("x-many: {}\r\n", "y".repeat(1000));
    while connection.write_all(line.as_bytes()).is_ok() {} // until it is given up
    assert_well(&running);
}

#[test]
fn slow_senders_are_given_up() {
    let mut hasty = settings(&[("model", reversing())]);
    (hasty.limits.sending, hasty.limits.connections) = (Duration::from_millis(200), 4);
    let running = Running::new(hasty);
    // As many as there is room for send half a head, and then nothing.
    let slow: Vec<_> = (0..4)
        .map(|_| {
            let mut connection = running.client().connect();
            connection.write_all(b"POST /v1/predict HTTP/1.1\r\nhost: x\r\n").expect("sent");
            connection
        })
        .collect();
    assert_well(&running);
    for mut connection in slow {
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).ok();
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 408"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    // Others send their head, and then half a body.
    let mut connection = running.client().connect();
    connection
        .write_all(&running.client().head("POST", "/v1/predict", Some("application/json"), 100))
        .expect("sent");
    connection.write_all(b"{\"text\": \"a").expect("sent");
    let (status, headers) = read_head(&mut BufReader::new(connection)).expect("an answer");
    assert_eq!(status, 408);
    assert!(headers.contains(&("connection".to_owned(), "close".to_owned())));
    assert_well(&running);
}

#[test]
fn without_a_key_nothing_is_told() {
    let mut locked = settings(&[("model", reversing())]);
    locked.keys = Keys::new([KEY]).expect("a key");
    let running = Running::new(locked);
    let asked = json!({ "text": "a b" });
    assert!(running.post("/v1/predict", &asked).refused(403).contains("Bearer"));
    running.post("/v1/trace", &asked).refused(403);
    running.get("/v1/models").refused(403);
    running.post("/v1/models/replace", &json!({})).refused(403);
    for wrong in ["Bearer a-key-for-the-test", "Bearer ", "Basic YTpi", KEY] {
        running.client().with("authorization", wrong).post("/v1/predict", &asked).refused(403);
    }
    let known = || running.client().with("authorization", &format!("Bearer {KEY}"));
    known().post("/v1/predict", &asked).json();
    assert_eq!(known().get("/v1/models").json()["models"][0]["name"], "model");
    assert_eq!(running.get("/health").status, 200, "who watches over it needs no key");
    for page in ["/", "/page.js", "/page.css"] {
        assert_eq!(running.get(page).status, 200, "{page} has a field for the key");
    }
}
