//! `gatto look` at models with many attentions, layers and heads.

use super::{Panel, drawn, look, page, tokens};
use crate::models::{attentive, classifier, labeller, masked, transformer};
use crate::{gatto, json_lines, matrix, refused, run, snapshot, text, written};
use serde_json::json;
use std::fs;
use std::path::Path;

const HEADS: usize = 4;

/// The one panel that these flags show.
fn seen(model: &Path, source: &str, more: &[&str]) -> Panel {
    let drawing = written(run(look(model, &[source]).args(more), None));
    let (_, mut panels) = drawn(&drawing);
    assert_eq!(panels.len(), 1, "{drawing}");
    panels.remove(0)
}

fn cells(panel: &Panel) -> Vec<Vec<f64>> {
    panel.rows.iter().map(|row| row.cells.clone()).collect()
}

#[test]
fn a_transformer_shows_the_mean_of_its_heads() {
    let panel = seen(transformer(), "a b c", &[]);
    assert_eq!(panel.name, "cross-attention: mean of 4 heads in 2 layers");
    assert_eq!(
        (tokens(&panel), &panel.columns),
        (vec!["c", "b", "a", "⟨/s⟩"], &vec_of(["a", "b", "c", "⟨/s⟩"]))
    );
    let mut command = gatto(&["predict", "--json"]);
    let object = json_lines(run(command.arg(transformer()), Some(b"a b c\n"))).remove(0);
    assert_close(&cells(&panel), &matrix(&object["weights"]), 0.0051);
    let head = |layer: usize, head: usize| {
        let [layer, head] = [layer, head].map(|number| number.to_string());
        cells(&seen(transformer(), "a b c", &["--layer", &layer, "--head", &head]))
    };
    let heads: Vec<_> = (0..2 * HEADS).map(|index| head(index / HEADS + 1, index % HEADS + 1)).collect();
    assert_close(&cells(&panel), &combined(&heads, |all| all.iter().sum::<f64>() / all.len() as f64), 0.0101);
}

/// What becomes of each cell of several heads.
fn combined(heads: &[Vec<Vec<f64>>], of: fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
    let cell = |t: usize, i: usize| of(&heads.iter().map(|head| head[t][i]).collect::<Vec<_>>());
    (0..heads[0].len()).map(|t| (0..heads[0][t].len()).map(|i| cell(t, i)).collect()).collect()
}

#[test]
fn layers_and_heads_can_be_chosen() {
    let source = "a b c";
    let head = |layer: &str, head: &str| seen(transformer(), source, &["--layer", layer, "--head", head]);
    let heads: Vec<Vec<Vec<f64>>> =
        (1..=HEADS).map(|number| cells(&head("2", &number.to_string()))).collect();
    assert!(heads.windows(2).any(|pair| pair[0] != pair[1]), "heads differ");
    assert_eq!(head("2", "3").name, "cross-attention: layer 2, head 3");
    let mean = seen(transformer(), source, &["--layer", "2"]);
    assert_eq!(mean.name, "cross-attention: layer 2, mean of 4 heads");
    assert_close(&cells(&mean), &combined(&heads, |all| all.iter().sum::<f64>() / all.len() as f64), 0.0101);
    let most = head("2", "max");
    assert_eq!(most.name, "cross-attention: layer 2, largest of 4 heads");
    assert_close(&cells(&most), &combined(&heads, |all| all.iter().copied().fold(0.0, f64::max)), 0.0001);
}

#[test]
fn both_sides_look_at_themselves() {
    let encoder = seen(transformer(), "a b c", &["--attention", "encoder", "--layer", "1", "--head", "1"]);
    assert_eq!(encoder.name, "encoder self-attention: layer 1, head 1");
    let decoder = ["--attention", "decoder", "--layer", "2", "--head", "4"];
    let decoder = seen(transformer(), "a b c", &decoder);
    assert_eq!(decoder.name, "decoder self-attention: layer 2, head 4");
    assert_eq!(
        (tokens(&decoder), &decoder.columns),
        (vec!["c", "b", "a", "⟨/s⟩"], &vec_of(["⟨s⟩", "c", "b", "a"]))
    );
    for (t, row) in decoder.rows.iter().enumerate() {
        assert!((row.cells.iter().sum::<f64>() - 1.0).abs() < 0.03, "{:?}", row.cells);
        assert!(row.cells[t + 1..].iter().all(|&weight| weight == 0.0), "{:?}", row.cells);
    }
    let bare = seen(transformer(), "a b c", &["--attention", "decoder", "--no-end"]);
    assert_eq!((tokens(&bare), &bare.columns), (vec!["c", "b", "a"], &vec_of(["c", "b", "a"])));
}

