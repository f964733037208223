//! What if: heads that are masked, tokens that are forced, and what is told so that one can ask so.

use crate::models::{captioner, masked, reversing, transformer, translator, writer};
use crate::{Running, settings};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use burn::tensor::Device;
use gatto_data::images::Image;
use gatto_model::{AttentionKind, HeadPlace, Saved};
use serde_json::{Value, json};

fn load(model: &std::path::Path) -> Saved {
    Saved::load(model, &Device::flex()).expect("a model")
}

fn numbers(value: &Value) -> Vec<f32> {
    serde_json::from_value(value.clone()).expect("numbers")
}

#[test]
fn answers_without_a_head_are_those_of_the_library() {
    let running = Running::of(transformer());
    let saved = load(transformer());
    let heads =
        [(AttentionKind::Cross, 2, 1), (AttentionKind::Encoder, 1, 2), (AttentionKind::Decoder, 1, 1)];
    let mask = json!([
        { "attention": "cross", "layer": 2, "head": 1 },
        { "attention": "encoder", "layer": 1, "head": 2 },
        { "attention": "decoder", "layer": 1, "head": 1 },
    ]);
    let places = heads.map(|(attention, layer, head)| HeadPlace { attention, layer, head });
    let without = saved.masked(&places).expect("heads");
    let texts = ["a b c", "d e"];
    let found = running.post("/v1/predict", &json!({ "text": texts, "mask": mask })).json();
    let plain = running.post("/v1/predict", &json!({ "text": texts })).json();
    for (at, text) in texts.iter().enumerate() {
        let expected = without.predict(&[text], 1).expect("a prediction").remove(0);
        assert_eq!(found["answers"][at]["text"], expected.text);
        assert_eq!(
            numbers(&found["answers"][at]["log_probabilities"]),
            expected.hypothesis.log_probabilities
        );
        let expected = saved.predict(&[text], 1).expect("a prediction").remove(0);
        assert_eq!(
            numbers(&plain["answers"][at]["log_probabilities"]),
            expected.hypothesis.log_probabilities
        );
    }
    let none = running.post("/v1/predict", &json!({ "text": texts, "mask": [] })).json();
    assert_eq!(none, plain);
    let asked = json!({ "text": "a b c", "target": "c b a", "mask": mask, "heads": true });
    let seen = running.post("/v1/trace", &asked).json();
    let pair = (saved.tokens.source.encode("a b c"), saved.tokens.target.encode("c b a"));
    let expected = without.trace_heads(&[pair], 1).expect("a trace").remove(0);
    assert_eq!(numbers(&seen["log_probabilities"]), expected.log_probabilities);
    let layers: Vec<Vec<Vec<Vec<f32>>>> =
        serde_json::from_value(seen["attentions"][0]["layers"].clone()).expect("layers");
    assert_eq!(layers, expected.attentions[0].layers);
}

#[test]
fn attributions_of_a_masked_model_are_its_own() {
    let running = Running::of(transformer());
    let ask = |mask: Value| {
        let asked = json!({ "text": "a b", "target": "b a", "attributions": true, "mask": mask });
        running.post("/v1/trace", &asked).json()["attributions"].clone()
    };
    let all: Vec<Value> = [1, 2]
        .into_iter()
        .flat_map(|layer| [1, 2].map(|head| json!({ "attention": "cross", "layer": layer, "head": head })))
        .collect();
    let without: Vec<Vec<f32>> =
        serde_json::from_value(ask(json!(all))["erasure"].clone()).expect("a matrix");
    assert!(without.iter().flatten().all(|&cost| cost == 0.0), "nothing looks at the source: {without:?}");
    let with: Vec<Vec<f32>> = serde_json::from_value(ask(json!([]))["erasure"].clone()).expect("a matrix");
    assert!(with.iter().flatten().any(|&cost| cost != 0.0));
}

