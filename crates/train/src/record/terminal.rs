//! A progress bar with loss, speed, validation figures and the time left.

use super::plain::millions;
use super::{Event, Recorder, validation_line};
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on a terminal.
#[derive(Debug)]
pub struct Terminal {
    bar: ProgressBar,
}

impl Default for Terminal {
    fn default() -> Self {
        Self { bar: ProgressBar::hidden() }
    }
}

impl Recorder for Terminal {
    fn record(&mut self, event: &Event<'_>) {
        match event {
            Event::Preparing(what) => {
                self.bar = ProgressBar::new_spinner().with_message(format!("{what} …"));
                self.bar.enable_steady_tick(std::time::Duration::from_millis(200));
            }
            Event::Started { step, steps, parameters, directory } => {
                self.bar.finish_and_clear();
                let template = "{bar:30} {pos}/{len}  {msg}  {eta} left";
                let style =
                    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
                self.bar = ProgressBar::new(*steps).with_style(style).with_position(*step);
                self.bar.reset_eta();
                let parameters = millions(*parameters);
                self.bar.println(format!("training {parameters} parameters in {}", directory.display()));
            }
            Event::Stepped { step, loss, tokens_per_second } => {
                self.bar.set_message(format!("loss {loss:.3}  {tokens_per_second:.0} tokens/s"));
                self.bar.set_position(*step);
            }
            Event::Logged(_) => {}
            Event::Validated(figures) => self.bar.println(validation_line(figures)),
            Event::Noted(note) => self.bar.println(format!("note: {note}")),
            Event::Finished { step, reason } => {
                self.bar.finish_and_clear();
                self.bar.println(format!("finished at step {step}: {reason}"));
            }
        }
    }
}
