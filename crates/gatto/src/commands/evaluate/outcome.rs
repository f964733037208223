//! What a model made of some examples: the same for every task.

use super::figures::{Better, Figure};
use super::texts::Told;
use gatto::metrics::LabelCounts;

/// What a model made of some examples.
pub(super) struct Outcome {
    /// The figures; the first is what the others are for.
    pub(super) figures: Vec<Figure>,
    /// What was written or told of each example, and what should have been; empty for language models.
    pub(super) answers: Vec<Answer>,
    /// What makes an example a bad one.
    pub(super) ranking: Ranking,
    /// What is told of this task alone.
    pub(super) detail: Detail,
}

/// An output beside its reference.
pub(super) struct Answer {
    pub(super) output: String,
    pub(super) reference: String,
    pub(super) right: bool,
}

/// A number for each example, by which the worst are found.
pub(super) struct Ranking {
    pub(super) name: String,
    pub(super) better: Better,
    /// What stands behind a value, and how many digits behind its point.
    pub(super) unit: &'static str,
    pub(super) digits: usize,
    pub(super) values: Vec<f64>,
}

impl Ranking {
    /// A value as it is shown.
    pub(super) fn shown(&self, example: usize) -> String {
        format!("{:.*}{}", self.digits, self.values[example], self.unit)
    }
}

/// What is told of one task alone.
pub(super) enum Detail {
    None,
    /// Examples are images, with captions.
    Captions,
    /// Examples are recordings, with what is said.
    Transcripts,
    Labels(LabelCounts),
    Texts(Told),
}
