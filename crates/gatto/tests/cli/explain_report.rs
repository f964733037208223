//! `gatto explain-report`

use crate::models::{attentive, blurred, captioner, language_model, model, patches};
use crate::{gatto, json, refused, run, snapshot, written};
use gatto::data::builtin::shapes::{Asked, ScenePart, Shapes};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

fn report(more: &[&str]) -> Command {
    let mut command = gatto(&["explain-report"]);
    command.arg(attentive()).args(more);
    command
}

const CORRELATIONS: [&str; 3] = ["attention_and_gradient", "attention_and_erasure", "gradient_and_erasure"];

/// All numbers of a text.
fn figures(text: &str) -> Vec<f64> {
    let parts = text.split(|sign: char| !sign.is_ascii_digit() && sign != '.' && sign != '-');
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn the_report_says_what_json_says() {
    let text = written(run(&mut report(&["--examples", "20"]), None));
    let found = json(run(&mut report(&["--examples", "20", "--json"]), None));
    assert_eq!(
        text,
        written(run(&mut report(&["--examples", "20"]), None)),
        "the same seed, the same figures"
    );

    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(figures(lines[0]), [20.0, found["tokens"].as_f64().expect("a number")]);
    let close = |shown: f64, exact: &Value| {
        let exact = exact.as_f64().expect("a number");
        assert!((shown - exact).abs() < 0.00051, "{text}{found}");
        assert!((-1.0..=1.0).contains(&exact), "{exact}");
    };
    for (line, name) in lines[2..5].iter().zip(CORRELATIONS) {
        close(*figures(line).last().expect("a figure"), &found["kendall_tau"][name]);
    }
    let falls = found["fall_of_probability"].as_array().expect("falls");
    assert_eq!((lines.len(), falls.len()), (6 + 3, 3), "{text}");
    for (deleted, (line, fall)) in (1..).zip(lines[6..].iter().zip(falls)) {
        let [count, attended, random] = figures(line)[..] else { panic!("{line}") };
        assert_eq!((count, &fall["deleted"]), (f64::from(deleted), &Value::from(deleted)));
        close(attended, &fall["attended"]);
        close(random, &fall["random"]);
    }
    // Without the symbol that it looks at, a model that looks symbols up cannot write it.
    let [attended, random] = ["attended", "random"].map(|name| falls[0][name].as_f64().expect("a fall"));
    assert!(attended > 0.5 && attended > random + 0.1, "{text}");
}

#[test]
fn a_seed_changes_the_random_deletions_alone() {
    let mut one = json(run(&mut report(&["--examples", "20", "--json"]), None));
    let mut other = json(run(&mut report(&["--examples", "20", "--json", "--seed", "2"]), None));
    let random = |found: &mut Value| -> Vec<Value> {
        let falls = found["fall_of_probability"].as_array_mut().expect("falls");
        falls.iter_mut().map(|fall| fall["random"].take()).collect()
    };
    assert_ne!(random(&mut one), random(&mut other));
    assert_eq!(one, other);
}

#[test]
fn the_output_of_the_model_can_be_explained_in_place_of_targets() {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, target, own] = ["source", "target", "own"].map(|name| folder.path().join(name));
    let lines = "a b c\nd e\nf g h i\n";
    fs::write(&source, lines).expect("written");
    fs::write(&target, "x\ny z\nw\n").expect("written");
    fs::write(&own, written(run(gatto(&["predict"]).arg(attentive()), Some(lines.as_bytes()))))
        .expect("written");
    let of = |target, more: &[&str]| {
        let mut command = report(&["--json"]);
        json(run(command.arg("--source").arg(&source).arg("--target").arg(target).args(more), None))
    };
    let (given, own) = (of(&target, &[]), of(&own, &[]));
    assert_eq!((&given["sentences"], &given["tokens"]), (&Value::from(3), &Value::from(2 + 3 + 2)));
    assert_ne!(given, own);
    assert_eq!(of(&target, &["--own"]), own);
}

#[test]
fn models_that_look_at_nothing_are_refused() {
    let said = refused(run(gatto(&["explain-report"]).arg(model()), None));
    snapshot("explain-report-no-attention", &said, model().parent());
    let said = refused(run(gatto(&["explain-report"]).arg(language_model()), None));
    snapshot("explain-report-language-model", &said, language_model().parent());
}

/// What is told of some images.
fn of_images(model: &Path, more: &[&str]) -> Command {
    let mut command = gatto(&["explain-report", "--examples", "4"]);
    command.arg(model).args(more);
    command
}

const METHODS: [&str; 4] = ["attention", "gradient", "erasure", "chance"];

