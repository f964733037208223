//! `[head]`: what an encoder's states are for, where no decoder reads them.
//!
//! ```toml
//! task = "classify"
//!
//! [head]
//! pooling = "attention"     # last mean max attention class-token
//! ```

use super::Complaint;
use super::check::{WIDEST, rate, within};
use serde::{Deserialize, Serialize};

/// The settings of a head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HeadConfig {
    /// How the states of a sequence become one; `mean` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// Width of a layer tanh(W s + b) before the labels; none if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<usize>,
    /// Dropout on what the head reads.
    pub dropout: f64,
}

/// How the states of a sequence become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The last state; of both directions.
    Last,
    /// The mean of all.
    #[default]
    Mean,
    /// The largest value of every feature.
    Max,
    /// A sum whose weights are learned, and can be looked at.
    Attention,
    /// The state of a token that stands before the sequence.
    ClassToken,
}

impl Pooling {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Last, Self::Mean, Self::Max, Self::Attention, Self::ClassToken];
}

impl HeadConfig {
    pub(super) fn check(&self) -> Result<(), Complaint> {
        if let Some(hidden) = self.hidden {
            within("head.hidden".into(), hidden, WIDEST)?;
        }
        rate("head.dropout".into(), self.dropout)
    }
}
