//! `gatto evaluate`: the figures of a task, groups, noise and the worst examples.

use crate::models::{
    POSITIONS, bidirectional, classifier, labeller, located, masked, model, translator, writer,
};
use crate::predict::predict;
use crate::{gatto, json, refused, run, snapshot, text, written};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn evaluated(model: &Path, more: &[&str]) -> Output {
    run(gatto(&["evaluate"]).arg(model).args(more), None)
}

fn figure(found: &Value, key: &str, part: &str) -> f64 {
    found["figures"][key][part].as_f64().unwrap_or_else(|| panic!("{key} {part}: {found}"))
}

fn keys(found: &Value) -> Vec<&str> {
    found["figures"].as_object().expect("figures").keys().map(String::as_str).collect()
}

/// Files in a folder that goes with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        for (name, content) in files {
            fs::write(folder.path(name), content).expect("written");
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Evaluates, with the names of files for those flags that take one.
    fn evaluate(&self, model: &Path, flags: &[(&str, &str)], more: &[&str]) -> Output {
        let mut command = gatto(&["evaluate"]);
        command.arg(model).args(more);
        for (flag, file) in flags {
            command.arg(flag).arg(self.path(file));
        }
        run(&mut command, None)
    }
}

/// What the model of reversed symbols makes of so many sources; in the groups `left` and `right` by turns, and
/// wrong in all of `right` but every third.
struct Uneven {
    folder: Folder,
}

impl Uneven {
    fn new(count: usize) -> Self {
        let letters = "abcdefghijklmnopqrstuvwxyz".as_bytes();
        let letter = |at: usize| char::from(letters[at % 26]);
        let source = |i: usize| {
            let letters = [i, i * 7 + 3, i / 3, i + 1, i * 11].map(|at| letter(at).to_string());
            letters.join(" ")
        };
        let sources: Vec<String> = (0..count).map(source).collect();
        let outputs = written(run(&mut predict(&[]), Some((sources.join("\n") + "\n").as_bytes())));
        let group = |i: usize| ["left", "right"][i % 2];
        let (mut tsv, mut jsonl, mut groups, mut targets) =
            (String::new(), String::new(), String::new(), String::new());
        for (i, (source, output)) in sources.iter().zip(outputs.lines()).enumerate() {
            let target = if i % 2 == 1 && i % 3 != 0 { "q q q q" } else { output };
            tsv += &format!("{}\t{source}\t{target}\n", group(i));
            let object = serde_json::json!({ "in": source, "out": target, "side": group(i), "n": i % 25 });
            jsonl += &format!("{object}\n");
            groups += &format!("{}\n", group(i));
            targets += &format!("{target}\n");
        }
        let sources = sources.join("\n") + "\n";
        let files = [
            ("data.tsv", tsv.as_str()),
            ("data.jsonl", &jsonl),
            ("groups", &groups),
            ("source", &sources),
            ("target", &targets),
        ];
        Self { folder: Folder::new(&files) }
    }

    /// A copy of the model whose own data has this layout.
    fn model_with(&self, data: &str) -> PathBuf {
        let copy = self.folder.path("run");
        fs::create_dir_all(&copy).expect("created");
        for file in ["model.safetensors", "tokenizer.json"] {
            fs::copy(model().join(file), copy.join(file)).expect("copied");
        }
        let config = fs::read_to_string(model().join("config.toml")).expect("a configuration");
        let config = config.replace("builtin = \"reverse\"", data).replace("max_length = 6\n", "");
        fs::write(copy.join("config.toml"), config).expect("written");
        copy
    }
}

#[test]
fn figures_are_those_that_are_usual_for_what_is_written() {
    for (model, names, figures) in [
        (model(), &["exact match", "WER"][..], &["exact_match", "wer"][..]),
        (translator(), &["exact match", "BLEU", "chrF2", "TER"], &["bleu", "chrf", "exact_match", "ter"]),
        (located(), &["exact match", "CER", "WER"], &["cer", "exact_match", "wer"]),
    ] {
        let report = written(evaluated(model, &["--examples", "40"]));
        for (line, name) in report.lines().zip(names) {
            assert!(line.starts_with(name) && line.contains('[') && line.contains(']'), "{report}");
        }
        assert!(report.lines().nth(names.len()).is_some_and(|line| line.starts_with("by ")), "{report}");
        let found = json(evaluated(model, &["--examples", "40", "--json"]));
        assert_eq!(keys(&found), figures);
        for key in figures {
            let [low, value, high] = ["low", "value", "high"].map(|part| figure(&found, key, part));
            assert!(low <= value && value <= high, "{key}: {found}");
        }
        assert!(
            (figure(&found, "exact_match", "value") / 100.0
                - found["exact_match"].as_f64().expect("a share"))
            .abs()
                < 1e-9
        );
    }
    let found = json(evaluated(translator(), &["--examples", "40", "--json"]));
    let signature = found["figures"]["bleu"]["signature"].as_str().expect("a signature");
    assert!(
        signature.starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:gatto-"),
        "{signature}"
    );
}

