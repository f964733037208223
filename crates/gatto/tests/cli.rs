//! The command line as a user sees it. Texts are compared with the files in `snapshots/`; run with
//! `UPDATE_SNAPSHOTS=1` to write them anew, and read the difference before committing it.

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

fn gatto(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatto"));
    // What a terminal would tell, to programs that ask without looking whether they write to one.
    command.args(arguments).env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end, with nothing or `input` on standard input.
fn run(command: &mut Command, input: Option<&[u8]>) -> Output {
    let Some(input) = input.map(<[u8]>::to_vec) else { return checked(command.output().expect("it runs")) };
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("an input");
    let writer = std::thread::spawn(move || stdin.write_all(&input).ok());
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("written");
    checked(output)
}

/// Neither colours nor a panic, whatever the output.
fn checked(output: Output) -> Output {
    for part in [&output.stdout, &output.stderr] {
        assert!(!part.contains(&0x1b), "an escape code: {}", String::from_utf8_lossy(part));
    }
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What it wrote, if all went well and nothing was said besides.
fn written(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

/// What it said, if it failed and wrote nothing.
fn refused(output: Output) -> String {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(text(&output.stdout), "", "{said}");
    assert!(said.starts_with("error: "), "{said}");
    said
}

/// Compares with the file `snapshots/NAME.txt`; `folder` is a path that is another each time.
fn snapshot(name: &str, found: &str, folder: Option<&Path>) {
    let found = match folder {
        Some(folder) => found.replace(&folder.display().to_string(), "FOLDER"),
        None => found.to_owned(),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(&path, &found).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{} differs; if that is meant, run with UPDATE_SNAPSHOTS=1\n--- expected\n{expected}\n--- found\n{found}",
        path.display()
    );
}

const COMMANDS: [&str; 8] = ["demo", "new", "train", "predict", "evaluate", "info", "completions", "man"];

#[test]
fn help_of_every_command() {
    snapshot("help", &written(run(&mut gatto(&["--help"]), None)), None);
    snapshot("help-short", &written(run(&mut gatto(&["-h"]), None)), None);
    for command in COMMANDS {
        let help = written(run(&mut gatto(&[command, "--help"]), None));
        snapshot(&format!("help-{command}"), &help, None);
        assert_eq!(written(run(gatto(&[command, "--help"]).env("NO_COLOR", "1"), None)), help);
    }
    let version = written(run(&mut gatto(&["--version"]), None));
    assert_eq!(version, concat!("gatto ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn bad_usage_has_status_2() {
    for (name, arguments) in [
        ("nothing", &[][..]),
        ("unknown-command", &["trian"]),
        ("no-config", &["train"]),
        ("unknown-flag", &["train", "a.toml", "--sed", "3"]),
        ("seed-too-large", &["train", "a.toml", "--seed", "9223372036854775808"]),
        ("no-threads", &["train", "a.toml", "--threads", "0"]),
        ("unknown-device", &["predict", "run", "--device", "abacus"]),
        ("no-batch", &["predict", "run", "--batch", "0"]),
        ("half-a-corpus", &["evaluate", "run", "--source", "a"]),
        ("unknown-shell", &["completions", "dos"]),
    ] {
        let output = run(&mut gatto(arguments), None);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert_eq!(text(&output.stdout), "", "{name}");
        snapshot(&format!("usage-{name}"), &text(&output.stderr), None);
    }
}

#[test]
fn new_lists_prints_and_writes() {
    let list = written(run(&mut gatto(&["new"]), None));
    snapshot("new", &list, None);
    snapshot("new-unknown", &refused(run(&mut gatto(&["new", "revers"]), None)), None);
    let folder = tempfile::tempdir().expect("a folder");
    for name in list.lines().map(|line| line.split(' ').next().expect("a name")) {
        let config = written(run(&mut gatto(&["new", name]), None));
        let path = configs().join(format!("{name}.toml"));
        assert_eq!(config, fs::read_to_string(path).expect("a configuration"));
        let path = folder.path().join(name);
        assert_eq!(written(run(gatto(&["new", name, "-o"]).arg(&path), None)), "");
        assert_eq!(fs::read_to_string(&path).expect("written"), config);
    }
    // Every configuration is on the list.
    let mut names: Vec<String> = recipes().iter().map(|(name, _)| name.clone()).collect();
    names.sort();
    let mut listed: Vec<&str> = list.lines().map(|line| line.split(' ').next().expect("a name")).collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
    let said = refused(run(gatto(&["new", "copy", "-o"]).arg(folder.path().join("missing/copy.toml")), None));
    assert!(said.contains("missing/copy.toml: cannot be written"), "{said}");
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish"] {
        let script = written(run(&mut gatto(&["completions", shell]), None));
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man/man1");
    assert_eq!(written(run(gatto(&["man"]).arg(&pages), None)), "");
    for command in COMMANDS {
        let page = fs::read_to_string(pages.join(format!("gatto-{command}.1"))).expect("a page");
        assert!(page.contains(".TH"), "{command}");
    }
    assert!(pages.join("gatto.1").exists());
    fs::write(folder.path().join("file"), "").expect("written");
    let said = refused(run(gatto(&["man"]).arg(folder.path().join("file")), None));
    assert!(said.contains("file: cannot be"), "{said}");
}

#[test]
fn configurations_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.toml");
    let good = "task = \"translate\"\n[data]\nbuiltin = \"reverse\"\n[encoder.gru]\nwidth = 8\n[decoder.gru]\nwidth = 8\n";
    for (name, config, more) in [
        ("unknown-key", good.replacen("width", "widht", 1), &[][..]),
        ("unknown-table", format!("{good}[trian]\nsteps = 3\n"), &[]),
        ("bad-value", good.replacen("width = 8", "width = 0", 1), &[]),
        (
            "bad-combination",
            format!("{good}[sharing]\noutput = true\nembeddings = true\n[tokens]\nshared = false\n"),
            &[],
        ),
        ("bad-type", good.replacen("width = 8", "width = \"wide\"", 1), &[]),
        ("no-toml", "task = \n".to_owned(), &[]),
        ("bad-set", good.to_owned(), &["--set", "train.steps"]),
        ("bad-set-key", good.to_owned(), &["--set", "train.stepz=3"]),
    ] {
        fs::write(&path, config).expect("written");
        let out = folder.path().join("run");
        let said = refused(run(gatto(&["train"]).arg(&path).arg("--out").arg(&out).args(more), None));
        snapshot(&format!("train-{name}"), &said, Some(folder.path()));
        assert!(!out.exists(), "{name}: a run that cannot start leaves nothing");
    }
    let said = refused(run(gatto(&["train"]).arg(folder.path().join("missing.toml")), None));
    snapshot("train-missing", &said, Some(folder.path()));
    let data = "task = \"translate\"\n[data]\ntrain = { source = \"a.en\", target = \"a.it\" }\n[encoder.gru]\n[decoder.gru]\n";
    fs::write(&path, data).expect("written");
    let output = run(gatto(&["train"]).arg(&path).arg("--out").arg(folder.path().join("run")), None);
    assert_eq!(output.status.code(), Some(1));
    snapshot("train-missing-data", &text(&output.stderr), Some(folder.path()));
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("created");
    folder
}

/// A model that reverses up to six symbols, well enough to be looked at; trained once.
fn model() -> &'static Path {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let folder = scratch("cli-model");
        let config = "task = \"translate\"\n[data]\nbuiltin = \"reverse\"\nmax_length = 6\n[tokens]\nkind = \"word\"\n\
                      [encoder.gru]\nwidth = 64\n[decoder.gru]\nwidth = 64\n[search]\nmax_length = 30\n[train]\nsteps = 300\n\
                      batch_examples = 64\nlearning_rate = 1e-2\nvalidate_every = 300\nvalid_examples = 100\npool = 5000\n";
        fs::write(folder.join("reverse.toml"), config).expect("written");
        let run_directory = folder.join("run");
        let mut command = gatto(&["train", "--quiet"]);
        let output = run(command.arg(folder.join("reverse.toml")).arg("--out").arg(&run_directory), None);
        assert_eq!(written(output), "", "a quiet run says nothing");
        run_directory
    })
}

fn predict(more: &[&str]) -> Command {
    let mut command = gatto(&["predict"]);
    command.arg(model()).args(more);
    command
}

/// 200 lines of one to nine symbols, in no order of length; some are empty.
fn mixed_lines() -> String {
    let symbols = ["a", "b", "c", "d", "e", "f"];
    let line = |n: usize| {
        (0..(n * 7) % 10).map(|k| symbols[(n * 5 + k * k + k * n) % 6]).collect::<Vec<_>>().join(" ")
    };
    (0..200).map(|n| line(n) + "\n").collect()
}

#[test]
fn predictions_come_in_the_order_of_the_input() {
    let lines = mixed_lines();
    let all = written(run(&mut predict(&[]), Some(lines.as_bytes())));
    assert_eq!(all.lines().count(), 200);
    let right = |(line, found): (&str, &str)| line.split(' ').rev().eq(found.split(' '));
    let share = lines.lines().zip(all.lines()).filter(|pair| !pair.0.is_empty() && right(*pair)).count();
    assert!(share > 40, "{share} of 200 are reversed: they are not in order, or it has not learnt");
    assert_eq!(written(run(&mut predict(&["--batch", "1"]), Some(lines.as_bytes()))), all);
    assert_eq!(written(run(&mut predict(&["--batch", "7", "--threads", "1"]), Some(lines.as_bytes()))), all);

    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
    fs::write(&input, lines.trim_end_matches('\n')).expect("written");
    assert_eq!(written(run(predict(&["-i"]).arg(&input), None)), all, "the last line needs no end");
    assert_eq!(written(run(predict(&["-i"]).arg(&input).arg("-o").arg(&output), None)), "");
    assert_eq!(fs::read_to_string(&output).expect("written"), all);
    fs::write(&input, lines.replace('\n', "\r\n")).expect("written");
    assert_eq!(written(run(predict(&["-i"]).arg(&input), None)), all, "lines may end as Windows ends them");
}

#[test]
fn every_line_gets_a_line() {
    assert_eq!(written(run(&mut predict(&[]), Some(b""))), "");
    let four = written(run(&mut predict(&[]), Some(b"a b\n\n\nc\n")));
    assert_eq!(four.lines().count(), 4);
    let odd = "zzz unknown \u{1F431}\u{0301} \u{0}\u{7} \u{feff} words\n\t \n";
    assert_eq!(written(run(&mut predict(&[]), Some(odd.as_bytes()))).lines().count(), 2);
    let short = written(run(&mut predict(&["--max-length", "1"]), Some(b"a b c\n")));
    assert_eq!(short.split_whitespace().count(), 1);
}

#[test]
fn answers_come_before_the_input_ends() {
    let mut child = predict(&[]).stdin(Stdio::piped()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("an input");
    let mut answers = BufReader::new(child.stdout.take().expect("an output")).lines();
    for line in ["a b", "c d e"] {
        writeln!(stdin, "{line}").expect("written");
        stdin.flush().expect("written");
        assert!(answers.next().is_some_and(|answer| answer.is_ok()), "{line}");
    }
    drop(stdin);
    assert!(child.wait().expect("an end").success());
}

#[test]
fn json_has_all_there_is_to_know() {
    let found = written(run(&mut predict(&["--json"]), Some("a b\n\"\u{e9}\\\n".as_bytes())));
    let lines: Vec<Value> =
        found.lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["source"], "\"\u{e9}\\");
    let mut keys: Vec<&String> = lines[0].as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["finished", "log_probabilities", "score", "source", "text", "tokens"]);
    let logs: Vec<f64> = lines[0]["log_probabilities"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|v| v.as_f64().expect("a number"))
        .collect();
    assert!(logs.iter().all(|log| *log <= 1e-6));
    assert!((logs.iter().sum::<f64>() - lines[0]["score"].as_f64().expect("a number")).abs() < 1e-4);
    let tokens = lines[0]["tokens"].as_array().expect("a list").len();
    assert_eq!(logs.len(), tokens + usize::from(lines[0]["finished"] == true));
    let plain = written(run(&mut predict(&[]), Some(b"a b\n")));
    assert_eq!(plain.trim_end_matches('\n'), lines[0]["text"].as_str().expect("text"));
}

