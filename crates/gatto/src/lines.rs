//! Lines in, lines out.

use anyhow::{Context, Result};
use gatto::data::files;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// The longest line that is read, in bytes.
const LONGEST: u64 = 1 << 20;
/// How long to wait for more lines before the ones that are there are worked on.
const PAUSE: Duration = Duration::from_millis(50);

/// Reads lines from a file (gzipped or not) or standard input.
pub(crate) struct Lines {
    input: Box<dyn BufRead + Send>,
    name: String,
    read: u64,
}

impl Lines {
    /// Lines of `path`, or of standard input.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        Ok(match path {
            Some(path) => Self { input: files::open(path)?, name: path.display().to_string(), read: 0 },
            None => Self {
                input: Box::new(BufReader::new(std::io::stdin())),
                name: "standard input".to_owned(),
                read: 0,
            },
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
        anyhow::ensure!(
            line.len() as u64 <= LONGEST,
            "{}: is longer than {LONGEST} bytes; split it",
            place()
        );
        let text = String::from_utf8(line).ok();
        let text = text.with_context(|| format!("{}: is not valid UTF-8; convert the input", place()))?;
        self.read += 1;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
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
