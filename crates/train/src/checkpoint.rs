//! Checkpoints: all that it takes to go on as if training had never stopped.
//!
//! `checkpoints/step-00001000/` holds `weights.safetensors`, `optimiser.safetensors` and
//! `state.json`, which knows length and checksum of the other two. The folder is written under
//! another name and renamed when it is whole, so that a checkpoint exists or it does not.

use crate::error::TrainError;
use crate::optimiser::Optimiser;
use crate::schedule::ScheduleState;
use gatto_data::StreamState;
use gatto_model::weights::{self, Weight, Weights};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const WEIGHTS: &str = "weights.safetensors";
const OPTIMISER: &str = "optimiser.safetensors";
const STATE: &str = "state.json";
const UNFINISHED: &str = ".tmp";

/// Everything about a run but its weights and moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Updates made.
    pub step: u64,
    /// Where the data is.
    pub stream: StreamState,
    /// Where the learning rate is.
    pub schedule: ScheduleState,
    /// The best validation figure so far, and its step.
    pub best: Option<(f64, u64)>,
    /// Validations since then.
    pub waited: u64,
    /// Target tokens learnt from.
    pub tokens: u64,
    /// Seconds spent, over all sessions.
    pub seconds: f64,
    /// Loss and tokens since the last line of figures.
    pub pending: (f64, u64),
    /// A mean of the loss per token that forgets: 19 parts of itself to one of an update's.
    #[serde(default)]
    pub average_loss: Option<f64>,
    /// Bytes of `metrics.jsonl` that belong to the run up to here.
    pub metrics_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct StateFile {
    run: RunState,
    files: BTreeMap<String, Seal>,
}

/// What a file must be to be whole.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Seal {
    bytes: u64,
    crc32c: u32,
}

impl Seal {
    fn of(path: &Path) -> Result<Self, TrainError> {
        let content = fs::read(path).map_err(failed(path, "cannot be read"))?;
        Ok(Self { bytes: content.len() as u64, crc32c: crc32c::crc32c(&content) })
    }
}

/// A moment of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where everything is.
    pub run: RunState,
    /// The parameters.
    pub weights: Weights,
    /// What the optimiser remembers.
    pub optimiser: Optimiser,
}

pub(crate) fn failed<'a>(
    path: &'a Path,
    action: &'static str,
) -> impl FnOnce(std::io::Error) -> TrainError + 'a {
    move |error| TrainError::Files { path: path.to_owned(), action, error }
}

fn name(step: u64) -> String {
    format!("step-{step:08}")
}

/// The checkpoints in a folder, oldest first. What was never finished does not count.
pub fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>, TrainError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed(folder, "cannot be read"))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed(folder, "cannot be read"))?.path();
        let step = path.file_name().and_then(|name| name.to_str()?.strip_prefix("step-")?.parse().ok());
        if let Some(step) = step.filter(|&step| path.ends_with(name(step))) {
            found.push((step, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what a killed process left unfinished in the folder of a run, and nothing else.
pub fn tidy(folder: &Path) -> Result<(), TrainError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        if is_unfinished(&path.file_name().unwrap_or_default().to_string_lossy()) {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(failed(&path, "cannot be removed"))?;
        }
    }
    Ok(())
}

/// Whether a name is one that [`gatto_data::files::replace`] (`.file.PID.N.tmp`) or
/// [`Checkpoint::save`] (`step-N.tmp`) gives to what is not whole yet.
fn is_unfinished(name: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some(name) = name.strip_suffix(UNFINISHED) else { return false };
    let mut parts = name.rsplitn(3, '.');
    let hidden = parts.next().is_some_and(digits)
        && parts.next().is_some_and(digits)
        && parts.next().is_some_and(|file| file.starts_with('.'));
    hidden || name.strip_prefix("step-").is_some_and(digits)
}

fn sync(path: &Path) -> Result<(), TrainError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed(path, "cannot be written to disk"))
}

/// Which checkpoints stay when a new one is there: always the same ones at the same step, however
/// often the run was interrupted on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The most that stay, the new one included.
    pub last: usize,
    /// Steps between two regular checkpoints. Others go once a later one is there.
    pub every: u64,
    /// Whether the new one comes from an interruption: it then counts for nothing.
    pub passing: bool,
}

impl Keep {
    /// Removes what need not stay beside the checkpoint of step `new`: all that is not regular, and
    /// the oldest. One of a later step was damaged, or the run would not have gone back behind it.
    pub(crate) fn prune(&self, folder: &Path, new: u64) -> Result<(), TrainError> {
        let room = if self.passing { self.last } else { self.last.saturating_sub(1) };
        let (regular, mut others): (Vec<_>, Vec<_>) = list(folder)?
            .into_iter()
            .filter(|(step, _)| *step != new)
            .partition(|(step, _)| step.is_multiple_of(self.every) && *step < new);
        let surplus = regular.len().saturating_sub(room);
        others.extend(regular.into_iter().take(surplus));
        for (step, old) in others {
            // Under the name of something unfinished first: killed here, it is no checkpoint any more.
            let unfinished = folder.join(format!("{}{UNFINISHED}", name(step)));
            fs::rename(&old, &unfinished).map_err(failed(&old, "cannot be removed"))?;
            fs::remove_dir_all(&unfinished).map_err(failed(&unfinished, "cannot be removed"))?;
        }
        Ok(())
    }
}

