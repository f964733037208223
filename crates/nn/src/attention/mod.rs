//! Attention: at every step the decoder's state s asks all encoder states h_i.
//!
//! Relevance e_i = score(s, h_i), weights α = softmax(e) over the positions that exist, context
//! c = Σ α_i h_i. Two choices are free of each other: the [`score`], and the [`focus`], which says on
//! which positions the weights may lie. With coverage, what was looked at before enters the keys,
//! k_i + (Σ_{t′<t} α_{t′i}) · w, so that a position can be avoided, or returned to (Tu et al., 2016); with a [`trail`], the
//! weights of the last look enter them through a convolution.
//!
//! Letters as in [`score`]: `B` sentences, `T` queries, `S` positions, `Q` and `H` widths of queries
//! and states.

pub mod focus;
mod multi_head;
mod products;
mod scaled;
pub mod score;
mod step;
pub mod trail;

pub use focus::{Aligned, Choice, Choosing, Focus, FocusKind};
pub use multi_head::{KeysValues, MultiHead, MultiHeadSettings, Seen};
pub use products::{additive, additive_plain, batched, batched_plain};
pub use scaled::{Comparison, Sight, attend, attend_plain};
pub use score::{Score, ScoreKind, ScoreSizes};
pub use step::LookRoom;
pub use trail::{Trail, TrailSettings};

use crate::recurrent::LayerLook;
use crate::sharing::{Fan, row_ids};
use crate::{Initial, Preparing};
use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use focus::Weighed;
use step::PlainSource;

/// The choices that make an attention.
#[derive(Clone, Copy, Debug)]
pub struct AttentionSettings {
    /// How relevant a position is.
    pub score: ScoreKind,
    /// Which positions are looked at.
    pub focus: FocusKind,
    /// Widths.
    pub sizes: ScoreSizes,
    /// Whether what was looked at before is known.
    pub coverage: bool,
    /// How the weights of the last look enter the keys, if they do.
    pub trail: Option<TrailSettings>,
}

/// An attention with its parameters.
#[derive(Module, Debug)]
pub struct Attention {
    score: Score,
    focus: Focus,
    /// w of coverage, as wide as a key.
    coverage: Option<Param<Tensor<1>>>,
    trail: Option<Trail>,
}

/// What the next look has to know of those before it; nothing where it does not matter.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// The sum of all weights so far: [B, S].
    pub covered: Option<Tensor<2>>,
    /// The weights of the last look: [B, S].
    pub last: Option<Tensor<2>>,
    /// Where a window that only advances stands: [B, 1].
    pub aligned: Option<Tensor<2>>,
}

impl Remembered {
    /// The same for only these rows, in this order.
    pub fn select(&self, ids: &Tensor<1, Int>) -> Self {
        let select = |part: &Option<Tensor<2>>| part.clone().map(|part| part.select(0, ids.clone()));
        Self { covered: select(&self.covered), last: select(&self.last), aligned: select(&self.aligned) }
    }

    /// What is remembered behind one more look.
    pub fn behind(self, looked: &Looked) -> Self {
        let weights = || looked.weights.clone().squeeze_dim::<2>(1); // [B, S]
        Self {
            covered: self.covered.map(|covered| covered + weights()),
            last: self.last.map(|_| weights()),
            aligned: self.aligned.and(looked.aligned.clone()),
        }
    }
}

/// A source as attention sees it: made once per sentence, and passed.
#[derive(Clone, Debug)]
pub struct Source {
    /// h: [B, S, H].
    pub states: Tensor<3>,
    /// What scores compare a query with: [B, S, A or Q].
    keys: Option<Tensor<3>>,
    /// 1 where a position exists: [B, S].
    pub mask: Tensor<2>,
    /// A number for each sentence that depends on its tokens alone, for choices that are drawn.
    identities: Vec<u64>,
    /// Whether several rows may look at one sentence.
    shareable: bool,
    fan: Fan,
    plain: Option<PlainSource>,
}

impl Source {
    /// The source for only these rows, in this order. `of` is how many there were, if that is known: then nothing is touched where
    /// rows go on belonging to their sentences as before.
    pub fn select(self, rows: &[usize], of: Option<usize>) -> Self {
        if self.shareable && of == Some(rows.len()) && self.fan.stays(rows) {
            return self;
        }
        let (sentences, fan) = match self.shareable {
            true => self.fan.select(rows),
            false => (rows.to_vec(), Fan::ONE),
        };
        let Some(ids) = row_ids(&sentences, self.mask.dims()[0], &self.mask.device()) else {
            return Self { fan, ..self };
        };
        let identity = |&row: &usize| self.identities.get(row).copied().unwrap_or_default();
        let keys = self.keys.map(|keys| keys.select(0, ids.clone()));
        let (states, mask) = (self.states.select(0, ids.clone()), self.mask.select(0, ids));
        let plain = PlainSource::new(&states, keys.as_ref(), &mask);
        let identities = sentences.iter().map(identity).collect();
        Self { states, keys, mask, identities, shareable: self.shareable, fan, plain }
    }
}