#[test]
fn input_that_cannot_be_read_is_named_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
    let long = [b"a b\n".to_vec(), vec![b'x'; (1 << 20) + 2], b"\n".to_vec()].concat();
    for (name, content) in [("invalid-utf8", b"a b\nc\nd \xff\xfe e\nf\n".to_vec()), ("long-line", long)] {
        fs::write(&input, &content).expect("written");
        for before in [None, Some("kept")] {
            if let Some(text) = before {
                fs::write(&output, text).expect("written");
            }
            let said = refused(run(predict(&["-i"]).arg(&input).arg("-o").arg(&output), None));
            snapshot(&format!("predict-{name}"), &said, Some(folder.path()));
            assert_eq!(fs::read_to_string(&output).ok().as_deref(), before);
            let names: Vec<_> =
                fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.file_name()).collect();
            assert_eq!(names.len(), 1 + usize::from(before.is_some()), "{names:?}");
        }
        fs::remove_file(&output).expect("removed");
        // Without a file, what came before the bad line is written, and the line is still named.
        let output = run(&mut predict(&[]), Some(&content));
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).starts_with("error: standard input, line "), "{}", text(&output.stderr));
    }
    let said = refused(run(predict(&["-i"]).arg(folder.path().join("nowhere")), None));
    assert!(said.contains("nowhere"), "{said}");
    let said = refused(run(&mut gatto(&["predict", "no-such-run"]), None));
    snapshot("predict-no-model", &said, None);
}

