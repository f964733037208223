//! Noise: sources disturbed as people disturb them, to see how much a model depends on clean input.
//!
//! | kind | what becomes of a word, with probability `rate` |
//! |---|---|
//! | `typos` | two letters that stand side by side change places, or one is lost, doubled, or replaced by another of the same text |
//! | `dropped-words` | it is lost; one word always stays |
//! | `swapped-words` | it changes places with the next, and both then stay where they are |
//! | `casing` | it is written in capitals, in small letters, or with a capital at its head, whichever it is not yet |
//!
//! A word is what white space separates, and a letter what a reader takes for one, marks that combine with it
//! included. White space stays as it is, but around words that are lost. A word without letters and digits has
//! no typos, one without upper and lower case no casing, and equal words do not change places.
//!
//! What becomes of a text depends on the kind, the seed and the number of the text alone.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use rand::RngExt;
use rand::seq::IndexedRandom;
use unicode_segmentation::UnicodeSegmentation;

use crate::random::{ChaCha8Rng, generator, mixed};

/// A kind of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noise {
    /// Letters that are exchanged, lost, doubled or wrong.
    Typos,
    /// Words that are lost.
    DroppedWords,
    /// Words that change places with their neighbours.
    SwappedWords,
    /// Words in capitals, in small letters, or with a capital at the head.
    Casing,
}

/// A text that noise has been at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disturbed {
    /// What is left.
    pub text: String,
    /// Which word of the original each word is, counted from zero.
    pub words: Vec<usize>,
}

impl Noise {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Typos, Self::DroppedWords, Self::SwappedWords, Self::Casing];

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Typos => "typos",
            Self::DroppedWords => "dropped-words",
            Self::SwappedWords => "swapped-words",
            Self::Casing => "casing",
        }
    }

    /// What becomes of text number `number`. Each word is disturbed with probability `rate`; at 0 nothing
    /// happens, at 1 whatever can.
    pub fn disturb(self, text: &str, rate: f64, seed: u64, number: u64) -> Disturbed {
        let mut dice = Dice { generator: generator(mixed(seed, self as u64), number), rate };
        let words = spans(text);
        match self {
            Self::Typos => {
                let letters = Letters::of(text);
                rewritten(text, &words, |word| if dice.falls() { dice.typo(word, &letters) } else { None })
            }
            Self::Casing => {
                rewritten(text, &words, |word| if dice.falls() { dice.casing(word) } else { None })
            }
            Self::DroppedWords => dropped(text, &words, &mut dice),
            Self::SwappedWords => swapped(text, &words, &mut dice),
        }
    }
}

impl Disturbed {
    /// The labels of the words that are left, where `labels` has one for each word of the original.
    ///
    /// ```
    /// # use gatto_data::noise::Disturbed;
    /// let found = Disturbed { text: "is cat".into(), words: vec![2, 1] };
    /// assert_eq!(found.labels("DET NOUN VERB"), "VERB NOUN");
    /// ```
    pub fn labels(&self, labels: &str) -> String {
        let labels: Vec<&str> = labels.split_whitespace().collect();
        let left: Vec<&str> = self.words.iter().filter_map(|&word| labels.get(word).copied()).collect();
        left.join(" ")
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Noise {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("`{name}` is no kind of noise; choose from {}", known()))
    }
}

/// Where the words of a text stand.
fn spans(text: &str) -> Vec<Range<usize>> {
    let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| start(word)..start(word) + word.len()).collect()
}

/// A text with some of its words written otherwise; `None` leaves a word as it is.
fn rewritten(text: &str, words: &[Range<usize>], mut write: impl FnMut(&str) -> Option<String>) -> Disturbed {
    let (mut written, mut from) = (String::with_capacity(text.len()), 0);
    for word in words {
        written += &text[from..word.start];
        let word_text = &text[word.clone()];
        written += write(word_text).as_deref().unwrap_or(word_text);
        from = word.end;
    }
    written += &text[from..];
    Disturbed { text: written, words: (0..words.len()).collect() }
}

/// A text without some of its words, each with the white space before it.
fn dropped(text: &str, words: &[Range<usize>], dice: &mut Dice) -> Disturbed {
    let mut left: Vec<usize> = (0..words.len()).filter(|_| !dice.falls()).collect();
    if left.is_empty() && !words.is_empty() {
        left.push(dice.generator.random_range(0..words.len()));
    }
    let mut written = String::with_capacity(text.len());
    for (place, &word) in left.iter().enumerate() {
        // The first that is left stands where the first stood.
        let before = if place == 0 { 0 } else { word };
        let gap = if before == 0 { 0..words[0].start } else { words[before - 1].end..words[before].start };
        written += &text[gap];
        written += &text[words[word].clone()];
    }
    written += &text[words.last().map_or(0, |last| last.end)..];
    Disturbed { text: written, words: left }
}

