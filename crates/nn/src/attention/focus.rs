//! Which positions a query looks at, given how relevant each is.
//!
//! - `soft`: all of them, α = softmax(e).
//! - `hard`: one of them, drawn from softmax(e) or the most probable (Xu et al., 2015). The choice
//!   has no gradient; [`Choice`] is what the score-function estimator needs instead.
//! - `local`: those within D of an aligned position p (Luong et al., 2015). Monotone: p = t. Predicted:
//!   p = S · σ(v_pᵀ tanh(W_p s)). Advancing: p_t = p_{t−1} + log(1 + exp(v_pᵀ tanh(W_p s))) from p_0 = 0, so that it never
//!   goes back (as the window of Graves, 2013). In these two, α ∝ exp(e_i) · exp(−(i − p)² / 2σ²) with σ = D / 2, so that
//!   gradients reach p. Weights are made to sum to one behind the Gaussian, where the paper leaves them
//!   smaller: a context is always a mean of states.

use super::Source;
use crate::{Initial, Linear, linear_map, tanh};
use burn::module::{Module, Param};
use burn::tensor::activation::{log_softmax, sigmoid};
use burn::tensor::{Tensor, TensorData};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The list of focuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FocusKind {
    /// Every position, by its weight.
    Soft,
    /// One position.
    Hard {
        /// Whether what a choice will cost is foretold from the query, to compare it with.
        baseline: bool,
    },
    /// The positions around an aligned one.
    Local {
        /// D: how far from the aligned position.
        window: usize,
        /// Where that is.
        aligned: Aligned,
    },
}

/// Where a local window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aligned {
    /// At the position of the target, or at the source's last.
    Monotone,
    /// Where the query says.
    Predicted,
    /// So far behind where it stood before as the query says.
    Advancing,
}

/// How one position is chosen, where one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choosing {
    /// The most probable one.
    MostProbable,
    /// One drawn by its probability. The draw depends on this key, the source and the step alone.
    Drawn(u64),
    /// None: the mean over all of them, for a loss that sums over every choice itself.
    Everything,
}

/// A focus with its parameters.
#[derive(Module, Debug)]
pub struct Focus {
    /// Of a predicted or advancing window: W_p `[Q, A]`.
    position: Option<Param<Tensor<2>>>,
    /// v_p `[A]`.
    position_vector: Option<Param<Tensor<1>>>,
    baseline: Option<Linear>,
    #[module(skip)]
    kind: FocusKind,
}

/// What is known of a choice besides the choice.
#[derive(Clone, Debug)]
pub struct Choice {
    /// log α of every position: [B, T, S]; hugely negative where there is none.
    pub log_weights: Tensor<3>,
    /// The foretold cost of a token: [B, T].
    pub baseline: Option<Tensor<2>>,
}

/// What is added to the score of a position that does not exist.
const NOWHERE: f64 = 1e9;

impl Focus {
    /// A focus for queries of width `query`; `width` is A.
    pub fn new(kind: FocusKind, query: usize, width: usize, initial: &mut Initial) -> Self {
        let none = Self { position: None, position_vector: None, baseline: None, kind };
        match kind {
            FocusKind::Local { aligned: Aligned::Predicted | Aligned::Advancing, .. } => Self {
                position: Some(initial.glorot([query, width])),
                position_vector: Some(initial.uniform([width], (6.0 / (width + 1) as f64).sqrt())),
                ..none
            },
            FocusKind::Hard { baseline: true } => {
                Self { baseline: Some(Linear::new(query, 1, initial)), ..none }
            }
            _ => none,
        }
    }

    /// Whether a look depends on nothing but its query: neither on the step nor on a draw.
    pub(super) fn is_timeless(&self) -> bool {
        matches!(self.kind, FocusKind::Soft | FocusKind::Local { aligned: Aligned::Predicted, .. })
    }

    /// Whether its window only advances, so that a look has to know where it stood before.
    pub(super) fn advances(&self) -> bool {
        matches!(self.kind, FocusKind::Local { aligned: Aligned::Advancing, .. })
    }

