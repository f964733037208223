//! Lines of a text file, plain or gzipped, one at a time and never more than [`MAX_LINE`] in memory.

use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::DataError;
use crate::error::LineProblem;
use crate::files::{Opened, open_either};

/// The longest line in bytes; a longer one is a bad line.
pub const MAX_LINE: usize = 1 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A cursor over the lines of a file.
pub(super) struct Lines {
    path: PathBuf,
    reader: Opened,
    /// Bytes of text before the cursor, after decompression.
    offset: u64,
    /// The line under way, kept for its memory.
    buffer: Vec<u8>,
}

/// A line as it was found.
pub(super) type Line = Result<String, LineProblem>;

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        Ok(Self { path: path.to_owned(), reader: open_either(path)?, offset: 0, buffer: Vec::new() })
    }

    pub(super) fn path(&self) -> &Path {
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

    /// The next line without its end (`\n` or `\r\n`), or `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Line>, DataError> {
        let start = self.offset;
        // Room for the line end and a byte order mark beside the longest line.
        let room = MAX_LINE + BYTE_ORDER_MARK.len() + 2;
        let mut fits = true;
        self.buffer.clear();
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(DataError::Read { path: self.path.clone(), error }),
            };
            if available.is_empty() {
                break;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            fits &= self.buffer.len() + taken <= room;
            if fits {
                self.buffer.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            self.offset += taken as u64;
            if end.is_some() {
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
        if !fits || line.len() > MAX_LINE {
            return Ok(Some(Err(LineProblem::TooLong)));
        }
        Ok(Some(match std::str::from_utf8(line) {
            Ok(line) => Ok(line.to_owned()),
            Err(_) => Err(LineProblem::NotUtf8),
        }))
    }

    /// Goes to the start of a line, `offset` bytes into the text. A plain file is sought, a gzipped
    /// one is decompressed up to there.
    pub(super) fn seek(&mut self, offset: u64) -> Result<(), DataError> {
        let changed =
            || DataError::Position { corpus: self.path.display().to_string(), at: format!("byte {offset}") };
        let failed = |error| DataError::Read { path: self.path.clone(), error };
        if offset == self.offset {
            return Ok(());
        }
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
