//! What can be wrong with a service before it serves.

use gatto_model::ModelError;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A service that cannot start, or a model that cannot take its place.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A model cannot be loaded.
    #[error("model `{name}`: {error}")]
    Model {
        /// The name it would have.
        name: String,
        /// Why.
        error: ModelError,
    },
    /// There is no model to serve.
    #[error("there is no model to serve; name a run directory, or several, or a folder of runs with --runs")]
    NoModels,
    /// A folder of training runs that is none.
    #[error("{}: is no folder of training runs: {error}; name one that is there with --runs", path.display())]
    Runs {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A directory has no name of its own.
    #[error("{}: has no name of its own; give it one: NAME={}", path.display(), path.display())]
    Nameless {
        /// The directory.
        path: PathBuf,
    },
    /// A name that does not go into an address or a log as it is.
    #[error("`{name}` cannot be the name of a model; take letters, digits, `-`, `_` and `.`, 64 at most")]
    Name {
        /// The name.
        name: String,
    },
    /// Two models of one name.
    #[error("two models have the name `{name}`; give one of them another: NAME=DIR")]
    Twice {
        /// The name.
        name: String,
    },
    /// No model has that name.
    #[error("no model has the name `{name}`; there are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Languages that are not written as they should be.
    #[error("`{given}` names no languages; write SOURCE:TARGET, or MODEL=SOURCE:TARGET, such as en:it")]
    Languages {
        /// What was given.
        given: String,
    },
    /// Languages of a model that does not translate.
    #[error("model `{name}` is for `task = \"{task}\"`, and has no languages to translate between")]
    NoTranslator {
        /// The model.
        name: String,
        /// What it is for.
        task: String,
    },
    /// A model of eight bits, or one that changed since it was loaded, cannot be explained.
    #[error("the model on disk is another one by now; replace it in the service, and ask again")]
    Changed,
    /// A limit that leaves no room.
    #[error("the limit of {name} {message}")]
    Limit {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// An origin that is none.
    #[error("`{origin}` is no origin; write a scheme and a host, such as https://example.org, or *")]
    Origin {
        /// What was given.
        origin: String,
    },
    /// A key that no client could send.
    #[error(
        "an API key has {length} characters; take from 16 to 256 letters, digits and signs, without spaces"
    )]
    Key {
        /// Its length.
        length: usize,
    },
    /// An address that cannot be listened on.
    #[error("{address}: cannot be listened on: {error}; name another address with --listen")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// Threads or signals cannot be had.
    #[error("cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// No thread to compute with.
    #[error("cannot start the threads to compute with: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
