//! `origin.json`: where a run came from, so that its relative paths keep their meaning.

use gatto_data::WriteError;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use crate::config::ConfigFile;

const ORIGIN: &str = "origin.json";

/// Where a run came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The folder that relative paths of the configuration start at.
    pub base: PathBuf,
    /// The program that made the run.
    pub version: String,
}

impl Origin {
    /// That of a run with this configuration.
    pub fn of(file: &ConfigFile) -> Self {
        let base = std::path::absolute(&file.base).unwrap_or_else(|_| file.base.clone());
        // An empty path has no absolute form: it is the folder that the program runs in.
        let base = if base.as_os_str().is_empty() { std::env::current_dir().unwrap_or(base) } else { base };
        Self { base, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// Writes it to a run directory.
    pub fn save(&self, directory: &Path) -> Result<(), WriteError> {
        gatto_data::files::replace(&directory.join(ORIGIN), |out| {
            serde_json::to_writer_pretty(out, self).map_err(std::io::Error::other)
        })
    }

    /// Reads it from a run directory, if it is there.
    pub fn load(directory: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(directory.join(ORIGIN)).ok()?).ok()
    }
}
