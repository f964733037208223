//! `[attention]`: how the decoder looks back at the source.
//!
//! ```toml
//! [attention]
//! score = "additive"        # cosine additive location general dot scaled-dot
//! focus = "soft"            # soft hard local
//! query = "current"         # previous current
//! ```

use super::check::{WIDEST, within};
use super::{BridgeKind, Complaint, EncoderConfig, ModelConfig, SharingConfig};
use gatto_nn::attention::{
    Aligned, AttentionSettings, Choosing, FocusKind as Focus, ScoreKind, ScoreSizes, TrailSettings,
};
use serde::{Deserialize, Serialize};

/// The settings of an attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttentionConfig {
    /// How relevant a position is.
    pub score: ScoreKind,
    /// Which positions are looked at.
    pub focus: FocusKind,
    /// Which state of the decoder asks.
    pub query: QueryKind,
    /// What of a step's look enters the next one.
    pub feed: FeedKind,
    /// Whether the sum of earlier weights is known to the next look.
    pub coverage: bool,
    /// How the weights of the last look are known to the next one, if they are: through a convolution along the source
    /// (Chorowski et al., 2015).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convolution: Option<ConvolutionConfig>,
    /// Width inside the additive score and of a predicted position; the decoder's if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// `location`: the most tokens of a source, its end included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_positions: Option<usize>,
    /// `local`: how far from the aligned position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// `local`: where the window stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aligned: Option<AlignedKind>,
    /// `hard`: what the cost of a choice is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineKind>,
    /// `hard`: what a nat of entropy of the weights is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// `hard`: updates at the start that sum over all choices instead of drawing one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginal_steps: Option<u64>,
    /// Whether a learned share of what was seen is let through: β c with β = σ(w·s + b) of the state s that asked (Xu et
    /// al., 2015).
    pub gate: bool,
    /// Whether the token before enters the output too: tanh(W_c [c; s] + b_c + W_e E y + b_e) (Xu et al., 2015).
    pub deep_output: bool,
    /// `soft`: what Σ_i (1 − Σ_t α_ti)² costs, so that every position is looked at (Xu et al., 2015).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubly_stochastic: Option<f64>,
    /// `soft`: what a nat of entropy of the weights costs, so that a look is at one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concentration: Option<ConcentrationConfig>,
    /// `hard`: at prediction, draw positions from this seed; the most probable if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction_seed: Option<u64>,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self {
            score: ScoreKind::Additive,
            focus: FocusKind::Soft,
            query: QueryKind::Current,
            feed: FeedKind::Nothing,
            coverage: false,
            convolution: None,
            gate: false,
            deep_output: false,
            doubly_stochastic: None,
            concentration: None,
            width: None,
            max_positions: None,
            window: None,
            aligned: None,
            baseline: None,
            entropy: None,
            marginal_steps: None,
            prediction_seed: None,
        }
    }
}

/// `concentration = { price = 0.3, after = 5000 }`: the price of looking at several places at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConcentrationConfig {
    /// What a nat of entropy of the weights costs.
    pub price: f64,
    /// Updates before that, in which it costs nothing: where to look has to be found out before it can be settled.
    #[serde(default)]
    pub after: u64,
}

/// `convolution = { channels = 10, width = 31 }`: over the weights of the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConvolutionConfig {
    /// How many features a position gets.
    pub channels: usize,
    /// How many positions are seen, half of them before and half behind; an odd number.
    pub width: usize,
}

impl Default for ConvolutionConfig {
    fn default() -> Self {
        Self { channels: 10, width: 31 }
    }
}

/// Which positions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FocusKind {
    /// Every position, by its weight.
    Soft,
    /// One position, drawn while training (Xu et al., 2015).
    Hard,
    /// A window around an aligned position (Luong et al., 2015).
    Local,
}

/// Which state of the decoder asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueryKind {
    /// s_{t−1}; the context enters the cell (Bahdanau et al., 2015).
    Previous,
    /// s_t; the context meets the state before the output (Luong et al., 2015).
    Current,
}

/// What of a step's look enters the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeedKind {
    /// Each look is for its own step alone.
    Nothing,
    /// The attentional vector h̃, what the step made of its look (Luong et al., 2015).
    Attentional,
    /// The context c, what the step saw.
    Context,
    /// The end of the context, which tells where the step looked and not what it saw.
    Place,
}

