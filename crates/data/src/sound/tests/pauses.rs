//! Where recordings are cut.

use super::super::*;
use super::{rustle, tone};

/// Stretches of sound and of (nearly) nothing, in seconds.
fn talk(parts: &[(bool, f64)], noise: f32) -> Sound {
    let mut samples = Vec::new();
    for (loud, seconds) in parts {
        let part = tone(8_000, 300.0, *seconds).samples;
        samples.extend(part.iter().map(|sample| if *loud { *sample } else { 0.0 }));
    }
    let hiss = rustle(samples.len(), 1);
    samples.iter_mut().zip(hiss).for_each(|(sample, hiss)| *sample += noise * hiss);
    Sound { samples, rate: 8_000 }
}

#[test]
fn pauses_are_found_where_they_are() {
    for noise in [0.0, 0.02, 0.1] {
        let parts = [(false, 0.5), (true, 1.0), (false, 0.4), (true, 0.7), (false, 0.1), (true, 0.5)];
        let sound = talk(&parts, noise);
        let found = pauses(&sound, &PauseSettings::default());
        // The last is too short.
        let wanted = [(0.0, 0.5), (1.5, 1.9)];
        assert_eq!(found.len(), wanted.len(), "{noise}: {found:?}");
        for (pause, (start, end)) in found.iter().zip(wanted) {
            let near = |at: usize, seconds: f64| (at as f64 / 8_000.0 - seconds).abs() <= 0.011;
            assert!(near(pause.start, start) && near(pause.end, end), "{noise}: {pause:?}");
        }
        let short = PauseSettings { shortest: 0.08, ..PauseSettings::default() };
        assert_eq!(pauses(&sound, &short).len(), 3);
    }
}

#[test]
fn silence_is_a_pause_and_steady_sound_has_none() {
    let settings = PauseSettings::default();
    assert_eq!(pauses(&talk(&[(false, 1.0)], 0.0), &settings), vec![0..8_000; 1]);
    assert!(pauses(&talk(&[(true, 1.0)], 0.0), &settings).is_empty());
    assert!(pauses(&talk(&[(false, 1.0)], 0.5), &settings).is_empty(), "noise alone");
    assert!(pauses(&Sound { samples: Vec::new(), rate: 8_000 }, &settings).is_empty());
}

#[test]
fn pieces_follow_each_other_and_none_is_too_long() {
    let mut parts = Vec::new();
    for n in 0..12 {
        parts.extend([(true, 0.8 + 0.1 * f64::from(n)), (false, 0.4)]);
    }
    let sound = talk(&parts, 0.01);
    let settings = PauseSettings::default();
    let found = pauses(&sound, &settings);
    for longest in [0.5, 1.0, 3.0, 5.0, 100.0] {
        let pieces = pieces(&sound, longest, &settings);
        let mut at = 0;
        for piece in &pieces {
            assert_eq!(piece.start, at);
            assert!(piece.len() as f64 / 8_000.0 <= longest && !piece.is_empty());
            at = piece.end;
            // Long enough to get to the next pause, so that no word is cut.
            let cut_in_pause = found.iter().any(|pause| pause.contains(&piece.end));
            assert!(
                longest < 3.0 || cut_in_pause || piece.end == sound.samples.len(),
                "{longest}: {piece:?}"
            );
        }
        assert_eq!(at, sound.samples.len());
        assert!(longest < 100.0 || pieces.len() == 1);
    }
    assert!(pieces(&Sound::default(), 1.0, &settings).is_empty());
}
