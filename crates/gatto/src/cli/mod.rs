//! The command line: one definition from which parsing, help, man pages and completion come.

mod held;
mod look;
mod search;
mod serve;
mod shortlist;

pub(crate) use held::{Held, HeldPart};
pub(crate) use look::{Look, LookedAt};
pub(crate) use search::{Constrain, Language, Sampling, Search, Together, Wish};
pub(crate) use serve::{LogForm, LogLevel, Serve, ServeLimits};
pub(crate) use shortlist::Shortlist;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gatto::Device;
use gatto::model::{HeadPlace, ModelError, Saved};
use gatto::nn::Precision;
use std::path::{Path, PathBuf};

/// Encoder–decoder models: train, run, measure and look into them.
///
/// A model is described by a TOML file; training it leaves a run directory, and that directory is the
/// model: every other command takes it as MODEL. Data goes to standard output, everything else to standard
/// error. Exit status: 0 done, 1 failed, 2 bad usage.
#[derive(Debug, Parser)]
#[command(name = "gatto", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train the built-in English→Italian task for about a minute, translate, and draw the alignment
    Demo(Demo),
    /// Print a commented configuration to start from
    New(New),
    /// Train the model that a configuration describes
    Train(Train),
    /// Read sources, one per line, and write what the model makes of each
    ///
    /// A translator writes the translation of each line; a captioner, for each image, what is to be seen in it; a
    /// transcriber, for each recording, what is said in it; a classifier the label of each line or image; a labeller the labels of its
    /// words, which white space separates. A masked language model fills every gap, written [MASK], with one
    /// token, the most probable; a language model goes on where the line ends.
    Predict(Box<Predict>),
    /// Tell how probable given targets are
    ///
    /// For each line: log p of the target given its source, the sum over its tokens and the end.
    Score(Score),
    /// Predict held-out examples and measure how many are right
    ///
    /// A translator is measured by exact match, and by BLEU, chrF and TER if it writes words or parts of words,
    /// by error rates if it writes characters or symbols; transcripts by the error rates of words and characters, and by
    /// the share of words that begin when the model listened, where that is known; captions by the share that is true of its scene, where that
    /// is known, and by exact match and BLEU against all captions of an image; a classifier and a labeller by accuracy, precision,
    /// recall and F1; a language model by perplexity per token, character and byte; of a masked language model
    /// the same tokens are hidden every time. Square brackets hold 95 % intervals. Groups of examples whose
    /// interval lies wholly on the wrong side of the figure of all are marked `worse`.
    Evaluate(Evaluate),
    /// Measure outputs against references
    Metric(crate::commands::metric::Metric),
    /// Draw where a model looks while it writes, or how it searches for what it writes
    Look(Look),
    /// Measure how far attention agrees with other explanations of a model's output
    ExplainReport(ExplainReport),
    /// Answer requests over HTTP with one or several models
    ///
    /// Listens until it is told to stop by SIGTERM or Ctrl-C, and then finishes the requests under way; SIGHUP has the
    /// models loaded from their directories again, without a request that is dropped. Prints its address when it is
    /// ready; the log goes to standard error. What it answers to is described at /docs.
    Serve(Box<Serve>),
    /// Tell what a model is
    Info(Info),
    /// Write a model down in eight bits
    ///
    /// Leaves a run directory that every command loads as any other, and that gives what --precision int8 gives on the
    /// model that it was made of, from about half to a quarter of the bytes. It is for prediction: it cannot be
    /// trained.
    Quantize(Quantize),
    /// Learn which tokens a model may write for a source, so that the others need not be scored
    ///
    /// Leaves `shortlist.safetensors` in the run directory, for `--shortlist` of `gatto predict`, `gatto evaluate` and
    /// `gatto serve`. For every token of the source it has the likeliest translations by a table (IBM Model 1) that is
    /// learnt from examples, and for all sources the tokens that occur most often. Tells how many tokens of the vocabulary
    /// that leaves for a sentence, and how many of those that the validation part wants are among them.
    Shortlist(Shortlist),
    /// Print a script that completes commands and flags in a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
}

/// Flags of every command that computes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compute {
    /// Threads to compute with [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Where to compute: cpu
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = ["cpu"])]
    pub(crate) device: String,
}

/// How a model that is to write is loaded.
#[derive(Clone, Debug, Args)]
pub(crate) struct Loading {
    /// How its weights are.
    #[command(flatten)]
    pub(crate) weights: Weights,
    /// Choose what is written from the model's shortlist, which `gatto shortlist` makes: a few tokens for each source in
    /// place of the whole vocabulary; faster, and a little less exact
    #[arg(long)]
    pub(crate) shortlist: bool,
}

