//! `/v1/models`, `/v1/predict` and what stands around them: the answers are those of the models themselves.

use crate::ending::put;
use crate::models::{
    captioner, classifier, labeller, listener, masked, reversing, transformer, translator, writer,
};
use crate::{Running, settings};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use burn::tensor::Device;
use gatto_data::images::{DecodeLimits, Image, decode_bytes};
use gatto_data::lexicon::Learner;
use gatto_data::sound::Sound;
use gatto_model::{Constraints, Drawing, Request, Saved, Shortlist, Writers};
use gatto_search::Sampling;
use gatto_serve::Settings;
use serde_json::{Value, json};
use std::path::Path;

fn loaded(model: &Path) -> Saved {
    Saved::load(model, &Device::flex()).expect("a model")
}

fn texts(answers: &Value) -> Vec<String> {
    let each = answers["answers"].as_array().expect("answers").iter();
    each.map(|answer| answer["text"].as_str().expect("a text").to_owned()).collect()
}

const SOURCES: [&str; 5] = ["a b c", "d", "", "e f g h", "a b c"];

#[test]
fn translations_are_those_of_the_model() {
    for model in [reversing(), transformer()] {
        let running = Running::of(model);
        let saved = loaded(model);
        let expected = saved.predict(&SOURCES, 64).expect("predictions");
        let found = running.post("/v1/predict", &json!({ "text": SOURCES })).json();
        assert_eq!((&found["model"], &found["task"]), (&json!("model"), &json!("translate")));
        assert_eq!(texts(&found), expected.iter().map(|found| found.text.clone()).collect::<Vec<_>>());
        for (answer, expected) in found["answers"].as_array().expect("answers").iter().zip(&expected) {
            let logs = &expected.hypothesis.log_probabilities;
            let told: Vec<f32> =
                serde_json::from_value(answer["log_probabilities"].clone()).expect("numbers");
            assert_eq!(&told, logs, "to the last bit");
            assert_eq!(answer["finished"], expected.hypothesis.finished);
            assert_eq!(answer["tokens"].as_array().map(Vec::len), Some(expected.hypothesis.tokens.len()));
        }
        assert_eq!(found["answers"][3]["source"], "e f g h");
        let one = running.post("/v1/predict", &json!({ "text": "a b c", "model": "model" })).json();
        assert_eq!(one["answers"], json!([found["answers"][0]]), "a text is a list of one");
        let none = running.post("/v1/predict", &json!({ "text": [] })).json();
        assert_eq!(none["answers"], json!([]));
    }
}

#[test]
fn a_service_with_shortlists_writes_from_them() {
    let folder = tempfile::tempdir().expect("a folder");
    put(reversing(), folder.path());
    let saved = loaded(folder.path());
    let free = saved.predict(&SOURCES, 64).expect("predictions");
    let size = saved.tokens.target.size();
    let lexicon = Learner::new(size, size).finish(1, || ());
    Shortlist::new(&lexicon, 1, 0, &saved.tokens).save(folder.path()).expect("saved");
    let saved = saved.with_shortlist(folder.path()).expect("a shortlist");
    let expected = saved.predict(&SOURCES, 64).expect("predictions");
    assert_ne!(expected, free, "no other symbols than those of the source have any probability");
    let running = Running::new(Settings { shortlist: true, ..settings(&[("model", folder.path())]) });
    let found = running.post("/v1/predict", &json!({ "text": SOURCES })).json();
    for (answer, expected) in found["answers"].as_array().expect("answers").iter().zip(&expected) {
        let told: Vec<f32> = serde_json::from_value(answer["log_probabilities"].clone()).expect("numbers");
        assert_eq!(told, expected.hypothesis.log_probabilities, "to the last bit");
    }
}

