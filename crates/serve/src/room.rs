//! The room of the models: which there are, by name, and how one takes the place of another.

use crate::error::ServeError;
use burn::tensor::Device;
use gatto_data::sound::Preparer;
use gatto_model::{CONFIG, HeadPlace, ModelError, Saved, Stored, Task, WEIGHTS};
use gatto_nn::Precision;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// The longest name of a model.
const LONGEST_NAME: usize = 64;
/// Masked models that are kept of each model.
const MOST_MASKED: usize = 4;

/// Where a model is, and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The name that clients use.
    pub name: String,
    /// The run directory.
    pub directory: PathBuf,
    /// What it translates between, if that is known.
    pub languages: Option<Languages>,
    /// The longest piece of a recording that it hears at once, in seconds, if that is known.
    pub piece_seconds: Option<f64>,
}

/// What a model translates between, by codes such as `en`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages {
    /// What it reads.
    pub source: String,
    /// What it writes.
    pub target: String,
}

impl Place {
    /// `NAME=DIR`, or a directory with a name of its own.
    pub fn parse(given: &str) -> Result<Self, ServeError> {
        let (name, directory) = match given.split_once('=') {
            Some((name, directory)) if !directory.is_empty() && !name.contains('/') => {
                (name.to_owned(), PathBuf::from(directory))
            }
            _ => {
                let path = PathBuf::from(given);
                let whole = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                let name = whole.file_name().and_then(|name| name.to_str()).map(str::to_owned);
                (name.ok_or(ServeError::Nameless { path: path.clone() })?, path)
            }
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(allowed) {
            true => Ok(Self { name, directory, languages: None, piece_seconds: None }),
            false => Err(ServeError::Name { name }),
        }
    }
}

impl Languages {
    /// `en:it`.
    pub fn parse(given: &str) -> Result<Self, ServeError> {
        let code = |code: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
            ((2..=16).contains(&code.len()) && code.chars().all(allowed) && code != "auto")
                .then(|| code.to_owned())
        };
        let pair = given.split_once(':').and_then(|(source, target)| Some((code(source)?, code(target)?)));
        let (source, target) = pair.ok_or_else(|| ServeError::Languages { given: given.to_owned() })?;
        Ok(Self { source, target })
    }
}

/// A model that is served.
pub(crate) struct Hosted {
    pub(crate) place: Place,
    pub(crate) saved: Saved,
    /// What makes frames of sounds for it, if it reads them.
    pub(crate) preparer: Option<Preparer>,
    /// How many parameters it has.
    pub(crate) parameters: usize,
    /// How often a model of this name has been loaded.
    pub(crate) load: u64,
    /// When its files were written, so that what is loaded of them later is the same model.
    written: Written,
    device: Device,
    /// The same with all parameters, once someone has asked for gradients; without masks.
    whole: Arc<Mutex<Option<Arc<Saved>>>>,
    /// The heads of it that are masked.
    masks: Vec<HeadPlace>,
    /// The same with other heads masked, as they were asked for last.
    masked: Mutex<Vec<Arc<Self>>>,
}

/// When the files of a model were written, and how long they are.
type Written = [Option<(SystemTime, u64)>; 2];

fn written(directory: &Path) -> Written {
    [CONFIG, WEIGHTS].map(|file| {
        let found = fs::metadata(directory.join(file)).ok()?;
        Some((found.modified().ok()?, found.len()))
    })
}

/// How models are loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loading {
    /// How their weights are multiplied; as their files have them, if it is not told.
    pub(crate) precision: Option<Precision>,
    /// Whether what they write is chosen from their shortlists.
    pub(crate) shortlist: bool,
}

impl Loading {
    fn load(self, directory: &Path, device: &Device) -> Result<Saved, ModelError> {
        let saved = Saved::load_with(directory, self.precision, device)?;
        if self.shortlist { saved.with_shortlist(directory) } else { Ok(saved) }
    }
}

