//! Which models can hear.

use super::{Complaint, ModelConfig, Plan, Reader};
use crate::config::{AlignedKind, Task};
use gatto_data::{DataError, sound};
use gatto_search::SearchConfig;

impl Plan {
    /// Refuses a search that asks what the model cannot tell.
    pub fn check_search(&self, search: &SearchConfig) -> Result<(), Complaint> {
        match search.ctc > 0.0 && self.ctc.is_none() {
            true => {
                let message =
                    "is for models with [ctc], whose encoder tells tokens by itself; remove it, or add [ctc]";
                Err(Complaint::new("search.ctc", message))
            }
            false => Ok(()),
        }
    }
}

impl ModelConfig {
    /// Refuses sounds where nothing reads them, and anything else where sounds are to be read.
    pub(super) fn check_sounds(&self, reader: &Reader) -> Result<Option<sound::Preparation>, Complaint> {
        let encoder = match reader {
            Reader::Encoder(encoder) => Some(encoder),
            _ => None,
        };
        let Some(encoder) = encoder.filter(|encoder| encoder.reads_sounds()) else {
            let wrong = |key: &str, message: &str| Err(Complaint::new(key, message));
            if self.ctc.is_some() {
                return wrong(
                    "ctc",
                    "is for encoders of sounds, which tell a text state by state; remove it",
                );
            }
            return match (self.sound, self.task == Task::Transcribe) {
                (_, true) => wrong(
                    "encoder",
                    "reads no sounds, and that is what is transcribed; write [encoder.listener] or [encoder.sound-transformer]",
                ),
                (Some(_), _) => {
                    wrong("sound", "is for encoders of sounds; remove it, or write [encoder.listener]")
                }
                (None, _) => Ok(None),
            };
        };
        let name = encoder.parts().0;
        if self.task != Task::Transcribe {
            let message = format!(
                "reads sounds, which `task = \"{}\"` has not; write `task = \"transcribe\"`",
                self.task
            );
            return Err(Complaint::new(format!("encoder.{name}"), message));
        }
        self.refuse_sharing_of_sides("needs a source of tokens, and this one is a sound; remove it")?;
        if let Some(attention) = &self.attention
            && attention.aligned == Some(AlignedKind::Monotone)
        {
            let message = "is \"monotone\", which goes one state further with every token, and a sound has many more \
                           states than its text has tokens; write \"advancing\" or \"predicted\"";
            return Err(Complaint::new("attention.aligned", message));
        }
        if let Some(attention) = &self.attention
            && attention.score.has_positions()
        {
            let message = "is \"location\", which has a score for each place of a text; write \"additive\"";
            return Err(Complaint::new("attention.score", message));
        }
        if let Some(ctc) = &self.ctc {
            ctc.check()?;
        }
        Ok(Some(self.hearing()?))
    }

    /// How sounds become what is read; refuses what makes no sense whatever reads them.
    pub(super) fn hearing(&self) -> Result<sound::Preparation, Complaint> {
        let sound = self.sound.unwrap_or_default();
        sound.validate().map_err(|error| match error {
            DataError::Config { key, problem } => Complaint::new(format!("sound.{key}"), problem),
            other => Complaint::new("sound", other.to_string()),
        })?;
        Ok(sound)
    }
}
