//! Word alignment: which source word and which target word translate each other, and how far the
//! links that were found are from those that were wanted.
//!
//! Against gold links that are sure, S, and possible, P ⊇ S, the links found, A, have over a corpus
//!
//! ```text
//! precision = |A ∩ P| / |A|     recall = |A ∩ S| / |S|
//! AER       = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
//! ```
//!
//! (Och and Ney 2003, *A Systematic Comparison of Various Statistical Alignment Models*,
//! Computational Linguistics 29(1).)

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The links of one sentence pair, each a source word and a target word, both counted from zero.
///
/// As text it is the Pharaoh format, `source-target` separated by spaces:
///
/// ```
/// # use gatto_metrics::Alignment;
/// let links: Alignment = "1-2 0-0".parse()?;
/// assert_eq!(links, Alignment::from_iter([(0, 0), (1, 2)]));
/// assert_eq!(links.to_string(), "0-0 1-2");
/// # Ok::<(), gatto_metrics::PharaohError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    links: BTreeSet<(usize, usize)>,
}

impl Alignment {
    /// Links read from the weights of target × source words: each target word with the source word
    /// of the largest weight, the first of several, and with every other source word whose weight
    /// is at least `share` of it. A share of 1 or more is the largest weight alone, even in a tie.
    ///
    /// A weight that is not positive never makes a link, so a target word that looks at nothing
    /// has none.
    pub fn from_weights(weights: &[Vec<f32>], share: f32) -> Self {
        let mut links = BTreeSet::new();
        for (target, row) in weights.iter().enumerate() {
            let positive = || row.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
            let first_largest = positive().reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((best, &largest)) = first_largest else { continue };
            links.insert((best, target));
            if share < 1.0 {
                let enough = positive().filter(|(_, weight)| **weight >= share * largest);
                links.extend(enough.map(|(source, _)| (source, target)));
            }
        }
        Self { links }
    }

    /// Adds a link; it may be there already.
    pub fn insert(&mut self, source: usize, target: usize) {
        self.links.insert((source, target));
    }

    /// Whether the two words are linked.
    pub fn contains(&self, source: usize, target: usize) -> bool {
        self.links.contains(&(source, target))
    }

    /// All links as (source, target), by source word and then by target word.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.links.iter().copied()
    }

    /// How many links there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }
}

impl FromIterator<(usize, usize)> for Alignment {
    fn from_iter<I: IntoIterator<Item = (usize, usize)>>(links: I) -> Self {
        Self { links: links.into_iter().collect() }
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (source, target)) in self.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(out, "{space}{source}-{target}")?;
        }
        Ok(())
    }
}

impl FromStr for Alignment {
    type Err = PharaohError;

    /// Reads the Pharaoh format. No links at all are an empty line; a link written twice counts once.
    fn from_str(text: &str) -> Result<Self, PharaohError> {
        text.split_whitespace().enumerate().map(|(at, link)| read_link(at + 1, link)).collect()
    }
}

fn read_link(number: usize, link: &str) -> Result<(usize, usize), PharaohError> {
    let word = |side, word: &str| {
        // `parse` alone would let `+1` pass.
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let read = if digits { word.parse().ok() } else { None };
        read.ok_or_else(|| PharaohError::Word { number, link: link.to_owned(), side, word: word.to_owned() })
    };
    let missing = || PharaohError::Hyphen { number, link: link.to_owned() };
    let (source, target) = link.split_once('-').ok_or_else(missing)?;
    Ok((word("source", source)?, word("target", target)?))
}

/// What is wrong with a line that should hold links in the Pharaoh format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PharaohError {
    /// A link is not in two parts.
    #[error("link {number}, `{link}`, has no hyphen; write source-target, such as 0-2")]
    Hyphen {
        /// Which link of the line, counted from one.
        number: usize,
        /// The link as it stands there.
        link: String,
    },

    /// A part of a link is no index of a word.
    #[error(
        "link {number}, `{link}`: the {side} word `{word}` is not a whole number from 0 to {}; \
         write source-target, such as 0-2",
        usize::MAX
    )]
    Word {
        /// Which link of the line, counted from one.
        number: usize,
        /// The link as it stands there.
        link: String,
        /// `source` or `target`.
        side: &'static str,
        /// The part that is no number.
        word: String,
    },
}