impl Hosted {
    fn load(place: &Place, loading: Loading, load: u64) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Model { name: place.name.clone(), error };
        let (device, directory) = (Device::flex(), place.directory.as_path());
        let written = written(directory);
        let saved = loading.load(directory, &device).map_err(failed)?;
        let preparer = saved.preparer().map_err(failed)?;
        let stored = Stored::open(&directory.join(WEIGHTS)).map_err(failed)?;
        let parameters = stored.parameters().values().map(|parameter| parameter.count()).sum();
        if place.languages.is_some() && saved.task != Task::Translate {
            let (name, task) = (place.name.clone(), saved.task.to_string());
            return Err(ServeError::NoTranslator { name, task });
        }
        Ok(Self {
            place: place.clone(),
            saved,
            preparer,
            parameters,
            load,
            written,
            device,
            whole: Arc::default(),
            masks: Vec::new(),
            masked: Mutex::default(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.place.name
    }

    /// The model with values for all parameters; it is read from its files again when it is first asked for.
    pub(crate) fn whole(&self) -> Result<Arc<Saved>, ServeError> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error| ServeError::Model { name: self.place.name.clone(), error };
        let saved = match &*whole {
            Some(saved) => saved.clone(),
            None => {
                let saved = Saved::load_whole(&self.place.directory, &self.device).map_err(failed)?;
                if written(&self.place.directory) != self.written {
                    return Err(ServeError::Changed);
                }
                whole.insert(Arc::new(saved)).clone()
            }
        };
        match self.masks.is_empty() {
            true => Ok(saved),
            false => Ok(Arc::new(saved.masked(&self.masks).map_err(failed)?)),
        }
    }

    /// The same model with some heads masked; it has no weights of its own. The last few of them are kept, so that requests
    /// for one can be computed together.
    pub(crate) fn masked(self: Arc<Self>, heads: &[HeadPlace]) -> Result<Arc<Self>, ModelError> {
        let mut masks = heads.to_vec();
        masks.sort_unstable();
        masks.dedup();
        if masks.is_empty() {
            return Ok(self);
        }
        let mut kept = self.masked.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match kept.iter().position(|hosted| hosted.masks == masks) {
            Some(place) => kept.remove(place),
            None => {
                let saved = self.saved.masked(&masks)?;
                Arc::new(Self {
                    place: self.place.clone(),
                    preparer: saved.preparer()?,
                    saved,
                    parameters: self.parameters,
                    load: self.load,
                    written: self.written,
                    device: self.device.clone(),
                    whole: self.whole.clone(),
                    masks,
                    masked: Mutex::default(),
                })
            }
        };
        kept.truncate(MOST_MASKED - 1);
        kept.insert(0, found.clone());
        Ok(found)
    }
}

/// The models, by name.
pub(crate) struct Room {
    loading: Loading,
    hosted: RwLock<BTreeMap<String, Arc<Hosted>>>,
    /// Held while models are loaded, so that one replacement comes after the other.
    replacing: Mutex<()>,
}

impl Room {
    /// Loads all models.
    pub(crate) fn open(places: &[Place], loading: Loading) -> Result<Self, ServeError> {
        let mut hosted = BTreeMap::new();
        for place in places {
            let model = Arc::new(Hosted::load(place, loading, 1)?);
            if hosted.insert(place.name.clone(), model).is_some() {
                return Err(ServeError::Twice { name: place.name.clone() });
            }
        }
        Ok(Self { loading, hosted: RwLock::new(hosted), replacing: Mutex::default() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hosted.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The models there are, by name.
    pub(crate) fn all(&self) -> Vec<Arc<Hosted>> {
        self.hosted.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The model of a name; without a name, the only one.
    pub(crate) fn find(&self, name: Option<&str>) -> Result<Arc<Hosted>, ServeError> {
        let hosted = self.hosted.read().unwrap_or_else(PoisonError::into_inner);
        let found = match name {
            Some(name) => hosted.get(name),
            None if hosted.len() == 1 => hosted.values().next(),
            None => None,
        };
        found.cloned().ok_or_else(|| ServeError::Unknown {
            name: name.unwrap_or_default().to_owned(),
            known: hosted.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// Loads one model, or all, from their directories again. What cannot be loaded leaves the model as it was; requests
    /// that were admitted for the old one are answered by it.
    pub(crate) fn replace(&self, name: Option<&str>) -> Result<Vec<Replaced>, ServeError> {
        let _alone = self.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = match name {
            Some(name) => vec![self.find(Some(name))?],
            None => self.all(),
        };
        let replaced = |old: Arc<Hosted>| {
            let error = match Hosted::load(&old.place, self.loading, old.load + 1) {
                Ok(new) => {
                    let mut hosted = self.hosted.write().unwrap_or_else(PoisonError::into_inner);
                    hosted.insert(new.place.name.clone(), Arc::new(new));
                    None
                }
                Err(error) => Some(error),
            };
            Replaced { name: old.place.name.clone(), error }
        };
        Ok(old.into_iter().map(replaced).collect())
    }
}

/// What became of a replacement.
pub(crate) struct Replaced {
    pub(crate) name: String,
    /// Why the old model stays.
    pub(crate) error: Option<ServeError>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_names() {
        let named = Place::parse("it=runs/demo").unwrap();
        assert_eq!((named.name.as_str(), named.directory.as_path()), ("it", Path::new("runs/demo")));
        let own = Place::parse("/srv/models/en-it.v2/").unwrap();
        assert_eq!(
            (own.name.as_str(), own.directory.as_path()),
            ("en-it.v2", Path::new("/srv/models/en-it.v2/"))
        );
        let odd = Place::parse("runs/a=b");
        assert!(
            matches!(odd, Err(ServeError::Name { name }) if name == "a=b"),
            "`=` behind a folder is no name"
        );
        for bad in ["/", "=runs", "a b=runs", "é=runs"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn languages_are_two_codes() {
        let found = Languages::parse("en:pt-BR").unwrap();
        assert_eq!((found.source.as_str(), found.target.as_str()), ("en", "pt-BR"));
        for bad in ["", "en", "en:", ":it", "en:it:de", "auto:it", "e n:it", "<b>:it"] {
            assert!(Languages::parse(bad).is_err(), "{bad}");
        }
    }
}
