//! `/v1/trace`.

use crate::models::{captioner, classifier, reversing, stretching, transformer};
use crate::{Running, settings};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use burn::tensor::Device;
use gatto_data::images::Image;
use gatto_inspect::explain::explain;
use gatto_model::{Request, Saved, Writers};
use serde_json::{Value, json};

fn matrix(value: &Value) -> Vec<Vec<f32>> {
    serde_json::from_value(value.clone()).expect("a matrix")
}

#[test]
fn attention_comes_with_its_tokens() {
    let running = Running::of(reversing());
    let saved = Saved::load(reversing(), &Device::flex()).expect("a model");
    let found = running.post("/v1/trace", &json!({ "text": "a b c" })).json();
    let written = saved.predict(&["a b c"], 1).expect("a prediction").remove(0);
    let pair = (saved.tokens.source.encode("a b c"), written.hypothesis.tokens.clone());
    let trace = saved.trace(&[pair], 1).expect("a trace").remove(0);
    assert_eq!(found["text"], written.text);
    assert_eq!(matrix(&found["weights"]), trace.weights.expect("weights"));
    assert_eq!(found["source"].as_array().map(Vec::len), Some(4));
    assert_eq!(found["target"].as_array().map(Vec::len), Some(trace.target.len()));
    assert_eq!(found["attentions"], json!([]));
    let forced = running.post("/v1/trace", &json!({ "text": "a b c", "target": "c b" })).json();
    assert_eq!((&forced["text"], forced["target"].as_array().map(Vec::len)), (&json!("c b"), Some(3)));
}

