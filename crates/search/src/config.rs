//! The `[search]` table of a configuration.

use crate::{Beam, Normalisation, Stop};
use serde::{Deserialize, Serialize};

/// How output is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// How many hypotheses are followed at once; 1 is greedy search.
    pub beam: usize,
    /// What log p is divided by, so that long sequences stand a chance against short ones.
    pub normalise: Normalise,
    /// The exponent of that.
    pub alpha: f64,
    /// β: what it costs not to look at the whole source; 0 for nothing.
    pub coverage: f64,
    /// The fewest tokens before the end.
    pub min_length: usize,
    /// The fewest tokens before the end for each token of the source, if there is such a limit.
    pub min_ratio: Option<f64>,
    /// The most tokens that are written for one source.
    pub max_length: usize,
    /// The most tokens that are written for each token of the source, if there is such a limit.
    pub max_ratio: Option<f64>,
    /// When search stops before the length limit.
    pub stop: Stop,
    /// How many groups share the beam.
    pub groups: usize,
    /// What a token loses for every time that an earlier group has chosen it at the same step.
    pub diversity: f64,
    /// n-grams of this many tokens occur once in a sequence; 0 for no such rule.
    pub no_repeat_ngram: usize,
    /// λ: what frames tell by themselves counts so much, and the decoder 1 − λ; for models with `[ctc]`, 0 for nothing.
    pub ctc: f64,
}

/// What log p is divided by, as a word of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalise {
    /// Nothing.
    None,
    /// n^alpha.
    Power,
    /// ((5 + n) / 6)^alpha.
    #[default]
    Wu,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            beam: 1,
            normalise: Normalise::Wu,
            alpha: 0.6,
            coverage: 0.0,
            min_length: 0,
            min_ratio: None,
            max_length: 200,
            max_ratio: None,
            stop: Stop::Exact,
            groups: 1,
            diversity: 0.5,
            no_repeat_ngram: 0,
            ctc: 0.0,
        }
    }
}

