//! `gatto serve`: that it answers as `gatto predict` does, and does what it is told by flags, environment and signals. How
//! it treats its clients is tested in `crates/serve`.

use crate::models::{attentive, classifier, listener, model, translator, writer};
use crate::predict::mixed_lines;
use crate::{gatto, json_lines, refused, run, text};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};

/// A service that is ended when it is dropped.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn new(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("it runs");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("an output")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").map(str::to_owned);
        let Some(address) = address else {
            let output = child.wait_with_output().expect("an end");
            panic!("no address: {}", text(&output.stderr));
        };
        Self { child, address }
    }

    /// The status and the body of an answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut connection = TcpStream::connect(&self.address).expect("a connection");
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        connection.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.split(' ').nth(1).expect("a status").parse().expect("a number"), body.to_owned())
    }

    fn predict(&self, asked: &Value) -> Vec<Value> {
        let (status, body) = self.ask("POST", "/v1/predict", &asked.to_string());
        assert_eq!(status, 200, "{body}");
        let mut found: Value = serde_json::from_str(&body).expect("valid JSON");
        serde_json::from_value(found["answers"].take()).expect("answers")
    }

    /// Sends a signal, by its name.
    fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status();
        assert!(sent.expect("a shell").success());
    }

    /// Waits for its end, which is a good one; what stands in its log.
    fn ended(mut self) -> String {
        let mut log = String::new();
        let mut errors = self.child.stderr.take().expect("a log");
        errors.read_to_string(&mut log).expect("text");
        assert_eq!(self.child.wait().expect("an end").code(), Some(0), "{log}");
        assert!(!log.contains("panicked"), "{log}");
        log
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Bytes as base64.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let three = |part: &[u8]| {
        let whole = part.iter().chain(&[0; 3]).take(3).fold(0u32, |all, &byte| all << 8 | u32::from(byte));
        let sign = |at: usize| match at > part.len() {
            true => '=',
            false => char::from(SIGNS[(whole >> (18 - 6 * at)) as usize & 63]),
        };
        (0..4).map(sign).collect::<String>()
    };
    bytes.chunks(3).map(three).collect()
}

/// What `gatto predict --json` says of lines.
fn predicted(model: &Path, more: &[&str], lines: &[&str]) -> Vec<Value> {
    let input = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    json_lines(run(gatto(&["predict", "--json"]).arg(model).args(more), Some(input.as_bytes())))
}

/// Every key of what was served has the value that `gatto predict` gives it; of weights it tells elsewhere.
fn assert_same(served: &[Value], predicted: &[Value]) {
    assert_eq!(served.len(), predicted.len());
    for (served, predicted) in served.iter().zip(predicted) {
        for (key, value) in served.as_object().expect("an object") {
            match (key.as_str(), value.as_array()) {
                ("n_best", Some(outputs)) => {
                    assert_same(outputs, predicted[key].as_array().expect("outputs"))
                }
                _ => assert!(is_same(value, &predicted[key]), "{key} of {served} and {predicted}"),
            }
        }
    }
}

/// Whether two values are the same; single precision is written with as few digits as it needs, or with more.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let [left, right] = [left, right].map(|number| number.as_f64().expect("a number"));
            left == right || left as f32 == right as f32
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same =
                |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| is_same(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => left == right,
    }
}

#[test]
fn a_service_answers_as_predict_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let named = |name: &str, model: &Path| format!("{name}={}", model.display());
    let models = [
        named("plain", model()),
        named("attentive", attentive()),
        named("class", classifier()),
        named("text", writer()),
        named("it", translator()),
        named("notes", listener()),
    ];
    let served =
        Served::new(gatto(&["serve", "--listen", "127.0.0.1:0"]).args(&models).current_dir(folder.path()));
    let mixed = mixed_lines();
    let lines: Vec<&str> = mixed.lines().take(100).collect();
    let ask = |name: &str, lines: &[&str], more: Value| {
        let mut asked = json!({ "model": name, "text": lines });
        asked.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        served.predict(&asked)
    };
    for (name, model) in [("plain", model()), ("attentive", attentive())] {
        assert_same(&ask(name, &lines, json!({})), &predicted(model, &[], &lines));
        let flags = ["--beam", "4", "--n-best", "2", "--alpha", "1", "--max-length", "9"];
        let more = json!({ "beam": 4, "n_best": 2, "max_length": 9, "search": { "alpha": 1.0 } });
        assert_same(&ask(name, &lines, more), &predicted(model, &flags, &lines));
        let flags = ["--sample", "--seed", "5", "--temperature", "1.2", "--top-k", "6"];
        let more = json!({ "sample": { "seed": 5, "temperature": 1.2, "top_k": 6 } });
        assert_same(&ask(name, &lines, more), &predicted(model, &flags, &lines));
        let flags = ["--prefix", "c", "--must", "a", "--never", "b"];
        let more = json!({ "prefix": "c", "must": ["a"], "never": ["b"] });
        assert_same(&ask(name, &lines[..20], more), &predicted(model, &flags, &lines[..20]));
    }
    let judged = ["the film is good", "", "is the meal awful ?"];
    assert_same(&ask("class", &judged, json!({})), &predicted(classifier(), &[], &judged));
    assert_same(&ask("text", &judged, json!({})), &predicted(writer(), &[], &judged));
    let more = json!({ "sample": { "seed": 3 }, "n_best": 3 });
    assert_same(
        &ask("text", &judged, more),
        &predicted(writer(), &["--sample", "--seed", "3", "--n-best", "3"], &judged),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let notes = |at: usize| if at % 9000 < 6000 { 0.4 * (at as f32 * 0.4).sin() } else { 0.0 };
    let sound = gatto::data::sound::Sound { samples: (0..120_000).map(notes).collect(), rate: 8000 };
    let file = folder.path().join("notes.wav");
    fs::write(&file, sound.wav()).expect("written");
    let heard = json_lines(run(gatto(&["predict", "--json"]).arg(listener()).arg(&file), None));
    let asked = json!({ "model": "notes", "sound": base64(&sound.wav()) });
    assert_same(&served.predict(&asked), &heard);
    let phrases = ["the cat is on the table", "a dog"];
    assert_same(&ask("it", &phrases, json!({})), &predicted(translator(), &[], &phrases));
}

