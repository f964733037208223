//! WAV files that were written into a pipe.
//!
//! Who writes into a pipe cannot go back to put in the length, and leaves one that no file has (`ffmpeg` 2³² - 1, `sox`
//! nearly 2³¹). Such a file is as long as it is.

use std::io::{self, Read, Seek, SeekFrom};

use symphonia::core::io::MediaSource;

/// Lengths from here on are no lengths, if the file ends before.
const UNKNOWN: u32 = 0x7fff_0000;

/// A file, with other bytes in the place of those that hold its length if these are wrong.
pub(super) struct Piped<S> {
    source: S,
    place: u64,
    /// Where the length stands, and what it should be.
    length: Option<(u64, [u8; 4])>,
    /// Whether readers are told that they may go back.
    seekable: bool,
}

impl<S: MediaSource> Piped<S> {
    /// Looks for the length of the sound in a WAV file, and sees whether it is one.
    pub(super) fn of_wav(mut source: S, start: u64) -> io::Result<Self> {
        let end = source.seek(SeekFrom::End(0))?;
        let mut length = None;
        let mut at = start + 12;
        while at + 8 <= end {
            let mut head = [0; 8];
            source.seek(SeekFrom::Start(at))?;
            source.read_exact(&mut head)?;
            let [.., a, b, c, d] = head;
            let told = u32::from_le_bytes([a, b, c, d]);
            let left = end - at - 8;
            if head.starts_with(b"data") {
                if told >= UNKNOWN && u64::from(told) > left {
                    length = u32::try_from(left).ok().map(|left| (at + 4, left.to_le_bytes()));
                }
                break;
            }
            // Chunks begin at even places.
            at += 8 + u64::from(told) + u64::from(told & 1);
        }
        source.seek(SeekFrom::Start(0))?;
        Ok(Self { source, place: 0, length, seekable: true })
    }

    /// A file as it is.
    pub(super) fn not(mut source: S) -> io::Result<Self> {
        source.seek(SeekFrom::Start(0))?;
        Ok(Self { source, place: 0, length: None, seekable: true })
    }

    /// A file that is read from its beginning to its end, and never back.
    pub(super) fn forwards(source: S) -> io::Result<Self> {
        Ok(Self { seekable: false, ..Self::not(source)? })
    }
}

impl<S: Read> Read for Piped<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(into)?;
        if let Some((at, bytes)) = self.length {
            for (place, byte) in (at..).zip(bytes) {
                let read =
                    place.checked_sub(self.place).and_then(|place| into[..count].get_mut(place as usize));
                if let Some(read) = read {
                    *read = byte;
                }
            }
        }
        self.place += count as u64;
        Ok(count)
    }
}

impl<S: Seek> Seek for Piped<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.place = self.source.seek(to)?;
        Ok(self.place)
    }
}

impl<S: MediaSource> MediaSource for Piped<S> {
    fn is_seekable(&self) -> bool {
        self.seekable && self.source.is_seekable()
    }

    fn byte_len(&self) -> Option<u64> {
        self.source.byte_len()
    }
}