/// What a look at the source gave.
#[derive(Clone, Debug)]
pub struct Looked {
    /// c: [B, T, H].
    pub context: Tensor<3>,
    /// α: [B, T, S].
    pub weights: Tensor<3>,
    /// Of a focus that chooses one position.
    pub choice: Option<Choice>,
    /// Where a window that only advances stands behind the last query: [B, 1].
    pub aligned: Option<Tensor<2>>,
}

impl Attention {
    /// An attention with first values from `initial`.
    pub fn new(settings: &AttentionSettings, initial: &mut Initial) -> Self {
        let AttentionSettings { score, focus, sizes, coverage, trail } = *settings;
        let width = Score::key_width(score, sizes);
        Self {
            score: Score::new(score, sizes, initial),
            focus: Focus::new(focus, sizes.query, sizes.width, initial),
            coverage: coverage.then(|| initial.uniform([width], (3.0 / width as f64).sqrt())),
            trail: trail.map(|settings| Trail::new(settings, width, initial)),
        }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.score.prepare(how);
    }

    /// Prepares a source: `states` [B, S, H], `mask` [B, S], and an identity for each sentence.
    pub fn source(&self, states: Tensor<3>, mask: Tensor<2>, identities: Vec<u64>) -> Source {
        // A query that knows its step, or what was looked at before it, cannot stand beside those of other rows.
        let shareable = self.coverage.is_none() && self.trail.is_none() && self.focus.is_timeless();
        let keys = self.score.keys(&states);
        let plain = PlainSource::new(&states, keys.as_ref(), &mask);
        Source { keys, states, mask, identities, shareable, fan: Fan::ONE, plain }
    }

    /// What a recurrent layer needs to look by itself at every step (`after` it, or before), of whose context the last
    /// `fed` values are fed: that of a soft focus with an additive score, and nothing remembered of earlier looks.
    pub fn of_layer(&self, source: &Source, after: bool, fed: usize) -> Option<LayerLook> {
        let forgetful = self.coverage.is_none() && self.trail.is_none();
        let plain = forgetful && self.focus.is_soft() && source.fan == Fan::ONE;
        let (query, vector) = self.score.additive().filter(|_| plain)?;
        let (keys, states, mask) = (source.keys.clone()?, source.states.clone(), source.mask.clone());
        Some(LayerLook { keys, states, mask, query, vector, after, fed })
    }

    /// What is known before the first look of `batch` rows at so many positions.
    pub fn nothing_yet(&self, batch: usize, positions: usize, device: &Device) -> Remembered {
        let zeros = |width| Tensor::zeros([batch, width], device);
        Remembered {
            covered: self.coverage.as_ref().map(|_| zeros(positions)),
            last: self.trail.as_ref().map(|_| zeros(positions)),
            aligned: self.focus.advances().then(|| zeros(1)),
        }
    }

    /// Looks at the source for every query [B, T, Q], the first of them at step `first`. Where earlier looks matter,
    /// there is one query at a time.
    pub fn look(
        &self,
        query: Tensor<3>,
        source: &Source,
        before: &Remembered,
        first: usize,
        choosing: Choosing,
    ) -> Looked {
        let (positions, query) = (source.mask.dims()[1], source.fan.gather(query));
        let trail = self.trail.as_ref().zip(before.last.as_ref());
        let trail = trail.map(|(trail, last)| trail.forward(last)); // [B, S, A]
        let covering = self.coverage.as_ref().zip(before.covered.as_ref()).map(|(weight, covered)| {
            let width = weight.dims()[0];
            covered.clone().unsqueeze_dim::<3>(2) * weight.val().reshape([1, 1, width]) // [B, S, A or Q]
        });
        let parts = [source.keys.clone(), covering, trail];
        let keys = parts.into_iter().flatten().reduce(|keys, more| keys + more);
        let scores = self.score.relevance(query.clone(), keys.as_ref(), positions); // [B, T, S]
        let aligned = before.aligned.as_ref();
        let Weighed { weights, choice, aligned } =
            self.focus.weigh(scores, &query, source, (first, aligned), choosing);
        let context = batched(weights.clone(), source.states.clone(), false); // [B, T, H]
        Looked { context: source.fan.scatter(context), weights: source.fan.scatter(weights), choice, aligned }
    }
}