#[test]
fn other_figures_are_those_of_gatto_metric() {
    let uneven = Uneven::new(30);
    let folder = &uneven.folder;
    let sources = fs::read(folder.path("source")).expect("sources");
    fs::write(folder.path("out"), written(run(&mut predict(&[]), Some(&sources)))).expect("written");
    let files = [("--source", "source"), ("--target", "target")];
    let all = ["exact", "bleu", "chrf", "ter", "wer", "cer", "per"];
    let flags: Vec<&str> = all.iter().flat_map(|name| ["--metric", name]).chain(["--json"]).collect();
    let found = json(folder.evaluate(model(), &files, &flags));
    for name in all {
        let mut command = gatto(&["metric", name, "--json"]);
        let expected = json(run(command.arg(folder.path("target")).arg("-i").arg(folder.path("out")), None));
        let key = if name == "exact" { "exact_match" } else { name };
        let (found, expected) = (figure(&found, key, "value"), expected["score"].as_f64().expect("a score"));
        assert!((found - expected).abs() < 1e-9, "{name}: {found} and not {expected}");
    }
    // What is named first stands first, and each once; ROUGE is three.
    let report = written(folder.evaluate(
        model(),
        &files,
        &["--metric", "rouge", "--metric", "exact", "--metric", "rouge"],
    ));
    let names: Vec<&str> =
        report.lines().take(4).map(|line| line.split("  ").next().expect("a name")).collect();
    assert_eq!(names, ["ROUGE-1", "ROUGE-2", "ROUGE-L", "exact match"]);
    let said = refused(evaluated(classifier(), &["--part", "valid", "--metric", "bleu"]));
    assert!(said.contains("--metric is for what is written, and"), "{said}");
}

#[test]
fn a_group_that_is_served_worse_is_seen() {
    let uneven = Uneven::new(120);
    let folder = &uneven.folder;
    let config = "train = { tsv = \"x.tsv\", columns = [1, 2] }\nvalid = { jsonl = \"x.jsonl\", keys = [\"in\", \"out\"] }";
    let run_directory = uneven.model_with(config);
    let report = written(folder.evaluate(&run_directory, &[("--data", "data.tsv")], &["--by", "0"]));
    let rows: Vec<&str> = report.lines().skip_while(|line| *line != "by 0:").skip(2).collect();
    assert_eq!(rows.len(), 2, "{report}");
    let [worst, best] = [rows[0], rows[1]].map(|row| row.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&worst[..3], worst.last()), (&["right", "60", "33.33"][..], Some(&"worse")), "{report}");
    assert_eq!(best[..3], ["left", "60", "100.00"], "{report}");
    assert!(!rows[1].contains("worse"), "{report}");

    // From JSON objects and from a file of values it is the same.
    let of_tsv = json(folder.evaluate(&run_directory, &[("--data", "data.tsv")], &["--by", "0", "--json"]));
    let of_jsonl =
        json(folder.evaluate(&run_directory, &[("--data", "data.jsonl")], &["--by", "side", "--json"]));
    let files = [("--source", "source"), ("--target", "target"), ("--by-file", "groups")];
    let of_file = json(folder.evaluate(&run_directory, &files, &["--json"]));
    assert_eq!(of_tsv["by"]["groups"], of_jsonl["by"]["groups"]);
    assert_eq!(of_tsv["by"]["groups"], of_file["by"]["groups"]);
    let first = &of_tsv["by"]["groups"][0];
    assert_eq!((&first["value"], &first["examples"]), (&"right".into(), &60.into()));
    assert_eq!(first["worse"], serde_json::json!(["exact_match", "wer"]));
    assert_eq!(of_tsv["by"]["groups"][1]["worse"], serde_json::json!([]));
    // Of many values the largest are shown.
    let report = written(folder.evaluate(&run_directory, &[("--data", "data.jsonl")], &["--by", "n"]));
    assert!(report.contains("\n  and 5 more groups with 20 examples; --json has all\n"), "{report}");
    let found = json(folder.evaluate(&run_directory, &[("--data", "data.jsonl")], &["--by", "n", "--json"]));
    assert_eq!(found["by"]["groups"].as_array().map(Vec::len), Some(25));

    // The model's own test part has columns too, and its groups go with its lines, bad ones included.
    let config =
        "skip_bad = true\ntrain = { tsv = \"x.tsv\" }\ntest = { tsv = \"../data.tsv\", columns = [1, 2] }";
    let run_directory = uneven.model_with(config);
    let own = json(folder.evaluate(&run_directory, &[], &["--by", "0", "--json"]));
    assert_eq!(own["by"]["groups"], of_tsv["by"]["groups"]);
    let broken = fs::read_to_string(folder.path("data.tsv")).expect("data").replacen("left\t", "left ", 1);
    fs::write(folder.path("data.tsv"), broken).expect("written");
    let output = folder.evaluate(&run_directory, &[("--by-file", "groups")], &["--json"]);
    assert_eq!(text(&output.stderr), "note: 1 bad lines are passed over\n");
    let found: Value = serde_json::from_str(&text(&output.stdout)).expect("JSON");
    assert_eq!(found["by"]["groups"][0]["examples"], 60);
    assert_eq!(found["by"]["groups"][1]["examples"], 59);
}

