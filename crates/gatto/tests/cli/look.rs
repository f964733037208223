//! `gatto look`, and the picture at the end of `gatto demo`.

mod heads;
mod tree;

use crate::models::{attentive, language_model, located, model};
use crate::{gatto, json_lines, matrix, names, refused, run, snapshot, text, written};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

fn look(model: &Path, more: &[&str]) -> Command {
    let mut command = gatto(&["look"]);
    command.arg(model).args(more);
    command
}

/// A row of a drawing: the token, its probability and the numbers of its cells.
struct Row {
    token: String,
    probability: f64,
    cells: Vec<f64>,
}

/// A panel of a drawing without colours.
struct Panel {
    name: String,
    columns: Vec<String>,
    rows: Vec<Row>,
}

/// Reads a drawing of one sentence: its title, and its panels of lines with numbers.
fn drawn(drawing: &str) -> (String, Vec<Panel>) {
    let mut parts = drawing.trim_end().split("\n\n");
    let title = parts.next().expect("a title").to_owned();
    let panel = |part: &str| {
        let mut lines = part.lines();
        let name = lines.next().expect("a name").to_owned();
        let columns = lines.next().expect("columns").split_whitespace().map(str::to_owned).collect();
        let mut rows: Vec<&str> = lines.collect();
        rows.pop().expect("a legend");
        Panel { name, columns, rows: rows.into_iter().map(row).collect() }
    };
    (title, parts.map(panel).collect())
}

fn row(line: &str) -> Row {
    let mut parts = line.split_whitespace();
    let token = parts.next().expect("a token").to_owned();
    let number = |part: &str| {
        let digits = part.trim_end_matches(['░', '▒', '▓', '█']).replace('−', "-");
        digits.parse::<f64>().unwrap_or_else(|_| panic!("{part} in {line}"))
    };
    let probability = number(parts.next().expect("a probability"));
    Row { token, probability, cells: parts.map(number).collect() }
}

fn tokens(panel: &Panel) -> Vec<&str> {
    panel.rows.iter().map(|row| row.token.as_str()).collect()
}

/// The heatmaps that lie in a page.
fn page(path: &Path) -> Vec<Value> {
    let page = fs::read_to_string(path).expect("a page");
    assert!(page.to_lowercase().starts_with("<!doctype html"), "{}", &page[..40]);
    let (_, data) = page.split_once(r#"<script type="application/json" id="data">"#).expect("data");
    let (data, _) = data.split_once("</script>").expect("an end");
    let data: Value = serde_json::from_str(data).expect("valid JSON");
    data["heatmaps"].as_array().expect("heatmaps").clone()
}

#[test]
fn the_drawing_shows_the_weights_that_json_has() {
    let drawing = written(run(&mut look(attentive(), &["a b c"]), None));
    assert_eq!(drawing, written(run(&mut look(attentive(), &[]), Some(b"a b c\n"))), "from standard input");
    let (title, panels) = drawn(&drawing);
    let [panel] = &panels[..] else { panic!("{drawing}") };
    assert_eq!((title.as_str(), panel.name.as_str()), ("a b c → c b a", "attention"));
    assert_eq!(panel.columns, ["a", "b", "c", "⟨/s⟩"]);
    assert_eq!(tokens(panel), ["c", "b", "a", "⟨/s⟩"]);

    let mut command = gatto(&["predict", "--json"]);
    let object = json_lines(run(command.arg(attentive()), Some(b"a b c\n"))).remove(0);
    let (weights, logs) = (matrix(&object["weights"]), crate::numbers(&object["log_probabilities"]));
    for (t, row) in panel.rows.iter().enumerate() {
        assert_eq!(row.cells.len(), 4, "{drawing}");
        assert!((row.cells.iter().sum::<f64>() - 1.0).abs() < 0.03, "{drawing}");
        assert!(
            row.cells.iter().zip(&weights[t]).all(|(a, b)| (a - b).abs() < 0.0051),
            "{drawing} {weights:?}"
        );
        assert!((row.probability - logs[t].exp()).abs() < 0.0051, "{drawing} {logs:?}");
    }
}

#[test]
fn pictures_are_files_of_their_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut pictures = Vec::new();
    for name in ["x.svg", "x.PNG", "x.html"] {
        let path = folder.path().join(name);
        assert_eq!(written(run(look(attentive(), &["k e j", "-o"]).arg(&path), None)), "");
        pictures.push(fs::read(&path).expect("a picture"));
    }
    let svg = text(&pictures[0]);
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("k e j → j e k"), "{svg}");
    for (target, source) in [("j", "k"), ("e", "j"), ("⟨/s⟩", "⟨/s⟩")] {
        assert!(svg.contains(&format!("<title>{target} ← {source}: ")), "{target} ← {source} in {svg}");
    }
    // The magic number, and a width and height in which something can be read.
    let png = &pictures[1];
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{:?}", &png[..8]);
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert!(size(16) > 200 && size(20) > 200, "{} × {}", size(16), size(20));
    let heatmaps = page(&folder.path().join("x.html"));
    assert_eq!(heatmaps.len(), 1);
    assert_eq!(heatmaps[0]["charts"][0]["views"][0]["source"], serde_json::json!(["k", "e", "j", "⟨/s⟩"]));
    assert_eq!(heatmaps[0]["charts"][0]["views"][0]["target"], serde_json::json!(["j", "e", "k", "⟨/s⟩"]));
    assert_eq!(names(folder.path()), ["x.PNG", "x.html", "x.svg"]);
}

