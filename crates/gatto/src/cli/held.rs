//! The flags that say which examples a model is measured on.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which examples to measure on.
#[derive(Clone, Debug, Args)]
pub(crate) struct Held {
    /// Sources, one per line [default: the test part of the model's data]
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) source: Option<PathBuf>,
    /// Targets or labels, one line for each source
    #[arg(long, value_name = "FILE", requires = "source")]
    pub(crate) target: Option<PathBuf>,
    /// Text for a language model, one per line, in place of --source and --target
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub(crate) text: Option<PathBuf>,
    /// Examples in one file, .tsv or .jsonl, with the columns or keys of the model's data
    #[arg(long, value_name = "FILE", conflicts_with_all = ["source", "text"])]
    pub(crate) data: Option<PathBuf>,
    /// The folder of the images that --data names [default: the folder of that file]
    #[arg(long, value_name = "DIR", requires = "data")]
    pub(crate) images: Option<PathBuf>,
    /// The folder of the recordings that --data names [default: the folder of that file]
    #[arg(long, value_name = "DIR", requires = "data")]
    pub(crate) sounds: Option<PathBuf>,
    /// Join so many recordings of a speaker that --data names to one, with the pauses of the model's data
    #[arg(long, value_name = "LEAST:MOST", requires = "data", value_parser = join)]
    pub(crate) join: Option<(usize, usize)>,
    /// The part of the model's data to measure on
    #[arg(long, value_enum, default_value_t = HeldPart::Test, conflicts_with_all = ["source", "text", "data"])]
    pub(crate) part: HeldPart,
    /// The most examples to look at [default: some of a built-in task, all lines of files]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) examples: Option<u64>,
}

/// A part of a model's data that it did not learn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeldPart {
    /// What the best checkpoint was chosen by.
    Valid,
    /// What figures are reported on.
    Test,
    /// Scenes of `shapes` with a shape and a colour that never came together in training.
    Unseen,
}

/// How many recordings are joined: `3:7`.
fn join(text: &str) -> Result<(usize, usize), String> {
    let numbers =
        text.split_once(':').and_then(|(least, most)| Some((least.parse().ok()?, most.parse().ok()?)));
    numbers.ok_or_else(|| "write the fewest and the most, such as 3:7".to_owned())
}
