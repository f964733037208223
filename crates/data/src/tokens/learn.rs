//! Learning a vocabulary: count the units of the training text, then keep the best. The result
//! depends on the text and the recipe alone, not on threads or the order of hash tables.

use std::collections::HashMap;

use super::vocabulary::Vocabulary;
use super::{Kind, SPECIALS, Tokenizer, lower, merges, split, unigram};
use crate::{DataError, words};

/// Words longer than this are not learnt from: nobody writes them twice, and learners slow down.
const LONGEST_WORD: usize = 1024;

/// How to learn a vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// What a token is.
    pub kind: Kind,
    /// The most tokens, the five special ones included. Not used by `byte`.
    pub size: usize,
    /// How often a word, character or pair has to occur. Not used by `byte` and `unigram`.
    pub min_frequency: u64,
    /// Lower-case all text first.
    pub lowercase: bool,
    /// The most texts, or examples of a corpus, to learn from.
    pub max_examples: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        Self { kind: Kind::Bpe, size: 8000, min_frequency: 1, lowercase: false, max_examples: 1_000_000 }
    }
}

impl Recipe {
    /// Refuses a size that cannot hold what every vocabulary of the kind holds.
    pub fn validate(&self) -> Result<(), DataError> {
        let least = match self.kind {
            Kind::Word => SPECIALS.len() + 1,
            Kind::Byte => 0,
            Kind::Char | Kind::Bpe | Kind::Unigram => SPECIALS.len() + 256,
        };
        if self.size < least {
            return Err(DataError::Size { kind: self.kind, size: self.size, least });
        }
        if self.size > u32::MAX as usize / 2 {
            return Err(DataError::Config {
                key: "size".into(),
                problem: "is too big; write a few thousand".into(),
            });
        }
        if self.max_examples == 0 {
            let problem = "0 leaves nothing to learn from; write 1 or more".into();
            return Err(DataError::Config { key: "max_examples".into(), problem });
        }
        Ok(())
    }
}

/// Learns a vocabulary from texts given one by one.
pub struct Learner {
    recipe: Recipe,
    /// How often each word occurs; for subwords, spelt in the byte alphabet.
    words: HashMap<String, u64>,
    letters: HashMap<char, u64>,
}

impl Learner {
    /// A learner that has seen nothing.
    pub fn new(recipe: &Recipe) -> Result<Self, DataError> {
        recipe.validate()?;
        Ok(Self { recipe: recipe.clone(), words: HashMap::new(), letters: HashMap::new() })
    }

    /// Takes a text into account.
    pub fn feed(&mut self, text: &str) {
        let lowered;
        let text = if self.recipe.lowercase {
            lowered = lower(text);
            &lowered
        } else {
            text
        };
        match self.recipe.kind {
            Kind::Byte => {}
            Kind::Char => text.chars().for_each(|letter| *self.letters.entry(letter).or_default() += 1),
            Kind::Word => words::split(text).into_iter().for_each(|word| self.count(word)),
            Kind::Bpe | Kind::Unigram => {
                for word in split::subword_spans(text).filter(|word| word.len() <= LONGEST_WORD) {
                    self.count(&split::to_alphabet(&text.as_bytes()[word]));
                }
            }
        }
    }

    fn count(&mut self, word: &str) {
        match self.words.get_mut(word) {
            Some(count) => *count += 1,
            None => drop(self.words.insert(word.to_owned(), 1)),
        }
    }

    /// The tokenizer that the texts so far make.
    pub fn finish(self) -> Result<Tokenizer, DataError> {
        let Recipe { kind, size, min_frequency, lowercase, .. } = self.recipe;
        if kind != Kind::Byte && self.words.is_empty() && self.letters.is_empty() {
            return Err(DataError::NoText);
        }
        let failed = |problem| DataError::Learning { kind, problem };
        let vocabulary = match kind {
            Kind::Byte => Vocabulary::Byte,
            Kind::Word => Vocabulary::Word(most_frequent(self.words, size - SPECIALS.len(), min_frequency)),
            Kind::Char => {
                let room = size - SPECIALS.len() - 256;
                Vocabulary::Char(most_frequent(self.letters, room, min_frequency))
            }
            Kind::Bpe => {
                Vocabulary::Bpe(merges::learn(sorted(self.words), size - SPECIALS.len(), min_frequency))
            }
            Kind::Unigram => Vocabulary::Unigram(unigram::learn(sorted(self.words), size - SPECIALS.len())),
        };
        if vocabulary == Vocabulary::Word(Vec::new()) {
            return Err(failed(format!("no word occurs {min_frequency} times; lower `min_frequency`")));
        }
        vocabulary.into_tokenizer(lowercase).map_err(failed)
    }
}

/// The most frequent units, the most frequent first; among equals, in their own order.
fn most_frequent<U: Ord>(counts: HashMap<U, u64>, most: usize, min_frequency: u64) -> Vec<U> {
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count >= min_frequency).collect();
    counts.sort_unstable_by(|(left, n), (right, m)| m.cmp(n).then_with(|| left.cmp(right)));
    counts.truncate(most);
    counts.into_iter().map(|(unit, _)| unit).collect()
}

/// Words in an order that no hash table has a say in.
fn sorted(counts: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}
