//! Examples that are known by their number: a list in memory, or a task that makes the n-th on demand.

use super::{Corpus, Position};
use crate::error::LineProblem;
use crate::{DataError, Example};

/// Examples that can be had by number, in any order, the same ones each time.
pub trait Indexed: Send {
    /// How many there are.
    fn len(&self) -> u64;

    /// Example `index`, which is below `len`.
    fn get(&self, index: u64) -> Result<Example, DataError>;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Indexed for Vec<Example> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn get(&self, index: u64) -> Result<Example, DataError> {
        Ok(self[index as usize].clone())
    }
}

/// [`Indexed`] examples read in order.
#[derive(Clone, Debug)]
pub struct IndexedCorpus<I> {
    examples: I,
    next: u64,
}

/// A corpus that is held in memory.
pub type Memory = IndexedCorpus<Vec<Example>>;

impl<I: Indexed> IndexedCorpus<I> {
    /// A corpus of these examples.
    pub fn new(examples: I) -> Self {
        Self { examples, next: 0 }
    }
}

impl<I: Indexed> Corpus for IndexedCorpus<I> {
    fn next(&mut self) -> Result<Option<Example>, DataError> {
        if self.next >= self.examples.len() {
            return Ok(None);
        }
        self.next += 1;
        self.examples.get(self.next - 1).map(Some)
    }

    fn position(&self) -> Position {
        Position { example: self.next, ..Position::start() }
    }

    fn seek(&mut self, to: &Position) -> Result<(), DataError> {
        if to.example > self.examples.len() || (to != &Position { example: to.example, ..Position::start() })
        {
            let corpus = format!("a corpus of {} examples", self.examples.len());
            return Err(DataError::Position { corpus, at: format!("example {}", to.example) });
        }
        self.next = to.example;
        Ok(())
    }

    fn skipped(&self) -> u64 {
        0
    }

    fn reject(&mut self, problem: LineProblem) -> Result<(), DataError> {
        Err(DataError::Example { number: self.next, problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_beyond_the_end_or_of_a_file_are_refused() {
        let mut corpus = Memory::new(vec![Example::new("a", "b")]);
        for bad in [
            Position { example: 2, ..Position::start() },
            Position { example: 1, line: 1, offsets: vec![4], skipped: 0 },
        ] {
            assert!(matches!(corpus.seek(&bad), Err(DataError::Position { .. })));
        }
        corpus.seek(&Position { example: 1, ..Position::start() }).unwrap();
        assert_eq!(corpus.next().unwrap(), None);
    }

    #[test]
    fn a_rejected_example_is_told_by_its_number() {
        let mut corpus = Memory::new(vec![Example::new("a", "b"); 3]);
        corpus.next().unwrap();
        corpus.next().unwrap();
        let error = corpus.reject(LineProblem::LabelCount { words: 1, labels: 2 }).unwrap_err().to_string();
        assert!(error.starts_with("example 2 of the corpus: the source has 1 words"), "{error}");
    }
}
