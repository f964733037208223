//! Training: losses, optimisers, schedules, and the loop that can be stopped anywhere and go on
//! exactly where it was.
//!
//! [`run()`] trains as a [`ConfigFile`] says and leaves a run directory.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod asked;
pub mod checkpoint;
pub mod config;
pub mod corpora;
mod error;
mod examples;
mod gradients;
mod hard_focus;
mod hardest;
mod learning;
mod optimiser;
mod origin;
pub mod record;
mod run;
pub mod sampling;
mod schedule;
mod start;
mod update;
mod validation;
mod vocabulary;

pub use config::{Config, ConfigFile};
pub use error::TrainError;
pub use gradients::{Gradient, Gradients, global_norm, of_pass};
pub use learning::{Gathered, Lesson, gather};
pub use optimiser::Optimiser;
pub use origin::Origin;
pub use run::{Ending, Outcome, RunOptions, run};
pub use schedule::ScheduleState;
pub use update::{Updated, update};
pub use validation::{Tally, Validation};
