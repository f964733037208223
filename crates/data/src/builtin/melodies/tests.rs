//! Melodies are what they say, and every machine hears the same.

use std::collections::{BTreeMap, HashSet};

use super::*;
use crate::sound::{Sound, decode_bytes};

const PARTS: [Part; 3] = [Part::Train, Part::Valid, Part::Test];

fn task() -> Melodies {
    Melodies::new(8_000).unwrap()
}

fn melodies(part: Part, count: u64) -> Vec<Melody> {
    (0..count).map(|index| task().melody(7, part, index).unwrap()).collect()
}

#[test]
fn an_example_depends_on_nothing_but_seed_part_and_index() {
    for part in PARTS {
        let set = DrawnMelodies { task: task(), part, seed: 3, count: 20 };
        let forward: Vec<SoundExample> = (0..set.len()).map(|index| set.get(index).unwrap()).collect();
        let backward: Vec<SoundExample> = (0..set.len()).rev().map(|index| set.get(index).unwrap()).collect();
        assert!(forward.iter().eq(backward.iter().rev()));
        let other = DrawnMelodies { seed: 4, ..set };
        assert_ne!(forward[0].sound, other.get(0).unwrap().sound);
        assert_ne!(set.identity(0).unwrap(), other.identity(0).unwrap());
        assert_ne!(set.identity(0).unwrap(), set.identity(1).unwrap());
        for (index, example) in (0..).zip(&forward) {
            assert_eq!(set.said(index).unwrap(), example.said);
            assert_eq!(set.seconds(index).unwrap().unwrap(), example.sound.seconds());
            assert_eq!(set.name(index), example.name);
        }
    }
}

/// These values are for ever: published figures rest on them.
#[test]
fn melodies_never_change() {
    let example = task().example(1, Part::Train, 0).unwrap();
    let sum = example.sound.samples.iter().fold(0, |sum, sample| mixed(sum, u64::from(sample.to_bits())));
    assert_eq!((example.said.text.as_str(), sum), (TEXT, SAMPLES));
}

const TEXT: &str = "e5 as4 f5 ds5 as4 d5 a4 d5";
const SAMPLES: u64 = 18021754441065655153;

#[test]
fn parts_share_no_text_even_with_different_seeds() {
    let texts = |part: Part, seed: u64| -> HashSet<String> {
        (0..1_000).map(|index| task().melody(seed, part, index).unwrap().text()).collect()
    };
    let [train, valid, test] = [texts(Part::Train, 1), texts(Part::Valid, 2), texts(Part::Test, 3)];
    assert!(train.is_disjoint(&valid) && train.is_disjoint(&test) && valid.is_disjoint(&test));
    assert!(train.len() > 980, "few come twice: {}", train.len());
    // Even the 24 melodies of one note reach all parts.
    let short = task().with_notes(LengthRange { min: 1, max: 1 }).unwrap();
    for part in PARTS {
        assert_eq!(part_of(&short.melody(1, part, 0).unwrap().text()), part);
    }
}

#[test]
fn everything_that_may_be_is() {
    let all = melodies(Part::Train, 3_000);
    let mut lengths = BTreeMap::new();
    let (mut pitches, mut timbres, mut noises, mut tunings) =
        (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), HashSet::new());
    let (mut rests, mut overlaps, mut again, mut pairs) = (0, 0, 0, 0);
    for melody in &all {
        *lengths.entry(melody.notes.len()).or_insert(0) += 1;
        *timbres.entry(melody.timbre.name()).or_insert(0) += 1;
        *noises.entry(melody.noise.map(|noise| noise as usize)).or_insert(0) += 1;
        tunings.insert(melody.tuning);
        assert!((50..=450).contains(&melody.loudness) && melody.tuning.abs() <= 20);
        for note in &melody.notes {
            *pitches.entry(note.pitch).or_insert(0) += 1;
            assert!(note.start < note.release && note.release < note.end && note.end < melody.length);
            assert!((110..=1_060).contains(&(note.end - note.start)) && (70..=100).contains(&note.accent));
        }
        for pair in melody.notes.windows(2) {
            pairs += 1;
            rests += u32::from(pair[0].end < pair[1].start && pair[0].pitch != pair[1].pitch);
            overlaps += u32::from(pair[0].end > pair[1].start);
            if pair[0].pitch == pair[1].pitch {
                again += 1;
                assert!(pair[0].end + 10 <= pair[1].start, "the same note is heard twice");
            }
            assert!(pair[0].start < pair[1].start && pair[0].release <= pair[1].start);
        }
    }
    assert_eq!(lengths.keys().copied().collect::<Vec<_>>(), (3..=8).collect::<Vec<_>>());
    assert!(lengths.values().all(|count| (420..580).contains(count)), "{lengths:?}");
    assert!(pitches.len() == Pitch::COUNT && pitches.values().all(|count| *count > 200), "{pitches:?}");
    assert!(timbres.len() == 5 && timbres.values().all(|count| (500..700).contains(count)), "{timbres:?}");
    assert!(noises.len() == 4 && noises.values().all(|count| *count > 500), "{noises:?}");
    assert!(tunings.len() == 41);
    let share = |count: u32| f64::from(count) / f64::from(pairs);
    assert!((0.1..0.25).contains(&share(rests)) && share(overlaps) > 0.5 && again > 100);
}

