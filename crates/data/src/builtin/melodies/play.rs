//! From a melody to samples, the same on every machine.
//!
//! A note is a sum of harmonics of its frequency: `Σₖ aₖ · dₖⁿ · sin(2π · k · f · n / rate)`, under an envelope that rises
//! within 8 ms and falls when the note dies away.

use rand::Rng;

use super::melody::{Melody, Noise, Note, Timbre};
use crate::random::generator;
use crate::sound::Sound;

/// Milliseconds until a note is at its loudest.
const ATTACK: u32 = 8;

impl Melody {
    /// Plays it with `rate` samples a second, which are whole thousands.
    pub fn played(&self, rate: u32) -> Sound {
        let mut mix = vec![0.0f64; at(self.length, rate)];
        let loudest = f64::from(self.loudness) / 1000.0;
        for note in &self.notes {
            let hertz = note.pitch.hertz() * (1.0 + f64::from(self.tuning) / 10_000.0);
            let loud = loudest * f64::from(note.accent) / 100.0;
            play(note, &harmonics(self.timbre), hertz, loud, rate, &mut mix);
        }
        if let Some(noise) = self.noise {
            let factor = match noise {
                Noise::Faint => 0.01,
                Noise::Soft => 0.031_622_776_601_683_8,
                Noise::Loud => 0.1,
            };
            let mut rng = generator(self.noise_seed, u64::from(rate));
            for sample in &mut mix {
                // Of four even draws from -1/2 to 1/2, whose sum deviates by √(4/12).
                let draws: i64 = (0..4).map(|_| i64::from(rng.next_u32() >> 16) - 32_768).sum();
                *sample += loudest * factor * draws as f64 / 65_536.0;
            }
        }
        let samples =
            mix.iter().map(|value| ((value * 32_767.0).round().clamp(-32_768.0, 32_767.0) / 32_768.0) as f32);
        Sound { samples: samples.collect(), rate }
    }
}

/// The sample at a millisecond.
fn at(milliseconds: u32, rate: u32) -> usize {
    milliseconds as usize * (rate / 1000) as usize
}

/// A harmonic: which, how loud, and after how many seconds it has a third of that.
struct Harmonic {
    number: u32,
    loud: f64,
    lasts: f64,
}

fn harmonics(timbre: Timbre) -> Vec<Harmonic> {
    let even = |number: u32, loud: f64| Harmonic { number, loud, lasts: f64::INFINITY };
    let falling = |number: u32| 1.0 / f64::from(number);
    match timbre {
        Timbre::Sine => vec![even(1, 1.0)],
        Timbre::Square => [1, 3, 5, 7, 9].map(|number| even(number, falling(number))).into(),
        Timbre::Saw => (1..=10).map(|number| even(number, falling(number))).collect(),
        Timbre::Plucked => (1..=10)
            .map(|number| Harmonic { number, loud: falling(number), lasts: 0.5 / f64::from(number).sqrt() })
            .collect(),
        Timbre::Organ => [(1, 1.0), (2, 0.7), (3, 0.4), (4, 0.5), (6, 0.25), (8, 0.3)]
            .map(|(n, loud)| even(n, loud))
            .into(),
    }
}

/// Adds a note to what is heard.
fn play(note: &Note, harmonics: &[Harmonic], hertz: f64, loud: f64, rate: u32, mix: &mut [f64]) {
    let rate_hertz = f64::from(rate);
    // What the rate cannot hold is left out.
    let heard = harmonics.iter().filter(|harmonic| hertz * f64::from(harmonic.number) < 0.45 * rate_hertz);
    let total: f64 = harmonics.iter().map(|harmonic| harmonic.loud).sum();
    let (start, release, end) = (at(note.start, rate), at(note.release, rate), at(note.end, rate));
    let Some(place) = mix.get_mut(start..end) else { return };
    let mut tone = vec![0.0; place.len()];
    for Harmonic { number, loud, lasts } in heard {
        let turn = hertz * f64::from(*number) / rate_hertz;
        // sin((n + 1)x) = 2 · cos(x) · sin(nx) - sin((n - 1)x)
        let twice = 2.0 * sine(turn + 0.25);
        let (mut last, mut now, mut strength) = (-sine(turn), 0.0, *loud);
        let stays = 1.0 - 1.0 / (lasts * rate_hertz);
        for value in &mut tone {
            *value += strength * now;
            (last, now) = (now, twice * now - last);
            strength *= stays;
        }
    }
    let attack = at(ATTACK, rate) as f64;
    for (n, (value, tone)) in place.iter_mut().zip(tone).enumerate() {
        let rising = (n as f64 / attack).min(1.0);
        let falling = (end - start - n) as f64 / (end - release) as f64;
        *value += loud / total * tone * rising * falling.min(1.0);
    }
}

/// The sine of an angle in turns, by its series: within 10⁻⁹, and with the same bits everywhere.
fn sine(turn: f64) -> f64 {
    let turn = turn - (turn + 0.5).floor(); // -1/2 to 1/2
    let near = match turn {
        high if high > 0.25 => 0.5 - high,
        low if low < -0.25 => -0.5 - low,
        middle => middle,
    };
    let x = near * std::f64::consts::TAU;
    let (mut sum, mut term) = (x, x);
    for k in 1..8 {
        term *= -x * x / f64::from(2 * k * (2 * k + 1));
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_is_the_sine() {
        for step in -3000..3000 {
            let turn = f64::from(step) / 977.0;
            let right = (turn * std::f64::consts::TAU).sin();
            assert!((sine(turn) - right).abs() < 1e-9, "{turn}: {} {right}", sine(turn));
        }
    }
}
