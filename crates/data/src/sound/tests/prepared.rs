//! From a recording to a batch.

use std::fs;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::*;
use super::{rustle, tone};
use crate::DataError;
use crate::builtin::melodies::{DrawnMelodies, Melodies};

fn plain() -> Preparation {
    let features = LogMel { bands: 20, ..LogMel::default() };
    Preparation { rate: 8_000, features, normalisation: Normalisation::None, ..Preparation::default() }
}

fn changed() -> Preparation {
    let augmentation = Augmentation {
        speed: 10,
        noise: 0.5,
        time_masks: 2,
        band_masks: 2,
        band_width: 5,
        ..Augmentation::default()
    };
    Preparation { augmentation, ..plain() }
}

fn sound(seed: u64) -> Sound {
    Sound { samples: rustle(6_000, seed), rate: 8_000 }
}

fn draw(epoch: u64, example: u64) -> Draw {
    Draw { seed: 1, epoch, example }
}

#[test]
fn frames_know_their_time() {
    let preparer = Preparer::new(plain(), None).unwrap();
    let mut sound = Sound { samples: vec![0.0; 8_000], rate: 8_000 };
    sound.samples[4_800] = 1.0; // at 0.6 s
    let frames = preparer.prepare(&sound, None).frames;
    assert_eq!((frames.len(), frames.bands, frames.hop), (101, 20, 0.01));
    let loudest =
        (0..frames.len()).max_by(|a, b| frames.frame(*a)[5].total_cmp(&frames.frame(*b)[5])).unwrap();
    let timeline = frames.timeline();
    assert_eq!((loudest, timeline.place(0.6)), (60, 60));
    let (start, end) = timeline.stretch(60);
    assert!((start - 0.595).abs() < 1e-9 && (end - 0.605).abs() < 1e-9);
    assert_eq!((timeline.place(-5.0), timeline.place(100.0)), (0, 100));
    let shares = timeline.covered((0.595, 0.620));
    let expected = [(59, 0.0), (60, 1.0), (61, 1.0), (62, 0.5), (63, 0.0)];
    assert!(expected.iter().all(|(place, share)| (shares[*place] - share).abs() < 1e-6), "{shares:?}");
    // Four frames in one place, as a pyramid makes them.
    let joined = timeline.joined(4);
    assert_eq!((joined.places, joined.place(0.6)), (26, 15));
    let all: f64 = joined.covered((0.1, 0.5)).iter().map(|share| f64::from(*share) * joined.step).sum();
    assert!((all - 0.4).abs() < 1e-6);
}

#[test]
fn changes_depend_on_seed_epoch_and_example_alone() {
    let preparer = Preparer::new(changed(), None).unwrap();
    let sound = sound(1);
    let unchanged = preparer.prepare(&sound, None);
    assert_eq!(unchanged, Preparer::new(plain(), None).unwrap().prepare(&sound, None), "none without a draw");
    let first = preparer.prepare(&sound, Some(draw(0, 3)));
    assert_eq!(first, preparer.prepare(&sound, Some(draw(0, 3))));
    assert_ne!(first, unchanged);
    assert_ne!(first, preparer.prepare(&sound, Some(draw(1, 3))));
    assert_ne!(first, preparer.prepare(&sound, Some(draw(0, 4))));
    assert_ne!(first, preparer.prepare(&sound, Some(Draw { seed: 2, ..draw(0, 3) })));
}

#[test]
fn speeds_are_three_and_as_often() {
    let preparer = Preparer::new(changed(), None).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for example in 0..3_000 {
        *counts.entry(preparer.speed(Some(draw(0, example)))).or_insert(0) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [90, 100, 110]);
    assert!(counts.values().all(|count| (900..1_100).contains(count)), "{counts:?}");
    assert_eq!(preparer.speed(None), 100);
    let only = Augmentation { speed: 10, ..Augmentation::default() };
    let preparer = Preparer::new(Preparation { augmentation: only, ..plain() }, None).unwrap();
    let sound = sound(2);
    for example in 0..10 {
        let Prepared { frames, speed } = preparer.prepare(&sound, Some(draw(0, example)));
        assert_eq!(frames, preparer.features(&sound, speed));
        assert_eq!(frames.len(), 1 + 6_000 * 100 / speed as usize / 80);
    }
    let mention = Mention { word: 0, start: 0.9, end: 1.8 };
    assert_eq!(at_speed(&mention, 90), Mention { word: 0, start: 1.0, end: 2.0 });
}

