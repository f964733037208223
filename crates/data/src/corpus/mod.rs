//! Where examples come from: files that are read line by line, or examples that are made on demand.
//!
//! A [`Corpus`] is a cursor over one pass. Its [`Position`] can be saved and sought again, in
//! another process too, and the examples after it are then the same.

mod config;
mod files;
mod indexed;
mod lines;
mod one_side;

pub use config::{AskedKind, DataConfig, DataSource, Files, FilesConfig};
pub use files::FileCorpus;
pub use indexed::{Indexed, IndexedCorpus, Memory};
pub use lines::{Line, Lines, MAX_LINE};
pub use one_side::{OneSide, Side};

use serde::{Deserialize, Serialize};

use crate::error::LineProblem;
use crate::{DataError, Example};

/// A source of examples, read from the first to the last and then again.
pub trait Corpus: Send {
    /// The next example, or `None` at the end of the pass.
    fn next(&mut self) -> Result<Option<Example>, DataError>;

    /// Where `next` would read.
    fn position(&self) -> Position;

    /// Goes to a position that [`Corpus::position`] gave, or to [`Position::start`].
    fn seek(&mut self, to: &Position) -> Result<(), DataError>;

    /// How many bad lines were passed over in this pass (none unless `skip_bad` is set).
    fn skipped(&self) -> u64;

    /// Gives back the example that `next` gave last, which cannot be used: an error that says where it
    /// stands, or, with `skip_bad`, one more line that was passed over.
    fn reject(&mut self, problem: LineProblem) -> Result<(), DataError>;
}

impl<C: Corpus + ?Sized> Corpus for Box<C> {
    fn next(&mut self) -> Result<Option<Example>, DataError> {
        (**self).next()
    }

    fn position(&self) -> Position {
        (**self).position()
    }

    fn seek(&mut self, to: &Position) -> Result<(), DataError> {
        (**self).seek(to)
    }

    fn skipped(&self) -> u64 {
        (**self).skipped()
    }

    fn reject(&mut self, problem: LineProblem) -> Result<(), DataError> {
        (**self).reject(problem)
    }
}

/// A place between two examples of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Number of the next example within the pass.
    pub example: u64,
    /// Lines read so far of every file.
    pub line: u64,
    /// Bytes read so far of each file, after decompression. Empty at the start, and for corpora without files.
    pub offsets: Vec<u64>,
    /// Bad lines passed over so far.
    pub skipped: u64,
}

impl Position {
    /// The beginning of a pass.
    pub fn start() -> Self {
        Self::default()
    }
}