impl Checkpoint {
    /// Writes the checkpoint into `folder`, whole or not at all, and removes those that need not stay.
    pub fn save(&self, folder: &Path, keep: Keep) -> Result<PathBuf, TrainError> {
        fs::create_dir_all(folder).map_err(failed(folder, "cannot be created"))?;
        let place = folder.join(name(self.run.step));
        let unfinished = folder.join(format!("{}{UNFINISHED}", name(self.run.step)));
        let written = self.write(&unfinished).and_then(|()| {
            if place.exists() {
                fs::remove_dir_all(&place).map_err(failed(&place, "cannot be replaced"))?;
            }
            fs::rename(&unfinished, &place).map_err(failed(&place, "cannot be created"))?;
            sync(folder)
        });
        if let Err(error) = written {
            fs::remove_dir_all(&unfinished).ok(); // nothing half-written is left behind
            return Err(error);
        }
        keep.prune(folder, self.run.step)?;
        Ok(place)
    }

    fn write(&self, folder: &Path) -> Result<(), TrainError> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed(folder, "cannot be removed"))?;
        }
        fs::create_dir(folder).map_err(failed(folder, "cannot be created"))?;
        weights::save(&folder.join(WEIGHTS), &self.weights)?;
        weights::save(&folder.join(OPTIMISER), &self.moments())?;
        let mut files = BTreeMap::new();
        for file in [WEIGHTS, OPTIMISER] {
            files.insert(file.to_owned(), Seal::of(&folder.join(file))?);
        }
        let path = folder.join(STATE);
        let state = StateFile { run: self.run.clone(), files };
        gatto_data::files::replace(&path, |out| {
            serde_json::to_writer_pretty(out, &state).map_err(std::io::Error::other)
        })?;
        sync(folder)
    }

    fn moments(&self) -> Weights {
        let named = |kind: &str, memory: &BTreeMap<String, Vec<f32>>| {
            memory
                .iter()
                .map(|(name, values)| {
                    let weight = Weight { shape: vec![values.len()], values: values.clone() };
                    (format!("{kind}.{name}"), weight)
                })
                .collect::<Weights>()
        };
        let mut moments = named("first", &self.optimiser.first);
        moments.extend(named("second", &self.optimiser.second));
        moments
    }

    /// Reads the checkpoint in `folder`, and refuses one that is not as it was written.
    pub fn load(folder: &Path) -> Result<Self, TrainError> {
        let damaged = |message: String| TrainError::Damaged { path: folder.to_owned(), message };
        let path = folder.join(STATE);
        let text =
            fs::read_to_string(&path).map_err(|error| damaged(format!("{STATE} cannot be read: {error}")))?;
        let state: StateFile =
            serde_json::from_str(&text).map_err(|error| damaged(format!("{STATE} is not valid: {error}")))?;
        for file in [WEIGHTS, OPTIMISER] {
            let found = Seal::of(&folder.join(file)).map_err(|error| damaged(error.to_string()))?;
            if state.files.get(file) != Some(&found) {
                return Err(damaged(format!("{file} is not as it was written")));
            }
        }
        let weights = weights::load(&folder.join(WEIGHTS))?;
        let mut optimiser = Optimiser::default();
        for (name, weight) in weights::load(&folder.join(OPTIMISER))? {
            match name.split_once('.') {
                Some(("first", name)) => drop(optimiser.first.insert(name.to_owned(), weight.values)),
                Some(("second", name)) => drop(optimiser.second.insert(name.to_owned(), weight.values)),
                _ => return Err(damaged(format!("{OPTIMISER} has an unknown part `{name}`"))),
            }
        }
        Ok(Self { run: state.run, weights, optimiser })
    }

    /// Reads the newest checkpoint that is whole, and tells what was wrong with newer ones.
    pub fn newest(folder: &Path) -> Result<(Option<Self>, Vec<TrainError>), TrainError> {
        let mut damaged = Vec::new();
        for (_, path) in list(folder)?.into_iter().rev() {
            match Self::load(&path) {
                Ok(checkpoint) => return Ok((Some(checkpoint), damaged)),
                Err(error) => damaged.push(error),
            }
        }
        Ok((None, damaged))
    }
}

