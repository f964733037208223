//! Every kind of file, whole and broken.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;
use crate::corpus::{Files, MAX_LINE};

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A folder with these files in it.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn rest(corpus: &mut dyn Corpus) -> Result<Vec<Example>, DataError> {
    std::iter::from_fn(|| corpus.next().transpose()).collect()
}

/// Each kind of corpus, plain and gzipped, with the same four examples.
fn every_kind() -> (TempDir, Vec<(String, Files)>) {
    let (source, target) = ("\u{feff}one\r\ntwo\r\n three \r\nfour", "uno\ndue\ntre\n4\u{2028}4\n");
    let tsv = "uno\tx\tone\ndue\tx\ttwo\ntre\tx\t three \n4\u{2028}4\tx\tfour";
    let jsonl = "{\"q\":\"one\",\"a\":\"uno\"}\n{\"a\":\"due\",\"q\":\"two\",\"n\":[1]}\n\
                 {\"q\":\" three \",\"a\":\"tre\"}\r\n{\"q\":\"four\",\"a\":\"4\\u20284\"}\n";
    let text = "uno\n\ndue\n   \ntre\n\n\n4\u{2028}4";
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for zipped in [false, true] {
        let file = |name: &str, content: &str| -> PathBuf {
            let path = folder.path().join(format!("{name}{}", if zipped { ".gz" } else { "" }));
            let content = if zipped { gzip(content.as_bytes()) } else { content.into() };
            fs::write(&path, content).unwrap();
            path
        };
        let kinds = [
            Files::Parallel { source: file("s", source), target: file("t", target) },
            Files::Tsv { path: file("tsv", tsv), columns: [2, 0] },
            Files::Jsonl { path: file("jsonl", jsonl), keys: ["q".into(), "a".into()] },
            Files::Single { path: file("text", text) },
        ];
        all.extend(kinds.map(|kind| (format!("{kind:?}"), kind)));
    }
    (folder, all)
}

#[test]
fn every_kind_reads_the_same_examples() {
    let (_folder, kinds) = every_kind();
    for (name, files) in kinds {
        let found = rest(&mut files.open(false).unwrap()).unwrap();
        let targets: Vec<_> = found.iter().map(|example| example.target.as_str()).collect();
        assert_eq!(targets, ["uno", "due", "tre", "4\u{2028}4"], "{name}");
        let sources: Vec<_> = found.iter().map(|example| example.source.as_str()).collect();
        match files {
            Files::Single { .. } => assert_eq!(sources, ["", "", "", ""]),
            _ => assert_eq!(sources, ["one", "two", " three ", "four"], "{name}"),
        }
    }
}

#[test]
fn every_position_can_be_sought_from_every_other() {
    let (_folder, kinds) = every_kind();
    for (name, files) in kinds {
        let mut corpus = files.open(false).unwrap();
        let all = rest(&mut corpus).unwrap();
        corpus.seek(&Position::start()).unwrap();
        let mut positions = vec![Position::start(), corpus.position()];
        while corpus.next().unwrap().is_some() {
            positions.push(corpus.position());
        }
        for from in &positions {
            for to in &positions {
                let json = serde_json::to_string(to).unwrap();
                corpus.seek(from).unwrap();
                corpus.seek(&serde_json::from_str(&json).unwrap()).unwrap();
                assert_eq!(rest(&mut corpus).unwrap(), all[to.example as usize..], "{name} {from:?} {to:?}");
            }
        }
    }
}

#[test]
fn positions_of_another_file_are_refused() {
    let (_folder, kinds) = every_kind();
    for (name, files) in kinds {
        let mut corpus = files.open(false).unwrap();
        corpus.next().unwrap();
        let good = corpus.position();
        let shifted = Position { offsets: good.offsets.iter().map(|at| at - 1).collect(), ..good.clone() };
        let beyond = Position { offsets: vec![10_000; good.offsets.len()], ..good.clone() };
        let other = Position { offsets: vec![], ..good.clone() };
        for bad in [shifted, beyond, other] {
            let error = corpus.seek(&bad).unwrap_err().to_string();
            assert!(error.contains("has changed since"), "{name}: {error}");
        }
        corpus.seek(&good).unwrap();
        assert_eq!(rest(&mut corpus).unwrap().len(), 3, "{name}");
    }
}

/// The message of the first bad line, and what is left with `skip_bad`.
fn problem(files: &Files) -> (String, usize, u64) {
    let message = rest(&mut files.open(false).unwrap()).unwrap_err().to_string();
    let mut corpus = files.open(true).unwrap();
    let left = rest(&mut corpus).unwrap().len();
    assert_eq!(corpus.skipped(), corpus.position().skipped);
    (message, left, corpus.skipped())
}

