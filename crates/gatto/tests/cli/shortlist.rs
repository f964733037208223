//! `gatto shortlist`, and `--shortlist` of other commands.

use crate::models::{
    attentive, bidirectional, captioner, classifier, labeller, language_model, listener, masked, patches,
    transformer, translator,
};
use crate::{gatto, json, names, refused, run, snapshot, text, written};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "shortlist.safetensors";

/// A copy of a model, so that no other test finds a shortlist in it.
fn copied(model: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("run");
    fs::create_dir(&copy).expect("created");
    for entry in fs::read_dir(model).expect("a run").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), copy.join(entry.file_name())).expect("copied");
        }
    }
    copy
}

/// What is said while a shortlist is made.
fn made(model: &Path, more: &[&str]) -> String {
    let output = run(gatto(&["shortlist"]).arg(model).args(more), None);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "there is no data to print");
    text(&output.stderr)
}

fn predict(model: &Path, more: &[&str]) -> Command {
    let mut command = gatto(&["predict"]);
    command.arg(model).args(more);
    command
}

const LINES: &[u8] = b"a b c\nd e f g\nh\nb a d c\nz y\nq\n";

#[test]
fn a_model_writes_from_its_shortlist() {
    for model in [attentive(), transformer()] {
        let folder = tempfile::tempdir().expect("a folder");
        let run_directory = copied(model, folder.path());
        let files = names(&run_directory);
        made(&run_directory, &["--best", "1", "--frequent", "1", "--examples", "2000"]);
        assert_eq!(names(&run_directory).len(), files.len() + 1, "one file more, and nothing beside it");
        let written = |more: &[&str]| written(run(&mut predict(&run_directory, more), Some(LINES)));
        // Reversed symbols are all in their source.
        assert_eq!(written(&["--shortlist"]), written(&[]));
        let wide = written(&["--shortlist", "--beam", "4", "--n-best", "3", "--batch", "64"]);
        assert_eq!(written(&["--shortlist", "--beam", "4", "--n-best", "3", "--batch", "1"]), wide);
        let mut strangers = BTreeSet::new();
        for line in wide.lines() {
            let parts: Vec<&str> = line.split(" ||| ").collect();
            let number: usize = parts[0].parse().expect("a number");
            let source = text(LINES.split(|&byte| byte == b'\n').nth(number - 1).expect("a line"));
            strangers.extend(parts[1].split_whitespace().filter(|word| !source.contains(word)));
        }
        assert!(strangers.len() <= 1, "beside the source, the most frequent symbol: {strangers:?}");
        assert_ne!(written(&["--beam", "4", "--n-best", "3"]), wide, "without, others are among the best");
    }
}

#[test]
fn what_it_says_and_what_info_tells() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_directory = copied(translator(), folder.path());
    let before = json(run(gatto(&["info", "--json"]).arg(&run_directory), None));
    assert!(before["shortlist"].is_null());
    let said = made(&run_directory, &["--best", "4", "--frequent", "6", "--examples", "5000"]);
    snapshot("shortlist", &said, Some(folder.path()));
    assert_eq!(
        made(&run_directory, &["--best", "4", "--frequent", "6", "--examples", "5000", "--threads", "1"]),
        said,
        "threads change nothing, and it can be made again"
    );
    let told = json(run(gatto(&["info", "--json"]).arg(&run_directory), None));
    assert_eq!((&told["shortlist"]["best"], &told["shortlist"]["always"]), (&4.into(), &7.into()), "{told}");
    let told = written(run(gatto(&["info"]).arg(&run_directory), None));
    assert!(told.contains("\nshortlist    at most 4 translations of each of "), "{told}");

    let held = ["--examples", "30", "--part", "valid", "--json", "--shortlist"];
    let evaluated = json(run(gatto(&["evaluate"]).arg(&run_directory).args(held), None));
    assert_eq!(evaluated["examples"], 30, "{evaluated}");

    // The list goes along into eight bits.
    let small = folder.path().join("small");
    written(run(gatto(&["quantize"]).arg(&run_directory).arg("-o").arg(&small), None));
    let sentence = Some(&b"the cat sees the dog\n"[..]);
    let expected =
        written(run(&mut predict(&run_directory, &["--shortlist", "--precision", "int8"]), sentence));
    assert_eq!(written(run(&mut predict(&small, &["--shortlist"]), sentence)), expected);
}

