//! What may be wrong with what a metric is given.

use crate::translation::References;
use rayon::prelude::*;

/// Input that cannot be measured, and what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InputError {
    /// Outputs and references do not go together.
    #[error("{outputs} outputs but {references} references; give as many of each, in the same order")]
    Counts {
        /// How many outputs there are.
        outputs: usize,
        /// How many there are references for.
        references: usize,
    },

    /// A line has more tags, or fewer, than its reference.
    #[error("line {line} has {outputs} tags but its reference has {references}; tag every token once")]
    TagCounts {
        /// Which line, counted from one.
        line: usize,
        /// Tags of the output.
        outputs: usize,
        /// Tags of the reference.
        references: usize,
    },

    /// A tag that its scheme does not have.
    #[error(
        "tag {position} of line {line} of the {side}, `{tag}`, does not begin with one of {allowed}; \
         write O, or a letter, a hyphen and a type, such as B-PER"
    )]
    Tag {
        /// `output` or `reference`.
        side: &'static str,
        /// Which line, counted from one.
        line: usize,
        /// Which tag of the line, counted from one.
        position: usize,
        /// The tag as it stands there.
        tag: String,
        /// The letters that a tag may begin with.
        allowed: &'static str,
    },

    /// A confidence that is no probability.
    #[error("confidence {number} is {value}; give a probability, from 0 to 1")]
    Confidence {
        /// Which of all, counted from one.
        number: usize,
        /// What it is.
        value: f64,
    },

    /// No bins to sort confidences into.
    #[error("0 bins hold nothing; give at least 1, such as 10")]
    NoBins,
}

/// Refuses lists that do not have one entry for each other.
pub(crate) fn check_counts(outputs: usize, references: usize) -> Result<(), InputError> {
    if outputs == references { Ok(()) } else { Err(InputError::Counts { outputs, references }) }
}

/// Measures each output against its references, on all cores.
pub(crate) fn by_line<O: AsRef<str> + Sync, T: Send>(
    outputs: &[O],
    references: &References<'_>,
    measure: impl Fn(&str, &[&str]) -> T + Sync,
) -> Result<Vec<T>, InputError> {
    check_counts(outputs.len(), references.len())?;
    let lines = outputs.par_iter().enumerate();
    Ok(lines.map(|(line, output)| measure(output.as_ref(), references.line(line))).collect())
}
