//! How good output is: plain Rust over text and numbers, no tensors.

pub mod alignment;
mod exact;
mod labels;
mod perplexity;
pub mod rank;

pub use alignment::{Alignment, AlignmentErrorRate, GoldAlignment, PharaohError};
pub use exact::{ExactMatch, by_length};
pub use labels::{LabelCount, LabelCounts};
pub use perplexity::Perplexity;
