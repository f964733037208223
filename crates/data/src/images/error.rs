//! What can be wrong with an image.

use std::path::{Path, PathBuf};

use crate::skipped::{Reason, Skipped};

/// An image, or a file of images, that cannot be used. The message names the file, the line that asked for
/// it, and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{}{problem}", place(path.as_deref(), listed.as_ref()))]
pub struct ImageError {
    /// The file, if the image has one.
    pub path: Option<PathBuf>,
    /// The list, and the line in it, counted from one, that names the image.
    pub listed: Option<(PathBuf, u64)>,
    /// What is wrong.
    pub problem: ImageProblem,
}

fn place(path: Option<&Path>, listed: Option<&(PathBuf, u64)>) -> String {
    let path = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    let listed = listed.map(|(list, line)| format!("{}, line {line}: ", list.display())).unwrap_or_default();
    listed + &path
}

impl ImageError {
    /// A problem with an image that has no file.
    pub(crate) fn unnamed(problem: ImageProblem) -> Self {
        Self { path: None, listed: None, problem }
    }

    /// A problem with a file.
    pub(crate) fn of(path: &Path, problem: ImageProblem) -> Self {
        Self { path: Some(path.to_owned()), listed: None, problem }
    }

    /// A problem with an image that has a name.
    pub(crate) fn named(name: &str, problem: ImageProblem) -> Self {
        Self::of(Path::new(name), problem)
    }

    /// The same problem, of an image that a line of a list names.
    pub(crate) fn listed_in(mut self, list: &Path, line: u64) -> Self {
        self.listed = Some((list.to_owned(), line));
        self
    }
}

/// What is wrong with an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageProblem {
    /// The sides, the channels and the bytes do not make an image.
    #[error(
        "{bytes} values make no image of {height} × {width} × {channels}; sides are from 1 to 65535 pixels, \
         channels 1 or 3"
    )]
    Shape {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// Values of a pixel.
        channels: usize,
        /// How many values there are.
        bytes: usize,
    },
    /// A part of an image is empty or not in it.
    #[error(
        "there is no part of {} × {} pixels at row {}, column {} of an image of {height} × {width}; choose a \
         smaller part", part[2], part[3], part[0], part[1]
    )]
    Cut {
        /// Top, left, height and width.
        part: [usize; 4],
        /// Rows of the image.
        height: usize,
        /// Columns of the image.
        width: usize,
    },
    /// Images of one batch differ in shape.
    #[error(
        "image {number} of the batch has another shape than the first ({found:?}, not {expected:?}, as height, \
         width and channels); prepare them alike"
    )]
    Uneven {
        /// Which, counted from one.
        number: usize,
        /// Its shape.
        found: [usize; 3],
        /// That of the first.
        expected: [usize; 3],
    },
    /// There is no such file.
    #[error("the image is not there; check the name and the folder")]
    Missing,
    /// A folder, a pipe or a device.
    #[error("is no file; name an image file")]
    NotAFile,
    /// The system does not let it be read.
    #[error("cannot be read: {0}; check its permissions and the disk")]
    Read(std::io::Error),
    /// A name that leads out of the folder of images.
    #[error(
        "the name leads out of the folder of images; write a path inside it, without `..` and without `/` before it"
    )]
    Outside,
    /// Not one of the formats.
    #[error("is no PNG, JPEG, WebP or BMP image; convert it, or correct the name")]
    Format,
    /// The file is cut short or damaged.
    #[error("the image is broken ({0}); fetch it again, or remove it")]
    Broken(String),
    /// More bytes than may be read.
    #[error(
        "the file has {bytes} bytes, but no more than {most} are read; make it smaller, or raise the limit of bytes"
    )]
    TooManyBytes {
        /// Bytes of the file.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// More pixels than may be decoded.
    #[error(
        "the image has {height} × {width} pixels, but no more than {most} are decoded; make it smaller, or raise \
         the limit of pixels"
    )]
    TooManyPixels {
        /// Rows.
        height: u32,
        /// Columns.
        width: u32,
        /// The limit.
        most: u64,
    },
    /// Decoding would take more memory than it may.
    #[error("decoding takes more memory than the limits allow; make the image smaller, or raise the limits")]
    Memory,
    /// An image that is labelled twice.
    #[error("has two labels, \"{0}\" and \"{1}\"; keep one of them")]
    TwoLabels(String, String),
    /// A label that was not among those that were learnt.
    #[error("has the label \"{0}\", which is none of those that the model knows; correct it")]
    UnknownLabel(String),
    /// An idx file is not as its header says.
    #[error("is not the idx file that is wanted: {0}")]
    Idx(String),
    /// A list names no image that can be used.
    #[error("there is no usable image; passed over: {0}; check the list and the folder")]
    NoImages(Box<Skipped>),
}

impl ImageProblem {
    /// The reason under which an image with this problem is counted.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Missing | Self::NotAFile | Self::Read(_) => Reason::Missing,
            Self::Outside => Reason::Outside,
            Self::TooManyBytes { .. } | Self::TooManyPixels { .. } | Self::Memory => Reason::TooLarge,
            _ => Reason::Broken,
        }
    }
}
