//! Batches: what is read and what is to come of it, of several examples.
//!
//! Sources are rows of ids, padded to one width, images of one size, or sounds. Source rows are the tokens of the source and
//! then `END`; target rows are the tokens of the target
//! and then `END`, or labels: see [`crate::coder`]. The `START` that the decoder reads first is put
//! there by the model.

use crate::DataError;
use crate::images::{ImageBatch, Pixels};
use crate::sound::{Frames, SoundBatch};
use crate::tokens::{END, PAD};
use serde::{Deserialize, Serialize};

/// Stands in a target row where nothing is asked; no token and no label has this id.
pub const IGNORED: u32 = u32::MAX;

/// Rows of different lengths, padded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padded {
    /// `rows × width` ids, row after row; `PAD`, or for labels `IGNORED`, after the end of each.
    pub ids: Vec<u32>,
    /// How many ids of each row are not padding.
    pub lengths: Vec<usize>,
    /// Number of rows.
    pub rows: usize,
    /// Length of the longest row.
    pub width: usize,
}

impl Padded {
    /// Pads the rows with `PAD` to the longest.
    pub fn new<R: AsRef<[u32]>>(rows: &[R]) -> Self {
        Self::ended(rows, Ending { end: None, padding: PAD })
    }

    /// The same, with each row ended and padded as told.
    fn ended<R: AsRef<[u32]>>(rows: &[R], Ending { end, padding }: Ending) -> Self {
        let lengths: Vec<usize> =
            rows.iter().map(|row| row.as_ref().len() + usize::from(end.is_some())).collect();
        let width = lengths.iter().copied().max().unwrap_or(0);
        let mut ids = Vec::with_capacity(rows.len() * width);
        for (number, row) in rows.iter().enumerate() {
            ids.extend_from_slice(row.as_ref());
            ids.extend(end);
            ids.resize((number + 1) * width, padding);
        }
        Self { ids, lengths, rows: rows.len(), width }
    }

    /// A row without its padding.
    pub fn row(&self, row: usize) -> &[u32] {
        let start = row * self.width;
        &self.ids[start..start + self.lengths[row]]
    }

    /// How many ids are not padding.
    pub fn tokens(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Some of the rows, as wide as the longest of them.
    fn select(&self, rows: &[usize]) -> Self {
        let lengths: Vec<usize> = rows.iter().map(|&row| self.lengths[row]).collect();
        let width = lengths.iter().copied().max().unwrap_or(0);
        let ids = rows.iter().flat_map(|row| &self.ids[row * self.width..][..width]).copied().collect();
        Self { ids, lengths, rows: rows.len(), width }
    }

    /// How many ids are asked for: neither padding nor [`IGNORED`].
    pub fn asked(&self) -> usize {
        (0..self.rows).flat_map(|row| self.row(row)).filter(|id| **id != IGNORED).count()
    }
}

/// How rows end and are filled up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// What comes behind the last id of each row, if anything does.
    pub(crate) end: Option<u32>,
    /// What comes behind that, up to the width of the batch.
    pub(crate) padding: u32,
}

impl Ending {
    /// That of tokens.
    pub(crate) const TOKENS: Self = Self { end: Some(END), padding: PAD };
}

/// What is read of several examples.
#[derive(Clone, Debug, PartialEq)]
pub enum Sources {
    /// Tokens, with `END` at the end of each row.
    Tokens(Padded),
    /// Images.
    Images(ImageBatch),
    /// Sounds.
    Sound(SoundBatch),
}

impl Sources {
    /// How many examples there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.rows,
            Self::Images(images) => images.rows,
            Self::Sound(sounds) => sounds.rows,
        }
    }

    /// The tokens, if it is these.
    pub fn tokens(&self) -> Option<&Padded> {
        match self {
            Self::Tokens(tokens) => Some(tokens),
            Self::Images(_) | Self::Sound(_) => None,
        }
    }

    /// How much there is to read: ids, padding included, or values.
    pub fn size(&self) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.ids.len(),
            Self::Images(images) => images.values.len(),
            Self::Sound(sounds) => sounds.values.len(),
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Tokens(tokens) => Self::Tokens(tokens.select(rows)),
            Self::Images(images) => Self::Images(images.select(rows)),
            Self::Sound(sounds) => Self::Sound(sounds.select(rows)),
        }
    }
}