#[test]
fn searches_are_as_they_were_asked_for() {
    let running = Running::of(reversing());
    let mut saved = loaded(reversing());
    saved.search.beam = 4;
    let constraints = Constraints {
        prefix: "c".to_owned(),
        must: vec!["a".to_owned()],
        never: vec!["b".to_owned()],
        ..Constraints::default()
    };
    let request = [Request::new("a b c", &constraints)];
    let expected = Writers::alone(&saved).expect("a writer").best(&request, 3, 1).expect("outputs").remove(0);
    let asked = json!({
        "text": "a b c", "beam": 4, "n_best": 3, "prefix": "c", "must": ["a"], "never": ["b"],
    });
    let found = running.post("/v1/predict", &asked).json();
    let best = found["answers"][0]["n_best"].as_array().expect("outputs").clone();
    assert_eq!(best.len(), expected.len());
    for (found, expected) in best.iter().zip(&expected) {
        assert_eq!(
            (&found["text"], &found["normalised_score"]),
            (&json!(expected.text), &json!(expected.score))
        );
        assert_eq!(found["given"], 1);
    }
    let own = json!({ "text": ["a b c", "d e"], "beam": 4, "n_best": 3, "constraints": [
        { "prefix": "c", "must": ["a"], "never": ["b"] }, {}
    ] });
    assert_eq!(running.post("/v1/predict", &own).json()["answers"][0]["n_best"], json!(best));
    let others = json!({ "text": "a b c", "alternatives": { "count": 2, "at": 1 } });
    let found = running.post("/v1/predict", &others).json();
    saved.search.beam = 1;
    let free = [Request::free("a b c")];
    let expected =
        Writers::alone(&saved).expect("a writer").others(&free, Some(0), 2, 1).expect("others").remove(0);
    let alternatives = found["answers"][0]["alternatives"].as_array().expect("a list");
    let told: Vec<_> =
        alternatives.iter().map(|found| (found["token"].clone(), found["text"].clone())).collect();
    assert_eq!(told, expected.iter().map(|o| (json!(o.token), json!(o.prediction.text))).collect::<Vec<_>>());
}

#[test]
fn draws_depend_on_the_seed_and_the_number_alone() {
    let running = Running::of(reversing());
    let saved = loaded(reversing());
    let sampling = Sampling { temperature: 1.5, top_k: Some(20), ..Sampling::default() };
    let requests: Vec<Request<'_>> = SOURCES.iter().map(|source| Request::free(*source)).collect();
    let drawn = |seed| {
        let drawing = Drawing { sampling, seed };
        let found = Writers::alone(&saved).expect("a writer").drawn(&requests, 0, &drawing, 1, 64);
        found.expect("draws").into_iter().flatten().map(|found| found.text).collect::<Vec<_>>()
    };
    let asked = |seed: u64| {
        let sample = json!({ "temperature": 1.5, "top_k": 20, "seed": seed });
        texts(&running.post("/v1/predict", &json!({ "text": SOURCES, "sample": sample })).json())
    };
    let (one, two) = (asked(1), asked(2));
    assert_eq!((&one, &two), (&drawn(1), &drawn(2)));
    assert_ne!(one, two);
}

