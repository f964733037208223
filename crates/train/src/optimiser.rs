//! From gradients to updates: clipping by the global norm, then Adam, AdamW, Muon or SGD, in place.

use crate::config::{OptimiserKind, TrainConfig};
use crate::gradients::{Gradient, Gradients};
use crate::start::inside;
use burn::module::Param;
use burn::tensor::Tensor;
use gatto_kernels::optimise::{AdamStep, Matrices, MuonStep, SgdStep, adam, muon, sgd};
use gatto_model::Model;
use gatto_model::weights::{self, Change};
use std::collections::BTreeMap;

/// What an optimiser remembers of every parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optimiser {
    /// Adam's and Muon's mean of gradients; SGD's velocity.
    pub first: BTreeMap<String, Vec<f32>>,
    /// Adam's mean of squared gradients.
    pub second: BTreeMap<String, Vec<f32>>,
}

impl Optimiser {
    /// One update, the `step`-th counted from 1. Parameters without a gradient stay as they are.
    pub fn update(
        &mut self,
        config: &TrainConfig,
        model: Model,
        gradients: &Gradients,
        norm: f64,
        learning_rate: f64,
        step: u64,
    ) -> Model {
        let clipped = config.clip > 0.0 && norm > config.clip;
        let scale = if clipped { config.clip / (norm + 1e-6) } else { 1.0 };
        let (scale, weight_decay) = (scale as f32, config.decay());
        let adam = AdamStep {
            lr: learning_rate,
            beta1: config.beta1,
            beta2: config.beta2,
            eps: config.epsilon,
            weight_decay,
            scale,
            step,
        };
        let rule = match config.optimiser {
            OptimiserKind::Adam | OptimiserKind::Adamw => Rule::Adam(adam),
            OptimiserKind::Muon => Rule::Muon(
                MuonStep { lr: learning_rate, momentum: config.momentum, weight_decay, scale },
                adam,
            ),
            OptimiserKind::Sgd => Rule::Sgd(SgdStep {
                lr: learning_rate,
                momentum: config.momentum,
                dampening: 0.0,
                nesterov: false,
                weight_decay,
                scale,
                step,
            }),
        };
        weights::change(model, &mut Update { optimiser: self, gradients, rule, rates: &config.rates })
    }
}

#[derive(Clone, Copy)]
enum Rule {
    Adam(AdamStep),
    Sgd(SgdStep),
    /// For matrices, and for all else.
    Muon(MuonStep, AdamStep),
}

impl Rule {
    /// The same with another learning rate.
    fn at(self, rate: f64) -> Self {
        match self {
            Self::Adam(step) => Self::Adam(AdamStep { lr: step.lr * rate, ..step }),
            Self::Sgd(step) => Self::Sgd(SgdStep { lr: step.lr * rate, ..step }),
            Self::Muon(step, other) => {
                Self::Muon(MuonStep { lr: step.lr * rate, ..step }, AdamStep { lr: other.lr * rate, ..other })
            }
        }
    }
}

/// What the learning rate of a parameter is multiplied by.
fn rate_of(name: &str, rates: &BTreeMap<String, f64>) -> f64 {
    let fitting = rates.iter().filter(|(part, _)| inside(name, part).is_some());
    fitting.max_by_key(|(part, _)| part.len()).map_or(1.0, |(_, rate)| *rate)
}

/// Parts whose matrices are tables, each row a vector of its own, or tell tokens and labels: they map nothing inside a model.
const OUTSIDE: [&str; 5] = ["embedding", "positions", "class", "head", "ctc"];

/// The matrices of a parameter that maps what is inside a model to what is inside it; none for token vectors, output layers,
/// biases and the like, which Muon leaves to Adam. In a recurrent layer the maps of all gates stand side by side.
fn maps(name: &str, gradients: &Gradients) -> Option<Matrices> {
    let &[rows, columns] = gradients.get(name)?.shape() else { return None };
    let outside = name.split('.').any(|part| OUTSIDE.contains(&part)) || name == "decoder.output.weight";
    if outside || rows.min(columns) < 2 {
        return None;
    }
    let gates = match name.rsplit_once('.') {
        // Where the recurrent map does not learn itself, nobody tells how many gates there are.
        Some((layer, "input" | "recurrent")) => {
            match gradients.get(&format!("{layer}.recurrent")).map(Gradient::shape) {
                Some(&[width, columns]) if columns.is_multiple_of(width) => columns / width,
                _ => 1,
            }
        }
        _ => 1,
    };
    Some(Matrices { columns, count: gates })
}