impl From<Padded> for Sources {
    fn from(tokens: Padded) -> Self {
        Self::Tokens(tokens)
    }
}

impl From<ImageBatch> for Sources {
    fn from(images: ImageBatch) -> Self {
        Self::Images(images)
    }
}

impl From<SoundBatch> for Sources {
    fn from(sounds: SoundBatch) -> Self {
        Self::Sound(sounds)
    }
}

/// Examples that are computed together.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// What is read.
    pub source: Sources,
    /// Targets without `START`, with `END` at the end of each; or labels.
    pub target: Padded,
    /// The number of each source's example, within the pass or the input.
    pub indices: Vec<u64>,
    /// How many targets each source has, one behind the other.
    pub each: usize,
}

/// An example as rows of ids, without their ends, and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) index: u64,
    pub(crate) source: Vec<u32>,
    pub(crate) target: Vec<u32>,
}

impl Encoded {
    /// The longer side, with its end.
    fn width(&self) -> usize {
        self.source.len().max(self.target.len()) + 1
    }
}

/// How large a batch may be. With both limits given, both hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The most tokens, padding included: rows times the wider of source and target.
    pub batch_tokens: Option<usize>,
    /// The most rows.
    pub batch_examples: Option<usize>,
}

impl Limits {
    /// So many tokens at most.
    pub fn tokens(batch_tokens: usize) -> Self {
        Self { batch_tokens: Some(batch_tokens), batch_examples: None }
    }

    /// So many rows at most.
    pub fn examples(batch_examples: usize) -> Self {
        Self { batch_tokens: None, batch_examples: Some(batch_examples) }
    }

