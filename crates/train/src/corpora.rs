//! The corpora that a configuration names.

use crate::config::Config;
use gatto_data::builtin::Generated;
use gatto_data::builtin::melodies::{DrawnMelodies, Melodies};
use gatto_data::builtin::shapes::{Asked, DrawnShapes, ScenePart, Shapes};
use gatto_data::images::{ImageSet, Texts};
use gatto_data::random::mixed;
use gatto_data::sound::{Joined, Measured, Skipped, SoundError, SoundLimits, SoundSet};
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
        DataSource::Shapes { .. } | DataSource::Melodies { .. } => return Ok(None),
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
        DataSource::Builtin { .. } | DataSource::Melodies { .. } => Ok(None),
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

/// Recordings, and what was passed over while their list and their headers were read.
pub struct Sounds {
    /// The recordings.
    pub set: Arc<dyn SoundSet>,
    /// Those that cannot be used.
    pub skipped: Skipped,
}

/// Opens one part of recordings; `None` if the configuration has no such part. All that are longer than
/// `train.max_seconds` are errors, or passed over.
pub fn open_sounds(config: &Config, base: &Path, part: Part) -> Result<Option<Sounds>, DataError> {
    let rate = config.sound.unwrap_or_default().rate;
    match config.data.resolve(base)? {
        DataSource::Melodies { notes, examples } => {
            let task = Melodies::new(rate)?;
            let task = notes.map_or(Ok(task), |notes| task.with_notes(notes))?;
            let count = if part == Part::Train { examples.unwrap_or(TRAINING) } else { HELD_OUT };
            let set = Arc::new(DrawnMelodies { task, part, seed: config.seed, count });
            Ok(Some(Sounds { set, skipped: Skipped::default() }))
        }
        DataSource::Builtin { .. } | DataSource::Shapes { .. } => Ok(None),
        DataSource::Files { train, valid, test, skip_bad } => {
            let files = match part {
                Part::Train => Some(train),
                Part::Valid => valid,
                Part::Test => test,
            };
            let Some(files) = files else { return Ok(None) };
            let seconds = config.train.most_seconds();
            let limits = SoundLimits { seconds, ..SoundLimits::default() };
            let files = files.open_sounds(rate, limits, skip_bad)?;
            let (list, mut skipped) = (files.list().list.clone(), files.skipped().clone());
            let set = Arc::new(Measured::new(Arc::new(files), seconds, skip_bad.then_some(&mut skipped))?);
            if set.is_empty() {
                return Err(SoundError::no_sounds(&list, skipped).into());
            }
            let Some(join) = config.data.join else { return Ok(Some(Sounds { set, skipped })) };
            let count = if part == Part::Train { join.examples } else { join.held_out };
            let joined = Joined::new(set, join, mixed(config.seed, part as u64), count)?;
            Ok(Some(Sounds { set: Arc::new(joined), skipped }))
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
