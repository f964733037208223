//! Where nobody speaks: long recordings are cut there.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::recording::Sound;

/// What counts as a pause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PauseSettings {
    /// The shortest pause, in seconds.
    pub shortest: f64,
    /// How far a pause is on the way from the quietest tenth of the recording (0) to its loudest (1), in decibels, at
    /// most.
    pub depth: f64,
}

impl Default for PauseSettings {
    fn default() -> Self {
        Self { shortest: 0.3, depth: 0.3 }
    }
}

/// The parts of a sound that are looked at, in seconds.
const STEP: f64 = 0.01;
/// Below this many decibels from the quietest to the loudest, nothing tells a pause from the rest.
const CONTRAST: f64 = 10.0;
/// What is quieter than this many decibels below full scale is a pause whatever the rest is.
const SILENCE: f64 = -80.0;

/// The pauses of a sound, in samples, in order: stretches of some length in which its power is near that of its quietest
/// parts. Sound as loud throughout has none, and silence is one.
pub fn pauses(sound: &Sound, settings: &PauseSettings) -> Vec<Range<usize>> {
    let step = ((STEP * f64::from(sound.rate)).round() as usize).max(1);
    let power = |part: &[f32]| {
        let squares: f64 = part.iter().map(|sample| f64::from(*sample) * f64::from(*sample)).sum();
        (10.0 * (squares / part.len() as f64).log10()).max(SILENCE - 40.0)
    };
    let levels: Vec<f64> = sound.samples.chunks(step).map(power).collect();
    let mut sorted = levels.clone();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let (quiet, loud) = (sorted[last / 10], sorted[last - last / 20]);
    let quiet = quiet.max(SILENCE);
    let below = match loud - quiet < CONTRAST {
        true => SILENCE,
        false => quiet + (loud - quiet) * settings.depth.clamp(0.0, 1.0),
    };
    let shortest = ((settings.shortest * f64::from(sound.rate)).ceil() as usize).max(1);
    let mut found = Vec::new();
    let mut start = None;
    for (part, level) in levels.iter().chain([&f64::INFINITY]).enumerate() {
        match (*level <= below, start) {
            (true, None) => start = Some(part),
            (false, Some(first)) => {
                let pause = first * step..(part * step).min(sound.samples.len());
                if pause.len() >= shortest {
                    found.push(pause);
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// A sound cut into pieces of at most `longest` seconds, in samples: in the middle of the last pause that makes a piece
/// short enough, or, where there is none, at `longest`. Pieces follow each other without a gap; long pauses at the
/// beginning and the end of the sound are part of the first and the last.
pub fn pieces(sound: &Sound, longest: f64, settings: &PauseSettings) -> Vec<Range<usize>> {
    let most = ((longest * f64::from(sound.rate)).floor() as usize).max(1);
    let cuts: Vec<usize> =
        pauses(sound, settings).into_iter().map(|pause| pause.start + pause.len() / 2).collect();
    let (mut pieces, mut start, count) = (Vec::new(), 0, sound.samples.len());
    while count - start > most {
        let cut = cuts.iter().rev().find(|cut| (start + 1..=start + most).contains(*cut));
        let end = cut.copied().unwrap_or(start + most);
        pieces.push(start..end);
        start = end;
    }
    if start < count {
        pieces.push(start..count);
    }
    pieces
}
