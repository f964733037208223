//! The flags of `gatto shortlist`.

use super::Compute;
use clap::Args;
use gatto::model;
use std::path::PathBuf;

/// `gatto shortlist`
#[derive(Debug, Args)]
pub(crate) struct Shortlist {
    /// Run directory of a trained translator
    pub(crate) model: PathBuf,
    /// Sources to learn from, one per line [default: the training part of the model's data]
    #[arg(long, value_name = "FILE", requires = "target")]
    pub(crate) source: Option<PathBuf>,
    /// Targets, one line for each source
    #[arg(long, value_name = "FILE", requires = "source")]
    pub(crate) target: Option<PathBuf>,
    /// The most examples to learn from
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) examples: u64,
    /// The most translations to keep of each token of the source
    #[arg(
        long,
        value_name = "K",
        default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..=model::Shortlist::MOST_BEST as i64)
    )]
    pub(crate) best: u16,
    /// How many of the most frequent tokens every sentence may have
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) frequent: u32,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}
