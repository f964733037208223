//! One learning step: the loss of a batch, and its gradient.

use crate::asked::{Asked, Draws};
use crate::config::TrainConfig;
use crate::gradients::{Gradients, add, of_pass, of_reads};
use crate::hard_focus::{Costs, surrogate};
use crate::sampling::{mix, truth_share};
use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use gatto_data::random::mixed;
use gatto_data::{Batch, Padded, Sources};
use gatto_kernels::crew::Crew;
use gatto_model::config::FocusKind;
use gatto_model::{Alignment, AttentionConfig, Memory, Model, Task, Unscored};
use gatto_nn::loss::{Targets, mixture_cross_entropy};
use gatto_nn::{Noise, Reads};
use std::cmp::Reverse;

/// What the batches of one update gave.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Gradients of the mean loss, by parameter.
    pub gradients: Gradients,
    /// Sum of the losses of all answers.
    pub loss: f64,
    /// Number of answers: target tokens, labels, or tokens that were hidden.
    pub tokens: usize,
}

/// What one update is told.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// What the model is for.
    pub task: Task,
    /// How the parameters are fitted.
    pub config: &'a TrainConfig,
    /// How the decoder looks back, if it does.
    pub attention: Option<&'a AttentionConfig>,
    /// What the loss of an encoder that tells the text by itself counts, if it does.
    pub ctc: Option<f64>,
    /// The number of the update, from 1.
    pub step: u64,
    /// Where every random choice comes from.
    pub key: u64,
    /// A mean of the loss per token over earlier updates.
    pub average_loss: f64,
}

impl<'a> Lesson<'a> {
    /// An update of a translator whose attention, if it has any, chooses nothing.
    pub fn new(config: &'a TrainConfig, step: u64, key: u64) -> Self {
        Self { task: Task::Translate, config, attention: None, ctc: None, step, key, average_loss: 0.0 }
    }
}

/// The fewest examples that are worth a thread of their own.
const WORTH_A_THREAD: usize = 8;

/// Computes the gradients of one update over its batches, or what is chosen of them, side by side. Where they are fewer
/// than `crew` has hands and large enough, they are cut into parts.
pub fn gather(model: &Model, batches: &[Batch], lesson: &Lesson<'_>, crew: &Crew) -> Gathered {
    let choice = lesson.config.hardest.filter(|hardest| lesson.step > hardest.after);
    let chosen = choice.map(|hardest| lesson.hardest(model, batches, hardest.share, crew));
    let batches = chosen.as_deref().unwrap_or(batches);
    let parts: Vec<Batch> = batches.iter().flat_map(|batch| cut(batch, batches.len(), crew)).collect();
    let lessons = (0..).map(|number| Lesson { key: mixed(lesson.key, number), ..*lesson });
    let each = parts.iter().zip(lessons).map(|(batch, lesson)| (lesson, batch, lesson.ask(model, batch)));
    let each: Vec<_> = each.collect();
    let tokens: usize = each.iter().map(|(_, _, asked)| asked.count()).sum();
    // Each hand gets leaves of its own: what is computed from the same ones would wait for one lock.
    let device = model.device();
    let own = || if crew.size() == 1 { model.clone() } else { model.clone().fork(&device) };
    let hands = dealt(each, crew.size(), |(_, batch, _)| batch.source.size() + batch.target.ids.len());
    let hands: Vec<_> = hands.into_iter().map(|parts| (own(), parts)).collect();
    let learnt = crew.each(hands, |(model, parts)| {
        let (mut found, reads) = (Gathered::default(), Reads::default());
        let model = model.noting(&reads);
        for (lesson, batch, asked) in parts {
            let (loss, objective) = lesson.learn(&model, batch, &asked);
            found.loss += loss;
            add(&mut found.gradients, of_pass(&model, (objective / tokens.max(1) as f64).backward()));
        }
        add(&mut found.gradients, of_reads(&model, &reads));
        found
    });
    let mut gathered = Gathered { tokens, ..Default::default() };
    for Gathered { loss, gradients, .. } in learnt {
        gathered.loss += loss;
        add(&mut gathered.gradients, gradients);
    }
    gathered
}

/// Deals items to so many hands, the largest first and each to who has least. It depends on the sizes alone, and every
/// hand has its items in order, so that sums over them are always made in the same order.
fn dealt<T>(items: Vec<T>, hands: usize, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut sized: Vec<(usize, T)> = items.into_iter().enumerate().collect();
    sized.sort_by_key(|(_, item)| Reverse(size(item)));
    let mut dealt: Vec<(usize, Vec<(usize, T)>)> = (0..hands.max(1)).map(|_| (0, Vec::new())).collect();
    for (number, item) in sized {
        if let Some((load, hand)) = dealt.iter_mut().min_by_key(|(load, _)| *load) {
            *load += size(&item);
            hand.push((number, item));
        }
    }
    let in_order = |(_, mut hand): (usize, Vec<(usize, T)>)| {
        hand.sort_by_key(|(number, _)| *number);
        hand.into_iter().map(|(_, item)| item).collect::<Vec<T>>()
    };
    dealt.into_iter().map(in_order).filter(|hand| !hand.is_empty()).collect()
}

