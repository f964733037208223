//! `gatto evaluate` and `gatto info`

use crate::models::{attentive, language_model, model, translator};
use crate::predict::predict;
use crate::{gatto, json, names, refused, run, snapshot, written};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn evaluate_measures() {
    let report = written(run(gatto(&["evaluate", "--examples", "150"]).arg(model()), None));
    let first = report.lines().next().expect("a line");
    assert!(first.starts_with("exact match  ") && first.contains(" of 150)  ["), "{report}");
    let mut command = gatto(&["evaluate", "--examples", "150", "--json", "--batch", "9"]);
    let found = json(run(command.arg(model()), None));
    assert_eq!(found["examples"], 150);
    let share = found["exact_match"].as_f64().expect("a share");
    assert!((0.2..=1.0).contains(&share), "{share}");
    assert!(first.contains(&format!("{:.2} %", share * 100.0)), "{first} {share}");
    let groups = found["by_source_length"].as_array().expect("groups").iter();
    assert_eq!(groups.map(|group| group["examples"].as_u64().expect("a count")).sum::<u64>(), 150);

    // Targets that are what the model writes are all right; others are not.
    let folder = tempfile::tempdir().expect("a folder");
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    let lines = "a b\nc\nd e f\n";
    fs::write(&source, lines).expect("written");
    let outputs = written(run(&mut predict(&[]), Some(lines.as_bytes())));
    for (targets, right) in [(outputs.clone(), 3), (outputs.replacen(&outputs[..1], "q", 1), 2)] {
        fs::write(&target, targets).expect("written");
        let mut command = gatto(&["evaluate"]);
        let report = written(run(
            command.arg(model()).arg("--source").arg(&source).arg("--target").arg(&target),
            None,
        ));
        assert!(report.contains(&format!("({right} of 3)")), "{report}");
    }
    fs::write(&target, "one\n").expect("written");
    let mut command = gatto(&["evaluate"]);
    let said =
        refused(run(command.arg(model()).arg("--source").arg(&source).arg("--target").arg(&target), None));
    assert!(said.contains("target") && said.contains("source"), "{said}");
}

#[test]
fn info_tells_what_a_model_is() {
    let found = written(run(gatto(&["info"]).arg(model()), None));
    snapshot("info", &found, None);
    let found = json(run(gatto(&["info", "--json"]).arg(model()), None));
    assert_eq!(found["task"], "translate");
    let sizes = found["weights"].as_object().expect("weights").values();
    let product = |shape: &Value| {
        shape.as_array().expect("a shape").iter().map(|n| n.as_u64().expect("a size")).product::<u64>()
    };
    assert_eq!(found["parameters"], sizes.map(product).sum::<u64>());
    let said = refused(run(&mut gatto(&["info", "no-such-run"]), None));
    assert!(said.contains("no-such-run"), "{said}");
}

/// Sources, targets and gold links in files of their own.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(source: &str, target: &str) -> Self {
        let files = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::write(files.path("source"), source).expect("written");
        fs::write(files.path("target"), target).expect("written");
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn evaluate(&self, model: &Path) -> Command {
        let mut command = gatto(&["evaluate"]);
        command.arg(model).arg("--source").arg(self.path("source")).arg("--target").arg(self.path("target"));
        command
    }

    /// Evaluates with these gold links.
    fn aligned(&self, model: &Path, links: &str, more: &[&str]) -> Output {
        fs::write(self.path("links"), links).expect("written");
        run(self.evaluate(model).arg("--alignments").arg(self.path("links")).args(more), None)
    }
}

/// The figures behind `alignment error rate` in a report: the rate, precision and recall.
fn alignment_figures(report: &str) -> Vec<f64> {
    let line = report.lines().find_map(|line| line.strip_prefix("alignment error rate")).expect("a line");
    let figures = line.split(|sign: char| !sign.is_ascii_digit() && sign != '.');
    figures.filter(|figure| !figure.is_empty()).map(|figure| figure.parse().expect("a number")).collect()
}

fn alignment_json(found: &Value) -> Vec<f64> {
    let figure = |name: &str| found["alignment"][name].as_f64().expect("a figure");
    ["error_rate", "precision", "recall"].map(figure).to_vec()
}

#[test]
fn where_a_translator_looks_is_measured_on_a_task_that_knows() {
    let report = written(run(gatto(&["evaluate", "--examples", "100"]).arg(translator()), None));
    let rounded = alignment_figures(&report);
    let mut command = gatto(&["evaluate", "--examples", "100", "--json", "--batch", "7"]);
    let exact = alignment_json(&json(run(command.arg(translator()), None)));
    assert_eq!(rounded.len(), 3, "{report}");
    for (rounded, exact) in rounded.iter().zip(&exact) {
        assert!((rounded - exact).abs() < 0.001, "{report} {exact}");
        assert!((0.0..=1.0).contains(exact), "{exact}");
    }
    // Far from links at random, and not yet perfect.
    assert!((0.05..0.5).contains(&exact[0]), "{report}");
    // More links: more of the right ones, and more of the wrong ones.
    let mut command = gatto(&["evaluate", "--examples", "100", "--json", "--link-share", "0.05"]);
    let more = alignment_json(&json(run(command.arg(translator()), None)));
    assert!(more[1] < exact[1] && more[2] > exact[2], "{more:?} {exact:?}");
}

#[test]
fn there_is_no_alignment_without_attention_or_without_gold_links() {
    for model in [model(), attentive()] {
        let report = written(run(gatto(&["evaluate", "--examples", "5"]).arg(model), None));
        assert!(!report.contains("alignment"), "{report}");
        let found = json(run(gatto(&["evaluate", "--examples", "5", "--json"]).arg(model), None));
        assert!(found.get("alignment").is_none(), "{found}");
    }
}

