//! The flags of `gatto serve`. Each can be set in the environment as well, as GATTO_ and its name.

use super::{Compute, Loading};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// `gatto serve`
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Run directories of trained models, each with its own name or as NAME=DIR; several may stand in
    /// one word, with commas between them
    #[arg(
        required_unless_present = "runs",
        value_name = "MODEL",
        env = "GATTO_MODELS",
        value_delimiter = ','
    )]
    pub(crate) models: Vec<String>,
    /// Show the training runs in this folder, and in folders inside it: their curves as they grow, what they write of
    /// some examples, and their configurations
    #[arg(long, value_name = "DIR", env = "GATTO_RUNS")]
    pub(crate) runs: Option<PathBuf>,
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5000", env = "GATTO_LISTEN")]
    pub(crate) listen: SocketAddr,
    /// What a model translates between, as SOURCE:TARGET or MODEL=SOURCE:TARGET, such as en:it; may be given more than
    /// once. Translators with languages answer to LibreTranslate's clients
    #[arg(long, value_name = "PAIR", env = "GATTO_LANGUAGES", value_delimiter = ',')]
    pub(crate) languages: Vec<String>,
    /// A file of API keys, one per line; clients must then send one of them. Keys may also stand in GATTO_API_KEYS,
    /// with commas between them
    #[arg(long, value_name = "FILE", env = "GATTO_API_KEY_FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// An origin whose pages may ask, such as https://example.org, or * for all; may be given more than once
    #[arg(long, value_name = "ORIGIN", env = "GATTO_ALLOW_ORIGIN", value_delimiter = ',')]
    pub(crate) allow_origin: Vec<String>,
    /// How the log is written
    #[arg(long, value_name = "FORM", value_enum, default_value_t = LogForm::Text, env = "GATTO_LOG")]
    pub(crate) log: LogForm,
    /// What the log is about
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Info, env = "GATTO_LOG_LEVEL")]
    pub(crate) log_level: LogLevel,
    /// How much is taken on.
    #[command(flatten)]
    pub(crate) limits: ServeLimits,
    /// How models are loaded.
    #[command(flatten)]
    pub(crate) loading: Loading,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// Lines for people
    Text,
    /// A JSON object per line
    Json,
}

/// What a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Our own mistakes
    Error,
    /// What may become one
    Warn,
    /// Every request
    Info,
    /// Every connection that broke
    Debug,
}

/// Bounds on what clients may ask for.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeLimits {
    /// The most bytes of a request
    #[arg(long, value_name = "N", default_value_t = 8 << 20, env = "GATTO_MAX_BODY")]
    pub(crate) max_body: usize,
    /// The most texts or images of a request
    #[arg(long, value_name = "N", default_value_t = 128, env = "GATTO_MAX_TEXTS")]
    pub(crate) max_texts: usize,
    /// The most characters of a text
    #[arg(long, value_name = "N", default_value_t = 5000, env = "GATTO_MAX_CHARACTERS")]
    pub(crate) max_characters: usize,
    /// The widest beam that a request may ask for
    #[arg(long, value_name = "N", default_value_t = 16, env = "GATTO_MAX_BEAM")]
    pub(crate) max_beam: usize,
    /// The most outputs for a text
    #[arg(long, value_name = "N", default_value_t = 16, env = "GATTO_MAX_N_BEST")]
    pub(crate) max_n_best: usize,
    /// The most tokens that are written for a text
    #[arg(long, value_name = "N", default_value_t = 512, env = "GATTO_MAX_LENGTH")]
    pub(crate) max_length: usize,
    /// The most pixels of an image
    #[arg(long, value_name = "N", default_value_t = 16_000_000, env = "GATTO_MAX_PIXELS")]
    pub(crate) max_pixels: u64,
    /// The most seconds of a recording
    #[arg(long, value_name = "S", default_value_t = 300.0, env = "GATTO_MAX_SECONDS", value_parser = seconds)]
    pub(crate) max_seconds: f64,
    /// The most texts that wait; who comes then is told to come back
    #[arg(long, value_name = "N", default_value_t = 1024, env = "GATTO_QUEUE")]
    pub(crate) queue: usize,
    /// The most texts to compute together
    #[arg(long, value_name = "N", default_value_t = 64, env = "GATTO_BATCH")]
    pub(crate) batch: usize,
    /// How many milliseconds a text waits for company
    #[arg(long, value_name = "MS", default_value_t = 2, env = "GATTO_GATHER")]
    pub(crate) gather: u64,
    /// The most MiB of memory for the searches of each thread
    #[arg(long, value_name = "MIB", default_value_t = 1024, env = "GATTO_SEARCH_MEMORY")]
    pub(crate) search_memory: u64,
    /// How many seconds an answer may take
    #[arg(long, value_name = "S", default_value_t = 30, env = "GATTO_DEADLINE")]
    pub(crate) deadline: u64,
    /// How many seconds a client may take to send a request, or to take what it is sent
    #[arg(long, value_name = "S", default_value_t = 10, env = "GATTO_SENDING")]
    pub(crate) sending: u64,
    /// The most connections at a time
    #[arg(long, value_name = "N", default_value_t = 1024, env = "GATTO_CONNECTIONS")]
    pub(crate) connections: usize,
    /// How many seconds the requests under way may take when the service is told to stop
    #[arg(long, value_name = "S", default_value_t = 30, env = "GATTO_GRACE")]
    pub(crate) grace: u64,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("write a number from 0.1 to 3600".to_owned()),
    }
}