#[test]
fn heads_come_when_they_are_asked_for() {
    let running = Running::of(transformer());
    let ask = |more: Value| {
        let mut asked = json!({ "text": "a b c", "target": "c b a", "heads": true });
        asked.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        running.post("/v1/trace", &asked).json()
    };
    let all = ask(json!({}));
    let kinds: Vec<&str> =
        all["attentions"].as_array().expect("a list").iter().filter_map(|a| a["kind"].as_str()).collect();
    assert_eq!(kinds, ["cross", "encoder", "decoder"]);
    let layers = all["attentions"][0]["layers"].as_array().expect("layers");
    assert_eq!((layers.len(), layers[0].as_array().map(Vec::len)), (2, Some(2)));
    let one = ask(json!({ "attention": "cross", "layer": 2 }));
    assert_eq!(one["attentions"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["attentions"][0]["first_layer"], 2);
    assert_eq!(one["attentions"][0]["layers"], json!([layers[1]]));
}

#[test]
fn a_search_is_seen_step_by_step() {
    let running = Running::of(reversing());
    let mut saved = Saved::load(reversing(), &Device::flex()).expect("a model");
    saved.search.beam = 3;
    let expected =
        Writers::alone(&saved).expect("a writer").searched(Request::free("a b c"), 2, 4).expect("a search");
    let asked = json!({ "text": "a b c", "beam": 3, "beams": { "n_best": 2, "beside": 4 } });
    let found = running.post("/v1/trace", &asked).json();
    let beams = &found["beams"];
    assert_eq!(beams["best"][1]["text"], expected.best[1].text);
    assert_eq!(beams["greedy"]["text"], expected.greedy.expect("an output").text);
    let steps = beams["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), expected.steps.len());
    let (first, considered) = (&steps[0][0], &expected.steps[0][0]);
    assert_eq!(first["token"], saved.tokens.target.token(considered.token));
    let log = first["log_probability"].as_f64().expect("a number") as f32;
    assert_eq!(log, considered.log_probability);
    let fates: Vec<&str> = steps
        .iter()
        .flat_map(|step| step.as_array().expect("a step"))
        .filter_map(|c| c["fate"].as_str())
        .collect();
    assert!(fates.contains(&"kept") && fates.contains(&"beaten"), "{fates:?}");
}

#[test]
fn attributions_are_those_of_look() {
    let running = Running::of(reversing());
    let found =
        running.post("/v1/trace", &json!({ "text": "a b", "target": "b a", "attributions": true })).json();
    let whole = Saved::load_whole(reversing(), &Device::flex()).expect("a model");
    let pair = (whole.tokens.source.encode("a b"), whole.tokens.target.encode("b a"));
    // With one thread, as a worker has it, sums are made in the same order.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let expected = pool.install(|| explain(&whole, &pair)).expect("an explanation");
    assert_eq!(matrix(&found["attributions"]["gradient"]), expected.gradient);
    assert_eq!(matrix(&found["attributions"]["erasure"]), expected.erasure);
}

#[test]
fn images_and_texts_without_a_decoder_are_seen() {
    let running = Running::new(settings(&[("image", captioner()), ("class", classifier())]));
    let image = Image::filled(64, 64, &[10, 200, 30]).expect("an image").png().expect("a file");
    let asked = json!({ "model": "image", "image": STANDARD.encode(&image), "attributions": true });
    let found = running.post("/v1/trace", &asked).json();
    let regions = found["grid"][0].as_u64().expect("rows") * found["grid"][1].as_u64().expect("columns");
    assert!(regions > 1);
    assert!(matrix(&found["weights"]).iter().all(|row| row.len() as u64 == regions));
    assert!(matrix(&found["attributions"]["erasure"]).iter().all(|row| row.len() as u64 == regions));
    let class = running
        .post("/v1/trace", &json!({ "model": "class", "text": "the film is good", "heads": true }))
        .json();
    assert_eq!(class["attentions"][0]["kind"], "pooling");
    assert_eq!(class["target"], json!([]));
    let refused =
        running.post("/v1/trace", &json!({ "model": "class", "text": "a", "beams": {} })).refused(400);
    assert!(refused.contains("write"), "{refused}");
}

#[test]
fn the_regions_of_an_image_tell_what_of_it_they_cover() {
    let running = Running::new(settings(&[("crop", captioner()), ("stretch", stretching())]));
    let covered = |model: &str, height: usize, width: usize| {
        let image = Image::filled(height, width, &[10, 200, 30]).expect("an image").png().expect("a file");
        let asked = json!({ "model": model, "image": STANDARD.encode(&image) });
        running.post("/v1/trace", &asked).json()["covered"].clone()
    };
    assert_eq!(covered("crop", 64, 64), json!([0.0, 0.0, 1.0, 1.0]));
    assert_eq!(covered("crop", 80, 40), json!([0.0, 0.25, 1.0, 0.5]));
    // 39 columns are left over: 19 on the left and 20 on the right.
    assert_eq!(covered("crop", 41, 80), json!([19.0 / 80.0, 0.0, 41.0 / 80.0, 1.0]));
    assert_eq!(covered("stretch", 41, 80), json!([0.0, 0.0, 1.0, 1.0]));
}

#[test]
fn a_trace_that_is_too_large_is_refused_before_it_is_made() {
    let mut limited = settings(&[("model", transformer())]);
    limited.limits.cells = 100;
    let running = Running::new(limited);
    running.post("/v1/trace", &json!({ "text": "a b c", "target": "c" })).json();
    let refused =
        running.post("/v1/trace", &json!({ "text": "a b c", "target": "c", "heads": true })).refused(413);
    assert!(refused.contains("cells"), "{refused}");
    let one = json!({ "text": "a b c", "target": "c", "heads": true, "attention": "encoder", "layer": 2 });
    running.post("/v1/trace", &one).json();
    let compact = json!({ "text": "a b c", "target": "c", "heads": true, "compact": true });
    running.post("/v1/trace", &compact).json();
    let long = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
    let too_much = json!({ "text": long, "target": "c", "heads": true, "attention": "decoder", "layer": 1 });
    let refused = running.post("/v1/trace", &too_much).refused(413);
    assert!(refused.contains("cells"), "what is made and not sent has a limit too: {refused}");
}
