//! `[train.masking]`: what a masked language model has to find again (Devlin et al., 2019).
//!
//! ```toml
//! [train.masking]
//! share = 0.15     # of the tokens of a text, at least one
//! masked = 0.8     # of these become the mask
//! random = 0.1     # of these become another token; the rest stays
//! ```

use gatto_model::config::Complaint;
use serde::{Deserialize, Serialize};

/// How tokens are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MaskingConfig {
    /// Share of a text's tokens that are to be found, at least one.
    pub share: f64,
    /// Share of these that become the mask.
    pub masked: f64,
    /// Share of these that become a token at random; the rest stays as it is.
    pub random: f64,
}

impl Default for MaskingConfig {
    fn default() -> Self {
        Self { share: 0.15, masked: 0.8, random: 0.1 }
    }
}

impl MaskingConfig {
    /// Refuses shares that make no sense.
    pub(super) fn check(&self) -> Result<(), Complaint> {
        let wrong = |key: &str, message: String| Err(Complaint::new(format!("train.masking.{key}"), message));
        if !(self.share > 0.0 && self.share <= 1.0) {
            return wrong(
                "share",
                format!("is {}; write a share above 0 and up to 1, such as 0.15", self.share),
            );
        }
        for (key, value) in [("masked", self.masked), ("random", self.random)] {
            if !(0.0..=1.0).contains(&value) {
                return wrong(key, format!("is {value}; write a share from 0 to 1"));
            }
        }
        if self.masked + self.random > 1.0 + 1e-9 {
            let sum = self.masked + self.random;
            return wrong(
                "random",
                format!("makes {sum} together with `masked`; write shares that sum to 1 or less"),
            );
        }
        Ok(())
    }
}