#[test]
fn the_report_of_captions_says_where_words_point() {
    let text = written(run(&mut of_images(captioner(), &[]), None));
    let found = json(run(&mut of_images(captioner(), &["--json"]), None));
    assert_eq!(text, written(run(&mut of_images(captioner(), &[]), None)), "the same seed, the same figures");

    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(figures(lines[0]), [4.0, found["tokens"].as_f64().expect("a number")]);
    for (line, name) in lines[2..5].iter().zip(CORRELATIONS) {
        let exact = found["kendall_tau"][name].as_f64().expect("a number");
        assert!((figures(line).last().expect("a figure") - exact).abs() < 0.00051, "{text}{found}");
    }
    let falls = found["fall_of_probability"].as_array().expect("falls");
    let blanked: Vec<u64> = falls.iter().map(|fall| fall["deleted"].as_u64().expect("a number")).collect();
    assert_eq!(blanked, [1, 3, 5]);

    let pointing = &found["pointing"];
    let shares = |of: &Value, name: &str| {
        ["share", "accuracy"].map(|figure| of[name][figure].as_f64().expect("a share"))
    };
    assert_eq!((&found["images"], &found["located"]), (&Value::from(4), &Value::from(4)));
    assert_eq!(figures(lines[9]), [pointing["count"].as_f64().expect("a number")], "{text}");
    for (line, name) in lines[11..15].iter().zip(METHODS) {
        let exact = shares(pointing, name).map(|share| 100.0 * share);
        assert!(exact.iter().all(|share| (0.0..=100.0).contains(share)), "{found}");
        for (shown, exact) in figures(line).iter().zip(exact) {
            assert!((shown - exact).abs() < 0.051, "{text}{found}");
        }
    }
    // Word by word they are the same words.
    let words = pointing["by_word"].as_array().expect("words");
    let counts: Vec<u64> = words.iter().map(|word| word["count"].as_u64().expect("a count")).collect();
    assert!(counts.is_sorted_by(|more, fewer| more >= fewer), "{found}");
    assert_eq!(Some(counts.iter().sum::<u64>()), pointing["count"].as_u64());
    for name in METHODS {
        let mean = words.iter().zip(&counts).map(|(word, count)| shares(word, name)[1] * *count as f64);
        let mean = mean.sum::<f64>() / counts.iter().sum::<u64>() as f64;
        assert!((mean - shares(pointing, name)[1]).abs() < 1e-9, "{found}");
    }
    let first = words[0]["word"].as_str().expect("a word");
    assert!(lines[17].trim_start().starts_with(first), "{text}");
}

#[test]
fn other_captions_and_parts_are_explained_if_asked_for() {
    let given = json(run(&mut of_images(captioner(), &["--json"]), None));
    let own = json(run(&mut of_images(captioner(), &["--json", "--own"]), None));
    let valid = json(run(&mut of_images(captioner(), &["--json", "--part", "valid"]), None));
    assert_ne!(given["kendall_tau"], own["kendall_tau"]);
    assert_ne!(given["kendall_tau"], valid["kendall_tau"]);
    assert_eq!([&given["own"], &own["own"]], [&Value::from(false), &Value::from(true)]);
    let located = own["located"].as_u64().expect("a number");
    assert!(located < 4, "the model says nothing true of most images yet: {own}");
}

#[test]
fn labels_are_explained_by_rollout() {
    let text = written(run(&mut of_images(patches(), &[]), None));
    let found = json(run(&mut of_images(patches(), &["--json"]), None));
    assert!(text.starts_with("4 images, 4 labels\n") && text.contains("rollout and erasure "), "{text}");
    assert_eq!((&found["rollout"], &found["pointing"]["count"]), (&Value::from(true), &Value::from(4)));
    let said = refused(run(&mut of_images(blurred(), &[]), None));
    snapshot("explain-report-no-regions", &said, blurred().parent());
}

#[test]
fn images_of_files_point_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let shapes = Shapes::new(64, Asked::Captions(1)).expect("a task");
    for number in 0..2 {
        let example = shapes.example(9, ScenePart::Train, number).expect("a scene");
        example.image.write_png(&folder.path().join(format!("{number}.png"))).expect("written");
    }
    let list = folder.path().join("list.tsv");
    fs::write(&list, "0.png\ta circle is left of a star\n1.png\tthere are two objects\n").expect("written");
    let of_list = |more: &[&str]| {
        let mut command = of_images(captioner(), more);
        run(command.arg("--data").arg(&list).arg("--images").arg(folder.path()), None)
    };
    let text = written(of_list(&[]));
    assert!(text.starts_with("2 images, "), "{text}");
    assert!(text.ends_with("do not know where things are; those of `builtin = \"shapes\"` do\n"), "{text}");
    let found = json(of_list(&["--json"]));
    assert_eq!((&found["pointing"], &found["located"]), (&Value::Null, &Value::from(0)));
    assert!(written(of_list(&["--own"])).contains("left out, since no text that the model wrote"));
}
