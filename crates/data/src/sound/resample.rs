//! Another number of samples a second, for the same sound.
//!
//! Each new sample is a sum of old ones around its place, weighted by a sinc under a Kaiser window:
//!
//! ```text
//! y(n) = Σₖ x(k) · h(n·M/L - k),   h(t) = c · sinc(c·t) · kaiser(t / reach),   c = 0.94 · min(1, L/M)
//! ```
//!
//! with L/M the ratio of the rates in lowest terms. Up to 0.88 of the highest frequency that both rates can hold, a tone
//! comes out as it was, within 0.01 decibels; what the new rate cannot hold is gone, at least 85 decibels down, and so are
//! the images of what it can. Nothing is shifted in time. Sound before the first and after the last sample counts as zero.
//!
//! Weights are computed once for each of the L places between two old samples; where these are more than 1024, they are
//! interpolated between 1024 places, which errs by less than 10⁻⁶.

/// Zero crossings of the sinc to each side.
const CROSSINGS: f64 = 48.0;
/// Where frequencies begin to go, as a share of the highest.
const CUTOFF: f64 = 0.94;
/// The form of the Kaiser window: 90 decibels.
const BETA: f64 = 8.96;
/// The most places between two samples for which weights are computed.
const PLACES: u64 = 1024;

/// Changes the rate of a sound that comes piece by piece, in memory that does not grow with its length.
#[derive(Clone, Debug)]
pub struct Resampler {
    /// New samples of a stretch in which there are `old` old ones, in lowest terms.
    new: u64,
    old: u64,
    /// Weights reach this many old samples to each side.
    reach: usize,
    /// For each place between two samples, and one more, `2 · reach` weights.
    weights: Vec<f32>,
    places: u64,
    /// Old samples that are still needed, the first of which is `first` (negative: zeros before the sound).
    held: Vec<f32>,
    first: i64,
    /// How many samples have come, and how many were given.
    taken: u64,
    given: u64,
}

impl Resampler {
    /// From `from` samples to `to` samples; neither is zero, or both count as equal.
    pub fn new(from: u32, to: u32) -> Self {
        Self::with_ratio(u64::from(from), u64::from(to))
    }

    /// A resampler that makes `to` samples of every `from`.
    fn with_ratio(from: u64, to: u64) -> Self {
        let divisor = gcd(from, to).max(1);
        let (old, new) = ((from / divisor).max(1), (to / divisor).max(1));
        let cutoff = CUTOFF * (new as f64 / old as f64).min(1.0);
        let half = CROSSINGS / cutoff;
        let reach = half.ceil() as usize;
        let places = new.min(PLACES);
        let mut weights = Vec::new();
        if new != old {
            weights.reserve((places as usize + 1) * 2 * reach);
            for place in 0..=places {
                let offset = place as f64 / places as f64;
                // Old samples -reach + 1 to reach, seen from the new one at `offset`.
                let row =
                    (0..2 * reach).map(|k| kernel(offset + (reach as f64 - 1.0) - k as f64, cutoff, half));
                let row: Vec<f64> = row.collect();
                // What is constant stays exactly so.
                let sum: f64 = row.iter().sum();
                weights.extend(row.iter().map(|weight| (weight / sum) as f32));
            }
        }
        let first = 1 - reach as i64;
        Self { new, old, reach, weights, places, held: vec![0.0; reach - 1], first, taken: 0, given: 0 }
    }

    /// Takes the next samples, and puts those that can be told behind `out`.
    pub fn push(&mut self, samples: &[f32], out: &mut Vec<f32>) {
        self.taken += samples.len() as u64;
        if self.new == self.old {
            out.extend_from_slice(samples);
            return;
        }
        self.held.extend_from_slice(samples);
        self.give(u64::MAX, out);
    }

    /// Puts the rest behind `out`: in all, as many as cover the time of the samples taken.
    pub fn finish(mut self, out: &mut Vec<f32>) {
        if self.new == self.old {
            return;
        }
        let all = (self.taken * self.new).div_ceil(self.old);
        self.held.resize(self.held.len() + self.reach + 1, 0.0);
        self.give(all, out);
    }

    fn give(&mut self, all: u64, out: &mut Vec<f32>) {
        let width = 2 * self.reach;
        while self.given < all {
            let at = self.given * self.old;
            let (whole, part) = (at / self.new, at % self.new);
            // Of what is held, the first sample with a weight.
            let start = (whole as i64 + 1 - self.reach as i64 - self.first) as usize;
            let Some(around) = self.held.get(start..start + width) else { break };
            let scaled = part * self.places;
            let (place, rest) = (scaled / self.new, scaled % self.new);
            let row = |place: u64| &self.weights[place as usize * width..][..width];
            let mut value = dot(row(place), around);
            if rest != 0 {
                let share = rest as f32 / self.new as f32;
                value += share * (dot(row(place + 1), around) - value);
            }
            out.push(value);
            self.given += 1;
        }
        let next = (self.given * self.old / self.new) as i64 + 1 - self.reach as i64;
        let done = usize::try_from(next - self.first).unwrap_or(0).min(self.held.len());
        self.held.drain(..done);
        self.first += done as i64;
    }
}

/// All of a sound at another rate.
pub fn resampled(samples: &[f32], from: u32, to: u32) -> Vec<f32> {
    whole(Resampler::new(from, to), samples)
}

/// A sound played `percent` / 100 times as fast, at the same rate: shorter and higher, or longer and lower.
pub fn faster(samples: &[f32], percent: u32) -> Vec<f32> {
    whole(Resampler::with_ratio(u64::from(percent), 100), samples)
}

fn whole(mut resampler: Resampler, samples: &[f32]) -> Vec<f32> {
    let length = samples.len() as u64 * resampler.new / resampler.old + 1;
    let mut out = Vec::with_capacity(length as usize);
    // Piece by piece, so that what is held stays small.
    for piece in samples.chunks(1 << 14) {
        resampler.push(piece, &mut out);
    }
    resampler.finish(&mut out);
    out
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn kernel(t: f64, cutoff: f64, half: f64) -> f64 {
    if t.abs() >= half {
        return 0.0;
    }
    let angle = std::f64::consts::PI * cutoff * t;
    let sinc = if angle.abs() < 1e-9 { 1.0 } else { angle.sin() / angle };
    let x = t / half;
    sinc * bessel(BETA * (1.0 - x * x).sqrt())
}

/// The modified Bessel function of order zero, by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term, quarter) = (1.0, 1.0, x * x / 4.0);
    for k in 1..60 {
        term *= quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

/// In eight lanes, which the compiler makes a vector of, added in an order that never changes.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}