#[test]
fn noise_is_as_loud_and_as_often_as_told() {
    let sound = tone(8_000, 440.0, 1.0);
    for (decibels, chance) in [(0.0f32, 1.0f32), (10.0, 1.0), (30.0, 0.25)] {
        let augmentation = Augmentation {
            noise: chance,
            noise_least: decibels,
            noise_most: decibels,
            ..Augmentation::default()
        };
        // Without a logarithm, powers add up.
        let preparation = Preparation { augmentation, ..plain() };
        let preparer = Preparer::new(preparation, None).unwrap();
        let power = |frames: &Frames| frames.values.iter().map(|value| f64::from(value.exp())).sum::<f64>();
        let before = power(&preparer.prepare(&sound, None).frames);
        let (mut noisy, mut added) = (0, 0.0);
        for example in 0..200 {
            let frames = preparer.prepare(&sound, Some(draw(0, example))).frames;
            assert_eq!(preparer.noisy(Some(draw(0, example))), power(&frames) != before);
            if power(&frames) != before {
                noisy += 1;
                added += power(&frames) / before - 1.0;
            }
        }
        let expected = (200.0 * chance) as i32;
        assert!((noisy - expected).abs() <= 25, "{noisy} of 200 at {chance}");
        // Bands weigh frequencies differently, so that this is the order of magnitude.
        let found = 10.0 * (added / f64::from(noisy)).log10();
        assert!((found + f64::from(decibels)).abs() < 6.0, "{found} for {decibels}");
    }
}

#[test]
fn masks_blot_out_what_they_say_and_nothing_else() {
    let augmentation =
        Augmentation { time_masks: 1, time_width: 200.0, time_share: 0.5, ..Augmentation::default() };
    let time = Preparer::new(Preparation { augmentation, deltas: 1, ..plain() }, None).unwrap();
    let augmentation = Augmentation { band_masks: 1, band_width: 7, ..Augmentation::default() };
    let band = Preparer::new(Preparation { augmentation, deltas: 1, ..plain() }, None).unwrap();
    let sound = sound(3);
    let before = time.prepare(&sound, None).frames;
    let mean = Statistics::of(&before).mean;
    let (mut longest, mut widest) = (0, 0);
    for example in 0..300 {
        let after = time.prepare(&sound, Some(draw(0, example))).frames;
        let gone: Vec<usize> = (0..after.len()).filter(|frame| after.frame(*frame) == mean).collect();
        assert!(gone.windows(2).all(|pair| pair[1] == pair[0] + 1), "one stretch: {gone:?}");
        assert!(
            (0..after.len()).all(|frame| gone.contains(&frame) || after.frame(frame) == before.frame(frame))
        );
        longest = longest.max(gone.len());
        let after = band.prepare(&sound, Some(draw(0, example))).frames;
        let same = |value: usize| (0..after.len()).all(|frame| after.frame(frame)[value] == mean[value]);
        let gone: Vec<usize> = (0..after.bands).filter(|value| same(*value)).collect();
        assert!(gone.len().is_multiple_of(2), "in the values as in their changes");
        let (first, second) = gone.split_at(gone.len() / 2);
        assert!(first.iter().zip(second).all(|(a, b)| a + 20 == *b), "{gone:?}");
        assert!(first.windows(2).all(|pair| pair[1] == pair[0] + 1));
        widest = widest.max(first.len());
    }
    assert_eq!((longest, widest), (20, 7));
}

#[test]
fn normalised_values_have_no_mean_and_deviate_by_one() {
    let preparation = Preparation { normalisation: Normalisation::Utterance, deltas: 2, ..plain() };
    let frames = Preparer::new(preparation, None).unwrap().prepare(&sound(4), None).frames;
    let Statistics { mean, deviation } = Statistics::of(&frames);
    assert_eq!(mean.len(), 60);
    assert!(mean.iter().all(|mean| mean.abs() < 1e-4), "{mean:?}");
    assert!(deviation.iter().all(|deviation| (deviation - 1.0).abs() < 1e-3), "{deviation:?}");
    // Silence is no reason for values without bounds.
    let silent = Sound { samples: vec![0.0; 4_000], rate: 8_000 };
    let frames = Preparer::new(preparation, None).unwrap().prepare(&silent, None).frames;
    assert!(frames.values.iter().all(|value| value.abs() < 1e-2));
}

