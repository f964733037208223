//! `[ctc]`: the encoder of sounds learns to tell the text by itself, frame by frame (Graves et al., 2006; Watanabe et al.,
//! 2017).
//!
//! ```toml
//! [ctc]
//! weight = 0.3              # of its loss; that of the decoder has 0.7
//!
//! [search]
//! ctc = 0.3                 # what it counts in a search
//! ```

use super::Complaint;
use serde::{Deserialize, Serialize};

/// What the states of an encoder tell by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CtcConfig {
    /// λ of the loss λ L_ctc + (1 − λ) L.
    pub weight: f64,
}

impl Default for CtcConfig {
    fn default() -> Self {
        Self { weight: 0.3 }
    }
}

impl CtcConfig {
    pub(super) fn check(&self) -> Result<(), Complaint> {
        match self.weight > 0.0 && self.weight < 1.0 {
            true => Ok(()),
            false => {
                let message = format!("is {}; write a share between 0 and 1, such as 0.3", self.weight);
                Err(Complaint::new("ctc.weight", message))
            }
        }
    }
}