/// The mean of the weights of the last `count` checkpoints in `folder`, if there are any.
pub fn average(folder: &Path, count: usize) -> Result<Option<Weights>, TrainError> {
    let all = list(folder)?;
    let last = &all[all.len().saturating_sub(count)..];
    let mut sums: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut mean = None;
    for (_, path) in last {
        let weights = Checkpoint::load(path)?.weights;
        for (name, weight) in &weights {
            let sum = sums.entry(name.clone()).or_insert_with(|| vec![0.0; weight.values.len()]);
            sum.iter_mut().zip(&weight.values).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        mean = Some(weights);
    }
    for (name, weight) in mean.iter_mut().flatten() {
        let sum = sums.get(name).into_iter().flatten();
        weight.values.iter_mut().zip(sum).for_each(|(value, sum)| *value = (sum / last.len() as f64) as f32);
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(step: u64, value: f32) -> Checkpoint {
        let weight = Weight { shape: vec![2], values: vec![value, -value] };
        let moments = BTreeMap::from([("a.b".to_owned(), vec![value; 2])]);
        Checkpoint {
            run: RunState { step, best: Some((0.1 + 0.2, 3)), ..Default::default() },
            weights: Weights::from([("a.b".to_owned(), weight)]),
            optimiser: Optimiser { first: moments.clone(), second: moments },
        }
    }

    fn keep(last: usize) -> Keep {
        Keep { last, every: 1, passing: false }
    }

    #[test]
    fn interruptions_leave_no_trace_among_the_checkpoints() {
        let folder = tempfile::tempdir().unwrap();
        let save = |step: u64, passing: bool| {
            let keep = Keep { last: 3, every: 7, passing };
            checkpoint(step, 1.0).save(folder.path(), keep).unwrap();
            list(folder.path()).unwrap().into_iter().map(|(step, _)| step).collect::<Vec<_>>()
        };
        let saved = [
            (7, false),
            (14, false),
            (15, true),
            (21, false),
            (23, true),
            (25, true),
            (28, false),
            (30, false),
        ];
        let found = saved.map(|(step, passing)| save(step, passing));
        let expected: [&[u64]; 8] = [
            &[7],
            &[7, 14],
            &[7, 14, 15],
            &[7, 14, 21],
            &[7, 14, 21, 23],
            &[7, 14, 21, 25],
            &[14, 21, 28],
            &[21, 28, 30],
        ];
        assert_eq!(found.each_ref().map(Vec::as_slice), expected);
        // Going back behind a damaged one, and on with more steps than before.
        assert_eq!(save(24, true), [21, 24]);
        assert_eq!(save(28, false), [21, 28]);
    }

    #[test]
    fn what_is_saved_comes_back_and_old_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        for step in 1..=4 {
            checkpoint(step, step as f32).save(folder.path(), keep(2)).unwrap();
        }
        let steps: Vec<u64> = list(folder.path()).unwrap().into_iter().map(|(step, _)| step).collect();
        assert_eq!(steps, [3, 4]);
        assert_eq!(Checkpoint::newest(folder.path()).unwrap().0, Some(checkpoint(4, 4.0)));
        let mean = average(folder.path(), 2).unwrap().unwrap();
        assert_eq!(mean["a.b"].values, [3.5, -3.5]);
    }

    #[test]
    fn a_damaged_checkpoint_is_named_and_the_one_before_it_loads() {
        for damage in [WEIGHTS, OPTIMISER, STATE] {
            let folder = tempfile::tempdir().unwrap();
            checkpoint(1, 1.0).save(folder.path(), keep(3)).unwrap();
            let newest = checkpoint(2, 2.0).save(folder.path(), keep(3)).unwrap();
            let file = newest.join(damage);
            let mut content = fs::read(&file).unwrap();
            let last = content.len() - 3;
            content[last] ^= 0x55;
            fs::write(&file, &content).unwrap();
            let (found, damaged) = Checkpoint::newest(folder.path()).unwrap();
            assert_eq!(found, Some(checkpoint(1, 1.0)), "{damage}");
            assert!(damaged[0].to_string().contains("step-00000002: is damaged"), "{damaged:?}");
            fs::remove_file(&file).unwrap();
            assert_eq!(
                Checkpoint::newest(folder.path()).unwrap().0,
                Some(checkpoint(1, 1.0)),
                "{damage} gone"
            );
        }
    }

    #[test]
    fn what_was_never_finished_does_not_count_and_is_tidied_away() {
        let folder = tempfile::tempdir().unwrap();
        checkpoint(1, 1.0).save(folder.path(), keep(3)).unwrap();
        let unfinished = folder.path().join(format!("{}{UNFINISHED}", name(2)));
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join(WEIGHTS), "half").unwrap();
        assert_eq!(Checkpoint::newest(folder.path()).unwrap().0, Some(checkpoint(1, 1.0)));
        let written = folder.path().join(".model.safetensors.123.4.tmp");
        let strangers =
            ["notes.tmp", ".cache.tmp", ".a.b.tmp", "step-x.tmp"].map(|name| folder.path().join(name));
        strangers.iter().chain([&written]).for_each(|path| fs::write(path, "text").unwrap());
        tidy(folder.path()).unwrap();
        assert!(!unfinished.exists() && !written.exists());
        assert!(strangers.iter().all(|path| path.exists()), "what is not ours stays");
    }
}