/// Where a local window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlignedKind {
    /// At the target's own position, p = t: for targets that are as long as their sources.
    Monotone,
    /// Where the query says.
    Predicted,
    /// As far behind where it stood before as the query says: it never goes back.
    Advancing,
}

/// What the cost of a hard choice is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineKind {
    /// A mean of earlier costs.
    Average,
    /// What a linear map of the query foretells.
    Learned,
}

const WINDOW: usize = 3;
const POSITIONS: usize = 257; // what `train.max_length` lets in if not given, and the end
const MOST_POSITIONS: usize = 16_384;

impl AttentionConfig {
    /// What to build for a decoder of width `query` that looks at states of width `states`.
    pub(crate) fn settings(&self, query: usize, states: usize) -> AttentionSettings {
        let focus = match self.focus {
            FocusKind::Soft => Focus::Soft,
            FocusKind::Hard => Focus::Hard { baseline: self.baseline == Some(BaselineKind::Learned) },
            FocusKind::Local => Focus::Local {
                window: self.window.unwrap_or(WINDOW),
                aligned: match self.aligned {
                    Some(AlignedKind::Monotone) => Aligned::Monotone,
                    Some(AlignedKind::Advancing) => Aligned::Advancing,
                    _ => Aligned::Predicted,
                },
            },
        };
        let width = self.width.unwrap_or(query);
        let positions = self.most_positions().unwrap_or(0);
        let sizes = ScoreSizes { query, states, width, positions };
        let trail = self.convolution.map(|it| TrailSettings { channels: it.channels, width: it.width });
        AttentionSettings { score: self.score, focus, sizes, coverage: self.coverage, trail }
    }

    /// The most tokens of a source, where the score has a limit.
    pub fn most_positions(&self) -> Option<usize> {
        self.score.has_positions().then(|| self.max_positions.unwrap_or(POSITIONS))
    }

    /// How a hard focus chooses at prediction.
    pub(crate) fn at_prediction(&self) -> Choosing {
        self.prediction_seed.map_or(Choosing::MostProbable, Choosing::Drawn)
    }

    /// Whether what is looked at has an influence on later steps.
    pub fn is_carried(&self) -> bool {
        self.query == QueryKind::Previous
            || self.feed != FeedKind::Nothing
            || self.coverage
            || self.convolution.is_some()
            || self.focus == FocusKind::Local && self.aligned == Some(AlignedKind::Advancing)
    }

    /// Width that stands beside every input of the decoder's cell, if it looks at states of width `states` of which the
    /// last `places` tell where they stand.
    pub(crate) fn beside_input(&self, query: usize, states: usize, places: usize) -> usize {
        let context = if self.query == QueryKind::Previous { states } else { 0 };
        let made = if self.feed == FeedKind::Attentional { query } else { 0 };
        context + made + self.fed(states, places)
    }

    /// How many of a context's last values enter the next step.
    pub(crate) fn fed(&self, states: usize, places: usize) -> usize {
        match self.feed {
            FeedKind::Nothing | FeedKind::Attentional => 0,
            FeedKind::Context => states,
            FeedKind::Place => places,
        }
    }