#[test]
fn names_are_one_word_each_and_found_again() {
    let names: Vec<String> = Pitch::all().map(|pitch| pitch.to_string()).collect();
    assert_eq!((names[0].as_str(), names[13].as_str(), names[23].as_str()), ("c4", "cs5", "b5"));
    assert_eq!(crate::words::split(&names.join(" ")), names, "a word is a note");
    for pitch in Pitch::all() {
        assert_eq!(Pitch::named(&pitch.to_string()), Some(pitch));
    }
    assert_eq!(Pitch::named("h4"), None);
    let hertz: Vec<f64> = Pitch::all().map(Pitch::hertz).collect();
    assert!(hertz.windows(2).all(|pair| (pair[1] / pair[0] - 2f64.powf(1.0 / 12.0)).abs() < 1e-12));
    assert!((Pitch::named("a5").unwrap().hertz() - 880.0).abs() < 1e-9);
}

/// How strong a frequency is in a stretch of a sound, in milliseconds, under a window.
fn strength(sound: &Sound, hertz: f64, start: u32, end: u32) -> f64 {
    let at = |milliseconds: u32| milliseconds as usize * sound.rate as usize / 1000;
    let part = &sound.samples[at(start)..at(end)];
    let (mut real, mut imaginary) = (0.0, 0.0);
    for (n, sample) in part.iter().enumerate() {
        let window = 0.5 - 0.5 * (std::f64::consts::TAU * n as f64 / part.len() as f64).cos();
        let angle = std::f64::consts::TAU * hertz * n as f64 / f64::from(sound.rate);
        real += window * f64::from(*sample) * angle.cos();
        imaginary += window * f64::from(*sample) * angle.sin();
    }
    (real * real + imaginary * imaginary).sqrt() / part.len() as f64
}

#[test]
fn each_note_sounds_when_it_says_and_no_other_does() {
    let mut heard = 0;
    for melody in melodies(Part::Test, 150) {
        let sound = melody.played(8_000);
        for (place, note) in melody.notes.iter().enumerate() {
            // Without what overlaps, and long enough to tell neighbours apart.
            let from = place.checked_sub(1).map_or(note.start, |last| melody.notes[last].end.max(note.start));
            let to = note.release;
            if to < from + 150 {
                continue;
            }
            heard += 1;
            let loudest = Pitch::all()
                .max_by(|a, b| {
                    strength(&sound, a.hertz(), from, to).total_cmp(&strength(&sound, b.hertz(), from, to))
                })
                .unwrap();
            assert_eq!(loudest, note.pitch, "note {place} of {melody:?}");
        }
    }
    assert!(heard > 400, "{heard}");
}

#[test]
fn between_notes_there_is_silence_or_noise_of_the_loudness_told() {
    for melody in melodies(Part::Train, 200) {
        let sound = melody.played(8_000);
        let quiet = |from: u32, to: u32| {
            let samples = sound.samples[from as usize * 8..to as usize * 8].to_vec();
            Sound { samples, rate: 8_000 }.loudness()
        };
        let loudest = melody.loudness as f32 / 1000.0;
        let expected = match melody.noise {
            None => 0.0,
            Some(Noise::Faint) => 0.01,
            Some(Noise::Soft) => 0.0316,
            Some(Noise::Loud) => 0.1,
        } * loudest
            * (4.0f32 / 12.0).sqrt();
        for (from, to) in
            [(0, melody.notes[0].start), (melody.notes[melody.notes.len() - 1].end, melody.length)]
        {
            let found = quiet(from, to);
            assert!((found - expected).abs() < 0.2 * expected + 2e-5, "{found} {expected}: {melody:?}");
        }
        let most = sound.samples.iter().fold(0.0f32, |most, sample| most.max(sample.abs()));
        assert!(most < 0.99 && most > 0.3 * loudest, "{most} {loudest}");
        assert!(!sound.is_silent());
        assert_eq!(sound.seconds(), f64::from(melody.length) / 1000.0);
    }
}

#[test]
fn other_rates_play_the_same_melody() {
    let high = Melodies::new(16_000).unwrap();
    for index in 0..20 {
        let (low, high) =
            (task().melody(1, Part::Valid, index).unwrap(), high.melody(1, Part::Valid, index).unwrap());
        assert_eq!(low, high);
        let (low, high) = (low.played(8_000), high.played(16_000));
        assert_eq!(low.samples.len() * 2, high.samples.len());
        let ratio = high.loudness() / low.loudness();
        assert!((0.9..1.2).contains(&ratio), "{ratio}");
    }
    for rate in [0, 7_000, 8_500, 49_000, 96_000] {
        assert_eq!(Melodies::new(rate).unwrap_err(), MelodiesError::Rate { rate });
    }
    for (min, max) in [(0, 3), (4, 3), (1, 101)] {
        assert!(task().with_notes(LengthRange { min, max }).is_err());
    }
}

#[test]
fn a_wav_file_holds_it_to_the_last_bit() {
    let example = task().example(1, Part::Test, 3).unwrap();
    let read = decode_bytes(example.sound.wav(), &Default::default(), &Default::default()).unwrap();
    assert_eq!(read, example.sound);
    crate::sound::Preparer::new(task().preparation(), None).unwrap();
}