#[test]
fn heads_that_are_not_there_are_refused() {
    let running = Running::new(settings(&[("new", transformer()), ("old", reversing()), ("gaps", masked())]));
    let refused = |model: &str, mask: Value| {
        let told =
            running.post("/v1/predict", &json!({ "model": model, "text": "a", "mask": mask })).refused(400);
        assert_eq!(
            running.post("/v1/trace", &json!({ "model": model, "text": "a", "mask": mask })).refused(400),
            told
        );
        told
    };
    let head = |attention: &str, layer: u64, head: u64| json!([{ "attention": attention, "layer": layer, "head": head }]);
    assert!(refused("new", head("cross", 3, 1)).contains("cross has 2 layers of 2 heads"));
    refused("new", head("encoder", 0, 1));
    refused("new", head("decoder", 1, 9));
    refused("new", head("pooling", 1, 1));
    refused("new", json!([{ "attention": "cross", "layer": -1, "head": 1 }]));
    refused("new", json!([{ "attention": "cross", "layer": 1 }]));
    refused("gaps", head("cross", 1, 1));
    assert!(refused("old", head("cross", 1, 1)).contains("the model has none"));
    let filled = json!({ "model": "gaps", "text": "the [MASK] is good", "mask": head("encoder", 1, 2) });
    running.post("/v1/predict", &filled).json();
    let models = running.get("/v1/models").json();
    let heads = |name: &str| {
        let all = models["models"].as_array().expect("a list");
        all.iter().find(|model| model["name"] == name).expect("a model")["heads"].clone()
    };
    assert_eq!(heads("old"), json!([]));
    assert_eq!(heads("gaps"), json!([{ "attention": "encoder", "layers": 1, "heads": 2 }]));
    assert_eq!(heads("new")[0], json!({ "attention": "cross", "layers": 2, "heads": 2 }));
}

#[test]
fn a_token_that_was_not_chosen_can_be_forced() {
    let running = Running::of(translator());
    let ask = |prefix: &[u64]| {
        let asked =
            json!({ "text": "the cat", "beam": 2, "beams": { "beside": 3 }, "prefix_tokens": prefix });
        running.post("/v1/trace", &asked).json()
    };
    let free = ask(&[]);
    let step = free["beams"]["steps"][1].as_array().expect("candidates");
    let is_word = |found: &Value| found["id"].as_u64().is_some_and(|id| id > 4);
    let other = step.iter().find(|found| found["fate"] == "beaten" && is_word(found)).expect("a candidate");
    let first = &free["beams"]["steps"][0][other["parent"].as_u64().expect("a parent") as usize];
    let prefix = [first, other].map(|found| found["id"].as_u64().expect("an id"));
    let forced = ask(&prefix);
    let ids: Vec<u64> =
        forced["target"].as_array().expect("tokens").iter().filter_map(|t| t["id"].as_u64()).collect();
    assert_eq!(ids[..2], prefix);
    assert_eq!(ids.last(), Some(&2), "the end has a number too");
    assert_eq!(forced["beams"]["steps"][1][0]["fate"], "given");
    assert_eq!(forced["beams"]["steps"][1][0]["log_probability"], other["log_probability"]);
    assert_eq!(forced["beams"]["best"][0]["given"], 2);
    let asked = json!({ "text": "the cat", "beam": 2, "prefix_tokens": prefix });
    let written = running.post("/v1/predict", &asked).json();
    assert_eq!(written["answers"][0]["text"], forced["text"]);
    for bad in [json!([0]), json!([2]), json!([4_000_000_000_u64])] {
        let asked = json!({ "text": "a", "prefix_tokens": bad });
        assert!(running.post("/v1/predict", &asked).refused(400).contains("cannot begin an output"));
    }
    running.post("/v1/predict", &json!({ "text": "a", "prefix_tokens": [-1] })).refused(400);
    let both = json!({ "text": "a", "prefix_tokens": prefix, "prefix": "il" });
    assert!(running.post("/v1/trace", &both).refused(400).contains("leave one of them out"));
    let long = json!({ "text": "a", "max_length": 3, "prefix_tokens": [prefix[0], prefix[0], prefix[0]] });
    assert!(running.post("/v1/predict", &long).refused(400).contains("max_length"));
}

#[test]
fn every_step_tells_how_undecided_it_was() {
    let running = Running::of(reversing());
    let asked = json!({ "text": "a b c", "beam": 2, "beams": { "beside": 100 } });
    let found = running.post("/v1/trace", &asked).json();
    let saved = load(reversing());
    let entropies = numbers(&found["entropies"]);
    assert_eq!(entropies.len(), found["target"].as_array().expect("tokens").len());
    let most = (saved.tokens.target.size() as f32).ln();
    assert!(entropies.iter().all(|&entropy| entropy > 0.0 && entropy <= most), "{entropies:?} of {most}");
    // All that could stand first stands in the list, so that the entropy is the sum over it.
    let first = found["beams"]["steps"][0].as_array().expect("candidates");
    let logs: Vec<f64> = first.iter().filter_map(|found| found["log_probability"].as_f64()).collect();
    assert_eq!(logs.len(), saved.tokens.target.size());
    let entropy: f64 = logs.iter().map(|log| -log.exp() * log).sum();
    for candidate in first {
        let told = candidate["entropy"].as_f64().expect("a number");
        assert!((told - entropy).abs() < 1e-4, "{told} for {entropy}");
    }
    assert!((f64::from(entropies[0]) - entropy).abs() < 1e-4);
}