#[test]
fn signals_replace_models_and_end_the_service() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |run: &Path| {
        for entry in fs::read_dir(run).expect("a run").flatten().filter(|entry| entry.path().is_file()) {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
        }
    };
    put(model());
    let name = format!("reverse={}", folder.path().display());
    let served = Served::new(
        gatto(&["serve", &name, "--listen", "127.0.0.1:0", "--log", "json"]).env("GATTO_QUEUE", "500"),
    );
    let old = served.predict(&json!({ "text": "a b c" }));
    put(attentive());
    served.signal("HUP");
    let load = || {
        serde_json::from_str::<Value>(&served.ask("GET", "/v1/models", "").1).expect("JSON")["models"][0]["load"].clone()
    };
    // With pauses: every question leaves a line in the log, which nobody reads before the end, and a pipe that is full stops the service.
    while load() == 1 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_ne!(served.predict(&json!({ "text": "a b c" })), old);
    served.signal("TERM");
    let log = served.ended();
    let events: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let messages: Vec<&str> = events.iter().filter_map(|event| event["message"].as_str()).collect();
    for message in ["listening", "answered", "replaced", "stopped"] {
        assert!(messages.contains(&message), "{log}");
    }
    let answered = events.iter().find(|event| event["path"] == "/v1/predict").expect("a request");
    assert_eq!((&answered["status"], &answered["method"]), (&json!(200), &json!("POST")));
}

#[test]
fn keys_and_languages_come_from_flags_and_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    fs::write(&keys, "first-key-of-some-length\n\n").expect("written");
    let mut command = gatto(&["serve", "--listen", "127.0.0.1:0", "--languages", "en:it", "--api-key-file"]);
    command.arg(&keys).arg(translator()).env("GATTO_API_KEYS", "second-key-of-some-length");
    let served = Served::new(&mut command);
    let ask = |key: &str| {
        let asked = json!({ "q": "the cat", "source": "en", "target": "it", "api_key": key });
        served.ask("POST", "/translate", &asked.to_string()).0
    };
    assert_eq!(["", "first-key-of-some-length", "second-key-of-some-length"].map(ask), [403, 200, 200]);
    served.signal("INT");
    let log = served.ended();
    assert!(!log.contains("key-of-some-length"), "a log has no keys: {log}");
}

#[test]
fn training_runs_are_shown_without_a_model() {
    let folder = model().parent().expect("a folder");
    let mut command = gatto(&["serve", "--listen", "127.0.0.1:0", "--log-level", "error"]);
    let served = Served::new(command.arg("--runs").arg(folder));
    let (status, body) = served.ask("GET", "/v1/runs", "");
    assert_eq!(status, 200, "{body}");
    let found: Value = serde_json::from_str(&body).expect("valid JSON");
    assert_eq!(found["runs"][0]["name"], "run");
    assert_eq!(served.ask("GET", "/v1/models", "").1, "{\"models\":[],\"runs\":true}");
    served.signal("TERM");
    served.ended();
    let none = run(&mut gatto(&["serve"]), None);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none.stderr));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let serve = |more: &[&str]| {
        let mut command = gatto(&["serve", "--listen", "127.0.0.1:0", "--log-level", "error"]);
        refused(run(command.arg(model()).args(more), None))
    };
    assert!(serve(&["nowhere"]).contains("is not a run directory"));
    assert!(serve(&["--languages", "english"]).contains("write SOURCE:TARGET"));
    assert!(serve(&["--languages", "other=en:it"]).contains("no model has that name"));
    assert!(serve(&["--queue", "5"]).contains("queue is 5"));
    assert!(serve(&["--allow-origin", "example.org"]).contains("is no origin"));
    assert!(serve(&["--runs", "nowhere"]).contains("is no folder of training runs"));
    assert!(serve(&["--api-key-file", "nowhere"]).contains("nowhere: cannot be read"));
}
