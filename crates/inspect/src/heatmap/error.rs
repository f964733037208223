//! What cannot be drawn, and why.

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
    /// Layers with different numbers of heads.
    #[error("layer {layer} has {heads} heads, and the first layer has {expected}")]
    Heads {
        /// The layer, from 1.
        layer: usize,
        /// Its heads.
        heads: usize,
        /// Those of the first layer.
        expected: usize,
    },
    /// A layer or a head that is not there.
    #[error("there is no {what} {number}: this attention has {count}, numbered from 1")]
    Absent {
        /// Layer or head.
        what: &'static str,
        /// The number that was asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A head of no layer in particular.
    #[error("head {head} of which layer? There are {layers}, numbered from 1")]
    WhichLayer {
        /// The head that was asked for.
        head: usize,
        /// How many layers there are.
        layers: usize,
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
