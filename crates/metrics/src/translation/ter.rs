//! TER (Snover et al. 2006): how many edits turn the output into a reference, for each word of it.
//!
//! ```text
//! TER = edits / words of the reference, mean over the references of a line
//! ```
//!
//! An edit inserts, deletes or replaces a word, or shifts a stretch of words to another place. Of
//! several references, the one that needs the fewest edits counts.

use super::edits::EditSearch;
use super::metric::Precision;
use super::ngrams::Words;
use super::tercom::prepare;
use super::text::words;
use super::{Metric, Sampled, Score, Signature, Statistics};
use std::fmt;

/// TER with its settings.
///
/// The statistics of a line are the edits and the mean length of the references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ter {
    /// Whether escapes are turned back and punctuation stands alone.
    pub normalized: bool,
    /// Whether punctuation is left out.
    pub no_punct: bool,
    /// Whether the two former also see to Chinese characters and their punctuation.
    pub asian_support: bool,
    /// Whether capitals differ from small letters.
    pub case_sensitive: bool,
}

impl Ter {
    /// A line as it is compared, its words one space apart.
    pub fn tokenize(&self, line: &str) -> String {
        prepare(self, line)
    }

    fn score_in(sums: &[f64], precision: Precision) -> (f64, Precision) {
        let (edits, length) = (sums[0], sums[1]);
        if length > 0.0 {
            (precision.round(100.0 * precision.round(edits / length)), precision)
        } else {
            (if edits > 0.0 { 100.0 } else { 0.0 }, Precision::Double)
        }
    }
}

impl Metric for Ter {
    type Score = TerScore;
    type Workspace = EditSearch;

    fn width(&self) -> usize {
        2
    }

    fn measure(
        &self,
        hypothesis: &str,
        references: &[&str],
        search: &mut EditSearch,
        statistics: &mut [f64],
    ) {
        let hypothesis = prepare(self, hypothesis);
        // sacreBLEU prepares references twice, and normalising twice is not the same as once.
        let prepare_twice = |text: &&str| prepare(self, &prepare(self, text));
        let references: Vec<String> = references.iter().map(prepare_twice).collect();
        let mut numbers = Words::default();
        let hypothesis = numbers.numbers(words(&hypothesis));
        let (mut fewest, mut length) = (None, 0);
        for reference in &references {
            let reference = numbers.numbers(words(reference));
            let edits = search.edits(&hypothesis, &reference);
            fewest = Some(fewest.map_or(edits, |fewest: usize| fewest.min(edits)));
            length += reference.len();
        }
        statistics[0] = fewest.unwrap_or(hypothesis.len()) as f64;
        statistics[1] = length as f64 / references.len().max(1) as f64;
    }

    fn score(&self, sums: &[f64]) -> TerScore {
        let (score, _) = Self::score_in(sums, Precision::Double);
        TerScore { score, edits: sums[0] as u64, reference_length: sums[1] }
    }

    fn sampled(&self, sums: &[f32]) -> Sampled {
        match Self::score_in(&[f64::from(sums[0]), f64::from(sums[1])], Precision::Single) {
            (score, Precision::Single) => Sampled::Single(score as f32),
            (score, Precision::Double) => Sampled::Double(score),
        }
    }

    fn signature(&self, statistics: &Statistics) -> Signature {
        Signature::new(statistics.references())
            .with("case", "c", if self.case_sensitive { "mixed" } else { "lc" })
            .with("tok", "t", "tercom")
            .with_choice("norm", "nr", self.normalized)
            .with_choice("punct", "pn", !self.no_punct)
            .with_choice("asian", "as", self.asian_support)
    }
}

/// A TER score.
#[derive(Clone, Debug, PartialEq)]
pub struct TerScore {
    /// The score in percent: 0 at best, and more than 100 where there are more edits than words.
    pub score: f64,
    /// The edits.
    pub edits: u64,
    /// The words of the references.
    pub reference_length: f64,
}

impl Score for TerScore {
    fn name(&self) -> String {
        "TER".to_owned()
    }

    fn value(&self) -> f64 {
        self.score
    }
}

impl fmt::Display for TerScore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.line(2, None, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_one_edit() {
        let score = Ter::default().sentence_score("b c d a", &["a b c d"]).unwrap();
        assert_eq!((score.edits, score.score), (1, 25.0));
    }

    #[test]
    fn an_empty_reference_is_all_or_nothing() {
        let score = |hypothesis| Ter::default().sentence_score(hypothesis, &[""]).unwrap().score;
        assert_eq!((score(""), score("a b")), (0.0, 100.0));
    }

    #[test]
    fn kana_stay_whole_and_chinese_characters_do_not() {
        let ter = Ter { normalized: true, asian_support: true, ..Ter::default() };
        assert_eq!(ter.tokenize("猫はテーブルの上。"), "猫 はテーブルの 上 。");
        assert_eq!(ter.tokenize("ひらがな"), "ひらがな");
    }
}
