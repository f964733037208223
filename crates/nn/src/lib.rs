//! The building blocks of models: each a function of tensors and weights, written in plain tensor
//! operations, with a fused twin that runs as one operation on the CPU.
//!
//! Letters for sizes, used throughout: `B` sentences in a batch, `T` time steps, `I` input width,
//! `H` width of a layer, `G` gates of a cell, `V` vocabulary.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod activation;
pub mod attention;
mod ctc;
mod embedding;
mod flex;
pub mod hearing;
mod initial;
mod linear;
pub mod loss;
mod noise;
mod norm;
pub mod positions;
mod prepared;
pub mod recurrent;
mod sharing;
mod tanh;
pub mod transformer;
pub mod vision;

pub use activation::{Activation, activate, activate_dropped, activate_plain};
pub use ctc::{CtcTargets, ctc_loss, ctc_loss_plain};
pub use embedding::{Embedding, Reads, embedding_plain};
pub use flex::update;
pub use initial::Initial;
pub(crate) use linear::linear_map;
pub use linear::{Linear, linear, linear_plain, linear_transposed};
pub use noise::{Noise, add_dropped, dropout};
pub use norm::{LayerNorm, layer_norm, layer_norm_plain, norm_of_sum, norm_of_sum_plain};
pub use prepared::{Matrix, Precision, Preparing, Ready, ReadyMap, Supply};
pub use sharing::repeated;
pub use tanh::tanh;
