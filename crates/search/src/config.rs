//! The `[search]` table of a configuration.

use serde::{Deserialize, Serialize};

/// How output is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// The most tokens that are written for one source.
    pub max_length: usize,
}

impl SearchConfig {
    /// Refuses a `max_length` that makes no sense; the message goes behind the name of the key.
    pub fn check(&self) -> Result<(), String> {
        if (1..=100_000).contains(&self.max_length) {
            return Ok(());
        }
        Err("must be from 1 to 100000; write 200, for instance".to_owned())
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { max_length: 200 }
    }
}