#[test]
fn what_a_model_has_not_is_refused_with_what_it_has() {
    for (name, more) in [
        ("layer", &["--layer", "3"][..]),
        ("head", &["--layer", "1", "--head", "5"]),
        ("head-without-layer", &["--head", "1"]),
        ("pooling", &["--attention", "pooling"]),
        ("layer-of-a-picture", &["--layer", "9", "--heads", "-o", "x.svg"]),
        ("layer-of-a-page", &["--layer", "9", "-o", "x.html"]),
    ] {
        let said = refused(run(look(transformer(), &["a b"]).args(more), None));
        snapshot(&format!("look-absent-{name}"), &said, transformer().parent());
    }
    let said = refused(run(look(attentive(), &["a b"]).args(["--attention", "encoder"]), None));
    assert!(said.contains("has no encoder attention; it has: cross"), "{said}");
    assert_eq!(seen(attentive(), "a b", &["--layer", "1", "--head", "1"]).name, "attention");
    for more in [&["--heads", "--head", "1"][..], &["--explain", "--layer", "1"], &["--head", "most"]] {
        let output = run(look(transformer(), &["a b"]).args(more), None);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}

#[test]
fn all_heads_are_drawn_at_once() {
    let drawing = written(run(look(transformer(), &["a b c"]).arg("--heads"), None));
    for part in ["cross-attention\n", "layer 1 ", "layer 2 ", "head 4", "1 a  2 b  3 c  4 ⟨/s⟩"] {
        assert!(drawing.contains(part), "{part} in {drawing}");
    }
    assert_eq!(drawing.matches("head 1").count(), 2, "{drawing}");
    let one = written(run(look(transformer(), &["a b c"]).args(["--heads", "--layer", "2"]), None));
    assert!(one.contains("layer 2 ") && !one.contains("layer 1 "), "{one}");
    let long = "a ".repeat(40);
    let said = refused(run(look(transformer(), &[long.as_str()]).arg("--heads"), None));
    snapshot("look-heads-too-wide", &said, None);

    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    for name in ["x.svg", "x.png"] {
        written(run(look(transformer(), &["a b c", "--heads", "-o"]).arg(file(name)), None));
    }
    let svg = fs::read_to_string(file("x.svg")).expect("a picture");
    assert_eq!(svg.matches("<title>layer ").count(), 2 * HEADS, "{svg}");
    assert!(fs::read(file("x.png")).expect("a picture").starts_with(b"\x89PNG"));
}

#[test]
fn a_page_holds_all_attentions_and_starts_with_what_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.html");
    let flags = ["a b c", "--attention", "encoder", "--layer", "2", "--head", "max", "--no-end", "-o"];
    assert_eq!(written(run(look(transformer(), &flags).arg(&path), None)), "");
    let charts = page(&path)[0]["charts"].as_array().expect("charts").clone();
    let names: Vec<_> = charts.iter().map(|chart| chart["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["cross-attention", "encoder self-attention", "decoder self-attention"]);
    for chart in &charts {
        assert_eq!(chart["grid"], json!({ "layers": [1, 2], "heads": HEADS }));
        // Every head, and mean and maximum of all and of each layer; with its end, and without.
        let views = chart["views"].as_array().expect("views");
        let panels = |view: &serde_json::Value| view["panels"].as_array().expect("panels").len();
        assert_eq!(views.iter().map(panels).collect::<Vec<_>>(), [2 * HEADS + 6; 2]);
    }
    let html = fs::read_to_string(&path).expect("a page");
    let start = r#""start":{"chart":1,"layer":2,"head":"max","all":false,"merged":false,"endless":true}"#;
    assert!(html.contains(start));
}

#[test]
fn models_without_a_decoder_show_what_they_have() {
    let label = "the film is good → very positive";
    let drawing = written(run(&mut look(classifier(), &["the film is good"]), None));
    assert!(drawing.starts_with(label), "{drawing}");
    let (rows, weights) =
        drawing.split_once("very positive ").expect("a row").1.split_once('\n').expect("a line");
    assert!(drawing.contains("\npooling\n") && rows.split_whitespace().count() == 5, "{drawing} {weights}");
    let labelled = seen(labeller(), "the film is good", &["--layer", "1", "--head", "2"]);
    assert_eq!(labelled.name, "encoder self-attention: layer 1, head 2");
    let filled = seen(masked(), "the film [MASK] good", &["--head", "1"]);
    assert_eq!(
        (filled.columns, filled.rows[2].token.as_str()),
        (vec_of(["the", "film", "[MASK]", "good", "⟨/s⟩"]), "[MASK]")
    );
    let said = refused(run(&mut look(classifier(), &["good", "--target", "x"]), None));
    assert!(said.contains("is for `task = \"classify\"`, and so --target has no use"), "{said}");
    let said = refused(run(&mut look(classifier(), &["good", "--explain"]), None));
    assert!(said.contains("writes nothing to look at"), "{said}");
}

fn vec_of<const N: usize>(tokens: [&str; N]) -> Vec<String> {
    tokens.map(str::to_owned).to_vec()
}

fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance);
        assert!(close, "{found:?}, not {expected:?}");
    }
}
