//! The building blocks of models: each a function of tensors and weights, written in plain tensor
//! operations, with a fused twin that runs as one operation on the CPU.
//!
//! Letters for sizes, used throughout: `B` sentences in a batch, `T` time steps, `I` input width,
//! `H` width of a layer, `G` gates of a cell, `V` vocabulary.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod attention;
mod embedding;
mod flex;
mod initial;
mod linear;
pub mod loss;
mod noise;
pub mod recurrent;
mod tanh;

pub use embedding::Embedding;
pub use flex::update;
pub use initial::Initial;
pub use linear::{Linear, linear, linear_plain};
pub use noise::{Noise, dropout};
pub use tanh::tanh;
