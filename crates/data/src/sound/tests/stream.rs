//! Training batches of recordings, and those that are held out.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use super::super::*;
use super::{rustle, tone};
use crate::batch::{Batch, Limits, Sources};
use crate::builtin::melodies::{DrawnMelodies, Melodies};
use crate::stream::{Stream, StreamState};
use crate::tokens::{Kind, Tokenizer, TokenizerPair, TokensConfig};
use crate::{DataError, Part};

fn melodies(count: u64) -> Arc<dyn SoundSet> {
    let task = Melodies::new(8_000).unwrap();
    Arc::new(DrawnMelodies { task, part: Part::Train, seed: 3, count })
}

fn tokens(set: &dyn SoundSet) -> Arc<Tokenizer> {
    let config = TokensConfig { kind: Kind::Word, ..TokensConfig::default() };
    let texts = texts_of(set, u64::MAX).unwrap();
    let mut said = crate::OneSide::new(Box::new(texts), crate::Side::Target);
    TokenizerPair::train(&config, &mut said).unwrap().target
}

fn hearing(set: &dyn SoundSet) -> Hearing {
    let preparation = Preparation {
        rate: 8_000,
        features: LogMel { bands: 20, ..LogMel::default() },
        augmentation: Augmentation { speed: 10, noise: 0.5, time_masks: 1, ..Augmentation::default() },
        ..Preparation::default()
    };
    let preparer = Arc::new(Preparer::new(preparation, None).unwrap());
    Hearing { preparer, cache: None, tokens: tokens(set) }
}

fn settings() -> SoundStreamSettings {
    SoundStreamSettings {
        seed: 1,
        pool: 16,
        limits: Limits { batch_tokens: Some(1_500), batch_examples: Some(6) },
        max_length: 100,
        skip_bad: false,
        ahead: AheadSettings::default(),
    }
}

fn stream(set: &Arc<dyn SoundSet>, settings: SoundStreamSettings, state: StreamState) -> SoundStream {
    SoundStream::resume(set.clone(), hearing(&**set), settings, state).unwrap()
}

fn heard(batch: &Batch) -> &SoundBatch {
    match &batch.source {
        Sources::Sound(sounds) => sounds,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pass_has_every_recording_once_and_batches_hold_the_limits() {
    let set = melodies(40);
    let mut stream = stream(&set, settings(), StreamState::default());
    let mut orders = Vec::new();
    for epoch in 0..2 {
        let mut seen = Vec::new();
        while seen.len() < 40 {
            let batch = stream.next().unwrap();
            assert_eq!(stream.epoch(), epoch);
            let sounds = heard(&batch);
            assert!(batch.rows() <= 6 && (sounds.rows * sounds.frames <= 1_500 || batch.rows() == 1));
            let shortest = sounds.lengths.iter().min().unwrap();
            assert!(batch.rows() == 1 || sounds.frames <= 3 * shortest, "{:?}", sounds.lengths);
            seen.extend(batch.indices.clone());
        }
        orders.push(seen.clone());
        seen.sort_unstable();
        assert_eq!(seen, (0..40).collect::<Vec<_>>());
    }
    assert_ne!(orders[0], orders[1]);
}

#[test]
fn a_resumed_stream_goes_on_with_the_same_batches() {
    let set = melodies(40);
    let mut whole = stream(&set, settings(), StreamState::default());
    let mut states = vec![whole.state()];
    let mut batches = Vec::new();
    for _ in 0..30 {
        batches.push(whole.next().unwrap());
        states.push(whole.state());
    }
    assert!(whole.epoch() >= 2);
    for from in [0, 1, 5, 7, 13, 22] {
        let text = serde_json::to_string(&states[from]).unwrap();
        let mut resumed = stream(&set, settings(), serde_json::from_str(&text).unwrap());
        for (number, batch) in batches.iter().enumerate().skip(from).take(6) {
            assert_eq!(resumed.next().unwrap(), *batch, "{number} from {from}");
            assert_eq!(resumed.state(), states[number + 1]);
        }
    }
    let wrong = StreamState { next_batch: 1_000, ..StreamState::default() };
    let error = SoundStream::resume(set.clone(), hearing(&*set), settings(), wrong).err().unwrap();
    assert!(matches!(error, DataError::Position { .. }), "{error}");
    let wrong = StreamState { pool: 9, ..StreamState::default() };
    let error = SoundStream::resume(set.clone(), hearing(&*set), settings(), wrong).err().unwrap();
    assert!(matches!(error, DataError::Position { .. }), "{error}");
}

/// A folder of recordings, of which one is broken, one silent, one too long and one has a long text.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for number in 0..6 {
        tone(8_000, 300.0 + 50.0 * f64::from(number), 0.3 + 0.1 * f64::from(number))
            .write_wav(&at(&format!("{number}.wav")))
            .unwrap();
    }
    let whole = tone(8_000, 400.0, 0.5).wav();
    fs::write(at("broken.wav"), &whole[..whole.len() / 2]).unwrap();
    Sound { samples: vec![0.0; 4_000], rate: 8_000 }.write_wav(&at("silent.wav")).unwrap();
    tone(8_000, 400.0, 8.0).write_wav(&at("long.wav")).unwrap();
    let good: String = (0..6).map(|number| format!("{number}.wav\tgood {number}\n")).collect();
    let text = "so many words that nobody learns from them all";
    let list = format!("{good}broken.wav\tbad\nsilent.wav\tbad\nlong.wav\ttoo long\n0.wav\t{text}\n");
    fs::write(at("list.tsv"), list).unwrap();
    folder
}

