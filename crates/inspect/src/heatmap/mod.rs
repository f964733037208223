//! Where a model looks: matrices of numbers between source and target tokens, as pictures.
//!
//! A [`Heatmap`] is plain data, a row per target token and a column per source token, with one [`Panel`] per
//! way of explaining the model (attention, gradient × input, erasure) on the same axes. It is drawn
//! - in the terminal ([`terminal`]), in colour or with shades and numbers alone,
//! - as a picture ([`svg`], [`png`]),
//! - as a page that works offline ([`html`]): hover for values, merge subwords, hide the end token.
//!
//! The heads of a Transformer are many panels ([`Heatmap::of_heads`]): drawn small, all of them side by side, or one
//! of them, or their mean, large ([`Heatmap::pick`]).
//!
//! ```
//! use gatto_inspect::heatmap::{Heatmap, Panel, Scale, Token, svg};
//!
//! let source = vec![Token::piece("the", 0), Token::piece("cat", 1), Token::end("</s>")];
//! let target = vec![Token::piece("il", 0), Token::piece("gatto", 1)];
//! let attention = Panel {
//!     name: "attention".to_owned(),
//!     scale: Scale::Share,
//!     values: vec![vec![0.8, 0.1, 0.1], vec![0.1, 0.9, 0.0]],
//! };
//! let heatmap = Heatmap::new("the cat → il gatto", source, target, vec![attention])?;
//! assert!(svg(&heatmap.without_end()).starts_with("<svg"));
//! # Ok::<(), gatto_inspect::heatmap::HeatmapError>(())
//! ```
//!
//! Tokens stand in the order in which the model sees them, from left to right and from top to bottom, in
//! right-to-left scripts too: column 3 is token 3. Each token by itself is written in its own direction.

pub(crate) mod colour;
mod error;
mod heads;
mod html;
pub(crate) mod layout;
mod multiples;
pub(crate) mod numbers;
pub(crate) mod page;
pub(crate) mod picture;
mod png;
mod side_by_side;
mod terminal;
mod views;

pub use crate::raster::PngError;
pub use crate::terminal::Colours;
pub use error::HeatmapError;
pub use heads::{Choice, Grid, Head};
pub use html::{Start, html, html_of_charts};
pub use picture::svg;
pub use png::png;
pub use side_by_side::fit_side_by_side;
pub use terminal::terminal;

/// More tokens than this on an axis are refused: nobody could read them.
pub const MOST_TOKENS: usize = 1024;
/// More panels than this are refused.
pub const MOST_PANELS: usize = 16;
/// More heads than this are refused.
pub const MOST_HEADS: usize = 1024;
/// More cells than this, over all panels, are refused: every picture holds a few hundred bytes for each.
pub const MOST_CELLS: usize = 1 << 19;
/// Rounding may carry a share, or the sum of a row of shares, this far beyond 0 or 1.
const SHARE_TOLERANCE: f32 = 1e-2;

/// One token of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The token as it is shown.
    pub text: String,
    /// Which word of the sentence it is, or is a piece of; none for the end token.
    pub word: Option<usize>,
}

impl Token {
    /// A word, or a piece of one.
    pub fn piece(text: impl Into<String>, word: usize) -> Self {
        Self { text: text.into(), word: Some(word) }
    }

    /// The end token.
    pub fn end(text: impl Into<String>) -> Self {
        Self { text: text.into(), word: None }
    }
}

/// What the numbers of a panel are, and so how they are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Shares of a whole, from 0 to 1, such as the weights of attention: from the ground's colour to a strong one.
    Share,
    /// The largest of several shares, whose rows are no whole: coloured as they are.
    Largest,
    /// Effects for (positive) and against (negative): two colours that meet at zero.
    Signed,
}

/// One matrix on the axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What stands over it: `attention`, `gradient × input`, `erasure`.
    pub name: String,
    /// What its numbers are.
    pub scale: Scale,
    /// A row per target token, with a value per source token.
    pub values: Vec<Vec<f32>>,
}

/// What the tokens of the two axes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axes {
    /// Those over the columns.
    pub columns: &'static str,
    /// Those beside the rows.
    pub rows: &'static str,
}

impl Default for Axes {
    fn default() -> Self {
        Self { columns: "source", rows: "target" }
    }
}

/// Matrices between the same source and target tokens. Sizes agree and values are finite: it can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Heatmap {
    title: String,
    source: Vec<Token>,
    target: Vec<Token>,
    probabilities: Option<Vec<f32>>,
    panels: Vec<Panel>,
    axes: Axes,
    /// How the panels are the heads of layers, if they are.
    grid: Option<Grid>,
}

