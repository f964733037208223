//! Models as a service over HTTP.
//!
//! ```text
//! client ──> http: reads, checks, refuses ──> Queue ──> workers: batches of one length ──> answers
//!                                               │                       │
//!                                         full: 429              Room: the models
//! ```
//!
//! A request becomes one entry of the queue for each of its texts. A worker takes the entry that has waited longest,
//! and with it those of other clients that ask the same of the same model with a source of the same length: they are
//! computed together without padding, so that no answer depends on its company. A request holds on to the model that it
//! was admitted for; a model is replaced by giving its name to another one, and the last request lets the old one go.
//! Whoever leaves, or waits past the deadline, has the search called off at its next step.
//!
//! There is no state beside the models: any number of such services may stand behind one address.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answers;
mod asking;
mod error;
mod hearing;
mod http;
mod keys;
mod libre;
mod limits;
mod listening;
mod looking;
mod matrices;
mod metrics;
mod patience;
mod picture;
mod queue;
mod refusal;
mod room;
mod runs;
mod work;
mod worker;

pub use error::ServeError;
pub use http::open_api;
pub use keys::Keys;
pub use limits::Limits;
pub use listening::{Control, Service, Settings};
pub use room::{Languages, Place};
