//! Lists of recordings.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::write::GzEncoder;

use super::super::*;
use super::tone;
use crate::{Corpus, DataError};

/// A folder with a few recordings, good and bad.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("talks")).unwrap();
    tone(8_000, 400.0, 0.5).write_wav(&at("talks/one.wav")).unwrap();
    tone(16_000, 500.0, 1.0).write_wav(&at("two.wav")).unwrap();
    tone(8_000, 400.0, 90.0).write_wav(&at("long.wav")).unwrap();
    Sound { samples: vec![0.0; 4_000], rate: 8_000 }.write_wav(&at("silent.wav")).unwrap();
    let whole = tone(8_000, 400.0, 0.5).wav();
    fs::write(at("short.wav"), &whole[..whole.len() / 2]).unwrap();
    fs::write(at("empty.wav"), b"").unwrap();
    fs::write(at("text.wav"), b"not a sound at all, really").unwrap();
    folder
}

fn open(
    folder: &Path,
    name: &str,
    list: &str,
    change: impl Fn(&mut SoundList),
) -> Result<SoundFiles, DataError> {
    let path = folder.join(name);
    fs::write(&path, list).unwrap();
    let mut list = SoundList::new(folder, path);
    change(&mut list);
    SoundFiles::open(list)
}

#[test]
fn both_formats_tell_the_same() {
    let folder = folder();
    let tsv = "talks/one.wav\tgood morning\tanna\n\ntwo.wav\tgood night\t\t0.25\t0.75\r\n";
    let jsonl = r#"{"path": "talks/one.wav", "text": " good morning", "speaker": "anna", "start": null}
{"path": "two.wav", "text": "good night", "start": 0.25, "end": 0.75, "something": "else"}
"#;
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(jsonl.as_bytes()).unwrap();
    fs::write(folder.path().join("list.jsonl.gz"), gzip.finish().unwrap()).unwrap();
    let sets = [
        open(folder.path(), "list.tsv", tsv, |_| {}).unwrap(),
        open(folder.path(), "list.jsonl", jsonl, |_| {}).unwrap(),
        SoundFiles::open(SoundList::new(folder.path(), folder.path().join("list.jsonl.gz"))).unwrap(),
    ];
    for set in &sets {
        assert_eq!((set.len(), set.skipped().total()), (2, 0));
        let one = set.get(0).unwrap();
        assert_eq!((one.name.as_str(), one.said.text.as_str()), ("talks/one.wav", "good morning"));
        assert_eq!(one.said.speaker.as_deref(), Some("anna"));
        assert_eq!((one.sound.rate, one.sound.samples.len()), (16_000, 8_000));
        let two = set.get(1).unwrap();
        assert_eq!(two.sound.samples.len(), 8_000);
        assert_eq!(two.said, Transcript::new("good night"));
        let whole =
            decode_file(&folder.path().join("two.wav"), &Wanted::default(), &SoundLimits::default()).unwrap();
        assert_eq!(two.sound.samples, whole.samples[4_000..12_000]);
        assert_eq!((set.seconds(0).unwrap(), set.seconds(1).unwrap()), (Some(0.5), Some(0.5)));
        assert_eq!(set.said(1).unwrap().text, "good night");
        assert_ne!(set.identity(0).unwrap(), set.identity(1).unwrap());
    }
    let mut texts = texts_of(&sets[0], u64::MAX).unwrap();
    let told: Vec<String> =
        std::iter::from_fn(|| texts.next().unwrap()).map(|example| example.target).collect();
    assert_eq!(told, ["good morning", "good night"]);
}

