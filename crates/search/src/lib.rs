//! How a decoder's output is chosen, one token after the other.
//!
//! Search sees a model through [`Step`] alone: it never learns whether a decoder is recurrent or
//! not, nor what a tensor is.

mod alternatives;
mod beam;
mod choices;
mod config;
mod continuing;
mod ensemble;
mod followed;
mod fusion;
mod greedy;
mod log_sum;
mod memory;
mod repeated;
mod sampling;
mod score;
mod step;

pub use alternatives::{Alternative, Place, alternatives};
pub use beam::{Beam, Considered, Fate, Found, Normalisation, Ranked, Required, Stop, Wanted, beam_search};
pub use choices::Choices;
pub use config::{Normalise, SearchConfig};
pub use continuing::{Continuation, continued};
pub use ensemble::{Ensemble, EnsembleError, EnsembleState, Mean};
pub use followed::{Followed, FollowedState, Follower};
pub use fusion::{Fusion, FusionState};
pub use greedy::{greedy, greedy_from};
pub use memory::{Memory, beam_memory};
pub use repeated::Repeated;
pub use sampling::{Sampling, sample, samples};
pub use score::score;
pub use step::{Hypothesis, Logits, Step};
