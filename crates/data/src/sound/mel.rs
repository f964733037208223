//! Log-mel features: how loud a sound is in each of some bands of frequencies, every few milliseconds.
//!
//! N samples of a transform, T frames, F = N/2 + 1 frequencies, C bands:
//!
//! ```text
//! X(t, f) = Σₙ w(n) · x(t·hop + n - N/2) · e^(-2πi·f·n/N)         [T, F]   short-time Fourier transform
//! m(t, c) = Σ_f b(c, f) · |X(t, f)|²                             [T, C]   power in each band
//! y(t, c) = ln(max(m(t, c), floor))                              [T, C]
//! ```
//!
//! w is a Hann window in the middle of N samples, and the sound is mirrored at both ends, so that frame t is centred on
//! sample `t × hop`; there are `1 + samples / hop` frames. b are triangles on the mel scale, of Slaney's auditory toolbox or
//! of HTK. Values equal those of `librosa` and of torchaudio's `MelSpectrogram` with the same settings. All is computed
//! in double precision, since logarithms of quiet bands would show every rounding.

use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use serde::{Deserialize, Serialize};

use super::frames::Frames;
use super::recording::{LEAST_RATE, MOST_RATE};
use crate::DataError;

/// Which scale of pitches bands are even on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MelScale {
    /// Slaney's: linear up to 1000 Hz, then logarithmic. The default of librosa.
    #[default]
    Slaney,
    /// HTK's: `2595 · log₁₀(1 + f/700)`. The default of torchaudio.
    Htk,
}

impl MelScale {
    fn mel(self, hertz: f64) -> f64 {
        match self {
            Self::Htk => 2595.0 * (1.0 + hertz / 700.0).log10(),
            Self::Slaney if hertz < 1000.0 => hertz * 3.0 / 200.0,
            Self::Slaney => 15.0 + (hertz / 1000.0).ln() * 27.0 / 6.4f64.ln(),
        }
    }

    fn hertz(self, mel: f64) -> f64 {
        match self {
            Self::Htk => 700.0 * (10f64.powf(mel / 2595.0) - 1.0),
            Self::Slaney if mel < 15.0 => mel * 200.0 / 3.0,
            Self::Slaney => 1000.0 * ((mel - 15.0) * 6.4f64.ln() / 27.0).exp(),
        }
    }
}

/// How features are made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogMel {
    /// Milliseconds that a frame looks at.
    pub window: f64,
    /// Milliseconds from one frame to the next.
    pub hop: f64,
    /// C: how many bands there are.
    pub bands: usize,
    /// Samples of a transform; if none are told, the next power of two from the window on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform: Option<usize>,
    /// Where the lowest band begins, in Hz.
    pub lowest: f64,
    /// Where the highest band ends, in Hz; half the rate if none is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest: Option<f64>,
    /// The scale of pitches.
    pub scale: MelScale,
    /// Whether each band is divided by its width, so that a wide one does not count for more (`norm="slaney"`).
    pub even: bool,
    /// The least power, below which all is equally quiet.
    pub floor: f64,
}

impl Default for LogMel {
    fn default() -> Self {
        Self {
            window: 25.0,
            hop: 10.0,
            bands: 80,
            transform: None,
            lowest: 0.0,
            highest: None,
            scale: MelScale::Slaney,
            even: true,
            floor: 1e-10,
        }
    }
}

/// The longest window and transform, in samples.
const LONGEST: usize = 1 << 16;

impl LogMel {
    /// Refuses settings that make no sense at a rate.
    pub fn validate(&self, rate: u32) -> Result<(), DataError> {
        let wrong = |key: &str, problem: String| Err(DataError::Config { key: key.to_owned(), problem });
        let half = f64::from(rate) / 2.0;
        let highest = self.highest.unwrap_or(half);
        let (window, hop, length) = self.samples(rate);
        match () {
            () if !(LEAST_RATE..=MOST_RATE).contains(&rate) => wrong(
                "rate",
                format!("is from {LEAST_RATE} to {MOST_RATE} samples a second; write 16000, for instance"),
            ),
            () if !(2..=LONGEST).contains(&window) => {
                wrong("window", "is too short or too long in milliseconds; write 25, for instance".into())
            }
            () if !(1..=LONGEST).contains(&hop) => {
                wrong("hop", "is too short or too long in milliseconds; write 10, for instance".into())
            }
            () if !(1..=1024).contains(&self.bands) => {
                wrong("bands", "is from 1 to 1024; write 80, for instance".into())
            }
            () if !(window..=LONGEST).contains(&length) || !length.is_multiple_of(2) => wrong(
                "transform",
                format!("is an even number of samples, from those of the window ({window}) to {LONGEST}"),
            ),
            () if !(0.0..half).contains(&self.lowest) => {
                wrong("lowest", format!("is from 0 to below {half} Hz, half the rate; write 0, for instance"))
            }
            () if !(highest > self.lowest && highest <= half) => wrong(
                "highest",
                format!("is above `lowest` and at most {half} Hz, half the rate; leave it out for that"),
            ),
            () if !(self.floor > 0.0 && self.floor <= 1.0) => {
                wrong("floor", "is above 0 and at most 1; write 1e-10, for instance".into())
            }
            () => Ok(()),
        }
    }

