//! Recordings with texts, by number.

use serde::{Deserialize, Serialize};

use super::recording::Sound;
use crate::DataError;

/// A recording and what is said in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundExample {
    /// The file, as its list calls it, or what stands for a name.
    pub name: String,
    /// The sound.
    pub sound: Sound,
    /// What is said.
    pub said: Transcript,
}

/// What is said in a recording, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The text.
    pub text: String,
    /// When the words sound, if that is known: in order of the words, each at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Who speaks, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

impl Transcript {
    /// A text of which nobody knows who says it, and when its words are.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), mentions: Vec::new(), speaker: None }
    }
}

/// When a word sounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mention {
    /// The word, counted from zero over those that [`crate::words::split`] finds.
    pub word: usize,
    /// From which second of the recording, or of its part.
    pub start: f64,
    /// To which second.
    pub end: f64,
}

/// Recordings with texts that can be had by number, in any order, the same ones each time.
pub trait SoundSet: Send + Sync {
    /// How many there are.
    fn len(&self) -> u64;

    /// The name of recording `index`, which is below `len`.
    fn name(&self, index: u64) -> String;

    /// What is said in it, without its sound: to learn a vocabulary from.
    fn said(&self, index: u64) -> Result<Transcript, DataError>;

    /// All of it, decoded or made.
    fn get(&self, index: u64) -> Result<SoundExample, DataError>;

    /// What tells its sound from every other, also after its file has changed; none if nothing does, and nothing that is
    /// computed from it may be kept.
    fn identity(&self, _index: u64) -> Result<Option<String>, DataError> {
        Ok(None)
    }

    /// How long it is, if that can be told without decoding it: to put recordings of similar length together.
    fn seconds(&self, _index: u64) -> Result<Option<f64>, DataError> {
        Ok(None)
    }

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl SoundSet for Vec<SoundExample> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn name(&self, index: u64) -> String {
        self[index as usize].name.clone()
    }

    fn said(&self, index: u64) -> Result<Transcript, DataError> {
        Ok(self[index as usize].said.clone())
    }

    fn get(&self, index: u64) -> Result<SoundExample, DataError> {
        Ok(self[index as usize].clone())
    }

    fn seconds(&self, index: u64) -> Result<Option<f64>, DataError> {
        Ok(Some(self[index as usize].sound.seconds()))
    }
}

impl<S: SoundSet + ?Sized> SoundSet for std::sync::Arc<S> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn name(&self, index: u64) -> String {
        (**self).name(index)
    }

    fn said(&self, index: u64) -> Result<Transcript, DataError> {
        (**self).said(index)
    }

    fn get(&self, index: u64) -> Result<SoundExample, DataError> {
        (**self).get(index)
    }

    fn identity(&self, index: u64) -> Result<Option<String>, DataError> {
        (**self).identity(index)
    }

    fn seconds(&self, index: u64) -> Result<Option<f64>, DataError> {
        (**self).seconds(index)
    }
}