struct Update<'a> {
    optimiser: &'a mut Optimiser,
    gradients: &'a Gradients,
    rule: Rule,
    rates: &'a BTreeMap<String, f64>,
}

impl Change for Update<'_> {
    fn change<const D: usize>(&mut self, name: String, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = self.gradients.get(&name) else { return param };
        let count = param.shape().num_elements();
        let remembered = |memory: &mut BTreeMap<String, Vec<f32>>| {
            memory.remove(&name).unwrap_or_else(|| vec![0.0; count])
        };
        let mut first = remembered(&mut self.optimiser.first);
        let param = match self.rule.at(rate_of(&name, self.rates)) {
            Rule::Muon(step, _) if let Some(matrices) = maps(&name, self.gradients) => {
                changed(param, |values| muon(values, &gradient.values(), &mut first, matrices, &step))
            }
            Rule::Adam(step) | Rule::Muon(_, step) => {
                let mut second = remembered(&mut self.optimiser.second);
                let param = changed(param, |values| {
                    adam(values, gradient.as_kernel(), &mut first, &mut second, &step)
                });
                self.optimiser.second.insert(name.clone(), second);
                param
            }
            Rule::Sgd(step) => changed(param, |values| sgd(values, gradient.as_kernel(), &mut first, &step)),
        };
        self.optimiser.first.insert(name, first);
        param
    }
}

fn changed<const D: usize>(param: Param<Tensor<D>>, change: impl FnOnce(&mut [f32])) -> Param<Tensor<D>> {
    param.map(|tensor| {
        let required = tensor.is_require_grad();
        let plain = gatto_nn::update(tensor.inner(), change);
        Tensor::from_inner(plain).set_require_grad(required)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_that_fits_gives_the_rate() {
        let rates = [("encoder", 0.1), ("encoder.embedding", 0.0), ("dec", 9.0)];
        let rates = rates.map(|(part, rate)| (part.to_owned(), rate)).into();
        assert_eq!(rate_of("encoder.network.layers.0.forward.bias", &rates), 0.1);
        assert_eq!(rate_of("encoder.embedding.weight", &rates), 0.0);
        assert_eq!(rate_of("decoder.output.bias", &rates), 1.0, "a part is a whole word");
    }

    #[test]
    fn muon_is_for_maps_and_takes_gates_one_by_one() {
        let shapes: [(&str, &[usize], Option<usize>); 11] = [
            ("encoder.embedding.weight", &[50, 8], None),
            ("encoder.network.layers.0.forward.input", &[6, 32], Some(4)),
            ("encoder.network.layers.0.forward.recurrent", &[8, 32], Some(4)),
            ("encoder.network.layers.0.forward.bias", &[32], None),
            ("decoder.network.layers.0.forward.input", &[9, 12], Some(3)),
            ("decoder.network.layers.0.forward.recurrent", &[4, 12], Some(3)),
            ("decoder.network.layers.1.forward.input", &[4, 12], Some(1)), // beside one that does not learn
            ("decoder.stack.layers.0.attention.output.weight", &[8, 8], Some(1)),
            ("decoder.attention.look.score.vector", &[1, 8], None),
            ("decoder.output.weight", &[8, 50], None),
            ("head.inner.weight", &[8, 8], None),
        ];
        let gradient = |shape: &[usize]| {
            let values = vec![0.0; shape.iter().product()];
            Gradient::Whole(weights::Weight { shape: shape.to_vec(), values })
        };
        let gradients = shapes.iter().map(|(name, shape, _)| ((*name).to_owned(), gradient(shape))).collect();
        for (name, _, count) in shapes {
            assert_eq!(maps(name, &gradients).map(|matrices| matrices.count), count, "{name}");
        }
    }
}
