//! A model written down in eight bits, once, in place of being turned into them whenever it is loaded.

use crate::config::Plan;
use crate::error::ModelError;
use crate::loading::quantisable;
use crate::model::{Model, Vocabularies};
use crate::saved::{CONFIG, LABELS, Opened, WEIGHTS};
use crate::shortlist::Shortlist;
use crate::stored::{SCALE, Stored};
use crate::weights::{self, Weight, Written};
use burn::tensor::Device;
use gatto_data::sound::Statistics;
use gatto_data::tokens::TokenizerPair;
use gatto_data::{WriteError, files};
use gatto_kernels::quantised::{Quantised, quantise as in_eight_bits};
use gatto_nn::Precision;
use safetensors::Dtype;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What was made of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantisation {
    /// Parameters in eight bits.
    pub matrices: usize,
    /// Parameters that are as they were.
    pub others: usize,
    /// The bytes of the weights before.
    pub before: u64,
    /// The bytes of the weights now.
    pub after: u64,
}

/// Leaves a run directory `to` with the model of `from` in eight bits, whole or not at all. `also` may put more files
/// into the folder that it is given.
pub fn quantise(
    from: &Path,
    to: &Path,
    also: impl FnOnce(&Path) -> Result<(), WriteError>,
) -> Result<Quantisation, ModelError> {
    let opened = Opened::new(from)?;
    let folder = Unfinished::beside(to)?;
    for file in [CONFIG, LABELS, Statistics::FILE, Shortlist::FILE].into_iter().chain(TokenizerPair::FILES) {
        copy(&from.join(file), &folder.0.join(file))?;
    }
    also(&folder.0)?;
    let stored = &opened.stored;
    let made = quantise_weights(&opened.plan, opened.vocabularies(), stored, &folder.0.join(WEIGHTS))?;
    folder.finish(to)?;
    Ok(made)
}

/// Writes the weights of a model into a file in eight bits, as far as they have such a form.
pub fn quantise_weights(
    plan: &Plan,
    vocabularies: Vocabularies,
    stored: &Stored,
    to: &Path,
) -> Result<Quantisation, ModelError> {
    if stored.precision() == Precision::Int8 {
        let path = stored.path().to_owned();
        return Err(ModelError::Quantised { path, problem: "and cannot be quantised again" });
    }
    let names = quantisable(Model::blank(plan, vocabularies, &Device::flex()), stored)?;
    let mut tensors = Vec::new();
    let mut matrices = 0;
    for (name, parameter) in stored.parameters() {
        let (shape, values) = (parameter.shape.clone(), stored.floats(parameter)?);
        match shape[..] {
            [rows, columns] if names.contains(name) && rows <= Quantised::MOST_ROWS => {
                let (integers, scales) = in_eight_bits(&values, columns);
                let bytes = integers.into_iter().map(i8::cast_unsigned).collect();
                tensors.push((name.clone(), Written { dtype: Dtype::I8, shape, bytes }));
                let scales = Weight { shape: vec![columns], values: scales };
                tensors.push((format!("{name}{SCALE}"), Written::floats(&scales)));
                matrices += 1;
            }
            _ => tensors.push((name.clone(), Written::floats(&Weight { shape, values }))),
        }
    }
    if matrices == 0 {
        return Err(ModelError::NothingToQuantise { path: stored.path().to_owned() });
    }
    weights::write(to, tensors)?;
    let others = stored.parameters().len() - matrices;
    Ok(Quantisation { matrices, others, before: stored.bytes(), after: Stored::open(to)?.bytes() })
}

/// Copies a file, if it is there.
fn copy(from: &Path, to: &Path) -> Result<(), ModelError> {
    match fs::read(from) {
        Ok(content) => Ok(files::replace(to, |out| out.write_all(&content))?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ModelError::Unreadable { path: from.to_owned(), error }),
    }
}

/// A hidden folder beside the one that it becomes; removed if it does not.
struct Unfinished(PathBuf);

impl Unfinished {
    fn beside(to: &Path) -> Result<Self, ModelError> {
        let unwritable = |error| WriteError { path: to.to_owned(), error };
        match fs::symlink_metadata(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unwritable(error).into()),
            Ok(found) => {
                // A link is no place for a folder that is renamed to it.
                let free = found.is_dir() && fs::read_dir(to).map_err(unwritable)?.next().is_none();
                if !free {
                    return Err(ModelError::Occupied { path: to.to_owned() });
                }
            }
        }
        let Some(name) = to.file_name() else {
            return Err(unwritable(io::Error::other("the path does not end in the name of a folder")).into());
        };
        let parent = parent(to);
        fs::create_dir_all(parent).map_err(unwritable)?;
        // A run that was killed may have left a folder of the same number.
        let (name, process) = (name.to_string_lossy(), std::process::id());
        let mut names = (0..100).map(|attempt| parent.join(format!(".{name}.{process}.{attempt}.tmp")));
        names
            .find_map(|folder| match fs::create_dir(&folder) {
                Ok(()) => Some(Ok(Self(folder))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                Err(error) => Some(Err(WriteError { path: folder, error }.into())),
            })
            .unwrap_or_else(|| {
                let left =
                    format!("folders .{name}.{process}.*.tmp of earlier runs are in the way; remove them");
                Err(unwritable(io::Error::other(left)).into())
            })
    }

    fn finish(self, to: &Path) -> Result<(), WriteError> {
        let renamed = || {
            if let Ok(folder) = File::open(&self.0) {
                folder.sync_all()?;
            }
            fs::remove_dir(to).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
            fs::rename(&self.0, to)?;
            // Not every system lets a folder be opened; there, the rename stands as the system keeps it.
            if let Ok(folder) = File::open(parent(to)) {
                folder.sync_all()?;
            }
            Ok(())
        };
        renamed().map_err(|error| WriteError { path: to.to_owned(), error })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
