//! Files, and hostile ones.

use std::fs;

use super::super::*;
use super::golden::golden;
use super::{rustle, tone};
use crate::sound::recording::header;

fn decoded(bytes: &[u8]) -> Result<Sound, SoundError> {
    decode_bytes(bytes.to_vec(), &Wanted::default(), &SoundLimits::default())
}

fn problem(bytes: &[u8]) -> SoundProblem {
    decoded(bytes).unwrap_err().problem
}

/// A WAV file of 16 bits with the same sound in all channels.
fn wav(samples: &[i16], channels: u16, rate: u32) -> Vec<u8> {
    let mut bytes = header(1, rate, 2, channels, samples.len());
    for sample in samples {
        (0..channels).for_each(|_| bytes.extend(sample.to_le_bytes()));
    }
    bytes
}

#[test]
fn what_is_written_is_read() {
    let samples: Vec<f32> = (-200..200).map(|n| (n * 163) as f32 / 32768.0).collect();
    let sound = Sound { samples, rate: 11_025 };
    assert_eq!(decoded(&sound.wav()).unwrap(), sound);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wav");
    sound.write_wav(&path).unwrap();
    assert_eq!(decode_file(&path, &Wanted::default(), &SoundLimits::default()).unwrap(), sound);
    // What is too loud is cut off, not turned over.
    let loud = Sound { samples: vec![1.5, -1.5, 1.0], rate: 8_000 };
    assert_eq!(decoded(&loud.wav()).unwrap().samples, [32767.0 / 32768.0, -1.0, 32767.0 / 32768.0]);
    assert_eq!((sound.seconds() * 11_025.0).round(), 400.0);
}

#[test]
fn channels_are_mixed_and_rates_are_brought_together() {
    let values: Vec<i16> = (0..3_000).map(|n| (n * 37 % 2_000 - 1_000) as i16).collect();
    let mono = decoded(&wav(&values, 1, 44_100)).unwrap();
    for channels in [2, 3, 6, 24] {
        let mixed = decoded(&wav(&values, channels, 44_100)).unwrap();
        let apart = mono.samples.iter().zip(&mixed.samples).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-7, "{channels}");
    }
    let wanted = Wanted { rate: Some(16_000), part: None };
    let sound = decode_bytes(wav(&values, 2, 44_100), &wanted, &SoundLimits::default()).unwrap();
    assert_eq!((sound.rate, sound.samples.len()), (16_000, 1_089));
    let apart = resampled(&mono.samples, 44_100, 16_000)
        .iter()
        .zip(&sound.samples)
        .all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(apart);
}

#[test]
fn left_and_right_that_differ_make_their_mean() {
    let mut bytes = header(1, 8_000, 2, 2, 2);
    [1_000i16, 3_000, -500, 500].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    assert_eq!(decoded(&bytes).unwrap().samples, [2_000.0 / 32768.0, 0.0]);
}

#[test]
fn content_tells_the_format_whatever_the_name() {
    let folder = tempfile::tempdir().unwrap();
    for file in golden().files {
        let path = folder.path().join("speech.pdf");
        fs::write(&path, file.bytes()).unwrap();
        let info = sound_info(&path, &SoundLimits::default()).unwrap();
        assert_eq!((info.rate, info.channels), (file.rate, file.channels), "{}", file.name);
        let expected = match &file.name[..3] {
            "wav" => SoundFormat::Wav,
            "fla" => SoundFormat::Flac,
            "ogg" => SoundFormat::Ogg,
            _ => SoundFormat::Mp3,
        };
        assert_eq!(info.format, expected);
        let seconds = file.decoded.len() as f64 / f64::from(file.rate);
        let told = info.seconds.unwrap();
        assert!((told - seconds).abs() < 1e-9 || expected == SoundFormat::Mp3, "{}: {told}", file.name);
        let sound = decode_file(&path, &Wanted::default(), &SoundLimits::default()).unwrap();
        assert_eq!(sound.samples.len(), file.decoded.len());
    }
}

#[test]
fn tags_before_the_sound_do_not_matter() {
    let tag = |length: u8| {
        [&b"ID3\x04\0\0\0\0\x01"[..], &[length], &vec![0xff; 128 + usize::from(length)]].concat()
    };
    for file in golden().files.iter().filter(|file| matches!(&*file.name, "mp3" | "flac-16")) {
        let bytes = file.bytes();
        let whole = decoded(&bytes).unwrap();
        for tags in [tag(3), [tag(5), tag(0)].concat()] {
            assert_eq!(decoded(&[tags, bytes.clone()].concat()).unwrap(), whole, "{}", file.name);
        }
        assert!(problem(&tag(9)).to_string().contains("cut short"));
    }
    let mp3 = &golden().files.into_iter().find(|file| file.name == "mp3").unwrap().bytes();
    let behind = [&mp3[..], b"TAG", &[b' '; 125]].concat();
    assert_eq!(decoded(&behind).unwrap(), decoded(mp3).unwrap());
}

