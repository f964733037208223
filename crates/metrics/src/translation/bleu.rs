//! BLEU (Papineni et al. 2002): how many n-grams of the output a reference has too.
//!
//! ```text
//! BLEU = BP · exp( 1/N Σₙ log pₙ )      pₙ = matched n-grams / n-grams of the output
//! BP   = min(1, exp(1 − r/c))           c and r: tokens of the output and of the closest references
//! ```
//!
//! An n-gram is matched at most as often as the reference that has it most often has it. The
//! reference that is closest in length counts as the length, the shorter one of two.

use super::metric::Precision;
use super::ngrams::{NgramCounts, Words, count};
use super::text::{trim_end, words};
use super::{Metric, Sampled, Score, Signature, Statistics, Tokenizer, TranslationError};
use std::borrow::Cow;
use std::fmt;

/// The logarithm of a precision of zero.
const LOG_OF_ZERO: f64 = -9_999_999_999.0;

/// What becomes of a precision of zero (Chen and Cherry 2014, *A Systematic Comparison of Smoothing
/// Techniques for Sentence-Level BLEU*).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Smoothing {
    /// `exp`: the first zero counts as half a match, the next as a quarter, and so on.
    #[default]
    Exponential,
    /// `floor`: a zero counts as this many matches.
    Floor(f64),
    /// `add-k`: this is added to the matches and to the n-grams of every order but the first.
    AddK(f64),
    /// `none`: a zero makes the score zero.
    None,
}

impl Smoothing {
    /// `floor` with its usual value.
    pub const FLOOR: Self = Self::Floor(0.1);
    /// `add-k` with its usual value.
    pub const ADD_K: Self = Self::AddK(1.0);

    /// The smoothing of a name, with its usual value unless another is given.
    pub fn named(name: &str, value: Option<f64>) -> Result<Self, TranslationError> {
        let found = match (name, value) {
            ("exp", None) => Self::Exponential,
            ("none", None) => Self::None,
            ("floor", None) => Self::FLOOR,
            ("floor", Some(value)) => Self::Floor(value),
            ("add-k", None) => Self::ADD_K,
            ("add-k", Some(value)) => Self::AddK(value),
            ("exp" | "none", Some(_)) => {
                return Err(TranslationError::SmoothingValue { name: name.to_owned() });
            }
            _ => return Err(TranslationError::Smoothing { name: name.to_owned() }),
        };
        Ok(found)
    }
}

impl fmt::Display for Smoothing {
    /// As in a signature: the name, and the value if there is one.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exponential => write!(out, "exp"),
            Self::Floor(value) => write!(out, "floor[{value:.2}]"),
            Self::AddK(value) => write!(out, "add-k[{value:.2}]"),
            Self::None => write!(out, "none"),
        }
    }
}

/// BLEU with its settings.
///
/// The statistics of a line are the tokens of the output, those of the closest reference, then the
/// matched n-grams of each order, then all n-grams of the output of each order.
#[derive(Clone, Debug, PartialEq)]
pub struct Bleu {
    /// How a line is parted into tokens.
    pub tokenizer: Tokenizer,
    /// Whether capitals count as small letters.
    pub lowercase: bool,
    /// What becomes of a precision of zero.
    pub smoothing: Smoothing,
    /// The longest n-grams.
    pub max_order: usize,
    /// Whether orders that the output is too short for are left out: sensible for single sentences.
    pub effective_order: bool,
}

impl Default for Bleu {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::default(),
            lowercase: false,
            smoothing: Smoothing::default(),
            max_order: 4,
            effective_order: false,
        }
    }
}

impl Bleu {
    /// The usual settings for single sentences: with the effective order.
    pub fn for_sentences() -> Self {
        Self { effective_order: true, ..Self::default() }
    }

    fn prepare(&self, text: &str) -> String {
        let text = if self.lowercase { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
        self.tokenizer.separate(trim_end(&text)).into_owned()
    }

    /// The precision of each order in percent, and how many orders count.
    fn precisions(&self, matched: &[f64], totals: &[f64], precision: Precision) -> (Vec<f64>, usize) {
        let round = |value| precision.round(value);
        let mut precisions = vec![0.0; self.max_order];
        let mut effective = self.max_order;
        let mut halvings = 1.0;
        for (at, (&matched, &total)) in matched.iter().zip(totals).enumerate() {
            let added = match self.smoothing {
                Smoothing::AddK(value) if at > 0 => round(value),
                _ => 0.0,
            };
            let (matched, total) = (round(matched + added), round(total + added));
            if total == 0.0 {
                break;
            }
            if self.effective_order {
                effective = at + 1;
            }
            precisions[at] = match self.smoothing {
                _ if matched != 0.0 => round(round(100.0 * matched) / total),
                Smoothing::Exponential => {
                    halvings *= 2.0;
                    round(100.0 / round(halvings * total))
                }
                Smoothing::Floor(value) => round(round(100.0 * value) / total),
                Smoothing::AddK(_) | Smoothing::None => 0.0,
            };
        }
        (precisions, effective)
    }

    fn score_in(&self, sums: &[f64], precision: Precision) -> BleuScore {
        let (lengths, counts) = sums.split_at(2);
        let (matched, totals) = counts.split_at(self.max_order);
        let whole = |counts: &[f64]| counts.iter().map(|&count| count as u64).collect();
        let mut score = BleuScore {
            score: 0.0,
            matched: whole(matched),
            totals: whole(totals),
            precisions: vec![0.0; self.max_order],
            brevity_penalty: brevity_penalty(lengths[0], lengths[1]),
            hypothesis_length: lengths[0] as u64,
            reference_length: lengths[1] as u64,
        };
        if matched.iter().any(|&matched| matched > 0.0) {
            let (precisions, effective) = self.precisions(matched, totals, precision);
            let logarithm = |&precision: &f64| if precision == 0.0 { LOG_OF_ZERO } else { precision.ln() };
            let logarithms: f64 = precisions[..effective].iter().map(logarithm).sum();
            score.score = score.brevity_penalty * (logarithms / effective as f64).exp();
            score.precisions = precisions;
        }
        score
    }
}

fn brevity_penalty(hypothesis: f64, reference: f64) -> f64 {
    match hypothesis {
        _ if hypothesis >= reference => 1.0,
        0.0 => 0.0,
        _ => (1.0 - reference / hypothesis).exp(),
    }
}

impl Metric for Bleu {
    type Score = BleuScore;
    type Workspace = NgramCounts;

