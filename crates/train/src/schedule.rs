//! The learning rate at every step.

use crate::config::{Figure, ScheduleKind, TrainConfig};
use serde::{Deserialize, Serialize};

/// What a schedule remembers: how far `plateau` has gone down, and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleState {
    factor: f64,
    best: Option<f64>,
    waited: u64,
}

impl Default for ScheduleState {
    fn default() -> Self {
        Self { factor: 1.0, best: None, waited: 0 }
    }
}

impl ScheduleState {
    /// The learning rate of update `step`, counted from 1.
    pub fn learning_rate(&self, config: &TrainConfig, step: u64) -> f64 {
        let (step, warmup) = (step as f64, config.warmup as f64);
        if step < warmup {
            return config.learning_rate * step / warmup;
        }
        let share = match config.schedule {
            ScheduleKind::Constant => 1.0,
            ScheduleKind::InverseSquareRoot => (warmup.max(1.0) / step).sqrt(),
            ScheduleKind::Cosine => {
                let length = (config.steps as f64 - warmup).max(1.0);
                let done = ((step - warmup) / length).min(1.0);
                0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
            ScheduleKind::Plateau => self.factor,
        };
        // The last steps settle what the long strides before them have found.
        let left = (config.steps as f64 - step + 1.0) / (config.cooldown as f64 + 1.0);
        config.learning_rate * share * left.clamp(0.0, 1.0)
    }

    /// Takes note of a validation.
    pub fn validated(&mut self, config: &TrainConfig, figure: f64) {
        if better(config.best_by, figure, self.best) {
            self.best = Some(figure);
            self.waited = 0;
            return;
        }
        self.waited += 1;
        if config.schedule == ScheduleKind::Plateau && self.waited > config.plateau_patience {
            self.factor *= config.plateau_factor;
            self.waited = 0;
        }
    }
}

/// Whether a figure is better than the best so far.
pub(crate) fn better(kind: Figure, figure: f64, best: Option<f64>) -> bool {
    match best {
        _ if !figure.is_finite() => false,
        None => true,
        Some(best) if kind.falls() => figure < best,
        Some(best) => figure > best,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(schedule: ScheduleKind, warmup: u64, steps: &[u64]) -> Vec<f64> {
        let config = TrainConfig { schedule, warmup, steps: 100, learning_rate: 1.0, ..Default::default() };
        let round = |rate: f64| (rate * 1e4).round() / 1e4;
        steps.iter().map(|&step| round(ScheduleState::default().learning_rate(&config, step))).collect()
    }

    #[test]
    fn schedules_rise_and_fall_as_they_should() {
        assert_eq!(rates(ScheduleKind::Constant, 0, &[1, 50, 100]), [1.0, 1.0, 1.0]);
        assert_eq!(rates(ScheduleKind::Constant, 4, &[1, 2, 3, 4, 5]), [0.25, 0.5, 0.75, 1.0, 1.0]);
        assert_eq!(rates(ScheduleKind::InverseSquareRoot, 4, &[2, 4, 16, 64]), [0.5, 1.0, 0.5, 0.25]);
        assert_eq!(rates(ScheduleKind::Cosine, 20, &[10, 20, 60, 100]), [0.5, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn a_cooldown_ends_any_schedule() {
        let config = TrainConfig { steps: 100, cooldown: 4, learning_rate: 1.0, ..Default::default() };
        let rates =
            [50, 96, 97, 98, 99, 100].map(|step| ScheduleState::default().learning_rate(&config, step));
        assert_eq!(rates, [1.0, 1.0, 0.8, 0.6, 0.4, 0.2]);
    }

    #[test]
    fn a_plateau_lowers_the_rate_after_its_patience() {
        let config = TrainConfig {
            schedule: ScheduleKind::Plateau,
            plateau_patience: 1,
            learning_rate: 1.0,
            ..Default::default()
        };
        let mut state = ScheduleState::default();
        let mut seen = Vec::new();
        for loss in [3.0, 2.0, 2.0, 2.5, 2.0, f64::NAN, 1.0, 1.5] {
            state.validated(&config, loss);
            seen.push(state.learning_rate(&config, 10));
        }
        assert_eq!(seen, [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25]);
    }
}
