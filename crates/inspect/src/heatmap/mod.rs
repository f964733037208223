//! Where a model looks: matrices of numbers between source and target tokens, as pictures.
//!
//! A [`Heatmap`] is plain data, a row per target token and a column per source token, with one [`Panel`] per
//! way of explaining the model (attention, gradient × input, erasure) on the same axes. It is drawn
//! - in the terminal ([`terminal`]), in colour or with shades and numbers alone,
//! - as a picture ([`svg`], [`png`]),
//! - as a page that works offline ([`html`]): hover for values, merge subwords, hide the end token.
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

mod colour;
mod html;
mod label;
mod layout;
mod numbers;
mod picture;
mod png;
mod terminal;
mod views;

pub use html::html;
pub use picture::svg;
pub use png::{PngError, png};
pub use terminal::{Colours, terminal};

/// More tokens than this on an axis are refused: nobody could read them.
pub const MOST_TOKENS: usize = 1024;
/// More panels than this are refused.
pub const MOST_PANELS: usize = 16;
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

/// Matrices between the same source and target tokens. Sizes agree and values are finite: it can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Heatmap {
    title: String,
    source: Vec<Token>,
    target: Vec<Token>,
    probabilities: Option<Vec<f32>>,
    panels: Vec<Panel>,
}

/// Why something is not a heatmap.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HeatmapError {
    /// An axis without tokens, or no panel.
    #[error("a heatmap without {0}")]
    Empty(&'static str),
    /// More of something than can be drawn.
    #[error("a heatmap of {found} {what}; at most {most} can be drawn: split the sentence")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A panel's rows are not one per target token.
    #[error("panel `{panel}` has {rows} rows for {targets} target tokens")]
    Rows {
        /// The panel's name.
        panel: String,
        /// Its rows.
        rows: usize,
        /// The target tokens.
        targets: usize,
    },
    /// A row's values are not one per source token.
    #[error("row {row} of panel `{panel}` has {columns} values for {sources} source tokens")]
    Columns {
        /// The panel's name.
        panel: String,
        /// The row, from 0.
        row: usize,
        /// Its values.
        columns: usize,
        /// The source tokens.
        sources: usize,
    },
    /// A value that is no number, or no share where shares are due.
    #[error("row {row}, column {column} of panel `{panel}` is {value}, which is no {expected}")]
    Value {
        /// The panel's name.
        panel: String,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What stands there.
        value: f32,
        /// What should.
        expected: &'static str,
    },
    /// The shares of a row make more than a whole.
    #[error("row {row} of panel `{panel}` sums to {sum}, but shares sum to at most 1")]
    Sum {
        /// The panel's name.
        panel: String,
        /// The row, from 0.
        row: usize,
        /// What it sums to.
        sum: f32,
    },
    /// The probabilities are not one per target token.
    #[error("{found} probabilities for {targets} target tokens")]
    Probabilities {
        /// How many there are.
        found: usize,
        /// The target tokens.
        targets: usize,
    },
    /// A probability outside of 0 to 1.
    #[error("the probability of target token {index} is {value}, which is not between 0 and 1")]
    Probability {
        /// The target token, from 0.
        index: usize,
        /// What was given for it.
        value: f32,
    },
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
        Ok(Self { title: title.into(), source, target, probabilities: None, panels })
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
            if found == 0 {
                return Err(HeatmapError::Empty(what));
            }
            if found > most {
                return Err(HeatmapError::TooLarge { what, found, most });
            }
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

    /// The matrices.
    pub fn panels(&self) -> &[Panel] {
        &self.panels
    }
}

fn is_share(value: f32) -> bool {
    (-SHARE_TOLERANCE..=1.0 + SHARE_TOLERANCE).contains(&value)
}

fn check_panel(panel: &Panel, sources: usize, targets: usize) -> Result<(), HeatmapError> {
    let name = || label::shorten(&panel.name, 40);
    if panel.values.len() != targets {
        return Err(HeatmapError::Rows { panel: name(), rows: panel.values.len(), targets });
    }
    for (row, values) in panel.values.iter().enumerate() {
        if values.len() != sources {
            return Err(HeatmapError::Columns { panel: name(), row, columns: values.len(), sources });
        }
        let (wrong, expected): (fn(&f32) -> bool, _) = match panel.scale {
            Scale::Share => (|value| !is_share(*value), "share between 0 and 1"),
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
