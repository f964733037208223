//! What a score depends on, in one line, so that others can compute the same.

use std::fmt;

/// The settings of a score, in the format of sacreBLEU.
///
/// ```
/// # use gatto_metrics::translation::{Chrf, Metric, References};
/// let references = References::single(&["a cat"]);
/// let chrf = Chrf::default();
/// let signature = chrf.signature(&chrf.statistics(&["a hat"], &references)?).with_bootstrap(1000, 12345);
/// let version = env!("CARGO_PKG_VERSION");
/// let long = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:gatto-";
/// assert_eq!(signature.to_string(), format!("{long}{version}"));
/// assert_eq!(signature.short(), format!("#:1|bs:1000|rs:12345|c:mixed|e:yes|nc:6|nw:0|s:no|v:gatto-{version}"));
/// # Ok::<(), gatto_metrics::translation::TranslationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    references: Option<usize>,
    bootstrap: Option<usize>,
    randomisation: Option<usize>,
    seed: Option<u64>,
    settings: Vec<Setting>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    name: &'static str,
    short: &'static str,
    value: String,
}

impl Signature {
    /// The version that stands at the end.
    pub const VERSION: &str = concat!("gatto-", env!("CARGO_PKG_VERSION"));

    /// A signature without settings, for as many references, or for a number that differs.
    pub(super) fn new(references: Option<usize>) -> Self {
        Self { references, bootstrap: None, randomisation: None, seed: None, settings: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, short: &'static str, value: impl fmt::Display) -> Self {
        self.settings.push(Setting { name, short, value: value.to_string() });
        self
    }

    pub(super) fn with_choice(self, name: &'static str, short: &'static str, value: bool) -> Self {
        self.with(name, short, if value { "yes" } else { "no" })
    }

    /// Adds the number of samples of a bootstrap, and its seed.
    pub fn with_bootstrap(self, samples: usize, seed: u64) -> Self {
        Self { bootstrap: Some(samples), seed: Some(seed), ..self }
    }

    /// Adds the number of trials of an approximate randomisation, and its seed.
    pub fn with_randomisation(self, trials: usize, seed: u64) -> Self {
        Self { randomisation: Some(trials), seed: Some(seed), ..self }
    }

    /// The signature with short names.
    pub fn short(&self) -> String {
        self.format(|setting| setting.short)
    }

    fn format(&self, name: impl Fn(&Setting) -> &'static str) -> String {
        let references = self.references.map_or_else(|| "var".to_owned(), |count| count.to_string());
        let setting = |name, short, value: Option<String>| value.map(|value| Setting { name, short, value });
        let before = [
            setting("nrefs", "#", Some(references)),
            setting("bs", "bs", self.bootstrap.map(|samples| samples.to_string())),
            setting("ar", "ar", self.randomisation.map(|trials| trials.to_string())),
            setting("seed", "rs", self.seed.map(|seed| seed.to_string())),
        ];
        let version = setting("version", "v", Some(Self::VERSION.to_owned()));
        let all = before.iter().flatten().chain(&self.settings).chain(&version);
        all.map(|setting| format!("{}:{}", name(setting), setting.value)).collect::<Vec<_>>().join("|")
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.format(|setting| setting.name))
    }
}