    /// Whether every position is looked at by its weight.
    pub(super) fn is_soft(&self) -> bool {
        self.kind == FocusKind::Soft
    }

    /// From scores [B, T, S] to weights [B, T, S]. The first of the queries [B, T, Q] is that of
    /// step `first`, before which a window that advances stood at `before` [B, 1].
    pub(super) fn weigh(
        &self,
        scores: Tensor<3>,
        query: &Tensor<3>,
        source: &Source,
        (first, before): (usize, Option<&Tensor<2>>),
        choosing: Choosing,
    ) -> Weighed {
        let exists = source.mask.clone().unsqueeze_dim::<3>(1); // [B, 1, S]
        match self.kind {
            FocusKind::Soft => Weighed::new(log_weights(scores, exists.clone()).exp() * exists),
            FocusKind::Local { window, .. } => {
                let aligned = self.aligned(query, source, first, before); // [B, T, 1]
                let distance = distance(&aligned, source); // [B, T, S]
                let scores = match &self.position {
                    // σ = D / 2, so 2σ² = D² / 2.
                    Some(_) => {
                        scores - distance.clone().powf_scalar(2.0) / (window as f64 * window as f64 / 2.0)
                    }
                    None => scores,
                };
                let within = distance.abs().lower_equal_elem(window as f64).float() * exists; // [B, T, S]
                let time = aligned.dims()[1];
                let last = self.advances().then(|| aligned.narrow(1, time - 1, 1).squeeze_dim::<2>(2));
                let weights = log_weights(scores, within.clone()).exp() * within;
                Weighed { aligned: last, ..Weighed::new(weights) }
            }
            FocusKind::Hard { .. } => {
                let log_weights = log_weights(scores, exists.clone());
                let weights = log_weights.clone().exp() * exists;
                let [batch, time, _] = query.dims();
                let baseline = self.baseline.as_ref().map(|linear| {
                    // The baseline learns from the states, and the states nothing from it.
                    let rows = query.clone().detach().flatten::<2>(0, 1); // [B·T, Q]
                    linear.forward(rows).reshape([batch, time])
                });
                let weights = match choosing {
                    Choosing::Everything => weights,
                    Choosing::MostProbable => one_each(weights, |_, _, shares| most_probable(shares)),
                    Choosing::Drawn(key) => one_each(weights, |row, t, shares| {
                        drawn(key, source.identities.get(row).copied().unwrap_or_default(), first + t, shares)
                    }),
                };
                Weighed { choice: Some(Choice { log_weights, baseline }), ..Weighed::new(weights) }
            }
        }
    }

    /// p for every query: [B, T, 1].
    fn aligned(
        &self,
        query: &Tensor<3>,
        source: &Source,
        first: usize,
        before: Option<&Tensor<2>>,
    ) -> Tensor<3> {
        let ([batch, time, width], device) = (query.dims(), query.device());
        let lengths = source.mask.clone().sum_dim(1).unsqueeze_dim::<3>(1); // [B, 1, 1]
        match (&self.position, &self.position_vector) {
            (Some(weight), Some(vector)) => {
                let hidden = tanh(linear_map(query.clone().reshape([batch * time, width]), weight.val()));
                let inner = vector.dims()[0];
                let told = (hidden * vector.val().reshape([1, inner])).sum_dim(1).reshape([batch, time, 1]);
                if !self.advances() {
                    return sigmoid(told) * lengths; // [B, T, 1]
                }
                let stood = match before {
                    Some(before) => before.clone().unsqueeze_dim::<3>(2),
                    None => Tensor::zeros([batch, 1, 1], &device),
                };
                let advanced = stood + softplus(told).cumsum(1);
                advanced.min_pair((lengths - 1.0).repeat_dim(1, time)) // [B, T, 1]
            }
            _ => {
                let steps: Vec<f32> = (first..first + time).map(|t| t as f32).collect();
                let steps = Tensor::<3>::from_data(TensorData::new(steps, [1, time, 1]), &device);
                steps.repeat_dim(0, batch).min_pair((lengths - 1.0).repeat_dim(1, time)) // [B, T, 1]
            }
        }
    }
}