/// A batch, one of so many, in as many parts as it takes to keep all hands busy.
pub(crate) fn cut(batch: &Batch, batches: usize, crew: &Crew) -> Vec<Batch> {
    let parts = crew.size().div_ceil(batches);
    batch.parts(if batch.rows() < parts * WORTH_A_THREAD { 1 } else { parts })
}

impl Lesson<'_> {
    pub(crate) fn ask<'b>(&self, model: &Model, batch: &'b Batch) -> Asked<'b> {
        let (masking, vocabulary) = (self.config.masking(), model.vocabularies().source);
        let asked = Asked::new(self.task, batch, &masking, vocabulary, Draws::Step(self.key));
        asked.smoothed(self.config.label_smoothing)
    }

    /// The sum of a batch's losses, and what to take the gradient of: the same, but for a focus
    /// that chooses one position, and an encoder that tells the text by itself.
    fn learn(&self, model: &Model, batch: &Batch, asked: &Asked<'_>) -> (f64, Tensor<1>) {
        if self.task.writes() {
            return self.learn_to_write(model, batch, asked);
        }
        let loss = told(model, asked, &mut Noise::seeded(self.key)).losses(&asked.targets).sum();
        (scalar(&loss), loss)
    }

    fn learn_to_write(&self, model: &Model, batch: &Batch, asked: &Asked<'_>) -> (f64, Tensor<1>) {
        let noise = &mut Noise::seeded(self.key);
        let inputs = decoder_inputs(model, batch, self.config, self.step, self.key);
        let memory = read(model, asked.source.as_ref(), batch.each, noise);
        let told = memory.as_ref().and_then(|memory| model.ctc_losses(memory, &batch.target));
        let (loss, objective) = self.written(model, batch, asked, &inputs, memory, noise);
        match self.ctc.zip(told) {
            Some((weight, told)) => (loss, objective * (1.0 - weight) + told.sum() * weight),
            None => (loss, objective),
        }
    }

    /// The same of what the decoder writes.
    fn written(
        &self,
        model: &Model,
        batch: &Batch,
        asked: &Asked<'_>,
        inputs: &Padded,
        memory: Option<Memory>,
        noise: &mut Noise,
    ) -> (f64, Tensor<1>) {
        let hard = self.attention.filter(|attention| attention.focus == FocusKind::Hard);
        let everywhere = hard.filter(|hard| self.step <= hard.marginal_steps.unwrap_or(0));
        if everywhere.is_some()
            && let Some((logits, log_weights)) = model.forward_everywhere(inputs, memory.as_ref(), noise)
        {
            let loss = mixture_cross_entropy(logits, log_weights, &asked.targets).sum();
            return (scalar(&loss), loss);
        }
        let (unscored, alignment) = model.forward_unscored(inputs, memory.as_ref(), noise);
        let losses = unscored.losses(&asked.targets); // [B·T]
        let loss = losses.clone().sum(); // [1]
        let price = alignment.as_ref().and_then(|looks| self.price(&looks.weights, &asked.targets, batch));
        if let Some(price) = price {
            return (scalar(&loss), loss + price);
        }
        let Some((hard, Alignment { weights, choice: Some(choice) })) = hard.zip(alignment) else {
            return (scalar(&loss), loss);
        };
        let costs = Costs::new(losses, asked.targets.weights.clone(), batch.target.width, hard.is_carried());
        (scalar(&loss), loss + surrogate(&costs, &weights, &choice, hard, self.average_loss))
    }

    /// What the weights α [B, T, S] of a soft focus cost at target tokens that exist, if anything, over all examples:
    /// λ Σ_i (1 − Σ_t α_ti)² with λ = `doubly_stochastic`, and −λ Σ_ti α_ti ln α_ti with λ = `concentration.price`.
    fn price(&self, weights: &Tensor<3>, targets: &Targets, batch: &Batch) -> Option<Tensor<1>> {
        /// Smaller than any weight that counts; its logarithm is finite.
        const LEAST: f32 = 1e-20;
        let attention = self.attention?;
        let existing = || {
            let exists = TensorData::new(targets.weights.clone(), [batch.target.rows, batch.target.width, 1]);
            weights.clone() * Tensor::from_data(exists, &weights.device()) // [B, T, S]
        };
        let uneven = attention.doubly_stochastic.filter(|price| *price > 0.0).map(|price| {
            let left = existing().sum_dim(1).neg() + 1.0; // [B, 1, S]
            (left.clone() * left).sum() * price
        });
        let concentration = attention.concentration.filter(|it| it.price > 0.0 && self.step > it.after);
        let spread = concentration
            .map(|concentration| (existing() * (weights.clone() + LEAST).log()).sum() * -concentration.price);
        match (uneven, spread) {
            (Some(uneven), Some(spread)) => Some(uneven + spread),
            (uneven, spread) => uneven.or(spread),
        }
    }
}

