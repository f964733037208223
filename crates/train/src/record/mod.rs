//! Where a run's figures go: the terminal, `metrics.jsonl`, TensorBoard and `curves.svg`.

mod curves;
mod journal;
mod plain;
pub mod tensorboard;
mod terminal;

pub use journal::{Entry, Journal};
pub use plain::Plain;
pub use terminal::Terminal;

pub(crate) use curves::draw as draw_curves;

use serde::{Deserialize, Serialize};
use std::path::Path;

/// Figures of some steps of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepFigures {
    /// The last of the steps.
    pub step: u64,
    /// Passes over the data so far.
    pub epoch: u64,
    /// Mean loss of an answer over these steps.
    pub loss: f64,
    /// Norm of the last gradient, before clipping.
    pub gradient_norm: f64,
    /// Learning rate of the last step.
    pub learning_rate: f64,
    /// Answers learnt from since the start: target tokens, labels or hidden tokens.
    pub tokens: u64,
    /// Answers per second, lately.
    pub tokens_per_second: f64,
    /// Seconds since the start, over all sessions.
    pub seconds: f64,
}

/// Figures of a validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidFigures {
    /// Updates made before.
    pub step: u64,
    /// Mean −log p of an answer: a target token, a label or a hidden token.
    pub loss: f64,
    /// exp of the loss.
    pub perplexity: f64,
    /// Share of answers that are the most probable, under teacher forcing.
    pub accuracy: f64,
    /// Share of examples whose whole output is right; of a translator alone.
    pub exact_match: Option<f64>,
    /// Whether this is the best so far.
    pub best: bool,
    /// Seconds since the start, over all sessions.
    pub seconds: f64,
}

/// What a model wrote of some examples that it does not learn from, the same ones at every validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleFigures {
    /// Updates made before.
    pub step: u64,
    /// The examples.
    pub examples: Vec<Sample>,
}

/// An example, and what a model wrote of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The text that was read; none of an image or a recording.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    /// What is wanted; of several captions the first.
    pub reference: String,
    /// What was written, by greedy search.
    pub output: String,
}

/// What happens in a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Something begins that takes a while before training can.
    Preparing(&'a str),
    /// Training begins, or goes on.
    Started {
        /// Updates made before.
        step: u64,
        /// Updates to make.
        steps: u64,
        /// Number of parameters.
        parameters: usize,
        /// The run directory.
        directory: &'a Path,
    },
    /// One update was made.
    Stepped {
        /// Its number, from 1.
        step: u64,
        /// Loss of its batch.
        loss: f64,
        /// Target tokens per second, lately.
        tokens_per_second: f64,
    },
    /// It is time for a line of figures.
    Logged(&'a StepFigures),
    /// The model was looked at from outside.
    Validated(&'a ValidFigures),
    /// Something that a person should know.
    Noted(&'a str),
    /// Training ended.
    Finished {
        /// Updates made.
        step: u64,
        /// Why it ended, for a person.
        reason: &'a str,
    },
}

/// Somewhere figures go. Nothing that a recorder does can change the run.
pub trait Recorder {
    /// Takes note of an event.
    fn record(&mut self, event: &Event<'_>);
}

/// No recorder at all.
impl Recorder for () {
    fn record(&mut self, _: &Event<'_>) {}
}

/// One line for a validation.
pub(crate) fn validation_line(figures: &ValidFigures) -> String {
    let exact = figures.exact_match.map_or(String::new(), |share| format!("  exact {:.1} %", share * 100.0));
    format!(
        "valid  step {}  loss {:.4}  perplexity {:.2}  accuracy {:.1} %{exact}{}",
        figures.step,
        figures.loss,
        figures.perplexity,
        figures.accuracy * 100.0,
        if figures.best { "  (best)" } else { "" }
    )
}
