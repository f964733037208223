//! Images with texts, by number.

use serde::{Deserialize, Serialize};

use super::geometry::PixelBox;
use super::image::Image;
use crate::DataError;
use crate::builtin::shapes::Verdict;

/// An image and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageExample {
    /// The file, as its list calls it, or what stands for a name.
    pub name: String,
    /// The image.
    pub image: Image,
    /// Its captions, each of which is right by itself; or one text, its label.
    pub texts: Vec<ImageText>,
}

/// A caption or a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImageText {
    /// The text.
    pub text: String,
    /// Where in the image the words are, if that is known: in order of the words, each at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
}

impl ImageText {
    /// A text of which nobody knows where its words are.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), mentions: Vec::new() }
    }
}

/// A word that names something in the image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mention {
    /// The word, counted from zero over those that [`crate::words::split`] finds.
    pub word: usize,
    /// The boxes of what it names, in pixels of the image; at least one.
    pub boxes: Vec<PixelBox>,
}

/// Images with texts that can be had by number, in any order, the same ones each time.
pub trait ImageSet: Send + Sync {
    /// How many there are.
    fn len(&self) -> u64;

    /// Example `index`, which is below `len`, decoded or drawn.
    fn get(&self, index: u64) -> Result<ImageExample, DataError>;

    /// The texts of example `index` without its image: to learn a vocabulary or labels from.
    fn texts(&self, index: u64) -> Result<Vec<String>, DataError>;

    /// Whether a text is true of example `index`; `None` if nobody knows.
    fn verdict(&self, index: u64, text: &str) -> Result<Option<Verdict>, DataError> {
        let _ = (index, text);
        Ok(None)
    }

    /// A text that someone else wrote of example `index`, with the boxes of what its words name, in pixels of the image;
    /// `None` if nobody knows where that is, or what the text says is not so.
    fn located(&self, index: u64, text: &str) -> Result<Option<ImageText>, DataError> {
        let _ = (index, text);
        Ok(None)
    }

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ImageSet for Vec<ImageExample> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn get(&self, index: u64) -> Result<ImageExample, DataError> {
        Ok(self[index as usize].clone())
    }

    fn texts(&self, index: u64) -> Result<Vec<String>, DataError> {
        Ok(self[index as usize].texts.iter().map(|text| text.text.clone()).collect())
    }
}

impl<S: ImageSet + ?Sized> ImageSet for std::sync::Arc<S> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn get(&self, index: u64) -> Result<ImageExample, DataError> {
        (**self).get(index)
    }

    fn texts(&self, index: u64) -> Result<Vec<String>, DataError> {
        (**self).texts(index)
    }

    fn verdict(&self, index: u64, text: &str) -> Result<Option<Verdict>, DataError> {
        (**self).verdict(index, text)
    }

    fn located(&self, index: u64, text: &str) -> Result<Option<ImageText>, DataError> {
        (**self).located(index, text)
    }
}
