//! The training examples of a run: texts, images, or sounds.

use crate::config::Config;
use crate::corpora;
use crate::error::TrainError;
use crate::record::{Event, Recorder};
use crate::vocabulary::Vocabulary;
use gatto_data::builtin::shapes::ScenePart;
use gatto_data::images::{AheadSettings, ImageSet, ImageStream, ImageStreamSettings, Preparation};
use gatto_data::sound::{self, SoundSet, SoundStream, SoundStreamSettings};
use gatto_data::{BatchStream, Corpus, DataError, Part, Stream, StreamState};
use gatto_model::config::Plan;
use std::path::Path;
use std::sync::Arc;

/// Where training examples come from.
pub(crate) enum Examples {
    /// Texts.
    Texts(Box<dyn Corpus>),
    /// Images, and what is done to them.
    Images(Arc<dyn ImageSet>, Preparation),
    /// Recordings, and what is done to them.
    Sounds(Arc<dyn SoundSet>, sound::Preparation),
}

/// The most recordings that are put together by length: the header of each is read first.
const MOST_OF_A_POOL: usize = 4096;

impl Examples {
    /// The training part of a configuration.
    pub(crate) fn open(
        config: &Config,
        plan: &Plan,
        base: &Path,
        recorder: &mut dyn Recorder,
    ) -> Result<Self, TrainError> {
        let found = match (plan.images, plan.sound) {
            (Some(images), _) => {
                corpora::open_images(config, base, ScenePart::Train)?.map(|set| Self::Images(set, images))
            }
            (_, Some(sound)) => corpora::open_sounds(config, base, Part::Train)?.map(|sounds| {
                if sounds.skipped.total() > 0 {
                    let note = format!("recordings that are passed over: {}", sounds.skipped);
                    recorder.record(&Event::Noted(&note));
                }
                Self::Sounds(sounds.set, sound)
            }),
            _ => corpora::open(config, base, Part::Train)?.map(Self::Texts),
        };
        let missing = || DataError::Config { key: "data.train".into(), problem: "is missing".into() };
        Ok(found.ok_or_else(missing)?)
    }

    /// What is learnt of them before training begins.
    pub(crate) fn vocabulary(
        &mut self,
        config: &Config,
        base: &Path,
        directory: &Path,
        recorder: &mut dyn Recorder,
    ) -> Result<Vocabulary, TrainError> {
        match self {
            Self::Texts(corpus) => Vocabulary::open(config, base, directory, corpus.as_mut(), recorder),
            Self::Images(set, _) => Vocabulary::open_images(config, base, directory, set.as_ref(), recorder),
            Self::Sounds(set, sound) => {
                Vocabulary::open_sounds(config, base, directory, set, *sound, recorder)
            }
        }
    }

    /// Batches of them without end, from where a stream was.
    pub(crate) fn stream(
        self,
        config: &Config,
        base: &Path,
        vocabulary: &Vocabulary,
        from: StreamState,
    ) -> Result<Box<dyn Stream>, TrainError> {
        let settings = config.train.stream(config.seed);
        match self {
            Self::Texts(corpus) => {
                Ok(Box::new(BatchStream::resume(corpus, vocabulary.coder(), settings, from)?))
            }
            Self::Images(set, preparation) => {
                let settings = ImageStreamSettings {
                    seed: config.seed,
                    batch: config.train.batch_images(),
                    captions: config.train.captions,
                    max_length: config.train.max_length,
                    skip_bad: config.data.skip_bad,
                    preparation,
                    ahead: AheadSettings::default(),
                };
                Ok(Box::new(ImageStream::resume(set, vocabulary.image_coder(), settings, from)?))
            }
            Self::Sounds(set, preparation) => {
                let settings = SoundStreamSettings {
                    seed: config.seed,
                    pool: config.train.pool.min(MOST_OF_A_POOL),
                    limits: config.train.sound_limits(),
                    max_length: config.train.max_length,
                    skip_bad: config.data.skip_bad,
                    ahead: AheadSettings::default(),
                };
                let hearing = vocabulary.hearing(config, base, preparation)?;
                Ok(Box::new(SoundStream::resume(set, hearing, settings, from)?))
            }
        }
    }
}
