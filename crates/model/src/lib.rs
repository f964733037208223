//! Encoder–decoder models, assembled from their configuration.
//!
//! ```text
//! Encoder::encode(source) ──> Memory ──> Decoder::start(memory) -> State
//!                                        Decoder::advance(tokens, state) -> features, State
//! ```
//!
//! [`Model`] is the whole; [`Saved`] is a trained one with its vocabulary, as found in a run directory.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod assembly;
mod beside;
mod bridge;
pub mod config;
mod constraints;
mod continuing;
mod ctc;
mod decoder;
mod encoder;
mod error;
mod filling;
mod head;
mod loading;
mod masking;
mod memory;
mod model;
mod output;
mod quantise;
mod saved;
mod searching;
mod shortlist;
mod stepping;
mod stored;
mod telling;
mod together;
mod trace;
pub mod weights;
mod writing;

pub use config::{
    AttentionConfig, BridgeKind, DecoderConfig, EncoderConfig, ModelConfig, SharingConfig, SingleConfig, Task,
};
pub use constraints::{Asked, ConstraintProblem, Constraints, Request};
pub use continuing::{Continued, Continuing, Draw, Drawing};
pub use ctc::Heard;
pub use decoder::{Alignment, State};
pub use error::ModelError;
pub use filling::{Filled, MASK_WORD};
pub use head::Told;
pub use loading::Taking;
pub use masking::{HeadCount, HeadPlace};
pub use memory::{Memory, Reading, Tokens};
pub use model::{Forward, Model, Vocabularies};
pub use output::{Answers, Unscored};
pub use quantise::{Quantisation, quantise, quantise_weights};
pub use saved::{CONFIG, Saved, WEIGHTS};
pub use searching::Searched;
pub use shortlist::{Shortlist, ShortlistSize};
pub use stepping::{Stepped, Stepping};
pub use stored::{Parameter, Stored};
pub use telling::{Classified, Labelled};
pub use together::{Other, Writers};
pub use trace::{
    Attention, AttentionKind, Forced, ImageTrace, MOST_SCORES, Matrix, Piece, SoundTrace, Trace, Tracing,
    log_probabilities,
};
pub use writing::{Prediction, write};
