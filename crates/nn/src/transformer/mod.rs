//! Layers of self-attention (Vaswani et al., 2017).
//!
//! A layer is self-attention, attention to a source (in a decoder), and a feed-forward block, each
//! inside a residual connection with a layer norm: behind it, x ← norm(x + f(x)), as in the original,
//! or before it, x ← x + f(norm(x)), with one more norm behind the last layer.
//!
//! Letters: `B` sentences, `T` queries, `S` keys, `H` heads, `C` width of a layer, `F` inner width.

mod columns;
mod exists;
mod layer;
mod looks;
mod stack;
mod step;
#[cfg(test)]
mod step_tests;

pub use layer::NormOrder;
pub use looks::Looks;
pub use stack::{Stack, StackOutput, StackSettings, StackState};
