//! `metrics.jsonl`: one JSON object per line of figures, with an exact place to go on from.

use super::{SampleFigures, StepFigures, ValidFigures};
use crate::checkpoint::failed;
use crate::error::TrainError;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Entry {
    /// Figures of training.
    Train(StepFigures),
    /// Figures of a validation.
    Valid(ValidFigures),
    /// What was written of some examples of a validation.
    Samples(SampleFigures),
}

/// The open file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Journal {
    /// Opens the file and forgets all that stands behind its first `bytes` bytes: what a run wrote
    /// after the checkpoint that it goes on from.
    pub fn open(path: &Path, bytes: u64) -> Result<Self, TrainError> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let mut file = file.map_err(failed(path, "cannot be opened"))?;
        let length = file.metadata().map_err(failed(path, "cannot be read"))?.len();
        let bytes = bytes.min(length); // a person may have shortened it
        file.set_len(bytes).map_err(failed(path, "cannot be cut"))?;
        file.seek(SeekFrom::End(0)).map_err(failed(path, "cannot be read"))?;
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    /// Adds a line.
    pub fn write(&mut self, entry: &Entry) -> Result<(), TrainError> {
        let mut line = serde_json::to_vec(entry).unwrap_or_default();
        line.push(b'\n');
        self.file.write_all(&line).map_err(failed(&self.path, "cannot be written"))?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Makes sure that what was written survives; gives its length.
    pub fn sync(&mut self) -> Result<u64, TrainError> {
        self.file.sync_data().map_err(failed(&self.path, "cannot be written to disk"))?;
        Ok(self.bytes)
    }

    /// All lines of a file that can be read.
    pub fn read(path: &Path) -> Result<Vec<Entry>, TrainError> {
        let file = File::open(path).map_err(failed(path, "cannot be read"))?;
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        Ok(lines.filter_map(|line| serde_json::from_str(&line).ok()).collect())
    }
}
