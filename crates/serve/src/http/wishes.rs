//! How a model searches or draws, and what is wanted of its output, as a request says it: what is not said is as the
//! model's configuration has it, as for `gatto predict`.

use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::room::Hosted;
use crate::work::Way;
use gatto_model::{AttentionKind, Constraints, HeadPlace, Task};
use gatto_search::{Normalise, Sampling, SearchConfig, Stop};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The beam for phrases that must appear.
const BEAM_FOR_PHRASES: usize = 5;

/// One, or several.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// The finer settings of a search.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchWish {
    /// What log p is divided by: `none`, `power` or `wu`.
    #[schema(value_type = Option<String>)]
    pub(super) normalise: Option<Normalise>,
    /// The exponent of that.
    pub(super) alpha: Option<f64>,
    /// What it costs not to look at the whole source.
    pub(super) coverage: Option<f64>,
    /// The fewest tokens before the end.
    pub(super) min_length: Option<usize>,
    /// The fewest tokens before the end for each token of the source.
    pub(super) min_ratio: Option<f64>,
    /// The most tokens for each token of the source.
    pub(super) max_ratio: Option<f64>,
    /// When to stop: `exact` or `first`.
    #[schema(value_type = Option<String>)]
    pub(super) stop: Option<Stop>,
    /// No sequence of so many tokens is written twice.
    pub(super) no_repeat_ngram: Option<usize>,
    /// Groups that share the beam.
    pub(super) groups: Option<usize>,
    /// What a token loses for every earlier group that has chosen it.
    pub(super) diversity: Option<f64>,
    /// What frames tell by themselves counts so much, for models of sounds with CTC.
    pub(super) ctc: Option<f64>,
}

/// How tokens are drawn.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SampleWish {
    /// Below 1 the probable tokens gain, above 1 the improbable ones.
    temperature: f64,
    /// The most tokens that are drawn from.
    top_k: Option<usize>,
    /// The share of the probability that is drawn from.
    top_p: f64,
    /// How probable a token must be, as a share of the most probable one.
    min_p: f64,
    /// Where draws come from; a text depends on this, on its number and on the model alone.
    pub(super) seed: u64,
}

impl Default for SampleWish {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: None, top_p: 1.0, min_p: 0.0, seed: 1 }
    }
}

impl SampleWish {
    fn sampling(&self) -> Result<Sampling, Refusal> {
        let Self { temperature, top_k, top_p, min_p, .. } = *self;
        let good = [
            ("temperature", (1e-3..=1e3).contains(&temperature), "from 0.001 to 1000"),
            ("top_k", top_k != Some(0), "1 or more"),
            ("top_p", top_p > 0.0 && top_p <= 1.0, "above 0 and up to 1"),
            ("min_p", (0.0..=1.0).contains(&min_p), "from 0 to 1"),
        ];
        match good.into_iter().find(|(_, good, _)| !good) {
            Some((key, _, range)) => Err(Refusal::Bad(format!("`sample.{key}` must be {range}"))),
            None => Ok(Sampling { temperature, top_k, top_p, min_p }),
        }
    }
}

/// The tokens that could stand at a place.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlternativesWish {
    /// How many.
    count: usize,
    /// The place: a token of the best output, counted from 1; behind the prefix if it is left out.
    at: Option<usize>,
}

/// What is wanted of one output.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConstraintsWish {
    /// The text that it begins with.
    pub(super) prefix: String,
    /// The tokens that it begins with, in place of a text, by their numbers as `/v1/trace` tells them.
    pub(super) prefix_tokens: Vec<u32>,
    /// Phrases that must appear.
    pub(super) must: Vec<String>,
    /// Phrases that must not appear.
    pub(super) never: Vec<String>,
}

impl From<ConstraintsWish> for Constraints {
    fn from(wish: ConstraintsWish) -> Self {
        let ConstraintsWish { prefix, prefix_tokens, must, never } = wish;
        Self { prefix, prefix_tokens, must, never }
    }
}

/// An attention of a model that has heads.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HeadedAttention {
    Cross,
    Encoder,
    Decoder,
}

