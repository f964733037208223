//! Lines in, lines out.

use anyhow::{Result, anyhow};
use gatto::data::{corpus, files};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// How long to wait for more lines before the ones that are there are worked on.
const PAUSE: Duration = Duration::from_millis(50);

/// Reads lines from a file (gzipped or not) or standard input.
pub(crate) struct Lines {
    lines: corpus::Lines<Box<dyn BufRead + Send>>,
    read: u64,
}

impl Lines {
    /// Lines of `path`, or of standard input.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let lines = match path {
            Some(path) => corpus::Lines::new(path, files::open(path)?),
            None => {
                corpus::Lines::new("standard input", Box::new(BufReader::new(std::io::stdin())) as Box<_>)
            }
        };
        Ok(Self { lines, read: 0 })
    }

    /// Lines of standard input, of which the first bytes were looked at.
    pub(crate) fn of(input: Box<dyn BufRead + Send>) -> Self {
        Self { lines: corpus::Lines::new("standard input", input), read: 0 }
    }

    /// What messages call the input.
    pub(crate) fn name(&self) -> String {
        self.lines.path().display().to_string()
    }

    /// The next line without its end, or `None` behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<String>> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        self.read += 1;
        let line = line.map_err(|problem| anyhow!("{}, line {}: {problem}", self.name(), self.read))?;
        Ok(Some(line))
    }

    /// Reads ahead in a thread of its own. The iterator gives whatever has arrived when nothing more
    /// comes for a moment, and at most `most` lines at a time.
    pub(crate) fn chunks(mut self, most: usize) -> impl Iterator<Item = Result<Vec<String>>> {
        let (sender, receiver) = mpsc::sync_channel(most);
        std::thread::spawn(move || {
            while let Some(line) = self.next().transpose() {
                let failed = line.is_err();
                if sender.send(line).is_err() || failed {
                    return;
                }
            }
        });
        let mut failure = None;
        std::iter::from_fn(move || {
            if let Some(error) = failure.take() {
                return Some(Err(error));
            }
            let mut lines = Vec::new();
            let mut next = receiver.recv().ok();
            while let Some(line) = next {
                match line {
                    Ok(line) => lines.push(line),
                    Err(error) if lines.is_empty() => return Some(Err(error)),
                    Err(error) => failure = Some(error), // after what came before it
                }
                let full = lines.len() == most || failure.is_some();
                next = if full { None } else { receiver.recv_timeout(PAUSE).ok() };
            }
            (!lines.is_empty()).then_some(Ok(lines))
        })
    }
}

/// Writes to standard output as it goes, or to a file that appears when it is whole.
pub(crate) fn write_output(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
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