#[test]
fn gold_links_may_come_from_a_file() {
    let source = "a b c\nd e\nf\n";
    let found = written(run(gatto(&["predict", "--alignment"]).arg(attentive()), Some(source.as_bytes())));
    let (target, links): (Vec<&str>, Vec<&str>) =
        found.lines().map(|line| line.split_once(" ||| ").expect("links")).unzip();
    let files = Files::new(source, &(target.join("\n") + "\n"));
    let own = links.join("\n") + "\n";
    let count = own.split_whitespace().count();
    assert_eq!(count, 6, "{own}");

    // Measured against itself it is right in every word and every link.
    let report = written(files.aligned(attentive(), &own, &[]));
    assert!(report.contains("(3 of 3)"), "{report}");
    assert_eq!(alignment_figures(&report), [0.0, 1.0, 1.0]);
    // One link of six goes elsewhere: as many are found as there should be, five of them right.
    let (first, rest) = own.split_once(' ').expect("a link");
    let (_, target_word) = first.split_once('-').expect("a link");
    let elsewhere = ["0", "1"].into_iter().find(|word| !first.starts_with(word)).expect("a word");
    let changed = format!("{elsewhere}-{target_word} {rest}");
    let exact = alignment_json(&json(files.aligned(attentive(), &changed, &["--json"])));
    for (found, expected) in exact.iter().zip([1.0 / 6.0, 5.0 / 6.0, 5.0 / 6.0]) {
        assert!((found - expected).abs() < 1e-9, "{exact:?}");
    }
    // A line without links is an example without links: what is found there is wrong.
    let fewer = own.replacen(links[0], "", 1);
    let exact = alignment_json(&json(files.aligned(attentive(), &fewer, &["--json"])));
    assert!((exact[1] - 0.5).abs() < 1e-9 && (exact[2] - 1.0).abs() < 1e-9, "{exact:?}");
}

#[test]
fn gold_links_that_cannot_be_used_are_named_with_file_and_line() {
    let files = Files::new("a b c\nd e\nf\n", "c b a\ne d\nf\n");
    for (name, links) in [
        ("short", "0-2 1-1 2-0\n0-1 1-0\n"),
        ("no-hyphen", "0-2 1-1 2-0\n0-1 1:0\n0-0\n"),
        ("no-number", "0-2 1-1 2-x\n0-1 1-0\n0-0\n"),
        ("beyond-source", "0-2 1-1 2-0\n0-1 2-0\n0-0\n"),
        ("beyond-target", "0-2 1-1 2-0\n0-1 1-0\n0-0 0-1\n"),
    ] {
        let said = refused(files.aligned(attentive(), links, &[]));
        snapshot(&format!("evaluate-alignments-{name}"), &said, Some(files.folder.path()));
    }
    let said = refused(run(files.evaluate(attentive()).arg("--alignments").arg(files.path("missing")), None));
    assert!(said.contains("missing"), "{said}");
    let said = refused(files.aligned(model(), "0-2 1-1 2-0\n0-1 1-0\n0-0\n", &[]));
    snapshot("evaluate-alignments-no-attention", &said, model().parent());
}

#[test]
fn examples_that_are_wrong_are_shown() {
    let source = "a b\nc\nd e f\n";
    let outputs = written(run(&mut predict(&[]), Some(source.as_bytes())));
    let mut targets: Vec<&str> = outputs.lines().collect();
    let (first, third) = (targets[0], targets[2]);
    // Spaces do not count.
    let spaced = format!(" {} ", targets[1]);
    (targets[0], targets[1], targets[2]) = ("q", &spaced, "r s");
    let files = Files::new(source, &(targets.join("\n") + "\n"));
    let shown = |count: &str| {
        let report = written(run(files.evaluate(model()).args(["--wrong", count]), None));
        assert!(report.contains("(1 of 3)"), "{report}");
        report.lines().skip_while(|line| !line.starts_with('✗')).map(str::to_owned).collect::<Vec<_>>()
    };
    let all = [
        format!("✗ a b → {first}"),
        "    should be: q".into(),
        format!("✗ d e f → {third}"),
        "    should be: r s".into(),
    ];
    assert_eq!(shown("0"), Vec::<String>::new());
    assert_eq!(shown("1"), all[..2]);
    assert_eq!(shown("9"), all);
}

#[test]
fn exact_match_by_length_is_drawn_beside_that_of_other_models() {
    let folder = tempfile::tempdir().expect("a folder");
    let plot = |file: &str, against: &Path| {
        let mut command = gatto(&["evaluate", "--examples", "30", "--plot"]);
        command.arg(folder.path().join(file)).arg("--against").arg(against).arg(model());
        run(&mut command, None)
    };
    // Models are called by the names of their folders.
    let other = folder.path().join("looks");
    fs::create_dir(&other).expect("created");
    for file in ["config.toml", "model.safetensors", "tokenizer.json"] {
        fs::copy(attentive().join(file), other.join(file)).expect("copied");
    }
    let alone = written(run(gatto(&["evaluate", "--examples", "30"]).arg(model()), None));
    assert_eq!(written(plot("x.svg", &other)), alone);
    let picture = fs::read_to_string(folder.path().join("x.svg")).expect("a picture");
    assert!(picture.starts_with("<svg"), "{picture}");
    assert!(picture.contains(">run ") && picture.contains(">looks "), "{picture}");

    let said = refused(plot("x.png", &other));
    assert!(said.contains("x.png: is no .svg; name the plot so"), "{said}");
    let said = refused(plot("y.svg", language_model()));
    assert!(said.contains("run: is for `task = \"language-model\"`, and translators"), "{said}");
    assert_eq!(names(folder.path()), ["looks", "x.svg"]);
}
