//! How good output is: plain Rust over text, no tensors.

mod exact;

pub use exact::{ExactMatch, by_length};
