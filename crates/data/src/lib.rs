//! Data for sequence-to-sequence models: where examples come from, how they become tokens, labels,
//! pixels and frames, and how these become batches.
//!
//! ```text
//! corpus ──> examples ──> tokens ──> batches
//! ```
//!
//! Nothing here knows a model or a tensor.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ahead;
pub mod batch;
pub mod builtin;
pub mod coder;
pub mod corpus;
pub mod error;
pub mod example;
pub mod files;
pub mod images;
pub mod labels;
pub mod lexicon;
pub mod noise;
pub mod random;
pub mod skipped;
pub mod sound;
pub mod stream;
pub mod tokens;
pub mod words;

pub use batch::{
    Batch, IGNORED, Limits, Padded, Source, Sources, evaluation_batches, evaluation_batches_of_images,
    evaluation_batches_of_sounds, in_input_order, prediction_batches,
};
pub use coder::{Coder, Rows};
pub use corpus::{
    AskedKind, Corpus, DataConfig, DataSource, FileCorpus, Files, FilesConfig, Indexed, IndexedCorpus,
    Memory, OneSide, Position, Side,
};
pub use error::{DataError, LineProblem, WriteError};
pub use example::{Example, Link, Part};
pub use images::{Image, ImageError, ImageExample, ImageSet, PixelBox};
pub use labels::{Labels, Unit};
pub use lexicon::Lexicon;
pub use noise::Noise;
pub use sound::{Frames, Sound, SoundError, SoundExample, SoundSet};
pub use stream::{BatchStream, Stream, StreamSettings, StreamState, Thinning};
pub use tokens::{Kind, Tokenizer, TokenizerPair, TokensConfig};
