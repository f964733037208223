//! Whether a score, or the difference between two, is more than chance.
//!
//! Bootstrap resampling (Koehn 2004) draws as many lines as there are, with repetition, again and
//! again: the scores of these samples spread like those of other texts of the same kind. Paired
//! bootstrap draws the same lines for two systems. Approximate randomisation (Riezler and Maxwell
//! 2005) instead exchanges the lines of two systems at random: if they are equally good, that makes
//! no difference.
//!
//! With the same seed, all numbers are those of sacreBLEU, which draws with NumPy and keeps sampled
//! statistics in single precision. There are two exceptions, both in the p-value of approximate
//! randomisation. With TER, trials that differ exactly as the systems do are ties here; in sacreBLEU,
//! rounding decides them where the mean length of references is not exact in binary, as with three
//! references. And BLEU smoothed by add-k is computed with k here; in sacreBLEU, what k adds to the
//! sums is cut to a whole number.

use super::metric::Precision;
use super::numpy_random::Generator;
use super::{Metric, Sampled, Score, Statistics, TranslationError};
use rayon::prelude::*;

/// The seed that sacreBLEU uses.
pub const SEED: u64 = 12345;
/// How many samples a bootstrap usually draws.
pub const SAMPLES: usize = 1000;
/// How many trials an approximate randomisation usually makes.
pub const TRIALS: usize = 10_000;

/// Draws made before they are handed to all cores.
const DRAWS_AT_ONCE: usize = 1 << 20;

/// Where the true score lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean of the scores of all samples.
    pub mean: f64,
    /// Half of the distance between the bounds that leave out 2.5 % of the scores on either side.
    pub half_width: f64,
}

/// One of two systems that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// The corpus score.
    pub score: f64,
    /// Its confidence interval, if samples were drawn.
    pub interval: Option<Interval>,
}

/// Two systems, and how likely such a difference is by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The system that is compared with.
    pub baseline: Side,
    /// The system that is compared.
    pub system: Side,
    /// The share of samples or trials that differ more than the two systems do.
    pub p_value: f64,
}

/// The confidence interval of a corpus score, by bootstrap resampling.
pub fn confidence<M: Metric>(
    metric: &M,
    statistics: &Statistics,
    samples: usize,
    seed: u64,
) -> Result<Interval, TranslationError> {
    check_samples(samples)?;
    metric.check(statistics)?;
    let [scores] = bootstrap(metric, [statistics], samples, &mut Generator::new(seed));
    Ok(scores.interval(Scores::exact_mean))
}

/// Paired bootstrap resampling: the p-value is the share of samples whose difference is farther from
/// the mean difference than the true one is from zero.
pub fn paired_bootstrap<M: Metric>(
    metric: &M,
    baseline: &Statistics,
    system: &Statistics,
    samples: usize,
    seed: u64,
) -> Result<Comparison, TranslationError> {
    check_samples(samples)?;
    let difference = difference(metric, baseline, system)?;
    let [of_baseline, of_system] = bootstrap(metric, [baseline, system], samples, &mut Generator::new(seed));

    let differences = of_system.differences(&of_baseline);
    let round = |value| differences.precision.round(value);
    let (mean, difference) = (differences.mean(), round(difference));
    let larger = differences.values.iter().filter(|&&value| round(value - mean) > difference).count();

    let side = |statistics: &Statistics, scores: Scores| Side {
        score: metric.score(&statistics.sums()).value(),
        interval: Some(scores.interval(Scores::mean)),
    };
    Ok(Comparison {
        baseline: side(baseline, of_baseline),
        system: side(system, of_system),
        p_value: p_value(larger, samples),
    })
}

/// Paired approximate randomisation: the p-value is the share of trials whose difference is larger
/// than the true one. The confidence intervals, if samples are asked for, are by bootstrap
/// resampling.
pub fn paired_randomisation<M: Metric>(
    metric: &M,
    baseline: &Statistics,
    system: &Statistics,
    trials: usize,
    samples: Option<usize>,
    seed: u64,
) -> Result<Comparison, TranslationError> {
    check_samples(trials)?;
    check_samples(samples.unwrap_or(1))?;
    let difference = difference(metric, baseline, system)?;
    let mut generator = Generator::new(seed);
    let differences = randomised(metric, baseline, system, trials, &mut generator);
    let larger = differences.iter().filter(|&&value| value > difference).count();

    // Only the system's samples are drawn after the trials.
    let side = |statistics: &Statistics, generator: &mut Generator| {
        let interval = samples.map(|samples| {
            let [scores] = bootstrap(metric, [statistics], samples, generator);
            scores.interval(Scores::mean)
        });
        Side { score: metric.score(&statistics.sums()).value(), interval }
    };
    Ok(Comparison {
        baseline: side(baseline, &mut Generator::new(seed)),
        system: side(system, &mut generator),
        p_value: p_value(larger, trials),
    })
}

fn check_samples(samples: usize) -> Result<(), TranslationError> {
    if samples == 0 { Err(TranslationError::NoSamples) } else { Ok(()) }
}

/// How far apart the corpus scores are.
fn difference<M: Metric>(
    metric: &M,
    baseline: &Statistics,
    system: &Statistics,
) -> Result<f64, TranslationError> {
    let scores = (metric.corpus_score(baseline)?.value(), metric.corpus_score(system)?.value());
    if baseline.len() != system.len() {
        return Err(TranslationError::SystemLines { baseline: baseline.len(), system: system.len() });
    }
    Ok((scores.0 - scores.1).abs())
}

/// The trial that was really made counts too, so a p-value is never zero.
fn p_value(larger: usize, samples: usize) -> f64 {
    (larger + 1) as f64 / (samples + 1) as f64
}

