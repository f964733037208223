//! What BLEU, chrF and TER have in common.

use super::significance::Interval;
use super::{References, Signature, Statistics, TranslationError};
use rayon::prelude::*;

/// Lines that one thread takes at a time.
const BLOCK: usize = 64;

/// A metric of translation, with its settings.
pub trait Metric: Sync {
    /// What the statistics of a line or of a corpus come to.
    type Score: Score;

    /// Memory that is used again from line to line.
    type Workspace: Default;

    /// How many numbers the statistics of a line are.
    fn width(&self) -> usize;

    /// Writes the statistics of one line into `statistics`.
    ///
    /// # Panics
    ///
    /// If those are not as many numbers as [`width`](Self::width) says. They should be zero.
    fn measure(
        &self,
        hypothesis: &str,
        references: &[&str],
        workspace: &mut Self::Workspace,
        statistics: &mut [f64],
    );

    /// The score of summed statistics.
    ///
    /// # Panics
    ///
    /// If the sums are fewer than [`width`](Self::width) says.
    fn score(&self, sums: &[f64]) -> Self::Score;

    /// The score of summed statistics of lines drawn at random, for which sacreBLEU keeps the
    /// statistics, and most of the score, in single precision.
    ///
    /// # Panics
    ///
    /// If the sums are fewer than [`width`](Self::width) says.
    fn sampled(&self, sums: &[f32]) -> Sampled;

    /// All that is needed to get the same scores again.
    fn signature(&self, statistics: &Statistics) -> Signature;

    /// The statistics of every line, computed on all cores.
    fn statistics<S: AsRef<str> + Sync>(
        &self,
        hypotheses: &[S],
        references: &References<'_>,
    ) -> Result<Statistics, TranslationError> {
        if self.width() == 0 {
            return Err(TranslationError::NoOrder);
        }
        if hypotheses.len() != references.len() {
            let (hypotheses, references) = (hypotheses.len(), references.len());
            return Err(TranslationError::LineCounts { hypotheses, references });
        }
        let mut statistics = Statistics::zeros(self.width(), references);
        let blocks = statistics.values_mut().par_chunks_mut(BLOCK * self.width());
        blocks.enumerate().for_each_init(Self::Workspace::default, |workspace, (block, rows)| {
            for (line, row) in (block * BLOCK..).zip(rows.chunks_exact_mut(self.width())) {
                self.measure(hypotheses[line].as_ref(), references.line(line), workspace, row);
            }
        });
        Ok(statistics)
    }

    /// The score of all lines together.
    fn corpus_score(&self, statistics: &Statistics) -> Result<Self::Score, TranslationError> {
        self.check(statistics)?;
        Ok(self.score(&statistics.sums()))
    }

    /// The score of each line alone.
    fn line_scores(&self, statistics: &Statistics) -> Result<Vec<Self::Score>, TranslationError> {
        self.check(statistics)?;
        Ok(statistics.lines().map(|line| self.score(line)).collect())
    }

    /// The score of one sentence.
    fn sentence_score(&self, hypothesis: &str, references: &[&str]) -> Result<Self::Score, TranslationError> {
        let references = [references];
        self.corpus_score(&self.statistics(&[hypothesis], &References::per_line(&references)?)?)
    }

    /// Refuses statistics that are not of this metric, or of no lines.
    fn check(&self, statistics: &Statistics) -> Result<(), TranslationError> {
        let (found, expected) = (statistics.width(), self.width());
        if found != expected {
            return Err(TranslationError::StatisticsWidth { found, expected });
        }
        if statistics.is_empty() { Err(TranslationError::NoLines) } else { Ok(()) }
    }
}

/// A score, and how it is written.
pub trait Score {
    /// The name of the metric, such as `BLEU` or `chrF2++`.
    fn name(&self) -> String;

    /// The score itself, in percent.
    fn value(&self) -> f64;

    /// What is written behind the score; empty for most metrics.
    fn details(&self) -> String {
        String::new()
    }

    /// The line that sacreBLEU prints, with as many digits as wanted, the signature behind the name
    /// and the confidence interval behind the score where they are given.
    fn line(&self, digits: usize, signature: Option<&Signature>, interval: Option<Interval>) -> String {
        let mut line = self.name();
        if let Some(signature) = signature {
            line += &format!("|{signature}");
        }
        line += &format!(" = {:.digits$}", self.value());
        if let Some(Interval { mean, half_width }) = interval.filter(|interval| interval.mean > 0.0) {
            line += &format!(" (μ = {mean:.digits$} ± {half_width:.digits$})");
        }
        let details = self.details();
        if details.is_empty() { line } else { line + " " + &details }
    }
}

/// The score of a sample, in the precision that it was computed in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampled {
    /// A score in single precision.
    Single(f32),
    /// A score in double precision.
    Double(f64),
}

impl Sampled {
    /// The score.
    pub fn value(self) -> f64 {
        match self {
            Self::Single(value) => f64::from(value),
            Self::Double(value) => value,
        }
    }
}

/// How exact a number is kept. Each of +, −, ×, ÷ in single precision is that of double precision,
/// rounded once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Single,
    Double,
}

impl Precision {
    pub(super) fn round(self, value: f64) -> f64 {
        match self {
            Self::Single => f64::from(value as f32),
            Self::Double => value,
        }
    }
}
