//! How relevant each position of the source is to a query: e_i = score(s, h_i).
//!
//! | name         | e_i                                             | from                          |
//! |--------------|-------------------------------------------------|-------------------------------|
//! | `cosine`     | g · cos(s, k_i), g = exp(γ) learned             | Graves et al. (2014)          |
//! | `additive`   | vᵀ tanh(W_q s + W_k h_i)                        | Bahdanau et al. (2015)        |
//! | `location`   | (W s)_i, whatever stands there                  | Luong et al. (2015)           |
//! | `general`    | sᵀ W h_i                                        | Luong et al. (2015)           |
//! | `dot`        | sᵀ k_i                                          | Luong et al. (2015)           |
//! | `scaled-dot` | sᵀ k_i / √n, n the width of s                   | Vaswani et al. (2017)         |
//!
//! k_i is h_i itself where it is as wide as the query, else W_k h_i. What depends on the source alone
//! (the keys) is computed once per sentence by [`Score::keys`]. All of a score is in this file: a new
//! one is a line in [`ScoreKind`] and in [`ScoreKind::ALL`], its parameters in [`Score::new`], its formula
//! in [`Score::relevance`]; and in `Score::kernel` how a kernel has it, if one does.
//!
//! Letters: `B` sentences, `T` queries, `S` positions, `Q` width of a query, `H` width of a state,
//! `A` width inside the additive score.

use super::products::{additive, batched};
use crate::flex::Values;
use crate::{Initial, Preparing, Ready, linear_map};
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use gatto_kernels::attention::Relevance;
use serde::{Deserialize, Serialize};

/// The list of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// The angle between query and key, with a learned sharpness.
    Cosine,
    /// A small network of its own.
    Additive,
    /// The query alone says where to look.
    Location,
    /// A bilinear form.
    General,
    /// The inner product.
    Dot,
    /// The inner product over the root of its length.
    ScaledDot,
}

impl ScoreKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Cosine, Self::Additive, Self::Location, Self::General, Self::Dot, Self::ScaledDot];

    /// Whether it has a width of its own.
    pub fn has_width(self) -> bool {
        self == Self::Additive
    }

    /// Whether it knows a certain number of positions and no more.
    pub fn has_positions(self) -> bool {
        self == Self::Location
    }
}

/// The sizes of a score.
#[derive(Clone, Copy, Debug)]
pub struct ScoreSizes {
    /// Q: width of a query.
    pub query: usize,
    /// H: width of a state of the source.
    pub states: usize,
    /// A: width inside the additive score.
    pub width: usize,
    /// The most positions of a source, for `location`.
    pub positions: usize,
}

/// A score with its parameters.
#[derive(Module, Debug)]
pub struct Score {
    /// `additive` W_q `[Q, A]`; `location` W `[Q, positions]`.
    query: Option<Param<Tensor<2>>>,
    /// What makes keys of states: `additive` `[H, A]`; `general` and, where sizes differ, the others `[H, Q]`.
    key: Option<Param<Tensor<2>>>,
    /// `additive` v `[A]`.
    vector: Option<Param<Tensor<1>>>,
    /// `cosine` γ `[1]`.
    sharpness: Option<Param<Tensor<1>>>,
    #[module(skip)]
    kind: ScoreKind,
    #[module(skip)]
    ready_query: Ready,
    #[module(skip)]
    ready_key: Ready,
    /// v and g as plain values, once weights are ready.
    #[module(skip)]
    ready_vector: Option<Values>,
    #[module(skip)]
    ready_sharpness: Option<f32>,
}

/// g of `cosine` starts at e²: at 1 no weight could be more than e² times another.
const FIRST_SHARPNESS: f32 = 2.0;
/// Keeps the angle of a zero vector defined.
const EPSILON: f64 = 1e-6;

impl Score {
    /// A score with first values from `initial`.
    pub fn new(kind: ScoreKind, sizes: ScoreSizes, initial: &mut Initial) -> Self {
        let ScoreSizes { query, states, width, positions } = sizes;
        let none = Self {
            query: None,
            key: None,
            vector: None,
            sharpness: None,
            kind,
            ready_query: Ready::default(),
            ready_key: Ready::default(),
            ready_vector: None,
            ready_sharpness: None,
        };
        let differ = query != states;
        match kind {
            ScoreKind::Additive => Self {
                query: Some(initial.glorot([query, width])),
                key: Some(initial.glorot([states, width])),
                vector: Some(initial.uniform([width], (6.0 / (width + 1) as f64).sqrt())),
                ..none
            },
            ScoreKind::Location => Self { query: Some(initial.glorot([query, positions])), ..none },
            ScoreKind::General => {
                // Less by √Q than Glorot's: a sum over Q products would start with weights on one position.
                let bound = (6.0 / ((states + query) * query) as f64).sqrt();
                Self { key: Some(initial.uniform([states, query], bound)), ..none }
            }
            ScoreKind::Dot | ScoreKind::ScaledDot => {
                Self { key: differ.then(|| initial.glorot([states, query])), ..none }
            }
            ScoreKind::Cosine => Self {
                key: differ.then(|| initial.glorot([states, query])),
                sharpness: Some(initial.constant([1], FIRST_SHARPNESS)),
                ..none
            },
        }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        let ready = |weight: &Option<Param<Tensor<2>>>| {
            weight.as_ref().map(|weight| Ready::new(weight, false, how)).unwrap_or_default()
        };
        (self.ready_query, self.ready_key) = (ready(&self.query), ready(&self.key));
        self.ready_vector = self.vector.as_ref().and_then(|vector| how.values(vector));
        let sharpness = self.sharpness.as_ref().and_then(|sharpness| how.values(sharpness));
        self.ready_sharpness =
            sharpness.and_then(|sharpness| sharpness.slice().first().map(|gamma| gamma.exp()));
    }

