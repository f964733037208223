//! Files of the MNIST family: all images in one file, all labels in another, plain or gzipped.
//!
//! ```text
//! 0 0 8 d            two zeros, 8 for bytes, the number of dimensions
//! n₁ … n_d           four bytes each, the highest first
//! n₁ × … × n_d bytes
//! ```
//!
//! Images have three dimensions (number, height, width), or a fourth of 3 channels; labels have one. The format is
//! described beside the data: <http://yann.lecun.com/exdb/mnist/>.

use std::io::Read;
use std::path::Path;

use super::error::{ImageError, ImageProblem};
use super::image::Image;
use super::set::{ImageExample, ImageSet, ImageText};
use crate::{DataError, files};

/// The most bytes that a file may come to, after decompression.
pub const MAX_IDX: u64 = 4 << 30;

/// Bytes with dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Idx {
    sizes: Vec<usize>,
    bytes: Vec<u8>,
}

/// The images of one file with the labels of another, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdxSet {
    height: usize,
    width: usize,
    channels: usize,
    images: Vec<u8>,
    labels: Vec<u8>,
}

impl IdxSet {
    /// Reads both files.
    ///
    /// # Errors
    /// If one is no idx file of the right dimensions, shorter or longer than its header says, larger than
    /// [`MAX_IDX`], or the two have different numbers.
    pub fn open(images: &Path, labels: &Path) -> Result<Self, DataError> {
        let wrong = |path: &Path, problem: String| ImageError::of(path, ImageProblem::Idx(problem));
        let read = Idx::read(images)?;
        let (count, height, width, channels) = match read.sizes[..] {
            [count, height, width] => (count, height, width, 1),
            [count, height, width, channels @ (1 | 3)] => (count, height, width, channels),
            _ => {
                let sizes = &read.sizes;
                return Err(wrong(
                    images,
                    format!("its sizes are {sizes:?}, not those of images (number, height, width); swap it with the labels if it holds them"),
                )
                .into());
            }
        };
        // One image stands for all: its sides must be those of an image.
        if count > 0 {
            let first = read.bytes[..height * width * channels].to_vec();
            Image::new(height, width, channels, first)
                .map_err(|error| ImageError::of(images, error.problem))?;
        }
        let told = Idx::read(labels)?;
        match told.sizes[..] {
            [found] if found == count => {}
            [found] => {
                return Err(wrong(
                    labels,
                    format!(
                        "it has {found} labels, but {} has {count} images; take files that belong together",
                        images.display()
                    ),
                )
                .into());
            }
            _ => {
                let sizes = &told.sizes;
                return Err(wrong(
                    labels,
                    format!("its sizes are {sizes:?}, not one number of labels; check the name"),
                )
                .into());
            }
        }
        Ok(Self { height, width, channels, images: read.bytes, labels: told.bytes })
    }

    /// The label of each image.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }
}

impl ImageSet for IdxSet {
    fn len(&self) -> u64 {
        self.labels.len() as u64
    }

    fn get(&self, index: u64) -> Result<ImageExample, DataError> {
        let size = self.height * self.width * self.channels;
        let bytes = self.images[index as usize * size..][..size].to_vec();
        let image = Image::new(self.height, self.width, self.channels, bytes)?;
        let texts = vec![ImageText::new(self.labels[index as usize].to_string())];
        Ok(ImageExample { name: format!("image {index}"), image, texts })
    }

    fn texts(&self, index: u64) -> Result<Vec<String>, DataError> {
        Ok(vec![self.labels[index as usize].to_string()])
    }
}

impl Idx {
    fn read(path: &Path) -> Result<Self, DataError> {
        let mut reader = files::open(path)?;
        let wrong =
            |problem: String| -> DataError { ImageError::of(path, ImageProblem::Idx(problem)).into() };
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                wrong("it ends before its header does; fetch it again".into())
            }
            _ => DataError::Read { path: path.to_owned(), error },
        };
        let mut head = [0; 4];
        reader.read_exact(&mut head).map_err(failed)?;
        let [0, 0, 8, dimensions @ 1..=4] = head else {
            return Err(wrong(format!(
                "it begins with {head:02x?}, not with 00 00 08 and a number of dimensions from 1 to 4; check the name"
            )));
        };
        let mut sizes = Vec::new();
        let mut total = 1u64;
        for _ in 0..dimensions {
            let mut size = [0; 4];
            reader.read_exact(&mut size).map_err(failed)?;
            let size = u32::from_be_bytes(size);
            total = total.saturating_mul(size.into());
            sizes.push(size as usize);
        }
        if total > MAX_IDX {
            return Err(wrong(format!(
                "its header tells of {total} bytes, more than {MAX_IDX}; it is broken, or too large"
            )));
        }
        // What is not there takes no memory, whatever the header says; one byte more would show.
        let mut bytes = Vec::new();
        reader.take(total + 1).read_to_end(&mut bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                wrong("its compressed data is cut short; fetch it again".into())
            }
            _ => DataError::Read { path: path.to_owned(), error },
        })?;
        match bytes.len() as u64 {
            found if found < total => Err(wrong(format!(
                "it ends after {found} of the {total} bytes that its header tells of; fetch it again"
            ))),
            found if found > total => Err(wrong(format!(
                "it goes on after the {total} bytes that its header tells of; fetch it again"
            ))),
            _ => Ok(Self { sizes, bytes }),
        }
    }
}