/// A head that gives nought.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaskWish {
    /// Its attention: `cross`, `encoder` or `decoder`.
    attention: HeadedAttention,
    /// Its layer, from 1.
    layer: usize,
    /// Its number in the layer, from 1.
    head: usize,
}

impl From<MaskWish> for HeadPlace {
    fn from(MaskWish { attention, layer, head }: MaskWish) -> Self {
        let attention = match attention {
            HeadedAttention::Cross => AttentionKind::Cross,
            HeadedAttention::Encoder => AttentionKind::Encoder,
            HeadedAttention::Decoder => AttentionKind::Decoder,
        };
        Self { attention, layer, head }
    }
}

/// A model without the heads that a request has masked.
pub(super) fn masked(hosted: Arc<Hosted>, mask: &[MaskWish]) -> Result<Arc<Hosted>, Refusal> {
    let heads: Vec<HeadPlace> = mask.iter().copied().map(HeadPlace::from).collect();
    Ok(hosted.masked(&heads)?)
}

/// How outputs are found, as far as a request says so.
pub(super) struct Wishes<'a> {
    pub(super) beam: Option<usize>,
    pub(super) n_best: Option<usize>,
    pub(super) max_length: Option<usize>,
    pub(super) search: Option<&'a SearchWish>,
    pub(super) sample: Option<&'a SampleWish>,
    pub(super) alternatives: Option<&'a AlternativesWish>,
    pub(super) constraints: &'a [Constraints],
}

