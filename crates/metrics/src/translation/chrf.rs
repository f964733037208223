//! chrF (Popović 2015) and chrF++ (Popović 2017): the F-score of character n-grams, and of word
//! n-grams too.
//!
//! ```text
//! chrF = (1 + β²) · P · R / (β² · P + R)
//! P, R: matched n-grams over those of the output, over those of the reference; mean over orders
//! ```
//!
//! Of several references, the one with the best score of the line counts.

use super::metric::Precision;
use super::ngrams::{NgramCounts, Words, count};
use super::text::{is_space, words};
use super::{Metric, Sampled, Score, Signature, Statistics};
use std::borrow::Cow;
use std::fmt;

/// What stands for nothing at all where scores are smoothed.
const EPSILON: f64 = 1e-16;

/// chrF with its settings.
///
/// The statistics of a line are, for each order of characters and then of words, the n-grams of the
/// output, those of the reference and the matched ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chrf {
    /// The longest n-grams of characters.
    pub char_order: usize,
    /// The longest n-grams of words: 0 for chrF, 2 for chrF++.
    pub word_order: usize,
    /// How many times recall weighs as much as precision.
    pub beta: u32,
    /// Whether capitals count as small letters.
    pub lowercase: bool,
    /// Whether white space counts as a character.
    pub whitespace: bool,
    /// Whether an order without n-grams counts as a tiny number, as in the original program, rather
    /// than not at all.
    pub eps_smoothing: bool,
}

impl Default for Chrf {
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2,
            lowercase: false,
            whitespace: false,
            eps_smoothing: false,
        }
    }
}

impl Chrf {
    /// chrF++: with single words and pairs of words.
    pub fn plus_plus() -> Self {
        Self { word_order: 2, ..Self::default() }
    }

    fn orders(&self) -> usize {
        self.char_order + self.word_order
    }

    fn prepare<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.lowercase { text.to_lowercase().into() } else { text.into() }
    }

    fn characters(&self, text: &str) -> Vec<u32> {
        text.chars().filter(|&c| self.whitespace || !is_space(c)).map(u32::from).collect()
    }

    /// The score, and the precision that it has at most.
    fn score_in(&self, sums: &[f64], precision: Precision) -> (f64, Precision) {
        if self.eps_smoothing {
            self.mean_of_scores(sums, precision)
        } else {
            self.score_of_means(sums, precision)
        }
    }

    /// The F-score of precision and recall, each the mean over the orders that there are.
    fn score_of_means(&self, sums: &[f64], precision: Precision) -> (f64, Precision) {
        let round = |value| precision.round(value);
        let (mut p, mut r, mut orders) = (0.0, 0.0, 0.0);
        for counts in sums.chunks_exact(3) {
            let (output, reference, matched) = (counts[0], counts[1], counts[2]);
            if output > 0.0 && reference > 0.0 {
                p = round(p + round(matched / output));
                r = round(r + round(matched / reference));
                orders += 1.0;
            }
        }
        if p + r == 0.0 {
            return (0.0, Precision::Double);
        }
        let score = self.f_score(round(p / orders), round(r / orders), precision);
        (round(100.0 * score), precision)
    }

    /// The mean over all orders of their F-scores, which are tiny where there is nothing.
    fn mean_of_scores(&self, sums: &[f64], precision: Precision) -> (f64, Precision) {
        let is_empty = |counts: &[f64]| counts[0] == 0.0 && counts[1] == 0.0;
        // Without a single character or word, nothing is ever in single precision.
        let precision = if is_empty(sums) { Precision::Double } else { precision };
        let round = |value| precision.round(value);
        let mut total = 0.0;
        for counts in sums.chunks_exact(3) {
            let share = |of: f64| if of > 0.0 { round(counts[2] / of) } else { EPSILON };
            let of_order = if is_empty(counts) { Precision::Double } else { precision };
            let score = self.f_score(share(counts[0]), share(counts[1]), of_order);
            total = round(total + round(score));
        }
        (round(round(100.0 * total) / self.orders() as f64), precision)
    }

    fn f_score(&self, p: f64, r: f64, precision: Precision) -> f64 {
        let round = |value| precision.round(value);
        let factor = f64::from(self.beta).powi(2);
        let weighted = round(round(factor * p) + r);
        if weighted > 0.0 { round(round(round((1.0 + factor) * p) * r) / weighted) } else { EPSILON }
    }
}