#[test]
fn a_file_that_is_no_picture_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, file) in [("unknown-extension", "x.gif"), ("no-extension", "x")] {
        let said = refused(run(look(attentive(), &["a b", "-o"]).arg(folder.path().join(file)), None));
        snapshot(&format!("look-{name}"), &said, Some(folder.path()));
    }
    let said = refused(run(look(attentive(), &["a b", "-o"]).arg(folder.path().join("missing/x.svg")), None));
    assert!(said.contains("missing/x.svg: cannot be written"), "{said}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn several_sentences_are_one_page_and_no_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, path) = (Some(&b"a b\nc d e\n"[..]), folder.path().join("x.html"));
    assert_eq!(written(run(look(attentive(), &["-o"]).arg(&path), input)), "");
    let titles: Vec<_> = page(&path).iter().map(|heatmap| heatmap["title"].clone()).collect();
    assert_eq!(titles, ["a b → b a", "c d e → e d c"]);

    let drawing = written(run(&mut look(attentive(), &[]), input));
    let each = ["a b", "c d e"].map(|line| written(run(&mut look(attentive(), &[line]), None)));
    assert_eq!(drawing, each.concat());

    for file in ["x.svg", "x.png"] {
        let said = refused(run(look(attentive(), &["-o"]).arg(folder.path().join(file)), input));
        snapshot(&format!("look-several-{}", &file[2..]), &said, Some(folder.path()));
    }
    assert_eq!(names(folder.path()), ["x.html"]);
    let said = refused(run(&mut look(attentive(), &["--target", "b a"]), input));
    assert!(said.contains("--target is for one sentence, and there are 2"), "{said}");
    let said = refused(run(&mut look(attentive(), &[]), Some(b"")));
    assert!(said.contains("there is no sentence to look at"), "{said}");
}

#[test]
fn another_target_can_be_forced() {
    let (_, own) = drawn(&written(run(&mut look(attentive(), &["a b c"]), None)));
    let (title, forced) = drawn(&written(run(&mut look(attentive(), &["a b c", "--target", "x c"]), None)));
    assert_eq!(title, "a b c → x c");
    assert_eq!(tokens(&forced[0]), ["x", "c", "⟨/s⟩"]);
    assert!(own[0].rows[0].probability > 0.5, "{}", own[0].rows[0].probability);
    assert!(forced[0].rows[0].probability < 0.1, "{}", forced[0].rows[0].probability);
    // Nothing has been read yet that differs.
    assert_eq!(own[0].rows[0].cells, forced[0].rows[0].cells);
}

#[test]
fn the_end_can_be_left_out() {
    let source = "a b c";
    let whole = written(run(&mut look(attentive(), &[source, "--target", "a b c"]), None));
    let cut = written(run(&mut look(attentive(), &[source, "--target", "a b c", "--no-end"]), None));
    assert!(whole.contains("⟨/s⟩") && !cut.contains("⟨/s⟩"), "{whole}{cut}");
    let (_, panels) = drawn(&cut);
    assert_eq!((tokens(&panels[0]), panels[0].columns.len()), (vec!["a", "b", "c"], 3));
    for row in &panels[0].rows {
        assert!((row.cells.iter().sum::<f64>() - 1.0).abs() < 0.02, "{cut}");
    }
}