#[test]
fn bad_lines_are_named_or_counted() {
    let long = format!("a\t{}\nb\tc\n", "x".repeat(MAX_LINE));
    let cases: [(&str, &[u8], &str); 12] = [
        ("tsv", b"a\tb\n\xff\tb\n", "f, line 2: the line is not valid UTF-8; convert"),
        ("tsv", b"a\tb\n\tb\n", "f, line 2: the source is empty"),
        ("tsv", b"a\tb\na\t \n", "f, line 2: the target is empty"),
        ("tsv", b"a\tb\n\n", "f, line 2: there is no column 1 (counted from 0): the line has 1"),
        ("tsv", b"\na\tb", "f, line 1: there is no column 1"),
        ("tsv", long.as_bytes(), "f, line 1: the line is longer than 1 MiB"),
        (
            "jsonl",
            b"{\"source\":\"a\",\"target\":\"b\"}\n{\n",
            "f, line 2: the line is not a JSON object (EOF",
        ),
        ("jsonl", b"{\"source\":\"a\",\"target\":\"b\"}\n[1]\n", "f, line 2: the line is not a JSON object"),
        ("jsonl", b"{\"source\":\"a\",\"target\":\"b\"}\n{\"source\":\"a\"}", "no key \"target\"; add it"),
        (
            "jsonl",
            b"{\"source\":\"a\",\"target\":\"b\"}\n{\"source\":1,\"target\":\"b\"}",
            "\"source\" is not a string",
        ),
        (
            "jsonl",
            b"{\"source\":\"a\",\"target\":\"b\"}\n{\"source\":\"\",\"target\":\"b\"}",
            "line 2: the source is empty",
        ),
        ("text", b"a\n\xc3\n", "f, line 2: the line is not valid UTF-8"),
    ];
    for (kind, content, expected) in cases {
        for content in [content.to_vec(), gzip(content)] {
            let folder = folder(&[("f", &content)]);
            let path = folder.path().join("f");
            let files = match kind {
                "tsv" => Files::Tsv { path, columns: [0, 1] },
                "jsonl" => Files::Jsonl { path, keys: ["source".into(), "target".into()] },
                _ => Files::Single { path },
            };
            let (message, left, skipped) = problem(&files);
            assert!(message.contains(expected) && message.contains("skip_bad = true"), "{message}");
            assert_eq!((left, skipped), (1, 1), "{message}");
        }
    }
}

#[test]
fn the_side_at_fault_is_named() {
    let folder = folder(&[("s", b"a\nb\nc\n"), ("t", b"x\n \nz\n")]);
    let files = Files::Parallel { source: folder.path().join("s"), target: folder.path().join("t") };
    let (message, left, skipped) = problem(&files);
    assert!(message.contains("/t, line 2: the target is empty"), "{message}");
    assert_eq!((left, skipped), (2, 1));
}

#[test]
fn aligned_files_have_to_be_of_one_length() {
    let folder = folder(&[("long", b"a\nb\nc\nd\n"), ("short", b"x\ny")]);
    let (long, short) = (folder.path().join("long"), folder.path().join("short"));
    for (source, target) in [(&long, &short), (&short, &long)] {
        let files = Files::Parallel { source: source.clone(), target: target.clone() };
        let (message, left, skipped) = problem(&files);
        let expected = format!("{} has no line 3, but {} goes on", short.display(), long.display());
        assert!(message.contains(&expected), "{message}");
        assert_eq!((left, skipped), (2, 2));
    }
}

#[test]
fn the_longest_line_is_a_mebibyte() {
    let longest = "x".repeat(MAX_LINE);
    let folder = folder(&[("f", format!("\u{feff}{longest}\r\n{longest}x\r\n{longest}").as_bytes())]);
    let mut corpus = FileCorpus::single(&folder.path().join("f"), true).unwrap();
    let lengths: Vec<_> = rest(&mut corpus).unwrap().iter().map(|example| example.target.len()).collect();
    assert_eq!(lengths, [MAX_LINE, MAX_LINE]);
    assert_eq!(corpus.skipped(), 1);
}

