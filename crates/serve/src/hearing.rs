//! Recordings: cut at their pauses, heard piece by piece, and put together again, as `gatto predict` does it.

use crate::answers::{Answer, HeardPiece, Transcribed, TranscribedPiece};
use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::room::Hosted;
use gatto_data::sound::{Frames, PauseSettings, Sound, SoundLimits, Wanted, decode_bytes, pieces};
use std::sync::Arc;

/// The longest piece that is heard at once, in seconds, where the model does not tell.
const LONGEST_PIECE: f64 = 20.0;

/// A recording that was sent, cut at its pauses.
pub(crate) struct Recording {
    pub(crate) pieces: Vec<Piece>,
}

/// A part of a recording that is heard at once.
pub(crate) struct Piece {
    /// From which second to which.
    start: f64,
    end: f64,
    /// None if nothing is to be heard.
    pub(crate) frames: Option<Arc<Frames>>,
}

impl Recording {
    /// Decodes the bytes of a sound file and makes it ready for a model.
    pub(crate) fn decode(hosted: &Hosted, bytes: Vec<u8>, limits: &Limits) -> Result<Self, Refusal> {
        let Some(preparer) = &hosted.preparer else {
            let (name, sources) = (hosted.name(), hosted.saved.plan.sources());
            return Err(Refusal::Bad(format!("the model `{name}` reads {sources}, and no sounds")));
        };
        let bounds = SoundLimits { seconds: limits.seconds, ..SoundLimits::default() };
        let wanted = Wanted { rate: Some(preparer.preparation().rate), part: None };
        let sound = decode_bytes(bytes, &wanted, &bounds).map_err(|error| Refusal::Bad(error.to_string()))?;
        let longest = hosted.place.piece_seconds.unwrap_or(LONGEST_PIECE);
        let seconds = |sample: usize| sample as f64 / f64::from(sound.rate.max(1));
        let piece = |cut: std::ops::Range<usize>| {
            let part = Sound { samples: sound.samples[cut.clone()].to_vec(), rate: sound.rate };
            let frames = (!part.is_silent()).then(|| Arc::new(preparer.prepare(&part, None).frames));
            Piece { start: seconds(cut.start), end: seconds(cut.end), frames }
        };
        Ok(Self {
            pieces: pieces(&sound, longest, &PauseSettings::default()).into_iter().map(piece).collect(),
        })
    }

    /// The one piece of a recording that is heard at once.
    pub(crate) fn whole(self) -> Result<Arc<Frames>, Refusal> {
        let mut pieces = self.pieces;
        let one = if pieces.len() == 1 { pieces.pop() } else { None };
        one.and_then(|piece| piece.frames).ok_or_else(|| {
            Refusal::Bad(
                "the recording is silent, or longer than what is heard at once; cut it at its pauses".into(),
            )
        })
    }

    /// The answer to a recording, from those to its pieces that are to be heard, in their order.
    pub(crate) fn together(&self, heard: &mut impl Iterator<Item = Answer>) -> Answer {
        let mut whole = Transcribed {
            seconds: rounded(self.pieces.last().map_or(0.0, |piece| piece.end)),
            text: String::new(),
            words: Vec::new(),
            pieces: Vec::with_capacity(self.pieces.len()),
        };
        for piece in &self.pieces {
            let found = piece.frames.as_ref().and_then(|_| heard.next());
            let (start, end) = (rounded(piece.start), rounded(piece.end));
            let Some(Answer::Heard(HeardPiece { output, words })) = found else {
                whole.pieces.push(TranscribedPiece { start, end, text: String::new(), output: None });
                continue;
            };
            let within = |seconds: f64| rounded((piece.start + seconds).min(piece.end));
            whole.words.extend(words.into_iter().map(|mut word| {
                (word.start, word.end) = (word.start.map(within), word.end.map(within));
                word
            }));
            let text = output.text.trim().replace(['\n', '\r'], " ");
            if !text.is_empty() && !whole.text.is_empty() {
                whole.text.push(' ');
            }
            whole.text += &text;
            whole.pieces.push(TranscribedPiece {
                start,
                end,
                text: output.text.clone(),
                output: Some(output.untexted()),
            });
        }
        Answer::Transcribed(whole)
    }
}

/// Milliseconds are all that there is to tell.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
