//! Features on disk, so that a second epoch need not compute them again.
//!
//! Each recording has a file of its own, whose name is a hash of all that its features depend on: the settings, the speed,
//! and the recording's path, length and time of change. The file begins with these in full, so that no two are ever taken
//! for each other, and ends with a checksum. What is not whole is computed again and replaced. What belongs to other
//! settings stays where it is: remove the folder when it is no longer wanted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Crc;
use serde::Serialize;

use super::frames::Frames;
use super::mel::LogMel;
use super::prepare::Preparation;
use crate::random::mixed;
use crate::{DataError, WriteError, files};

const MAGIC: &[u8; 8] = b"gattofr1";
/// Another number wherever the same settings give other features than before.
const VERSION: u32 = 1;

/// A folder of features.
#[derive(Debug)]
pub struct FrameCache {
    folder: PathBuf,
    found: AtomicU64,
    made: AtomicU64,
    unwritten: AtomicU64,
}

/// What was found in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Features that were read.
    pub found: u64,
    /// Features that were computed.
    pub made: u64,
    /// Of these, those that could not be written: the disk is full, for instance.
    pub unwritten: u64,
}

/// All that features depend on.
#[derive(Serialize)]
struct Key<'a> {
    version: u32,
    rate: u32,
    features: &'a LogMel,
    deltas: usize,
    speed: u32,
    identity: &'a str,
}

impl FrameCache {
    /// A cache in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, DataError> {
        let folder = folder.into();
        fs::create_dir_all(&folder).map_err(|error| WriteError { path: folder.clone(), error })?;
        let count = || AtomicU64::new(0);
        Ok(Self { folder, found: count(), made: count(), unwritten: count() })
    }

    /// What was found so far.
    pub fn used(&self) -> CacheUse {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CacheUse { found: count(&self.found), made: count(&self.made), unwritten: count(&self.unwritten) }
    }

    /// The features of a recording: those that are kept, or else those that `make` computes, which are kept from then on.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(
        &self,
        preparation: &Preparation,
        speed: u32,
        identity: &str,
        make: impl FnOnce() -> Result<Frames, DataError>,
    ) -> Result<Frames, DataError> {
        let Preparation { rate, ref features, deltas, .. } = *preparation;
        let key = Key { version: VERSION, rate, features, deltas, speed, identity };
        // Of plain numbers and text, it always can be written.
        let key = serde_json::to_string(&key).unwrap_or_default();
        let path = self.path(&key);
        if let Some(frames) = fs::read(&path).ok().and_then(|bytes| parsed(&bytes, &key)) {
            self.found.fetch_add(1, Ordering::Relaxed);
            return Ok(frames);
        }
        let frames = make()?;
        self.made.fetch_add(1, Ordering::Relaxed);
        if files::replace_unsynced(&path, |out| out.write_all(&written(&frames, &key))).is_err() {
            self.unwritten.fetch_add(1, Ordering::Relaxed);
        }
        Ok(frames)
    }

    fn path(&self, key: &str) -> PathBuf {
        let hash = |start: u64| key.bytes().fold(start, |sum, byte| mixed(sum, u64::from(byte)));
        Path::new(&self.folder).join(format!("{:016x}{:016x}.frames", hash(1), hash(2)))
    }
}

fn written(frames: &Frames, key: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + key.len() + frames.values.len() * 4);
    bytes.extend(MAGIC);
    bytes.extend((key.len() as u64).to_le_bytes());
    bytes.extend(key.as_bytes());
    bytes.extend((frames.bands as u64).to_le_bytes());
    bytes.extend(frames.hop.to_le_bytes());
    bytes.extend((frames.values.len() as u64).to_le_bytes());
    bytes.extend(frames.values.iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(sum(&bytes).to_le_bytes());
    bytes
}

fn sum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// The frames of a file, if it is whole and they are those that the key asks for.
fn parsed(bytes: &[u8], key: &str) -> Option<Frames> {
    let (body, told) = bytes.split_last_chunk::<4>()?;
    if u32::from_le_bytes(*told) != sum(body) {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let length = u64::from_le_bytes(taken(&mut rest)?) as usize;
    rest = rest.strip_prefix(key.as_bytes()).filter(|_| length == key.len())?;
    let bands = u64::from_le_bytes(taken(&mut rest)?) as usize;
    let hop = f64::from_le_bytes(taken(&mut rest)?);
    let count = u64::from_le_bytes(taken(&mut rest)?) as usize;
    if bands == 0 || count.checked_mul(4)? != rest.len() || !count.is_multiple_of(bands) {
        return None;
    }
    let (values, _) = rest.as_chunks::<4>();
    Some(Frames { values: values.iter().map(|value| f32::from_le_bytes(*value)).collect(), bands, hop })
}

fn taken(rest: &mut &[u8]) -> Option<[u8; 8]> {
    let (first, others) = rest.split_first_chunk::<8>()?;
    *rest = others;
    Some(*first)
}
