//! The pages of an Ogg file: which are there, and what of the sound is lost with those that are not.
//!
//! A page tells which stream it belongs to, which of its pages it is, and at which sample it ends; its checksum tells
//! whether it is whole. What lies between the end of a page and the end of the next one that is there is lost if others
//! should stand between them: of the page behind a gap, one does not know where it begins.

use std::collections::HashMap;
use std::io::{self, Read, SeekFrom};

use symphonia::core::checksum::Crc32;
use symphonia::core::io::{MediaSource, Monitor};

use super::decode::{cut_short, damaged};
use super::error::SoundProblem;

const MARK: &[u8; 4] = b"OggS";
const HEADER: usize = 27;
/// Longer than any page.
const LONGEST: usize = HEADER + 255 + 255 * 255;
/// The flag of the last page of a stream.
const LAST: u8 = 4;
/// The end of a page in which no piece ends.
const NOWHERE: u64 = u64::MAX;

/// The pages of all streams of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pages(HashMap<u32, Stream>);

/// What the pages of a stream tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stream {
    /// The number of the page that was read last.
    number: u32,
    /// Where the pages up to it end, in samples.
    end: u64,
    /// Whether it was the last of the stream.
    last: bool,
    /// From where to where the sound is lost.
    lost: Vec<(u64, u64)>,
    /// Whether pages are missing before the next end that is told.
    missing: bool,
}

/// What of the wanted sound is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// From one sample to another.
    Between(u64, u64),
    /// All from somewhere on.
    End,
}

impl Lost {
    pub(super) fn problem(self, rate: u32) -> SoundProblem {
        match self {
            Self::Between(from, until) => damaged(from, until, rate),
            Self::End => cut_short(),
        }
    }
}

impl Pages {
    /// Reads all pages of a file.
    pub(super) fn read(source: &mut impl MediaSource) -> io::Result<Self> {
        source.seek(SeekFrom::Start(0))?;
        let mut found = Self::default();
        let (mut held, mut at, mut ended) = (Vec::new(), 0, false);
        loop {
            if held.len() - at < LONGEST && !ended {
                held.drain(..at);
                at = 0;
                let more = source.by_ref().take(8 * LONGEST as u64).read_to_end(&mut held)?;
                ended = more == 0;
                continue;
            }
            let Some(mark) = held[at..].windows(4).position(|bytes| bytes == MARK) else {
                if ended {
                    return Ok(found);
                }
                at = held.len() - 3;
                continue;
            };
            at += mark;
            if held.len() - at < LONGEST && !ended {
                continue;
            }
            at += match whole(&held[at..]) {
                Some(page) => {
                    found.add(page);
                    page.len()
                }
                None => MARK.len(),
            };
        }
    }

    fn add(&mut self, page: &[u8]) {
        let number = |at: usize| page[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let end = page[6..].first_chunk().map_or(NOWHERE, |bytes| u64::from_le_bytes(*bytes));
        let stream = self
            .0
            .entry(number(14))
            .or_insert_with(|| Stream { number: number(18).wrapping_sub(1), ..Stream::default() });
        stream.missing |= number(18) != stream.number.wrapping_add(1);
        (stream.number, stream.last) = (number(18), page[5] & LAST != 0);
        // Negative ends are those of pages that are all before the sound.
        if end == NOWHERE || end > i64::MAX as u64 {
            return;
        }
        if std::mem::take(&mut stream.missing) {
            stream.lost.push((stream.end, end));
        }
        stream.end = end;
    }

    /// Whether a stream goes to its last page.
    pub(super) fn ends(&self, stream: u32) -> bool {
        self.0.get(&stream).is_some_and(|stream| stream.last)
    }

    /// Refuses samples of a stream that are not there.
    pub(super) fn check(&self, stream: u32, from: u64, until: u64) -> Result<(), Lost> {
        let Some(stream) = self.0.get(&stream) else { return Err(Lost::End) };
        let wanted = |lost: &&(u64, u64)| lost.0 < until && from < lost.1;
        match stream.lost.iter().find(wanted) {
            Some(&(start, end)) => Err(Lost::Between(start.max(from), end.min(until))),
            None if !stream.last && until > stream.end => Err(Lost::End),
            None => Ok(()),
        }
    }
}

/// The page at the beginning of some bytes, if its checksum is right.
fn whole(bytes: &[u8]) -> Option<&[u8]> {
    let header = HEADER + usize::from(*bytes.get(HEADER - 1)?);
    let body: usize = bytes.get(HEADER..header)?.iter().map(|length| usize::from(*length)).sum();
    let page = bytes.get(..header + body)?;
    let mut sum = Crc32::new(0);
    sum.process_buf_bytes(&page[..22]);
    sum.process_buf_bytes(&[0; 4]);
    sum.process_buf_bytes(&page[26..]);
    (page[22..26] == sum.crc().to_le_bytes()).then_some(page)
}
