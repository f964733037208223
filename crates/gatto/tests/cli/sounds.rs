//! Models that hear: recordings in, what is said and when out.

use crate::models::listener;
use crate::{gatto, json, json_lines, names, refused, run, text, written};
use gatto::data::Part;
use gatto::data::builtin::LengthRange;
use gatto::data::builtin::melodies::Melodies;
use gatto::data::sound::{Sound, SoundExample};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A melody as the model's data has them.
fn melody(index: u64) -> SoundExample {
    let notes = LengthRange { min: 3, max: 4 };
    let task = Melodies::new(8_000).and_then(|task| task.with_notes(notes)).expect("a task");
    task.example(1, Part::Test, index).expect("a melody")
}

/// Some melodies as files, and one after the other with pauses between them.
fn recordings(folder: &Path, count: u64) -> (Vec<String>, Vec<SoundExample>) {
    let examples: Vec<SoundExample> = (0..count).map(melody).collect();
    let name = |(index, example): (usize, &SoundExample)| {
        let path = folder.join(format!("{index}.wav"));
        example.sound.write_wav(&path).expect("written");
        path.to_string_lossy().into_owned()
    };
    let names = examples.iter().enumerate().map(name).collect();
    let mut samples = Vec::new();
    for example in &examples {
        samples.extend_from_slice(&example.sound.samples);
        samples.resize(samples.len() + 8_000, 0.0);
    }
    Sound { samples, rate: 8_000 }.write_wav(&folder.join("long.wav")).expect("written");
    (names, examples)
}

fn predict(arguments: &[&str], input: Option<&[u8]>) -> std::process::Output {
    run(gatto(&["predict"]).arg(listener()).args(arguments), input)
}

#[test]
fn recordings_are_read_by_name_from_a_list_and_from_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, _) = recordings(folder.path(), 3);
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    let found = written(predict(&all, None));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 3);
    // However they come, and however many at once.
    let list = files.join("\n") + "\n";
    assert_eq!(written(predict(&[], Some(list.as_bytes()))), found);
    assert_eq!(written(predict(&["--batch", "1"], Some(list.as_bytes()))), found);
    for (file, line) in files.iter().zip(&lines) {
        let bytes = fs::read(file).expect("a file");
        assert_eq!(written(predict(&[], Some(&bytes))).trim_end(), *line);
    }
    assert_eq!(written(predict(&["melodies/test/0"], None)).trim_end(), lines[0], "a melody has a name");
}

#[test]
fn words_have_times_by_attention() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, examples) = recordings(folder.path(), 2);
    let found = json_lines(predict(&["--json", &files[0], &files[1]], None));
    for ((object, file), example) in found.iter().zip(&files).zip(&examples) {
        assert_eq!(object["source"], Value::from(file.as_str()));
        let seconds = object["seconds"].as_f64().expect("a length");
        assert!((seconds - example.sound.seconds()).abs() < 0.001);
        let words = object["words"].as_array().expect("words");
        let text = object["text"].as_str().expect("a text");
        assert_eq!(words.len(), text.split_whitespace().count());
        for word in words {
            let [start, end] = ["start", "end"].map(|key| word[key].as_f64().expect("a time"));
            assert!(0.0 <= start && start <= end && end <= seconds + 1e-3, "{word}");
            assert!((0.0..=1.0).contains(&word["probability"].as_f64().expect("a probability")));
        }
        let pieces = object["pieces"].as_array().expect("pieces");
        assert_eq!((pieces.len(), &pieces[0]["text"]), (1, &object["text"]));
    }
}

