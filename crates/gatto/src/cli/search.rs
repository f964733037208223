//! The flags that say what is written: how a model searches or draws, what is wanted of its output, and which models
//! write together.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use gatto::model::{Constraints, Saved};
use gatto::search::{Mean, Normalise, SearchConfig, Stop};
use std::path::PathBuf;

/// What is wanted of every output of a translator.
#[derive(Clone, Debug, Args)]
pub(crate) struct Wish {
    /// Every output begins with this
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,
    /// A phrase that must appear in every output; may be given more than once. The beam is 5 at least, unless
    /// --beam says otherwise
    #[arg(long, value_name = "PHRASE")]
    pub(crate) must: Vec<String>,
    /// A phrase that must not appear in any output; may be given more than once
    #[arg(long, value_name = "PHRASE")]
    pub(crate) never: Vec<String>,
}

impl Wish {
    /// The flag that was given, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--prefix", self.prefix.is_some()),
            ("--must", !self.must.is_empty()),
            ("--never", !self.never.is_empty()),
        ];
        flags.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }

    /// The constraints, if the model can meet them.
    pub(crate) fn constraints(&self, saved: &Saved) -> Result<Constraints> {
        let constraints = Constraints {
            prefix: self.prefix.clone().unwrap_or_default(),
            must: self.must.clone(),
            never: self.never.clone(),
            ..Constraints::default()
        };
        if let Some(flag) = self.given() {
            constraints.check(&saved.tokens.target).with_context(|| format!("{flag} cannot be met"))?;
        }
        Ok(constraints)
    }
}

/// What is wanted of the outputs of a translator.
#[derive(Clone, Debug, Args)]
pub(crate) struct Constrain {
    /// Of all.
    #[command(flatten)]
    pub(crate) of_all: Wish,
    /// What is wanted of each output, a line of JSON for each source:
    /// {"prefix": "il", "must": ["gatto"], "never": ["tavola"]}, of which any key may be left out. The beam is 5 at
    /// least, unless --beam says otherwise
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prefix", "must", "never"])]
    pub(crate) constraints: Option<PathBuf>,
}

impl Constrain {
    /// The flag that was given, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.of_all.given().or(self.constraints.as_ref().map(|_| "--constraints"))
    }
}

/// Models that write together with the first.
#[derive(Clone, Debug, Args)]
pub(crate) struct Together {
    /// Another run directory, with the same vocabulary, whose model writes together with the first: an ensemble;
    /// may be given more than once
    #[arg(long, value_name = "MODEL")]
    pub(crate) with: Vec<PathBuf>,
    /// What they agree on: the mean of their probabilities, or of their log-probabilities
    #[arg(long, value_name = "OF", value_enum, default_value_t = MeanOf::Probabilities, requires = "with")]
    pub(crate) mean: MeanOf,
}

/// A language model that has a say in what is written.
#[derive(Clone, Debug, Args)]
pub(crate) struct Language {
    /// Run directory of a language model with the same vocabulary that has a say in every token: shallow fusion
    #[arg(long, value_name = "MODEL", conflicts_with = "sample")]
    pub(crate) lm: Option<PathBuf>,
    /// How much its log-probabilities count
    #[arg(long, value_name = "W", default_value_t = 0.3, value_parser = fusion_weight, requires = "lm")]
    pub(crate) lm_weight: f64,
}

fn fusion_weight(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(weight) if (0.0..=10.0).contains(&weight) => Ok(weight),
        _ => Err("write a number from 0 to 10".to_owned()),
    }
}

/// What models that write together agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeanOf {
    /// One that knows is enough
    Probabilities,
    /// One that objects is enough
    LogProbabilities,
}

impl From<MeanOf> for Mean {
    fn from(of: MeanOf) -> Self {
        match of {
            MeanOf::Probabilities => Self::Probabilities,
            MeanOf::LogProbabilities => Self::LogProbabilities,
        }
    }
}

/// The beam for phrases that must appear.
const BEAM_FOR_PHRASES: usize = 5;