    /// How a kernel compares queries of this width with keys; none where it has no form of the score, or weights are not ready.
    fn kernel(&self, width: usize) -> Option<Relevance<'_>> {
        if self.query.is_some() && !self.ready_query.is_ready() {
            return None;
        }
        Some(match self.kind {
            ScoreKind::Additive => Relevance::Additive(self.ready_vector.as_ref()?.slice()),
            ScoreKind::Location => Relevance::Given,
            ScoreKind::Cosine => Relevance::Cosine(self.ready_sharpness?, EPSILON as f32),
            ScoreKind::ScaledDot => Relevance::Product((width as f32).sqrt().recip()),
            ScoreKind::General | ScoreKind::Dot => Relevance::Product(1.0),
        })
    }

    /// Whether [`Score::comparison`] gives something.
    pub(super) fn has_comparison(&self) -> bool {
        self.kernel(1).is_some()
    }

    /// [`Score::relevance`] of plain queries [R, Q], up to the comparison with keys: what is compared, and how. `mapped` is memory
    /// for it.
    pub(super) fn comparison<'a>(
        &'a self,
        query: &'a [f32],
        width: usize,
        mapped: &'a mut Vec<f32>,
    ) -> Option<(&'a [f32], Relevance<'a>)> {
        let relevance = self.kernel(width)?;
        Some(if self.ready_query.map(query, mapped) { (mapped, relevance) } else { (query, relevance) })
    }

    /// W_q and v of the additive score.
    pub fn additive(&self) -> Option<(Tensor<2>, Tensor<1>)> {
        let (query, vector) = self.query.as_ref().zip(self.vector.as_ref())?;
        (self.kind == ScoreKind::Additive).then(|| (query.val(), vector.val()))
    }

    /// Width of a key; where there are no keys, of a query.
    pub fn key_width(kind: ScoreKind, sizes: ScoreSizes) -> usize {
        if kind.has_width() { sizes.width } else { sizes.query }
    }

    /// The keys of `states` [B, S, H], as [B, S, A or Q]; none where the source does not matter.
    pub fn keys(&self, states: &Tensor<3>) -> Option<Tensor<3>> {
        let keys = match &self.key {
            Some(weight) => mapped(states.clone(), weight.val(), &self.ready_key),
            None => states.clone(),
        };
        (self.kind != ScoreKind::Location).then_some(keys)
    }

    /// e for every query [B, T, Q] and each of `positions`: [B, T, S].
    pub fn relevance(&self, query: Tensor<3>, keys: Option<&Tensor<3>>, positions: usize) -> Tensor<3> {
        let query = match &self.query {
            Some(weight) if self.kind == ScoreKind::Additive => {
                mapped(query, weight.val(), &self.ready_query) // [B, T, A]
            }
            _ => query,
        };
        match (self.kind, keys) {
            (ScoreKind::Location, keys) => {
                let [batch, time, _] = query.dims();
                let everywhere = match &self.query {
                    Some(weight) => {
                        mapped(query.clone(), weight.val(), &self.ready_query).narrow(2, 0, positions)
                    }
                    None => Tensor::zeros([batch, time, positions], &query.device()),
                };
                match keys {
                    Some(keys) => everywhere + inner(query, keys), // keys made of coverage alone
                    None => everywhere,
                }
            }
            (ScoreKind::Additive, Some(keys)) => match &self.vector {
                Some(vector) => additive(query, keys.clone(), vector.val()),
                None => inner(query, keys),
            },
            (ScoreKind::Cosine, Some(keys)) => {
                let angle = inner(unit(query), &unit(keys.clone()));
                match &self.sharpness {
                    Some(sharpness) => angle * sharpness.val().exp().reshape([1, 1, 1]),
                    None => angle,
                }
            }
            (ScoreKind::ScaledDot, Some(keys)) => {
                let width = query.dims()[2] as f64;
                inner(query, keys) / width.sqrt()
            }
            (ScoreKind::General | ScoreKind::Dot, Some(keys)) => inner(query, keys),
            (_, None) => unreachable!("every score but `location` has keys"),
        }
    }
}

/// x W for every position: [B, N, I] → [B, N, O].
fn mapped(x: Tensor<3>, weight: Tensor<2>, ready: &Ready) -> Tensor<3> {
    let ([batch, count, input], [_, output]) = (x.dims(), weight.dims());
    let x = x.reshape([batch * count, input]);
    ready.forward(&x, None).unwrap_or_else(|| linear_map(x, weight)).reshape([batch, count, output])
}

/// Inner products of queries [B, T, Q] and keys [B, S, Q]: [B, T, S].
fn inner(query: Tensor<3>, keys: &Tensor<3>) -> Tensor<3> {
    batched(query, keys.clone(), true)
}

/// Vectors of length 1.
fn unit(x: Tensor<3>) -> Tensor<3> {
    let length = (x.clone().powf_scalar(2.0).sum_dim(2) + EPSILON).sqrt(); // [B, N, 1]
    x / length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_scores_is_whole() {
        let unknown =
            ScoreKind::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new("?"));
        let message = unknown.unwrap_err().to_string(); // unknown variant `?`, expected one of `cosine`, …
        assert_eq!(message.matches('`').count() / 2 - 1, ScoreKind::ALL.len(), "{message}");
    }
}
