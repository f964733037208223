//! How a decoder's output is chosen, one token after the other.
//!
//! Search sees a model through [`Step`] alone: it never learns whether a decoder is recurrent or
//! not, nor what a tensor is.

mod config;
mod greedy;
mod step;

pub use config::SearchConfig;
pub use greedy::greedy;
pub use step::{Hypothesis, Logits, Step};
