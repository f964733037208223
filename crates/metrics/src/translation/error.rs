//! What can be wrong with what is to be scored.

/// Why a translation cannot be scored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TranslationError {
    /// The output and the references do not belong together.
    #[error(
        "there are {hypotheses} lines of output but {references} lines of references; \
         give as many of each, in the same order"
    )]
    LineCounts {
        /// Lines of output.
        hypotheses: usize,
        /// Lines that have references.
        references: usize,
    },

    /// One stream of references is longer or shorter than the first.
    #[error(
        "reference {number} has {found} lines but reference 1 has {expected}; \
         give every line of every reference, empty where it is empty"
    )]
    StreamLength {
        /// Which stream, counted from one.
        number: usize,
        /// Its lines.
        found: usize,
        /// The lines of the first stream.
        expected: usize,
    },

    /// A line cannot be compared with anything.
    #[error("line {line} has no reference; give at least one for every line")]
    NoReference {
        /// Which line, counted from one.
        line: usize,
    },

    /// There is nothing to score.
    #[error("there are no lines to score; give at least one")]
    NoLines,

    /// Two systems to compare did not translate the same lines.
    #[error("the baseline has {baseline} lines but the system has {system}; score both on the same lines")]
    SystemLines {
        /// Lines of the baseline.
        baseline: usize,
        /// Lines of the system.
        system: usize,
    },

    /// Statistics that another metric made, or the same metric with other settings.
    #[error(
        "a line has {found} statistics where this metric has {expected}; \
         score with the metric that made the statistics"
    )]
    StatisticsWidth {
        /// Numbers in a line of the statistics.
        found: usize,
        /// Numbers that the metric makes of a line.
        expected: usize,
    },

    /// A metric that counts nothing.
    #[error("the metric counts n-grams of no order; set char_order or word_order to at least 1")]
    NoOrder,

    /// A test with nothing drawn.
    #[error("no samples to draw; ask for at least one")]
    NoSamples,

    /// A name that is no tokenizer.
    #[error("`{name}` is not a tokenizer; choose one of 13a, intl, char, zh, none")]
    Tokenizer {
        /// The name as it was given.
        name: String,
    },

    /// A name that is no smoothing.
    #[error("`{name}` is not a smoothing; choose one of exp, floor, add-k, none")]
    Smoothing {
        /// The name as it was given.
        name: String,
    },

    /// A value for a smoothing that takes none.
    #[error("the smoothing `{name}` takes no value; leave the value out, or choose floor or add-k")]
    SmoothingValue {
        /// The smoothing.
        name: String,
    },
}