#[test]
fn a_line_far_too_long_is_never_in_memory() {
    // Half a gibibyte of zeros in half a megabyte of gzip, without an end of line.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.gz");
    let mut encoder = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::fast());
    for _ in 0..512 {
        encoder.write_all(&[0; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap();
    let mut lines = Lines::open(&path).unwrap();
    assert_eq!(lines.next().unwrap(), Some(Err(LineProblem::TooLong)));
    assert!(lines.memory() < 4 * MAX_LINE);
    assert_eq!(lines.next().unwrap(), None);
}

#[test]
fn a_line_without_end_is_told_and_the_next_is_found() {
    use std::io::{BufReader, Read};
    let mut endless = Lines::new("zeros", BufReader::new(std::io::repeat(0)));
    assert_eq!(endless.next().unwrap(), Some(Err(LineProblem::TooLong)));
    let long = std::io::repeat(b'x').take(3 * MAX_LINE as u64);
    let mut lines = Lines::new("long", BufReader::new(long.chain(&b"\nshort\r\n\rlast\r"[..])));
    assert_eq!(lines.next().unwrap(), Some(Err(LineProblem::TooLong)));
    for line in ["short", "\rlast\r"] {
        assert_eq!(lines.next().unwrap(), Some(Ok(line.to_owned())));
    }
    assert_eq!(lines.next().unwrap(), None);
}

#[test]
fn unreadable_files_are_named() {
    let whole = gzip(b"a\tb\nc\td\n");
    let folder = folder(&[("cut.gz", &whole[..whole.len() - 9])]);
    let cut = folder.path().join("cut.gz");
    let mut corpus = FileCorpus::tsv(&cut, [0, 1], true).unwrap();
    let error = rest(&mut corpus).unwrap_err();
    assert!(matches!(&error, DataError::Read { path, .. } if *path == cut), "{error}");
    let missing = folder.path().join("missing");
    assert!(
        matches!(FileCorpus::single(&missing, true), Err(DataError::Read { path, .. }) if path == missing)
    );
    let error = FileCorpus::parallel(&cut, folder.path(), true).err().unwrap();
    assert!(error.to_string().contains("is a folder; name the file inside it"));
}

#[test]
fn an_empty_file_has_no_examples() {
    for content in [b"".to_vec(), "\u{feff}".into(), gzip(b"")] {
        let folder = folder(&[("f", &content)]);
        assert_eq!(rest(&mut FileCorpus::single(&folder.path().join("f"), false).unwrap()).unwrap(), []);
    }
}

#[test]
fn examples_carry_the_value_of_a_column_if_asked() {
    let folder = folder(&[
        ("a.tsv", b"one\tuno\tnews\ntwo\tdue\t talk \n"),
        ("a.jsonl", b"{\"source\":\"one\",\"target\":\"uno\",\"n\":7}\n{\"source\":\"two\",\"target\":\"due\",\"n\":true}\n"),
    ]);
    let path = |name: &str| folder.path().join(name);
    let keys = ["source".to_owned(), "target".to_owned()];
    let groups = |mut corpus: FileCorpus| -> Vec<Option<String>> {
        rest(&mut corpus).unwrap().into_iter().map(|example| example.group).collect()
    };
    let some = |names: [&str; 2]| names.map(|name| Some(name.to_owned()));
    let tsv = || FileCorpus::tsv(&path("a.tsv"), [0, 1], true).unwrap();
    let jsonl = || FileCorpus::jsonl(&path("a.jsonl"), keys.clone(), true).unwrap();
    assert_eq!(groups(tsv()), [None, None]);
    assert_eq!(groups(tsv().grouped_by("2").unwrap()), some(["news", "talk"]));
    assert_eq!(groups(tsv().grouped_by("0").unwrap()), some(["one", "two"]));
    assert_eq!(groups(jsonl().grouped_by("n").unwrap()), some(["7", "true"]));

    // A column that is not there is an error, though bad lines are passed over.
    let said = |corpus: Result<FileCorpus, DataError>| {
        let error = corpus.and_then(|mut corpus| rest(&mut corpus)).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "FOLDER")
    };
    assert_eq!(
        said(tsv().grouped_by("3")),
        "FOLDER/a.tsv, line 1: has no column 3 to group by; its columns are 0 to 2"
    );
    assert_eq!(
        said(jsonl().grouped_by("m")),
        "FOLDER/a.jsonl, line 1: has no column \"m\" to group by; its columns are \"n\", \"source\", \"target\""
    );
    assert!(said(tsv().grouped_by("domain")).contains("`domain` is none of them; write the number"));
    let both = FileCorpus::parallel(&path("a.tsv"), &path("a.tsv"), false).unwrap();
    assert!(said(both.grouped_by("0")).contains("a.tsv: its lines have no columns"));
}