fn recordings(count: u64) -> Arc<dyn SoundSet> {
    let example = |n: u64| SoundExample {
        name: format!("{n}"),
        sound: Sound { samples: rustle(2_000 + 100 * n as usize, n), rate: 8_000 },
        said: Transcript {
            mentions: vec![Mention { word: 0, start: 0.0, end: 0.1 }],
            ..Transcript::new("a")
        },
    };
    Arc::new((0..count).map(example).collect::<Vec<_>>())
}

#[test]
fn corpus_statistics_are_those_of_all_frames() {
    let set = recordings(5);
    let settings = AheadSettings { threads: 2, waiting: 2 };
    let preparation = Preparation { normalisation: Normalisation::Corpus, deltas: 1, ..plain() };
    let statistics = statistics_of(Arc::clone(&set), preparation, None, u64::MAX, settings, None).unwrap();
    let preparer = Arc::new(Preparer::new(preparation, Some(statistics.clone())).unwrap());
    let mut counted = Counted::default();
    for item in ready(set, (0..5).collect(), preparer, None, None, settings).unwrap() {
        counted.add(&item.unwrap().frames);
    }
    let Statistics { mean, deviation } = counted.statistics();
    assert!(mean.iter().all(|mean| mean.abs() < 1e-4) && deviation.iter().all(|d| (d - 1.0).abs() < 1e-3));

    let error = Preparer::new(preparation, None).err().unwrap().to_string();
    assert!(error.contains("`normalisation`") && error.contains("measure them first"), "{error}");
    let other = Preparation { deltas: 0, ..preparation };
    assert!(Preparer::new(other, Some(statistics)).err().unwrap().to_string().contains("measure them again"));
    let none: Arc<dyn SoundSet> = Arc::new(Vec::<SoundExample>::new());
    let error = statistics_of(none, preparation, None, u64::MAX, settings, Some(&mut Skipped::default()))
        .unwrap_err();
    assert!(error.to_string().contains("no usable recording"), "{error}");
}

#[test]
fn a_pass_is_the_same_whatever_the_threads_and_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Arc::new(FrameCache::open(folder.path().join("new/cache")).unwrap());
    let task = Melodies::new(8_000).unwrap();
    let set: Arc<dyn SoundSet> =
        Arc::new(DrawnMelodies { task, part: crate::Part::Train, seed: 1, count: 12 });
    let preparer = Arc::new(Preparer::new(changed(), None).unwrap());
    let pass = |threads: usize, cache: Option<Arc<FrameCache>>| -> Vec<Ready> {
        let settings = AheadSettings { threads, waiting: 2 };
        let order = shuffled(set.len(), 1, 0);
        let items = ready(Arc::clone(&set), order, Arc::clone(&preparer), cache, Some((1, 0)), settings);
        items.unwrap().collect::<Result<_, _>>().unwrap()
    };
    let first = pass(1, None);
    assert_eq!(first, pass(3, None));
    let noisy = (0..12).filter(|n| preparer.noisy(Some(draw(0, *n)))).count() as u64;
    assert!(noisy > 0 && noisy < 12);
    assert_eq!(first, pass(2, Some(Arc::clone(&cache))), "while it is filled");
    assert_eq!(cache.used(), CacheUse { found: 0, made: 12 - noisy, unwritten: 0 });
    assert_eq!(first, pass(2, Some(Arc::clone(&cache))), "from it");
    assert_eq!(cache.used(), CacheUse { found: 12 - noisy, made: 12 - noisy, unwritten: 0 });
    for Ready { index, speed, said, frames, .. } in first {
        let was = set.said(index).unwrap().mentions[0];
        assert_eq!(said.mentions[0], at_speed(&was, speed));
        let last = said.mentions[said.mentions.len() - 1].end;
        assert!(last <= frames.timeline().stretch(frames.len() - 1).1);
    }
}