/// A text some of whose words have changed places with the next.
fn swapped(text: &str, words: &[Range<usize>], dice: &mut Dice) -> Disturbed {
    let mut order: Vec<usize> = (0..words.len()).collect();
    let mut place = 0;
    while place + 1 < order.len() {
        let differ = text[words[place].clone()] != text[words[place + 1].clone()];
        if dice.falls() && differ {
            order.swap(place, place + 1);
            place += 1; // the other has moved already
        }
        place += 1;
    }
    let mut from = order.iter();
    let written = rewritten(text, words, |_| from.next().map(|&word| text[words[word].clone()].to_owned()));
    Disturbed { words: order, ..written }
}

/// The letters and the digits of a text, each once.
struct Letters<'a> {
    letters: BTreeSet<&'a str>,
    digits: BTreeSet<&'a str>,
}

impl<'a> Letters<'a> {
    fn of(text: &'a str) -> Self {
        let (digits, letters) =
            text.graphemes(true).filter(|sign| is_letter(sign)).partition(|s| is_digit(s));
        Self { letters, digits }
    }

    /// Letters other than `letter` to write in its place, or digits for a digit: those of the text, or if
    /// there are none the neighbours in its alphabet.
    fn instead_of(&self, letter: &str) -> Vec<String> {
        let (like, digit) = if is_digit(letter) { (&self.digits, true) } else { (&self.letters, false) };
        let others: Vec<String> =
            like.iter().filter(|other| **other != letter).map(|s| (*s).to_owned()).collect();
        if !others.is_empty() {
            return others;
        }
        let code = letter.chars().next().map_or(0, u32::from);
        let neighbours = [code.saturating_sub(1), code + 1].into_iter().filter_map(char::from_u32);
        let neighbours = neighbours.map(String::from);
        neighbours.filter(|other| is_letter(other) && is_digit(other) == digit).collect()
    }
}

/// Whether a sign can be mistyped: a letter or a digit, with its marks.
fn is_letter(sign: &str) -> bool {
    sign.chars().next().is_some_and(char::is_alphanumeric)
}

fn is_digit(sign: &str) -> bool {
    sign.chars().next().is_some_and(char::is_numeric)
}

/// What is drawn.
struct Dice {
    generator: ChaCha8Rng,
    rate: f64,
}

impl Dice {
    /// Whether a word is disturbed.
    fn falls(&mut self) -> bool {
        self.generator.random::<f64>() < self.rate
    }

    /// A word with one typo; `None` if it has no letters.
    fn typo(&mut self, word: &str, letters: &Letters<'_>) -> Option<String> {
        let signs: Vec<&str> = word.graphemes(true).collect();
        let places: Vec<usize> = (0..signs.len()).filter(|&place| is_letter(signs[place])).collect();
        let place = *places.choose(&mut self.generator)?;
        let exchanged = signs.get(place + 1).filter(|next| is_letter(next) && **next != signs[place]);
        let others = letters.instead_of(signs[place]);
        // The kinds of typo that are possible here.
        let possible = [exchanged.is_some(), places.len() > 1, true, !others.is_empty()];
        let kinds: Vec<usize> = (0..possible.len()).filter(|&kind| possible[kind]).collect();
        let mut written: Vec<&str> = signs.clone();
        match *kinds.choose(&mut self.generator)? {
            0 => written.swap(place, place + 1),
            1 => drop(written.remove(place)),
            2 => written.insert(place, signs[place]),
            _ => written[place] = others.choose(&mut self.generator)?,
        }
        Some(written.concat())
    }

    /// A word with its letters upper or lower, as they were not; `None` if they are neither.
    fn casing(&mut self, word: &str) -> Option<String> {
        let lower = word.to_lowercase();
        let mut letters = lower.chars();
        let titled = letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())?;
        let mut forms = vec![word.to_uppercase(), lower, titled];
        forms.retain(|form| form != word);
        forms.dedup();
        forms.choose(&mut self.generator).cloned()
    }
}

#[cfg(test)]
#[path = "noise_tests.rs"]
mod tests;
