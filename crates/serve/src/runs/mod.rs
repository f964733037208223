//! Training runs in a folder, as they are now: what `gatto train` has written of them so far.
//!
//! A run is a folder with `config.toml` and `metrics.jsonl`, in the folder that is shown or in a folder of it. Nothing is
//! read that lies elsewhere, whatever links say. Files are read as a stream, and what is kept of them has a limit.

mod curves;
mod lines;

pub(crate) use curves::{Curve, Sampled, Wanted};

use crate::error::ServeError;
use crate::refusal::Refusal;
use curves::{Gathered, Summary};
use gatto_model::CONFIG;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;
use utoipa::ToSchema;

/// The figures of a run, in its folder.
const METRICS: &str = "metrics.jsonl";
/// The most runs that are shown.
const MOST_RUNS: usize = 256;
/// The most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 4096;
/// The most bytes of a configuration, and of figures.
const MOST_CONFIG: u64 = 1 << 20;
const MOST_METRICS: u64 = 256 << 20;
/// Files that are read at a time.
const READERS: usize = 2;
/// A run that has written nothing for so long is not going on, unless its lines are rare.
const QUIET: Duration = Duration::from_secs(60);
/// How many times the time between two lines it may be quiet.
const LINES_MISSED: f64 = 4.0;

/// A folder of runs.
pub(crate) struct Runs {
    /// Without links.
    folder: PathBuf,
    /// What was last read of each run.
    seen: Mutex<BTreeMap<String, (Written, Arc<Summary>)>>,
    readers: Semaphore,
}

/// When a file was written, and how long it is.
type Written = (SystemTime, u64);

/// A run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RunInfo {
    /// Its folder, in the folder of runs.
    #[schema(example = "phrases")]
    name: String,
    /// What its model is for.
    task: Option<String>,
    /// Whether it seems to be going on: it has steps left, and has written figures lately.
    going_on: bool,
    /// Updates made, as far as figures tell.
    step: u64,
    /// Updates to make, if the configuration says so.
    steps: Option<u64>,
    /// The last loss of training.
    train_loss: Option<f64>,
    /// The last loss of a validation.
    valid_loss: Option<f64>,
    /// The best validation so far.
    best: Option<BestValidation>,
    /// Seconds of training.
    seconds: Option<f64>,
    /// When its figures were written, in seconds since 1970.
    changed: f64,
}

/// The validation whose model was kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct BestValidation {
    step: u64,
    loss: Option<f64>,
}

/// All of a run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RunSeen {
    #[serde(flatten)]
    info: RunInfo,
    /// Its configuration, as it was given.
    configuration: String,
    /// Its figures by name, such as `train.loss` and `valid.accuracy`.
    curves: Vec<Curve>,
    /// What it wrote of some examples that it does not learn from, validation after validation.
    samples: Vec<Sampled>,
}

