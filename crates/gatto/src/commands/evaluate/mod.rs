//! `gatto evaluate`: predicts and measures.
//!
//! ```text
//! examples ──> Outcome: figures, answers, ranking      translate · labels · texts · images · sounds
//!                 │
//!                 ├── of all                           figures
//!                 ├── by source length, by a column    groups
//!                 ├── beside those of noisy sources    noise
//!                 └── the worst examples               worst
//! ```
//!
//! A figure knows what every example adds to it, so that whatever is looked at is a choice of examples.

mod alignment;
mod failures;
mod figures;
mod flags;
mod groups;
mod images;
mod labels;
mod metrics;
mod noise;
mod outcome;
mod plot;
mod report;
mod sounds;
mod table;
mod texts;
mod translate;
mod worst;

pub(crate) use flags::Asked;

use crate::cli::Evaluate;
use crate::commands::sources::{self, Grouping};
use anyhow::{Result, bail, ensure};
use gatto::Device;
use gatto::data::Example;
use gatto::model::{Saved, Task};
use outcome::Outcome;
use report::Report;

/// Examples of a built-in task, which has no end to speak of, unless told otherwise.
const OF_A_BUILTIN_TASK: u64 = 2000;

pub(crate) fn run(arguments: Evaluate) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| evaluate(&arguments, device))?
}

fn evaluate(arguments: &Evaluate, device: &Device) -> Result<()> {
    if let Some(path) = arguments.plot.as_ref().filter(|path| path.extension() != Some("svg".as_ref())) {
        bail!("{}: is no .svg; name the plot so", path.display());
    }
    let saved = arguments.loading.load(&arguments.model, device)?;
    check(arguments, saved.task)?;
    if saved.plan.images.is_some() {
        return images::evaluate(arguments, &saved);
    }
    if saved.plan.sound.is_some() {
        return sounds::evaluate(arguments, &saved);
    }
    ensure!(
        arguments.failures.is_none(),
        "--failures is for captions, and {} reads texts",
        arguments.model.display()
    );
    let grouping =
        Grouping { column: arguments.asked.by.as_deref(), file: arguments.asked.by_file.as_deref() };
    let mut examples =
        sources::grouped_examples(&arguments.held, &saved, &arguments.model, OF_A_BUILTIN_TASK, grouping)?;
    if let Some(path) = &arguments.alignments {
        sources::require_attention(&saved, &arguments.model, false)?;
        examples = sources::with_alignments(examples, path, arguments.held.examples.is_none())?;
    }
    let measure = |examples: &[Example]| measure(arguments, &saved, examples);
    let outcome = measure(&examples)?;
    if let Some(path) = &arguments.plot {
        plot::draw(path, arguments, &examples, &outcome, device)?;
    }
    let alignment = alignment::error_rate(&saved, &examples, arguments)?;
    let effects = noise::effects(&arguments.asked, &saved, &examples, measure)?;
    let lengths = examples.iter().map(groups::length).collect();
    Report { arguments, examples: &examples, lengths, outcome: &outcome, alignment, effects: &effects }
        .print()
}

/// Refuses flags that do not go with the task of a model.
fn check(arguments: &Evaluate, task: Task) -> Result<()> {
    let model = arguments.model.display();
    for (flag, given) in
        [("--plot", arguments.plot.is_some()), ("--alignments", arguments.alignments.is_some())]
    {
        ensure!(
            !given || task == Task::Translate,
            "{flag} is for translators, and {model} is for `task = \"{task}\"`"
        );
    }
    ensure!(
        arguments.asked.metric.is_empty() || task.writes_of_sources(),
        "--metric is for what is written, and {model} is for `task = \"{task}\"`"
    );
    let answers = task.writes_of_sources() || task.has_labels();
    ensure!(
        arguments.wrong == 0 || answers,
        "--wrong is for translations and labels, and {model} is a language model"
    );
    ensure!(
        arguments.asked.noise.is_empty() || answers,
        "--noise is for translations and labels, and {model} is a language model: a disturbed text is another \
         text, and as improbable as it should be"
    );
    Ok(())
}

/// What a model makes of examples.
fn measure(arguments: &Evaluate, saved: &Saved, examples: &[Example]) -> Result<Outcome> {
    match saved.task {
        Task::Translate => translate::measure(arguments, saved, examples),
        Task::Classify | Task::Label => labels::measure(arguments, saved, examples),
        _ => texts::measure(arguments, saved, examples),
    }
}
