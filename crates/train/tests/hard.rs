//! Hard attention: the mean of its gradient estimates is the gradient of the expected loss.

use burn::tensor::{Device, Tensor};
use gatto_data::{Batch, Padded};
use gatto_kernels::crew::Crew;
use gatto_model::config::{
    BaselineKind, FeedKind, FocusKind, QueryKind, RecurrentDecoderConfig, RecurrentEncoderConfig,
};
use gatto_model::weights;
use gatto_model::{AttentionConfig, DecoderConfig, EncoderConfig, Model, ModelConfig, Task, Vocabularies};
use gatto_nn::attention::ScoreKind;
use gatto_nn::loss::{Targets, cross_entropy};
use gatto_nn::{Initial, Noise};
use gatto_train::config::TrainConfig;
use gatto_train::{Gradients, Lesson, gather, of_pass};
use std::collections::BTreeMap;
use std::path::Path;

const VOCABULARIES: Vocabularies = Vocabularies { source: 9, target: 8 };

fn model(attention: &AttentionConfig) -> Model {
    let reading = RecurrentEncoderConfig { width: 3, embedding: Some(2), ..Default::default() };
    let writing = RecurrentDecoderConfig { width: 3, embedding: Some(2), ..Default::default() };
    let config = ModelConfig {
        encoder: Some(EncoderConfig::Gru(reading)),
        decoder: Some(DecoderConfig::Gru(writing)),
        attention: Some(attention.clone()),
        ..ModelConfig::new(Task::Translate)
    };
    let device = Device::flex().autodiff();
    let model = Model::new(&config.plan(false).expect("a plan"), VOCABULARIES, 4, &device);
    // Larger weights than first ones: choices that matter, and are not alike.
    let mut initial = Initial::new(8, &Device::flex());
    let mut weights = weights::collect(&model);
    for weight in weights.values_mut() {
        let noise = initial.normal([weight.values.len()], 0.7).val();
        let noise = noise.try_into_vec_as::<f32>().expect("values");
        weight.values.iter_mut().zip(noise).for_each(|(value, noise)| *value += noise);
    }
    weights::install(model, weights, Path::new("given"), true).expect("weights that fit")
}

/// One sentence of three positions, and a target of two.
fn batch() -> Batch {
    Batch {
        source: Padded::new(&[vec![5, 6, 2]]).into(),
        target: Padded::new(&[vec![7, 2]]),
        indices: vec![0],
        each: 1,
    }
}

/// What one sequence of choices gives: its probability, its loss, and the gradients of both the
/// loss and the log-probability.
struct Chosen {
    log_probability: f64,
    loss: f64,
    of_loss: Gradients,
    of_log_probability: Gradients,
}

/// The loss and the log-probability of the choices that a key draws, and the choices.
fn drawn(model: &Model, batch: &Batch, key: u64) -> (Tensor<1>, Tensor<1>, Vec<u8>) {
    let noise = &mut Noise::seeded(key);
    let memory = model.encode(&batch.source, noise);
    let forward = model.forward(&model.teacher_inputs(&batch.target), memory.as_ref(), noise);
    let alignment = forward.alignment.expect("it looks");
    let weights = alignment.weights.clone().try_into_vec_as::<f32>().expect("values");
    let targets = Targets { ids: batch.target.ids.clone(), weights: vec![1.0; 2], smoothing: 0.0 };
    let log_weights = alignment.choice.expect("it chooses").log_weights;
    (
        cross_entropy(forward.logits, &targets).sum(),
        (alignment.weights * log_weights).sum(),
        weights.iter().map(|&weight| weight as u8).collect(),
    )
}

/// All sequences of choices, found by drawing until every one of them was seen.
fn every_choice(model: &Model, batch: &Batch) -> BTreeMap<Vec<u8>, Chosen> {
    let mut found = BTreeMap::new();
    for key in 0..20_000 {
        if found.len() == 9 {
            break;
        }
        let (loss, log_probability, name) = drawn(model, batch, key);
        if found.contains_key(&name) {
            continue;
        }
        // A graph is used up by its gradient, so that the second one needs a pass of its own.
        let of_loss = of_pass(model, loss.clone().backward());
        let of_log_probability = of_pass(model, drawn(model, batch, key).1.backward());
        let scalar = |value: Tensor<1>| f64::from(value.into_scalar::<f32>());
        let chosen = Chosen {
            log_probability: scalar(log_probability),
            loss: scalar(loss),
            of_loss,
            of_log_probability,
        };
        found.insert(name, chosen);
    }
    assert_eq!(found.len(), 9, "three positions at two steps");
    found
}

