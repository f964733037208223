//! Scheduled sampling: what the decoder reads while it learns.
//!
//! With probability ε the token of the target, else the token that the model itself thinks most
//! probable there (Bengio et al., 2015). No gradient flows through that choice, so the inputs can be
//! drawn first, step by step, and the loss computed on them in one pass.

use crate::config::{SamplingConfig, SamplingDecay};
use gatto_data::Padded;
use gatto_data::random::generator;
use gatto_model::{Memory, Model, Stepping};
use gatto_search::Step;
use rand::RngExt;

/// ε at update `step`: the share of the target's own tokens.
pub fn truth_share(config: &SamplingConfig, step: u64) -> f64 {
    let (i, k) = (step as f64, config.k);
    let share = match config.decay {
        SamplingDecay::Constant => k,
        SamplingDecay::Linear => 1.0 - i / k,
        SamplingDecay::Exponential => k.powf(i),
        SamplingDecay::InverseSigmoid => k / (k + (i / k).exp()),
    };
    share.clamp(config.minimum, 1.0)
}

/// Replaces some of the decoder's `inputs` (teacher forcing) by what `model` would have written.
/// `model` and `memory` take part in no gradient.
pub fn mix(model: &Model, memory: Option<Memory>, inputs: &Padded, share: f64, key: u64) -> Padded {
    let mut mixed = inputs.clone();
    if share >= 1.0 {
        return mixed;
    }
    let mut coin = generator(key, 0);
    let stepping = Stepping::new(model, memory, inputs.rows);
    // At prediction nothing is read behind an end, so it is no input to learn from.
    let never: Vec<u32> = stepping.forbidden().iter().copied().chain([stepping.end()]).collect();
    let (mut state, _) = stepping.start();
    for t in 0..inputs.width.saturating_sub(1) {
        let column: Vec<u32> = (0..mixed.rows).map(|row| mixed.ids[row * mixed.width + t]).collect();
        let (logits, next) = stepping.step(&column, state);
        state = next;
        for (row, (token, _)) in logits.best(&never).enumerate() {
            let own = coin.random::<f64>() >= share; // drawn for every cell, so that rows do not depend on each other
            if own && t + 1 < mixed.lengths[row] {
                mixed.ids[row * mixed.width + t + 1] = token;
            }
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_truth_falls_as_described() {
        let share = |decay, k, step| {
            let config = SamplingConfig { decay, k, minimum: 0.1 };
            (truth_share(&config, step) * 1000.0).round() / 1000.0
        };
        assert_eq!(share(SamplingDecay::Constant, 0.7, 999), 0.7);
        assert_eq!([0, 50, 100].map(|i| share(SamplingDecay::Linear, 100.0, i)), [1.0, 0.5, 0.1]);
        assert_eq!([0, 1, 2].map(|i| share(SamplingDecay::Exponential, 0.5, i)), [1.0, 0.5, 0.25]);
        assert_eq!(share(SamplingDecay::InverseSigmoid, 10.0, 0), 0.909);
        assert_eq!(share(SamplingDecay::InverseSigmoid, 10.0, 1000), 0.1);
    }
}
