//! `gatto look --tree`: what a search considered.

use super::look;
use crate::models::{attentive, classifier, labeller, language_model, masked, model};
use crate::{gatto, json_lines, names, refused, run, snapshot, text, written};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The lines of a tree that are candidates: the step, and what stands behind it.
fn candidates(drawing: &str) -> Vec<(usize, &str)> {
    let candidate = |line: &'_ str| -> Option<(usize, usize)> {
        let start = line.len() - line.trim_start().len();
        let step = line.trim_start().split(' ').next()?;
        Some((step.parse().ok()?, start + step.len()))
    };
    drawing
        .lines()
        .filter_map(|line| candidate(line).map(|(step, at)| (step, line[at..].trim_start())))
        .collect()
}

/// The tokens behind a sign.
fn signed<'a>(drawing: &'a str, sign: &str) -> Vec<&'a str> {
    let token =
        |(_, line): (usize, &'a str)| line.split_once(sign).map(|(_, rest)| rest.split_whitespace().next());
    candidates(drawing).into_iter().filter_map(token).flatten().collect()
}

/// The trees that lie in a page.
fn trees(path: &Path) -> Vec<Value> {
    let page = fs::read_to_string(path).expect("a page");
    let (_, data) = page.split_once(r#"<script type="application/json" id="data">"#).expect("data");
    let (data, _) = data.split_once("</script>").expect("an end");
    let data: Value = serde_json::from_str(data).expect("valid JSON");
    data["trees"].as_array().expect("trees").clone()
}

#[test]
fn the_terminal_shows_what_was_followed_and_what_was_pruned() {
    let flags = ["a b c", "--tree", "--beam", "3"];
    let drawing = written(run(&mut look(attentive(), &flags), None));
    assert_eq!(
        drawing,
        written(run(&mut look(attentive(), &flags[1..]), Some(b"a b c\n"))),
        "from standard input"
    );
    assert!(drawing.starts_with("a b c → c b a\nbeam of 3: c b a (score "), "{drawing}");
    assert_eq!(signed(&drawing, "● "), ["c", "b", "a", "⟨/s⟩"], "{drawing}");
    let of_step = |step| candidates(&drawing).into_iter().filter(|(found, _)| *found == step).count();
    assert_eq!([1, 2, 3].map(of_step), [6; 3], "three that were chosen, three beside them: {drawing}");
    assert_eq!(
        signed(&drawing, "× ").len(),
        3 * candidates(&drawing).last().expect("a candidate").0,
        "{drawing}"
    );
    assert!(drawing.contains("beaten by ") && drawing.contains("ended, number 1"), "{drawing}");

    // What is told of the result is what `predict` tells.
    let mut command = gatto(&["predict", "--json", "--beam", "3"]);
    let object = json_lines(run(command.arg(attentive()), Some(b"a b c\n"))).remove(0);
    let number = |key: &str| format!("{:.2}", object[key].as_f64().expect("a number")).replace('-', "−");
    let told = format!("(score {}, log p {})", number("normalised_score"), number("score"));
    assert!(drawing.contains(&told.replace("−0.00", "0.00")), "{told} in {drawing}");
}

#[test]
fn the_flags_of_search_change_the_tree() {
    let tree = |more: &[&str]| written(run(look(attentive(), &["a b c", "--tree"]).args(more), None));
    let greedy = tree(&[]);
    assert!(greedy.contains("\ngreedy search: c b a (") && !greedy.contains("beam of"), "{greedy}");
    assert_eq!(candidates(&greedy).len(), 4 * (1 + 3), "{greedy}");
    assert_eq!(signed(&tree(&["--beside", "0"]), "× "), [""; 0]);
    assert_eq!(candidates(&tree(&["--beam", "2", "--beside", "7"])).first().map(|(step, _)| *step), Some(1));
    let late = tree(&["--min-length", "8", "--beside", "5"]);
    assert!(late.contains("too short") && late.contains("ended, number 1"), "{late}");
    let several = tree(&["--beam", "4", "--n-best", "3"]);
    assert!((1..=3).all(|rank| several.contains(&format!("ended, number {rank}\n"))), "{several}");
    let groups = tree(&["--beam", "4", "--groups", "2"]);
    assert!(signed(&groups, "● ").starts_with(&["c", "b", "a"]), "{groups}");
    // A model without attention searches, too.
    let plain = written(run(&mut look(model(), &["a b", "--tree", "--beam", "2"]), None));
    assert!(plain.starts_with("a b → "), "{plain}");
}

#[test]
fn a_tree_is_written_as_a_file_of_its_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["x.svg", "x.png", "x.html"] {
        let path = folder.path().join(name);
        let mut command = look(attentive(), &["k e j", "--tree", "--beam", "3", "--n-best", "2", "-o"]);
        assert_eq!(written(run(command.arg(&path), None)), "");
    }
    let svg = fs::read_to_string(folder.path().join("x.svg")).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    for shown in
        [">k e j → j e k<", ">beam of 3: j e k (score ", ">step 4<", ">ended, number 2<", ">beaten by "]
    {
        assert!(svg.contains(shown), "{shown} in {svg}");
    }
    assert!(fs::read(folder.path().join("x.png")).expect("a picture").starts_with(b"\x89PNG\r\n\x1a\n"));
    let trees = trees(&folder.path().join("x.html"));
    let texts: Vec<&str> = trees[0]["paths"]
        .as_array()
        .expect("paths")
        .iter()
        .filter_map(|path| path["text"].as_str())
        .collect();
    assert_eq!((trees.len(), texts.len(), texts[0]), (1, 2, "j e k"));
    assert_eq!(names(folder.path()), ["x.html", "x.png", "x.svg"]);
}

