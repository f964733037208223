//! `[encoder.transformer]`, `[decoder.transformer]`, `[single.transformer]`.
//!
//! ```toml
//! [encoder.transformer]
//! width = 256
//! layers = 3
//! heads = 4
//! feed_forward = 1024
//! positions = "sinusoidal"  # sinusoidal learned index relative relative-clipped rotary none
//! norm = "post"             # post pre
//! ```

use super::check::{DEEPEST, WIDEST, rate, within};
use super::{Complaint, MOST_PARAMETERS};
use gatto_nn::Activation;
use gatto_nn::positions::{PositionKind, PositionSettings};
use gatto_nn::transformer::{NormOrder, StackSettings};
use serde::{Deserialize, Serialize};

/// The settings of layers of self-attention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TransformerConfig {
    /// Width of a layer and of a token's vector.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of heads; the width is divided among them.
    pub heads: usize,
    /// Width inside the feed-forward blocks; four times the layer's if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed_forward: Option<usize>,
    /// Between the two maps of a feed-forward block.
    pub activation: Activation,
    /// Where the norm of a sublayer stands.
    pub norm: NormOrder,
    /// How tokens know where they stand.
    pub positions: PositionKind,
    /// `learned`: the most tokens of a sequence, its end included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_positions: Option<usize>,
    /// `relative`: the number of buckets of distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<usize>,
    /// `relative`, `relative-clipped`: the distance beyond which all are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<usize>,
    /// Whether attention has queries, keys and values of its own. Without, scores are x_i · x_j, and
    /// there is one head.
    pub projections: bool,
    /// Dropout on what every sublayer adds.
    pub dropout: f64,
    /// Dropout on token vectors; as `dropout` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_dropout: Option<f64>,
    /// Dropout on attention weights.
    pub attention_dropout: f64,
    /// Dropout inside feed-forward blocks.
    pub activation_dropout: f64,
}

impl Default for TransformerConfig {
    fn default() -> Self {
        Self {
            width: 256,
            layers: 3,
            heads: 4,
            feed_forward: None,
            activation: Activation::Relu,
            norm: NormOrder::Post,
            positions: PositionKind::Sinusoidal,
            max_positions: None,
            buckets: None,
            reach: None,
            projections: true,
            dropout: 0.0,
            embedding_dropout: None,
            attention_dropout: 0.0,
            activation_dropout: 0.0,
        }
    }
}

const BUCKETS: usize = 32;
const BUCKETS_REACH: usize = 128;
const CLIPPED_REACH: usize = 16;
const POSITIONS: usize = 1024; // enough for source and target of what `train.max_length` lets in if not given
const MOST_POSITIONS: usize = 16_384;

/// What layers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// They see all of a source.
    Reading,
    /// They see what came before, and a source of this width if there is one.
    Writing(Option<usize>),
}

impl TransformerConfig {
    /// What to build.
    pub(crate) fn settings(&self, role: Role) -> StackSettings {
        let causal = role != Role::Reading;
        StackSettings {
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            inner: self.inner(),
            projected: self.projections,
            causal,
            source: match role {
                Role::Writing(states) => states,
                Role::Reading => None,
            },
            norm: self.norm,
            activation: self.activation,
            positions: PositionSettings {
                kind: self.positions,
                width: self.width,
                heads: self.heads,
                causal,
                most: self.most_positions().unwrap_or(0),
                buckets: self.buckets.unwrap_or(BUCKETS),
                reach: self.reach.unwrap_or(match self.positions {
                    PositionKind::RelativeClipped => CLIPPED_REACH,
                    _ => BUCKETS_REACH,
                }),
            },
            dropout: self.dropout,
            embedding_dropout: self.embedding_dropout.unwrap_or(self.dropout),
            attention_dropout: self.attention_dropout,
            activation_dropout: self.activation_dropout,
        }
    }

    fn inner(&self) -> usize {
        self.feed_forward.unwrap_or(4 * self.width)
    }