#[test]
fn files_cut_short_anywhere_are_errors_or_whole() {
    for file in golden().files {
        let bytes = file.bytes();
        let whole = decoded(&bytes).unwrap();
        let (mut refused, mut shorter) = (0, 0);
        for length in 0..bytes.len() {
            match decoded(&bytes[..length]) {
                // Nothing in an MP3 file needs to tell where it ends.
                Ok(read) if file.name == "mp3" => {
                    shorter += 1;
                    assert!(read.samples.len() <= whole.samples.len());
                }
                Ok(read) => assert!(read == whole && length + 2 >= bytes.len(), "{} {length}", file.name),
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    let told = ["broken", "is no WAV", "is empty", "cannot be decoded", "samples a second"];
                    assert!(told.iter().any(|told| text.contains(told)), "{} {length}: {text}", file.name);
                }
            }
        }
        assert!(refused + shorter + 2 >= bytes.len() && refused > 2, "{}", file.name);
    }
}

#[test]
fn changed_bytes_never_break_the_program() {
    let limits = SoundLimits { bytes: 1 << 20, seconds: 2.0, ..SoundLimits::default() };
    for file in golden().files {
        let bytes = file.bytes();
        let step = (bytes.len() / 700).max(1);
        // Headers byte by byte, the rest here and there.
        for place in (0..bytes.len()).filter(|place| *place < 200 || place % step == 0) {
            for value in [0, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[place] = value;
                if let Ok(sound) = decode_bytes(changed, &Wanted::default(), &limits) {
                    assert!(sound.seconds() <= 2.0 && sound.samples.iter().all(|sample| sample.is_finite()));
                }
            }
        }
    }
}

#[test]
fn files_that_are_none_are_told() {
    assert!(matches!(problem(b""), SoundProblem::Empty));
    assert!(matches!(problem(&wav(&[], 1, 8_000)), SoundProblem::Empty));
    for (bytes, told) in [
        (&b"hello, this is a text\n"[..], "(it looks like text)"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "(it looks like MP4 or M4A)"),
        (b"RIFF\x10\0\0\0AVI LIST", "is no WAV"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\0", "(it is an image)"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "(it is gzipped)"),
        (&[0; 40], "is no WAV"),
    ] {
        let text = decoded(bytes).unwrap_err().to_string();
        assert!(text.contains(told) && text.contains("convert it"), "{text}");
    }
    // MP3 in a RIFF file, as old recorders write it.
    let text = decoded(&header(0x55, 8_000, 2, 1, 100)).unwrap_err().to_string();
    assert!(text.contains("is WAV, but what it holds"), "{text}");
    let mut opus = golden().files.into_iter().find(|file| file.name == "ogg").unwrap().bytes();
    let at = opus.windows(7).position(|bytes| bytes == b"\x01vorbis").unwrap();
    opus[at..at + 7].copy_from_slice(b"OpusHea");
    assert!(decoded(&opus).is_err());

    let folder = tempfile::tempdir().unwrap();
    let read =
        |name: &str| decode_file(&folder.path().join(name), &Wanted::default(), &SoundLimits::default());
    let error = read("missing.wav").unwrap_err();
    assert!(matches!(error.problem, SoundProblem::Missing));
    assert!(error.to_string().contains("missing.wav: the recording is not there"), "{error}");
    assert!(matches!(read("").unwrap_err().problem, SoundProblem::NotAFile));
}

#[test]
fn numbers_that_are_none_are_refused() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut bytes = header(3, 8_000, 4, 1, 3);
        [0.5, bad, 0.25].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        assert!(problem(&bytes).to_string().contains("no numbers"));
    }
}