/// All answers to what is asked about a batch, before their scores. A decoder reads the target itself
/// (teacher forcing).
pub(crate) fn answered<'m>(
    model: &'m Model,
    task: Task,
    batch: &Batch,
    asked: &Asked<'_>,
    noise: &mut Noise,
) -> Unscored<'m> {
    if !task.writes() {
        return told(model, asked, noise);
    }
    let memory = read(model, asked.source.as_ref(), batch.each, noise);
    model.forward_unscored(&model.teacher_inputs(&batch.target), memory.as_ref(), noise).0
}

/// Reads sources; what was read of each serves `each` targets.
fn read(model: &Model, source: &Sources, each: usize, noise: &mut Noise) -> Option<Memory> {
    let memory = model.encode(source, noise)?;
    if each == 1 {
        return Some(memory);
    }
    let rows: Vec<usize> = (0..source.rows() * each).map(|row| row / each).collect();
    let mut memory = memory.select(&rows);
    // Each target draws for itself.
    for (row, identity) in memory.identities.iter_mut().enumerate() {
        *identity = mixed(*identity, (row % each) as u64);
    }
    Some(memory)
}

/// What a head tells where it is asked.
fn told<'m>(model: &'m Model, asked: &Asked<'_>, noise: &mut Noise) -> Unscored<'m> {
    let memory = model.encode(asked.source.as_ref(), noise);
    let told = memory.and_then(|memory| model.tell_unscored(&memory, asked.rows.as_deref(), noise));
    told.unwrap_or_else(|| unreachable!("a model that writes nothing has an encoder and a head"))
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
            let memory = read(&plain, &batch.source, batch.each, &mut Noise::none());
            mix(&plain, memory, &inputs, share, mixed(key, 1 << 32))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lesson, dealt, scalar};
    use crate::asked::{Asked, Draws};
    use crate::config::TrainConfig;
    use burn::tensor::{Device, Tensor};
    use gatto_data::{Limits, evaluation_batches};
    use gatto_model::config::ConcentrationConfig;
    use gatto_model::{AttentionConfig, Task};

    #[test]
    fn a_spread_look_costs_its_entropy_once_its_time_has_come() {
        let examples = [(vec![9], vec![]), (vec![9], vec![7])];
        let batch = evaluation_batches(&examples, &Limits::examples(2)).expect("a batch").remove(0);
        // The second target token of the first example is padding.
        let weights = [[[0.5f32, 0.5], [0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]];
        let weights = Tensor::<3>::from_data(weights, &Device::flex());
        let config = TrainConfig::default();
        let asked = Asked::new(Task::Translate, &batch, &config.masking(), 10, Draws::Step(0));
        let price = |attention: &AttentionConfig, step| {
            let lesson = Lesson { attention: Some(attention), ..Lesson::new(&config, step, 0) };
            lesson.price(&weights, &asked.targets, &batch).map(|price| scalar(&price))
        };
        let concentration = Some(ConcentrationConfig { price: 0.2, after: 9 });
        let attention = AttentionConfig { concentration, ..Default::default() };
        assert_eq!(price(&attention, 9), None);
        assert!((price(&attention, 10).expect("a price") - 0.2 * 2.0 * 2f64.ln()).abs() < 1e-6);
        // Position by position: 1 − 0.5, twice, and 1 − 1.5, 1 − 0.5.
        let both = AttentionConfig { doubly_stochastic: Some(3.0), ..attention };
        let expected = 0.2 * 2.0 * 2f64.ln() + 3.0 * 4.0 * 0.25;
        assert!((price(&both, 10).expect("a price") - expected).abs() < 1e-6);
        assert_eq!(price(&AttentionConfig::default(), 10), None);
    }

    #[test]
    fn hands_get_even_loads_and_their_items_in_order() {
        let hands = |items: &[usize], count| dealt(items.to_vec(), count, |size| *size);
        assert_eq!(hands(&[3, 9, 1, 8, 5], 2), [vec![3, 9, 1], vec![8, 5]]);
        assert_eq!(hands(&[4, 4, 4], 2), [vec![4, 4], vec![4]]);
        assert_eq!(hands(&[2, 7, 5], 1), [vec![2, 7, 5]]);
        assert_eq!(hands(&[2], 3), [vec![2]]);
    }
}
