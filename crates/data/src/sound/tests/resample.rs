//! Tones come out as they were, or not at all.

use super::super::*;
use super::{rustle, tone};

/// The power of a sound at a frequency, and its power in all, of the part in the middle.
fn heard(sound: &Sound, hertz: f64) -> (f64, f64) {
    let count = sound.samples.len();
    let middle = &sound.samples[count / 4..count * 3 / 4];
    let (mut real, mut imaginary, mut all, mut weights) = (0.0, 0.0, 0.0, 0.0);
    for (n, sample) in middle.iter().enumerate() {
        // A window, since no frequency fits exactly.
        let window = 0.5 - 0.5 * (std::f64::consts::TAU * n as f64 / middle.len() as f64).cos();
        let angle = std::f64::consts::TAU * hertz * n as f64 / f64::from(sound.rate);
        let value = f64::from(*sample);
        real += window * value * angle.cos();
        imaginary += window * value * angle.sin();
        weights += window;
        all += value * value;
    }
    let amplitude = 2.0 * (real * real + imaginary * imaginary).sqrt() / weights;
    (amplitude * amplitude / 2.0, all / middle.len() as f64)
}

const RATES: [(u32, u32); 8] = [
    (44_100, 16_000),
    (48_000, 16_000),
    (16_000, 8_000),
    (8_000, 16_000),
    (22_050, 16_000),
    (16_000, 44_100),
    (11_025, 8_000),
    (44_100, 15_999), // more places than weights
];

#[test]
fn a_sweep_of_tones_keeps_its_loudness_and_its_time() {
    for (from, to) in RATES {
        let half = f64::from(from.min(to)) / 2.0;
        for share in [0.01, 0.1, 0.3, 0.5, 0.7, 0.85, 0.88] {
            let hertz = share * half;
            let samples = resampled(&tone(from, hertz, 0.5).samples, from, to);
            let wanted = tone(to, hertz, 0.5);
            assert!(samples.len().abs_diff(wanted.samples.len()) <= 1, "{from} to {to}");
            let middle = samples.len() / 4..samples.len() * 3 / 4;
            // Not only as loud, but the same samples.
            let apart = middle.map(|n| (samples[n] - wanted.samples[n]).abs()).fold(0.0, f32::max);
            assert!(apart < 5e-4, "{from} to {to}, {hertz} Hz: {apart}"); // 0.01 dB of 0.5
        }
    }
}

#[test]
fn what_the_new_rate_cannot_hold_is_gone() {
    for (from, to) in [(44_100, 16_000), (48_000, 8_000), (16_000, 8_000), (44_100, 15_999)] {
        for beyond in [1.0, 1.02, 1.1, 1.3, 1.8] {
            let hertz = beyond * f64::from(to) / 2.0;
            if hertz >= f64::from(from) / 2.0 {
                continue;
            }
            let samples = resampled(&tone(from, hertz, 0.5).samples, from, to);
            let (_, all) = heard(&Sound { samples, rate: to }, 100.0);
            let decibels = 10.0 * (all / 0.125).log10();
            assert!(decibels < -85.0, "{from} to {to}, {hertz} Hz: {decibels} dB");
        }
    }
}

#[test]
fn no_images_come_with_more_samples() {
    for (from, to) in [(8_000, 16_000), (16_000, 44_100), (8_000, 48_000)] {
        let hertz = 0.8 * f64::from(from) / 2.0;
        let samples = resampled(&tone(from, hertz, 0.5).samples, from, to);
        let (at, all) = heard(&Sound { samples, rate: to }, hertz);
        assert!((at - 0.125).abs() < 1e-3, "{at}");
        assert!((all - at).abs() / at < 1e-3, "{from} to {to}");
    }
}

#[test]
fn pieces_make_the_same_as_the_whole() {
    let samples = rustle(5_000, 3);
    for (from, to) in RATES {
        let whole = resampled(&samples, from, to);
        for length in [1, 7, 400, 5_000] {
            let (mut resampler, mut out) = (Resampler::new(from, to), Vec::new());
            for piece in samples.chunks(length) {
                resampler.push(piece, &mut out);
            }
            resampler.finish(&mut out);
            assert_eq!(out, whole, "{from} to {to} by {length}");
        }
        let expected = (5_000 * u64::from(to)).div_ceil(u64::from(from));
        assert_eq!(whole.len() as u64, expected);
    }
    assert_eq!(resampled(&samples, 16_000, 16_000), samples);
    assert!(resampled(&[], 16_000, 8_000).is_empty());
    assert_eq!(resampled(&[1.0], 16_000, 8_000).len(), 1);
}

#[test]
fn what_is_constant_stays_so() {
    for (from, to) in RATES {
        let made = resampled(&vec![0.25; 4_000], from, to);
        let middle = made.len() / 3..made.len() * 2 / 3;
        assert!(made[middle].iter().all(|value| (value - 0.25).abs() < 1e-6), "{from} to {to}");
    }
}

#[test]
fn faster_is_shorter_and_higher() {
    let sound = tone(16_000, 1_000.0, 0.5);
    for (percent, length) in [(90, 8_889), (100, 8_000), (110, 7_273), (50, 16_000), (150, 5_334)] {
        let samples = faster(&sound.samples, percent);
        assert_eq!(samples.len(), length);
        let (at, all) = heard(&Sound { samples, rate: 16_000 }, 10.0 * f64::from(percent));
        assert!((at - all).abs() < 1e-3 * all, "{percent}: {at} of {all}");
    }
}