/// ∇ Σ_a p(a) L(a) = Σ_a p(a) (∇L(a) + L(a) ∇ log p(a)), by parameter.
fn exact(choices: &BTreeMap<Vec<u8>, Chosen>) -> BTreeMap<String, Vec<f64>> {
    let mut sum: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let total: f64 = choices.values().map(|chosen| chosen.log_probability.exp()).sum();
    assert!((total - 1.0).abs() < 1e-4, "all of them: {total}");
    for chosen in choices.values() {
        let probability = chosen.log_probability.exp();
        for (gradients, factor) in [(&chosen.of_loss, 1.0), (&chosen.of_log_probability, chosen.loss)] {
            for (name, gradient) in gradients {
                let to = sum.entry(name.clone()).or_insert_with(|| vec![0.0; gradient.values().len()]);
                to.iter_mut()
                    .zip(&*gradient.values())
                    .for_each(|(to, value)| *to += probability * factor * f64::from(*value));
            }
        }
    }
    sum
}

fn mean_of_estimates_is_exact(attention: &AttentionConfig) {
    const DRAWS: u64 = 6000;
    let (model, batch) = (model(attention), batch());
    let exact = exact(&every_choice(&model, &batch));
    let config = TrainConfig::default();
    let (mut sums, mut squares): (BTreeMap<String, Vec<f64>>, BTreeMap<String, Vec<f64>>) =
        Default::default();
    for draw in 0..DRAWS {
        let lesson =
            Lesson { attention: Some(attention), average_loss: 1.5, ..Lesson::new(&config, 1, draw) };
        let gathered = gather(&model, std::slice::from_ref(&batch), &lesson, &Crew::none());
        for (name, gradient) in &gathered.gradients {
            let zeros = || vec![0.0; gradient.values().len()];
            let (sum, square) = (
                sums.entry(name.clone()).or_insert_with(zeros),
                squares.entry(name.clone()).or_insert_with(zeros),
            );
            for (at, &value) in gradient.values().iter().enumerate() {
                let value = f64::from(value) * gathered.tokens as f64; // the objective is a mean over tokens
                sum[at] += value;
                square[at] += value * value;
            }
        }
    }
    let count = DRAWS as f64;
    let mut compared = 0;
    for (name, expected) in exact {
        for (at, expected) in expected.into_iter().enumerate() {
            let mean = sums[&name][at] / count;
            let error = ((squares[&name][at] / count - mean * mean).max(0.0) / count).sqrt();
            // Five standard errors: one in a million by chance, some hundred values.
            assert!(
                (mean - expected).abs() <= 5.0 * error + 1e-4,
                "{name}[{at}]: {mean} ± {error} and not {expected}"
            );
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

fn hard(query: QueryKind) -> AttentionConfig {
    AttentionConfig {
        focus: FocusKind::Hard,
        score: ScoreKind::General,
        entropy: Some(0.0),
        query,
        ..Default::default()
    }
}

#[test]
fn estimates_are_right_on_average_where_a_choice_ends_with_its_step() {
    mean_of_estimates_is_exact(&hard(QueryKind::Current));
}

#[test]
fn estimates_are_right_on_average_where_later_steps_depend_on_a_choice() {
    mean_of_estimates_is_exact(&AttentionConfig { feed: FeedKind::Attentional, ..hard(QueryKind::Current) });
    mean_of_estimates_is_exact(&hard(QueryKind::Previous));
}

#[test]
fn a_learned_baseline_leaves_the_mean_as_it_is() {
    let attention = AttentionConfig { baseline: Some(BaselineKind::Learned), ..hard(QueryKind::Current) };
    mean_of_estimates_is_exact(&attention);
}