#[test]
fn words_may_have_times() {
    let folder = folder();
    let line =
        |mentions: &str| format!(r#"{{"path": "two.wav", "text": "good night", "mentions": {mentions}}}"#);
    let good = line(r#"[{"word": 0, "start": 0.1, "end": 0.3}, {"word": 1, "start": 0.3, "end": 0.9}]"#);
    let set = open(folder.path(), "list.jsonl", &good, |_| {}).unwrap();
    let expected = [Mention { word: 0, start: 0.1, end: 0.3 }, Mention { word: 1, start: 0.3, end: 0.9 }];
    assert_eq!(set.said(0).unwrap().mentions, expected);
    for bad in [
        r#"[{"word": 2, "start": 0.1, "end": 0.3}]"#,
        r#"[{"word": 0, "start": 0.3, "end": 0.3}]"#,
        r#"[{"word": 0, "start": -0.3, "end": 0.3}]"#,
        r#"[{"word": 1, "start": 0.1, "end": 0.3}, {"word": 0, "start": 0.1, "end": 0.3}]"#,
        r#"[[0.1, 0.3]]"#,
        "7",
    ] {
        let error = open(folder.path(), "list.jsonl", &line(bad), |_| {}).unwrap_err().to_string();
        assert!(error.contains("list.jsonl, line 1: the times of words"), "{bad}: {error}");
    }
}

#[test]
fn lines_that_cannot_be_used_are_told_or_counted() {
    let folder = folder();
    for (list, line, told) in [
        ("two.wav\ta\ntwo.wav\t \n", 2, "the text of the recording is empty"),
        ("two.wav\n", 1, "the text of the recording is empty"),
        ("\ta\n", 1, "the name of the recording is empty"),
        ("two.wav\ta\tb\t0\t1\tc\n", 1, "6 columns"),
        ("two.wav\ta\t\t1\n", 1, "the time 1 alone makes no sense"),
        ("two.wav\ta\t\tsoon\tlate\n", 1, "the time soon makes no sense"),
        ("two.wav\ta\t\t2\t1\n", 1, "the time 2 to 1 makes no sense"),
        ("two.wav\ta\t\t0\tinf\n", 1, "makes no sense"),
        ("gone.wav\ta\n", 1, "gone.wav: the recording is not there"),
        ("talks\ta\n", 1, "talks: is no file"),
        ("../two.wav\ta\n", 1, "leads out of the folder"),
        ("/etc/hosts\ta\n", 1, "leads out of the folder"),
    ] {
        let error = open(folder.path(), "list.tsv", list, |_| {}).unwrap_err().to_string();
        assert!(error.contains(&format!("list.tsv, line {line}: ")) && error.contains(told), "{error}");
        let list = format!("{list}\ntwo.wav\tright\n");
        let set = open(folder.path(), "list.tsv", &list, |list| list.skip_bad = true).unwrap();
        assert_eq!(set.skipped().total(), 1, "{list}");
        assert_eq!(set.said(set.len() - 1).unwrap().text, "right");
    }
    for (line, told) in [
        ("[]", "not a JSON object"),
        (r#"{"text": "a"}"#, "no key \"path\""),
        (r#"{"path": 7, "text": "a"}"#, "\"path\" is not a string"),
        (r#"{"path": "two.wav", "text": "a", "start": "1", "end": 2}"#, "the time \"1\" makes no sense"),
    ] {
        let error = open(folder.path(), "list.jsonl", line, |_| {}).unwrap_err().to_string();
        assert!(error.contains("list.jsonl, line 1: ") && error.contains(told), "{error}");
    }
    let error = open(folder.path(), "list.tsv", "gone.wav\ta\n", |list| list.skip_bad = true).unwrap_err();
    assert!(
        error.to_string().contains("no usable recording; passed over: 1 missing; the first: "),
        "{error}"
    );
    // Where texts are not wanted, a name is enough.
    let set = open(folder.path(), "list.tsv", "two.wav\n", |list| list.texts = false).unwrap();
    assert_eq!(set.said(0).unwrap(), Transcript::default());
}

#[test]
fn bad_recordings_of_a_pass_are_told_and_counted_by_reason() {
    let folder = folder();
    let list = "two.wav\ta\nlong.wav\tb\nsilent.wav\tc\nshort.wav\td\nempty.wav\te\ntext.wav\tf\ntwo.wav\tg\t\t5\t6\n\
                talks/one.wav\th\n";
    let set = std::sync::Arc::new(open(folder.path(), "list.tsv", list, |_| {}).unwrap());
    for (index, told) in [
        (1, "line 2: "),
        (1, "long.wav: the recording is 90.0 seconds long, but no more than 60 seconds"),
        (2, "silent.wav: the recording is silent"),
        (3, "short.wav: the recording is broken (it is cut short)"),
        (4, "empty.wav: the recording is empty"),
        (5, "text.wav: is no WAV, FLAC, Ogg Vorbis or MP3 file (it looks like text)"),
        (6, "two.wav: there is nothing from 5 to 6 seconds in a recording of 1 seconds"),
    ] {
        let error = set.get(index).unwrap_err().to_string();
        assert!(error.contains("list.tsv, line ") && error.contains(told), "{error}");
    }
    let preparer = std::sync::Arc::new(Preparer::new(Preparation::default(), None).unwrap());
    let order = (0..set.len()).collect();
    let (mut skipped, mut good) = (Skipped::default(), Vec::new());
    for item in ready(set, order, preparer, None, None, AheadSettings::default()).unwrap() {
        match item {
            Ok(ready) => good.push(ready.said.text),
            Err(error) => skipped.pass(error).unwrap(),
        }
    }
    assert_eq!(good, ["a", "h"]);
    let counts = [Reason::TooLarge, Reason::Empty, Reason::Broken, Reason::BadLine]
        .map(|reason| skipped.count(reason));
    assert_eq!((counts, skipped.total()), ([1, 2, 2, 1], 6));
    assert!(
        skipped
            .to_string()
            .starts_with("2 broken, 1 too large, 1 badly listed, 2 empty or silent; the first: ")
    );
}
