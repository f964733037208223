//! Where a picture goes: to the terminal, or to a file that its name says the kind of.

use crate::lines::write_output;
use anyhow::{Result, bail, ensure};
use gatto::inspect::heatmap::{Colours, Heatmap, terminal};
use std::io::IsTerminal;
use std::path::Path;

/// Pixels of a PNG for one of the drawing's.
pub(super) const PNG_SCALE: f32 = 2.0;
/// Columns to draw in where there is no terminal to measure.
const COLUMNS: usize = 100;

/// A file that a picture can be written to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    Svg,
    Png,
    Html,
}

impl Format {
    /// What the end of a name says.
    pub(super) fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html" | "htm") => Ok(Self::Html),
            _ => bail!("{}: is neither .svg, .png nor .html; name the picture so", path.display()),
        }
    }

    /// Refuses more sentences than such a file holds.
    pub(super) fn check_sentences(self, path: &Path, sentences: usize) -> Result<()> {
        ensure!(
            self == Self::Html || sentences == 1,
            "{}: holds one picture, and there are {sentences} sentences; write to .html, which holds them all",
            path.display()
        );
        Ok(())
    }
}

/// Writes a picture; the file appears when it is whole.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    write_output(Some(path), |out| Ok(out.write_all(bytes)?))
}

/// A heatmap for standard output: as wide as the terminal, in the colours that it knows.
pub(crate) fn in_terminal(heatmap: &Heatmap) -> String {
    terminal(heatmap, columns(), colours())
}

/// How wide the terminal is.
pub(super) fn columns() -> usize {
    terminal_size::terminal_size().map_or(COLUMNS, |(width, _)| usize::from(width.0))
}

/// Which colours standard output knows.
pub(super) fn colours() -> Colours {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("NO_COLOR") || !std::io::stdout().is_terminal() {
        return Colours::None;
    }
    match std::env::var("COLORTERM").as_deref() {
        Ok("truecolor" | "24bit") => Colours::True,
        _ => Colours::Indexed,
    }
}