/// The scores of samples, the same lines for each system.
fn bootstrap<M: Metric, const SYSTEMS: usize>(
    metric: &M,
    systems: [&Statistics; SYSTEMS],
    samples: usize,
    generator: &mut Generator,
) -> [Scores; SYSTEMS] {
    let lines = systems.first().map_or(1, |statistics| statistics.len());
    let single = |statistics: &Statistics| statistics.values().iter().map(|&value| value as f32).collect();
    let systems: [Vec<f32>; SYSTEMS] = systems.map(single);
    let mut scores: [Vec<Sampled>; SYSTEMS] = std::array::from_fn(|_| Vec::with_capacity(samples));
    let at_once = DRAWS_AT_ONCE.div_ceil(lines);
    for first in (0..samples).step_by(at_once) {
        let count = at_once.min(samples - first) * lines;
        let drawn: Vec<u32> = (0..count).map(|_| generator.index(lines as u32)).collect();
        for (values, scores) in systems.iter().zip(&mut scores) {
            let score = |lines: &[u32]| metric.sampled(&sum_lines(values, lines, metric.width()));
            scores.par_extend(drawn.par_chunks(lines).map(score));
        }
    }
    scores.map(Scores::new)
}

/// The sums over some lines, in single precision and in the order of the lines.
fn sum_lines(values: &[f32], lines: &[u32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0; width];
    for &line in lines {
        let row = &values[line as usize * width..][..width];
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums
}

/// How far the scores are apart once lines have been exchanged at random, for each trial.
fn randomised<M: Metric>(
    metric: &M,
    baseline: &Statistics,
    system: &Statistics,
    trials: usize,
    generator: &mut Generator,
) -> Vec<f64> {
    let lines = baseline.len();
    let mut flips = generator.flips();
    let mut differences = Vec::with_capacity(trials);
    let at_once = DRAWS_AT_ONCE.div_ceil(lines);
    for first in (0..trials).step_by(at_once) {
        let count = at_once.min(trials - first) * lines;
        let kept: Vec<bool> = flips.by_ref().take(count).collect();
        let difference = |kept: &[bool]| {
            let [a, b] = exchange(baseline, system, kept).map(|sums| metric.score(&sums).value());
            (a - b).abs()
        };
        differences.par_extend(kept.par_chunks(lines).map(difference));
    }
    differences
}

/// The sums of both systems once those lines that are not kept have been exchanged.
fn exchange(baseline: &Statistics, system: &Statistics, kept: &[bool]) -> [Vec<f64>; 2] {
    let mut sums = [(); 2].map(|()| vec![0.0; baseline.width()]);
    for ((baseline, system), &kept) in baseline.lines().zip(system.lines()).zip(kept) {
        let lines = if kept { [baseline, system] } else { [system, baseline] };
        for (sums, line) in sums.iter_mut().zip(lines) {
            sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += value);
        }
    }
    sums
}

/// Scores of samples, with the arithmetic of NumPy in their precision.
struct Scores {
    values: Vec<f64>,
    precision: Precision,
}

impl Scores {
    fn new(scores: Vec<Sampled>) -> Self {
        let single = scores.iter().all(|score| matches!(score, Sampled::Single(_)));
        let precision = if single { Precision::Single } else { Precision::Double };
        Self { values: scores.into_iter().map(Sampled::value).collect(), precision }
    }

    fn differences(&self, other: &Self) -> Self {
        let both = [self.precision, other.precision];
        let precision = if both.contains(&Precision::Double) { Precision::Double } else { Precision::Single };
        let pairs = self.values.iter().zip(&other.values);
        Self { values: pairs.map(|(a, b)| precision.round(a - b).abs()).collect(), precision }
    }

    fn mean(&self) -> f64 {
        self.precision.round(pairwise_sum(&self.values, self.precision) / self.values.len() as f64)
    }

    /// The mean as Python's `statistics` has it, rounded only at the end.
    fn exact_mean(&self) -> f64 {
        let (mut sum, mut lost) = (0.0, 0.0);
        for &value in &self.values {
            // What rounding loses of a sum is itself exact (Knuth's TwoSum).
            let next = sum + value;
            let part = next - sum;
            lost += (sum - (next - part)) + (value - part);
            sum = next;
        }
        self.precision.round((sum + lost) / self.values.len() as f64)
    }

    fn interval(mut self, mean: impl Fn(&Self) -> f64) -> Interval {
        self.values.sort_by(f64::total_cmp);
        let left_out = self.values.len() / 40;
        let (lower, upper) = (self.values[left_out], self.values[self.values.len() - left_out - 1]);
        let half_width = 0.5 * self.precision.round(upper - lower);
        Interval { mean: mean(&self), half_width }
    }
}

/// The order in which NumPy adds: halves of more than 128 numbers apart, and within them eight sums
/// side by side.
fn pairwise_sum(values: &[f64], precision: Precision) -> f64 {
    let add = |a, b| precision.round(a + b);
    if values.len() > 128 {
        let half = values.len() / 2;
        let (left, right) = values.split_at(half - half % 8);
        return add(pairwise_sum(left, precision), pairwise_sum(right, precision));
    }
    let mut eights = values.chunks_exact(8);
    let mut sums = [0.0; 8];
    for eight in &mut eights {
        sums.iter_mut().zip(eight).for_each(|(sum, &value)| *sum = add(*sum, value));
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let whole = add(add(add(a, b), add(c, d)), add(add(e, f), add(g, h)));
    eights.remainder().iter().fold(whole, |sum, &value| add(sum, value))
}
