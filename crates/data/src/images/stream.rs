//! Training batches of images without end, and batches of images that are held out.
//!
//! A pass takes the images in an order of its own, prepared ahead; an image with several captions is learnt with one of
//! them in each pass. Order, changes and captions depend on seed, epoch and example alone, so that a stream resumed
//! anywhere goes on with the same batches.

use std::sync::Arc;

use super::batch::{ImageBatch, Ready, ready, shuffled};
use super::error::{ImageError, ImageProblem};
use super::prepare::{Draw, Preparation};
use super::set::ImageSet;
use crate::DataError;
use crate::ahead::{Ahead, AheadSettings};
use crate::batch::{Batch, Ending, IGNORED};
use crate::corpus::Position;
use crate::labels::Labels;
use crate::skipped::Skipped;
use crate::stream::{Stream, StreamState};
use crate::tokens::Tokenizer;

/// How the text of an image becomes ids. Copies share what was learnt.
#[derive(Clone, Debug)]
pub enum ImageCoder {
    /// A caption, as tokens.
    Captions(Arc<Tokenizer>),
    /// A label.
    Labels(Arc<Labels>),
}

impl ImageCoder {
    /// The ids of a text, without an end; an error if it is a label that nobody knows.
    fn encode(&self, text: &str) -> Result<Vec<u32>, ImageProblem> {
        match self {
            Self::Captions(tokens) => Ok(tokens.encode(text)),
            Self::Labels(labels) => match labels.id(text) {
                Some(id) => Ok(vec![id]),
                None => Err(ImageProblem::UnknownLabel(text.to_owned())),
            },
        }
    }

    /// [`ImageCoder::encode`] for one text of an example.
    fn target(&self, example: &Ready, text: usize) -> Result<Vec<u32>, DataError> {
        let text = example.texts.get(text).map_or("", |text| text.text.as_str());
        Ok(self.encode(text).map_err(|problem| ImageError::named(&example.name, problem))?)
    }

    fn ending(&self) -> Ending {
        match self {
            Self::Captions(_) => Ending::TOKENS,
            Self::Labels(_) => Ending { end: None, padding: IGNORED },
        }
    }

    fn batch(&self, rows: &[Ready], targets: &[Vec<u32>]) -> Result<Batch, DataError> {
        let images = ImageBatch::new(rows.iter().map(|row| &row.pixels))?;
        let indices = rows.iter().map(|row| row.index).collect();
        Ok(Batch::of_images(images, targets, self.ending(), indices))
    }
}

/// How training batches of images are made.
#[derive(Clone, Debug)]
pub struct ImageStreamSettings {
    /// Determines every choice.
    pub seed: u64,
    /// Images of a batch.
    pub batch: usize,
    /// Captions of an image that are learnt from together.
    pub captions: usize,
    /// Captions with more tokens than this are left out.
    pub max_length: usize,
    /// Whether images that cannot be used are passed over and counted.
    pub skip_bad: bool,
    /// What is done to every image.
    pub preparation: Preparation,
    /// How much is done ahead.
    pub ahead: AheadSettings,
}

/// Training batches of images without end.
pub struct ImageStream {
    set: Arc<dyn ImageSet>,
    coder: ImageCoder,
    settings: ImageStreamSettings,
    epoch: u64,
    /// Images of this pass that were asked for so far, and those of them that were left out.
    taken: u64,
    skipped: Skipped,
    /// Those that were passed over before this stream was resumed.
    skipped_before: u64,
    dropped: u64,
    images: Ahead<Ready>,
}

impl ImageStream {
    /// A stream that goes on where another, of the same set, coder and settings, was; from the start with the default
    /// state.
    ///
    /// # Errors
    /// If a setting makes no sense, there are no images, or the state is none of this set.
    pub fn resume(
        set: Arc<dyn ImageSet>,
        coder: ImageCoder,
        settings: ImageStreamSettings,
        state: StreamState,
    ) -> Result<Self, DataError> {
        for (key, value) in [("batch_examples", settings.batch), ("captions", settings.captions)] {
            if value == 0 {
                let problem = "0 holds nothing; write 1 or more".to_owned();
                return Err(DataError::Config { key: key.into(), problem });
            }
        }
        let taken = state.pool_start.example;
        if set.is_empty() || taken > set.len() {
            let corpus = format!("a set of {} images", set.len());
            return Err(DataError::Position { corpus, at: format!("image {taken}") });
        }
        let images = pass(&set, &settings, state.epoch, taken)?;
        Ok(Self {
            set,
            coder,
            settings,
            epoch: state.epoch,
            taken,
            skipped: Skipped::default(),
            skipped_before: state.pool_start.skipped,
            dropped: state.dropped,
            images,
        })
    }

    /// The images of the next batch, and their targets; none at the end of a pass.
    fn gather(&mut self) -> Result<(Vec<Ready>, Vec<Vec<u32>>), DataError> {
        let (mut rows, mut targets) = (Vec::new(), Vec::<Vec<u32>>::new());
        while rows.len() < self.settings.batch
            && let Some(next) = self.images.next()
        {
            self.taken += 1;
            let coded = next.and_then(|example| {
                let Self { epoch, settings, .. } = &*self;
                let draw = Draw { seed: settings.seed, epoch: *epoch, example: example.index };
                let chosen = draw.captions(example.texts.len(), settings.captions);
                let found = chosen.map(|text| self.coder.target(&example, text));
                let found = found.collect::<Result<Vec<_>, DataError>>()?;
                Ok((example, found))
            });
            let most = self.settings.max_length;
            match coded {
                Ok((_, found)) if found.iter().any(|target| target.len() > most) => self.dropped += 1,
                Ok((example, found)) => {
                    rows.push(example);
                    targets.extend(found);
                }
                Err(error) if self.settings.skip_bad => self.skipped.pass(error)?,
                Err(error) => return Err(error),
            }
        }
        Ok((rows, targets))
    }
}