#[test]
fn several_trees_are_one_page_and_no_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, path) = (Some(&b"a b\nc d e\n"[..]), folder.path().join("x.html"));
    assert_eq!(written(run(look(attentive(), &["--tree", "-o"]).arg(&path), input)), "");
    let titles: Vec<_> = trees(&path).iter().map(|tree| tree["title"].clone()).collect();
    assert_eq!(titles, ["a b → b a", "c d e → e d c"]);
    let drawing = written(run(&mut look(attentive(), &["--tree"]), input));
    let each = ["a b", "c d e"].map(|line| written(run(&mut look(attentive(), &[line, "--tree"]), None)));
    assert_eq!(drawing, each.concat());
    let said = refused(run(look(attentive(), &["--tree", "-o"]).arg(folder.path().join("x.svg")), input));
    snapshot("look-several-svg", &said, Some(folder.path()));
}

#[test]
fn what_has_no_tree_is_refused() {
    for (name, model) in [
        ("classifier", classifier()),
        ("labeller", labeller()),
        ("masked", masked()),
        ("language", language_model()),
    ] {
        let said = refused(run(&mut look(model, &["a b", "--tree"]), None));
        snapshot(&format!("look-tree-{name}"), &said, model.parent());
    }
    let said = refused(run(&mut look(language_model(), &["a b", "--beam", "3"]), None));
    assert!(
        said.contains("--beam and the other flags of search are for models that write of a source"),
        "{said}"
    );
    let said = refused(run(&mut look(attentive(), &["a b", "--tree", "--beam", "0"]), None));
    assert!(said.contains("--beam: must be from 1 to 1024"), "{said}");
    let said = refused(run(&mut look(attentive(), &["a b", "--tree", "--beam", "2", "--n-best", "3"]), None));
    assert!(said.contains("--n-best 3 needs a beam of as many hypotheses, and it is 2"), "{said}");
}

#[test]
fn flags_that_do_not_go_with_a_tree_are_bad_usage() {
    for more in [
        &["--target", "b a"][..],
        &["--attention", "cross"],
        &["--layer", "1"],
        &["--head", "2"],
        &["--heads"],
        &["--explain"],
        &["--words"],
        &["--no-end"],
    ] {
        let output = run(look(Path::new("run"), &["a b", "--tree"]).args(more), None);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", text(&output.stderr));
    }
    for more in [&["--beside", "2"][..], &["--n-best", "2"], &["--target", "b a", "--beam", "2"]] {
        let output = run(look(Path::new("run"), &["a b"]).args(more), None);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", text(&output.stderr));
    }
}

#[test]
fn attention_can_be_seen_of_what_a_beam_finds() {
    let drawn = |more: &[&str]| written(run(look(attentive(), &["a b c"]).args(more), None));
    assert_eq!(drawn(&["--beam", "3"]), drawn(&[]));
    let longer = drawn(&["--min-length", "6"]);
    assert!(longer.lines().count() > drawn(&[]).lines().count(), "{longer}");
}
