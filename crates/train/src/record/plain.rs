//! Plain lines on standard error, for logs and pipes.

use super::{Event, Recorder, validation_line};
use std::io::Write;

/// A line per event, without colours or movement.
#[derive(Debug, Default)]
pub struct Plain {
    steps: u64,
    first: u64,
    seconds: Option<(u64, f64)>,
}

impl Recorder for Plain {
    fn record(&mut self, event: &Event<'_>) {
        let line = match event {
            Event::Preparing(what) => format!("{what} …"),
            Event::Started { step, steps, parameters, directory } => {
                (self.steps, self.first) = (*steps, *step);
                let parameters = millions(*parameters);
                format!(
                    "training  {parameters} parameters  steps {step} to {steps}  in {}",
                    directory.display()
                )
            }
            Event::Logged(figures) => {
                let left = self.time_left(figures.step, figures.seconds);
                format!(
                    "train  step {}/{}  loss {:.4}  {:.0} tokens/s{left}",
                    figures.step, self.steps, figures.loss, figures.tokens_per_second
                )
            }
            Event::Validated(figures) => validation_line(figures),
            Event::Noted(note) => format!("note: {note}"),
            Event::Finished { step, reason } => format!("finished at step {step}: {reason}"),
            Event::Stepped { .. } => return,
        };
        writeln!(std::io::stderr(), "{line}").ok(); // a closed pipe does not stop training
    }
}

impl Plain {
    fn time_left(&mut self, step: u64, seconds: f64) -> String {
        let (from, since) = *self.seconds.get_or_insert((step, seconds));
        if step <= from {
            return String::new();
        }
        let left = (seconds - since) / (step - from) as f64 * self.steps.saturating_sub(step) as f64;
        format!("  {} left", indicatif::HumanDuration(std::time::Duration::from_secs_f64(left.max(0.0))))
    }
}

pub(super) fn millions(count: usize) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.0} k", count as f64 / 1e3),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}
