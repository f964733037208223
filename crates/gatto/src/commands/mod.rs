//! One file per subcommand.

mod completions;
mod demo;
pub(crate) mod evaluate;
mod explain_report;
mod images;
mod info;
mod look;
mod man;
pub(crate) mod metric;
mod new;
mod predict;
mod quantize;
mod score;
mod serve;
mod shortlist;
mod sounds;
mod sources;
mod tables;
mod train;

use crate::cli::{Command, Compute, Together};
use anyhow::{Context, Result};
use gatto::Device;
use gatto::model::{ModelError, Saved};
use gatto::train::record::{Plain, Recorder, Terminal};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a subcommand.
pub(crate) fn run(command: Command) -> Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::New(arguments) => new::run(arguments),
        Command::Train(arguments) => train::run(arguments),
        Command::Predict(arguments) => predict::run(*arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Evaluate(arguments) => evaluate::run(arguments),
        Command::Metric(arguments) => metric::run(arguments),
        Command::Look(arguments) => look::run(arguments),
        Command::ExplainReport(arguments) => explain_report::run(arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Quantize(arguments) => quantize::run(arguments),
        Command::Shortlist(arguments) => shortlist::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}

/// Computes inside a pool of the wished number of threads: from outside, every parallel section
/// would be handed over to it.
fn compute<T: Send>(compute: &Compute, work: impl FnOnce(&Device) -> T + Send) -> Result<T> {
    let threads = compute.threads.map_or(0, usize::from); // 0: one per core
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.context("cannot start the threads to compute with")?;
    Ok(pool.install(|| work(&Device::flex())))
}

/// A progress bar on a terminal, plain lines elsewhere.
fn recorder() -> Box<dyn Recorder + Send> {
    if std::io::stderr().is_terminal() { Box::new(Terminal::default()) } else { Box::new(Plain::default()) }
}

/// A progress bar over `count` examples, with the time left.
fn bar(count: usize, done: &str) -> ProgressBar {
    let template = format!("{{bar:30}} {{pos}}/{{len}} {done}  {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(count as u64).with_style(style)
}

/// What a model makes of many sources, with a progress bar where it takes a while.
fn predict_all(saved: &Saved, sources: &[&str], batch: usize) -> Result<Vec<String>> {
    let bar = bar(sources.len(), "predicted");
    let mut outputs = Vec::with_capacity(sources.len());
    for chunk in sources.chunks(batch * 16) {
        let place = |index| format!("example {}", outputs.len() + index + 1);
        let predictions = saved.predict(chunk, batch).map_err(|error| sources::too_long(error, place))?;
        outputs.extend(predictions.into_iter().map(|prediction| prediction.text));
        bar.inc(chunk.len() as u64);
    }
    bar.finish_and_clear();
    Ok(outputs)
}

/// The models that write together with another.
fn others(given: &Together, load: impl Fn(&Path) -> Result<Saved, ModelError>) -> Result<Vec<Saved>> {
    given.with.iter().map(|path| Ok(load(path)?)).collect()
}

/// A flag that Ctrl-C sets; pressed again, it ends the process at once.
fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    // Without a handler Ctrl-C ends the process, and the last checkpoint stands.
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        let message = "stopping after this step; press Ctrl-C again to stop at once";
        writeln!(std::io::stderr(), "{message}").ok();
    })
    .ok();
    stop
}
