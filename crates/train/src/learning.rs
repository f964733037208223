//! One learning step: teacher forcing, the loss, and its gradient.

use crate::config::TrainConfig;
use crate::optimiser::add_gradients;
use crate::sampling::{mix, truth_share};
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::random::mixed;
use gatto_data::{Batch, Padded};
use gatto_model::weights::Weights;
use gatto_model::{Memory, Model};
use gatto_nn::Noise;
use gatto_nn::loss::{Targets, cross_entropy};

/// A batch behind a forward pass.
pub(crate) struct Learning<'a> {
    batch: &'a Batch,
    /// Scores at every target position: [B·T, V].
    pub(crate) logits: Tensor<2>,
}

impl<'a> Learning<'a> {
    /// Teacher forcing: the decoder reads the target itself.
    pub(crate) fn new(model: &Model, batch: &'a Batch, noise: &mut Noise) -> Self {
        let inputs = model.teacher_inputs(&batch.target);
        let memory = model.encode(&batch.source, noise);
        Self::reading(model, batch, &inputs, memory, noise)
    }

    fn reading(
        model: &Model,
        batch: &'a Batch,
        inputs: &Padded,
        memory: Option<Memory>,
        noise: &mut Noise,
    ) -> Self {
        Self { batch, logits: model.forward(inputs, memory.as_ref(), noise) }
    }

    /// What the scores are compared with; padding counts for nothing.
    pub(crate) fn targets(&self, smoothing: f64) -> Targets {
        let target = &self.batch.target;
        let mut weights = vec![0.0; target.ids.len()];
        for (row, &length) in target.lengths.iter().enumerate() {
            weights[row * target.width..][..length].fill(1.0);
        }
        Targets { ids: target.ids.clone(), weights, smoothing }
    }

    /// How many target tokens have the highest score.
    pub(crate) fn right(&self) -> usize {
        let best = self.logits.clone().argmax(1).try_into_vec_as::<u32>().unwrap_or_default();
        let targets = self.targets(0.0);
        best.iter().zip(&targets.ids).zip(&targets.weights).filter(|((a, b), w)| a == b && **w > 0.0).count()
    }
}

/// What the batches of one update gave.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Gradients of the mean loss, by parameter.
    pub gradients: Weights,
    /// Sum of the losses of all target tokens.
    pub loss: f64,
    /// Number of target tokens.
    pub tokens: usize,
}

/// Computes the gradients of one update over its batches. Every random choice comes from `key`.
pub fn gather(model: &Model, batches: &[Batch], config: &TrainConfig, step: u64, key: u64) -> Gathered {
    let tokens: usize = batches.iter().map(|batch| batch.target.tokens()).sum();
    let mut gathered = Gathered { tokens, ..Default::default() };
    for (batch, number) in batches.iter().zip(0..) {
        let key = mixed(key, number);
        let noise = &mut Noise::seeded(key);
        let inputs = decoder_inputs(model, batch, config, step, key);
        let memory = model.encode(&batch.source, noise);
        let learning = Learning::reading(model, batch, &inputs, memory, noise);
        let targets = learning.targets(config.label_smoothing);
        let loss = cross_entropy(learning.logits, &targets).sum(); // [1]
        gathered.loss += f64::from(loss.clone().into_scalar::<f32>());
        let mean = loss / tokens as f64;
        add_gradients(model, mean.backward(), &mut gathered.gradients);
    }
    gathered
}

/// The target's tokens, or with scheduled sampling some of the model's own.
fn decoder_inputs(model: &Model, batch: &Batch, config: &TrainConfig, step: u64, key: u64) -> Padded {
    let inputs = model.teacher_inputs(&batch.target);
    match &config.sampling {
        None => inputs,
        Some(sampling) => {
            let share = truth_share(sampling, step);
            let plain = model.valid();
            let memory = plain.encode(&batch.source, &mut Noise::none());
            mix(&plain, memory, &inputs, share, mixed(key, 1 << 32))
        }
    }
}
