//! Words under way to a sentence pair. Each bears the meanings that it expresses; words of the two
//! languages that share a meaning are aligned.

use super::lexicon::Idiom;
use crate::{Example, Link};

/// A set of meanings, one bit each.
pub(super) type Meaning = u128;

/// Hands out meanings that no word bears yet.
#[derive(Default)]
pub(super) struct Meanings(u32);

impl Meanings {
    /// A new meaning. A sentence has far fewer words than the 128 meanings that there are.
    pub(super) fn fresh(&mut self) -> Meaning {
        let meaning = 1 << (self.0 % Meaning::BITS);
        self.0 += 1;
        meaning
    }
}

/// One word, and what it expresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) text: &'static str,
    pub(super) meaning: Meaning,
}

/// A piece of a sentence pair.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) english: Vec<Token>,
    pub(super) italian: Vec<Token>,
}

impl Fragment {
    /// Appends an English word.
    pub(super) fn english(&mut self, text: &'static str, meaning: Meaning) {
        self.english.push(Token { text, meaning });
    }

    /// Appends an Italian word.
    pub(super) fn italian(&mut self, text: &'static str, meaning: Meaning) {
        self.italian.push(Token { text, meaning });
    }

    /// Appends `other` in both languages.
    pub(super) fn append(&mut self, other: Self) {
        self.english.extend(other.english);
        self.italian.extend(other.italian);
    }

    /// Appends a fixed expression in both languages.
    pub(super) fn idiom(&mut self, idiom: &'static Idiom, meanings: &mut Meanings) {
        let parts: [Meaning; 4] = {
            let used = idiom.english.iter().map(|(_, part)| *part).max().unwrap_or(0) as usize;
            std::array::from_fn(|part| if (1..=used).contains(&part) { meanings.fresh() } else { 0 })
        };
        let token = |(text, part): &(&'static str, u32)| Token { text, meaning: parts[*part as usize % 4] };
        self.english.extend(idiom.english.iter().map(token));
        self.italian.extend(idiom.italian.iter().map(token));
    }

    /// The finished pair with its alignment.
    pub(super) fn example(&self) -> Example {
        let mut links = Vec::with_capacity(self.english.len() + self.italian.len());
        for (source, english) in self.english.iter().enumerate() {
            for (target, italian) in self.italian.iter().enumerate() {
                if english.meaning & italian.meaning != 0 {
                    links.push(Link { source, target });
                }
            }
        }
        Example { alignment: Some(links), ..Example::new(text(&self.english), text(&self.italian)) }
    }
}

/// The words as running text.
fn text(tokens: &[Token]) -> String {
    let mut text = String::with_capacity(tokens.len() * 8);
    for token in tokens {
        if !(text.is_empty() || text.ends_with('\'') || token.text == "?") {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}