#[test]
fn pieces_of_words_can_be_merged() {
    let arguments = ["ab c", "--target", "def g", "--no-end"];
    let (_, pieces) = drawn(&written(run(&mut look(located(), &arguments), None)));
    assert_eq!((pieces[0].columns.len(), pieces[0].rows.len()), (4, 5));
    let mut command = look(located(), &arguments);
    let (_, words) = drawn(&written(run(command.arg("--words"), None)));
    assert_eq!((words[0].columns.len(), words[0].rows.len()), (2, 2));
    let sums = words[0].rows.iter().map(|row| row.cells.iter().sum::<f64>());
    assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 0.02));
}

#[test]
fn explanations_stand_beside_attention() {
    let (_, plain) = drawn(&written(run(&mut look(attentive(), &["a b c"]), None)));
    let drawing = written(run(&mut look(attentive(), &["a b c", "--explain"]), None));
    let (_, panels) = drawn(&drawing);
    let [attention, gradient, erasure] = &panels[..] else { panic!("{drawing}") };
    assert_eq!(attention.name, "attention");
    assert!(gradient.name.starts_with("gradient × input"), "{drawing}");
    assert!(erasure.name.starts_with("erasure"), "{drawing}");
    for (panel, plain) in panels.iter().zip(plain.iter().cycle()) {
        assert_eq!((tokens(panel), &panel.columns), (tokens(plain), &plain.columns));
        assert!(panel.rows.iter().all(|row| row.cells.len() == 4), "{drawing}");
    }
    for (with, without) in attention.rows.iter().zip(&plain[0].rows) {
        assert!(with.cells.iter().zip(&without.cells).all(|(a, b)| (a - b).abs() < 0.011), "{drawing}");
    }
    // A symbol that is not there cannot be written; the end is never left out.
    for (t, row) in erasure.rows.iter().take(3).enumerate() {
        assert!(row.cells[2 - t] > 3.0 && row.cells[3] == 0.0, "{drawing}");
    }

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.html");
    assert_eq!(written(run(look(attentive(), &["a b c", "--explain", "-o"]).arg(&path), None)), "");
    let panels = page(&path)[0]["charts"][0]["views"][0]["panels"].as_array().expect("panels").clone();
    let names: Vec<_> = panels.iter().map(|panel| panel["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["attention", "gradient × input", "erasure"]);
    let shape = |panel: &Value| matrix(&panel["values"]).iter().map(Vec::len).collect::<Vec<_>>();
    assert!(panels.iter().all(|panel| shape(panel) == [4; 4]));
}

#[test]
fn a_model_without_attention_can_only_be_explained() {
    let said = refused(run(&mut look(model(), &["a b"]), None));
    snapshot("look-no-attention", &said, model().parent());
    let (title, panels) = drawn(&written(run(&mut look(model(), &["a b", "--explain"]), None)));
    assert!(title.starts_with("a b → "), "{title}");
    let names: Vec<&str> =
        panels.iter().map(|panel| panel.name.split(" (").next().expect("a name")).collect();
    assert_eq!(names, ["gradient × input", "erasure"]);
    for more in [&["a b"][..], &["a b", "--explain"]] {
        let said = refused(run(&mut look(language_model(), more), None));
        snapshot("look-language-model", &said, language_model().parent());
    }
}

#[test]
fn the_demonstration_ends_with_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("demo");
    let output = run(gatto(&["demo", "--steps", "20", "--out"]).arg(&out), None);
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("finished at step 20"), "{said}");
    let picture = shown.split_once("held-out sentences\n\n").expect("a share").1;
    let (picture, rest) = picture.split_once("\nwhere it looked, to open in a browser: ").expect("a page");
    let (title, panels) = drawn(picture);
    assert!(title.starts_with("the cat is on the table → "), "{title}");
    assert_eq!(panels[0].columns, ["the", "cat", "is", "on", "the", "table", "⟨/s⟩"]);
    assert_eq!(rest.lines().next(), Some(out.join("alignment.html").display().to_string().as_str()));
    let heatmaps = page(&out.join("alignment.html"));
    assert_eq!((heatmaps.len(), heatmaps[0]["title"].as_str()), (1, Some(title.as_str())));
}