#[test]
fn every_task_has_its_answers() {
    let models = [
        ("class", classifier()),
        ("tags", labeller()),
        ("gaps", masked()),
        ("text", writer()),
        ("it", translator()),
    ];
    let running = Running::new(settings(&models));
    let ask = |model: &str, text: &str| {
        running.post("/v1/predict", &json!({ "model": model, "text": text })).json()["answers"][0].clone()
    };
    let class = loaded(classifier()).classify(&["the film is good"], 1).expect("a label").remove(0);
    let found = ask("class", "the film is good");
    let names = loaded(classifier()).labels.expect("labels");
    assert_eq!(found["label"], names.name(class.label).expect("a name"));
    let confidence = found["confidence"].as_f64().expect("a number") as f32;
    assert_eq!(confidence, class.probabilities[class.label as usize]);
    assert_eq!(found["weights"].as_array().map(Vec::len), Some(5), "four words and the end");
    let found = ask("tags", "the film is bad");
    assert_eq!(found["words"], json!(["the", "film", "is", "bad"]));
    assert_eq!(found["labels"].as_array().map(Vec::len), Some(4));
    let filled = loaded(masked()).fill(&["the [MASK] is good"], 1, 5).expect("a text").remove(0);
    let found = ask("gaps", "the [MASK] is good");
    assert_eq!((&found["text"], found["gaps"][0].as_array().map(Vec::len)), (&json!(filled.text), Some(5)));
    let continued =
        loaded(writer()).continued(&["the film"], 0, None, 1, 1).expect("a text").remove(0).remove(0);
    let found = ask("text", "the film");
    assert_eq!((&found["text"], &found["prompt"]), (&json!(continued.text), &json!("the film")));
    assert!(found["text"].as_str().is_some_and(|text| text.starts_with("the film")));
    let predicted = loaded(translator()).predict(&["the cat is on the table"], 1).expect("a text").remove(0);
    assert_eq!(ask("it", "the cat is on the table")["text"], predicted.text);

    let refused = running.post("/v1/predict", &json!({ "text": "a" })).refused(400);
    assert!(refused.contains("several models"), "{refused}");
    let unknown = running.post("/v1/predict", &json!({ "text": "a", "model": "../it" })).refused(404);
    assert!(unknown.contains("no model has the name `../it`"), "{unknown}");
    for (model, key, value) in [
        ("class", "beam", json!(2)),
        ("tags", "sample", json!({})),
        ("gaps", "n_best", json!(2)),
        ("text", "prefix", json!("the")),
        ("text", "alternatives", json!({ "count": 2 })),
        ("class", "search", json!({ "alpha": 1.0 })),
    ] {
        let refused =
            running.post("/v1/predict", &json!({ "model": model, "text": "the", key: value })).refused(400);
        assert!(
            refused.contains(&format!("`{key}")) && refused.contains("is for models that write"),
            "{refused}"
        );
    }
    let listed = running.get("/v1/models").json();
    assert_eq!(listed["runs"], false, "none are shown");
    let name = |found: &Value| (found["name"].clone(), found["task"].clone(), found["reads"].clone());
    let listed: Vec<_> = listed["models"].as_array().expect("models").iter().map(name).collect();
    assert_eq!(listed.len(), 5);
    assert!(listed.contains(&(json!("gaps"), json!("masked-language-model"), json!("texts"))), "{listed:?}");
}

/// A picture of two colours.
fn picture() -> Vec<u8> {
    let mut image = Image::filled(40, 60, &[200, 30, 30]).expect("an image");
    image.bytes_mut()[..40 * 60].fill(90);
    image.png().expect("a file")
}

#[test]
fn images_are_uploaded_by_themselves_or_in_json() {
    let running = Running::of(captioner());
    let saved = loaded(captioner());
    let image = decode_bytes(&picture(), &DecodeLimits::default()).expect("an image");
    let pixels = saved.plan.images.expect("images").prepare(&image, None).expect("pixels").pixels;
    let best =
        Writers::alone(&saved).expect("a writer").best(&[Request::free(&pixels)], 1, 1).expect("a caption");
    let expected = json!(best[0][0].text);
    let sent = running.client().send("POST", "/v1/predict", Some("image/png"), &picture()).json();
    assert_eq!((&sent["task"], &sent["answers"][0]["text"]), (&json!("caption"), &expected));
    let encoded = STANDARD.encode(picture());
    for image in [encoded.clone(), format!("data:image/png;base64,{encoded}")] {
        let found = running.post("/v1/predict", &json!({ "image": [image, encoded] })).json();
        assert_eq!(found["answers"].as_array().map(Vec::len), Some(2));
        assert_eq!(found["answers"][1]["text"], expected);
    }
    let n_best =
        running.client().send("POST", "/v1/predict?beam=3&n_best=2", Some("image/png"), &picture()).json();
    assert_eq!(n_best["answers"][0]["n_best"].as_array().map(Vec::len), Some(2));
    for (image, told) in [("????", "not base64"), ("AAAA", "image")] {
        let refused = running.post("/v1/predict", &json!({ "image": image })).refused(400);
        assert!(refused.contains(told), "{refused}");
    }
    let text = running.post("/v1/predict", &json!({ "text": "a" })).refused(400);
    assert!(text.contains("reads images"), "{text}");
}

