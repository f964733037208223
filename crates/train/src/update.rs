//! One update of a model, from batches to changed parameters.

use crate::error::TrainError;
use crate::gradients::global_norm;
use crate::learning::{Lesson, gather};
use crate::optimiser::Optimiser;
use gatto_data::Batch;
use gatto_kernels::crew::Crew;
use gatto_model::Model;

/// What an update left.
#[derive(Debug)]
pub struct Updated {
    /// The model behind it.
    pub model: Model,
    /// Sum of the losses of all answers.
    pub loss: f64,
    /// Number of answers: target tokens, labels, or tokens that were hidden.
    pub tokens: usize,
    /// The norm of the gradient, before it was clipped.
    pub norm: f64,
}

/// Makes one update: the gradient of the batches' mean loss, clipped, given to the optimiser. Refuses to go on with
/// what is not finite.
pub fn update(
    model: Model,
    batches: &[Batch],
    lesson: &Lesson<'_>,
    learning_rate: f64,
    optimiser: &mut Optimiser,
    crew: &Crew,
) -> Result<Updated, TrainError> {
    let Lesson { config, step, .. } = *lesson;
    let gathered = gather(&model, batches, lesson, crew);
    let norm = global_norm(&gathered.gradients);
    if !gathered.loss.is_finite() || !norm.is_finite() {
        let (what, value) = match gathered.loss.is_finite() {
            true => ("norm of the gradient", norm),
            false => ("loss", gathered.loss / gathered.tokens.max(1) as f64),
        };
        return Err(TrainError::Diverged { what, step, value, learning_rate, clip: config.clip });
    }
    let model = optimiser.update(config, model, &gathered.gradients, norm, learning_rate, step);
    Ok(Updated { model, loss: gathered.loss, tokens: gathered.tokens, norm })
}
