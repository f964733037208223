//! How a decoder's output is chosen, one token after the other.
//!
//! Search sees a model through [`Step`] alone: it never learns whether a decoder is recurrent or
//! not, nor what a tensor is.

mod config;
mod continuing;
mod greedy;
mod sampling;
mod step;

pub use config::SearchConfig;
pub use continuing::{Continuation, continued};
pub use greedy::{greedy, greedy_from};
pub use sampling::{Sampling, sample};
pub use step::{Hypothesis, Logits, Step};