    /// Refuses limits that no batch, or every batch, meets.
    pub fn validate(&self) -> Result<(), DataError> {
        let wrong = |key: &str, problem: &str| {
            Err(DataError::Config { key: key.to_owned(), problem: problem.to_owned() })
        };
        match (self.batch_tokens, self.batch_examples) {
            (Some(0), _) => wrong("batch_tokens", "0 holds nothing; write 4096, for instance"),
            (_, Some(0)) => wrong("batch_examples", "0 holds nothing; write 64, for instance"),
            (None, None) => wrong(
                "batch_tokens",
                "a batch needs a limit; write `batch_tokens = 4096` or `batch_examples = 64`",
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn allow(&self, rows: usize, width: usize) -> bool {
        self.batch_tokens.is_none_or(|most| rows * width <= most)
            && self.batch_examples.is_none_or(|most| rows <= most)
    }
}

impl Batch {
    pub(crate) fn new(examples: &[Encoded], targets_end: Ending) -> Self {
        let sources: Vec<&[u32]> = examples.iter().map(|example| example.source.as_slice()).collect();
        let targets: Vec<&[u32]> = examples.iter().map(|example| example.target.as_slice()).collect();
        Self {
            source: Sources::Tokens(Padded::ended(&sources, Ending::TOKENS)),
            target: Padded::ended(&targets, targets_end),
            indices: examples.iter().map(|example| example.index).collect(),
            each: 1,
        }
    }

    /// Images and the ids that are to come of them, the same number for every image, with the number of each.
    pub(crate) fn of_images(
        images: ImageBatch,
        targets: &[Vec<u32>],
        targets_end: Ending,
        indices: Vec<u64>,
    ) -> Self {
        let each = targets.len() / images.rows.max(1);
        Self { source: Sources::Images(images), target: Padded::ended(targets, targets_end), indices, each }
    }

    /// Sounds and the ids that are to come of them, with the number of each.
    pub(crate) fn of_sounds(
        sounds: SoundBatch,
        targets: &[Vec<u32>],
        targets_end: Ending,
        indices: Vec<u64>,
    ) -> Self {
        Self { source: Sources::Sound(sounds), target: Padded::ended(targets, targets_end), indices, each: 1 }
    }

    /// How many examples there are.
    pub fn rows(&self) -> usize {
        self.indices.len()
    }

    /// The same examples in so many batches of nearly the same size, in order.
    pub fn parts(&self, count: usize) -> Vec<Self> {
        let (rows, count) = (self.rows(), count.max(1));
        let bounds = (0..count).map(|part| part * rows / count..(part + 1) * rows / count);
        bounds.filter(|rows| !rows.is_empty()).map(|rows| self.select(&rows.collect::<Vec<_>>())).collect()
    }

    /// Only these examples, in this order.
    ///
    /// # Panics
    /// If there is none of such a number.
    pub fn select(&self, examples: &[usize]) -> Self {
        let targets: Vec<usize> =
            examples.iter().flat_map(|example| example * self.each..(example + 1) * self.each).collect();
        Self {
            source: self.source.select(examples),
            target: self.target.select(&targets),
            indices: examples.iter().map(|&example| self.indices[example]).collect(),
            each: self.each,
        }
    }
}

/// Sorts examples by length, those of one length staying in order, and cuts them into batches.
/// An example that exceeds the limits alone gets a batch of its own.
pub(crate) fn bucketed(examples: Vec<Encoded>, limits: &Limits) -> Vec<Vec<Encoded>> {
    bucketed_if(examples, |batch, example| limits.allow(batch.len() + 1, example.width()))
}

/// The same, where an example joins the batch before it if it `may`.
fn bucketed_if(mut examples: Vec<Encoded>, may: impl Fn(&[Encoded], &Encoded) -> bool) -> Vec<Vec<Encoded>> {
    examples.sort_by_key(|example| (example.width(), example.target.len(), example.source.len()));
    let mut batches: Vec<Vec<Encoded>> = Vec::new();
    for example in examples {
        // Sorted, so the newest example is the widest of its batch.
        match batches.last_mut() {
            Some(batch) if may(batch, &example) => batch.push(example),
            _ => batches.push(vec![example]),
        }
    }
    batches
}

/// What a model reads for one prediction.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Tokens without `END`.
    Tokens(Vec<u32>),
    /// An image.
    Image(Pixels),
    /// A sound.
    Sound(Frames),
}

/// The most values of images that are computed together: 64 MiB of them.
const MOST_VALUES: usize = 1 << 24;

/// Batches for prediction, of images, and of tokens or sounds that all have one length: there is no padding, so that what a
/// source becomes cannot depend on the others. Which source a row is, [`Batch::indices`] tells.
pub fn prediction_batches(sources: Vec<Source>, limits: &Limits) -> Result<Vec<Batch>, DataError> {
    limits.validate()?;
    let (mut examples, mut images, mut sounds) = (Vec::new(), Vec::new(), Vec::new());
    for (source, index) in sources.into_iter().zip(0..) {
        match source {
            Source::Tokens(source) => examples.push(Encoded { index, source, target: Vec::new() }),
            Source::Image(image) => images.push((index, image)),
            Source::Sound(frames) => sounds.push((index, frames, Vec::new())),
        }
    }
    let values = images.iter().map(|(_, image)| image.values().len()).max().unwrap_or(1);
    let most = limits.batch_examples.unwrap_or(usize::MAX).min(MOST_VALUES / values.max(1)).max(1);
    let seen = images.chunks(most).map(|chunk| {
        let batch = ImageBatch::new(chunk.iter().map(|(_, image)| image))?;
        let targets = vec![Vec::new(); chunk.len()];
        let indices = chunk.iter().map(|(index, _)| *index).collect();
        Ok(Batch::of_images(batch, &targets, Ending::TOKENS, indices))
    });
    let seen = seen.collect::<Result<Vec<_>, DataError>>()?;
    let batches = bucketed_if(examples, |batch, example| {
        limits.allow(batch.len() + 1, example.width())
            && batch.iter().all(|other| other.source.len() == example.source.len())
    });
    let read = batches.iter().map(|batch| Batch::new(batch, Ending::TOKENS));
    let heard = batches_of_sounds(sounds, limits, true)?;
    Ok(seen.into_iter().chain(read).chain(heard).collect())
}

/// Batches of examples of similar length, for validation. `examples` are the tokens of
/// source and target without `END`; for prediction the targets are empty. Every example is in exactly
/// one batch, and [`Batch::indices`] tells which: see [`in_input_order`].
pub fn evaluation_batches(
    examples: &[(Vec<u32>, Vec<u32>)],
    limits: &Limits,
) -> Result<Vec<Batch>, DataError> {
    batches(examples, limits, Ending::TOKENS)
}

/// Batches of images with the tokens of their texts, without `END`, in order, `most` images at a time.
pub fn evaluation_batches_of_images(
    examples: &[(Pixels, Vec<u32>)],
    most: usize,
) -> Result<Vec<Batch>, DataError> {
    let numbered: Vec<_> = examples.iter().zip(0..).collect();
    let batch = |chunk: &[(&(Pixels, Vec<u32>), u64)]| {
        let images = ImageBatch::new(chunk.iter().map(|((image, _), _)| image))?;
        let targets: Vec<Vec<u32>> = chunk.iter().map(|((_, target), _)| target.clone()).collect();
        let indices = chunk.iter().map(|(_, index)| *index).collect();
        Ok(Batch::of_images(images, &targets, Ending::TOKENS, indices))
    };
    numbered.chunks(most.max(1)).map(batch).collect()
}

/// Batches of sounds of similar length with the tokens of their texts, without `END`. `batch_tokens` of the limits counts
/// frames, those behind the shorter sounds included.
pub fn evaluation_batches_of_sounds(
    examples: Vec<(Frames, Vec<u32>)>,
    limits: &Limits,
) -> Result<Vec<Batch>, DataError> {
    limits.validate()?;
    let numbered = (0..).zip(examples).map(|(index, (frames, target))| (index, frames, target));
    batches_of_sounds(numbered.collect(), limits, false)
}

/// Cuts sounds, sorted by length, into batches; with `alike` all of a batch have one length.
fn batches_of_sounds(
    mut sounds: Vec<(u64, Frames, Vec<u32>)>,
    limits: &Limits,
    alike: bool,
) -> Result<Vec<Batch>, DataError> {
    sounds.sort_by_key(|(_, frames, target)| (frames.len(), target.len()));
    let mut batches = Vec::new();
    let mut rest = sounds.as_slice();
    while let Some((_, first, _)) = rest.first() {
        // Sorted, so the newest sound is the longest of its batch.
        let joins = |(at, (_, frames, _)): &(usize, &(u64, Frames, Vec<u32>))| {
            let values = (at + 1).saturating_mul(frames.values.len());
            *at == 0
                || limits.allow(at + 1, frames.len())
                    && values <= MOST_VALUES
                    && (!alike || frames.len() == first.len())
        };
        let count = rest.iter().enumerate().take_while(joins).count();
        let (batch, behind) = rest.split_at(count);
        let targets: Vec<Vec<u32>> = batch.iter().map(|(.., target)| target.clone()).collect();
        let indices = batch.iter().map(|(index, ..)| *index).collect();
        let together = SoundBatch::new(batch.iter().map(|(_, frames, _)| frames))?;
        batches.push(Batch::of_sounds(together, &targets, Ending::TOKENS, indices));
        rest = behind;
    }
    Ok(batches)
}

/// The same, with targets that end as told.
pub(crate) fn batches(
    examples: &[(Vec<u32>, Vec<u32>)],
    limits: &Limits,
    targets_end: Ending,
) -> Result<Vec<Batch>, DataError> {
    limits.validate()?;
    let encoded = examples
        .iter()
        .zip(0..)
        .map(|((source, target), index)| Encoded { index, source: source.clone(), target: target.clone() })
        .collect();
    Ok(bucketed(encoded, limits).iter().map(|batch| Batch::new(batch, targets_end)).collect())
}

/// Puts what was computed for the rows of batches back into the order of the input. `results` pairs
/// each row's index, as in [`Batch::indices`], with what was computed for it.
pub fn in_input_order<T>(results: impl IntoIterator<Item = (u64, T)>) -> Vec<T> {
    let mut results: Vec<_> = results.into_iter().collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
