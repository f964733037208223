//! The `[train]` and `[[init]]` tables.

use super::MaskingConfig;
use gatto_data::{DataConfig, DataError, Limits, StreamSettings, Thinning};
use gatto_model::config::Complaint;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How the parameters are fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainConfig {
    /// Number of updates.
    pub steps: u64,
    /// The most tokens of a batch, padding included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_tokens: Option<usize>,
    /// The most examples of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_examples: Option<usize>,
    /// The most frames of a batch of sounds, those behind shorter ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_frames: Option<usize>,
    /// The longest recording, in seconds; a longer one is an error, or is left out and counted with `data.skip_bad`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// Captions of an image that are learnt from together: reading it once serves all of them.
    pub captions: usize,
    /// Batches whose gradients are summed for one update.
    pub accumulate: usize,
    /// Examples with more tokens on a side are left out.
    pub max_length: usize,
    /// How short examples are thinned out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinning: Option<Thinning>,
    /// Examples that are shuffled together.
    pub pool: usize,

    /// What makes an update of a gradient.
    pub optimiser: OptimiserKind,
    /// The (highest) learning rate.
    pub learning_rate: f64,
    /// Decay of Adam's mean of gradients.
    pub beta1: f64,
    /// Decay of Adam's mean of squared gradients.
    pub beta2: f64,
    /// What Adam adds to the root.
    pub epsilon: f64,
    /// Momentum of SGD and Muon.
    pub momentum: f64,
    /// Decay of the weights: inside the gradient for `adam` and `sgd`, beside it for `adamw` and `muon`.
    pub weight_decay: f64,
    /// The largest norm of all gradients together; 0 for no clipping.
    pub clip: f64,

    /// How the learning rate changes.
    pub schedule: ScheduleKind,
    /// Updates over which the learning rate rises from 0.
    pub warmup: u64,
    /// Updates at the end over which the learning rate falls towards 0, whatever the schedule.
    pub cooldown: u64,
    /// What `plateau` multiplies the learning rate by.
    pub plateau_factor: f64,
    /// Validations without a better figure before `plateau` acts.
    pub plateau_patience: u64,

    /// Share of the target's probability given to all tokens, or labels, alike.
    pub label_smoothing: f64,
    /// How often the decoder reads its own output in place of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingConfig>,
    /// Learning only from those examples of a batch that the model knows least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardest: Option<HardestConfig>,
    /// What a masked language model has to find again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masking: Option<MaskingConfig>,
    /// Parts that do not change, such as `encoder`.
    pub freeze: Vec<String>,
    /// What the learning rate of a part is multiplied by; the longest name that fits counts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rates: BTreeMap<String, f64>,

    /// Updates between two lines of figures.
    pub log_every: u64,
    /// Updates between two validations.
    pub validate_every: u64,
    /// Validation examples that are looked at.
    pub valid_examples: usize,
    /// The validation figure that counts.
    pub best_by: Figure,
    /// Validations without a better figure before training stops; 0 for never.
    pub patience: u64,
    /// Updates between two checkpoints.
    pub checkpoint_every: u64,
    /// Checkpoints that are kept.
    pub keep: usize,
    /// Last checkpoints whose weights are averaged at the end; 0 for the best weights instead.
    pub average: usize,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            steps: 10_000,
            batch_tokens: None,
            batch_examples: None,
            batch_frames: None,
            max_seconds: None,
            captions: 1,
            accumulate: 1,
            max_length: 256,
            thinning: None,
            pool: 65_536,
            optimiser: OptimiserKind::Adam,
            learning_rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            momentum: 0.9,
            weight_decay: 0.0,
            clip: 1.0,
            schedule: ScheduleKind::Constant,
            warmup: 0,
            cooldown: 0,
            plateau_factor: 0.5,
            plateau_patience: 2,
            label_smoothing: 0.0,
            sampling: None,
            hardest: None,
            masking: None,
            freeze: Vec::new(),
            rates: BTreeMap::new(),
            log_every: 50,
            validate_every: 500,
            valid_examples: 1000,
            best_by: Figure::Loss,
            patience: 0,
            checkpoint_every: 500,
            keep: 3,
            average: 0,
        }
    }
}

/// What makes an update of a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserKind {
    /// Adam (Kingma & Ba, 2015).
    Adam,
    /// Adam with decoupled weight decay (Loshchilov & Hutter, 2019).
    Adamw,
    /// Muon (Jordan et al., 2024) for matrices, Adam with decoupled weight decay for token vectors and all else.
    Muon,
    /// Stochastic gradient descent with momentum.
    Sgd,
}