#[test]
fn what_is_kept_belongs_to_its_settings_and_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let cache = FrameCache::open(folder.path()).unwrap();
    let sound = sound(7);
    let get = |preparation: Preparation, speed: u32, identity: &str| {
        let preparer = Preparer::new(preparation, None).unwrap();
        cache.get(&preparation, speed, identity, || Ok(preparer.features(&sound, speed))).unwrap()
    };
    let first = get(plain(), 100, "a");
    assert_eq!(get(plain(), 100, "a"), first);
    assert_eq!(cache.used(), CacheUse { found: 1, made: 1, unwritten: 0 });
    // What does not change features does not matter.
    assert_eq!(get(changed(), 100, "a"), first);
    assert_eq!(get(Preparation { normalisation: Normalisation::Utterance, ..plain() }, 100, "a"), first);
    assert_eq!(cache.used().made, 1);
    let features = |change: fn(&mut LogMel)| {
        let mut preparation = plain();
        change(&mut preparation.features);
        preparation
    };
    let others = [
        (features(|mel| mel.bands = 21), 100, "a"),
        (features(|mel| mel.hop = 12.0), 100, "a"),
        (features(|mel| mel.window = 30.0), 100, "a"),
        (features(|mel| mel.transform = Some(300)), 100, "a"),
        (features(|mel| mel.lowest = 50.0), 100, "a"),
        (features(|mel| mel.highest = Some(3_000.0)), 100, "a"),
        (features(|mel| mel.scale = MelScale::Htk), 100, "a"),
        (features(|mel| mel.even = false), 100, "a"),
        (features(|mel| mel.floor = 1e-5), 100, "a"),
        (Preparation { deltas: 1, ..plain() }, 100, "a"),
        (Preparation { rate: 16_000, ..plain() }, 100, "a"),
        (plain(), 90, "a"),
        (plain(), 100, "b"),
    ];
    for (number, (preparation, speed, identity)) in others.into_iter().enumerate() {
        get(preparation, speed, identity);
        assert_eq!(cache.used().made, number as u64 + 2);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 14);
}

#[test]
fn damaged_files_of_a_cache_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = FrameCache::open(folder.path()).unwrap();
    let sound = Sound { samples: rustle(300, 1), rate: 8_000 };
    let preparer = Preparer::new(plain(), None).unwrap();
    let right = preparer.features(&sound, 100);
    let get = || cache.get(&plain(), 100, "a", || Ok(preparer.features(&sound, 100))).unwrap();
    get();
    let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&path).unwrap();
    let mut made = 1;
    let mut damaged: Vec<Vec<u8>> =
        (0..whole.len()).step_by(7).map(|length| whole[..length].to_vec()).collect();
    damaged.extend((0..whole.len()).step_by(11).map(|place| {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        changed
    }));
    for bytes in damaged {
        fs::write(&path, bytes).unwrap();
        assert_eq!(get(), right);
        made += 1;
        assert_eq!(cache.used().made, made);
        assert_eq!(fs::read(&path).unwrap(), whole, "written again");
    }
    assert_eq!(get(), right);
    assert_eq!(cache.used(), CacheUse { found: 1, made, unwritten: 0 });
    // No room: the features are there all the same.
    drop(folder);
    assert_eq!(get(), right);
    assert_eq!(cache.used().unwritten, 1);
}

#[test]
fn a_changed_file_has_another_identity() {
    let folder = tempfile::tempdir().unwrap();
    let (path, list) = (folder.path().join("a.wav"), folder.path().join("list.tsv"));
    fs::write(&list, "a.wav\tone\n").unwrap();
    tone(8_000, 400.0, 0.5).write_wav(&path).unwrap();
    let set = SoundFiles::open(SoundList::new(folder.path(), &list)).unwrap();
    let before = set.identity(0).unwrap().unwrap();
    assert_eq!(set.identity(0).unwrap().unwrap(), before);
    tone(8_000, 500.0, 0.6).write_wav(&path).unwrap();
    let after = set.identity(0).unwrap().unwrap();
    assert_ne!(after, before, "another length");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(100)).unwrap();
    assert_ne!(set.identity(0).unwrap().unwrap(), after, "another time");
    fs::remove_file(&path).unwrap();
    assert_eq!(set.identity(0).unwrap(), None);
}