fn files(folder: &tempfile::TempDir, skip_bad: bool) -> Arc<dyn SoundSet> {
    let limits = SoundLimits { seconds: 5.0, ..SoundLimits::default() };
    let list = SoundList::new(folder.path(), folder.path().join("list.tsv"));
    Arc::new(SoundFiles::open(SoundList { skip_bad, limits, rate: 8_000, ..list }).unwrap())
}

#[test]
fn what_is_too_long_is_an_error_with_its_name_or_left_out() {
    let folder = folder();
    let error = Measured::new(files(&folder, false), 5.0, None).err().unwrap().to_string();
    assert!(error.contains("list.tsv, line 9") && error.contains("long.wav"), "{error}");
    assert!(error.contains("is 8.0 seconds long, but no more than 5 seconds"), "{error}");
    let mut skipped = Skipped::default();
    let set = Measured::new(files(&folder, true), 5.0, Some(&mut skipped)).unwrap();
    assert_eq!((set.len(), skipped.total(), skipped.count(Reason::TooLarge)), (9, 1, 1));
    assert_eq!((set.name(8), set.said(5).unwrap().text.as_str()), ("0.wav".into(), "good 5"));
    assert!((set.seconds(2).unwrap().unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn bad_recordings_are_errors_or_counted_and_the_rest_is_learnt_from() {
    let folder = folder();
    let mut skipped = Skipped::default();
    let set: Arc<dyn SoundSet> =
        Arc::new(Measured::new(files(&folder, true), 5.0, Some(&mut skipped)).unwrap());
    let lenient = SoundStreamSettings { skip_bad: true, max_length: 4, ..settings() };
    let mut found = stream(&set, lenient.clone(), StreamState::default());
    let mut seen = Vec::new();
    while found.epoch() == 0 {
        let batch = found.next().unwrap();
        if found.epoch() == 0 {
            seen.extend(batch.indices);
            assert!(found.skipped() <= 2 && found.dropped() <= 1);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    // Resumed behind what was passed over, the counts are those of the whole pass.
    let mut again = stream(&set, lenient.clone(), StreamState::default());
    let (mut before, mut counts) = (again.state(), (0, 0));
    while again.epoch() == 0 {
        (before, counts) = (again.state(), (again.skipped(), again.dropped()));
        again.next().unwrap();
    }
    assert_eq!(stream(&set, lenient.clone(), before).state().dropped, counts.1);
    assert_eq!(counts, (2, 1));
    let strict = SoundStreamSettings { skip_bad: false, ..lenient.clone() };
    let mut found = stream(&set, strict, StreamState::default());
    let error = (0..9).find_map(|_| found.next().err()).unwrap();
    assert!(matches!(error, DataError::Sound(_)), "{error}");
    // A pass that gives nothing is an end, not a loop.
    let none = SoundStreamSettings { max_length: 1, ..lenient };
    let error = stream(&set, none, StreamState::default()).next().unwrap_err();
    assert!(matches!(error, DataError::NoExamples { skipped: 2, too_long: 7, .. }), "{error}");
}

#[test]
fn held_recordings_are_the_same_each_time_and_know_their_texts() {
    let folder = folder();
    let set = files(&folder, true);
    let hearing = hearing(&*set);
    let limits = Limits { batch_tokens: Some(10_000), batch_examples: Some(4) };
    let held = HeldSounds::new(set.clone(), hearing.clone(), 0..100, &limits, true).unwrap();
    let (held, long) = held.no_longer_than(4);
    assert_eq!((held.text(3), long), ("good 3", 1));
    let mut seen: Vec<u64> = Vec::new();
    for number in 0..held.len() {
        let batch = held.batch(number).unwrap();
        assert_eq!(batch, held.batch(number).unwrap());
        seen.extend(batch.map(|batch| batch.indices).unwrap_or_default());
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    let strict = HeldSounds::new(set, hearing, 6..7, &limits, false).unwrap();
    assert!(strict.batch(0).is_err());
}

fn spoken() -> Arc<dyn SoundSet> {
    let example = |number: usize| SoundExample {
        name: format!("{number}"),
        sound: Sound { samples: rustle(400 + 100 * number, number as u64), rate: 8_000 },
        said: Transcript {
            speaker: Some(["anna", "bo"][number % 2].to_owned()),
            ..Transcript::new(["zero", "one", "two", "three", "four"][number % 5])
        },
    };
    Arc::new((0..10).map(example).collect::<Vec<_>>())
}

#[test]
fn joined_recordings_are_of_one_speaker_and_know_when_their_words_are() {
    let join = JoinConfig { least: 2, most: 4, pause: 0.1, ..JoinConfig::default() };
    let joined = Joined::new(spoken(), join, 7, 200).unwrap();
    let again = Joined::new(spoken(), join, 7, 200).unwrap();
    let other = Joined::new(spoken(), join, 8, 200).unwrap();
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    let mut differ = 0;
    for index in 0..joined.len() {
        let found = joined.get(index).unwrap();
        assert_eq!(found, again.get(index).unwrap());
        differ += usize::from(found.said.text != other.said(index).unwrap().text);
        let words: Vec<&str> = found.said.text.split(' ').collect();
        *lengths.entry(words.len()).or_default() += 1;
        let said = joined.said(index).unwrap();
        assert_eq!((&said.text, &said.speaker), (&found.said.text, &found.said.speaker));
        assert!((joined.seconds(index).unwrap().unwrap() - found.sound.seconds()).abs() < 0.001);
        let parts: Vec<usize> = found.name.split(" + ").map(|name| name.parse().unwrap()).collect();
        assert!(parts.iter().all(|part| part % 2 == parts[0] % 2), "{}", found.name);
        let mut end = 0.0;
        for (mention, part) in found.said.mentions.iter().zip(&parts) {
            assert!(mention.start >= end && mention.start <= end + 0.1);
            end = mention.end;
            let place = (mention.start * 8_000.0).round() as usize;
            let own = rustle(400 + 100 * part, *part as u64);
            assert_eq!(found.sound.samples[place..place + own.len()], own);
        }
        assert_eq!(found.said.mentions.len(), words.len());
        assert!((end - found.sound.seconds()).abs() < 1e-9, "no pause behind the last");
    }
    assert_eq!(lengths.keys().copied().collect::<Vec<_>>(), [2, 3, 4]);
    assert!(differ > 150, "{differ}");
    for (change, key) in [
        (JoinConfig { most: 0, ..join }, "data.join.most"),
        (JoinConfig { least: 5, ..join }, "data.join.least"),
        (JoinConfig { pause: f64::NAN, ..join }, "data.join.pause"),
        (JoinConfig { examples: 0, ..join }, "data.join.examples"),
    ] {
        assert!(change.validate().unwrap_err().to_string().contains(key));
    }
}

#[test]
fn statistics_are_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let statistics = Statistics { mean: vec![0.1, -2.5], deviation: vec![1.0, 0.3] };
    assert!(Statistics::load(folder.path()).unwrap_err().to_string().contains("sound.json"));
    statistics.save(folder.path()).unwrap();
    assert_eq!(Statistics::load(folder.path()).unwrap(), statistics);
    for bad in ["", "{}", "{\"mean\": [1], \"deviation\": [1], \"more\": 1}", "[1, 2]"] {
        fs::write(folder.path().join(Statistics::FILE), bad).unwrap();
        let error = Statistics::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("train again"), "{error}");
    }
}

#[test]
fn weights_tell_when_something_is_heard() {
    let line = Timeline { places: 6, step: 0.1, start: -0.05 };
    let near = |found: Option<(f64, f64)>, expected: (f64, f64)| {
        let found = found.unwrap();
        assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9, "{found:?}");
    };
    near(line.heard(&[0.0, 0.1, 0.9, 0.0, 0.0, 0.0]), (0.2, 0.25));
    near(line.heard(&[0.0, 0.3, 0.4, 0.25, 0.05, 0.0]), (0.1, 0.35));
    // What is apart from the peak does not count, and of equals the first does.
    near(line.heard(&[0.3, 0.0, 0.4, 0.0, 0.4, 0.0]), (0.2, 0.25));
    near(line.heard(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), (0.0, 0.05));
    assert_eq!(line.heard(&[0.0; 6]), None);
    assert_eq!(line.heard(&[]), None);
}
