//! `gatto demo`

use super::look::in_terminal;
use super::new::recipe;
use crate::cli::Demo;
use anyhow::{Context, Result};
use gatto::Device;
use gatto::data::{Example, Part, files};
use gatto::inspect::heatmap::html;
use gatto::inspect::look;
use gatto::metrics::ExactMatch;
use gatto::model::Saved;
use gatto::train::{ConfigFile, Ending, RunOptions, corpora, run as train};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The sentence that the field is fond of. It is held out: no training example is this one.
const FAVOURITE: &str = "the cat is on the table";
/// Held-out sentences that are translated, and how many of them are shown.
const HELD_OUT: usize = 1000;
const SHOWN: usize = 8;
/// The alignment of the favourite, in the run directory.
const PAGE: &str = "alignment.html";

pub(crate) fn run(arguments: Demo) -> Result<()> {
    let directory = arguments.out.unwrap_or_else(free_directory);
    let text = recipe("demo").context("the demonstration's configuration is missing")?;
    let changes: Vec<String> =
        arguments.steps.map(|steps| format!("train.steps={steps}")).into_iter().collect();
    let file = ConfigFile::parse(Path::new("demo.toml"), text.to_owned(), PathBuf::new(), &changes)?;
    let stop = super::stop_on_interrupt();
    let mut recorder = super::recorder();
    let shown = super::compute(&arguments.compute, |device| -> Result<bool> {
        let options =
            RunOptions { directory: directory.clone(), resume: false, device: device.clone(), stop };
        let outcome = train(&file, &options, recorder.as_mut())?;
        if outcome.ending == Ending::Interrupted {
            return Ok(false);
        }
        show(&file, &directory, device)?;
        Ok(true)
    })??;
    match arguments.serve.filter(|_| shown) {
        Some(address) => super::serve::serve_demo(&directory, address, &arguments.compute),
        None => Ok(()),
    }
}

/// `runs/demo`, or the first of `runs/demo-2`, … that is free.
fn free_directory() -> PathBuf {
    let names = std::iter::once("demo".to_owned()).chain((2..).map(|n| format!("demo-{n}")));
    let mut paths = names.map(|name| Path::new("runs").join(name));
    paths.find(|path| !path.exists()).unwrap_or_else(|| PathBuf::from("runs/demo"))
}

fn show(file: &ConfigFile, directory: &Path, device: &Device) -> Result<()> {
    let saved = Saved::load(directory, device)?;
    let mut corpus =
        corpora::open(&file.config, &file.base, Part::Test)?.context("the task has no test part")?;
    let mut examples: Vec<Example> = Vec::new();
    while examples.len() < HELD_OUT
        && let Some(example) = corpus.next()?
    {
        examples.push(example);
    }
    let sources: Vec<&str> = examples.iter().map(|example| example.source.as_str()).collect();
    let outputs = super::predict_all(&saved, &sources, 64)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nsentences that it has never seen:")?;
    for (example, output) in examples.iter().zip(&outputs).take(SHOWN) {
        let right = output == &example.target;
        writeln!(out, "  {} {} → {output}", if right { "✓" } else { "✗" }, example.source)?;
        if !right {
            writeln!(out, "      should be: {}", example.target)?;
        }
    }
    let found =
        ExactMatch::of(outputs.iter().map(String::as_str).zip(examples.iter().map(|e| e.target.as_str())));
    writeln!(out, "exactly right: {:.1} % of {} held-out sentences\n", found.share() * 100.0, found.total)?;
    let favourite = saved.predict(&[FAVOURITE], 1)?.pop().context("there is no prediction")?;
    let title = format!("{FAVOURITE} → {}", favourite.text);
    let pair = (saved.tokens.source.encode(FAVOURITE), favourite.hypothesis.tokens);
    let trace = saved.trace(&[pair], 1)?.pop().context("there is no trace")?;
    let picture = look::heatmap(&title, &trace)?;
    writeln!(out, "{}", in_terminal(&picture))?;
    let page = directory.join(PAGE);
    let page_text = html(&[picture]);
    files::replace(&page, |out| out.write_all(page_text.as_bytes()))?;
    writeln!(
        out,
        "where it looked, to open in a browser: {}\n\
         the model is in {1}; try: echo \"the dog sees the cat\" | gatto predict {1}",
        page.display(),
        directory.display()
    )?;
    Ok(())
}
