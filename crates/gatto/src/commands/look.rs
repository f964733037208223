//! `gatto look`

use super::sources::{require_attention, too_long};
use crate::cli::Look;
use crate::lines::{Lines, write_output};
use anyhow::{Context, Result, bail, ensure};
use gatto::Device;
use gatto::inspect::explain::explain;
use gatto::inspect::heatmap::{Colours, Heatmap, html, png, svg, terminal};
use gatto::inspect::look;
use gatto::model::{Forced, Saved};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Pixels of a PNG for one of the drawing's.
const PNG_SCALE: f32 = 2.0;
/// Letters of a source that stand in a message.
const SHOWN: usize = 40;
/// Columns to draw in where there is no terminal to measure.
const COLUMNS: usize = 100;

pub(crate) fn run(arguments: Look) -> Result<()> {
    let format = arguments.output.as_deref().map(format).transpose()?;
    super::compute(&arguments.compute.clone(), move |device| look_at(&arguments, format, device))?
}

/// A file that a picture can be written to.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Svg,
    Png,
    Html,
}

fn format(path: &Path) -> Result<Format> {
    match path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        Some("html" | "htm") => Ok(Format::Html),
        _ => bail!("{}: is neither .svg, .png nor .html; name the picture so", path.display()),
    }
}

fn look_at(arguments: &Look, format: Option<Format>, device: &Device) -> Result<()> {
    let saved = Saved::load(&arguments.model, device)?;
    require_attention(&saved, &arguments.model, arguments.explain)?;
    let sources = match &arguments.input {
        Some(text) => vec![text.clone()],
        None => all_lines()?,
    };
    ensure!(!sources.is_empty(), "there is no sentence to look at");
    ensure!(
        arguments.target.is_none() || sources.len() == 1,
        "--target is for one sentence, and there are {}",
        sources.len()
    );
    let mut pictures = sources.iter().map(|source| picture(&saved, source, arguments));
    match (format, &arguments.output) {
        (Some(format), Some(path)) => {
            ensure!(
                format == Format::Html || sources.len() == 1,
                "{}: holds one picture, and there are {} sentences; write to .html, which holds them all",
                path.display(),
                sources.len()
            );
            save(format, path, &pictures.collect::<Result<Vec<_>>>()?)
        }
        _ => pictures
            .try_for_each(|picture| Ok(writeln!(std::io::stdout().lock(), "{}", in_terminal(&picture?))?)),
    }
}

fn all_lines() -> Result<Vec<String>> {
    let mut lines = Lines::open(None)?;
    let mut found = Vec::new();
    while let Some(line) = lines.next()? {
        found.push(line);
    }
    Ok(found)
}

/// What the model makes of a source, and where it looks meanwhile.
fn picture(saved: &Saved, source: &str, arguments: &Look) -> Result<Heatmap> {
    let place = |_| {
        let start: String = source.chars().take(SHOWN).collect();
        format!("\u{201c}{start}{}\u{201d}", if start.len() < source.len() { "…" } else { "" })
    };
    let read = saved.encode_source(0, source).map_err(|error| too_long(error, place))?;
    let (written, text) = match &arguments.target {
        Some(target) => (saved.tokens.target.encode(target), saved.tokens.target.normalise(target)),
        None => {
            let mut predicted = saved.predict(&[source], 1)?;
            let predicted = predicted.pop().context("there is no prediction")?;
            (predicted.hypothesis.tokens, predicted.text)
        }
    };
    let (title, pair): (String, Forced) = (format!("{source} → {text}"), (read, written));
    let panels = if arguments.explain { 3 } else { 1 };
    Heatmap::check_size(pair.0.len() + 1, pair.1.len() + 1, panels)?;
    let heatmap = if arguments.explain {
        look::explained(&title, &explain(saved, &pair)?)?
    } else {
        let mut traces = saved.trace(std::slice::from_ref(&pair), 1)?;
        look::heatmap(&title, &traces.pop().context("there is no trace")?)?
    };
    let heatmap = if arguments.words { heatmap.merge_words() } else { heatmap };
    Ok(if arguments.no_end { heatmap.without_end() } else { heatmap })
}

fn save(format: Format, path: &Path, pictures: &[Heatmap]) -> Result<()> {
    let first = || pictures.first().context("there is no picture");
    let bytes = match format {
        Format::Html => html(pictures).into_bytes(),
        Format::Svg => svg(first()?).into_bytes(),
        Format::Png => png(first()?, PNG_SCALE)?,
    };
    write_output(Some(path), |out| Ok(out.write_all(&bytes)?))
}

/// A picture for standard output: as wide as the terminal, in the colours that it knows.
pub(crate) fn in_terminal(picture: &Heatmap) -> String {
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    terminal(picture, columns.unwrap_or(COLUMNS), colours())
}

fn colours() -> Colours {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("NO_COLOR") || !std::io::stdout().is_terminal() {
        return Colours::None;
    }
    match std::env::var("COLORTERM").as_deref() {
        Ok("truecolor" | "24bit") => Colours::True,
        _ => Colours::Indexed,
    }
}