#[test]
fn images_beyond_the_limit_are_refused_before_they_are_decoded() {
    let mut limited = settings(&[("model", captioner())]);
    limited.limits.pixels = 1000;
    let running = Running::new(limited);
    let refused = running.client().send("POST", "/v1/predict", Some("image/png"), &picture()).refused(400);
    assert!(refused.contains("1000") || refused.contains("pixels"), "{refused}");
}

#[test]
fn a_service_tells_how_it_does() {
    let running = Running::of(reversing());
    assert_eq!(running.get("/health").json(), json!({ "status": "ok" }));
    assert_eq!(running.get("/ready").json(), json!({ "status": "ok" }));
    running.post("/v1/predict", &json!({ "text": ["a b", "c d", "e"] })).json();
    let metrics = running.get("/metrics");
    assert!(
        metrics.header("content-type").is_some_and(|kind| kind.starts_with("application/openmetrics-text"))
    );
    for line in [
        "gatto_requests_total{path=\"/v1/predict\",status=\"200\"} 1",
        "gatto_sources_total{model=\"model\"} 3",
        "gatto_queue_sources 0",
    ] {
        assert!(metrics.text().lines().any(|found| found == line), "{line} in\n{}", metrics.text());
    }
    let found = running.get("/v1/models").json();
    assert_eq!(found["models"][0]["attentions"], json!(["cross"]));
    assert_eq!(found["models"][0]["load"], 1);
}

#[test]
fn pages_need_nothing_from_elsewhere_and_carry_their_headers() {
    let running = Running::of(reversing());
    let document = running.get("/openapi.json").json();
    assert!(document["paths"]["/v1/predict"]["post"]["requestBody"].is_object());
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/docs", "text/html"),
        ("/docs/page.js", "text/javascript"),
        ("/docs/page.css", "text/css"),
    ] {
        let page = running.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert!(page.header("content-type").is_some_and(|found| found.starts_with(kind)), "{path}");
        // The names of SVG and HTML are written as addresses, and nothing is fetched from there.
        let text = page.text().replace("http://www.w3.org/", "");
        assert!(!text.contains("://"), "{path} fetches nothing from elsewhere");
        assert!(
            page.header("content-security-policy")
                .is_some_and(|policy| policy.contains("default-src 'none'"))
        );
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("access-control-allow-origin"), None);
    }
    let page = running.get("/");
    let first = page.text();
    assert!(
        page.header("content-security-policy")
            .is_some_and(|policy| policy.contains("media-src 'self' blob: data:;"))
    );
    assert!(first.contains("/page.js") && first.contains("/page.css"), "{first}");
    assert_eq!(running.get("/nowhere").status, 404);
    assert_eq!(running.get("/docs/../../etc/passwd").status, 404);
    assert_eq!(running.get("/v1/predict").status, 405);
}

#[test]
fn other_origins_may_ask_only_where_they_are_allowed() {
    let asked = |running: &Running| {
        let client = running.client().with("origin", "https://page.example");
        client.get("/v1/models").header("access-control-allow-origin").map(str::to_owned)
    };
    assert_eq!(asked(&Running::of(reversing())), None);
    let mut open = settings(&[("model", reversing())]);
    open.origins = vec!["https://page.example".to_owned()];
    assert_eq!(asked(&Running::new(open.clone())).as_deref(), Some("https://page.example"));
    open.origins = vec!["https://other.example".to_owned()];
    assert_eq!(asked(&Running::new(open)), None);
}

/// Two notes with a pause between them, as a file.
fn melody() -> Vec<u8> {
    let note = |pitch: f32| {
        (0..6000).map(move |at| 0.4 * (at as f32 * pitch * std::f32::consts::TAU / 8000.0).sin())
    };
    let pause = std::iter::repeat_n(0.0, 8000);
    let samples = note(440.0).chain(pause).chain(note(660.0)).collect();
    Sound { samples, rate: 8000 }.wav()
}