/// A recording is cut at its pauses, and what is heard in its pieces is put together, in time.
#[test]
fn long_recordings_are_heard_piece_by_piece() {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, examples) = recordings(folder.path(), 4);
    let long = folder.path().join("long.wav").to_string_lossy().into_owned();
    let longest = examples.iter().map(|example| example.sound.seconds()).fold(0.0, f64::max) + 1.5;
    let object = json(predict(&["--json", "--piece-seconds", &longest.to_string(), &long], None));
    let pieces = object["pieces"].as_array().expect("pieces");
    assert!(pieces.len() >= 3, "{}", pieces.len());
    let mut end = 0.0;
    for piece in pieces {
        let [start, stop] = ["start", "end"].map(|key| piece[key].as_f64().expect("a time"));
        assert!((start - end).abs() < 0.002 && stop - start <= longest + 0.001, "{piece}");
        end = stop;
    }
    let starts =
        object["words"].as_array().expect("words").iter().map(|word| word["start"].as_f64().expect("a time"));
    let starts: Vec<f64> = starts.collect();
    assert!(starts.iter().any(|start| *start > pieces[1]["start"].as_f64().expect("a time")));
    let together: Vec<&str> = pieces.iter().filter_map(|piece| piece["text"].as_str()).collect();
    assert_eq!(object["text"], Value::from(together.join(" ").trim()));
    let said = refused(predict(&["--piece-seconds", "20", &files[0], "missing.wav"], None));
    assert!(said.contains("missing.wav: the recording is not there"), "{said}");
}

#[test]
fn what_is_no_recording_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.wav");
    fs::write(&path, "these are notes, but no sound").expect("written");
    let said = refused(run(gatto(&["predict"]).arg(listener()).arg(&path), None));
    assert!(said.contains("notes.wav: is no WAV, FLAC, Ogg Vorbis or MP3 file"), "{said}");
    Sound { samples: vec![0.0; 9_000], rate: 8_000 }.write_wav(&path).expect("written");
    assert_eq!(written(run(gatto(&["predict"]).arg(listener()).arg(&path), None)), "\n", "nothing is said");
    for flags in [&["--n-best", "2"][..], &["--alignment"], &["--sample"], &["--prefix", "c4"]] {
        let said = refused(predict(&[flags, &["melodies/test/0"]].concat(), None));
        assert!(said.contains("a recording is heard in pieces"), "{said}");
    }
    let said = refused(predict(&[], Some(b"RIFF but nothing behind it")));
    assert!(said.contains("standard input"), "{said}");
}