#[test]
fn groups_that_cannot_be_had_are_refused() {
    let uneven = Uneven::new(6);
    let folder = &uneven.folder;
    let files =
        [("short", "a\nb\n"), ("long", "a\nb\na\nb\na\nb\na\n"), ("empty", ""), ("data.txt", "a\tb\n")];
    for (name, content) in files {
        fs::write(folder.path(name), content).expect("written");
    }
    fs::write(folder.path("empty.tsv"), "").expect("written");
    let config = "train = { tsv = \"x.tsv\", columns = [1, 2] }\nvalid = { jsonl = \"x.jsonl\", keys = [\"in\", \"out\"] }";
    let run_directory = uneven.model_with(config);
    let pair = [("--source", "source"), ("--target", "target")];
    let with = |more: (&'static str, &'static str)| [pair[0], pair[1], more];
    for (name, files, more) in [
        ("no-column", &[("--data", "data.tsv")][..], &["--by", "3"][..]),
        ("column-name", &[("--data", "data.tsv")], &["--by", "side"]),
        ("no-key", &[("--data", "data.jsonl")], &["--by", "domain"]),
        ("no-columns", &pair, &["--by", "0"]),
        ("values-short", &with(("--by-file", "short")), &[]),
        ("values-long", &with(("--by-file", "long")), &[]),
        ("values-empty", &with(("--by-file", "empty")), &[]),
        ("data-kind", &[("--data", "data.txt")], &[]),
        ("data-empty", &[("--data", "empty.tsv")], &[]),
    ] {
        let said = refused(folder.evaluate(&run_directory, files, more));
        snapshot(&format!("evaluate-by-{name}"), &said, Some(folder.0.path()));
    }
    let said = refused(evaluated(model(), &["--by", "0"]));
    snapshot("evaluate-by-builtin", &said, None);
    // Fewer examples need no more values than there are examples.
    let few =
        json(folder.evaluate(&run_directory, &with(("--by-file", "short")), &["--json", "--examples", "2"]));
    assert_eq!(few["by"]["groups"].as_array().map(Vec::len), Some(2));
}

