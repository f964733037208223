//! The flags of `gatto look`.

use super::{Compute, Search, Wish};
use clap::{Args, ValueEnum};
use gatto::inspect::heatmap::Head;
use gatto::model::HeadPlace;
use std::path::PathBuf;

/// `gatto look`
#[derive(Debug, Args)]
pub(crate) struct Look {
    /// Run directory of a trained model
    pub(crate) model: PathBuf,
    /// The source to look at, for a model of images or sounds the name of a file [default: the lines of standard input]
    pub(crate) input: Option<String>,
    /// Write a picture to FILE (.svg, .png or .html) in place of drawing in the terminal
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Look while the model writes this, in place of what it would write itself
    #[arg(long, value_name = "TEXT", conflicts_with = "Search")]
    pub(crate) target: Option<String>,
    /// Which attention of a Transformer [default: to the source, where there is one]
    #[arg(long, value_name = "WHICH")]
    pub(crate) attention: Option<LookedAt>,
    /// Which layer of it, from 1 [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) layer: Option<usize>,
    /// Which head of the layer, from 1, or the mean or max of all heads
    #[arg(long, value_name = "N|mean|max", default_value = "mean", value_parser = head)]
    pub(crate) head: Head,
    /// Draw all heads, small, with a layer in every row
    #[arg(long, conflicts_with = "head")]
    pub(crate) heads: bool,
    /// Have a head of the model give nought, as ATTENTION:LAYER:HEAD, such as cross:1:2; may be given more than once
    #[arg(long, value_name = "HEAD")]
    pub(crate) mask_head: Vec<HeadPlace>,
    /// Draw gradient × input and erasure beside attention
    #[arg(long, conflicts_with_all = ["attention", "layer", "head", "heads"])]
    pub(crate) explain: bool,
    /// Merge the pieces of words
    #[arg(long)]
    pub(crate) words: bool,
    /// Leave the token out that ends a sequence, and let the other weights sum to one
    #[arg(long)]
    pub(crate) no_end: bool,
    /// Draw the beam as a tree: which hypotheses were followed, and what was pruned at which step and why
    #[arg(
        long,
        conflicts_with_all = ["target", "attention", "layer", "head", "heads", "explain", "words", "no_end"]
    )]
    pub(crate) tree: bool,
    /// How many candidates that were not chosen the tree shows at each step
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u16).range(0..=100),
        requires = "tree"
    )]
    pub(crate) beside: u16,
    /// How many of the best outputs the tree leads to; needs a beam of as many at least
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1024),
        requires = "tree"
    )]
    pub(crate) n_best: u32,
    /// Flags of search.
    #[command(flatten)]
    pub(crate) search: Search,
    /// What is wanted of the output, with --tree.
    #[command(flatten)]
    pub(crate) wish: Wish,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// The attentions of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LookedAt {
    /// The decoder looks at the source
    Cross,
    /// The source looks at itself
    Encoder,
    /// The decoder looks at what it has read
    Decoder,
    /// A classifier looks at the states of its encoder
    Pooling,
}

fn head(text: &str) -> Result<Head, String> {
    match text {
        "mean" => Ok(Head::Mean),
        "max" => Ok(Head::Max),
        _ => match text.parse() {
            Ok(number) if number > 0 => Ok(Head::Number(number)),
            _ => Err("write a number from 1, mean or max".to_owned()),
        },
    }
}
