//! What can be wrong with an image, and the count of those that were passed over.

use std::fmt;
use std::path::{Path, PathBuf};

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
    /// The thread that decodes came to an end by itself.
    #[error(
        "the decoding of images has stopped unexpectedly; this is a fault of the program: please report it"
    )]
    Stopped,
    /// The thread that decodes cannot be started.
    #[error("no thread can be started to decode images: {0}; close other programs")]
    NoThread(std::io::Error),
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

/// Why an image was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not there, or cannot be read.
    Missing,
    /// Damaged, or no image.
    Broken,
    /// Beyond the limits.
    TooLarge,
    /// Not in the folder.
    Outside,
    /// The line that names it cannot be used.
    BadLine,
}

impl Reason {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 5] = [Self::Missing, Self::Broken, Self::TooLarge, Self::Outside, Self::BadLine];

    fn text(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Broken => "broken",
            Self::TooLarge => "too large",
            Self::Outside => "outside of the folder",
            Self::BadLine => "badly listed",
        }
    }
}

/// Images that were passed over: how many for each reason, and what was said of the first few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    counts: [u64; Reason::ALL.len()],
    first: Vec<String>,
}

impl Skipped {
    /// How many messages are kept.
    pub const FEW: usize = 5;

    /// Counts one more.
    pub fn add(&mut self, reason: Reason, message: impl fmt::Display) {
        self.counts[reason as usize] += 1;
        if self.first.len() < Self::FEW {
            self.first.push(message.to_string());
        }
    }

    /// Passes over an error, unless it is none of an image: that is given back.
    pub fn pass(&mut self, error: crate::DataError) -> Result<(), crate::DataError> {
        use crate::DataError;
        match &error {
            DataError::Image(image) => match image.problem {
                // What is no fault of an image would be the same with the next.
                ImageProblem::Stopped | ImageProblem::NoThread(_) | ImageProblem::NoImages(_) => {
                    return Err(error);
                }
                _ => self.add(image.problem.reason(), &error),
            },
            DataError::Line { .. } => self.add(Reason::BadLine, &error),
            _ => return Err(error),
        }
        Ok(())
    }

    /// How many were passed over for a reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counts[reason as usize]
    }

    /// How many were passed over.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What was said of the first few.
    pub fn first(&self) -> &[String] {
        &self.first
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = Reason::ALL
            .iter()
            .filter(|reason| self.count(**reason) > 0)
            .map(|reason| format!("{} {}", self.count(*reason), reason.text()))
            .collect();
        if told.is_empty() {
            return out.write_str("none");
        }
        out.write_str(&told.join(", "))?;
        match self.first.first() {
            Some(first) => write!(out, "; the first: {first}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_passed_over_are_counted_by_reason_and_the_first_named() {
        let mut skipped = Skipped::default();
        assert_eq!(skipped.to_string(), "none");
        for number in 0..8 {
            let error = ImageError::of(Path::new(&format!("{number}.png")), ImageProblem::Missing);
            skipped.pass(error.into()).unwrap();
        }
        skipped.pass(ImageError::of(Path::new("bomb.png"), ImageProblem::Memory).into()).unwrap();
        assert_eq!((skipped.total(), skipped.count(Reason::Missing), skipped.first().len()), (9, 8, 5));
        let text = skipped.to_string();
        assert!(
            text.starts_with("8 missing, 1 too large; the first: 0.png: the image is not there"),
            "{text}"
        );
        skipped.pass(ImageError::unnamed(ImageProblem::Stopped).into()).unwrap_err();
        skipped.pass(crate::DataError::NoText).unwrap_err();
        assert_eq!(skipped.total(), 9);
    }
}