#[test]
fn transcripts_are_measured_by_error_rates_and_onsets() {
    let evaluate = |arguments: &[&str]| run(gatto(&["evaluate"]).arg(listener()).args(arguments), None);
    let report = json(evaluate(&["--json", "--examples", "40"]));
    assert_eq!(report["examples"], 40);
    let figure =
        |key: &str| report["figures"][key]["value"].as_f64().unwrap_or_else(|| panic!("{key}: {report}"));
    assert!((0.0..=150.0).contains(&figure("wer")));
    assert!((0.0..=100.0).contains(&figure("onsets_within_50_ms")));
    assert!(figure("onset_lateness_ms").abs() < 5_000.0);
    let shown = written(evaluate(&["--examples", "40", "--by", "speaker", "--worst", "1"]));
    for part in ["WER", "exact match", "begins within 50 ms", "by speaker:", "organ"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // A list, of which nobody knows when the words sound.
    let folder = tempfile::tempdir().expect("a folder");
    let (_, examples) = recordings(folder.path(), 3);
    let lines = examples.iter().enumerate().map(|(n, example)| format!("{n}.wav\t{}\n", example.said.text));
    let list = folder.path().join("list.tsv");
    fs::write(&list, lines.collect::<String>()).expect("written");
    let report = json(evaluate(&["--json", "--data", list.to_str().expect("a name")]));
    assert_eq!(report["examples"], 3);
    assert!(report["figures"].get("onsets_within_50_ms").is_none(), "{report}");
    let list = list.to_str().expect("a name");
    let report =
        json(evaluate(&["--json", "--data", list, "--join", "2:3", "--examples", "5", "--worst", "5"]));
    assert_eq!(report["examples"], 5);
    let joined = report["worst"].to_string();
    assert!(joined.contains(".wav + "), "{joined}");
    for (flags, told) in [
        (&["--noise", "typos"][..], "reads sounds"),
        (&["--data", list, "--join", "3:2"], "--join"),
        (&["--by", "2"], "write --by speaker"),
        (&["--source", "a", "--target", "b"], "give --data FILE"),
        (&["--part", "unseen"], "for images"),
    ] {
        let said = refused(evaluate(flags));
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn a_model_that_hears_says_so() {
    let shown = written(run(gatto(&["info"]).arg(listener()), None));
    assert!(shown.starts_with("encoder: listener: "), "{shown}");
    assert!(shown.contains("sounds       8000 samples a second, 32 bands every 20 ms"), "{shown}");
    let report = json(run(gatto(&["info", "--json"]).arg(listener()), None));
    assert_eq!((&report["task"], &report["sound"]["rate"]), (&Value::from("transcribe"), &Value::from(8000)));
}

#[test]
fn pictures_of_what_was_heard() {
    let folder = tempfile::tempdir().expect("a folder");
    let look = |arguments: &[&str]| run(gatto(&["look"]).arg(listener()).args(arguments), None);
    let drawn = written(look(&["melodies/test/0"]));
    assert!(drawn.starts_with("melodies/test/0 → ") && drawn.contains("0 s"), "{drawn}");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for name in ["a.svg", "a.png", "a.html"] {
        assert_eq!(written(look(&["melodies/test/0", "-o", &at(name)])), "");
    }
    assert_eq!(names(folder.path()), ["a.html", "a.png", "a.svg"]);
    let page = fs::read_to_string(at("a.html")).expect("a page");
    assert!(page.contains("data:audio/wav;base64,") && page.contains("media-src data:"));
    let svg = fs::read_to_string(at("a.svg")).expect("a picture");
    assert!(svg.contains("when it sounds"), "a melody knows its notes");
    let given = written(look(&["melodies/test/0", "--target", "c4 d4"]));
    assert!(given.contains("→ c4 d4") && given.contains("\n  c4 "), "{given}");
    let tree = written(look(&["melodies/test/0", "--tree", "--beam", "2"]));
    assert!(tree.starts_with("melodies/test/0 → "), "{tree}");
    let said = refused(run(gatto(&["explain-report"]).arg(listener()), None));
    assert!(said.contains("reads sounds, which are not explained"), "{said}");
    let said = refused(look(&["melodies/test/0", "--words"]));
    assert!(said.contains("--words is for texts or images"), "{said}");
    let said = refused(look(&["nothing.wav"]));
    assert!(said.contains("nothing.wav: the recording is not there"), "{said}");
}

#[test]
fn transcripts_that_are_given_have_a_probability() {
    let folder = tempfile::tempdir().expect("a folder");
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    fs::write(&source, "melodies/test/0\nmelodies/test/0\n").expect("written");
    fs::write(&target, format!("{}\nb5 b5 b5\n", melody(0).said.text)).expect("written");
    let mut command = gatto(&["score"]);
    command.arg(listener()).arg("--source").arg(&source).arg("--target").arg(&target);
    let found = run(&mut command, None);
    let scores: Vec<f64> =
        written(found).lines().map(|line| line.parse().unwrap_or_else(|_| panic!("{line}"))).collect();
    assert!(scores.len() == 2 && scores[0] > scores[1] && scores[0] < 0.0, "{scores:?}");
}

#[test]
fn other_models_hear_nothing() {
    let said = refused(run(
        gatto(&["predict"]).arg(crate::models::model()).args(["--piece-seconds", "5"]),
        Some(b"a\n"),
    ));
    assert!(said.contains("--piece-seconds is for models of sounds"), "{said}");
    let output = run(gatto(&["predict"]).arg(crate::models::model()).args(["--piece-seconds", "0"]), None);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}
