//! Exact match by source length, drawn beside that of other models.

use super::groups::{by_length, length};
use super::outcome::Outcome;
use super::translate;
use crate::cli::Evaluate;
use crate::lines::write_output;
use anyhow::{Result, ensure};
use gatto::Device;
use gatto::data::Example;
use gatto::inspect::curves::{self, Panel, Series};
use gatto::model::{Saved, Task};
use std::path::Path;

/// Loads a model to compare with.
fn another(arguments: &Evaluate, model: &Path, device: &Device) -> Result<Saved> {
    let saved = arguments.loading.load(model, device)?;
    ensure!(
        saved.task == Task::Translate,
        "{}: is for `task = \"{}\"`, and translators are compared with translators",
        model.display(),
        saved.task
    );
    Ok(saved)
}

/// Draws exact match by source length, of this model and of those that it is compared with.
pub(super) fn draw(
    path: &Path,
    arguments: &Evaluate,
    examples: &[Example],
    outcome: &Outcome,
    device: &Device,
) -> Result<()> {
    let lengths: Vec<usize> = examples.iter().map(length).collect();
    let groups = by_length(&lengths);
    let line = |model: &Path, outcome: &Outcome| {
        let points = groups.iter().map(|group| {
            let count = group.members.len() as f64;
            let words: usize = group.members.iter().map(|&member| lengths[member]).sum();
            let right = group.members.iter().filter(|&&member| outcome.answers[member].right).count();
            (words as f64 / count, right as f64 / count * 100.0)
        });
        let name = model.file_name().map_or_else(|| model.to_string_lossy(), |name| name.to_string_lossy());
        Series { name: name.into_owned(), points: points.collect() }
    };
    let mut series = vec![line(&arguments.model, outcome)];
    for model in &arguments.against {
        let other = translate::measure(arguments, &another(arguments, model, device)?, examples)?;
        series.push(line(model, &other));
    }
    let panel = Panel { title: "exact match, %".to_owned(), series, logarithmic: false };
    let picture = curves::svg(&[panel], "words of the source");
    write_output(Some(path), |out| Ok(out.write_all(picture.as_bytes())?))
}