impl SearchConfig {
    /// All that makes no sense: the key in the table, and a message that goes behind its name.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let mut require = |good: bool, key: &'static str, message: &str| {
            if !good {
                found.push((key, message.to_owned()));
            }
        };
        require((1..=1024).contains(&self.beam), "beam", "must be from 1 to 1024; write 5, for instance");
        require(
            (0.0..=10.0).contains(&self.alpha),
            "alpha",
            "must be from 0 to 10; write 0.6, for instance, or normalise = \"none\"",
        );
        require(
            (0.0..=100.0).contains(&self.coverage),
            "coverage",
            "must be from 0 to 100; write 0.2, for instance, or 0 for no penalty",
        );
        require(
            (1..=100_000).contains(&self.max_length),
            "max_length",
            "must be from 1 to 100000; write 200, for instance",
        );
        require(
            self.min_length < self.max_length,
            "min_length",
            &format!("must be below max_length, which is {}, so that the end has a place", self.max_length),
        );
        require(
            self.min_ratio.is_none_or(|ratio| (0.0..=1000.0).contains(&ratio)),
            "min_ratio",
            "must be from 0 to 1000; write 0.5, for instance, or leave it out for no such limit",
        );
        require(
            self.max_ratio.is_none_or(|ratio| ratio > 0.0 && ratio <= 1000.0),
            "max_ratio",
            "must be above 0 and at most 1000; write 3, for instance, or leave it out for no such limit",
        );
        require(
            (1..=self.beam.max(1)).contains(&self.groups),
            "groups",
            &format!("must be from 1 to the beam, which is {}; every group needs a place in it", self.beam),
        );
        require(
            (0.0..=1000.0).contains(&self.diversity),
            "diversity",
            "must be from 0 to 1000; write 0.5, for instance",
        );
        require(
            self.no_repeat_ngram <= 100,
            "no_repeat_ngram",
            "must be from 0 to 100; write 3, for instance, or 0 for no such rule",
        );
        require(
            (0.0..=1.0).contains(&self.ctc),
            "ctc",
            "must be from 0 to 1; write 0.3, for instance, or 0 for the decoder alone",
        );
        found
    }

    /// The key of a setting that makes sense only where there is a source, if one is set.
    pub fn of_sources(&self) -> Option<&'static str> {
        let set = [
            ("coverage", self.coverage > 0.0),
            ("min_ratio", self.min_ratio.is_some()),
            ("max_ratio", self.max_ratio.is_some()),
        ];
        set.into_iter().find_map(|(key, set)| set.then_some(key))
    }

    /// The search that the table describes, for one sequence per sentence and without a trace.
    pub fn settings(&self) -> Beam {
        Beam {
            size: self.beam,
            normalisation: match self.normalise {
                Normalise::None => Normalisation::None,
                Normalise::Power => Normalisation::Power(self.alpha),
                Normalise::Wu => Normalisation::Wu(self.alpha),
            },
            coverage: self.coverage,
            stop: self.stop,
            groups: self.groups,
            diversity: self.diversity,
            no_repeat_ngram: self.no_repeat_ngram,
            ..Beam::default()
        }
    }

    /// The search for so many sequences per sentence, as far as the beam has places.
    pub fn for_outputs(&self, count: usize) -> Beam {
        Beam { n_best: count.clamp(1, self.beam.max(1)), ..self.settings() }
    }

    /// The most tokens for a source of this many: `max_length`, or what `max_ratio` leaves of it; one at least.
    pub fn longest(&self, source: usize) -> usize {
        let by_ratio = self.max_ratio.map_or(usize::MAX, |ratio| (ratio * source as f64).ceil() as usize);
        self.max_length.min(by_ratio.max(1))
    }

    /// The fewest tokens before the end for a source of this many: `min_length`, or what `min_ratio` makes of
    /// it; at most one less than the most.
    pub fn shortest(&self, source: usize) -> usize {
        let by_ratio = self.min_ratio.map_or(0, |ratio| (ratio * source as f64).floor() as usize);
        self.min_length.max(by_ratio).min(self.longest(source).saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<&'static str> {
        let config: SearchConfig = toml::from_str(text).expect("a table");
        config.problems().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn a_table_says_how_to_search() {
        let text = "beam = 5\nnormalise = \"power\"\nalpha = 0.7\nstop = \"first\"\nmax_ratio = 1.5";
        let config: SearchConfig = toml::from_str(text).expect("a table");
        let beam = config.settings();
        assert_eq!((beam.size, beam.normalisation, beam.stop), (5, Normalisation::Power(0.7), Stop::First));
        assert_eq!([0, 1, 3, 1000].map(|source| config.longest(source)), [1, 2, 5, 200]);
        let config = SearchConfig { min_length: 2, min_ratio: Some(0.5), ..config };
        assert_eq!([0, 1, 3, 7, 1000].map(|source| config.shortest(source)), [0, 1, 2, 3, 199]);
        let written = toml::to_string(&config).expect("text");
        assert_eq!(toml::from_str::<SearchConfig>(&written).expect("what was written"), config);
        assert_eq!(toml::from_str::<SearchConfig>("").expect("nothing"), SearchConfig::default());
        assert_eq!(SearchConfig::default().settings().size, 1);
    }

    #[test]
    fn unknown_keys_and_words_are_refused() {
        for text in ["beams = 5", "normalise = \"length\"", "stop = \"never\"", "beam = -1"] {
            assert!(toml::from_str::<SearchConfig>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_out_of_range_are_named_by_their_keys() {
        assert_eq!(keys(""), [""; 0]);
        assert_eq!(keys("beam = 0"), ["beam"]);
        assert_eq!(keys("beam = 1025\nalpha = -0.1"), ["beam", "alpha"]);
        assert_eq!(keys("alpha = nan\ncoverage = inf\ndiversity = -1.0"), ["alpha", "coverage", "diversity"]);
        assert_eq!(keys("max_length = 0"), ["max_length", "min_length"]);
        assert_eq!(keys("min_length = 200"), ["min_length"]);
        assert_eq!(keys("max_ratio = 0.0\nmin_ratio = -1.0"), ["min_ratio", "max_ratio"]);
        assert_eq!(keys("beam = 4\ngroups = 5"), ["groups"]);
        assert_eq!(keys("groups = 0\nno_repeat_ngram = 101"), ["groups", "no_repeat_ngram"]);
        assert_eq!(keys("ctc = 1.5"), ["ctc"]);
        assert_eq!(keys("ctc = nan"), ["ctc"]);
    }
}
