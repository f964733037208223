//! Recurrent layers: the plain tanh network, the LSTM and the GRU, over masked sequences.
//!
//! A layer is one function of its input, mask, weights and first state ([`layer`]), so that the
//! plain form and its fused twin can stand for each other; [`looking_layer`] is one that looks at a source
//! at every step. [`Network`] stacks layers, and so does [`Pyramid`], each at half the pace of the one below.

mod cell;
mod fused;
mod layer;
mod looking;
mod network;
mod pyramid;
mod step;

pub use cell::{Cell, CellState};
pub use layer::{LayerInput, LayerOutput, LayerWeights, layer, layer_plain};
pub use looking::{LayerLook, LookingOutput, looking_layer, looking_layer_plain};
pub use network::{Network, NetworkConfig, NetworkOutput, Reading};
pub use pyramid::{Pyramid, PyramidConfig, PyramidOutput, existing, masked};
pub use step::{PlainStates, select_rows};
