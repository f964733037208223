//! The `[search]` table of a configuration.

use serde::{Deserialize, Serialize};

/// How output is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// The most tokens that are written for one source.
    pub max_length: usize,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { max_length: 200 }
    }
}