#[test]
fn what_could_stand_at_each_place_is_told_of_every_model_that_writes() {
    let running = Running::new(settings(&[("text", reversing()), ("alone", writer())]));
    let forced = json!({ "model": "text", "text": "a b c", "target": "b b", "candidates": 3 });
    let alone = json!({ "model": "alone", "text": "the film is good", "candidates": 3 });
    for asked in [forced, alone] {
        let found = running.post("/v1/trace", &asked).json();
        let places = found["candidates"].as_array().expect("places");
        let [target, logs] =
            ["target", "log_probabilities"].map(|key| found[key].as_array().expect("a list"));
        assert_eq!((places.len(), target.len()), (logs.len(), logs.len()));
        for (place, (token, log)) in places.iter().zip(target.iter().zip(logs)) {
            let best = place.as_array().expect("candidates");
            let logs: Vec<f64> = best.iter().filter_map(|found| found["log_probability"].as_f64()).collect();
            assert_eq!(logs.len(), 3);
            assert!(logs.is_sorted_by(|left, right| left >= right), "{logs:?}");
            if let Some(own) = best.iter().find(|found| found["id"] == token["id"]) {
                assert_eq!(own["token"], token["text"]);
                let difference =
                    own["log_probability"].as_f64().expect("a number") - log.as_f64().expect("a number");
                assert!(difference.abs() < 1e-4);
            } else {
                assert!(log.as_f64().expect("a number") <= logs[2] + 1e-4);
            }
        }
    }
    let asked = json!({ "model": "text", "text": "a", "candidates": 101 });
    assert!(running.post("/v1/trace", &asked).refused(400).contains("`candidates` must be at most 100"));
    assert_eq!(
        running.post("/v1/trace", &json!({ "model": "text", "text": "a" })).json().get("candidates"),
        None
    );
}

#[test]
fn matrices_come_as_bytes_if_one_likes() {
    let running = Running::new(settings(&[("text", transformer()), ("image", captioner())]));
    let image = Image::filled(64, 64, &[10, 200, 30]).expect("an image").png().expect("a file");
    let text = json!({ "model": "text", "text": "a b c d e", "target": "e d c", "heads": true, "attributions": true });
    let image = json!({ "model": "image", "image": STANDARD.encode(&image), "attributions": true });
    for (mut asked, has_heads) in [(text, true), (image, false)] {
        let plain = running.post("/v1/trace", &asked).json();
        asked["compact"] = json!(true);
        let compact = running.post("/v1/trace", &asked).json();
        let mut pairs = vec![(plain["weights"].clone(), compact["weights"].clone())];
        for key in ["gradient", "erasure"] {
            pairs.push((plain["attributions"][key].clone(), compact["attributions"][key].clone()));
        }
        if has_heads {
            assert_eq!(plain["attentions"].as_array().map(Vec::len), Some(3));
        }
        for (at, attention) in plain["attentions"].as_array().expect("a list").iter().enumerate() {
            for (layer, heads) in attention["layers"].as_array().expect("layers").iter().enumerate() {
                for (head, matrix) in heads.as_array().expect("heads").iter().enumerate() {
                    pairs.push((matrix.clone(), compact["attentions"][at]["layers"][layer][head].clone()));
                }
            }
        }
        for (expected, sent) in pairs {
            let expected: Vec<Vec<f64>> = serde_json::from_value(expected).expect("a matrix");
            let bytes = STANDARD.decode(sent["values"].as_str().expect("text")).expect("base64");
            let number = |key: &str| sent[key].as_f64().expect("a number");
            assert_eq!(
                (number("rows"), number("columns")),
                (expected.len() as f64, expected[0].len() as f64)
            );
            assert_eq!(bytes.len(), expected.len() * expected[0].len());
            let (least, scale) = (number("least"), number("scale"));
            for (byte, value) in bytes.iter().zip(expected.iter().flatten()) {
                let found = least + f64::from(*byte) / 255.0 * scale;
                assert!((found - value).abs() <= scale / 510.0 + 1e-6, "{found} for {value}");
            }
        }
        assert_eq!(plain["log_probabilities"], compact["log_probabilities"]);
    }
}
