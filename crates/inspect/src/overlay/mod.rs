//! Where in an image a model looked, laid over the image.
//!
//! An [`Overlay`] is plain data: an image, the [`Grid`] of regions that the model divides it into, and for every word
//! of a caption one weight per region ([`Focus`]). There may be several kinds of weights for the same words (attention,
//! gradient × input, erasure), each of them a [`View`]. It is drawn
//! - as a picture ([`svg`], [`png`]): the image itself, and once more for every word, in the colours of its focus;
//! - in the terminal ([`terminal`]), in colour or with digits alone;
//! - as a page that works offline ([`html`]): point at a word for its regions, at a region for its words.
//!
//! [`Maps`] are for a Vision Transformer, which has no words: where its class token looks, over all layers (rollout)
//! and head by head. [`failures_page`] shows the captions that a model got wrong, with where it looked.
//!
//! ```
//! use gatto_data::images::{Grid, Image};
//! use gatto_inspect::overlay::{Focus, Overlay, Shown, svg};
//!
//! let image = Image::filled(64, 64, &[200, 180, 40]).expect("a colour has three channels");
//! let grid = Grid { rows: 2, columns: 2 };
//! let words = vec![
//!     Focus::new("a", vec![0.25, 0.25, 0.25, 0.25]),
//!     Focus::new("cat", vec![0.05, 0.85, 0.05, 0.05]).with_probability(0.93),
//! ];
//! let overlay = Overlay::of_words("cat.png: a cat", image, grid, words)?;
//! assert!(svg(&overlay, Shown::default()).starts_with("<svg"));
//! # Ok::<(), gatto_inspect::overlay::OverlayError>(())
//! ```
//!
//! What was not looked at is grey and dim, what was looked at most is pale yellow; the scale becomes lighter all the
//! way, so it can be read without red and green, and in grey.

mod error;
mod failures;
mod html;
mod light;
mod maps;
mod picture;
mod sheet;
mod small;
mod terminal;

pub use crate::raster::PngError;
pub use crate::terminal::Colours;
pub use error::OverlayError;
pub use failures::{Failure, MOST_FAILURES, failures_page};
pub use html::{Seen, html};
pub use maps::{MOST_HEADS, MOST_MAPS, Map, Maps};
pub use picture::{png, svg};
pub use small::{maps_png, maps_svg};
pub use terminal::{maps_terminal, terminal};

pub(crate) use light::pixels;
pub(crate) use sheet::address;
pub(crate) use terminal::painted;

use gatto_data::images::{Grid, Image, PixelBox};

use crate::explain::hits;
use crate::label::shorten;

/// More words than this are refused.
pub const MOST_WORDS: usize = 256;
/// More views than this are refused.
pub const MOST_VIEWS: usize = 8;
/// More rows or columns of regions than this are refused.
pub const MOST_ROWS: usize = 128;
/// More weights than this, over all words and views, are refused: a page holds each of them as text.
pub const MOST_WEIGHTS: usize = 1 << 20;
/// A word has at most so many boxes.
pub const MOST_BOXES: usize = 64;
/// Rounding may carry a probability this far beyond 0 or 1.
const TOLERANCE: f32 = 1e-3;

/// What a model looked at for one word.
#[derive(Debug, Clone, PartialEq)]
pub struct Focus {
    /// The word as it is shown.
    pub word: String,
    /// A weight per region, row after row: finite and not below zero. They need not sum to one.
    pub weights: Vec<f32>,
    /// How probable the word was, if that is known.
    pub probability: Option<f32>,
    /// Where the thing that the word names really is, if that is known, in pixels of the image.
    pub boxes: Vec<PixelBox>,
}

impl Focus {
    /// The focus of a word of which nothing else is known.
    pub fn new(word: impl Into<String>, weights: Vec<f32>) -> Self {
        Self { word: word.into(), weights, probability: None, boxes: Vec::new() }
    }

    /// Says how probable the word was.
    #[must_use]
    pub fn with_probability(self, probability: f32) -> Self {
        Self { probability: Some(probability), ..self }
    }

    /// Says where the thing that the word names is.
    #[must_use]
    pub fn with_boxes(self, boxes: Vec<PixelBox>) -> Self {
        Self { boxes, ..self }
    }

    /// The largest weight; 0 if nothing was looked at.
    pub fn most(&self) -> f32 {
        most(&self.weights)
    }

    /// The region that was looked at most, the first of equals; none if nothing was.
    pub fn peak(&self) -> Option<usize> {
        peak(&self.weights)
    }
}

/// One kind of weights for the words.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// What the weights are: `attention`, `gradient × input`, `erasure`.
    pub name: String,
    /// The words in order.
    pub words: Vec<Focus>,
}

/// How the focus agrees with where the thing really is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// The share of the weights inside the boxes, from 0 to 1.
    pub inside: f32,
    /// Whether the region that was looked at most [`hits`] a box (the pointing game).
    pub hit: bool,
}

/// Which of the views is drawn, and how its colours are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// Which view, from 0; one that is not there stands for the last.
    pub view: usize,
    /// Whether a colour means the same weight for all words. If not, every word is scaled to its own largest weight.
    pub alike: bool,
}

