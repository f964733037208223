//! One side of a corpus of pairs, for a language model.

use serde::{Deserialize, Serialize};

use super::{Corpus, Position};
use crate::{DataError, Example};

/// A side of an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What an encoder would read.
    Source,
    /// What a decoder writes.
    #[default]
    Target,
}

/// A corpus whose examples have the chosen side as target, and no source.
pub struct OneSide<C> {
    corpus: C,
    side: Side,
}

impl<C: Corpus> OneSide<C> {
    /// The given side of `corpus`.
    pub fn new(corpus: C, side: Side) -> Self {
        Self { corpus, side }
    }
}

impl<C: Corpus> Corpus for OneSide<C> {
    fn next(&mut self) -> Result<Option<Example>, DataError> {
        let text = |example: Example| match self.side {
            Side::Source => example.source,
            Side::Target => example.target,
        };
        Ok(self.corpus.next()?.map(|example| Example::new("", text(example))))
    }

    fn position(&self) -> Position {
        self.corpus.position()
    }

    fn seek(&mut self, to: &Position) -> Result<(), DataError> {
        self.corpus.seek(to)
    }

    fn skipped(&self) -> u64 {
        self.corpus.skipped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn the_chosen_side_becomes_the_target() {
        for (side, text) in [(Side::Source, "cat"), (Side::Target, "gatto")] {
            let pairs = Memory::new(vec![Example::new("cat", "gatto")]);
            let mut corpus = OneSide::new(pairs, side);
            assert_eq!(corpus.next().unwrap(), Some(Example::new("", text)));
            assert_eq!(corpus.next().unwrap(), None);
        }
    }
}