/// A pipe can be read only once, and what is no file cannot be replaced.
#[cfg(target_os = "linux")]
#[test]
fn input_may_be_a_pipe_and_output_a_device() {
    let lines = mixed_lines();
    let all = written(run(&mut predict(&[]), Some(lines.as_bytes())));
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out.txt");
    assert_eq!(written(run(predict(&["-i", "/dev/stdin", "-o"]).arg(&output), Some(lines.as_bytes()))), "");
    assert_eq!(fs::read_to_string(&output).expect("written"), all);
    assert_eq!(written(run(&mut predict(&["-o", "/dev/stdout"]), Some(lines.as_bytes()))), all);
}

#[test]
fn a_source_that_is_too_long_is_named_by_its_line() {
    let long = format!("{}\n", "a ".repeat(10_001));
    // Behind the first chunk, which is 16 batches.
    let lines = format!("{}{long}b\n", "a b\n".repeat(20));
    let folder = tempfile::tempdir().expect("a folder");
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    fs::write(&source, &lines).expect("written");
    fs::write(&target, "b\n".repeat(22)).expect("written");
    let said = refused(run(predict(&["--batch", "1", "-o", "/dev/null", "-i"]).arg(&source), None));
    snapshot("predict-long-source", &said, Some(folder.path()));
    let mut command = gatto(&["evaluate", "--batch", "1"]);
    let said =
        refused(run(command.arg(model()).arg("--source").arg(&source).arg("--target").arg(&target), None));
    assert!(said.starts_with("error: example 21: has 10001 tokens; at most 10000"), "{said}");
}