/// How the weights of a model are loaded.
#[derive(Clone, Debug, Args)]
pub(crate) struct Weights {
    /// How weights are multiplied: as float, or as int8, of which a quarter of the bytes is read; faster, and a little
    /// less exact [default: int8 for a model that `gatto quantize` made, else float]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) precision: Option<PrecisionOf>,
}

/// How weights are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionOf {
    /// As they are
    Float,
    /// In eight bits, and so is what they are multiplied by
    Int8,
}

impl From<PrecisionOf> for Precision {
    fn from(precision: PrecisionOf) -> Self {
        match precision {
            PrecisionOf::Float => Self::Float,
            PrecisionOf::Int8 => Self::Int8,
        }
    }
}

impl Weights {
    /// The model in a run directory.
    pub(crate) fn load(&self, model: &Path, device: &Device) -> Result<Saved, ModelError> {
        Saved::load_with(model, self.precision.map(Precision::from), device)
    }
}

impl Loading {
    /// The model in a run directory, with its shortlist if that is asked for.
    pub(crate) fn load(&self, model: &Path, device: &Device) -> Result<Saved, ModelError> {
        let saved = self.weights.load(model, device)?;
        if self.shortlist { saved.with_shortlist(model) } else { Ok(saved) }
    }
}

/// `gatto demo`
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Run directory to leave behind [default: runs/demo, or the next free name]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Train for so many updates, in place of about a minute's worth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Serve the model in the end, at ADDRESS or at 127.0.0.1:5000, until Ctrl-C
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:5000")]
    pub(crate) serve: Option<std::net::SocketAddr>,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// `gatto new`
#[derive(Debug, Args)]
pub(crate) struct New {
    /// A built-in task or a recipe; without it, the list of names
    pub(crate) name: Option<String>,
    /// Write to FILE in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `gatto train`
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Configuration file
    pub(crate) config: PathBuf,
    /// Run directory [default: runs/ and the name of the configuration]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the run in the directory, exactly where its last checkpoint is
    #[arg(long)]
    pub(crate) resume: bool,
    /// Change a key of the configuration, such as train.steps=100
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Change the seed of the configuration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// `gatto predict`
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// Run directory of a trained model
    pub(crate) model: PathBuf,
    /// Images or recordings to read, for a model of these [default: those that the lines of the input name, or one
    /// recording on standard input]
    #[arg(conflicts_with = "input")]
    pub(crate) files: Vec<PathBuf>,
    /// Read sources from FILE (may be gzipped) in place of standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Write to FILE in place of standard output; it appears when it is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Sources to compute together
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) batch: u32,
    /// The longest piece of a recording that is transcribed at once, in seconds; a longer recording is cut at its pauses
    /// [default: the model's train.max_seconds, or 20]
    #[arg(long, value_name = "SECONDS", value_parser = piece_seconds)]
    pub(crate) piece_seconds: Option<f64>,
    /// The most tokens to write for one source [default: what the model's configuration says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_length: Option<u32>,
    /// Have a head of the model give nought, as ATTENTION:LAYER:HEAD, such as cross:1:2; may be given more than once
    #[arg(long, value_name = "HEAD")]
    pub(crate) mask_head: Vec<HeadPlace>,
    /// Flags of search.
    #[command(flatten)]
    pub(crate) search: Search,
    /// Write the N best outputs of each source, as `line ||| output ||| score`; needs a beam of as many at least.
    /// With --sample, N samples of each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with = "alignment")]
    pub(crate) n_best: Option<u32>,
    /// What is wanted of outputs.
    #[command(flatten)]
    pub(crate) constrain: Constrain,
    /// Write the N most probable tokens at a place of each output, and how it would go on behind them, as
    /// `line ||| token ||| probability ||| output`; the place is behind --prefix, or --at
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1024),
        conflicts_with_all = ["alignment", "n_best", "must", "never", "constraints"]
    )]
    pub(crate) alternatives: Option<u32>,
    /// The place of --alternatives: a token of the best output, counted from 1
    #[arg(long, value_name = "PLACE", value_parser = clap::value_parser!(u32).range(1..), requires = "alternatives")]
    pub(crate) at: Option<u32>,
    /// Flags of drawing.
    #[command(flatten)]
    pub(crate) sampling: Sampling,
    /// Models that write together with the first.
    #[command(flatten)]
    pub(crate) together: Together,
    /// A language model beside it.
    #[command(flatten)]
    pub(crate) language: Language,
    /// Write ` ||| ` behind each output, and which words belong together: `links` as i-j, source and target
    /// words counted from 0 (the Pharaoh format), or `soft`, for each target word the weights of all source
    /// words
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "links",
        conflicts_with = "json"
    )]
    pub(crate) alignment: Option<AlignmentForm>,
    /// Flags of links.
    #[command(flatten)]
    pub(crate) links: Links,
    /// Write one JSON object per source: text, tokens, log-probabilities, weights of attention, links; of a recording
    /// its words and when they sound; or labels and their probabilities; or the best tokens for each gap
    #[arg(long)]
    pub(crate) json: bool,
    /// How the model is loaded.
    #[command(flatten)]
    pub(crate) loading: Loading,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// `gatto score`