/// How a model that writes searches, in place of what its configuration says.
#[derive(Clone, Debug, Args)]
pub(crate) struct Search {
    /// Follow the N best hypotheses at once; 1 is greedy search [default: what the model's configuration says]
    #[arg(long, value_name = "N")]
    pub(crate) beam: Option<usize>,
    /// What log p is divided by, so that long outputs stand a chance: none, power (n^α) or wu (((5 + n) / 6)^α)
    #[arg(long, value_name = "KIND", value_parser = normalise)]
    pub(crate) normalise: Option<Normalise>,
    /// The exponent α of that
    #[arg(long, value_name = "A")]
    pub(crate) alpha: Option<f64>,
    /// What it costs not to look at the whole source
    #[arg(long, value_name = "B")]
    pub(crate) coverage: Option<f64>,
    /// The fewest tokens to write before the end
    #[arg(long, value_name = "N")]
    pub(crate) min_length: Option<usize>,
    /// The fewest tokens to write before the end, for each token of the source
    #[arg(long, value_name = "R")]
    pub(crate) min_ratio: Option<f64>,
    /// The most tokens to write for each token of the source
    #[arg(long, value_name = "R")]
    pub(crate) max_ratio: Option<f64>,
    /// When to stop: exact, when nothing better can come, or first, when as many outputs have ended as the beam
    /// has places
    #[arg(long, value_name = "WHEN", value_parser = stop)]
    pub(crate) stop: Option<Stop>,
    /// No sequence of N tokens is written twice
    #[arg(long, value_name = "N")]
    pub(crate) no_repeat_ngram: Option<usize>,
    /// Share the beam among N groups that avoid each other's tokens
    #[arg(long, value_name = "N")]
    pub(crate) groups: Option<usize>,
    /// What a token loses for every earlier group that has chosen it at the same step
    #[arg(long, value_name = "D")]
    pub(crate) diversity: Option<f64>,
    /// What the encoder of sounds tells by itself counts so much, from 0 to 1, and the decoder the rest
    #[arg(long, value_name = "SHARE")]
    pub(crate) ctc: Option<f64>,
}

impl Search {
    /// Whether any flag was given.
    pub(crate) fn is_given(&self) -> bool {
        let numbers = [self.beam, self.min_length, self.no_repeat_ngram, self.groups];
        let shares = [self.alpha, self.diversity, self.ctc];
        numbers.iter().any(Option::is_some)
            || shares.iter().any(Option::is_some)
            || self.normalise.is_some()
            || self.stop.is_some()
            || self.of_sources().is_some()
    }

    /// A flag that was given and makes sense only where there is a source.
    pub(crate) fn of_sources(&self) -> Option<&'static str> {
        let flags =
            [("--coverage", self.coverage), ("--min-ratio", self.min_ratio), ("--max-ratio", self.max_ratio)];
        flags.into_iter().find_map(|(flag, given)| given.map(|_| flag))
    }

    /// The search with what was given. Phrases that must appear are found by a beam, and badly without.
    pub(crate) fn over(&self, search: &SearchConfig, phrases: bool) -> SearchConfig {
        let beam = if phrases { search.beam.max(BEAM_FOR_PHRASES) } else { search.beam };
        SearchConfig {
            beam: self.beam.unwrap_or(beam),
            normalise: self.normalise.unwrap_or(search.normalise),
            alpha: self.alpha.unwrap_or(search.alpha),
            coverage: self.coverage.unwrap_or(search.coverage),
            min_length: self.min_length.unwrap_or(search.min_length),
            min_ratio: self.min_ratio.or(search.min_ratio),
            max_ratio: self.max_ratio.or(search.max_ratio),
            stop: self.stop.unwrap_or(search.stop),
            diversity: self.diversity.unwrap_or(search.diversity),
            no_repeat_ngram: self.no_repeat_ngram.unwrap_or(search.no_repeat_ngram),
            groups: self.groups.unwrap_or(search.groups),
            ctc: self.ctc.unwrap_or(search.ctc),
            ..search.clone()
        }
    }
}

fn normalise(text: &str) -> Result<Normalise, String> {
    match text {
        "none" => Ok(Normalise::None),
        "power" => Ok(Normalise::Power),
        "wu" => Ok(Normalise::Wu),
        _ => Err("write none, power or wu".to_owned()),
    }
}

fn stop(text: &str) -> Result<Stop, String> {
    match text {
        "exact" => Ok(Stop::Exact),
        "first" => Ok(Stop::First),
        _ => Err("write exact or first".to_owned()),
    }
}

/// How a model that writes draws.
#[derive(Clone, Debug, Args)]
pub(crate) struct Sampling {
    /// Draw every token by its probability, in place of a search for the most probable output
    #[arg(long)]
    pub(crate) sample: bool,
    /// Below 1, probable tokens are drawn more often than the model thinks; above 1, less often
    #[arg(long, value_name = "T", default_value_t = 1.0, value_parser = temperature, requires = "sample")]
    pub(crate) temperature: f64,
    /// Draw from the K most probable tokens alone
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), requires = "sample")]
    pub(crate) top_k: Option<u32>,
    /// Draw from the fewest tokens that have this share of the probability
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = top_share, requires = "sample")]
    pub(crate) top_p: f64,
    /// Draw from the tokens that have at least this share of the probability of the most probable one
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = least_share, requires = "sample")]
    pub(crate) min_p: f64,
    /// Where the draws come from; what a line becomes depends on this, on its number and on the model alone
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    pub(crate) seed: u64,
}

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(temperature) if (1e-3..=1e3).contains(&temperature) => Ok(temperature),
        _ => Err("write a number from 0.001 to 1000".to_owned()),
    }
}

fn top_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("write a number above 0 and up to 1".to_owned()),
    }
}

fn least_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("write a number from 0 to 1".to_owned()),
    }
}