#[test]
fn batches_are_filled_up_behind() {
    let preparer = Preparer::new(plain(), None).unwrap();
    let frames: Vec<Frames> = (0..3)
        .map(|n| preparer.features(&Sound { samples: rustle(400 + 400 * n, n as u64), rate: 8_000 }, 100))
        .collect();
    let batch = SoundBatch::new(&frames).unwrap();
    assert_eq!((batch.rows, batch.frames, batch.bands), (3, 16, 20));
    assert_eq!(batch.lengths, [6, 11, 16]);
    for (row, frames) in frames.iter().enumerate() {
        assert_eq!(batch.row(row), frames.values);
        let behind = &batch.values[(row * 16 + batch.lengths[row]) * 20..(row + 1) * 16 * 20];
        assert!(behind.iter().all(|value| *value == 0.0));
    }
    assert_eq!(batch.values.len(), 3 * 16 * 20);
    let other = frames[0].with_deltas(1);
    let error = SoundBatch::new([&frames[0], &other]).unwrap_err().to_string();
    assert!(error.contains("recording 2 of the batch has 40 values"), "{error}");
    assert!(SoundBatch::new([]).is_err());
}

#[test]
fn numbers_beyond_the_set_are_refused() {
    let preparer = Arc::new(Preparer::new(plain(), None).unwrap());
    let error =
        ready(recordings(2), vec![0, 2], preparer, None, None, AheadSettings::default()).err().unwrap();
    assert!(error.to_string().contains("recording 2"), "{error}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |key: &str, change: &dyn Fn(&mut Preparation)| {
        let mut preparation = changed();
        change(&mut preparation);
        match Preparer::new(preparation, None).err() {
            Some(DataError::Config { key: found, problem }) => assert_eq!(found, key, "{problem}"),
            other => panic!("{key}: {other:?}"),
        }
    };
    refused("rate", &|p| p.rate = 10);
    refused("deltas", &|p| p.deltas = 3);
    refused("features.window", &|p| p.features.window = 0.0);
    refused("features.window", &|p| p.features.window = f64::NAN);
    refused("features.window", &|p| p.features.window = 1e300);
    refused("features.hop", &|p| p.features.hop = -1.0);
    refused("features.hop", &|p| p.features.hop = 1e9);
    refused("features.bands", &|p| p.features.bands = 0);
    refused("features.bands", &|p| p.features.bands = 1_000); // more than frequencies
    refused("features.transform", &|p| p.features.transform = Some(100));
    refused("features.transform", &|p| p.features.transform = Some(301));
    refused("features.transform", &|p| p.features.transform = Some(1 << 20));
    refused("features.lowest", &|p| p.features.lowest = 4_000.0);
    refused("features.highest", &|p| p.features.highest = Some(4_001.0));
    refused("features.highest", &|p| p.features.highest = Some(f64::NAN));
    refused("features.floor", &|p| p.features.floor = 0.0);
    refused("augmentation.speed", &|p| p.augmentation.speed = 51);
    refused("augmentation.noise", &|p| p.augmentation.noise = 1.5);
    refused("augmentation.noise", &|p| p.augmentation.noise = f32::NAN);
    refused("augmentation.noise_least", &|p| p.augmentation.noise_least = f32::NAN);
    refused("augmentation.noise_most", &|p| p.augmentation.noise_most = 1.0);
    refused("augmentation.time_masks", &|p| p.augmentation.time_masks = 101);
    refused("augmentation.band_masks", &|p| p.augmentation.band_masks = 101);
    refused("augmentation.time_share", &|p| p.augmentation.time_share = 1.1);
    refused("augmentation.time_width", &|p| p.augmentation.time_width = -1.0);
    refused("augmentation.band_width", &|p| p.augmentation.band_width = 21);
    let toml =
        "rate = 8000\nnormalisation = \"corpus\"\n[features]\nscale = \"htk\"\n[augmentation]\nspeed = 10\n";
    let read: Preparation = toml::from_str(toml).unwrap();
    assert_eq!((read.rate, read.features.scale, read.augmentation.speed), (8_000, MelScale::Htk, 10));
    assert!(toml::from_str::<Preparation>("windows = 7").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_recording_can_be_prepared(count in 0usize..3_000, seed: u64, example: u64, rate in 1_000u32..50_000) {
        let preparation = Preparation { deltas: 2, normalisation: Normalisation::Utterance, ..changed() };
        let preparer = Preparer::new(preparation, None).unwrap();
        let sound = Sound { samples: rustle(count, seed), rate };
        let Prepared { frames, .. } = preparer.prepare(&sound, Some(Draw { seed, epoch: 0, example }));
        prop_assert_eq!(frames.bands, preparation.width());
        prop_assert_eq!(frames.is_empty(), count == 0);
        prop_assert!(frames.values.iter().all(|value| value.is_finite()));
    }
}
