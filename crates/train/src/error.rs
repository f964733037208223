//! Why a training run stops.

use std::path::PathBuf;

/// A training run that cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The configuration is not usable.
    #[error(transparent)]
    Config(#[from] gatto_model::config::ConfigError),
    /// The data is not usable.
    #[error(transparent)]
    Data(#[from] gatto_data::DataError),
    /// The model, or a saved part of it, is not usable.
    #[error(transparent)]
    Model(#[from] gatto_model::ModelError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] gatto_data::WriteError),
    /// A file or folder of the run cannot be read or changed.
    #[error("{}: {action}: {error}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        error: std::io::Error,
    },
    /// The run directory has been used.
    #[error(
        "{}: already holds a run; add --resume to go on with it, or name another directory with --out",
        path.display()
    )]
    Occupied {
        /// The run directory.
        path: PathBuf,
    },
    /// Another process trains here.
    #[error("{}: another process is training here; wait for it, or name another directory with --out", path.display())]
    Locked {
        /// The run directory.
        path: PathBuf,
    },
    /// There is nothing to resume.
    #[error("{}: holds no checkpoint to go on from; leave out --resume to start", path.display())]
    NothingToResume {
        /// The run directory.
        path: PathBuf,
    },
    /// The configuration is not the one that the run was started with.
    #[error(
        "{}: was started with another configuration ({key} differs); only train.steps may change: \
         give the configuration that it holds, or name another directory with --out",
        path.display()
    )]
    OtherConfig {
        /// The run directory.
        path: PathBuf,
        /// The first key that differs.
        key: String,
    },
    /// A checkpoint cannot be read.
    #[error("{}: is damaged: {message}", path.display())]
    Damaged {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The loss or its gradient is not a number any more.
    #[error(
        "the {what} of step {step} is {value}: training has diverged and was stopped; the last checkpoint is untouched. \
         hint: lower train.learning_rate (now {learning_rate:e}), set train.clip = 1.0 (now {clip}), \
         or add train.warmup, and look for broken examples"
    )]
    Diverged {
        /// What is not a number.
        what: &'static str,
        /// The step.
        step: u64,
        /// What it is.
        value: f64,
        /// The learning rate of that step.
        learning_rate: f64,
        /// The norm that gradients are clipped to.
        clip: f64,
    },
    /// `init` would give the vectors of one vocabulary to the tokens of another.
    #[error(
        "{}: cannot give `{name}`: token {id} is `{theirs}` there and `{ours}` here; \
         use the same data, [tokens] and seed for both, or name a part without token vectors, such as `decoder.network`",
        path.display()
    )]
    OtherVocabulary {
        /// The run directory of the saved model.
        path: PathBuf,
        /// A parameter with a row per token.
        name: String,
        /// The first token that differs.
        id: u32,
        /// How it is spelt there.
        theirs: String,
        /// How it is spelt here.
        ours: String,
    },
    /// `init` would give what was learnt of some labels to others.
    #[error(
        "{}: cannot give `{name}`: it was learnt with other labels; use the same labels.json for both, or write \
         `part = \"encoder\"` under [[init]]",
        path.display()
    )]
    OtherLabels {
        /// The run directory of the saved model.
        path: PathBuf,
        /// A parameter with a number for every label.
        name: String,
    },
    /// `freeze` names every part.
    #[error("`train.freeze`: leaves nothing of the model to learn; take a part out of it")]
    AllFrozen,
    /// `freeze` or `init` names a part that the model has not.
    #[error("`{key}`: the model has no part `{part}`; its parts are {parts}")]
    NoSuchPart {
        /// The key.
        key: String,
        /// The part.
        part: String,
        /// The parts that exist.
        parts: String,
    },
}
