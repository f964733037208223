//! The corpora that a configuration names.

use crate::config::Config;
use gatto_data::builtin::Generated;
use gatto_data::{Corpus, DataError, DataSource, FileCorpus, IndexedCorpus, OneSide, Part, Side};
use gatto_model::Task;
use std::path::Path;

/// Examples that a built-in task makes unless told otherwise: for training, and for each other part.
const TRAINING: u64 = 1_000_000;
const HELD_OUT: u64 = 10_000;

/// Opens one part of the data; `None` if the configuration has no such part.
pub fn open(config: &Config, base: &Path, part: Part) -> Result<Option<Box<dyn Corpus>>, DataError> {
    open_grouped(config, base, part, None)
}

/// The same, with the value of a column as the group of each example, if one is named.
pub fn open_grouped(
    config: &Config,
    base: &Path,
    part: Part,
    column: Option<&str>,
) -> Result<Option<Box<dyn Corpus>>, DataError> {
    let corpus: Box<dyn Corpus> = match config.data.resolve(base)? {
        DataSource::Builtin { task, examples } => {
            if let Some(column) = column {
                return Err(DataError::BuiltinColumns { column: column.to_owned() });
            }
            let count = if part == Part::Train { examples.unwrap_or(TRAINING) } else { HELD_OUT };
            Box::new(IndexedCorpus::new(Generated { task, part, seed: config.seed, count }))
        }
        DataSource::Files { train, valid, test, skip_bad } => {
            let files = match part {
                Part::Train => Some(train),
                Part::Valid => valid,
                Part::Test => test,
            };
            match files {
                Some(files) => Box::new(grouped(files.open(skip_bad)?, column)?),
                None => return Ok(None),
            }
        }
    };
    Ok(Some(for_task(config.task, corpus, config.data.side.unwrap_or_default())))
}

/// Files, with the value of a column as the group of each example, if one is named.
pub fn grouped(corpus: FileCorpus, column: Option<&str>) -> Result<FileCorpus, DataError> {
    match column {
        Some(column) => corpus.grouped_by(column),
        None => Ok(corpus),
    }
}

/// A corpus as a task reads it; of pairs, a language model reads one side.
pub fn for_task(task: Task, corpus: Box<dyn Corpus>, side: Side) -> Box<dyn Corpus> {
    match task {
        Task::Translate | Task::Classify | Task::Label => corpus,
        Task::LanguageModel => Box::new(OneSide::new(corpus, side)),
        Task::MaskedLanguageModel | Task::BidirectionalLanguageModel => {
            Box::new(OneSide::as_source(corpus, side))
        }
    }
}
