//! Lines in, lines out.

use anyhow::{Context, Result};
use gatto::data::files;
use std::io::{BufRead, Write};
use std::path::Path;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads lines from a file (gzipped or not) or standard input.
pub(crate) struct Lines {
    input: Box<dyn BufRead>,
    name: String,
    read: u64,
}

impl Lines {
    /// Lines of `path`, or of standard input.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        Ok(match path {
            Some(path) => Self { input: files::open(path)?, name: path.display().to_string(), read: 0 },
            None => Self { input: Box::new(std::io::stdin().lock()), name: "standard input".to_owned(), read: 0 },
        })
    }

    /// The next line without its end, or `None` behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        let mut limited = std::io::Read::take(&mut self.input, LONGEST + 1);
        let place = || format!("{}, line {}", self.name, self.read + 1);
        if limited.read_until(b'\n', &mut line).with_context(place)? == 0 {
            return Ok(None);
        }
        anyhow::ensure!(line.len() as u64 <= LONGEST, "{}: is longer than {LONGEST} bytes; split it", place());
        let text = String::from_utf8(line).ok();
        let text = text.with_context(|| format!("{}: is not valid UTF-8; convert the input", place()))?;
        self.read += 1;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    /// The next lines, at most `most`; none behind the last.
    pub(crate) fn chunk(&mut self, most: usize) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        while lines.len() < most
            && let Some(line) = self.next()?
        {
            lines.push(line);
        }
        Ok(lines)
    }
}

/// Writes to standard output as it goes, or to a file that appears when it is whole.
pub(crate) fn write_output(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let Some(path) = path else {
        return write(&mut std::io::stdout().lock());
    };
    let mut failure = None;
    let written = files::replace(path, |out| {
        write(out).map_err(|error| {
            let io = std::io::Error::other(error.to_string());
            failure = Some(error);
            io
        })
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}