impl Heatmap {
    /// Checks that every panel fits the axes. `title` says what is looked at; it may be empty.
    pub fn new(
        title: impl Into<String>,
        source: Vec<Token>,
        target: Vec<Token>,
        panels: Vec<Panel>,
    ) -> Result<Self, HeatmapError> {
        Self::check_size(source.len(), target.len(), panels.len())?;
        for panel in &panels {
            check_panel(panel, source.len(), target.len())?;
        }
        Ok(Self::unchecked(title.into(), source, target, panels))
    }

    fn unchecked(title: String, source: Vec<Token>, target: Vec<Token>, panels: Vec<Panel>) -> Self {
        let (probabilities, axes, grid) = (None, Axes::default(), None);
        Self { title, source, target, probabilities, panels, axes, grid }
    }

    /// Refuses sizes that cannot be drawn, before anything is computed for them.
    pub fn check_size(source: usize, target: usize, panels: usize) -> Result<(), HeatmapError> {
        let cells = source.saturating_mul(target).saturating_mul(panels);
        for (what, found, most) in [
            ("source tokens", source, MOST_TOKENS),
            ("target tokens", target, MOST_TOKENS),
            ("panels", panels, MOST_PANELS),
            ("cells", cells, MOST_CELLS),
        ] {
            check_count(what, found, most)?;
        }
        Ok(())
    }

    /// Shows beside each target token how probable it was.
    pub fn with_probabilities(mut self, probabilities: Vec<f32>) -> Result<Self, HeatmapError> {
        if probabilities.len() != self.target.len() {
            let (found, targets) = (probabilities.len(), self.target.len());
            return Err(HeatmapError::Probabilities { found, targets });
        }
        if let Some(index) = probabilities.iter().position(|value| !is_share(*value)) {
            return Err(HeatmapError::Probability { index, value: probabilities[index] });
        }
        self.probabilities = Some(probabilities);
        Ok(self)
    }

    /// Says what the tokens of the axes are, in place of source and target.
    #[must_use]
    pub fn with_axes(self, axes: Axes) -> Self {
        Self { axes, ..self }
    }

    /// What is looked at.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The tokens over the columns.
    pub fn source(&self) -> &[Token] {
        &self.source
    }

    /// The tokens beside the rows.
    pub fn target(&self) -> &[Token] {
        &self.target
    }

    /// How probable each target token was, if that is known.
    pub fn probabilities(&self) -> Option<&[f32]> {
        self.probabilities.as_deref()
    }

    /// How many cells all panels have together.
    pub fn cells(&self) -> usize {
        self.source.len() * self.target.len() * self.panels.len()
    }

    /// The matrices.
    pub fn panels(&self) -> &[Panel] {
        &self.panels
    }
}

fn check_count(what: &'static str, found: usize, most: usize) -> Result<(), HeatmapError> {
    match found {
        0 => Err(HeatmapError::Empty(what)),
        _ if found > most => Err(HeatmapError::TooLarge { what, found, most }),
        _ => Ok(()),
    }
}

fn is_share(value: f32) -> bool {
    (-SHARE_TOLERANCE..=1.0 + SHARE_TOLERANCE).contains(&value)
}

fn check_panel(panel: &Panel, sources: usize, targets: usize) -> Result<(), HeatmapError> {
    let name = || crate::label::shorten(&panel.name, 40);
    if panel.values.len() != targets {
        return Err(HeatmapError::Rows { panel: name(), rows: panel.values.len(), targets });
    }
    for (row, values) in panel.values.iter().enumerate() {
        if values.len() != sources {
            return Err(HeatmapError::Columns { panel: name(), row, columns: values.len(), sources });
        }
        let (wrong, expected): (fn(&f32) -> bool, _) = match panel.scale {
            Scale::Share | Scale::Largest => (|value| !is_share(*value), "share between 0 and 1"),
            Scale::Signed => (|value| !value.is_finite(), "finite number"),
        };
        if let Some(column) = values.iter().position(wrong) {
            let value = values[column];
            return Err(HeatmapError::Value { panel: name(), row, column, value, expected });
        }
        let sum: f32 = values.iter().sum();
        if panel.scale == Scale::Share && sum > 1.0 + SHARE_TOLERANCE {
            return Err(HeatmapError::Sum { panel: name(), row, sum });
        }
    }
    Ok(())
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
