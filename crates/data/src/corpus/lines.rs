//! Lines of text, one at a time and never more than [`MAX_LINE`] in memory.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::DataError;
use crate::error::LineProblem;
use crate::files::{Opened, open_either};

/// The longest line in bytes; a longer one is a bad line.
pub const MAX_LINE: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A cursor over the lines of a text. They end in `\n` or `\r\n`, and a byte order mark before the
/// first is no part of it.
pub struct Lines<R> {
    path: PathBuf,
    reader: R,
    /// Bytes of text before the cursor, after decompression.
    offset: u64,
    /// The line under way, kept for its memory.
    buffer: Vec<u8>,
    /// Whether the cursor stands inside a line that was too long, of which the rest is to be passed over.
    inside: bool,
}

/// A line as it was found.
pub type Line = Result<String, LineProblem>;

impl<R: BufRead> Lines<R> {
    /// The lines of `reader`, which messages call `path`.
    pub fn new(path: impl Into<PathBuf>, reader: R) -> Self {
        Self { path: path.into(), reader, offset: 0, buffer: Vec::new(), inside: false }
    }

    /// The file, or what stands for its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// How much memory the line under way has taken.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next line without its end, or `None` at the end of the text. A line that is too long is
    /// told as soon as that is known, and passed over by the next call.
    #[allow(
        clippy::should_implement_trait,
        reason = "reading can fail, which an iterator cannot tell apart from its end"
    )]
    pub fn next(&mut self) -> Result<Option<Line>, DataError> {
        while self.inside {
            self.inside = !self.take(0)?.ended;
        }
        let start = self.offset;
        // Room for the line end and a byte order mark beside the longest line.
        let room = MAX_LINE + BYTE_ORDER_MARK.len() + 2;
        self.buffer.clear();
        loop {
            let taken = self.take(room)?;
            if !taken.fits {
                self.inside = !taken.ended;
                return Ok(Some(Err(LineProblem::TooLong)));
            }
            if taken.ended {
                break;
            }
        }
        if self.offset == start {
            return Ok(None);
        }
        let mut line = self.buffer.as_slice();
        line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        if start == 0 {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.len() > MAX_LINE {
            return Ok(Some(Err(LineProblem::TooLong)));
        }
        Ok(Some(match std::str::from_utf8(line) {
            Ok(line) => Ok(line.to_owned()),
            Err(_) => Err(LineProblem::NotUtf8),
        }))
    }

    /// Takes what the reader has at hand, up to the end of the line, into a buffer of at most `room` bytes.
    fn take(&mut self, room: usize) -> Result<Taken, DataError> {
        let available = loop {
            match self.reader.fill_buf() {
                Ok(_) => break self.reader.fill_buf(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        let available = available.map_err(|error| DataError::Read { path: self.path.clone(), error })?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(available.len(), |end| end + 1);
        let taken = Taken { ended: end.is_some() || count == 0, fits: self.buffer.len() + count <= room };
        if taken.fits {
            self.buffer.extend_from_slice(&available[..count]);
        }
        self.reader.consume(count);
        self.offset += count as u64;
        Ok(taken)
    }
}

/// What became of the bytes at hand.
struct Taken {
    /// They were the last of the line.
    ended: bool,
    /// They went into the buffer; else they are gone.
    fits: bool,
}

impl Lines<Opened> {
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        Ok(Self::new(path, open_either(path)?))
    }

    /// Goes to the start of a line, `offset` bytes into the text. A plain file is sought, a gzipped
    /// one is decompressed up to there.
    pub(super) fn seek(&mut self, offset: u64) -> Result<(), DataError> {
        let changed =
            || DataError::Position { corpus: self.path.display().to_string(), at: format!("byte {offset}") };
        let failed = |error| DataError::Read { path: self.path.clone(), error };
        if offset == self.offset && !self.inside {
            return Ok(());
        }
        self.inside = false;
        let from = std::mem::replace(&mut self.offset, u64::MAX); // nowhere, should the seek fail
        // The byte before a line is the end of another: read it, to see that the file is still the same.
        let before = offset.saturating_sub(1);
        match &mut self.reader {
            Opened::Plain(reader) => {
                reader.seek(SeekFrom::Start(before)).map_err(failed)?;
            }
            Opened::Gzip(_) => {
                let skip = if before >= from {
                    before - from
                } else {
                    self.reader = open_either(&self.path)?;
                    before
                };
                if io::copy(&mut (&mut self.reader).take(skip), &mut io::sink()).map_err(failed)? < skip {
                    return Err(changed());
                }
            }
        }
        if offset > 0 {
            let mut last = [0];
            if self.reader.read(&mut last).map_err(failed)? == 0 {
                return Err(changed());
            }
            let at_end = self.reader.fill_buf().map_err(failed)?.is_empty();
            if last[0] != b'\n' && !at_end {
                return Err(changed());
            }
        }
        self.offset = offset;
        Ok(())
    }
}
