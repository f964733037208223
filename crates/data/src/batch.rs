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
use std::ops::Range;

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
    fn part(&self, rows: Range<usize>) -> Self {
        let lengths = self.lengths[rows.clone()].to_vec();
        let width = lengths.iter().copied().max().unwrap_or(0);
        let ids = rows.clone().flat_map(|row| &self.ids[row * self.width..][..width]).copied().collect();
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

    fn part(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Tokens(tokens) => Self::Tokens(tokens.part(rows)),
            Self::Images(images) => Self::Images(images.part(rows)),
            Self::Sound(sounds) => Self::Sound(sounds.part(rows)),
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
        let parts = bounds.filter(|rows| !rows.is_empty()).map(|rows| Self {
            source: self.source.part(rows.clone()),
            target: self.target.part(rows.start * self.each..rows.end * self.each),
            indices: self.indices[rows].to_vec(),
            each: self.each,
        });
        parts.collect()
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_by(batch: &Batch) -> &Padded {
        batch.source.tokens().unwrap()
    }

    fn seen_by(batch: &Batch) -> &ImageBatch {
        match &batch.source {
            Sources::Images(images) => images,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rows_end_and_are_padded() {
        let examples = [(vec![5, 6, 7], vec![8]), (vec![9], vec![])];
        let batches = evaluation_batches(&examples, &Limits::examples(2)).unwrap();
        assert_eq!(batches.len(), 1);
        let batch = &batches[0];
        assert_eq!(batch.indices, [1, 0]);
        assert_eq!(read_by(batch).ids, [9, END, PAD, PAD, 5, 6, 7, END]);
        assert_eq!(read_by(batch).lengths, [2, 4]);
        assert_eq!(batch.target.ids, [END, PAD, 8, END]);
        assert_eq!((batch.target.rows, batch.target.width), (2, 2));
        assert_eq!(read_by(batch).row(0), [9, END]);
        assert_eq!(read_by(batch).tokens(), 6);
    }

    #[test]
    fn sources_that_are_predicted_together_have_one_length() {
        let sources: Vec<Source> = (0..20).map(|n| Source::Tokens(vec![9; n % 3])).collect();
        let batches = prediction_batches(sources, &Limits::examples(5)).unwrap();
        assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [5, 2, 5, 2, 5, 1]);
        for batch in &batches {
            assert!(read_by(batch).lengths.iter().all(|length| *length == read_by(batch).width));
        }
        let mut seen: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn parts_hold_all_rows_in_order_and_no_more_padding_than_they_need() {
        let examples: Vec<_> = (1..8).map(|n| (vec![n; n as usize], vec![n + 10; 3])).collect();
        let batch = evaluation_batches(&examples, &Limits::examples(7)).unwrap().remove(0);
        for count in [0, 1, 2, 3, 7, 20] {
            let parts = batch.parts(count);
            assert_eq!(parts.len(), count.clamp(1, 7));
            assert_eq!(parts.iter().flat_map(|part| part.indices.clone()).collect::<Vec<_>>(), batch.indices);
            let mut row = 0;
            for part in &parts {
                assert_eq!((read_by(part).rows, part.target.rows), (part.rows(), part.rows()));
                assert_eq!(Some(&read_by(part).width), read_by(part).lengths.iter().max());
                for inside in 0..part.rows() {
                    assert_eq!(read_by(part).row(inside), read_by(&batch).row(row));
                    assert_eq!(part.target.row(inside), batch.target.row(row));
                    row += 1;
                }
            }
        }
        assert_eq!(batch.parts(1), [batch]);
    }

    fn image(number: usize, height: usize, width: usize) -> Pixels {
        Pixels::new(height, width, 3, vec![number as f32; height * width * 3]).unwrap()
    }

    #[test]
    fn images_are_predicted_in_batches_beside_texts() {
        let source = |n: usize| match n % 3 {
            0 => Source::Tokens(vec![9; n % 2]),
            _ => Source::Image(image(n, 4, 5)),
        };
        let batches = prediction_batches((0..12).map(source).collect(), &Limits::examples(3)).unwrap();
        let mut seen: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..12).collect::<Vec<_>>());
        let images: Vec<&Batch> = batches.iter().filter(|batch| batch.source.tokens().is_none()).collect();
        assert_eq!(images.iter().map(|batch| batch.rows()).collect::<Vec<_>>(), [3, 3, 2]);
        for batch in images {
            let found = seen_by(batch);
            assert_eq!((found.rows, found.height, found.width, found.channels), (batch.rows(), 4, 5, 3));
            assert_eq!((batch.source.rows(), batch.source.size()), (batch.rows(), batch.rows() * 60));
            for (row, &index) in batch.indices.iter().enumerate() {
                assert!(found.row(row).iter().all(|value| *value == index as f32));
            }
        }
        let uneven = vec![Source::Image(image(0, 4, 5)), Source::Image(image(1, 5, 4))];
        let error = prediction_batches(uneven, &Limits::examples(8)).unwrap_err().to_string();
        assert!(error.contains("image 2 of the batch has another shape"), "{error}");
    }

    /// However many may stand in a batch, their values are bounded.
    #[test]
    fn few_large_images_are_computed_together() {
        let (most, side) = (MOST_VALUES / (1024 * 1024 * 3), 1024);
        let sources = (0..=most).map(|n| Source::Image(image(n, side, side))).collect();
        let batches = prediction_batches(sources, &Limits::examples(64)).unwrap();
        assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [most, 1]);
    }

    fn sound(frames: usize, value: f32) -> Frames {
        Frames { values: vec![value; frames * 3], bands: 3, hop: 0.01 }
    }

    #[test]
    fn sounds_that_are_predicted_together_have_one_length() {
        let sources = (0..20).map(|n| Source::Sound(sound(1 + n % 3, n as f32))).collect();
        let batches = prediction_batches(sources, &Limits::examples(5)).unwrap();
        assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [5, 2, 5, 2, 5, 1]);
        let mut seen: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
        for batch in &batches {
            let Sources::Sound(sounds) = &batch.source else { panic!("sounds") };
            assert!(sounds.lengths.iter().all(|length| *length == sounds.frames));
            for (row, &index) in batch.indices.iter().enumerate() {
                assert_eq!(sounds.row(row), vec![index as f32; 3 * (1 + index as usize % 3)]);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn sounds_are_validated_on_with_others_of_nearly_their_length() {
        let examples = [9, 1, 4, 2].map(|length| (sound(length, length as f32), vec![7; length]));
        let batches = evaluation_batches_of_sounds(examples.to_vec(), &Limits::tokens(9)).unwrap();
        assert_eq!(
            batches.iter().map(|batch| batch.indices.clone()).collect::<Vec<_>>(),
            [vec![1, 3], vec![2], vec![0]]
        );
        let Sources::Sound(sounds) = &batches[0].source else { panic!("sounds") };
        assert_eq!(sounds.values, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(batches[0].target.ids, [7, END, PAD, 7, 7, END]);
        let parts = batches[0].parts(2);
        let Sources::Sound(first) = &parts[0].source else { panic!("sounds") };
        assert_eq!(
            (first.rows, first.frames, first.row(0)),
            (1, 1, &[1.0; 3][..]),
            "no more padding than it needs"
        );
        assert_eq!(parts[1].target.row(0), [7, 7, END]);
    }

    #[test]
    fn images_and_their_texts_stay_in_order() {
        let examples: Vec<(Pixels, Vec<u32>)> = (0..5).map(|n| (image(n, 2, 2), vec![9; n])).collect();
        let batches = evaluation_batches_of_images(&examples, 2).unwrap();
        assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [2, 2, 1]);
        let indices: Vec<u64> = batches.iter().flat_map(|batch| batch.indices.clone()).collect();
        assert_eq!(indices, [0, 1, 2, 3, 4]);
        assert_eq!(batches[1].target.ids, [9, 9, END, PAD, 9, 9, 9, END]);
        let parts = batches[1].parts(3);
        assert_eq!(parts.len(), 2);
        for (row, part) in parts.iter().enumerate() {
            assert_eq!((seen_by(part).rows, seen_by(part).row(0)), (1, seen_by(&batches[1]).row(row)));
            assert_eq!(part.target.row(0), batches[1].target.row(row));
        }
        assert_eq!(batches[1].parts(1), [batches[1].clone()]);
        assert!(evaluation_batches_of_images(&[], 2).unwrap().is_empty());
    }

    #[test]
    fn limits_that_make_no_sense_are_refused() {
        for (limits, key) in [
            (Limits::tokens(0), "`batch_tokens`: 0 holds"),
            (Limits::examples(0), "`batch_examples`"),
            (Limits { batch_tokens: None, batch_examples: None }, "needs a limit"),
        ] {
            let error = evaluation_batches(&[], &limits).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn padding_nothing_is_empty() {
        let none = Padded::new::<Vec<u32>>(&[]);
        assert_eq!((none.rows, none.width, none.ids.len()), (0, 0, 0));
    }

    proptest! {
        #[test]
        fn every_example_is_in_one_batch_within_the_limits(
            lengths in prop::collection::vec((0usize..20, 0usize..20), 0..60),
            tokens in prop::option::of(1usize..100),
            rows in prop::option::of(1usize..9),
        ) {
            prop_assume!(tokens.is_some() || rows.is_some());
            let limits = Limits { batch_tokens: tokens, batch_examples: rows };
            let examples: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(i, (s, t))| (vec![10 + i as u32; *s], vec![500 + i as u32; *t]))
                .collect();
            let batches = evaluation_batches(&examples, &limits).unwrap();
            for batch in &batches {
                let width = read_by(batch).width.max(batch.target.width);
                prop_assert!(limits.allow(batch.rows(), width) || batch.rows() == 1);
            }
            let rows = batches.iter().flat_map(|batch| {
                (0..batch.rows()).map(|row| {
                    let (source, target) = (read_by(batch).row(row), batch.target.row(row));
                    let whole = [source, target].map(|side| side.strip_suffix(&[END]).unwrap().to_vec());
                    (batch.indices[row], (whole[0].clone(), whole[1].clone()))
                })
            });
            prop_assert_eq!(in_input_order(rows), examples);
        }
    }
}
