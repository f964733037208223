//! Learning where to look from samples: the score-function estimator of hard attention.
//!
//! Positions a_t are drawn from α_t, and the expected loss is to fall. Its gradient is the mean of
//! ∇L(a) + Σ_t (L_t − b_t) ∇ log α_t(a_t), where L_t is what a_t can still change of the loss, and b_t is a
//! guess of it that knows nothing of a_t: it takes variance away and no truth (Williams, 1992; Xu et
//! al., 2015). An entropy term keeps α from closing its eyes too early.

use burn::tensor::{Tensor, TensorData};
use gatto_model::config::{AttentionConfig, BaselineKind};
use gatto_nn::attention::Choice;

/// What an entropy of one nat is worth if not given.
const ENTROPY: f64 = 0.01;

/// What each choice can still change of the loss: [B, T].
pub(crate) struct Costs {
    /// Sums of losses.
    values: Vec<f32>,
    /// The tokens that were summed over; 0 on padding.
    tokens: Vec<f32>,
    shape: [usize; 2],
}

impl Costs {
    /// Costs from the losses of all target tokens [B·T], rows of `width` of them. Where a look is
    /// carried to later steps, those pay for it as well.
    pub(crate) fn new(losses: Tensor<1>, weights: Vec<f32>, width: usize, carried: bool) -> Self {
        let mut values = losses.try_into_vec_as::<f32>().unwrap_or_default();
        let mut tokens = weights.clone();
        if carried {
            for sums in [&mut values, &mut tokens] {
                for row in sums.chunks_exact_mut(width.max(1)) {
                    (1..row.len()).rev().for_each(|t| row[t - 1] += row[t]);
                }
            }
        }
        // Behind the end there is nothing to choose.
        tokens.iter_mut().zip(&weights).filter(|(_, weight)| **weight == 0.0).for_each(|(sum, _)| *sum = 0.0);
        let shape = [values.len() / width.max(1), width];
        Self { values, tokens, shape }
    }

    fn tensor(&self, values: Vec<f32>, like: &Tensor<3>) -> Tensor<2> {
        Tensor::from_data(TensorData::new(values, self.shape), &like.device())
    }
}

/// What is added to a sum of losses to make its gradient that of the expected loss.
pub(crate) fn surrogate(
    costs: &Costs,
    weights: &Tensor<3>,
    choice: &Choice,
    config: &AttentionConfig,
    average_loss: f64,
) -> Tensor<1> {
    let exists = costs.tokens.iter().map(|&tokens| if tokens > 0.0 { 1.0 } else { 0.0 }).collect();
    let exists = costs.tensor(exists, weights); // [B, T]
    let learned = choice.baseline.as_ref().filter(|_| config.baseline == Some(BaselineKind::Learned));
    let guesses: Vec<f32> = match learned {
        Some(baseline) => baseline.clone().try_into_vec_as::<f32>().unwrap_or_default(),
        None => vec![average_loss as f32; costs.tokens.len()],
    };
    // Guesses are per token: a sum of costs would teach a learned one with errors as large as sentences.
    let advantage = costs.values.iter().zip(&guesses).zip(&costs.tokens);
    let advantage = advantage.map(|((cost, guess), tokens)| cost - guess * tokens).collect();
    let advantage = costs.tensor(advantage, weights) * exists.clone(); // [B, T]
    let log_weights = &choice.log_weights;
    let chosen = (weights.clone() * log_weights.clone()).sum_dim(2).squeeze_dim::<2>(2); // [B, T]
    let entropy = -(log_weights.clone().exp() * log_weights.clone()).sum_dim(2).squeeze_dim::<2>(2); // [B, T]
    let mut objective =
        (advantage * chosen).sum() - (entropy * exists.clone()).sum() * config.entropy.unwrap_or(ENTROPY);
    if let Some(baseline) = learned {
        let means = costs.values.iter().zip(&costs.tokens).map(|(cost, tokens)| cost / tokens.max(1.0));
        let error = (baseline.clone() - costs.tensor(means.collect(), weights)) * exists;
        objective = objective + error.powf_scalar(2.0).sum();
    }
    objective
}