#[test]
fn recordings_are_heard_in_pieces() {
    let mut listening = settings(&[("model", listener())]);
    listening.places[0].piece_seconds = Some(1.5);
    let running = Running::new(listening);
    let sent = running.client().send("POST", "/v1/predict", Some("audio/wav"), &melody()).json();
    let answer = &sent["answers"][0];
    assert_eq!((&sent["task"], &answer["seconds"]), (&json!("transcribe"), &json!(2.5)));
    let pieces = answer["pieces"].as_array().expect("pieces");
    assert!(pieces.len() > 1, "{answer}");
    assert!(pieces.windows(2).all(|pair| pair[0]["end"] == pair[1]["start"]), "{answer}");
    let texts: Vec<&str> =
        pieces.iter().filter_map(|piece| piece["text"].as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(answer["text"], texts.join(" "));
    let encoded = STANDARD.encode(melody());
    let twice = running.post("/v1/predict", &json!({ "sound": [encoded, encoded] })).json();
    assert_eq!(twice["answers"], json!([answer, answer]));
    for (key, value) in [("n_best", json!(2)), ("stream", json!(true)), ("sample", json!({}))] {
        running.post("/v1/predict", &json!({ "sound": encoded, key: value })).refused(400);
    }
    running.post("/v1/predict", &json!({ "sound": "AAAA" })).refused(400);
    running.post("/v1/predict", &json!({ "text": "a" })).refused(400);
    let short = Sound { samples: (0..8000).map(|at| (at as f32 * 0.3).sin() * 0.5).collect(), rate: 8000 };
    let trace = running.post("/v1/trace", &json!({ "sound": STANDARD.encode(short.wav()) })).json();
    let places = trace["timeline"]["places"].as_u64().expect("places");
    assert!(
        trace["weights"]
            .as_array()
            .expect("rows")
            .iter()
            .all(|row| row.as_array().map(Vec::len) == Some(places as usize))
    );
}

#[test]
fn recordings_beyond_the_limit_are_refused() {
    let mut limited = settings(&[("model", listener())]);
    limited.limits.seconds = 1.0;
    let running = Running::new(limited);
    running.client().send("POST", "/v1/predict", Some("audio/wav"), &melody()).refused(400);
}

/// The events of a stream: names and data.
pub(crate) fn events(text: &str) -> Vec<(String, Value)> {
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').expect("two lines");
        let data = data.strip_prefix("data: ").expect("data");
        (
            name.strip_prefix("event: ").expect("a name").to_owned(),
            serde_json::from_str(data).expect("valid JSON"),
        )
    };
    text.split("\n\n").filter(|event| !event.is_empty()).map(event).collect()
}

#[test]
fn tokens_come_as_they_are_written() {
    let running = Running::new(settings(&[("model", reversing()), ("text", writer())]));
    for (model, text) in [("model", "a b c d"), ("text", "the film")] {
        let asked = json!({ "model": model, "text": text });
        let whole = running.post("/v1/predict", &asked).json()["answers"][0].clone();
        let mut streamed = asked.clone();
        streamed["stream"] = json!(true);
        let answer = running.post("/v1/predict", &streamed);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
        let events = events(answer.text());
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[names.len() - 2..], ["answer", "done"]);
        assert!(names[..names.len() - 2].iter().all(|name| *name == "written"), "{names:?}");
        assert_eq!(events[events.len() - 2].1["answer"], whole);
        let written: Vec<&str> =
            events[..events.len() - 2].iter().filter_map(|(_, data)| data["text"].as_str()).collect();
        assert!(written.len() > 1, "{written:?}");
        assert!(written.is_sorted_by(|before, behind| behind.starts_with(before)), "{written:?}");
        assert!(
            whole["text"].as_str().expect("a text").starts_with(written[written.len() - 1]),
            "{written:?}"
        );
    }
    let refused =
        running.post("/v1/predict", &json!({ "model": "model", "text": "a", "beam": 0, "stream": true }));
    assert!(refused.refused(400).contains("beam"), "what is refused at once is no stream");
}