#[test]
fn limits_are_held_before_memory_is_taken() {
    let sound = tone(8_000, 400.0, 2.0);
    let read = |bytes: Vec<u8>, limits: SoundLimits| decode_bytes(bytes, &Wanted::default(), &limits);
    let limits = SoundLimits::default();
    let error = read(sound.wav(), SoundLimits { seconds: 1.5, ..limits }).unwrap_err();
    assert!(error.to_string().contains("is 2.0 seconds long, but no more than 1.5 seconds"), "{error}");
    assert_eq!(read(sound.wav(), SoundLimits { seconds: 2.0, ..limits }).unwrap().samples.len(), 16_000);
    let error = read(sound.wav(), SoundLimits { bytes: 1_000, ..limits }).unwrap_err();
    assert!(matches!(error.problem, SoundProblem::TooManyBytes { bytes: 32_044, most: 1_000 }));
    let error = read(wav(&[0; 10], 25, 8_000), limits).unwrap_err();
    assert!(matches!(error.problem, SoundProblem::TooManyChannels { channels: 25, most: 24 }), "{error}");
    for rate in [0, 999, 400_000, u32::MAX / 2] {
        assert!(matches!(problem(&wav(&[0; 10], 1, rate)), SoundProblem::Rate { .. }), "{rate}");
    }
    // Two hours, of which the file has nothing: told from the header, not from reading.
    let long = header(1, 16_000, 2, 1, 2 * 3600 * 16_000);
    let error = read(long, limits).unwrap_err();
    assert!(error.to_string().contains("is 7200.0 seconds long"), "{error}");
    assert_eq!(crate::sound::SoundProblem::reason(&error.problem), Some(Reason::TooLarge));
}

#[test]
fn a_stream_that_does_not_know_its_length_is_read_and_bounded() {
    let sound = tone(8_000, 400.0, 1.2);
    let whole = sound.wav();
    // As `ffmpeg` and `sox` write into a pipe, also behind another chunk of an odd length.
    let noted = [&whole[..36], b"note\x03\0\0\0abc\0", &whole[36..]].concat();
    let mut bytes = whole.clone();
    for (file, at) in [(whole, 40), (noted, 52)] {
        for told in [u32::MAX, 0x7fff_f000] {
            bytes = file.clone();
            bytes[4..8].copy_from_slice(&told.saturating_add(at as u32 - 4).to_le_bytes());
            bytes[at..at + 4].copy_from_slice(&told.to_le_bytes());
            assert_eq!(decoded(&bytes).unwrap(), decoded(&sound.wav()).unwrap(), "{told} {at}");
        }
    }
    let limits = SoundLimits { seconds: 0.5, ..SoundLimits::default() };
    let error = decode_bytes(bytes, &Wanted::default(), &limits).unwrap_err();
    assert!(matches!(error.problem, SoundProblem::TooLong { .. }), "{error}");
}

#[test]
fn parts_are_what_they_are_of_the_whole() {
    for file in golden().files {
        let bytes = file.bytes();
        let whole = decoded(&bytes).unwrap();
        let limits = SoundLimits::default();
        let seconds = whole.seconds();
        for (from, to) in [(0.0, 0.5), (0.2, 0.8), (0.5, 1.0), (0.9, 1.5)] {
            let part = Some((from * seconds, to * seconds));
            let read = decode_bytes(bytes.clone(), &Wanted { rate: None, part }, &limits).unwrap();
            let sample = |share: f64| (share * whole.samples.len() as f64).round() as usize;
            let end = sample(to).min(whole.samples.len());
            assert_eq!(read.samples, whole.samples[sample(from)..end], "{} {from}", file.name);
        }
        for part in
            [(seconds + 0.1, seconds + 0.2), (-1.0, 1.0), (0.5, 0.5), (f64::NAN, 1.0), (0.0, f64::INFINITY)]
        {
            let wanted = Wanted { rate: None, part: Some(part) };
            let error = decode_bytes(bytes.clone(), &wanted, &limits).unwrap_err();
            assert!(matches!(error.problem, SoundProblem::NoPart { .. }), "{} {part:?}: {error}", file.name);
        }
    }
}

#[test]
fn a_part_of_a_long_recording_is_within_limits_that_the_whole_is_not() {
    let values = rustle(200_000, 5);
    let sound = Sound { samples: values, rate: 8_000 };
    let limits = SoundLimits { seconds: 2.0, ..SoundLimits::default() };
    let bytes = sound.wav();
    assert!(decode_bytes(bytes.clone(), &Wanted::default(), &limits).is_err());
    let whole = decoded(&bytes).unwrap();
    let part = Wanted { rate: None, part: Some((20.0, 21.5)) };
    let read = decode_bytes(bytes.clone(), &part, &limits).unwrap();
    assert_eq!(read.samples, whole.samples[160_000..172_000]);
    let part = Wanted { rate: None, part: Some((20.0, 22.5)) };
    let error = decode_bytes(bytes, &part, &limits).unwrap_err();
    assert!(error.to_string().contains("is 2.5 seconds long"), "{error}");
}
