//! What cannot be laid over an image, and why.

/// Why something is not an overlay.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OverlayError {
    /// No region, no view, no word, no map.
    #[error("an overlay without {0}")]
    Empty(&'static str),
    /// More of something than can be drawn.
    #[error("an overlay of {found} {what}; at most {most} can be drawn")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// The weights are not one per region.
    #[error("`{what}` has {found} weights for {regions} regions")]
    Weights {
        /// The word or the map.
        what: String,
        /// How many there are.
        found: usize,
        /// The regions of the grid.
        regions: usize,
    },
    /// A weight that is no number from zero on.
    #[error("the weight of region {region} for `{what}` is {value}; weights are finite and not below 0")]
    Weight {
        /// The word or the map.
        what: String,
        /// The region, from 0, row after row.
        region: usize,
        /// What was given for it.
        value: f32,
    },
    /// A probability outside of 0 to 1.
    #[error("the probability of `{what}` is {value}, which is not between 0 and 1")]
    Probability {
        /// The word.
        what: String,
        /// What was given for it.
        value: f32,
    },
    /// A side of a box that is no number.
    #[error("a box of `{what}` has a side that is no finite number")]
    Side {
        /// The word.
        what: String,
    },
    /// Two views that are not of the same words.
    #[error("the view `{view}` has other words than the first")]
    Words {
        /// The view's name.
        view: String,
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
    /// A word that is marked as wrong and is not there.
    #[error("word {word} is said to be wrong, and there are {words}, counted from 0")]
    Wrong {
        /// The word, from 0.
        word: usize,
        /// How many there are.
        words: usize,
    },
    /// A figure that is no number.
    #[error("{what} is {value}, which is no finite number")]
    Figure {
        /// Which figure.
        what: String,
        /// What was given for it.
        value: f32,
    },
}
