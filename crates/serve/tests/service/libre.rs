//! The API of LibreTranslate.

use crate::models::{reversing, translator};
use crate::{KEY, Running, translating};
use burn::tensor::Device;
use gatto_model::Saved;
use gatto_serve::{Keys, Languages};
use serde_json::json;

fn predicted(texts: &[&str]) -> Vec<String> {
    let saved = Saved::load(translator(), &Device::flex()).expect("a model");
    saved.predict(texts, 64).expect("predictions").into_iter().map(|found| found.text).collect()
}

const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn texts_are_translated_from_json_and_from_forms() {
    let running = Running::new(translating(translator(), "en:it"));
    let texts = ["the cat is on the table", "the dog"];
    let expected = predicted(&texts);
    let one = json!({ "q": texts[0], "source": "en", "target": "it", "unheard": "of" });
    assert_eq!(running.post("/translate", &one).json(), json!({ "translatedText": expected[0] }));
    let many = json!({ "q": texts, "source": "en", "target": "it", "format": "text" });
    assert_eq!(running.post("/translate", &many).json(), json!({ "translatedText": expected }));
    let form = "q=the+cat+is%20on+the+table&source=en&target=it&api_key=&alternatives=0";
    let found = running.client().send("POST", "/translate", Some(FORM), form.as_bytes()).json();
    assert_eq!(found, json!({ "translatedText": expected[0] }));
    let same = json!({ "q": "as it is", "source": "en", "target": "en" });
    assert_eq!(running.post("/translate", &same).json(), json!({ "translatedText": "as it is" }));
}

#[test]
fn lines_and_markup_stay() {
    let running = Running::new(translating(translator(), "en:it"));
    let expected = predicted(&["the cat", "the dog"]);
    let lines = json!({ "q": " the cat\n\nthe dog\n", "source": "en", "target": "it" });
    let found = running.post("/translate", &lines).json();
    assert_eq!(found["translatedText"], format!(" {}\n\n{}\n", expected[0], expected[1]));
    let html = json!({
        "q": "<p title=\"a>b\">the cat</p><!-- the dog -->&unknown;<b>the dog</b><script>x < y</script>",
        "source": "en", "target": "it", "format": "html",
    });
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let [cat, dog] = [escaped(&expected[0]), escaped(&expected[1])];
    let found = running.post("/translate", &html).json();
    let whole =
        format!("<p title=\"a>b\">{cat}</p><!-- the dog -->&unknown;<b>{dog}</b><script>x < y</script>");
    assert_eq!(found["translatedText"], whole);
}

#[test]
fn alternatives_and_languages_are_told() {
    let running = Running::new(translating(translator(), "en:it"));
    let asked =
        json!({ "q": ["the cat is here", "the dog"], "source": "auto", "target": "it", "alternatives": 3 });
    let found = running.post("/translate", &asked).json();
    let alternatives = found["alternatives"].as_array().expect("lists");
    assert_eq!(alternatives.len(), 2);
    assert!(
        alternatives[0].as_array().is_some_and(|found| (1..=3).contains(&found.len())),
        "{alternatives:?}"
    );
    assert_eq!(found["detectedLanguage"][1]["language"], "en");
    let one = json!({ "q": "the dog", "source": "auto", "target": "it" });
    let found = running.post("/translate", &one).json();
    assert_eq!(found["detectedLanguage"]["language"], "en");
    assert!(found["detectedLanguage"]["confidence"].as_f64().is_some_and(|found| found >= 50.0), "{found}");
    let languages = running.get("/languages").json();
    let english = json!({ "code": "en", "name": "English", "targets": ["en", "it"] });
    assert_eq!(languages, json!([english, { "code": "it", "name": "Italian", "targets": ["it"] }]));
    let detected = running.post("/detect", &json!({ "q": "the cat" })).json();
    assert_eq!(detected[0]["language"], "en");
    let settings = running.get("/frontend/settings").json();
    assert_eq!((&settings["charLimit"], &settings["keyRequired"]), (&json!(5000), &json!(false)));
    assert_eq!(settings["language"]["target"], json!({ "code": "it", "name": "Italian" }));
}

#[test]
fn languages_choose_the_model() {
    let mut two = translating(translator(), "en:it");
    let mut other = translating(reversing(), "xx:yy").places.remove(0);
    other.name = "other".to_owned();
    other.languages = Some(Languages::parse("xx:yy").expect("a pair"));
    two.places.push(other);
    let running = Running::new(two);
    let saved = Saved::load(reversing(), &Device::flex()).expect("a model");
    let expected = saved.predict(&["a b c"], 1).expect("a prediction").remove(0).text;
    let found = running.post("/translate", &json!({ "q": "a b c", "source": "xx", "target": "yy" })).json();
    assert_eq!(found["translatedText"], expected);
    let detected =
        running.post("/translate", &json!({ "q": "a b c", "source": "auto", "target": "yy" })).json();
    assert_eq!(
        (&detected["translatedText"], &detected["detectedLanguage"]["language"]),
        (&json!(expected), &json!("xx"))
    );
    let refused =
        running.post("/translate", &json!({ "q": "a", "source": "xx", "target": "it" })).refused(400);
    assert_eq!(refused, "it (Italian) is not available as a target language from xx");
}

#[test]
fn refusals_are_those_that_its_clients_know() {
    let running = Running::new(translating(translator(), "en:it"));
    let refused = |body: serde_json::Value| running.post("/translate", &body).refused(400);
    assert_eq!(refused(json!({ "source": "en", "target": "it" })), "Invalid request: missing q parameter");
    assert_eq!(refused(json!({ "q": "a", "target": "it" })), "Invalid request: missing source parameter");
    assert_eq!(refused(json!({ "q": "a", "source": "en" })), "Invalid request: missing target parameter");
    assert_eq!(refused(json!({ "q": "a", "source": "en", "target": "zz" })), "zz is not supported");
    let format = json!({ "q": "a", "source": "en", "target": "it", "format": "pdf" });
    assert_eq!(refused(format), "pdf format is not supported");
    let long = refused(json!({ "q": "a".repeat(5001), "source": "en", "target": "it" }));
    assert_eq!(long, "Invalid request: request (5001) exceeds text limit (5000)");
    let many = refused(json!({ "q": vec!["a"; 129], "source": "en", "target": "it" }));
    assert_eq!(many, "Invalid request: request (129) exceeds batch limit (128)");
    refused(json!({ "q": "a", "source": "en", "target": "it", "alternatives": 99 }));
    refused(json!({ "q": { "not": "a text" }, "source": "en", "target": "it" }));
    let kind = running.client().send("POST", "/translate", Some("text/plain"), b"q=a").refused(415);
    assert!(kind.contains("form"), "{kind}");
}

#[test]
fn keys_are_taken_from_the_body_too() {
    let mut locked = translating(translator(), "en:it");
    locked.keys = Keys::new([KEY]).expect("a key");
    let running = Running::new(locked);
    let mut asked = json!({ "q": "the cat", "source": "en", "target": "it" });
    running.post("/translate", &asked).refused(403);
    asked["api_key"] = json!("a-key-that-is-wrong");
    running.post("/translate", &asked).refused(403);
    asked["api_key"] = json!(KEY);
    running.post("/translate", &asked).json();
    assert_eq!(running.get("/frontend/settings").json()["keyRequired"], true);
}