    /// Samples of the window, of the hop and of the transform.
    fn samples(&self, rate: u32) -> (usize, usize, usize) {
        // Casts of what is no number, or negative, give zero, which is refused.
        let samples = |milliseconds: f64| (milliseconds * f64::from(rate) / 1000.0).round() as usize;
        let window = samples(self.window).min(LONGEST + 1);
        (window, samples(self.hop), self.transform.unwrap_or(window.next_power_of_two()))
    }
}

/// All that is computed once for a rate: window, bands, and the plan of the transform.
#[derive(Clone)]
pub struct MelExtractor {
    rate: u32,
    hop: usize,
    floor: f64,
    /// `[N]`, zero outside of the window.
    window: Vec<f64>,
    bands: Vec<Band>,
    transform: Arc<dyn RealToComplex<f64>>,
}

/// The frequencies of a band that count: the first, and the weights from there.
#[derive(Clone, Debug)]
struct Band {
    first: usize,
    weights: Vec<f64>,
}

impl MelExtractor {
    /// Features of sounds of `rate` samples a second.
    ///
    /// # Errors
    /// If the settings make no sense, or leave a band without any frequency.
    pub fn new(settings: &LogMel, rate: u32) -> Result<Self, DataError> {
        settings.validate(rate)?;
        let (width, hop, length) = settings.samples(rate);
        let mut window = vec![0.0; length];
        // In the middle, as others do it.
        for (n, weight) in window[(length - width) / 2..][..width].iter_mut().enumerate() {
            *weight = 0.5 - 0.5 * (std::f64::consts::TAU * n as f64 / width as f64).cos();
        }
        let bands = bands(settings, rate, length);
        if let Some(empty) = bands.iter().position(|band| band.weights.is_empty()) {
            let problem = format!(
                "leaves band {} of {} without any frequency; write fewer bands, or a longer `window` or `transform`",
                empty + 1,
                settings.bands
            );
            return Err(DataError::Config { key: "bands".into(), problem });
        }
        let transform = RealFftPlanner::new().plan_fft_forward(length);
        Ok(Self { rate, hop, floor: settings.floor, window, bands, transform })
    }

    /// Samples a second that sounds must have.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// Seconds from one frame to the next.
    pub fn hop(&self) -> f64 {
        self.hop as f64 / f64::from(self.rate)
    }

    /// C: values of a frame.
    pub fn bands(&self) -> usize {
        self.bands.len()
    }

    /// The features of some samples. Of none there are no frames.
    pub fn frames(&self, samples: &[f32]) -> Frames {
        let count = if samples.is_empty() { 0 } else { 1 + samples.len() / self.hop };
        let mut values = Vec::with_capacity(count * self.bands.len());
        let length = self.window.len();
        let mut around = vec![0.0; length]; // [N]
        let mut spectrum = vec![Complex::new(0.0, 0.0); length / 2 + 1]; // [F]
        let mut power = vec![0.0; length / 2 + 1]; // [F]
        let mut scratch = self.transform.make_scratch_vec();
        for frame in 0..count {
            let start = (frame * self.hop) as i64 - (length / 2) as i64;
            for (n, (value, weight)) in around.iter_mut().zip(&self.window).enumerate() {
                *value = f64::from(samples[mirrored(start + n as i64, samples.len())]) * weight;
            }
            // It fails only for slices of other lengths than planned.
            if self.transform.process_with_scratch(&mut around, &mut spectrum, &mut scratch).is_err() {
                break;
            }
            for (power, value) in power.iter_mut().zip(&spectrum) {
                *power = value.norm_sqr();
            }
            values.extend(self.bands.iter().map(|band| {
                let heard =
                    band.weights.iter().zip(&power[band.first..]).map(|(weight, power)| weight * power);
                heard.sum::<f64>().max(self.floor).ln() as f32
            }));
        }
        Frames { values, bands: self.bands.len(), hop: self.hop() }
    }
}

/// Which of `count` samples stands at a place, where the sound goes back and forth between its first and its last.
fn mirrored(at: i64, count: usize) -> usize {
    if (0..count as i64).contains(&at) {
        return at as usize;
    }
    let round = 2 * (count as i64 - 1).max(1);
    let at = at.rem_euclid(round);
    (if at < count as i64 { at } else { round - at }) as usize % count
}

/// Triangles from the middle of one band to the middles of its neighbours.
fn bands(settings: &LogMel, rate: u32, length: usize) -> Vec<Band> {
    let LogMel { scale, lowest, .. } = *settings;
    let highest = settings.highest.unwrap_or(f64::from(rate) / 2.0);
    let (low, high) = (scale.mel(lowest), scale.mel(highest));
    let corner = |n: usize| scale.hertz(low + (high - low) * n as f64 / (settings.bands + 1) as f64);
    let frequency = |bin: usize| bin as f64 * f64::from(rate) / length as f64;
    let band = |n: usize| {
        let (left, middle, right) = (corner(n), corner(n + 1), corner(n + 2));
        let height = if settings.even { 2.0 / (right - left) } else { 1.0 };
        let weight = |bin: usize| {
            let at = frequency(bin);
            height * ((at - left) / (middle - left)).min((right - at) / (right - middle)).max(0.0)
        };
        let heard = |bin: &usize| weight(*bin) > 0.0;
        let Some(first) = (0..=length / 2).find(heard) else { return Band { first: 0, weights: Vec::new() } };
        Band { first, weights: (first..=length / 2).take_while(heard).map(weight).collect() }
    };
    (0..settings.bands).map(band).collect()
}
