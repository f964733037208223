//! What is learnt of the data before training begins: its tokens, its labels, and how loud its sounds are.

use crate::config::Config;
use crate::error::TrainError;
use crate::record::{Event, Recorder};
use gatto_data::images::{ImageCoder, ImageSet, texts_of};
use gatto_data::sound::{
    self, AheadSettings, FrameCache, Hearing, Normalisation, Preparer, Skipped, SoundSet, Statistics,
    statistics_of,
};
use gatto_data::{Coder, Corpus, DataError, Labels, OneSide, Side, TokenizerPair, Unit};
use gatto_model::{Task, Vocabularies};
use std::path::Path;
use std::sync::Arc;

/// The tokens and labels of a run.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary {
    task: Task,
    /// What cuts the texts.
    pub(crate) tokens: TokenizerPair,
    /// The labels, where the answer is made of them.
    pub(crate) labels: Option<Arc<Labels>>,
    /// What the values of sounds are divided by, where it is the same for all of them.
    pub(crate) statistics: Option<Statistics>,
}

impl Vocabulary {
    /// The same for recordings, whose texts are what is said.
    pub(crate) fn open_sounds(
        config: &Config,
        base: &Path,
        directory: &Path,
        set: &Arc<dyn SoundSet>,
        preparation: sound::Preparation,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, TrainError> {
        let texts = sound::texts_of(set.as_ref(), DRAWN_TO_LEARN.max(listed(config, set.as_ref())))?;
        let mut said = OneSide::new(Box::new(texts), Side::Target);
        let found = Self::open(config, base, directory, &mut said, recorder)?;
        let statistics = match preparation.normalisation {
            Normalisation::Corpus if directory.join(Statistics::FILE).exists() => {
                Some(Statistics::load(directory)?)
            }
            Normalisation::Corpus => {
                recorder.record(&Event::Preparing("measuring the sounds"));
                let mut skipped = Skipped::default();
                let passed = config.data.skip_bad.then_some(&mut skipped);
                let cache = cache(config, base)?;
                let ahead = AheadSettings::default();
                Some(statistics_of(set.clone(), preparation, cache, DRAWN_TO_LEARN, ahead, passed)?)
            }
            _ => None,
        };
        Ok(Self { statistics, ..found })
    }

    /// What makes frames and tokens of recordings.
    pub(crate) fn hearing(
        &self,
        config: &Config,
        base: &Path,
        preparation: sound::Preparation,
    ) -> Result<Hearing, DataError> {
        Ok(Hearing {
            preparer: Arc::new(Preparer::new(preparation, self.statistics.clone())?),
            cache: cache(config, base)?,
            tokens: self.tokens.target.clone(),
        })
    }

    /// The same for images, whose texts are captions or labels.
    pub(crate) fn open_images(
        config: &Config,
        base: &Path,
        directory: &Path,
        set: &dyn ImageSet,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, TrainError> {
        let drawn = config.data.builtin.is_some();
        let most = if drawn { DRAWN_TO_LEARN } else { u64::MAX };
        let mut texts = texts_of(set, most)?;
        if config.task.writes() {
            let mut captions = OneSide::new(Box::new(texts), Side::Target);
            return Self::open(config, base, directory, &mut captions, recorder);
        }
        let labels = match Labels::is_in(directory) {
            true => Labels::load(directory)?,
            false => Labels::learn(Unit::Sequence, &mut texts)?,
        };
        let tokens = TokenizerPair::of_bytes()?;
        Ok(Self { task: config.task, tokens, labels: Some(Arc::new(labels)), statistics: None })
    }

    /// What stands in the run directory; what does not is taken from another run, in a path from
    /// `base`, or learnt from the training part.
    pub(crate) fn open(
        config: &Config,
        base: &Path,
        directory: &Path,
        corpus: &mut dyn Corpus,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, TrainError> {
        let tokens = match (TokenizerPair::is_in(directory), &config.tokens.from) {
            (true, _) => TokenizerPair::load(directory)?,
            (false, Some(from)) => taken_over(config, &base.join(from))?,
            (false, None) => {
                recorder.record(&Event::Preparing("learning the vocabulary"));
                match config.task.writes() {
                    true => TokenizerPair::train(&config.tokens, corpus)?,
                    false => TokenizerPair::train_on_sources(&config.tokens, corpus)?,
                }
            }
        };
        check(config, &tokens)?;
        let labels = match config.task.unit() {
            None => None,
            Some(_) if Labels::is_in(directory) => Some(Arc::new(Labels::load(directory)?)),
            Some(unit) => {
                recorder.record(&Event::Preparing("finding the labels"));
                Some(Arc::new(Labels::learn(unit, corpus)?))
            }
        };
        Ok(Self { task: config.task, tokens, labels, statistics: None })
    }

    /// Writes into the run directory what does not stand there: no tokens, if there are no `texts`.
    pub(crate) fn save(&self, directory: &Path, texts: bool) -> Result<(), DataError> {
        if let Some(statistics) =
            self.statistics.as_ref().filter(|_| !directory.join(Statistics::FILE).exists())
        {
            statistics.save(directory)?;
        }
        if let Some(labels) = self.labels.as_ref().filter(|_| !Labels::is_in(directory)) {
            labels.save(directory)?;
        }
        if texts && !TokenizerPair::is_in(directory) {
            self.tokens.save(directory)?;
        }
        Ok(())
    }

    /// How the texts of images become ids.
    pub(crate) fn image_coder(&self) -> ImageCoder {
        self.task.image_coder(&self.tokens, self.labels.as_ref())
    }

    /// How examples become rows of ids.
    pub(crate) fn coder(&self) -> Coder {
        self.task.coder(&self.tokens, self.labels.as_ref())
    }

    /// What the model has to tell apart.
    pub(crate) fn sizes(&self) -> Vocabularies {
        Vocabularies::with_labels(&self.tokens, self.labels.as_deref())
    }
}

/// Scenes or melodies that vocabulary and labels of a built-in task are learnt from.
const DRAWN_TO_LEARN: u64 = 5000;

/// The recordings of files, all of which have texts to learn from.
fn listed(config: &Config, set: &dyn SoundSet) -> u64 {
    if config.data.builtin.is_some() || config.data.join.is_some() { 0 } else { set.len() }
}

/// Where features are kept, if they are.
fn cache(config: &Config, base: &Path) -> Result<Option<Arc<FrameCache>>, DataError> {
    let folder = config.data.cache.as_ref().map(|folder| base.join(folder));
    folder.map(|folder| FrameCache::open(folder).map(Arc::new)).transpose()
}

/// The vocabulary of another run; of its source where a task has one text.
fn taken_over(config: &Config, from: &Path) -> Result<TokenizerPair, DataError> {
    if !TokenizerPair::is_in(from) {
        let problem = format!("is {}, which is no run directory: it has no tokenizer.json", from.display());
        return Err(DataError::Config { key: "tokens.from".into(), problem });
    }
    let found = TokenizerPair::load(from)?;
    match config.task == Task::Translate {
        true => Ok(found),
        false => Ok(TokenizerPair { source: found.source.clone(), target: found.source }),
    }
}

/// A vocabulary that was put into the directory must be the kind that the configuration speaks of.
fn check(config: &Config, tokens: &TokenizerPair) -> Result<(), DataError> {
    let wrong = |key: &str, problem: String| {
        let problem = format!("{problem}; change the key, or remove the tokenizer files from the directory");
        Err(DataError::Config { key: key.to_owned(), problem })
    };
    if !config.task.writes() && !tokens.is_shared() {
        let problem = "is one for a task with one text, but the run directory holds one for each side";
        return wrong("tokens", problem.to_owned());
    }
    let mut sides = vec![(&tokens.target, config.tokens.target_recipe())];
    if config.task == Task::Translate {
        sides.push((&tokens.source, config.tokens.source_recipe()));
        if tokens.is_shared() != config.tokens.is_shared() {
            let found = if tokens.is_shared() { "one for both sides" } else { "one for each side" };
            let wanted = config.tokens.is_shared();
            return wrong("tokens.shared", format!("is {wanted}, but the run directory holds {found}"));
        }
    }
    for (found, wanted) in sides {
        if found.kind() != wanted.kind {
            let problem =
                format!("is {}, but the tokenizer in the run directory is {}", wanted.kind, found.kind());
            return wrong("tokens.kind", problem);
        }
        if found.lowercase() != wanted.lowercase {
            let problem = format!("is {}, but not for the tokenizer in the run directory", wanted.lowercase);
            return wrong("tokens.lowercase", problem);
        }
    }
    Ok(())
}