/// A damaged shortlist once kept `gatto info` from telling anything.
#[test]
fn info_tells_of_a_damaged_shortlist_and_everything_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_directory = copied(attentive(), folder.path());
    let info = || written(run(gatto(&["info"]).arg(&run_directory), None));
    let report = || json(run(gatto(&["info", "--json"]).arg(&run_directory), None));
    let (plain, fields) = (info(), report());
    assert!(fields["shortlist"].is_null() && fields["shortlist_error"].is_null(), "{fields}");
    made(&run_directory, &["--examples", "100"]);
    let whole = report();
    assert!(whole["shortlist"].is_object() && whole["shortlist_error"].is_null(), "{whole}");

    let path = run_directory.join(FILE);
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..bytes.len() - 4]).expect("written");
    let mut damaged = report();
    let error = damaged["shortlist_error"].as_str().expect("an error").to_owned();
    assert!(error.contains("shortlist.safetensors: is not a usable shortlist: "), "{error}");
    assert!(error.contains("make it again with `gatto shortlist "), "{error}");
    damaged["shortlist_error"] = serde_json::Value::Null;
    assert_eq!(damaged, fields, "all else is as without a shortlist");
    let told = info();
    let line = format!("shortlist    cannot be used: {error}\n");
    assert!(told.contains(&line), "{told}");
    assert_eq!(told.replace(&line, ""), plain, "all else is as without a shortlist");
}

#[test]
fn it_may_learn_from_given_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_directory = copied(attentive(), folder.path());
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    fs::write(&source, "a b\nb c\na c\n").expect("written");
    fs::write(&target, "b a\nc b\nc a\n").expect("written");
    let of_files = |target: &Path| {
        let mut command = gatto(&["shortlist"]);
        command.arg(&run_directory).arg("--source").arg(&source).arg("--target").arg(target);
        command
    };
    let output = run(&mut of_files(&target), None);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("from 3 examples, at most 3 translations of each of 3 source tokens"), "{said}");
    assert!(said.contains("validation sentences: "), "{said}");
    let whole = fs::read(run_directory.join(FILE)).expect("a file");
    for (lines, expected) in [("b a\n", "has no line 2"), ("", "has no example to learn from")] {
        fs::write(&target, lines).expect("written");
        fs::write(&source, if lines.is_empty() { "" } else { "a b\nb c\n" }).expect("written");
        let said = refused(run(&mut of_files(&target), None));
        assert!(said.contains(expected) && said.contains("source"), "{said}");
    }
    assert_eq!(fs::read(run_directory.join(FILE)).expect("a file"), whole, "what was there is there");
}

#[test]
fn what_no_shortlist_can_serve_is_refused_by_name() {
    for (model, reason) in [
        (language_model(), "is a language model, which reads no source"),
        (classifier(), "is for `task = \"classify\"` and writes nothing"),
        (labeller(), "is for `task = \"label\"` and writes nothing"),
        (masked(), "is for `task = \"masked-language-model\"` and writes nothing"),
        (bidirectional(), "is for `task = \"bidirectional-language-model\"` and writes nothing"),
        (captioner(), "reads images, which have no tokens"),
        (patches(), "is for `task = \"classify\"` and writes nothing"),
        (listener(), "reads sounds, which have no tokens"),
    ] {
        let expected =
            format!("{}: {reason}; a shortlist is for models that write of a text", model.display());
        let evaluate = ["evaluate", "--examples", "1", "--shortlist"];
        for arguments in
            [&["shortlist"][..], &["predict", "--shortlist"], &evaluate, &["serve", "--shortlist"]]
        {
            let said = refused(run(gatto(arguments).arg(model), Some(b"a\n")));
            assert!(said.contains(&expected), "{said}");
        }
        assert!(!model.join(FILE).exists());
    }
}

#[test]
fn a_shortlist_that_is_not_there_or_not_usable_has_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_directory = copied(attentive(), folder.path());
    let said = |command: &str| {
        let said = refused(run(gatto(&[command, "--shortlist"]).arg(&run_directory), Some(b"a\n")));
        said.replace(&run_directory.display().to_string(), "RUN")
    };
    for command in ["predict", "evaluate", "serve"] {
        let remedy = "RUN/shortlist.safetensors: is not there; make one with `gatto shortlist RUN`";
        assert!(said(command).contains(remedy), "{}", said(command));
    }
    made(&run_directory, &["--examples", "100"]);
    let path = run_directory.join(FILE);
    let whole = fs::read(&path).expect("a file");
    fs::write(&path, &whole[..whole.len() - 4]).expect("written");
    assert!(
        said("predict").contains("RUN/shortlist.safetensors: is not a usable shortlist: "),
        "{}",
        said("predict")
    );
    // That of another model.
    let other = tempfile::tempdir().expect("a folder");
    let others = copied(translator(), other.path());
    fs::write(&path, &whole).expect("written");
    fs::copy(&path, others.join(FILE)).expect("copied");
    let said = refused(run(&mut predict(&others, &["--shortlist"]), Some(b"a\n")));
    assert!(said.contains("it was made for other tokens than those of the model"), "{said}");

    // A given target is scored over the whole vocabulary, and there is no flag to say otherwise.
    let usage = run(gatto(&["score", "--shortlist"]).arg(&run_directory), None);
    assert_eq!(usage.status.code(), Some(2), "{}", text(&usage.stderr));
    let ensemble =
        refused(run(predict(&run_directory, &["--shortlist", "--with"]).arg(attentive()), Some(b"a\n")));
    assert!(ensemble.contains("make one with `gatto shortlist "), "every model has its own: {ensemble}");
}