/// Parts a line into words, and the last or else the first character of a word from the rest if it
/// is ASCII punctuation.
fn words_and_marks(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| {
        let is_mark = |c: char| c.is_ascii_punctuation();
        let at = match (word.strip_suffix(is_mark), word.strip_prefix(is_mark)) {
            (Some(rest), _) => rest.len(),
            (None, Some(rest)) => word.len() - rest.len(),
            (None, None) => word.len(),
        };
        let (left, right) = word.split_at(at);
        [left, right].into_iter().filter(|part| !part.is_empty())
    })
}

impl Metric for Chrf {
    type Score = ChrfScore;
    type Workspace = NgramCounts;

    fn width(&self) -> usize {
        3 * self.orders()
    }

    fn measure(
        &self,
        hypothesis: &str,
        references: &[&str],
        ngrams: &mut NgramCounts,
        statistics: &mut [f64],
    ) {
        let hypothesis = self.prepare(hypothesis);
        let references: Vec<Cow<'_, str>> = references.iter().map(|text| self.prepare(text)).collect();
        let mut numbers = Words::default();
        let mut symbols = |text| {
            let words = if self.word_order > 0 { numbers.numbers(words_and_marks(text)) } else { Vec::new() };
            [self.characters(text), words]
        };
        let hypothesis = symbols(&hypothesis);
        let mut best = -1.0;
        for reference in &references {
            let reference = symbols(reference);
            let mut counts = Vec::with_capacity(self.width());
            for (side, order) in [self.char_order, self.word_order].into_iter().enumerate() {
                compare(&hypothesis[side], &reference[side], order, ngrams, &mut counts);
            }
            let (score, _) = self.score_in(&counts, Precision::Double);
            if score > best {
                best = score;
                statistics.copy_from_slice(&counts);
            }
        }
    }

    fn score(&self, sums: &[f64]) -> ChrfScore {
        let (score, _) = self.score_in(sums, Precision::Double);
        ChrfScore { score, word_order: self.word_order, beta: self.beta }
    }

    fn sampled(&self, sums: &[f32]) -> Sampled {
        let sums: Vec<f64> = sums.iter().map(|&sum| f64::from(sum)).collect();
        match self.score_in(&sums, Precision::Single) {
            (score, Precision::Single) => Sampled::Single(score as f32),
            (score, Precision::Double) => Sampled::Double(score),
        }
    }

    fn signature(&self, statistics: &Statistics) -> Signature {
        Signature::new(statistics.references())
            .with("case", "c", if self.lowercase { "lc" } else { "mixed" })
            .with_choice("eff", "e", !self.eps_smoothing)
            .with("nc", "nc", self.char_order)
            .with("nw", "nw", self.word_order)
            .with_choice("space", "s", self.whitespace)
    }
}

/// The three counts of each order: of the output, of the reference, and matched.
fn compare(
    hypothesis: &[u32],
    reference: &[u32],
    order: usize,
    ngrams: &mut NgramCounts,
    counts: &mut Vec<f64>,
) {
    ngrams.clear();
    ngrams.add_reference(reference, order);
    let mut matched = vec![0.0; order];
    ngrams.take_matches(hypothesis, &mut matched);
    for (order, matched) in (1..).zip(matched) {
        let of_reference = count(reference.len(), order);
        // What has no counterpart in the reference is not held against the output.
        let of_output = if of_reference > 0.0 { count(hypothesis.len(), order) } else { 0.0 };
        counts.extend([of_output, of_reference, matched]);
    }
}

/// A chrF score.
#[derive(Clone, Debug, PartialEq)]
pub struct ChrfScore {
    /// The score, 0 to 100.
    pub score: f64,
    /// The longest n-grams of words that were counted.
    pub word_order: usize,
    /// How many times recall weighs as much as precision.
    pub beta: u32,
}

impl Score for ChrfScore {
    fn name(&self) -> String {
        format!("chrF{}{}", self.beta, "+".repeat(self.word_order))
    }

    fn value(&self) -> f64 {
        self.score
    }
}

impl fmt::Display for ChrfScore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.line(2, None, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_of_a_word_stands_alone() {
        let parts = |text| words_and_marks(text).collect::<Vec<_>>();
        assert_eq!(parts("(hi) \"so , don't «no»"), ["(hi", ")", "\"", "so", ",", "don't", "«no»"]);
        assert_eq!(parts(".. ."), [".", ".", "."]);
    }

    #[test]
    fn the_name_tells_beta_and_words() {
        let name = |chrf: Chrf| chrf.sentence_score("a", &["a"]).unwrap().name();
        assert_eq!(name(Chrf::default()), "chrF2");
        assert_eq!(name(Chrf { beta: 3, ..Chrf::plus_plus() }), "chrF3++");
    }
}