pub use gatto_kernels::optimise::Decay;

/// How the learning rate changes, after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleKind {
    /// Not at all.
    Constant,
    /// With the inverse square root of the step.
    InverseSquareRoot,
    /// Along half a cosine, to 0 at the last step.
    Cosine,
    /// Down by a factor whenever the validation figure stops getting better.
    Plateau,
}

/// A figure of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Mean −log p of an answer: a target token, a label or a hidden token.
    Loss,
    /// exp of the loss.
    Perplexity,
    /// Share of answers that are the most probable, under teacher forcing.
    Accuracy,
    /// Share of examples whose whole output is right.
    ExactMatch,
}

impl Figure {
    /// Whether less is better.
    pub fn falls(self) -> bool {
        matches!(self, Self::Loss | Self::Perplexity)
    }
}

/// Scheduled sampling (Bengio et al., 2015): with probability ε the decoder reads the target's
/// token, else its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingConfig {
    /// How ε falls with the step i.
    pub decay: SamplingDecay,
    /// `constant`: ε itself. `exponential`: k of ε = kⁱ. `inverse-sigmoid`: k of ε = k / (k + exp(i / k)).
    /// `linear`: steps over which ε falls from 1 to 0.
    pub k: f64,
    /// The smallest ε.
    #[serde(default)]
    pub minimum: f64,
}

/// How the share of the target's own tokens falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SamplingDecay {
    /// Not at all.
    Constant,
    /// On a line.
    Linear,
    /// By a factor per step.
    Exponential,
    /// Slowly, quickly, slowly.
    InverseSigmoid,
}

/// Of each batch only some examples are learnt from: those with the largest loss
/// (Shrivastava et al., 2016; Kawaguchi & Lu, 2020).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardestConfig {
    /// The share of examples that are learnt from; one at least.
    pub share: f64,
    /// How many updates come first that learn from all.
    #[serde(default)]
    pub after: u64,
}

/// A part of this model that starts from a part of a saved one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitConfig {
    /// The run directory of the saved model.
    pub from: PathBuf,
    /// The part of the saved model, such as `decoder` or `decoder.embedding`; all of it if not given.
    #[serde(default)]
    pub part: String,
    /// The part of this model; the same name if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}

/// Frames of a batch of sounds unless told otherwise: 200 seconds, at a hundred a second.
const BATCH_FRAMES: usize = 20_000;

impl TrainConfig {
    /// How large a batch may be.
    pub fn limits(&self) -> Limits {
        match (self.batch_tokens, self.batch_examples) {
            (None, None) => Limits::tokens(4096),
            (batch_tokens, batch_examples) => Limits { batch_tokens, batch_examples },
        }
    }

    /// Images of a batch.
    pub fn batch_images(&self) -> usize {
        self.batch_examples.unwrap_or(64)
    }

    /// How large a batch of sounds may be; its `batch_tokens` are frames.
    pub fn sound_limits(&self) -> Limits {
        match (self.batch_frames, self.batch_examples) {
            (None, None) => Limits { batch_tokens: Some(BATCH_FRAMES), batch_examples: Some(64) },
            (batch_tokens, batch_examples) => Limits { batch_tokens, batch_examples },
        }
    }

    /// The longest recording, in seconds.
    pub fn most_seconds(&self) -> f64 {
        self.max_seconds.unwrap_or(60.0)
    }

    /// How batches are made.
    pub fn stream(&self, seed: u64) -> StreamSettings {
        let Self { pool, max_length, thinning, .. } = *self;
        StreamSettings { seed, pool, limits: self.limits(), max_length, thinning }
    }

    /// How tokens are hidden.
    pub fn masking(&self) -> MaskingConfig {
        self.masking.unwrap_or_default()
    }

    /// Where the weights' decay enters.
    pub fn decay(&self) -> Decay {
        match (self.weight_decay, self.optimiser) {
            (0.0, _) => Decay::None,
            (decay, OptimiserKind::Adamw | OptimiserKind::Muon) => Decay::Decoupled(decay),
            (decay, _) => Decay::L2(decay),
        }
    }