    fn check(&self) -> Result<(), Complaint> {
        if let Some(width) = self.width {
            within("attention.width".into(), width, WIDEST)?;
        }
        if let Some(most) = self.max_positions {
            within("attention.max_positions".into(), most, MOST_POSITIONS)?;
        }
        if let Some(window) = self.window {
            within("attention.window".into(), window, MOST_POSITIONS)?;
        }
        if let Some(ConvolutionConfig { channels, width }) = self.convolution {
            within("attention.convolution.channels".into(), channels, WIDEST)?;
            within("attention.convolution.width".into(), width, MOST_POSITIONS)?;
            if width.is_multiple_of(2) {
                let message = format!("is {width}, which has no middle; write {}", width + 1);
                return Err(Complaint::new("attention.convolution.width", message));
            }
        }
        if let Some(entropy) = self.entropy.filter(|entropy| !(0.0..1.0).contains(entropy)) {
            let message = format!("is {entropy}; write a number from 0 to below 1, such as 0.01");
            return Err(Complaint::new("attention.entropy", message));
        }
        let prices = [
            ("doubly_stochastic", self.doubly_stochastic, 100.0, "1.0"),
            ("concentration.price", self.concentration.map(|concentration| concentration.price), 10.0, "0.3"),
        ];
        for (key, price, most, usual) in prices {
            if let Some(price) = price.filter(|price| !(0.0..=most).contains(price)) {
                let message = format!("is {price}; write a number from 0 to {most}, such as {usual}");
                return Err(Complaint::new(format!("attention.{key}"), message));
            }
        }
        let seen = match self.feed {
            FeedKind::Nothing | FeedKind::Attentional => None,
            FeedKind::Context => Some("context"),
            FeedKind::Place => Some("place"),
        };
        if let (Some(seen), QueryKind::Previous) = (seen, self.query) {
            let message = format!(
                "is \"{seen}\", which enters the cell already where the previous state asks; write `query = \
                 \"current\"`, or remove it"
            );
            return Err(Complaint::new("attention.feed", message));
        }
        if self.gate && self.marginal_steps.is_some() {
            let message = "sums over choices that `gate` has no share for; remove one of them";
            return Err(Complaint::new("attention.marginal_steps", message));
        }
        let additive = self.score.has_width()
            || self.focus == FocusKind::Local && self.aligned != Some(AlignedKind::Monotone);
        let belongs = |given: bool, fits: bool, key: &str, to: &str| match given && !fits {
            true => Err(Complaint::new(
                format!("attention.{key}"),
                format!("is for {to}; remove it, or write {to}"),
            )),
            false => Ok(()),
        };
        let hard = self.focus == FocusKind::Hard;
        let local = self.focus == FocusKind::Local;
        let location = self.score.has_positions();
        let score = self.score.has_width();
        belongs(self.convolution.is_some(), score, "convolution", "`score = \"additive\"`")?;
        belongs(self.width.is_some(), additive, "width", "`score = \"additive\"`")?;
        belongs(self.max_positions.is_some(), location, "max_positions", "`score = \"location\"`")?;
        let soft = self.focus == FocusKind::Soft;
        belongs(self.doubly_stochastic.is_some(), soft, "doubly_stochastic", "`focus = \"soft\"`")?;
        belongs(self.concentration.is_some(), soft, "concentration", "`focus = \"soft\"`")?;
        belongs(self.window.is_some(), local, "window", "`focus = \"local\"`")?;
        belongs(self.aligned.is_some(), local, "aligned", "`focus = \"local\"`")?;
        belongs(self.baseline.is_some(), hard, "baseline", "`focus = \"hard\"`")?;
        belongs(self.entropy.is_some(), hard, "entropy", "`focus = \"hard\"`")?;
        belongs(self.marginal_steps.is_some(), hard, "marginal_steps", "`focus = \"hard\"`")?;
        belongs(self.prediction_seed.is_some(), hard, "prediction_seed", "`focus = \"hard\"`")
    }
}

impl ModelConfig {
    /// Refuses an attention where nothing can be looked at, or nothing looks.
    pub(super) fn refuse_attention(&self, why: &str) -> Result<(), Complaint> {
        match self.attention {
            Some(_) => Err(Complaint::new("attention", why)),
            None => Ok(()),
        }
    }

    /// Looks at `[attention]` beside an encoder and the decoder at `at`.
    pub(super) fn check_attention(&self, at: &str, bridge: Option<BridgeKind>) -> Result<(), Complaint> {
        let Some(attention) = &self.attention else {
            return match bridge {
                Some(BridgeKind::AttentionOnly) => Err(Complaint::new(
                    format!("{at}.bridge"),
                    "is \"attention-only\", but there is no attention; add [attention], or write \
                     `bridge = \"first-state\"`",
                )),
                _ => Ok(()),
            };
        };
        attention.check()?;
        let places = self.encoder.as_ref().map_or(0, EncoderConfig::places);
        if attention.feed == FeedKind::Place && places == 0 {
            let message = "is \"place\", and no state of the source tells where it stands; write `positions = \
                           \"coordinates\"` in [encoder.cnn], or `feed = \"context\"`";
            return Err(Complaint::new("attention.feed", message));
        }
        let SharingConfig { encoder_decoder, .. } = self.sharing;
        let fed = attention.feed != FeedKind::Nothing;
        if encoder_decoder && (attention.query == QueryKind::Previous || fed) {
            let (key, remedy) = match fed {
                true => ("attention.feed", "write `feed = \"nothing\"`"),
                false => ("attention.query", "write `query = \"current\"`"),
            };
            return Err(Complaint::new(
                key,
                format!(
                    "widens the decoder's input, which then cannot be shared with the encoder; {remedy}, or \
                     `encoder_decoder = false`"
                ),
            ));
        }
        Ok(())
    }
}
