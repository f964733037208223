//! `gatto predict` with more than a source: how outputs begin, what they say and do not, what else they could
//! say, samples, and several models.

use crate::models::{attentive, classifier, language_model, model, transformer};
use crate::predict::predict;
use crate::{gatto, json_lines, refused, run, written};
use std::fs;

#[test]
fn outputs_begin_and_say_what_they_should() {
    let lines = "a b c\nf e d c\nb\n";
    let found = |more: &[&str]| written(run(predict(&["--beam", "6"]).args(more), Some(lines.as_bytes())));
    let free = found(&[]);
    let begun = found(&["--prefix", "e e"]);
    assert!(begun.lines().all(|line| line.starts_with("e e")), "{begun}");
    assert_ne!(begun, free);
    let said = found(&["--must", "f a", "--must", "d"]);
    assert!(said.lines().all(|line| line.contains("f a") && line.contains('d')), "{said}");
    let unsaid = found(&["--never", "b", "--never", "zebra"]);
    assert!(free.contains('b') && !unsaid.contains('b'), "{unsaid}");

    let folder = tempfile::tempdir().expect("a folder");
    let wishes = folder.path().join("wishes.jsonl");
    fs::write(&wishes, "{\"prefix\": \"e e\"}\n\n{\"must\": [\"f a\"], \"never\": [\"c\"]}\n")
        .expect("written");
    let path = wishes.to_str().expect("a path");
    let each = found(&["--constraints", path, "--batch", "1"]);
    let each: Vec<&str> = each.lines().collect();
    assert_eq!(each[..2], [begun.lines().next().expect("a line"), free.lines().nth(1).expect("a line")]);
    assert!(each[2].contains("f a") && !each[2].contains('c'), "{each:?}");
    let json = json_lines(run(&mut predict(&["--json", "--prefix", "e e"]), Some(b"a b c\n")));
    assert_eq!(json[0]["given"], 2);
    assert_eq!(json[0]["tokens"][1], "e");
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let wishes = folder.path().join("wishes.jsonl");
    let path = wishes.to_str().expect("a path").to_owned();
    for (lines, expected) in [
        ("{\"must\": [\"zebra\"]}\n", "standard input, line 1: `zebra` cannot be written"),
        ("{\"must\": \"zebra\"}\n", "wishes.jsonl, line 1: is no constraint"),
        ("{\"most\": []}\n", "unknown field `most`"),
        ("", "ends before line 1"),
        ("{}\n{}\n", "has more than 1 lines, and there are 1 sources"),
    ] {
        fs::write(&wishes, lines).expect("written");
        let output = run(&mut predict(&["--constraints", &path]), Some(b"a b\n"));
        assert_eq!(output.status.code(), Some(1));
        let said = crate::text(&output.stderr);
        assert!(said.contains(expected), "{lines}: {said}");
    }
    let long = "a ".repeat(300);
    for (flags, expected) in [
        (&["--must", "a zebra"][..], "--must cannot be met"),
        (&["--prefix", "zebra"], "`zebra` is not in the vocabulary"),
        (&["--must", " "], "is empty"),
        (&["--must", &long], "raise `max_length`"),
        (&["--sample", "--must", "a"], "--must and --sample do not go together"),
        (&["--sample", "--beam", "2"], "do not go together"),
    ] {
        let said = refused(run(&mut predict(flags), Some(b"a b\n")));
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
    let output = run(&mut predict(&["--must", "a", "--alternatives", "2"]), Some(b"a b\n"));
    assert_eq!(output.status.code(), Some(2));
    for (other, flags, expected) in [
        (language_model(), &["--prefix", "a"][..], "--prefix is for models that write of a source"),
        (language_model(), &["--max-ratio", "2"], "--max-ratio is for models that write of a source"),
        (classifier(), &["--beam", "2"], "for models that write"),
        (classifier(), &["--sample"], "--sample is for models that write"),
    ] {
        let said = refused(run(gatto(&["predict"]).arg(other).args(flags), Some(b"a b\n")));
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
}

#[test]
fn other_tokens_are_told_with_what_follows_them() {
    let found = written(run(&mut predict(&["--alternatives", "3", "--at", "2"]), Some(b"a b c\nb c d e\n")));
    let rows: Vec<Vec<&str>> = found.lines().map(|line| line.split(" ||| ").collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["1", "1", "1", "2", "2", "2"]);
    let best = written(run(&mut predict(&[]), Some(b"a b c\nb c d e\n")));
    let [first, second] = [0, 3].map(|row| rows[row][3]);
    assert_eq!([first, second], [best.lines().next().expect("a line"), best.lines().nth(1).expect("a line")]);
    for row in &rows {
        let words: Vec<&str> = row[3].split(' ').collect();
        assert!(row[1] == words[1] || row[1] == "</s>", "{row:?}");
        let probability: f64 = row[2].parse().expect("a number");
        assert!((0.0..=1.0).contains(&probability));
    }
    let json =
        json_lines(run(&mut predict(&["--alternatives", "2", "--prefix", "f", "--json"]), Some(b"a b c\n")));
    assert_eq!(json[0]["alternatives"].as_array().expect("a list").len(), 2);
    assert_eq!(json[0]["alternatives"][0]["tokens"][0], "f");
}

#[test]
fn samples_of_translators_depend_on_seed_and_line() {
    let lines = "a b c\nf e d c\nb a d\na b c\n";
    let drawn = |more: &[&str]| {
        let flags = ["--sample", "--temperature", "2", "--min-p", "0.01"];
        written(run(predict(&flags).args(more), Some(lines.as_bytes())))
    };
    let all = drawn(&["--n-best", "3"]);
    assert_eq!(all.lines().count(), 12);
    assert_eq!(drawn(&["--n-best", "3", "--batch", "1", "--threads", "1"]), all);
    let outputs = |all: &str, n: usize| -> Vec<String> {
        let parts = all.lines().skip(n).step_by(3);
        parts.filter_map(|line| line.split(" ||| ").nth(1).map(str::to_owned)).collect()
    };
    assert_eq!(drawn(&[]).lines().collect::<Vec<_>>(), outputs(&all, 0));
    assert_eq!(drawn(&["--seed", "3"]).lines().collect::<Vec<_>>(), outputs(&all, 2), "the seeds behind");
    assert_ne!(outputs(&all, 0), outputs(&all, 1));
    let sure = ["--sample", "--min-p", "1"];
    let greedy = written(run(&mut predict(&[]), Some(lines.as_bytes())));
    assert_eq!(written(run(&mut predict(&sure), Some(lines.as_bytes()))), greedy);
}

#[test]
fn a_language_model_searches_too() {
    let mut command = gatto(&["predict"]);
    command.arg(language_model()).args(["--beam", "3", "--n-best", "2", "--max-length", "5"]);
    let found = written(run(&mut command, Some(b"a b\nc\n")));
    let rows: Vec<Vec<&str>> = found.lines().map(|line| line.split(" ||| ").collect()).collect();
    let of = |line: &str| rows.iter().filter(|row| row[0] == line).collect::<Vec<_>>();
    for (line, beginning) in [("1", "a b"), ("2", "c")] {
        let best = of(line);
        assert!((1..=2).contains(&best.len()), "{found}");
        assert!(best.iter().all(|row| row[1].starts_with(beginning)), "{found}");
        let scores: Vec<f64> = best.iter().map(|row| row[2].parse().expect("a number")).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{found}");
    }
    assert_eq!(of("1").len(), 2, "{found}");
}

#[test]
fn models_write_together() {
    let lines = b"a b c\nf e d c\n";
    let alone = written(run(&mut predict(&["--beam", "2"]), Some(lines)));
    let twice = written(run(predict(&["--beam", "2", "--with"]).arg(model()), Some(lines)));
    assert_eq!(twice, alone);
    let folder = tempfile::tempdir().expect("a folder");
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    fs::write(&source, lines).expect("written");
    fs::write(&target, &alone).expect("written");
    let score = |more: &[&std::path::Path]| {
        let mut command = gatto(&["score"]);
        command.arg(model()).arg("--source").arg(&source).arg("--target").arg(&target);
        for model in more {
            command.arg("--with").arg(model);
        }
        written(run(&mut command, None))
    };
    let [once, twice] = [score(&[]), score(&[model(), model()])]
        .map(|scores| scores.lines().map(|line| line.parse::<f64>().expect("a number")).collect::<Vec<_>>());
    assert!(once.iter().zip(&twice).all(|(a, b)| (a - b).abs() < 1e-4), "{once:?} {twice:?}");
    let said = refused(run(predict(&["--with"]).arg(language_model()), Some(lines)));
    assert!(said.contains("is for `task = \"language-model\"`"), "{said}");
    let mut command = gatto(&["predict"]);
    command.arg(attentive()).args(["--alignment", "--with"]).arg(attentive());
    assert!(refused(run(&mut command, Some(lines))).contains("--alignment and --with do not go together"));
}

#[test]
fn heads_can_be_masked() {
    let lines = "a b c\nf e d c\nb\n";
    let found = |more: &[&str]| {
        let mut command = gatto(&["predict", "--json"]);
        json_lines(run(command.arg(transformer()).args(more), Some(lines.as_bytes())))
    };
    let free = found(&[]);
    let one = found(&["--mask-head", "cross:1:2"]);
    assert_ne!(one, free);
    let all: Vec<String> = (1..=2)
        .flat_map(|layer| (1..=4).map(move |head| format!("--mask-head=cross:{layer}:{head}")))
        .collect();
    let blind = found(&all.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(blind[0]["log_probabilities"], blind[1]["log_probabilities"], "no source is looked at");
    assert_ne!(free[0]["text"], free[1]["text"]);
    let mut look = gatto(&["look"]);
    let looked = written(run(look.arg(transformer()).args(["a b c", "--mask-head", "encoder:2:1"]), None));
    assert!(looked.contains('a'), "{looked}");
    let refused = |model: &std::path::Path, head: &str| {
        let mut command = gatto(&["predict", "--mask-head", head]);
        let output = run(command.arg(model), Some(b"a\n"));
        assert_ne!(output.status.code(), Some(0));
        crate::text(&output.stderr)
    };
    assert!(refused(transformer(), "cross:3:1").contains("cross has 2 layers of 4 heads"));
    assert!(refused(attentive(), "cross:1:1").contains("the model has none"));
    assert!(refused(transformer(), "cross:1").contains("ATTENTION:LAYER:HEAD"));
}
