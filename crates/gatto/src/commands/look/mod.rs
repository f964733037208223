//! `gatto look`

mod attention;
mod images;
mod picture;
mod sounds;
mod tree;

pub(super) use picture::in_terminal;

use super::predict::check_search;
use crate::cli::Look;
use crate::lines::Lines;
use anyhow::{Result, bail, ensure};
use gatto::Device;
use gatto::model::Saved;
use picture::Format;

/// Letters of a source that stand in a message.
const SHOWN: usize = 40;

pub(crate) fn run(arguments: Look) -> Result<()> {
    let format = arguments.output.as_deref().map(Format::of).transpose()?;
    super::compute(&arguments.compute.clone(), move |device| look_at(&arguments, format, device))?
}

fn look_at(arguments: &Look, format: Option<Format>, device: &Device) -> Result<()> {
    // Gradients are those of the parameters.
    let load = if arguments.explain { Saved::load_whole } else { Saved::load };
    let saved = load(&arguments.model, device)?;
    let mut saved = super::sources::masked(saved, &arguments.mask_head, &arguments.model)?;
    if arguments.tree {
        tree::require_search(&saved, &arguments.model)?;
    }
    let phrases = !arguments.wish.must.is_empty();
    if arguments.search.is_given() || phrases {
        ensure!(
            saved.task.writes_of_sources(),
            "--beam and the other flags of search are for models that write of a source, and {} is for `task = \"{}\"`",
            arguments.model.display(),
            saved.task
        );
        saved.search = arguments.search.over(&saved.search, phrases);
    }
    if let Some(flag) = arguments.wish.given().filter(|_| !arguments.tree) {
        bail!("{flag} is for --tree; to look at another output, write it behind --target");
    }
    check_search(&saved, arguments.n_best as usize, 1, 1)?;
    let look = match (arguments.tree, saved.plan.images.is_some(), saved.plan.sound.is_some()) {
        (true, _, _) => tree::look,
        (false, true, _) => images::look,
        (false, _, true) => sounds::look,
        (false, false, false) => attention::look,
    };
    look(&saved, arguments, format)
}

/// The sentences to look at: that of the command line, or the lines of standard input.
fn sources(arguments: &Look) -> Result<Vec<String>> {
    let sources = match &arguments.input {
        Some(text) => vec![text.clone()],
        None => all_lines()?,
    };
    ensure!(!sources.is_empty(), "there is no sentence to look at");
    Ok(sources)
}

fn all_lines() -> Result<Vec<String>> {
    let mut lines = Lines::open(None)?;
    let mut found = Vec::new();
    while let Some(line) = lines.next()? {
        found.push(line);
    }
    Ok(found)
}

/// The beginning of a source, for a message.
fn quoted(source: &str) -> String {
    let start: String = source.chars().take(SHOWN).collect();
    format!("\u{201c}{start}{}\u{201d}", if start.len() < source.len() { "…" } else { "" })
}