    /// The most tokens of a sequence, where positions have a limit.
    pub fn most_positions(&self) -> Option<usize> {
        (self.positions == PositionKind::Learned).then(|| self.max_positions.unwrap_or(POSITIONS))
    }

    /// Refuses what cannot be built at `at`.
    pub(super) fn check(&self, at: &str) -> Result<(), Complaint> {
        let key = |name: &str| format!("{at}.{name}");
        within(key("width"), self.width, WIDEST)?;
        within(key("layers"), self.layers, DEEPEST)?;
        within(key("heads"), self.heads, self.width)?;
        within(key("feed_forward"), self.inner(), 4 * WIDEST)?;
        for (name, value) in [
            ("dropout", self.dropout),
            ("embedding_dropout", self.embedding_dropout.unwrap_or(0.0)),
            ("attention_dropout", self.attention_dropout),
            ("activation_dropout", self.activation_dropout),
        ] {
            rate(key(name), value)?;
        }
        self.check_heads(at)?;
        self.check_positions(at)?;
        let [width, inner, layers] = [self.width, self.inner(), self.layers].map(|size| size as u64);
        let count = layers * width * (8 * width + 2 * inner); // with attention to a source
        if count > MOST_PARAMETERS {
            return Err(Complaint::new(
                key("width"),
                format!(
                    "makes layers of {count} parameters, and at most {MOST_PARAMETERS} can be built; write a \
                     smaller width, or fewer layers"
                ),
            ));
        }
        Ok(())
    }

    fn check_heads(&self, at: &str) -> Result<(), Complaint> {
        let Self { width, heads, .. } = *self;
        if !self.projections && heads != 1 {
            return Err(Complaint::new(
                format!("{at}.heads"),
                format!("is {heads}, but `projections = false` has one head; write `heads = 1`"),
            ));
        }
        if !width.is_multiple_of(heads) {
            let nearest = |up: bool| match up {
                true => width.next_multiple_of(heads),
                false => (width / heads * heads).max(heads),
            };
            return Err(Complaint::new(
                format!("{at}.width"),
                format!(
                    "is {width}, which {heads} heads cannot share evenly; write {} or {}, or another number of heads",
                    nearest(false),
                    nearest(true)
                ),
            ));
        }
        if self.positions == PositionKind::Rotary && !(width / heads).is_multiple_of(2) {
            return Err(Complaint::new(
                format!("{at}.positions"),
                format!(
                    "is \"rotary\", which turns pairs of features, but a head has {} of them; write a width \
                     that is a multiple of {}",
                    width / heads,
                    2 * heads
                ),
            ));
        }
        Ok(())
    }

    fn check_positions(&self, at: &str) -> Result<(), Complaint> {
        use PositionKind::{Learned, Relative, RelativeClipped};
        let belongs = |given: bool, to: &[PositionKind], name: &str, names: &str| match given
            && !to.contains(&self.positions)
        {
            true => Err(Complaint::new(
                format!("{at}.{name}"),
                format!("is for `positions = {names}`; remove it, or write that"),
            )),
            false => Ok(()),
        };
        belongs(self.max_positions.is_some(), &[Learned], "max_positions", "\"learned\"")?;
        belongs(self.buckets.is_some(), &[Relative], "buckets", "\"relative\"")?;
        let relative = "\"relative\"` or `\"relative-clipped\"";
        belongs(self.reach.is_some(), &[Relative, RelativeClipped], "reach", relative)?;
        if let Some(most) = self.max_positions {
            within(format!("{at}.max_positions"), most, MOST_POSITIONS)?;
        }
        if let Some(reach) = self.reach {
            within(format!("{at}.reach"), reach, MOST_POSITIONS)?;
        }
        let (buckets, reach) = (self.buckets.unwrap_or(BUCKETS), self.reach.unwrap_or(BUCKETS_REACH));
        if self.positions == Relative && (buckets < 4 || !buckets.is_multiple_of(2) || buckets > reach) {
            return Err(Complaint::new(
                format!("{at}.buckets"),
                format!("is {buckets}; write an even number from 4 to the reach of {reach}"),
            ));
        }
        Ok(())
    }
}
