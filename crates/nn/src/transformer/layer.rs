//! One layer.

use super::StackSettings;
use super::columns::Columns;
use super::step::{LayerStep, ReadyStep};
use crate::attention::{KeysValues, MultiHead, MultiHeadSettings, Sight};
use crate::positions::Positions;
use crate::sharing::Fan;
use crate::{Activation, Initial, LayerNorm, Linear, Noise, Preparing, activate_dropped, add_dropped};
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the norm of a sublayer stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormOrder {
    /// Behind it: norm(x + f(x)) (Vaswani et al., 2017).
    #[default]
    Post,
    /// Before it: x + f(norm(x)) (Xiong et al., 2020).
    Pre,
}

/// The parameters of a layer.
#[derive(Module, Debug)]
pub(super) struct Layer {
    pub(super) attention: MultiHead,
    pub(super) attention_norm: LayerNorm,
    /// How it looks at a source.
    pub(super) cross: Option<MultiHead>,
    pub(super) cross_norm: Option<LayerNorm>,
    pub(super) feed_forward: FeedForward,
    pub(super) feed_forward_norm: LayerNorm,
    #[module(skip)]
    order: NormOrder,
    #[module(skip)]
    dropout: f64,
    /// The same laid ready for one column after the other.
    #[module(skip)]
    pub(super) step: ReadyStep,
}

/// F: y = act(x W₁ + b₁) W₂ + b₂.
#[derive(Module, Debug)]
pub(super) struct FeedForward {
    pub(super) inner: Linear,
    pub(super) outer: Linear,
    #[module(skip)]
    activation: Activation,
    #[module(skip)]
    dropout: f64,
}

/// What a layer knows besides its input.
pub(super) struct Surroundings<'a> {
    /// Columns before the first of the input.
    pub(super) first: usize,
    pub(super) positions: &'a Positions,
    /// The columns before, and which layer this is.
    pub(super) before: (&'a Columns, usize),
    /// What its own columns may see.
    pub(super) sight: Sight,
    /// The source as this layer sees it, and how rows belong to its sentences.
    pub(super) source: Option<(&'a KeysValues, Sight, &'a Fan)>,
}

/// What a layer leaves.
pub(super) struct LayerOutput {
    /// [B, T, C].
    pub(super) x: Tensor<3>,
    /// Its own keys and values so far.
    pub(super) own: KeysValues,
    /// Where its columns looked among themselves: [B, H, T, S].
    pub(super) weights: Tensor<4>,
    /// Where they looked at the source.
    pub(super) cross_weights: Option<Tensor<4>>,
}

impl Layer {
    pub(super) fn new(settings: &StackSettings, initial: &mut Initial) -> Self {
        let StackSettings { width, heads, projected, attention_dropout, .. } = *settings;
        let multi_head =
            |states| MultiHeadSettings { width, states, heads, projected, dropout: attention_dropout };
        Self {
            attention: MultiHead::new(multi_head(width), initial),
            attention_norm: LayerNorm::new(width, initial),
            cross: settings.source.map(|states| MultiHead::new(multi_head(states), initial)),
            cross_norm: settings.source.map(|_| LayerNorm::new(width, initial)),
            feed_forward: FeedForward {
                inner: Linear::new(width, settings.inner, initial),
                outer: Linear::new(settings.inner, width, initial),
                activation: settings.activation,
                dropout: settings.activation_dropout,
            },
            feed_forward_norm: LayerNorm::new(width, initial),
            order: settings.norm,
            dropout: settings.dropout,
            step: ReadyStep::default(),
        }
    }

    /// Makes the weights ready for prediction.
    pub(super) fn prepare(&mut self, how: Preparing<'_>) {
        self.attention.prepare(how);
        self.cross.iter_mut().for_each(|cross| cross.prepare(how));
        self.feed_forward.inner.prepare(how);
        self.feed_forward.outer.prepare(how);
        self.step = ReadyStep(LayerStep::new(self, how).map(Arc::new));
    }

    /// A source [B, S, …] as this layer sees it.
    pub(super) fn source(&self, states: &Tensor<3>) -> Option<KeysValues> {
        self.cross.as_ref().map(|cross| cross.keys_values(states.clone()))
    }

    pub(super) fn forward(&self, x: Tensor<3>, around: Surroundings<'_>, noise: &mut Noise) -> LayerOutput {
        let Surroundings { first, positions, before, mut sight, source } = around;
        let asking = self.before(&self.attention_norm, &x);
        let query = positions.turn(self.attention.queries(asking.clone()), first); // [B, T, C]
        let new = self.attention.keys_values(asking);
        let new = KeysValues { keys: positions.turn(new.keys, first), ..new };
        let (before, depth) = before;
        let own = before.followed_by(depth, new);
        let keys = own.keys.dims()[1];
        let scale = self.attention.scale(query.dims()[2]);
        sight.bias = sight.bias.or_else(|| positions.bias_of(&query, first, keys, scale));
        let seen = self.attention.look(query, &own, &sight, noise);
        let mut x = self.behind(&self.attention_norm, x, seen.output, noise);
        let mut cross_weights = None;
        if let (Some(cross), Some(norm), Some((at, sight, fan))) = (&self.cross, &self.cross_norm, source) {
            let queries = fan.gather(cross.queries(self.before(norm, &x)));
            let seen = cross.look(queries, at, &sight, noise);
            x = self.behind(norm, x, fan.scatter(seen.output), noise);
            cross_weights = Some(fan.scatter_heads(seen.weights));
        }
        let fed = self.feed_forward.forward(self.before(&self.feed_forward_norm, &x), noise);
        let x = self.behind(&self.feed_forward_norm, x, fed, noise);
        LayerOutput { x, own, weights: seen.weights, cross_weights }
    }

    /// What a sublayer reads.
    fn before(&self, norm: &LayerNorm, x: &Tensor<3>) -> Tensor<3> {
        match self.order {
            NormOrder::Pre => norm.forward(x.clone()),
            NormOrder::Post => x.clone(),
        }
    }

    /// What is behind a sublayer that made `f` of `x`.
    fn behind(&self, norm: &LayerNorm, x: Tensor<3>, f: Tensor<3>, noise: &mut Noise) -> Tensor<3> {
        match self.order {
            NormOrder::Pre => add_dropped(x, f, self.dropout, noise),
            NormOrder::Post => norm.of_sum(x, f, self.dropout, noise),
        }
    }
}

impl FeedForward {
    fn forward(&self, x: Tensor<3>, noise: &mut Noise) -> Tensor<3> {
        let inner = self.inner.forward(x); // [B, T, F]
        self.outer.forward(activate_dropped(inner, self.activation, self.dropout, noise))
    }
}