    /// Refuses values that make no sense.
    pub(crate) fn check(&self, data: &DataConfig) -> Result<(), Complaint> {
        let at_least_one = [
            ("steps", self.steps),
            ("accumulate", self.accumulate as u64),
            ("captions", self.captions as u64),
            ("log_every", self.log_every),
            ("validate_every", self.validate_every),
            ("valid_examples", self.valid_examples as u64),
            ("checkpoint_every", self.checkpoint_every),
            ("keep", self.keep as u64),
        ];
        for (key, value) in at_least_one {
            if value == 0 {
                return Err(Complaint::new(format!("train.{key}"), "is 0; write 1 or more"));
            }
        }
        if self.accumulate > 65_536 {
            let message = format!("is {}; write a number from 1 to 65536", self.accumulate);
            return Err(Complaint::new("train.accumulate", message));
        }
        let ranges = [
            ("learning_rate", self.learning_rate, f64::MIN_POSITIVE, 1e3),
            ("beta1", self.beta1, 0.0, 0.999_999),
            ("beta2", self.beta2, 0.0, 0.999_999_9),
            ("epsilon", self.epsilon, f64::MIN_POSITIVE, 1.0),
            ("momentum", self.momentum, 0.0, 0.999_999),
            ("weight_decay", self.weight_decay, 0.0, 10.0),
            ("clip", self.clip, 0.0, 1e9),
            ("label_smoothing", self.label_smoothing, 0.0, 0.99),
            ("plateau_factor", self.plateau_factor, 1e-3, 0.999),
        ];
        for (key, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let message = format!("is {value}; write a number from {least:e} to {most}");
                return Err(Complaint::new(format!("train.{key}"), message));
            }
        }
        if let Some((part, rate)) = self.rates.iter().find(|(_, rate)| !(0.0..=1e3).contains(*rate)) {
            let message = format!("is {rate} for `{part}`; write a factor from 0 to 1000, such as 0.1");
            return Err(Complaint::new("train.rates", message));
        }
        if self.batch_frames == Some(0) {
            return Err(Complaint::new("train.batch_frames", "is 0; write 20000, for instance"));
        }
        if let Some(seconds) = self.max_seconds.filter(|seconds| !(0.1..=600.0).contains(seconds)) {
            let message = format!("is {seconds}; write a number of seconds from 0.1 to 600");
            return Err(Complaint::new("train.max_seconds", message));
        }
        if let Some(HardestConfig { share, .. }) = self.hardest
            && !(share > 0.0 && share <= 1.0)
        {
            let message = format!("is {share}; write a number above 0 and up to 1, such as 0.25");
            return Err(Complaint::new("train.hardest.share", message));
        }
        self.check_sampling()?;
        self.masking().check()?;
        let has_valid = data.builtin.is_some() || data.valid.is_some();
        if !has_valid && (self.patience > 0 || self.schedule == ScheduleKind::Plateau) {
            let key = if self.patience > 0 { "train.patience" } else { "train.schedule" };
            return Err(Complaint::new(key, "needs validation figures; write `valid` under [data]"));
        }
        if self.average > self.keep {
            let message = format!(
                "is {}, but only {} checkpoints are kept; write `keep = {}`",
                self.average, self.keep, self.average
            );
            return Err(Complaint::new("train.average", message));
        }
        self.stream(0).validate().map_err(|error| match error {
            DataError::Config { key, problem } => Complaint::new(format!("train.{key}"), problem),
            other => Complaint::new("train", other.to_string()),
        })
    }

    fn check_sampling(&self) -> Result<(), Complaint> {
        let Some(sampling) = &self.sampling else { return Ok(()) };
        let wrong = |key: &str, message: &str| Err(Complaint::new(format!("train.sampling.{key}"), message));
        if !(0.0..=1.0).contains(&sampling.minimum) {
            return wrong("minimum", "is a share; write a number from 0 to 1");
        }
        match sampling.decay {
            SamplingDecay::Constant if !(0.0..=1.0).contains(&sampling.k) => {
                wrong("k", "is the share of target tokens read; write a number from 0 to 1")
            }
            SamplingDecay::Exponential if !(0.0..1.0).contains(&sampling.k) => {
                wrong("k", "is a factor per step; write a number below 1, such as 0.999")
            }
            SamplingDecay::Linear | SamplingDecay::InverseSigmoid
                if sampling.k.is_nan() || sampling.k < 1.0 =>
            {
                wrong("k", "is a number of steps; write 1 or more")
            }
            _ => Ok(()),
        }
    }
}
