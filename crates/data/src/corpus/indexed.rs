//! Examples that are known by their number: a list in memory, or a task that makes the n-th on demand.

use super::{Corpus, Position};
use crate::error::LineProblem;
use crate::{DataError, Example};
use rayon::prelude::*;
use std::collections::VecDeque;

/// The most examples that are made ahead of being read.
const MOST_AHEAD: u64 = 4096;

/// Examples that can be had by number, in any order, the same ones each time.
pub trait Indexed: Send + Sync {
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

/// [`Indexed`] examples read in order. All threads make some of them ahead, the more the longer one reads.
#[derive(Clone, Debug)]
pub struct IndexedCorpus<I> {
    examples: I,
    next: u64,
    /// The examples from `next` on that are there already.
    ready: VecDeque<Example>,
    /// How many are made when there are none.
    ahead: u64,
}

/// A corpus that is held in memory.
pub type Memory = IndexedCorpus<Vec<Example>>;

impl<I: Indexed> IndexedCorpus<I> {
    /// A corpus of these examples.
    pub fn new(examples: I) -> Self {
        Self { examples, next: 0, ready: VecDeque::new(), ahead: 1 }
    }

    /// Makes some examples from `next` on, up to one that cannot be had. If that is the first, it says why.
    fn make(&mut self) -> Result<(), DataError> {
        let numbers = self.next..self.examples.len().min(self.next.saturating_add(self.ahead));
        let made: Vec<_> = numbers.into_par_iter().map(|index| self.examples.get(index)).collect();
        self.ahead = (2 * self.ahead).min(MOST_AHEAD);
        for example in made {
            match example {
                Ok(example) => self.ready.push_back(example),
                Err(error) if self.ready.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(())
    }
}

impl<I: Indexed> Corpus for IndexedCorpus<I> {
    fn next(&mut self) -> Result<Option<Example>, DataError> {
        if self.ready.is_empty() {
            self.make()?;
        }
        let example = self.ready.pop_front();
        self.next += u64::from(example.is_some());
        Ok(example)
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
        self.ready.clear();
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

    /// Says its number; some cannot be had.
    struct Numbers(u64);

    impl Indexed for Numbers {
        fn len(&self) -> u64 {
            self.0
        }

        fn get(&self, index: u64) -> Result<Example, DataError> {
            match index % 1000 {
                999 => Err(DataError::Example {
                    number: index,
                    problem: LineProblem::LabelCount { words: 0, labels: 1 },
                }),
                _ => Ok(Example::new(index.to_string(), "")),
            }
        }
    }

    #[test]
    fn what_is_made_ahead_comes_in_order() {
        let mut corpus = IndexedCorpus::new(Numbers(20_999));
        let mut read = |from: u64, to: u64| {
            for index in from..to {
                assert_eq!(corpus.position().example, index);
                assert_eq!(corpus.next().unwrap().unwrap().source, index.to_string());
            }
            corpus
                .seek(&Position { example: to + 1, ..Position::start() })
                .map(|()| corpus.position().example)
        };
        for part in 0..20 {
            assert_eq!(read(part * 1000, part * 1000 + 999).unwrap(), part * 1000 + 1000);
        }
        assert!(matches!(read(20_000, 20_999), Err(DataError::Position { .. })));
        assert_eq!(corpus.next().unwrap(), None);
        // What is there already is of another place.
        for (to, count) in [(5, 300), (10, 100), (700, 1)] {
            corpus.seek(&Position { example: to, ..Position::start() }).unwrap();
            for index in to..to + count {
                assert_eq!(corpus.next().unwrap().unwrap().source, index.to_string());
            }
        }
    }

    #[test]
    fn an_example_that_cannot_be_had_is_an_error_where_it_stands() {
        let mut corpus = IndexedCorpus::new(Numbers(2000));
        for _ in 0..999 {
            corpus.next().unwrap();
        }
        for _ in 0..2 {
            assert!(matches!(corpus.next(), Err(DataError::Example { number: 999, .. })));
            assert_eq!(corpus.position().example, 999);
        }
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
