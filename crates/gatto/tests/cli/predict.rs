//! `gatto predict`; for what it says of attention see `alignment`.

use crate::models::model;
use crate::{gatto, json_lines, names, numbers, refused, run, snapshot, text, written};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

pub(crate) fn predict(more: &[&str]) -> Command {
    let mut command = gatto(&["predict"]);
    command.arg(model()).args(more);
    command
}

/// 200 lines of one to nine symbols, in no order of length; some are empty.
pub(crate) fn mixed_lines() -> String {
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
    let lines = json_lines(run(&mut predict(&["--json"]), Some("a b\n\"\u{e9}\\\n".as_bytes())));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["source"], "\"\u{e9}\\");
    let mut keys: Vec<&String> = lines[0].as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        ["finished", "log_probabilities", "normalised_score", "score", "source", "text", "tokens"]
    );
    let logs = numbers(&lines[0]["log_probabilities"]);
    assert!(logs.iter().all(|log| *log <= 1e-6));
    assert!((logs.iter().sum::<f64>() - lines[0]["score"].as_f64().expect("a number")).abs() < 1e-4);
    let tokens = lines[0]["tokens"].as_array().expect("a list").len();
    assert_eq!(logs.len(), tokens + usize::from(lines[0]["finished"] == true));
    let plain = written(run(&mut predict(&[]), Some(b"a b\n")));
    assert_eq!(plain.trim_end_matches('\n'), lines[0]["text"].as_str().expect("text"));
}

#[test]
fn the_best_outputs_are_ranked_and_scoring_them_gives_their_scores() {
    let lines = "a b c\nf e d c\nb\n";
    let search = ["--beam", "4", "--normalise", "none"];
    let found = written(run(predict(&search).args(["--n-best", "3"]), Some(lines.as_bytes())));
    let found: Vec<Vec<&str>> = found.lines().map(|line| line.split(" ||| ").collect()).collect();
    assert_eq!(
        found.iter().map(|parts| parts[0]).collect::<Vec<_>>(),
        ["1", "1", "1", "2", "2", "2", "3", "3", "3"]
    );
    let score = |parts: &[&str]| parts[2].parse::<f64>().expect("a number");
    for best in found.chunks(3) {
        assert!(score(&best[0]) >= score(&best[1]) && score(&best[1]) >= score(&best[2]));
        assert!(best[0][1] != best[1][1] && best[1][1] != best[2][1] && best[0][1] != best[2][1]);
    }
    let first = written(run(&mut predict(&search), Some(lines.as_bytes())));
    assert_eq!(first.lines().collect::<Vec<_>>(), [found[0][1], found[3][1], found[6][1]]);
    assert_eq!(
        written(run(&mut predict(&["--beam", "1"]), Some(lines.as_bytes()))),
        written(run(&mut predict(&[]), Some(lines.as_bytes())))
    );

    let folder = tempfile::tempdir().expect("a folder");
    let (sources, targets) = (folder.path().join("source.txt"), folder.path().join("target.txt"));
    let source = |parts: &Vec<&str>| lines.lines().nth(parts[0].parse::<usize>().expect("a line") - 1);
    let text = |lines: Vec<&str>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    fs::write(&sources, text(found.iter().filter_map(source).collect())).expect("written");
    fs::write(&targets, text(found.iter().map(|parts| parts[1]).collect())).expect("written");
    let scored = |more: &[&str]| {
        let mut command = gatto(&["score"]);
        command.arg(model()).arg("--source").arg(&sources).arg("--target").arg(&targets).args(more);
        run(&mut command, None)
    };
    let scores = written(scored(&[]));
    assert_eq!(scores.lines().collect::<Vec<_>>(), found.iter().map(|parts| parts[2]).collect::<Vec<_>>());
    let json = json_lines(scored(&["--json"]));
    assert_eq!(json.len(), 9);
    assert_eq!(json[0]["target"], found[0][1]);
    fs::write(&targets, "a\n").expect("written");
    let said = refused(scored(&[]));
    assert!(said.contains("source.txt has 9 lines") && said.contains("target.txt has 1"), "{said}");
}

#[test]
fn a_search_that_makes_no_sense_is_refused() {
    for (flags, expected) in [
        (&["--beam", "0"][..], "--beam: must be from 1 to 1024"),
        (&["--beam", "2", "--n-best", "3"], "write --beam 3"),
        (&["--beam", "4", "--groups", "5"], "--groups: must be from 1 to the beam, which is 4"),
        (&["--alpha", "11"], "--alpha: must be from 0 to 10"),
        (&["--beam", "1024", "--batch", "65536"], "take a smaller beam or batch"),
    ] {
        let said = refused(run(&mut predict(flags), Some(b"a b\n")));
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
}

#[test]
fn eight_bits_are_nearly_as_good() {
    let lines = mixed_lines();
    let whole = written(run(&mut predict(&[]), Some(lines.as_bytes())));
    let bytes = written(run(&mut predict(&["--precision", "int8"]), Some(lines.as_bytes())));
    let same = whole.lines().zip(bytes.lines()).filter(|(whole, bytes)| whole == bytes).count();
    assert!(same > 180, "{same} of 200");
    let alone = ["--precision", "int8", "--batch", "1", "--threads", "1"];
    assert_eq!(written(run(&mut predict(&alone), Some(lines.as_bytes()))), bytes);
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
            let names = names(folder.path());
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
