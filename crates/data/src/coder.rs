//! How an example becomes rows of ids: what the encoder reads, and what is to come of it.
//!
//! | kind | target row | its end | its padding |
//! |---|---|---|---|
//! | texts | the tokens of the target | `END` | `PAD` |
//! | classes | the label of the source | none | none |
//! | tags | a word's label at the word's first token, `IGNORED` elsewhere | `IGNORED` | `IGNORED` |
//!
//! So the target row of tags has an entry for every token of its source, `END` included.

use std::sync::Arc;

use crate::batch::{Batch, Ending, IGNORED, Limits, batches};
use crate::corpus::Corpus;
use crate::error::LineProblem;
use crate::labels::{Labels, Unit};
use crate::tokens::{Tokenizer, TokenizerPair};
use crate::{DataError, Example};

/// The ids of a source and of what is to come of it, both without their ends.
pub type Rows = (Vec<u32>, Vec<u32>);

/// How an example becomes rows of ids. Copies share what was learnt.
#[derive(Clone, Debug)]
pub enum Coder {
    /// Text becomes text.
    Texts(TokenizerPair),
    /// Text gets a label.
    Classes {
        /// What reads the text.
        tokens: Arc<Tokenizer>,
        /// The labels there are.
        labels: Arc<Labels>,
    },
    /// Every word of a text gets a label.
    Tags {
        /// What reads the words.
        tokens: Arc<Tokenizer>,
        /// The labels there are.
        labels: Arc<Labels>,
    },
}

impl Coder {
    /// Both rows of an example, or why it has none.
    pub fn encode(&self, example: &Example) -> Result<Rows, LineProblem> {
        Ok(self.rows(example, &self.labels_of(example)?))
    }

    /// The next example of a corpus that can be used, with its rows, or `None` at the end of the pass.
    pub fn read(&self, corpus: &mut dyn Corpus) -> Result<Option<(Example, Rows)>, DataError> {
        let found = self.next_labelled(corpus)?;
        Ok(found.map(|(example, labels)| {
            let rows = self.rows(&example, &labels);
            (example, rows)
        }))
    }

    /// Batches of rows of similar length, for validation. As [`crate::evaluation_batches`], but with
    /// targets of this kind.
    pub fn batches(&self, rows: &[Rows], limits: &Limits) -> Result<Vec<Batch>, DataError> {
        batches(rows, limits, self.ending())
    }

    /// The next example that can be used, with the ids of its labels: the part of its rows that can
    /// fail, and costs little.
    pub(crate) fn next_labelled(
        &self,
        corpus: &mut dyn Corpus,
    ) -> Result<Option<(Example, Vec<u32>)>, DataError> {
        while let Some(example) = corpus.next()? {
            match self.labels_of(&example) {
                Ok(labels) => return Ok(Some((example, labels))),
                Err(problem) => corpus.reject(problem)?,
            }
        }
        Ok(None)
    }

    /// The rows of an example whose labels are known.
    pub(crate) fn rows(&self, example: &Example, labels: &[u32]) -> Rows {
        match self {
            Self::Texts(tokens) => tokens.encode(example),
            Self::Classes { tokens, .. } => (tokens.encode(&example.source), labels.to_vec()),
            Self::Tags { tokens, .. } => {
                let (source, starts) = tokens.encode_words(&example.source);
                let mut target = vec![IGNORED; source.len()];
                for (start, label) in starts.into_iter().zip(labels) {
                    target[start] = *label;
                }
                (source, target)
            }
        }
    }

    /// How target rows end and are filled up.
    pub(crate) fn ending(&self) -> Ending {
        match self {
            Self::Texts(_) => Ending::TOKENS,
            Self::Classes { .. } => Ending { end: None, padding: IGNORED },
            Self::Tags { .. } => Ending { end: Some(IGNORED), padding: IGNORED },
        }
    }

    /// The ids of an example's labels; none if its target is text.
    fn labels_of(&self, example: &Example) -> Result<Vec<u32>, LineProblem> {
        match self {
            Self::Texts(_) => Ok(Vec::new()),
            Self::Classes { labels, .. } => labels.ids(Unit::Sequence, example),
            Self::Tags { labels, .. } => labels.ids(Unit::Word, example),
        }
    }
}

#[cfg(test)]
#[path = "coder_tests.rs"]
mod tests;