/// What a focus makes of scores.
pub(super) struct Weighed {
    /// α: [B, T, S].
    pub(super) weights: Tensor<3>,
    /// Where one position is chosen.
    pub(super) choice: Option<Choice>,
    /// Where a window that advances has come to: [B, 1].
    pub(super) aligned: Option<Tensor<2>>,
}

impl Weighed {
    fn new(weights: Tensor<3>) -> Self {
        Self { weights, choice: None, aligned: None }
    }
}

/// i − p for every p [B, T, 1] and position: [B, T, S].
fn distance(aligned: &Tensor<3>, source: &Source) -> Tensor<3> {
    let count = source.mask.dims()[1];
    let positions: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let positions = Tensor::<3>::from_data(TensorData::new(positions, [1, 1, count]), &aligned.device());
    positions - aligned.clone()
}

/// log(1 + exp(x)), whatever x is.
fn softplus(x: Tensor<3>) -> Tensor<3> {
    x.clone().clamp_min(0.0) + (x.abs().neg().exp() + 1.0).log()
}

/// log softmax over the positions where `exists` is 1.
fn log_weights(scores: Tensor<3>, exists: Tensor<3>) -> Tensor<3> {
    log_softmax(scores + (exists - 1.0) * NOWHERE, 2)
}

/// Weight 1 on the position that `choose` takes for every row and query, and 0 elsewhere.
fn one_each(shares: Tensor<3>, choose: impl Fn(usize, usize, &[f32]) -> usize) -> Tensor<3> {
    let ([_, time, positions], shape, device) = (shares.dims(), shares.shape(), shares.device());
    let shares = shares.try_into_vec_as::<f32>().unwrap_or_default();
    let mut weights = vec![0.0f32; shares.len()];
    for (at, (shares, weights)) in
        shares.chunks_exact(positions).zip(weights.chunks_exact_mut(positions)).enumerate()
    {
        weights[choose(at / time, at % time, shares)] = 1.0;
    }
    Tensor::from_data(TensorData::new(weights, shape), &device)
}

/// Of equals, the first.
fn most_probable(shares: &[f32]) -> usize {
    let best = |best: usize, (at, share): (usize, &f32)| if *share > shares[best] { at } else { best };
    shares.iter().enumerate().fold(0, best)
}

/// One position by its share, from a number that depends on the key, the source and the step.
fn drawn(key: u64, identity: u64, step: usize, shares: &[f32]) -> usize {
    let mut generator = ChaCha8Rng::seed_from_u64(key ^ identity);
    generator.set_stream(step as u64);
    let mut left = generator.random::<f64>() * shares.iter().map(|&share| f64::from(share)).sum::<f64>();
    let mut last = 0;
    for (at, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        last = at;
        left -= f64::from(share);
        if left < 0.0 {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_drawn_by_their_share_and_never_where_there_is_none() {
        let shares = [0.1, 0.0, 0.6, 0.3, 0.0];
        let mut counts = [0usize; 5];
        for step in 0..20_000 {
            counts[drawn(3, 17, step, &shares)] += 1;
        }
        assert_eq!((counts[1], counts[4]), (0, 0));
        for (count, share) in counts.iter().zip(shares) {
            assert!((*count as f32 / 20_000.0 - share).abs() < 0.015, "{counts:?}");
        }
        assert_eq!(drawn(1, 2, 3, &shares), drawn(1, 2, 3, &shares));
        assert_eq!(drawn(1, 2, 3, &[0.0; 3]), 0, "shares that are all zero");
    }

    #[test]
    fn of_equal_shares_the_first_is_chosen() {
        assert_eq!(most_probable(&[0.2, 0.4, 0.4]), 1);
        assert_eq!(most_probable(&[f32::NAN, 0.4]), 0);
    }
}