    fn width(&self) -> usize {
        2 + 2 * self.max_order
    }

    fn measure(
        &self,
        hypothesis: &str,
        references: &[&str],
        ngrams: &mut NgramCounts,
        statistics: &mut [f64],
    ) {
        let hypothesis = self.prepare(hypothesis);
        let references: Vec<String> = references.iter().map(|text| self.prepare(text)).collect();
        let mut numbers = Words::default();
        let hypothesis = numbers.numbers(words(&hypothesis));
        ngrams.clear();
        let mut lengths = Vec::with_capacity(references.len());
        for reference in &references {
            let reference = numbers.numbers(words(reference));
            ngrams.add_reference(&reference, self.max_order);
            lengths.push(reference.len());
        }
        let closest = lengths.into_iter().min_by_key(|&length| (length.abs_diff(hypothesis.len()), length));
        statistics[0] = hypothesis.len() as f64;
        statistics[1] = closest.unwrap_or(0) as f64;
        let (matched, totals) = statistics[2..].split_at_mut(self.max_order);
        ngrams.take_matches(&hypothesis, matched);
        for (order, total) in (1..).zip(totals) {
            *total = count(hypothesis.len(), order);
        }
    }

    fn score(&self, sums: &[f64]) -> BleuScore {
        self.score_in(sums, Precision::Double)
    }

    fn sampled(&self, sums: &[f32]) -> Sampled {
        let sums: Vec<f64> = sums.iter().map(|&sum| f64::from(sum)).collect();
        // The precisions are in single precision, their logarithms and the score are not.
        Sampled::Double(self.score_in(&sums, Precision::Single).score)
    }

    fn signature(&self, statistics: &Statistics) -> Signature {
        Signature::new(statistics.references())
            .with("case", "c", if self.lowercase { "lc" } else { "mixed" })
            .with_choice("eff", "e", self.effective_order)
            .with("tok", "tok", self.tokenizer)
            .with("smooth", "s", self.smoothing)
    }
}

/// A BLEU score and all that it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct BleuScore {
    /// The score, 0 to 100.
    pub score: f64,
    /// Matched n-grams of each order, before any smoothing.
    pub matched: Vec<u64>,
    /// N-grams of the output of each order, before any smoothing.
    pub totals: Vec<u64>,
    /// The precision of each order in percent, smoothed.
    pub precisions: Vec<f64>,
    /// The factor for output that is shorter than the references.
    pub brevity_penalty: f64,
    /// Tokens of the output.
    pub hypothesis_length: u64,
    /// Tokens of the closest references.
    pub reference_length: u64,
}

impl BleuScore {
    /// The length of the output over that of the references; 0 if those are empty.
    pub fn ratio(&self) -> f64 {
        match self.reference_length {
            0 => 0.0,
            length => self.hypothesis_length as f64 / length as f64,
        }
    }
}

impl Score for BleuScore {
    fn name(&self) -> String {
        "BLEU".to_owned()
    }

    fn value(&self) -> f64 {
        self.score
    }

    fn details(&self) -> String {
        let precisions: Vec<String> = self.precisions.iter().map(|value| format!("{value:.1}")).collect();
        format!(
            "{} (BP = {:.3} ratio = {:.3} hyp_len = {} ref_len = {})",
            precisions.join("/"),
            self.brevity_penalty,
            self.ratio(),
            self.hypothesis_length,
            self.reference_length
        )
    }
}

impl fmt::Display for BleuScore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.line(2, None, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_reference_is_the_length_and_of_two_the_shorter() {
        let length = |references: &[&str]| {
            Bleu::default().sentence_score("a b c", references).unwrap().reference_length
        };
        assert_eq!(length(&["a b c d", "a b"]), 2);
        assert_eq!(length(&["a", "a b c d"]), 4);
    }

    #[test]
    fn short_sentences_need_the_effective_order() {
        let score = |bleu: Bleu| bleu.sentence_score("a b", &["a b"]).unwrap().score;
        assert!((score(Bleu::for_sentences()) - 100.0).abs() < 1e-12);
        assert_eq!(score(Bleu::default()), 0.0);
    }

    #[test]
    fn smoothing_is_named_with_its_value() {
        assert_eq!(Smoothing::named("floor", None).unwrap().to_string(), "floor[0.10]");
        assert_eq!(Smoothing::named("add-k", Some(0.5)).unwrap().to_string(), "add-k[0.50]");
        assert!(Smoothing::named("exp", Some(1.0)).unwrap_err().to_string().contains("takes no value"));
        assert!(
            Smoothing::named("laplace", None).unwrap_err().to_string().contains("exp, floor, add-k, none")
        );
    }
}