/// The links that an alignment is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoldAlignment {
    sure: Alignment,
    possible: Alignment,
}

impl GoldAlignment {
    /// Links that must be found, and links that may be. A sure link is possible too, whether or not
    /// `possible` repeats it.
    pub fn new(sure: Alignment, possible: Alignment) -> Self {
        let possible = sure.iter().chain(possible.iter()).collect();
        Self { sure, possible }
    }

    /// The links that must be found.
    pub fn sure(&self) -> &Alignment {
        &self.sure
    }

    /// The links that may be found, the sure ones among them.
    pub fn possible(&self) -> &Alignment {
        &self.possible
    }
}

impl From<Alignment> for GoldAlignment {
    /// Every link is sure, and no other is possible.
    fn from(sure: Alignment) -> Self {
        Self { possible: sure.clone(), sure }
    }
}

/// Links counted over a corpus, for the alignment error rate, precision and recall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlignmentErrorRate {
    /// |A|: links that were found.
    pub found: usize,
    /// |S|: gold links that are sure.
    pub sure: usize,
    /// |A ∩ S|: links found that are sure.
    pub found_sure: usize,
    /// |A ∩ P|: links found that are possible.
    pub found_possible: usize,
}

impl AlignmentErrorRate {
    /// Compares the links found with the gold ones, sentence by sentence.
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a Alignment, &'a GoldAlignment)>) -> Self {
        let mut counted = Self::default();
        for (found, gold) in pairs {
            counted.count(found, gold);
        }
        counted
    }

    /// Counts one more sentence.
    pub fn count(&mut self, found: &Alignment, gold: &GoldAlignment) {
        let shared = |wanted: &Alignment| found.links.intersection(&wanted.links).count();
        self.found += found.len();
        self.sure += gold.sure.len();
        self.found_sure += shared(&gold.sure);
        self.found_possible += shared(&gold.possible);
    }

    /// The alignment error rate, 0 at best and 1 at worst; `None` if no link was found or sure.
    pub fn rate(&self) -> Option<f64> {
        ratio(self.found_sure + self.found_possible, self.found + self.sure).map(|right| 1.0 - right)
    }

    /// The share of the links found that are possible; `None` if none was found.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.found_possible, self.found)
    }

    /// The share of the sure links that were found; `None` if none is sure.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.found_sure, self.sure)
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Weights of target × source tokens as weights of target × source words: the sum over the pieces
/// of a source word, the mean over the pieces of a target word.
///
/// `source_words` and `target_words` say which word each token belongs to; a token of no word, such
/// as the end, is left out, so a row may sum to less than before. There is a row and a column for
/// every word up to the last that is named, of zeros where a word has no token.
///
/// # Panics
///
/// If there is not a row for each target token, or not a column for each source token.
pub fn merge(
    weights: &[Vec<f32>],
    source_words: &[Option<usize>],
    target_words: &[Option<usize>],
) -> Vec<Vec<f32>> {
    assert_eq!(weights.len(), target_words.len(), "a row of weights for each target token");
    let words = |tokens: &[Option<usize>]| tokens.iter().flatten().max().map_or(0, |last| last + 1);
    let mut merged = vec![vec![0.0; words(source_words)]; words(target_words)];
    let mut pieces = vec![0_usize; merged.len()];
    for (row, target) in weights.iter().zip(target_words) {
        assert_eq!(row.len(), source_words.len(), "a weight for each source token");
        let Some(target) = *target else { continue };
        pieces[target] += 1;
        for (weight, source) in row.iter().zip(source_words) {
            if let Some(source) = *source {
                merged[target][source] += weight;
            }
        }
    }
    for (row, &pieces) in merged.iter_mut().zip(&pieces) {
        row.iter_mut().for_each(|weight| *weight /= pieces.max(1) as f32);
    }
    merged
}

#[cfg(test)]
#[path = "alignment_tests.rs"]
mod tests;
