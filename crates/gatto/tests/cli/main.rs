//! The command line as a user sees it. Texts are compared with the files in `snapshots/`; run with
//! `UPDATE_SNAPSHOTS=1` to write them anew, and read the difference before committing it.

mod alignment;
mod configs;
mod evaluate;
mod evaluation;
mod explain_report;
mod look;
mod metric;
mod models;
mod predict;
mod quantize;
mod serve;
mod shortlist;
mod sounds;
mod tasks;
mod usage;
mod wishes;

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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

/// The one JSON object that was written, if all went well.
fn json(output: Output) -> Value {
    serde_json::from_str(&written(output)).expect("valid JSON")
}

/// The JSON objects that were written, one per line, if all went well.
fn json_lines(output: Output) -> Vec<Value> {
    written(output).lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

/// A list of numbers.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// A list of lists of numbers.
fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().expect("a list").iter().map(numbers).collect()
}

/// The files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