#[test]
fn noise_shows_how_much_worse_it_makes_a_model() {
    let report = written(evaluated(model(), &["--examples", "100", "--noise", "all", "--noise-rate", "0.3"]));
    let table: Vec<&str> = report.lines().skip_while(|line| !line.starts_with("with noise")).collect();
    assert_eq!(table[0], "with noise, each word with probability 0.3:");
    let starts: Vec<&str> =
        table[2..].iter().map(|line| line.split_whitespace().next().expect("a word")).collect();
    assert_eq!(
        starts,
        ["typos", "WER", "dropped-words", "WER", "swapped-words", "WER", "casing", "WER"],
        "{report}"
    );
    let more = ["--examples", "100", "--json", "--noise"];
    let found = json(evaluated(
        model(),
        &[&more[..], &["dropped-words,swapped-words", "--noise-rate", "0.3"]].concat(),
    ));
    let kinds = found["noise"]["kinds"].as_array().expect("kinds");
    assert_eq!(kinds.len(), 2);
    for kind in kinds {
        let exact = &kind["figures"]["exact_match"];
        let [clean, noisy, drop, low, high] =
            ["clean", "noisy", "drop", "low", "high"].map(|part| exact[part].as_f64().expect("a number"));
        assert!((clean - noisy - drop).abs() < 1e-9 && low <= drop && drop <= high, "{kind}");
        assert!(low > 0.0, "what is reversed cannot survive this: {kind}");
        assert!((clean - figure(&found, "exact_match", "value")).abs() < 1e-9);
        // More errors are a drop, too.
        assert!(kind["figures"]["wer"]["drop"].as_f64().expect("a number") > 0.0, "{kind}");
    }
    // The same seed, the same noise, however much is computed together; another seed, another.
    let again =
        |more_flags: &[&str]| json(evaluated(model(), &[&more[..], &["swapped-words"], more_flags].concat()));
    let once = again(&["--noise-rate", "0.3"]);
    assert_eq!(once["noise"]["kinds"][0], found["noise"]["kinds"][1]);
    assert_eq!(again(&["--noise-rate", "0.3", "--batch", "7"])["noise"], once["noise"]);
    assert_ne!(again(&["--noise-rate", "0.3", "--seed", "2"])["noise"], once["noise"]);
    let none = again(&["--noise-rate", "0"]);
    assert_eq!(
        (&none["noise"]["kinds"][0]["changed"], &none["noise"]["kinds"][0]["figures"]["wer"]["drop"]),
        (&0.into(), &0.0.into())
    );
}

/// A doubled letter is one token more, for which there may be no position.
#[test]
fn noise_makes_no_source_too_long_for_its_model() {
    let longest = "abcdefghijk";
    assert_eq!(longest.len() + 1, POSITIONS);
    let folder = Folder::new(&[("s", &format!("{longest}\n").repeat(20)), ("t", &"a\n".repeat(20))]);
    let flags = ["--noise", "typos", "--noise-rate", "1", "--json"];
    let found = json(folder.evaluate(located(), &[("--source", "s"), ("--target", "t")], &flags));
    let changed = found["noise"]["kinds"][0]["changed"].as_u64().expect("a count");
    assert!((5..20).contains(&changed), "those that grow stay: {changed}");
}

#[test]
fn labels_go_with_their_words() {
    // The labeller is always right, and stays so if a label is not given to another word.
    let flags = ["--part", "valid", "--json", "--noise", "dropped-words,swapped-words", "--noise-rate", "1"];
    let found = json(evaluated(labeller(), &flags));
    assert_eq!(found["accuracy"], 1.0);
    let kinds = found["noise"]["kinds"].as_array().expect("kinds");
    for kind in kinds {
        assert_eq!(kind["changed"], 36);
        let noisy = kind["figures"]["accuracy"]["noisy"].as_f64().expect("a number");
        assert!(noisy > 40.0, "chance is a fifth: {kind}");
    }
    let report =
        written(evaluated(classifier(), &["--part", "valid", "--noise", "typos", "--noise-rate", "1"]));
    assert!(report.contains("\n  typos  accuracy  100.00"), "{report}");
    let said = refused(evaluated(writer(), &["--part", "valid", "--noise", "typos"]));
    snapshot("evaluate-task-noise", &said, writer().parent());
}