#[derive(Debug, Args)]
pub(crate) struct Score {
    /// Run directory of a trained translator
    pub(crate) model: PathBuf,
    /// Sources, one per line (may be gzipped); for a model of images or sounds the names of files
    #[arg(long, value_name = "FILE")]
    pub(crate) source: PathBuf,
    /// Targets, one line for each source
    #[arg(long, value_name = "FILE")]
    pub(crate) target: PathBuf,
    /// Pairs to compute together
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) batch: u32,
    /// Models that tell it together with the first.
    #[command(flatten)]
    pub(crate) together: Together,
    /// Write one JSON object per pair: source, target, tokens, their log-probabilities and the sum
    #[arg(long)]
    pub(crate) json: bool,
    /// How the model is loaded.
    #[command(flatten)]
    pub(crate) loading: Weights,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// How `predict` writes alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlignmentForm {
    /// i-j links.
    Links,
    /// All weights.
    Soft,
}

/// Flags of every command that makes links of weights.
#[derive(Clone, Debug, Args)]
pub(crate) struct Links {
    /// Link each target word to its most attended source word, and to those with this share of its weight
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    pub(crate) link_share: f32,
}

fn piece_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.5..=100.0).contains(&seconds) => Ok(seconds),
        _ => Err("write a number from 0.5 to 100".to_owned()),
    }
}

fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("write a number from 0 to 1".to_owned()),
    }
}

/// `gatto explain-report`
#[derive(Debug, Args)]
pub(crate) struct ExplainReport {
    /// Run directory of a trained model
    pub(crate) model: PathBuf,
    /// Which examples.
    #[command(flatten)]
    pub(crate) held: Held,
    /// Explain what the model writes itself, in place of the targets
    #[arg(long)]
    pub(crate) own: bool,
    /// Where random deletions come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// `gatto evaluate`
#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Run directory of a trained model
    pub(crate) model: PathBuf,
    /// Which examples.
    #[command(flatten)]
    pub(crate) held: Held,
    /// What to measure, and how finely.
    #[command(flatten)]
    pub(crate) asked: crate::commands::evaluate::Asked,
    /// Show the first N examples that are not right, and what they should be
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "json")]
    pub(crate) wrong: usize,
    /// Show the N worst examples: the lowest score of a sentence, the wrong label told with most confidence,
    /// the most wrong words, or the highest perplexity
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) worst: usize,
    /// Write a page of the worst captions to FILE (.html), with where the model looked
    #[arg(long, value_name = "FILE")]
    pub(crate) failures: Option<PathBuf>,
    /// Draw exact match by source length to FILE (.svg)
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Another model to draw beside it, on the same examples; may be given more than once
    #[arg(long, value_name = "MODEL", requires = "plot")]
    pub(crate) against: Vec<PathBuf>,
    /// Gold word alignments of --source and --target in the Pharaoh format, one line each [default: those
    /// that the data knows]
    #[arg(long, value_name = "FILE", requires = "source")]
    pub(crate) alignments: Option<PathBuf>,
    /// Flags of links.
    #[command(flatten)]
    pub(crate) links: Links,
    /// Sources to compute together
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) batch: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// How the model is loaded.
    #[command(flatten)]
    pub(crate) loading: Loading,
    /// Flags of computing.
    #[command(flatten)]
    pub(crate) compute: Compute,
}

/// `gatto info`
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// Run directory of a trained model
    pub(crate) model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gatto quantize`
#[derive(Debug, Args)]
pub(crate) struct Quantize {
    /// Run directory of a trained model
    pub(crate) model: PathBuf,
    /// Run directory to make, which must not be there yet, or be empty; it appears when it is whole
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// `gatto completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// `gatto man`
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write the pages into
    pub(crate) directory: PathBuf,
}
