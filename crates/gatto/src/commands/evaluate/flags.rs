//! The flags of `gatto evaluate` that say what is measured.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use gatto::data::Noise;
use std::path::PathBuf;

/// What is measured, and how finely.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    /// Measure translations by NAME, in place of what is usual for their tokens; may be given more than once.
    /// Groups and noise show the first two
    #[arg(long, value_enum, value_name = "NAME")]
    pub(super) metric: Vec<Metric>,
    /// Break the figures down by a column of the data: its number, counted from 0, in TSV, its key in JSONL; of
    /// recordings by `speaker`
    #[arg(long, value_name = "COLUMN", conflicts_with = "by_file")]
    pub(super) by: Option<String>,
    /// Break the figures down by the lines of FILE, one for each line of the data
    #[arg(long, value_name = "FILE")]
    pub(super) by_file: Option<PathBuf>,
    /// Measure again on disturbed sources, and show how much worse that is: typos, dropped-words,
    /// swapped-words, casing, with commas between them, or all
    #[arg(long, value_name = "KINDS", value_delimiter = ',', hide_possible_values = true, value_parser = noise())]
    pub(super) noise: Vec<String>,
    /// How probable it is that a word is disturbed
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = probability, requires = "noise")]
    pub(super) noise_rate: f64,
    /// Where noise, and the draws of intervals, come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
}

impl Asked {
    /// The kinds of noise that are asked for, each once.
    pub(super) fn kinds(&self) -> Vec<Noise> {
        let asked = |kind: &Noise| self.noise.iter().any(|name| name == ALL || name == kind.name());
        Noise::ALL.into_iter().filter(asked).collect()
    }
}

/// The metrics of translations, called as in `gatto metric`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metric {
    /// The share of outputs that are the reference, word for word
    Exact,
    /// BLEU
    Bleu,
    /// chrF
    Chrf,
    /// Translation edit rate
    Ter,
    /// Word error rate
    Wer,
    /// Character error rate
    Cer,
    /// Phoneme error rate
    Per,
    /// ROUGE-1, ROUGE-2 and ROUGE-L
    Rouge,
}

/// The name of all kinds of noise together.
const ALL: &str = "all";

fn noise() -> PossibleValuesParser {
    PossibleValuesParser::new([ALL].into_iter().chain(Noise::ALL.map(Noise::name)))
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("write a number from 0 to 1".to_owned()),
    }
}