/// Ctrl-C stops training in good order, and says so; a hang-up is left to `nohup`.
#[cfg(target_os = "linux")]
#[test]
fn the_first_interrupt_stops_training_after_its_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("long.toml");
    let text_of = "task = \"translate\"\n[data]\nbuiltin = \"copy\"\n[tokens]\nkind = \"word\"\n[encoder.rnn]\nwidth = 4\n\
                   [decoder.rnn]\nwidth = 4\n[train]\nsteps = 1000000\n";
    fs::write(&config, text_of).expect("written");
    let mut command = gatto(&["train", "--quiet"]);
    let child = command.arg(&config).arg("--out").arg(folder.path().join("run")).spawn().expect("it runs");
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a process");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask").trim();
        u64::from_str_radix(mask, 16).expect("a mask")
    };
    let [hang_up, interrupt] = [1, 2].map(|signal| 1 << (signal - 1));
    while caught() & interrupt == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(caught() & hang_up, 0);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = checked(child.wait_with_output().expect("an end"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "stopping after this step; press Ctrl-C again to stop at once\n");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("in.txt");
    fs::write(&input, mixed_lines().repeat(40)).expect("written");
    let mut child = predict(&["--batch", "1", "-i"]).arg(&input).spawn().expect("it runs");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    drop(output); // as `head -1` does
    let end = child.wait_with_output().expect("an end");
    assert_eq!(end.status.code(), Some(0), "{}", text(&end.stderr));
    assert_eq!(text(&end.stderr), "");

    for arguments in [&["new", "phrases"][..], &["completions", "bash"], &["--help"], &["new"]] {
        let mut child = gatto(arguments).spawn().expect("it runs");
        drop(child.stdout.take());
        let end = child.wait_with_output().expect("an end");
        assert_eq!(end.status.code(), Some(0), "{arguments:?}: {}", text(&end.stderr));
        assert_eq!(text(&end.stderr), "", "{arguments:?}");
    }
}

