//! Images on their way to a model: in some order, prepared ahead, and put together in batches.

use std::sync::Arc;

use rand::seq::SliceRandom;

use super::error::{ImageError, ImageProblem};
use super::image::Pixels;
use super::prepare::{Draw, Preparation, Prepared, View};
use super::set::{ImageSet, ImageText};
use crate::ahead::{Ahead, AheadSettings};
use crate::corpus::Memory;
use crate::random::{generator, mixed};
use crate::{DataError, Example};

/// An example that is ready for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready {
    /// Its number in its set.
    pub index: u64,
    /// Its name.
    pub name: String,
    /// The values of its pixels.
    pub pixels: Pixels,
    /// Where they came from.
    pub view: View,
    /// Its captions or its label, with boxes in pixels of the prepared image.
    pub texts: Vec<ImageText>,
}

/// The numbers 0 to `count` - 1 in the order of a pass, which depends on seed and epoch alone.
pub fn shuffled(count: u64, seed: u64, epoch: u64) -> Vec<u64> {
    let mut order: Vec<u64> = (0..count).collect();
    order.shuffle(&mut generator(mixed(seed, ORDER), epoch));
    order
}

const ORDER: u64 = 0x0de7;

/// Gets the examples of `order` ready, ahead of who takes them. With a seed and an epoch, they are changed as the
/// preparation says; without, they are not.
///
/// To go on in the middle of a pass, leave out what was taken before.
///
/// # Errors
/// If the preparation makes no sense, a number is not one of the set, or there is no thread. What is wrong with an image
/// comes in its place, as an item: return it, or count it with [`super::Skipped::pass`].
pub fn ready(
    set: Arc<dyn ImageSet>,
    order: Vec<u64>,
    preparation: Preparation,
    changed: Option<(u64, u64)>,
    settings: AheadSettings,
) -> Result<Ahead<Ready>, DataError> {
    preparation.validate()?;
    if let Some(beyond) = order.iter().find(|index| **index >= set.len()) {
        let corpus = format!("a set of {} images", set.len());
        return Err(DataError::Position { corpus, at: format!("image {beyond}") });
    }
    Ahead::new(order.len() as u64, settings, move |job| {
        let index = order[job as usize];
        let draw = changed.map(|(seed, epoch)| Draw { seed, epoch, example: index });
        Ready::new(set.as_ref(), index, &preparation, draw)
    })
}

impl Ready {
    /// Gets example `index` of a set ready, changed if there is a draw.
    ///
    /// # Errors
    /// If the image cannot be had, or the preparation makes no sense.
    pub fn new(
        set: &dyn ImageSet,
        index: u64,
        preparation: &Preparation,
        draw: Option<Draw>,
    ) -> Result<Self, DataError> {
        let example = set.get(index)?;
        let Prepared { pixels, view } = preparation.prepare(&example.image, draw)?;
        let texts = example.texts.into_iter().map(|text| view.map_text(text)).collect();
        Ok(Self { index, name: example.name, pixels, view, texts })
    }
}

/// Images that are computed together.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageBatch {
    /// `[rows, height, width, channels]`.
    pub values: Vec<f32>,
    /// How many images there are.
    pub rows: usize,
    /// Values of a pixel.
    pub channels: usize,
    /// Rows of pixels of an image.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
}

impl ImageBatch {
    /// Puts images of one shape together.
    ///
    /// # Errors
    /// If there is none, or they differ in shape.
    pub fn new<'a>(images: impl IntoIterator<Item = &'a Pixels>) -> Result<Self, ImageError> {
        let shape = |image: &Pixels| [image.height(), image.width(), image.channels()];
        let mut images = images.into_iter().peekable();
        let Some(expected) = images.peek().map(|image| shape(image)) else {
            return Err(ImageError::unnamed(ImageProblem::Shape {
                height: 0,
                width: 0,
                channels: 0,
                bytes: 0,
            }));
        };
        let [height, width, channels] = expected;
        let mut batch = Self { values: Vec::new(), rows: 0, channels, height, width };
        for image in images {
            batch.rows += 1;
            if shape(image) != expected {
                let problem = ImageProblem::Uneven { number: batch.rows, found: shape(image), expected };
                return Err(ImageError::unnamed(problem));
            }
            batch.values.extend_from_slice(image.values());
        }
        Ok(batch)
    }

    /// The values of an image: `[height, width, channels]`.
    pub fn row(&self, row: usize) -> &[f32] {
        let size = self.channels * self.height * self.width;
        &self.values[row * size..][..size]
    }

    /// Some of the images.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.channels * self.height * self.width);
        rows.iter().for_each(|&row| values.extend_from_slice(self.row(row)));
        Self { values, rows: rows.len(), ..*self }
    }
}

/// All texts of the first `most` images of a set as a corpus in memory, to learn a vocabulary or labels from. Each is
/// the target of an example whose source is the number of its image.
pub fn texts_of(set: &dyn ImageSet, most: u64) -> Result<Memory, DataError> {
    let mut examples = Vec::new();
    for index in 0..set.len().min(most) {
        let texts = set.texts(index)?;
        examples.extend(texts.into_iter().map(|text| Example::new(format!("image {index}"), text)));
    }
    Ok(Memory::new(examples))
}