impl Runs {
    pub(crate) fn open(folder: &Path) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Runs { path: folder.to_owned(), error };
        let whole = fs::canonicalize(folder).map_err(failed)?;
        match whole.is_dir() {
            true => Ok(Self { folder: whole, seen: Mutex::default(), readers: Semaphore::new(READERS) }),
            false => Err(failed(io::Error::other("it is not a folder"))),
        }
    }

    /// The runs there are, by name.
    pub(crate) async fn all(self: &Arc<Self>) -> Result<Vec<RunInfo>, Refusal> {
        self.reading(|runs| {
            let names = runs.names();
            let mut seen = runs.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.retain(|name, _| names.contains(name));
            drop(seen);
            Ok(names.iter().filter_map(|name| runs.info(name).ok()).collect())
        })
        .await
    }

    /// One of them.
    pub(crate) async fn one(self: &Arc<Self>, name: String, wanted: Wanted) -> Result<RunSeen, Refusal> {
        self.reading(move |runs| {
            let info = runs.info(&name)?;
            let (metrics, _) = runs.metrics(&name)?;
            let Gathered { curves, samples } = curves::gather(metrics, &wanted).map_err(unreadable)?;
            Ok(RunSeen { info, configuration: runs.configuration(&name)?, curves, samples })
        })
        .await
    }

    /// Reads files where nobody else waits for it.
    async fn reading<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let _turn = self.readers.acquire().await.map_err(|_| Refusal::Stopping)?;
        let runs = self.clone();
        tokio::task::spawn_blocking(move || read(&runs)).await.map_err(|_| Refusal::Broken)?
    }

    /// The names of folders that are runs, here and in folders here.
    fn names(&self) -> Vec<String> {
        let mut found = Vec::new();
        for name in folders(&self.folder) {
            if self.is_run(&name) {
                found.push(name);
                continue;
            }
            let Ok(inner) = self.place(Path::new(&name)) else { continue };
            found.extend(
                folders(&inner)
                    .into_iter()
                    .map(|inside| format!("{name}/{inside}"))
                    .filter(|name| self.is_run(name)),
            );
            if found.len() >= MOST_RUNS {
                break;
            }
        }
        found.truncate(MOST_RUNS);
        found
    }

    fn is_run(&self, name: &str) -> bool {
        [CONFIG, METRICS].into_iter().all(|file| self.file(name, file).is_ok())
    }

    /// What a path in the folder stands for, if it lies in the folder.
    fn place(&self, inside: &Path) -> Result<PathBuf, Refusal> {
        let missing = || Refusal::Missing("no such run; see /v1/runs".to_owned());
        let parts: Vec<Component<'_>> = inside.components().collect();
        let plain = |part: &Component<'_>| matches!(part, Component::Normal(name) if !is_hidden(name));
        if !parts.iter().all(plain) || parts.len() > 3 {
            return Err(missing());
        }
        let whole = fs::canonicalize(self.folder.join(inside)).map_err(|_| missing())?;
        if whole.starts_with(&self.folder) { Ok(whole) } else { Err(missing()) }
    }

    /// A file of a run, if the run and the file lie in the folder.
    fn file(&self, name: &str, file: &str) -> Result<PathBuf, Refusal> {
        let missing = || Refusal::Missing("no such run; see /v1/runs".to_owned());
        let plain = |part: &str| !part.is_empty() && part != "." && !part.contains(['\\', '\0']);
        if name.split('/').count() > 2 || !name.split('/').all(plain) {
            return Err(missing());
        }
        let path = self.place(&Path::new(name).join(file))?;
        if path.is_file() { Ok(path) } else { Err(missing()) }
    }

    fn configuration(&self, name: &str) -> Result<String, Refusal> {
        let file = File::open(self.file(name, CONFIG)?).map_err(unreadable)?;
        let mut text = Vec::new();
        file.take(MOST_CONFIG + 1).read_to_end(&mut text).map_err(unreadable)?;
        match text.len() as u64 > MOST_CONFIG {
            true => Err(Refusal::Large(format!("the configuration has more than {MOST_CONFIG} bytes"))),
            false => Ok(String::from_utf8_lossy(&text).into_owned()),
        }
    }

    /// The figures of a run, as far as they have been written.
    fn metrics(&self, name: &str) -> Result<(File, Written), Refusal> {
        let file = File::open(self.file(name, METRICS)?).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        let written = (found.modified().unwrap_or(UNIX_EPOCH), found.len());
        match written.1 > MOST_METRICS {
            true => Err(Refusal::Large(format!("the figures have more than {} MiB", MOST_METRICS >> 20))),
            false => Ok((file, written)),
        }
    }

    fn info(&self, name: &str) -> Result<RunInfo, Refusal> {
        let (metrics, written) = self.metrics(name)?;
        let known = {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.get(name).filter(|(before, _)| *before == written).map(|(_, summary)| summary.clone())
        };
        let summary = match known {
            Some(summary) => summary,
            None => {
                let summary = Arc::new(curves::summary(metrics).map_err(unreadable)?);
                let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                if seen.len() < MOST_RUNS || seen.contains_key(name) {
                    seen.insert(name.to_owned(), (written, summary.clone()));
                }
                summary
            }
        };
        let config: toml::Table = self.configuration(name)?.parse().unwrap_or_default();
        let steps = config.get("train").and_then(|train| train.get("steps")?.as_integer());
        let steps = steps.and_then(|steps| u64::try_from(steps).ok());
        let quiet = SystemTime::now().duration_since(written.0).unwrap_or_default();
        let patience = QUIET.as_secs_f64() + LINES_MISSED * summary.between.unwrap_or_default().max(0.0);
        Ok(RunInfo {
            name: name.to_owned(),
            task: config.get("task").and_then(|task| task.as_str()).map(str::to_owned),
            going_on: steps.is_none_or(|steps| summary.step < steps) && quiet.as_secs_f64() < patience,
            step: summary.step,
            steps,
            train_loss: summary.train_loss,
            valid_loss: summary.valid_loss,
            best: summary.best.map(|(step, loss)| BestValidation { step, loss }),
            seconds: summary.seconds,
            changed: written.0.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        })
    }
}

/// The folders in a folder, by name. Links count if they lead to folders; where they lead is looked at later.
fn folders(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().take(MOST_ENTRIES).flatten();
    let folder = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let found = !is_hidden(&name) && entry.path().is_dir();
        found.then(|| name.to_str().map(str::to_owned)).flatten()
    };
    let mut found: Vec<String> = entries.filter_map(folder).collect();
    found.sort_unstable();
    found
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Where files lie is told to the log alone.
fn unreadable(error: io::Error) -> Refusal {
    tracing::warn!(%error, "a training run cannot be read");
    Refusal::Missing("the run cannot be read; see the log of the service".to_owned())
}

#[cfg(test)]
mod tests;
