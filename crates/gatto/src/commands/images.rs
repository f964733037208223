//! What several commands read of images: files that are named, and images that are held out.

use crate::cli::{Held, HeldPart};
use anyhow::{Context, Result, bail};
use gatto::data::builtin::SHAPES;
use gatto::data::builtin::shapes::ScenePart;
use gatto::data::images::{
    AheadSettings, DecodeLimits, ImageFiles, ImageFolder, ImageSet, Mention, Pixels, Preparation, Ready,
    Texts, decode_file, ready,
};
use gatto::model::{CONFIG, Saved, Task};
use gatto::train::{Config, ConfigFile, Origin, corpora};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a model of images reads: files, and the scenes that it could have learnt from.
pub(super) struct Images {
    pub(super) preparation: Preparation,
    /// Of a model that learnt from drawn scenes: its configuration.
    drawn: Option<Config>,
}

/// An image that was named.
pub(super) struct Named {
    pub(super) pixels: Pixels,
    /// A drawn scene, which knows what is true of it.
    pub(super) scene: Option<Ready>,
    set: Option<Arc<dyn ImageSet>>,
}

impl Images {
    /// Those of a model; none if it reads texts.
    pub(super) fn of(saved: &Saved, model: &Path) -> Result<Option<Self>> {
        let Some(preparation) = saved.plan.images else { return Ok(None) };
        let config = ConfigFile::read(&model.join(CONFIG), &[])?.config;
        let drawn = config.data.builtin.is_some().then_some(config);
        Ok(Some(Self { preparation, drawn }))
    }

    /// Images by name, ready for the model: files or, where there is no such file, scenes such as `shapes/test/7`.
    pub(super) fn read<P: AsRef<Path> + Sync>(&self, names: &[P]) -> Result<Vec<Named>> {
        names.par_iter().map(|name| self.one(name.as_ref())).collect()
    }

    /// [`Images::read`] of the pixels alone.
    pub(super) fn pixels<P: AsRef<Path> + Sync>(&self, names: &[P]) -> Result<Vec<Pixels>> {
        Ok(self.read(names)?.into_iter().map(|named| named.pixels).collect())
    }

    fn one(&self, name: &Path) -> Result<Named> {
        if let (false, Some((set, index))) = (name.exists(), self.scene(name)?) {
            let scene = Ready::new(set.as_ref(), index, &self.preparation, None)?;
            return Ok(Named { pixels: scene.pixels.clone(), scene: Some(scene), set: Some(set) });
        }
        let image = decode_file(name, &DecodeLimits::default())?;
        let pixels = self.preparation.prepare(&image, None)?.pixels;
        Ok(Named { pixels, scene: None, set: None })
    }

    /// The set and the number of a scene that is named so.
    fn scene(&self, name: &Path) -> Result<Option<(Arc<dyn ImageSet>, u64)>> {
        let (Some(config), Some(name)) = (&self.drawn, name.to_str()) else { return Ok(None) };
        let parts: Vec<&str> = name.split('/').collect();
        let [SHAPES, part, number] = parts[..] else { return Ok(None) };
        let part = ScenePart::ALL.into_iter().find(|each| each.name() == part);
        let (Some(part), Ok(number)) = (part, number.parse::<u64>()) else { return Ok(None) };
        let set = corpora::open_images(config, Path::new(""), part)?;
        Ok(set.filter(|set| number < set.len()).map(|set| (set, number)))
    }
}

impl Named {
    /// Where the words of a text are, if the image is a scene that it is true of.
    pub(super) fn boxes(&self, text: &str) -> Result<Vec<Mention>> {
        let (Some(scene), Some(set)) = (&self.scene, &self.set) else { return Ok(Vec::new()) };
        let located = set.located(scene.index, text)?;
        Ok(located.map(|text| scene.view.map_text(text).mentions).unwrap_or_default())
    }
}

/// The images that figures are measured on: a list that was named, or a part of the model's data. At most so many of a
/// built-in task, unless told otherwise.
pub(super) fn held(
    held: &Held,
    saved: &Saved,
    model: &Path,
    of_a_builtin_task: u64,
) -> Result<(Arc<dyn ImageSet>, u64)> {
    if held.source.is_some() || held.text.is_some() || held.sounds.is_some() || held.join.is_some() {
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
