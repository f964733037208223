//! The corpora that a configuration names.

use crate::config::Config;
use gatto_data::builtin::Generated;
use gatto_data::builtin::shapes::{Asked, DrawnShapes, ScenePart, Shapes};
use gatto_data::images::{ImageSet, Texts};
use gatto_data::{AskedKind, Corpus, DataError, DataSource, FileCorpus, IndexedCorpus, OneSide, Part, Side};
use gatto_model::Task;
use std::path::Path;
use std::sync::Arc;

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
        DataSource::Shapes { .. } => return Ok(None),
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

/// Opens one part of images; `None` if the configuration has no such part.
pub fn open_images(
    config: &Config,
    base: &Path,
    part: ScenePart,
) -> Result<Option<Arc<dyn ImageSet>>, DataError> {
    match config.data.resolve(base)? {
        DataSource::Shapes { asked, captions, examples } => {
            let asked = match config.task {
                Task::Caption => Asked::Captions(captions),
                _ => asked.unwrap_or(AskedKind::Largest).into(),
            };
            let task = Shapes::new(config.images.unwrap_or_default().height, asked)?;
            let count = if part == ScenePart::Train { examples.unwrap_or(TRAINING) } else { HELD_OUT };
            Ok(Some(Arc::new(DrawnShapes { task, part, seed: config.seed, count })))
        }
        DataSource::Builtin { .. } => Ok(None),
        DataSource::Files { train, valid, test, skip_bad } => {
            let files = match part {
                ScenePart::Train => Some(train),
                ScenePart::Valid => valid,
                ScenePart::Test => test,
                ScenePart::Unseen => None,
            };
            let texts = if config.task == Task::Caption { Texts::Captions } else { Texts::Labels };
            files.map(|files| files.open_images(texts, skip_bad)).transpose()
        }
    }
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
        Task::Translate | Task::Classify | Task::Label | Task::Caption | Task::Transcribe => corpus,
        Task::LanguageModel => Box::new(OneSide::new(corpus, side)),
        Task::MaskedLanguageModel | Task::BidirectionalLanguageModel => {
            Box::new(OneSide::as_source(corpus, side))
        }
    }
}