#[test]
fn info_tells_what_a_model_is() {
    let found = written(run(gatto(&["info"]).arg(model()), None));
    snapshot("info", &found, None);
    let found: Value = serde_json::from_str(&written(run(gatto(&["info", "--json"]).arg(model()), None)))
        .expect("valid JSON");
    assert_eq!(found["task"], "translate");
    let sizes = found["weights"].as_object().expect("weights").values();
    let product = |shape: &Value| {
        shape.as_array().expect("a shape").iter().map(|n| n.as_u64().expect("a size")).product::<u64>()
    };
    assert_eq!(found["parameters"], sizes.map(product).sum::<u64>());
    let said = refused(run(&mut gatto(&["info", "no-such-run"]), None));
    assert!(said.contains("no-such-run"), "{said}");
}

#[test]
fn evaluate_measures() {
    let report = written(run(gatto(&["evaluate", "--examples", "150"]).arg(model()), None));
    let first = report.lines().next().expect("a line");
    assert!(first.starts_with("exact match  ") && first.ends_with(" of 150)"), "{report}");
    let mut command = gatto(&["evaluate", "--examples", "150", "--json", "--batch", "9"]);
    let found: Value = serde_json::from_str(&written(run(command.arg(model()), None))).expect("valid JSON");
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
fn a_run_finds_its_files_from_anywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = "task = \"translate\"\n[data]\ntrain = { tsv = \"a.tsv\" }\ntest = { tsv = \"a.tsv\" }\nskip_bad = true\n\
                  [tokens]\nkind = \"word\"\n[encoder.rnn]\nwidth = 4\n[decoder.rnn]\nwidth = 4\n[train]\nsteps = 2\n[search]\nmax_length = 5\n";
    fs::write(folder.path().join("files.toml"), config).expect("written");
    fs::write(folder.path().join("a.tsv"), "a b\tb a\nc\tc\n").expect("written");
    let output = run(gatto(&["train", "files.toml", "--quiet"]).current_dir(folder.path()), None);
    assert_eq!(written(output), "");
    let evaluate = || run(gatto(&["evaluate"]).arg(folder.path().join("runs/files")), None);
    let report = written(evaluate());
    assert!(report.contains("of 2)"), "{report}");
    // All lines of a file are looked at, and those that cannot be used are counted.
    let lines = "a b\tb a\n".repeat(2100) + "no tab\n\tno source\n";
    fs::write(folder.path().join("a.tsv"), lines).expect("written");
    let output = evaluate();
    assert!(text(&output.stdout).contains("of 2100)"), "{}", text(&output.stdout));
    assert_eq!(text(&output.stderr), "note: 2 bad lines are passed over\n");
}

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