#[test]
fn the_worst_examples_are_shown() {
    let uneven = Uneven::new(12);
    let files = [("--source", "source"), ("--target", "target")];
    let report = written(uneven.folder.evaluate(model(), &files, &["--worst", "2"]));
    let shown: Vec<&str> = report.lines().skip_while(|line| !line.contains("worst")).collect();
    assert_eq!(shown[0], "the 2 worst examples by WER:", "{report}");
    assert!(shown[1].starts_with("✗ ") && shown[2] == "    should be: q q q q", "{report}");
    assert!(shown[3].starts_with("    WER: ") && shown.len() == 7, "{report}");
    let found = json(uneven.folder.evaluate(model(), &files, &["--worst", "9", "--json"]));
    let worst = found["worst"].as_array().expect("a list");
    assert_eq!(worst.len(), 4, "no more are wrong: {found}");
    for row in worst {
        assert_eq!((&row["reference"], &row["figure"]), (&"q q q q".into(), &"WER".into()));
        assert!(row["value"].as_f64().expect("a number") > 50.0 && row["example"].as_u64() > Some(0));
    }
    // A wrong label that is told with confidence is worse than one told without.
    let folder = Folder::new(&[
        ("s", "the film is good\nthe book is bad\nthe meal is great\ngood bad\n"),
        ("t", "negative\nnegative\nnegative\nnegative\n"),
    ]);
    let found = json(folder.evaluate(
        classifier(),
        &[("--source", "s"), ("--target", "t")],
        &["--worst", "9", "--json"],
    ));
    let sure: Vec<f64> = crate::numbers(
        &found["worst"].as_array().expect("a list").iter().map(|row| row["value"].clone()).collect(),
    );
    assert!(sure.len() >= 2 && sure.is_sorted_by(|a, b| a >= b) && sure[0] > 90.0, "{found}");
    assert_eq!(found["worst"][0]["reference"], "negative");
    // The highest perplexity.
    let folder = Folder::new(&[("text", "the film is good\ngood good the the is\nthe book is bad\n")]);
    let report = written(folder.evaluate(writer(), &[("--text", "text")], &["--worst", "1"]));
    assert!(
        report.contains("the worst example by perplexity:\n✗ good good the the is\n    perplexity: "),
        "{report}"
    );
}

/// Tags of spans are measured as spans.
#[test]
fn spans_are_measured_where_labels_are_tags_of_spans() {
    let folder = Folder::new(&[(
        "config.toml",
        "task = \"label\"\n[data]\ntrain = { tsv = \"tags.tsv\" }\nvalid = { tsv = \"tags.tsv\" }\n\
         [tokens]\nkind = \"word\"\n[encoder.gru]\nwidth = 8\n[train]\nsteps = 2\nbatch_examples = 4\n",
    )]);
    let lines = "Anna B lives in Rome\tB-PER I-PER O O B-LOC\nhe saw Rome\tO O B-LOC\n".repeat(6);
    fs::write(folder.path("tags.tsv"), lines).expect("written");
    let mut command: Command = gatto(&["train", "--quiet"]);
    written(run(command.arg(folder.path("config.toml")).arg("--out").arg(folder.path("run")), None));
    let found = json(folder.evaluate(&folder.path("run"), &[], &["--part", "valid", "--json"]));
    assert_eq!(keys(&found), ["accuracy", "macro_f1", "span_f1"]);
    assert!((0.0..=100.0).contains(&figure(&found, "span_f1", "value")));
    let found = json(evaluated(labeller(), &["--part", "valid", "--json"]));
    assert_eq!(keys(&found), ["accuracy", "macro_f1"]);
    let found = json(evaluated(classifier(), &["--part", "valid", "--json"]));
    assert_eq!(keys(&found), ["accuracy", "expected_calibration_error", "macro_f1", "micro_f1"]);
    assert!(found["by_source_length"].as_array().is_some_and(|groups| !groups.is_empty()));
    let found = json(evaluated(writer(), &["--part", "valid", "--json"]));
    assert_eq!(keys(&found), ["perplexity"]);
    assert!(
        (figure(&found, "perplexity", "value") - found["perplexity"].as_f64().expect("a number")).abs()
            < 1e-9
    );
}

/// A text has its perplexity whatever is computed beside it.
#[test]
fn the_perplexity_of_a_text_is_its_own() {
    let first = "is the book awful ?\n";
    let folder =
        Folder::new(&[("one", first), ("all", &format!("{first}the film is good\ngood\nthe meal is bad\n"))]);
    for model in [masked(), bidirectional(), writer()] {
        let alone = json(folder.evaluate(model, &[("--text", "one")], &["--json"]));
        let found = json(folder.evaluate(model, &[("--text", "all")], &["--json", "--worst", "4"]));
        let worst = found["worst"].as_array().expect("a list");
        assert_eq!(worst.len(), 4, "{found}");
        let own = worst.iter().find(|row| row["example"] == 1).expect("the first")["value"].as_f64();
        let (own, alone) = (own.expect("a number"), alone["perplexity"].as_f64().expect("a number"));
        assert!((own / alone - 1.0).abs() < 1e-4, "{own} and not {alone}");
    }
}