impl Wishes<'_> {
    /// What is asked of a model; a refusal of what it cannot do, and of what is too much.
    pub(super) fn way(&self, hosted: &Hosted, limits: &Limits) -> Result<Way, Refusal> {
        let task = hosted.saved.task;
        self.refuse(hosted)?;
        if !task.writes() {
            return Ok(match task {
                Task::Classify => Way::Classified,
                Task::Label => Way::Labelled,
                _ => Way::Filled,
            });
        }
        let search = self.search(hosted, limits)?;
        let sampling = self.sample.map(SampleWish::sampling).transpose()?;
        let count = self.n_best;
        if count.is_some_and(|count| count == 0 || count > limits.n_best) {
            return Err(Refusal::Bad(format!("`n_best` must be from 1 to {}", limits.n_best)));
        }
        let wanted = count.unwrap_or(1);
        if sampling.is_none() && wanted > search.beam {
            let beam = search.beam;
            return Err(Refusal::Bad(format!(
                "`n_best` of {wanted} needs a beam of as many hypotheses, and it is {beam}; ask for `beam` {wanted}"
            )));
        }
        Ok(match (task, sampling, self.alternatives) {
            (Task::Transcribe, ..) => Way::Heard { search },
            (Task::LanguageModel, sampling, _) => Way::Continued { search, sampling, count },
            (_, Some(sampling), _) => Way::Drawn { search, sampling, count },
            (_, None, Some(AlternativesWish { count, at })) => {
                if !(1..=limits.n_best).contains(count) || *at == Some(0) {
                    let range = limits.n_best;
                    return Err(Refusal::Bad(format!(
                        "`alternatives` must have a `count` from 1 to {range}, and `at` from 1"
                    )));
                }
                Way::Others { search, at: at.map(|place| place - 1), count: *count }
            }
            (_, None, None) => Way::Best { search, count },
        })
    }

    /// The search, within its limits.
    pub(super) fn search(&self, hosted: &Hosted, limits: &Limits) -> Result<SearchConfig, Refusal> {
        let own = &hosted.saved.search;
        let wish = self.search.cloned().unwrap_or_default();
        let phrases = self.constraints.iter().any(|wanted| !wanted.must.is_empty());
        let beam = if phrases { own.beam.max(BEAM_FOR_PHRASES) } else { own.beam };
        let search = SearchConfig {
            beam: self.beam.unwrap_or(beam),
            max_length: self.max_length.unwrap_or(own.max_length.min(limits.max_length)),
            normalise: wish.normalise.unwrap_or(own.normalise),
            alpha: wish.alpha.unwrap_or(own.alpha),
            coverage: wish.coverage.unwrap_or(own.coverage),
            min_length: wish.min_length.unwrap_or(own.min_length),
            min_ratio: wish.min_ratio.or(own.min_ratio),
            max_ratio: wish.max_ratio.or(own.max_ratio),
            stop: wish.stop.unwrap_or(own.stop),
            groups: wish.groups.unwrap_or(own.groups),
            diversity: wish.diversity.unwrap_or(own.diversity),
            no_repeat_ngram: wish.no_repeat_ngram.unwrap_or(own.no_repeat_ngram),
            ctc: wish.ctc.unwrap_or(own.ctc),
        };
        if let Some((key, problem)) = search.problems().into_iter().next() {
            return Err(Refusal::Bad(format!("`{key}` {problem}")));
        }
        if let Err(complaint) = hosted.saved.plan.check_search(&search) {
            return Err(Refusal::Bad(format!("`search.ctc` {}", complaint.message)));
        }
        for (key, asked, most) in [
            ("beam", self.beam, limits.beam.max(own.beam)),
            ("max_length", self.max_length, limits.max_length),
        ] {
            if asked.is_some_and(|asked| asked > most) {
                return Err(Refusal::Bad(format!("`{key}` must be at most {most} here")));
            }
        }
        Ok(search)
    }

    /// Refuses what the model has no use for.
    fn refuse(&self, hosted: &Hosted) -> Result<(), Refusal> {
        let (task, name) = (hosted.saved.task, hosted.name());
        if task == Task::BidirectionalLanguageModel {
            return Err(Refusal::Bad(format!("the model `{name}` neither writes nor fills gaps")));
        }
        let constrained = self.constraints.iter().any(|wanted| *wanted != Constraints::default());
        let of_sources = self.search.is_some_and(|wish| {
            wish.coverage.is_some() || wish.min_ratio.is_some() || wish.max_ratio.is_some()
        });
        let for_writers = [
            ("sample", self.sample.is_some()),
            ("max_length", self.max_length.is_some()),
            ("n_best", self.n_best.is_some()),
            ("beam", self.beam.is_some()),
            ("search", self.search.is_some()),
        ];
        let for_translators = [
            ("prefix`, `prefix_tokens`, `must`, `never` or `constraints", constrained),
            ("alternatives", self.alternatives.is_some()),
            ("search.coverage`, `min_ratio` or `max_ratio", of_sources),
        ];
        let given =
            |keys: &[(&'static str, bool)]| keys.iter().find(|(_, given)| *given).map(|(key, _)| *key);
        let mismatch = |key: &str, who: &str| {
            Err(Refusal::Bad(format!(
                "`{key}` is for models that {who}, and `{name}` is for `task = \"{task}\"`"
            )))
        };
        match (given(&for_writers), given(&for_translators)) {
            (Some(key), _) if !task.writes() => return mismatch(key, "write"),
            (_, Some(key)) if !task.writes_of_sources() => return mismatch(key, "write of a source"),
            _ => {}
        }
        let whole = [
            ("n_best", self.n_best.is_some()),
            ("sample", self.sample.is_some()),
            ("prefix`, `prefix_tokens`, `must`, `never` or `constraints", constrained),
            ("alternatives", self.alternatives.is_some()),
        ];
        if let Some(key) = given(&whole).filter(|_| task == Task::Transcribe) {
            return Err(Refusal::Bad(format!(
                "`{key}` is for texts and images, and a recording is heard in pieces"
            )));
        }
        if of_sources && (task == Task::Caption || task == Task::Transcribe) {
            return mismatch("search.coverage`, `min_ratio` or `max_ratio", "read texts");
        }
        let unheeded =
            self.constraints.iter().any(|wanted| !wanted.must.is_empty() || !wanted.never.is_empty());
        let searched = [
            ("beam", self.beam.is_some()),
            ("search", self.search.is_some()),
            ("must` or `never", unheeded),
            ("alternatives", self.alternatives.is_some()),
        ];
        match given(&searched).filter(|_| self.sample.is_some()) {
            Some(key) => Err(Refusal::Bad(format!(
                "`{key}` and `sample` do not go together: what is drawn is not searched for"
            ))),
            None => Ok(()),
        }
    }
}
