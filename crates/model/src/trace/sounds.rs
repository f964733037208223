//! When a model listened to what, while it wrote of a sound.

use super::{Looked, Matrix, Piece};
use crate::constraints::Asked;
use crate::error::ModelError;
use crate::saved::Saved;
use gatto_data::sound::{Frames, Timeline};
use gatto_data::{Limits, Source, evaluation_batches_of_sounds, in_input_order};
use gatto_search::Choices;

/// A pass of a sound, and of a text of it, through a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundTrace {
    /// When each state of the encoder is.
    pub timeline: Timeline,
    /// What was written, with its end.
    pub target: Vec<Piece>,
    /// log p of each target token.
    pub log_probabilities: Vec<f32>,
    /// What else could have stood in the place of each; empty unless asked for.
    pub choices: Vec<Choices>,
    /// When the model listened: a row per target token, a weight per state. Of several heads and layers it is the mean.
    /// `None` where nothing looks.
    pub weights: Option<Matrix>,
}

impl Saved {
    /// Forces texts of sounds through the model, and tells when it listened at each of their tokens, which come without an
    /// end. Each is computed by itself, so that nothing depends on the others.
    ///
    /// # Errors
    /// If the model does not read such sounds, or has too few positions for a text.
    pub fn trace_sounds(&self, pairs: &[(&Frames, Vec<u32>)]) -> Result<Vec<SoundTrace>, ModelError> {
        self.trace_sounds_as(pairs, None)
    }

    /// [`Saved::trace_sounds`], with so many of the most probable tokens at each place, if they are asked for.
    ///
    /// # Errors
    /// As there.
    pub fn trace_sounds_as(
        &self,
        pairs: &[(&Frames, Vec<u32>)],
        choices: Option<usize>,
    ) -> Result<Vec<SoundTrace>, ModelError> {
        let Some(joined) = self.plan.frames_per_state() else {
            let wanted = self.plan.sources();
            return Err(ModelError::OtherSource { index: 0, found: "a sound", wanted });
        };
        let mut sounds = Vec::with_capacity(pairs.len());
        for (index, (frames, target)) in pairs.iter().enumerate() {
            if let Source::Sound(frames) = self.source(index, Asked::Sound(frames))? {
                sounds.push((frames, target.clone()));
            }
            super::check_length(index, target.len(), self.plan.most_target())?;
        }
        let mut found = Vec::with_capacity(pairs.len());
        for batch in evaluation_batches_of_sounds(sounds, &Limits::examples(1))? {
            let (looked, _) = Looked::at(self, &batch.source, &batch.target, choices);
            for (row, index) in batch.indices.into_iter().enumerate() {
                let (frames, target) = &pairs[index as usize];
                let (timeline, target) = (frames.timeline().joined(joined), self.printed(target));
                let logs = looked.logs(row, target.len()).map(<[f32]>::to_vec);
                let weights = looked.weights(row, target.len(), timeline.places);
                let (log_probabilities, choices) =
                    (logs.unwrap_or_default(), looked.choices(row, target.len()));
                found.push((index, SoundTrace { timeline, target, log_probabilities, choices, weights }));
            }
        }
        Ok(in_input_order(found))
    }
}