/// An image with what a model looked at for each word. Sizes agree and weights are finite: it can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    title: String,
    image: Image,
    grid: Grid,
    views: Vec<View>,
}

impl Overlay {
    /// Checks that every focus fits the grid and that all views are of the same words. The image is the one that the
    /// model saw, or has the same proportions. `title` says what is looked at; it may be empty.
    pub fn new(
        title: impl Into<String>,
        image: Image,
        grid: Grid,
        views: Vec<View>,
    ) -> Result<Self, OverlayError> {
        check_grid(grid)?;
        check_count("views", views.len(), MOST_VIEWS)?;
        let words = &views[0].words;
        check_count("words", words.len(), MOST_WORDS)?;
        for view in &views {
            let same = view.words.len() == words.len();
            if !same || view.words.iter().zip(words).any(|(one, other)| one.word != other.word) {
                return Err(OverlayError::Words { view: shorten(&view.name, 40) });
            }
        }
        check_count("weights", views.len() * words.len() * grid.len(), MOST_WEIGHTS)?;
        for focus in views.iter().flat_map(|view| &view.words) {
            check_focus(focus, grid)?;
        }
        Ok(Self { title: title.into(), image, grid, views })
    }

    /// An overlay with one view, attention.
    pub fn of_words(
        title: impl Into<String>,
        image: Image,
        grid: Grid,
        words: Vec<Focus>,
    ) -> Result<Self, OverlayError> {
        Self::new(title, image, grid, vec![View { name: "attention".to_owned(), words }])
    }

    /// What is looked at.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The regions of the image.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The kinds of weights, at least one.
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// How a focus of this overlay agrees with its boxes; none without boxes or weights.
    pub fn agreement(&self, focus: &Focus) -> Option<Agreement> {
        let [height, width] = [self.image.height(), self.image.width()];
        let peak = focus.peak().filter(|_| !focus.boxes.is_empty())?;
        let covered = self.grid.covered(height, width, &focus.boxes);
        // In double precision, where no sum of weights is infinite.
        let weights = focus.weights.iter().map(|&weight| f64::from(weight));
        let inside: f64 =
            weights.clone().zip(&covered).map(|(weight, &share)| weight * f64::from(share)).sum();
        let inside = (inside / weights.sum::<f64>()).clamp(0.0, 1.0) as f32;
        let (row, column) = (peak / self.grid.columns, peak % self.grid.columns);
        let region = self.grid.region(row, column, height, width);
        Some(Agreement { inside, hit: focus.boxes.iter().any(|thing| hits(&region, thing)) })
    }

    /// The view that is to be drawn.
    fn view(&self, shown: Shown) -> &View {
        &self.views[shown.view.min(self.views.len() - 1)]
    }
}

impl View {
    /// The weight of the strongest colour for each word.
    fn limits(&self, alike: bool) -> Vec<f32> {
        let own: Vec<f32> = self.words.iter().map(Focus::most).collect();
        match alike {
            true => vec![most(&own); own.len()],
            false => own,
        }
    }
}

fn most(weights: &[f32]) -> f32 {
    weights.iter().copied().fold(0.0, f32::max)
}

fn peak(weights: &[f32]) -> Option<usize> {
    let most = most(weights);
    if most > 0.0 { weights.iter().position(|&weight| weight == most) } else { None }
}

fn check_count(what: &'static str, found: usize, most: usize) -> Result<(), OverlayError> {
    match found {
        0 => Err(OverlayError::Empty(what)),
        _ if found > most => Err(OverlayError::TooLarge { what, found, most }),
        _ => Ok(()),
    }
}

fn check_grid(grid: Grid) -> Result<(), OverlayError> {
    check_count("rows of regions", grid.rows, MOST_ROWS)?;
    check_count("columns of regions", grid.columns, MOST_ROWS)
}

fn check_focus(focus: &Focus, grid: Grid) -> Result<(), OverlayError> {
    let what = || shorten(&focus.word, 40);
    check_weights(&focus.word, &focus.weights, grid)?;
    if let Some(value) = focus.probability.filter(|value| !(-TOLERANCE..=1.0 + TOLERANCE).contains(value)) {
        return Err(OverlayError::Probability { what: what(), value });
    }
    if focus.boxes.len() > MOST_BOXES {
        return Err(OverlayError::TooLarge { what: "boxes", found: focus.boxes.len(), most: MOST_BOXES });
    }
    let finite = |thing: &PixelBox| {
        [thing.left, thing.top, thing.right, thing.bottom].iter().all(|side| side.is_finite())
    };
    if focus.boxes.iter().all(finite) { Ok(()) } else { Err(OverlayError::Side { what: what() }) }
}

fn check_weights(what: &str, weights: &[f32], grid: Grid) -> Result<(), OverlayError> {
    let what = || shorten(what, 40);
    if weights.len() != grid.len() {
        return Err(OverlayError::Weights { what: what(), found: weights.len(), regions: grid.len() });
    }
    match weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        Some(region) => Err(OverlayError::Weight { what: what(), region, value: weights[region] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
