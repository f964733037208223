//! One example: a source, the target that it becomes, and, where it is known, which words belong together.

use serde::{Deserialize, Serialize};

/// A source text and its target text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// What the encoder reads.
    pub source: String,
    /// What the decoder is to write.
    pub target: String,
    /// The gold word alignment, if the corpus knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Vec<Link>>,
    /// The group that it belongs to, if someone asked for it: [`crate::FileCorpus::grouped_by`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl Example {
    /// An example without an alignment, of no group.
    pub fn new(source: impl Into<String>, target: impl Into<String>) -> Self {
        Self { source: source.into(), target: target.into(), alignment: None, group: None }
    }
}

/// Source word `source` and target word `target` translate each other; both count from zero over
/// the words that [`crate::words::split`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Index of the source word.
    pub source: usize,
    /// Index of the target word.
    pub target: usize,
}

/// What a set of examples is for. The three parts of a corpus have no source in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The parameters are fitted to these.
    Train,
    /// Settings are chosen, and training is stopped, by these.
    Valid,
    /// Figures are reported on these.
    Test,
}
