//! One side of a corpus of pairs, for a language model: as target, or as source where an encoder reads
//! the text and finds again what was hidden of it.

use serde::{Deserialize, Serialize};

use super::{Corpus, Position};
use crate::error::LineProblem;
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

/// A corpus whose examples have the chosen side alone, as target or as source; the other is empty.
pub struct OneSide<C> {
    corpus: C,
    side: Side,
    /// What the chosen side becomes.
    becomes: Side,
}

impl<C: Corpus> OneSide<C> {
    /// The given side of `corpus` as target, for a model that writes text.
    pub fn new(corpus: C, side: Side) -> Self {
        Self { corpus, side, becomes: Side::Target }
    }

    /// The given side of `corpus` as source, for a model that reads text and writes none.
    pub fn as_source(corpus: C, side: Side) -> Self {
        Self { corpus, side, becomes: Side::Source }
    }
}

impl<C: Corpus> Corpus for OneSide<C> {
    fn next(&mut self) -> Result<Option<Example>, DataError> {
        let Some(example) = self.corpus.next()? else { return Ok(None) };
        let text = match self.side {
            Side::Source => example.source,
            Side::Target => example.target,
        };
        let one = match self.becomes {
            Side::Source => Example::new(text, ""),
            Side::Target => Example::new("", text),
        };
        Ok(Some(Example { group: example.group, ..one }))
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

    fn reject(&mut self, problem: LineProblem) -> Result<(), DataError> {
        self.corpus.reject(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn the_chosen_side_becomes_the_target_or_the_source() {
        for (side, text) in [(Side::Source, "cat"), (Side::Target, "gatto")] {
            let of_group = |example| Example { group: Some("news".into()), ..example };
            let pairs = Memory::new(vec![of_group(Example::new("cat", "gatto"))]);
            for (mut corpus, example) in [
                (OneSide::new(pairs.clone(), side), of_group(Example::new("", text))),
                (OneSide::as_source(pairs.clone(), side), of_group(Example::new(text, ""))),
            ] {
                assert_eq!(corpus.next().unwrap(), Some(example));
                assert_eq!(corpus.next().unwrap(), None);
            }
        }
    }
}
