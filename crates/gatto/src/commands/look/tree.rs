//! The beam as a tree.

use super::picture::{Format, PNG_SCALE, colours, columns, save};
use super::{quoted, sources};
use crate::cli::Look;
use crate::commands::images::Images;
use crate::commands::sounds::Sounds;
use crate::commands::sources::too_long;
use anyhow::{Context, Result, ensure};
use gatto::inspect::look;
use gatto::inspect::tree::{Tree, html, png, svg, terminal};
use gatto::model::{Asked, Request, Saved, Writers};
use std::io::Write;
use std::path::Path;

/// Refuses a model that does not search.
pub(super) fn require_search(saved: &Saved, model: &Path) -> Result<()> {
    ensure!(
        saved.task.writes_of_sources(),
        "{}: is for `task = \"{}\"` and follows no hypotheses, so there is no tree to draw\n  \
         hint: give a model with `task = \"translate\"`",
        model.display(),
        saved.task
    );
    Ok(())
}

pub(super) fn look(saved: &Saved, arguments: &Look, format: Option<Format>) -> Result<()> {
    let sources = sources(arguments)?;
    let mut trees = sources.iter().map(|source| tree_of(saved, source, arguments));
    let (Some(format), Some(path)) = (format, &arguments.output) else {
        let drawn = |tree: Result<Tree>| {
            Ok(writeln!(std::io::stdout().lock(), "{}", terminal(&tree?, columns(), colours()))?)
        };
        return trees.try_for_each(drawn);
    };
    format.check_sentences(path, sources.len())?;
    let bytes = match format {
        Format::Html => html(&trees.collect::<Result<Vec<_>>>()?).into_bytes(),
        Format::Svg => svg(&trees.next().context("there is no tree")??).into_bytes(),
        Format::Png => png(&trees.next().context("there is no tree")??, PNG_SCALE)?,
    };
    save(path, &bytes)
}

fn tree_of(saved: &Saved, source: &str, arguments: &Look) -> Result<Tree> {
    let (count, beside) = (arguments.n_best as usize, usize::from(arguments.beside));
    let constraints = arguments.wish.constraints(saved)?;
    let image = match Images::of(saved, &arguments.model)? {
        Some(images) => images.pixels(&[source])?.pop(),
        None => None,
    };
    let frames = match Sounds::of(saved, &arguments.model, None)? {
        Some(sounds) => Some(sounds.whole(source)?),
        None => None,
    };
    let asked = match (&image, &frames) {
        (Some(image), _) => Asked::Image(image),
        (_, Some(frames)) => Asked::Sound(frames),
        _ => Asked::Text(source),
    };
    let searched = Writers::alone(saved)?
        .searched(Request::new(asked, &constraints), count, beside)
        .map_err(|error| too_long(error, |_| quoted(source)))?;
    let written = searched.best.first().map_or("", |best| best.text.as_str());
    let title = format!("{source} → {written}");
    look::tree(&title, saved.search.beam, searched, &saved.tokens.target)
        .with_context(|| format!("{}: cannot be drawn", quoted(source)))
}
