//! Images as input: where they come from, and how they become what a model reads.
//!
//! ```text
//! files, idx files, scenes ──> ImageSet ──> Image ──> Preparation ──> Pixels ──> ImageBatch
//!                                │                        │
//!                                └── texts, with boxes ───┴──> texts, with boxes
//! ```
//!
//! An [`ImageSet`] gives images with texts by number, in any order, the same ones each time. A text is a caption, of
//! which an image may have several, or a label. There are three kinds of sets:
//!
//! | set | what it is |
//! |---|---|
//! | [`ImageFolder`] | PNG, JPEG, WebP and BMP files, and a list of captions or labels in TSV or JSONL |
//! | [`IdxSet`] | the two files of MNIST and its kin |
//! | [`crate::builtin::shapes::DrawnShapes`] | scenes drawn from a seed, whose captions know the boxes of what they name |
//!
//! A [`Preparation`] makes every image the same size: the middle of it (or all of it) resized by a filter that leaves
//! out nothing, grey or in colours, with the mean taken off each channel and divided by the deviation. In training it
//! may also take a random part, mirror it and shift its colours. What it does is a function of seed, epoch and example
//! ([`Draw`]), so that a run that was stopped goes on with the same images. A [`View`] tells which part was taken, and
//! maps boxes.
//!
//! [`ready`] does all this on threads of its own, ahead of training, and gives the results in order:
//!
//! ```
//! use std::sync::Arc;
//! use gatto_data::builtin::shapes::{Asked, DrawnShapes, ScenePart, Shapes};
//! use gatto_data::images::{AheadSettings, ImageBatch, ImageSet, Preparation, ready, shuffled};
//!
//! let task = Shapes::new(64, Asked::Captions(5))?;
//! let set: Arc<dyn ImageSet> = Arc::new(DrawnShapes { task, part: ScenePart::Train, seed: 1, count: 32 });
//! let (seed, epoch) = (1, 0);
//! let order = shuffled(set.len(), seed, epoch);
//! let mut images = ready(set, order, Preparation::default(), Some((seed, epoch)), AheadSettings::default())?;
//! let rows: Vec<_> = images.by_ref().take(8).collect::<Result<_, _>>()?;
//! let batch = ImageBatch::new(rows.iter().map(|row| &row.pixels))?;
//! assert_eq!((batch.rows, batch.channels, batch.height, batch.width), (8, 3, 64, 64));
//! # Ok::<(), gatto_data::DataError>(())
//! ```
//!
//! An [`ImageStream`] puts them together in training batches without end, and [`HeldImages`] are those that nothing is
//! learnt from. Vocabularies and labels are learnt from [`texts_of`] a set, as from any corpus; which of its captions an image is
//! learnt with in an epoch, [`Draw::caption`] says.
//!
//! # Where in the image
//!
//! A [`PixelBox`] is a part of an image in pixels. A [`Grid`] divides an image into the regions that a model attends to,
//! and [`Grid::covered`] tells which share of each region lies in given boxes: `Σ weight × share` is how much of an
//! attention lies on what a word names ([`Mention`]).
//!
//! # What can go wrong
//!
//! A file is an error with its name, the line that lists it and the remedy ([`ImageError`]) if it is missing, no image,
//! broken or cut short, if its name leads out of the folder, or if it is beyond the [`DecodeLimits`], which are held
//! before memory is taken. Who would rather go on counts it in [`Skipped`], by reason, with the first few messages: with
//! `skip_bad` lists do so as they are read, and in a pass an error comes in the place of its image.

mod batch;
mod decode;
mod error;
mod folder;
mod geometry;
mod idx;
mod image;
mod prepare;
mod resize;
mod set;
mod stream;
mod write;

#[cfg(test)]
mod tests;

pub use self::image::{Image, LONGEST_SIDE, Normalisation, Pixels};
pub use crate::ahead::{Ahead, AheadSettings};
pub use crate::skipped::{Reason, Skipped};
pub use batch::{ImageBatch, Ready, ready, shuffled, texts_of};
pub use decode::{DecodeLimits, decode_bytes, decode_file};
pub use error::{ImageError, ImageProblem};
pub(crate) use folder::is_inside;
pub use folder::{ImageFiles, ImageFolder, ListFormat, Texts};
pub use geometry::{Grid, PixelBox};
pub use idx::{IdxSet, MAX_IDX};
pub use prepare::{Augmentation, Draw, Fit, Preparation, Prepared, View};
pub use resize::Filter;
pub use set::{ImageExample, ImageSet, ImageText, Mention};
pub use stream::{HeldImages, ImageCoder, ImageStream, ImageStreamSettings};
