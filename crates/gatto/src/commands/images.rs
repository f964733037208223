//! What several commands read of images: files that are named, and images that are held out.

use crate::cli::{Held, HeldPart};
use anyhow::{Context, Result, bail};
use gatto::data::builtin::shapes::ScenePart;
use gatto::data::images::{
    AheadSettings, DecodeLimits, ImageFiles, ImageFolder, ImageSet, Pixels, Preparation, Ready, Texts,
    decode_file, ready,
};
use gatto::model::{CONFIG, Saved, Task};
use gatto::train::{ConfigFile, Origin, corpora};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a model reads images; an error for one that reads texts.
pub(super) fn preparation(saved: &Saved, model: &Path) -> Result<Preparation> {
    saved.plan.images.with_context(|| format!("{}: reads texts, and no images", model.display()))
}

/// Image files, ready for a model.
pub(super) fn read_files<P: AsRef<Path> + Sync>(
    preparation: &Preparation,
    files: &[P],
) -> Result<Vec<Pixels>> {
    let read = |file: &P| {
        let image = decode_file(file.as_ref(), &DecodeLimits::default())?;
        Ok(preparation.prepare(&image, None)?.pixels)
    };
    files.par_iter().map(read).collect()
}

/// The images that figures are measured on: a list that was named, or a part of the model's data. At most so many of a
/// built-in task, unless told otherwise.
pub(super) fn held(
    held: &Held,
    saved: &Saved,
    model: &Path,
    of_a_builtin_task: u64,
) -> Result<(Arc<dyn ImageSet>, u64)> {
    if held.source.is_some() || held.text.is_some() {
        bail!(
            "{}: reads images; give --data FILE, a list of images with their captions or labels, and --images DIR",
            model.display()
        );
    }
    let file = ConfigFile::read(&model.join(CONFIG), &[])?;
    let (set, usual): (Arc<dyn ImageSet>, _) = match &held.data {
        Some(list) => {
            let folder = held.images.clone().or_else(|| list.parent().map(PathBuf::from)).unwrap_or_default();
            let texts = if saved.task == Task::Caption { Texts::Captions } else { Texts::Labels };
            (Arc::new(ImageFolder::open(ImageFiles::new(folder, list, texts))?), u64::MAX)
        }
        None => {
            let base = Origin::load(model).map_or(file.base, |origin| origin.base);
            let (part, name) = match held.part {
                HeldPart::Valid => (ScenePart::Valid, "valid"),
                HeldPart::Test => (ScenePart::Test, "test"),
                HeldPart::Unseen => (ScenePart::Unseen, "unseen"),
            };
            let set = corpora::open_images(&file.config, &base, part)?.with_context(|| {
                let path = model.join(CONFIG);
                format!("{}: names no {name} data\n  hint: give --data FILE and --images DIR", path.display())
            })?;
            (set, if file.config.data.builtin.is_some() { of_a_builtin_task } else { u64::MAX })
        }
    };
    let count = held.examples.unwrap_or(usual).min(set.len());
    Ok((set, count))
}

/// The first `count` images of a set, made ready ahead, in pieces of `at_once`.
pub(super) fn in_pieces(
    set: &Arc<dyn ImageSet>,
    count: u64,
    preparation: Preparation,
    at_once: usize,
) -> Result<impl Iterator<Item = Result<Vec<Ready>>>> {
    let mut images = ready(set.clone(), (0..count).collect(), preparation, None, AheadSettings::default())?;
    Ok(std::iter::from_fn(move || {
        let piece: Result<Vec<Ready>, _> = images.by_ref().take(at_once.max(1)).collect();
        match piece {
            Ok(piece) if piece.is_empty() => None,
            piece => Some(piece.map_err(Into::into)),
        }
    }))
}