/// What is left of a pass, prepared ahead.
fn pass(
    set: &Arc<dyn ImageSet>,
    settings: &ImageStreamSettings,
    epoch: u64,
    taken: u64,
) -> Result<Ahead<Ready>, DataError> {
    let order = shuffled(set.len(), settings.seed, epoch).split_off(taken as usize);
    ready(set.clone(), order, settings.preparation, Some((settings.seed, epoch)), settings.ahead)
}

impl Stream for ImageStream {
    fn next(&mut self) -> Result<Batch, DataError> {
        loop {
            let (rows, targets) = self.gather()?;
            if !rows.is_empty() {
                return self.coder.batch(&rows, &targets);
            }
            if self.skipped() + self.dropped >= self.taken {
                return Err(DataError::NoExamples {
                    read: self.taken,
                    skipped: self.skipped(),
                    too_long: self.dropped,
                    max_length: self.settings.max_length,
                });
            }
            self.images = pass(&self.set, &self.settings, self.epoch + 1, 0)?;
            (self.epoch, self.taken, self.skipped_before, self.dropped) = (self.epoch + 1, 0, 0, 0);
            self.skipped = Skipped::default();
        }
    }

    /// Every batch is a pool by itself.
    fn state(&self) -> StreamState {
        let pool_start =
            Position { example: self.taken, skipped: Stream::skipped(self), ..Position::start() };
        StreamState { epoch: self.epoch, pool_start, dropped: self.dropped, ..StreamState::default() }
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn skipped(&self) -> u64 {
        self.skipped_before + self.skipped.total()
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Images that nothing is learnt from, as batches that are made when they are asked for.
pub struct HeldImages {
    set: Arc<dyn ImageSet>,
    coder: ImageCoder,
    preparation: Preparation,
    /// Whether images that cannot be used are passed over.
    skip_bad: bool,
    /// The images of each batch.
    batches: Vec<Vec<u64>>,
    /// All texts of each image, by its number.
    texts: Vec<Vec<String>>,
}

impl HeldImages {
    /// The first `count` of a set, `batch` at a time.
    ///
    /// # Errors
    /// If their texts cannot be had, or one is a label that nobody knows.
    pub fn new(
        set: Arc<dyn ImageSet>,
        coder: ImageCoder,
        preparation: Preparation,
        count: u64,
        batch: usize,
        skip_bad: bool,
    ) -> Result<Self, DataError> {
        let numbers: Vec<u64> = (0..count.min(set.len())).collect();
        let texts: Vec<Vec<String>> =
            numbers.iter().map(|&index| set.texts(index)).collect::<Result<_, _>>()?;
        for (index, text) in
            texts.iter().enumerate().filter_map(|(index, texts)| Some((index, texts.first()?)))
        {
            coder.encode(text).map_err(|problem| ImageError::named(&format!("image {index}"), problem))?;
        }
        let batches = numbers.chunks(batch.max(1)).map(<[u64]>::to_vec).collect();
        Ok(Self { set, coder, preparation, skip_bad, batches, texts })
    }

    /// The same without images whose first caption has more tokens than this, and how many these were.
    pub fn no_longer_than(mut self, most: usize) -> (Self, u64) {
        let ImageCoder::Captions(tokens) = &self.coder else { return (self, 0) };
        let (mut left, mut long) = (Vec::new(), 0);
        let batch = self.batches.first().map_or(1, Vec::len);
        for index in self.batches.into_iter().flatten() {
            let text = self.texts.get(index as usize).and_then(|texts| texts.first());
            match text.is_some_and(|text| tokens.encode(text).len() > most) {
                true => long += 1,
                false => left.push(index),
            }
        }
        self.batches = left.chunks(batch).map(<[u64]>::to_vec).collect();
        (self, long)
    }

    /// How many batches there are.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// What is said of an image.
    pub fn texts(&self, index: u64) -> &[String] {
        self.texts.get(index as usize).map_or(&[], Vec::as_slice)
    }

    /// A batch; the target is the first text of each image. `None` if all of its images were passed over.
    ///
    /// # Errors
    /// If an image cannot be used, and is not to be passed over.
    pub fn batch(&self, number: usize) -> Result<Option<Batch>, DataError> {
        let (mut rows, mut targets, mut skipped) = (Vec::new(), Vec::new(), Skipped::default());
        for &index in &self.batches[number] {
            match Ready::new(self.set.as_ref(), index, &self.preparation, None) {
                Ok(example) => {
                    targets.push(self.coder.target(&example, 0)?);
                    rows.push(example);
                }
                Err(error) if self.skip_bad => skipped.pass(error)?,
                Err(error) => return Err(error),
            }
        }
        if rows.is_empty() { Ok(None) } else { self.coder.batch(&rows, &targets).map(Some) }
    }
}

impl std::fmt::Debug for HeldImages {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "HeldImages({} in {} batches)", self.texts.len(), self.batches.len())
    }
}