/// The names and texts of all configurations.
fn recipes() -> Vec<(String, String)> {
    let paths = fs::read_dir(configs()).expect("configurations").flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("text"))
        })
        .collect()
}

/// What makes a configuration small enough for a test.
fn small(config: &str) -> Vec<String> {
    let mut changes: Vec<String> = Vec::new();
    let mut set = |change: String| changes.extend(["--set".to_owned(), change]);
    for (part, cell) in ["encoder", "decoder", "single"]
        .iter()
        .flat_map(|part| ["rnn", "lstm", "gru"].map(|cell| (part, cell)))
    {
        if config.contains(&format!("[{part}.{cell}]")) {
            set(format!("{part}.{cell}.width=8"));
            set(format!("{part}.{cell}.embedding=8"));
        }
    }
    if config.contains("builtin =") {
        set("data.examples=300".to_owned());
    }
    if config.contains("[search]") {
        set("search.max_length=8".to_owned());
    }
    for (key, value) in [("steps", 2), ("valid_examples", 20), ("batch_examples", 16), ("warmup", 1)] {
        set(format!("train.{key}={value}"));
    }
    if config.contains("cooldown =") {
        set("train.cooldown=1".to_owned());
    }
    changes
}

/// Every configuration trains, and every one with a source predicts; those that start from others
/// come after them.
#[test]
fn every_configuration_trains_and_predicts() {
    let folder = tempfile::tempdir().expect("a folder");
    for part in ["train", "val", "test"] {
        fs::write(folder.path().join(format!("{part}.en")), "the cat\nthe dog sees the cat\n")
            .expect("written");
        fs::write(folder.path().join(format!("{part}.de")), "die Katze\nder Hund sieht die Katze\n")
            .expect("written");
    }
    let train = |name: &str, config: &str, out: &str, more: &[&str]| {
        fs::write(folder.path().join(format!("{name}.toml")), config).expect("written");
        let mut command = gatto(&["train"]);
        command
            .current_dir(folder.path())
            .arg(format!("{name}.toml"))
            .args(small(config))
            .args(more)
            .args(["--out", out]);
        let output = run(&mut command, None);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
        assert_eq!(text(&output.stdout), "", "{name}");
        assert!(said.contains("finished at step 2"), "{name}: {said}");
        folder.path().join(out)
    };
    let mut all = recipes();
    all.sort_by_key(|(_, config)| config.contains("[[init]]"));
    assert!(all.len() >= 14);
    for (name, config) in &all {
        if name == "language-model" {
            train(name, config, "runs/english", &[]);
            train(name, config, "runs/italian", &["--set", "data.side=target"]);
            let said =
                refused(run(gatto(&["predict"]).arg(folder.path().join("runs/english")), Some(b"a\n")));
            assert!(said.contains("is a language model"), "{said}");
            continue;
        }
        let run_directory = train(name, config, &format!("out/{name}"), &[]);
        let found = written(run(gatto(&["predict"]).arg(&run_directory), Some(b"the cat\n\n1 May 2020\n")));
        assert_eq!(found.lines().count(), 3, "{name}");
        for file in
            ["config.toml", "model.safetensors", "metrics.jsonl", "curves.svg", "tensorboard", "checkpoints"]
        {
            assert!(run_directory.join(file).exists(), "{name}: {file}");
        }
    }
}
