//! One learning step: teacher forcing, the loss, and its gradient.

use crate::config::TrainConfig;
use crate::hard::{Costs, surrogate};
use crate::optimiser::add_gradients;
use crate::sampling::{mix, truth_share};
use burn::module::Module;
use burn::tensor::Tensor;
use gatto_data::random::mixed;
use gatto_data::{Batch, Padded};
use gatto_model::config::FocusKind;
use gatto_model::weights::Weights;
use gatto_model::{Alignment, AttentionConfig, Forward, Memory, Model};
use gatto_nn::Noise;
use gatto_nn::loss::{Targets, cross_entropy, mixture_cross_entropy};

/// A batch behind a forward pass.
pub(crate) struct Learning<'a> {
    batch: &'a Batch,
    /// What the model made of it.
    pub(crate) forward: Forward,
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
        Self { batch, forward: model.forward(inputs, memory.as_ref(), noise) }
    }

    /// What the scores are compared with; padding counts for nothing.
    pub(crate) fn targets(&self, smoothing: f64) -> Targets {
        targets(&self.batch.target, smoothing)
    }

    /// How many target tokens have the highest score.
    pub(crate) fn right(&self) -> usize {
        let best = self.forward.logits.clone().argmax(1).try_into_vec_as::<u32>().unwrap_or_default();
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

fn targets(target: &Padded, smoothing: f64) -> Targets {
    let mut weights = vec![0.0; target.ids.len()];
    for (row, &length) in target.lengths.iter().enumerate() {
        weights[row * target.width..][..length].fill(1.0);
    }
    Targets { ids: target.ids.clone(), weights, smoothing }
}

/// What one update is told.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// How the parameters are fitted.
    pub config: &'a TrainConfig,
    /// How the decoder looks back, if it does.
    pub attention: Option<&'a AttentionConfig>,
    /// The number of the update, from 1.
    pub step: u64,
    /// Where every random choice comes from.
    pub key: u64,
    /// A mean of the loss per token over earlier updates.
    pub average_loss: f64,
}

impl<'a> Lesson<'a> {
    /// An update of a model whose attention, if it has any, chooses nothing.
    pub fn new(config: &'a TrainConfig, step: u64, key: u64) -> Self {
        Self { config, attention: None, step, key, average_loss: 0.0 }
    }
}

/// Computes the gradients of one update over its batches.
pub fn gather(model: &Model, batches: &[Batch], lesson: &Lesson<'_>) -> Gathered {
    let tokens: usize = batches.iter().map(|batch| batch.target.tokens()).sum();
    let mut gathered = Gathered { tokens, ..Default::default() };
    for (batch, number) in batches.iter().zip(0..) {
        let lesson = Lesson { key: mixed(lesson.key, number), ..*lesson };
        let (loss, objective) = lesson.learn(model, batch);
        gathered.loss += loss;
        add_gradients(model, (objective / tokens as f64).backward(), &mut gathered.gradients);
    }
    gathered
}

impl Lesson<'_> {
    /// The sum of a batch's losses, and what to take the gradient of: the same, but for a focus
    /// that chooses one position.
    fn learn(&self, model: &Model, batch: &Batch) -> (f64, Tensor<1>) {
        let noise = &mut Noise::seeded(self.key);
        let inputs = decoder_inputs(model, batch, self.config, self.step, self.key);
        let memory = model.encode(&batch.source, noise);
        let hard = self.attention.filter(|attention| attention.focus == FocusKind::Hard);
        let everywhere = hard.filter(|hard| self.step <= hard.marginal_steps.unwrap_or(0));
        if everywhere.is_some()
            && let Some((logits, log_weights)) = model.forward_everywhere(&inputs, memory.as_ref(), noise)
        {
            let targets = targets(&batch.target, self.config.label_smoothing);
            let loss = mixture_cross_entropy(logits, log_weights, &targets).sum();
            return (scalar(&loss), loss);
        }
        let learning = Learning::reading(model, batch, &inputs, memory, noise);
        let targets = learning.targets(self.config.label_smoothing);
        let losses = cross_entropy(learning.forward.logits, &targets); // [B·T]
        let loss = losses.clone().sum(); // [1]
        let Some((hard, Alignment { weights, choice: Some(choice) })) = hard.zip(learning.forward.alignment)
        else {
            return (scalar(&loss), loss);
        };
        let costs = Costs::new(losses, targets.weights, batch.target.width, hard.is_carried());
        (scalar(&loss), loss + surrogate(&costs, &weights, &choice, hard, self.average_loss))
    }
}

fn scalar(loss: &Tensor<1>) -> f64 {
    f64::from(loss.clone().into_scalar::<f32>())
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
