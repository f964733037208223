//! The `[data]` table of a configuration.
//!
//! ```toml
//! [data]
//! train = { source = "train.en", target = "train.de" }        # two aligned files
//! valid = { tsv = "dev.tsv", columns = [0, 1] }                # columns may be left out
//! test = { jsonl = "test.jsonl", keys = ["source", "target"] } # keys may be left out
//! # train = { text = "book.txt" }                              # a language model
//! # train = { images = "photos", tsv = "captions.tsv" }        # images: a name and its captions, or its label
//! # train = { idx = ["train-images.gz", "train-labels.gz"] }   # images of MNIST's kind
//! # train = { sounds = "clips", tsv = "clips.tsv" }            # recordings: a name and what is said
//! skip_bad = false
//! ```

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use std::sync::Arc;

use super::{FileCorpus, Side};
use crate::DataError;
use crate::builtin::shapes::Asked;
use crate::builtin::{self, Builtin, LengthRange};
use crate::images::{IdxSet, ImageFiles, ImageFolder, ImageSet, ListFormat, Texts};
use crate::sound::{JoinConfig, SoundFiles, SoundLimits, SoundList};

/// The `[data]` table, as written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataConfig {
    /// What to fit the parameters to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train: Option<FilesConfig>,
    /// What to choose the best checkpoint by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<FilesConfig>,
    /// What to report figures on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<FilesConfig>,
    /// A built-in task instead of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// Shortest example of the built-in task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<usize>,
    /// Longest example of the built-in task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    /// How many training examples the built-in task makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<u64>,
    /// What is asked about a scene of `shapes` that gets a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedKind>,
    /// How many captions a scene of `shapes` has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captions: Option<usize>,
    /// Recordings of one speaker are joined to longer ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinConfig>,
    /// A folder in which the features of recordings are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
    /// Pass over lines that cannot be used, and count them, instead of stopping at the first.
    pub skip_bad: bool,
    /// The side that a language model learns; the target if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}

/// The files of one part of the data, as written. [`FilesConfig::resolve`] says what they amount to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilesConfig {
    /// Source side of two aligned files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
    /// Target side of two aligned files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<PathBuf>,
    /// A file of columns separated by tabs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tsv: Option<PathBuf>,
    /// The columns of source and target, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<[usize; 2]>,
    /// A file of JSON objects, one per line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jsonl: Option<PathBuf>,
    /// The keys of source and target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<[String; 2]>,
    /// A file of text for a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<PathBuf>,
    /// A folder of images, which `tsv` or `jsonl` lists with their captions or labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<PathBuf>,
    /// The images and the labels of MNIST and its kin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idx: Option<[PathBuf; 2]>,
    /// A folder of recordings, which `tsv` or `jsonl` lists with what is said in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sounds: Option<PathBuf>,
}

/// What is asked about a scene of `shapes` that gets a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskedKind {
    /// The colour and shape of the largest object.
    Largest,
    /// Its shape.
    LargestShape,
    /// Its colour.
    LargestColour,
    /// How many objects there are.
    Count,
}

impl From<AskedKind> for Asked {
    fn from(asked: AskedKind) -> Self {
        match asked {
            AskedKind::Largest => Self::Largest,
            AskedKind::LargestShape => Self::LargestShape,
            AskedKind::LargestColour => Self::LargestColour,
            AskedKind::Count => Self::Count,
        }
    }
}

/// Captions of a scene unless told otherwise.
const CAPTIONS: usize = 5;

/// Where the examples come from, with every path resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSource {
    /// A task that makes its own examples.
    Builtin {
        /// The task.
        task: Builtin,
        /// How many training examples, if given.
        examples: Option<u64>,
    },
    /// Scenes that are drawn.
    Shapes {
        /// What is asked about a scene that gets a label, if given.
        asked: Option<AskedKind>,
        /// How many captions a scene has at most.
        captions: usize,
        /// How many training examples, if given.
        examples: Option<u64>,
    },
    /// Melodies that are played.
    Melodies {
        /// How many notes they have, if given.
        notes: Option<LengthRange>,
        /// How many training examples, if given.
        examples: Option<u64>,
    },
    /// Files.
    Files {
        /// What to fit the parameters to.
        train: Files,
        /// What to choose the best checkpoint by.
        valid: Option<Files>,
        /// What to report figures on.
        test: Option<Files>,
        /// Whether to pass over bad lines.
        skip_bad: bool,
    },
}

/// The files of one corpus.
#[derive(Clone, Debug, PartialEq)]
pub enum Files {
    /// Two aligned files.
    Parallel {
        /// The source side.
        source: PathBuf,
        /// The target side.
        target: PathBuf,
    },
    /// Columns separated by tabs.
    Tsv {
        /// The file.
        path: PathBuf,
        /// Source and target, counted from 0.
        columns: [usize; 2],
    },
    /// JSON objects, one per line.
    Jsonl {
        /// The file.
        path: PathBuf,
        /// Source and target.
        keys: [String; 2],
    },
    /// Text for a language model.
    Single {
        /// The file.
        path: PathBuf,
    },
    /// Images and a list.
    Images {
        /// The folder that names start from.
        folder: PathBuf,
        /// The list of captions or labels.
        list: PathBuf,
        /// What its lines are.
        format: ListFormat,
    },
    /// Images and labels of MNIST's kind.
    Idx {
        /// The images.
        images: PathBuf,
        /// The labels.
        labels: PathBuf,
    },
    /// Recordings and a list.
    Sounds {
        /// The folder that names start from.
        folder: PathBuf,
        /// The list of what is said.
        list: PathBuf,
        /// What its lines are.
        format: ListFormat,
    },
}

impl DataSource {
    /// Whether the examples are images.
    pub fn has_images(&self) -> bool {
        match self {
            Self::Builtin { .. } | Self::Melodies { .. } => false,
            Self::Shapes { .. } => true,
            Self::Files { train, .. } => train.are_images(),
        }
    }

    /// Whether the examples are sounds.
    pub fn has_sounds(&self) -> bool {
        match self {
            Self::Builtin { .. } | Self::Shapes { .. } => false,
            Self::Melodies { .. } => true,
            Self::Files { train, .. } => train.are_sounds(),
        }
    }
}

impl DataConfig {
    fn shapes_source(&self) -> Result<DataSource, DataError> {
        let lengths = [("data.min_length", self.min_length), ("data.max_length", self.max_length)];
        if let Some((key, _)) = lengths.iter().find(|(_, length)| length.is_some()) {
            return refuse(key, "belongs to copy, reverse and sort; remove it");
        }
        let captions = self.captions.unwrap_or(CAPTIONS);
        Ok(DataSource::Shapes { asked: self.asked, captions, examples: self.examples })
    }

    fn melodies_source(&self) -> DataSource {
        let usual = LengthRange { min: 3, max: 8 };
        let given = self.min_length.is_some() || self.max_length.is_some();
        let notes = given.then(|| LengthRange {
            min: self.min_length.unwrap_or(usual.min.min(self.max_length.unwrap_or(usual.min))),
            max: self.max_length.unwrap_or(usual.max.max(self.min_length.unwrap_or(usual.max))),
        });
        DataSource::Melodies { notes, examples: self.examples }
    }

    /// Refuses what belongs to sounds, where there are none.
    fn refuse_of_sounds(&self, source: DataSource) -> Result<DataSource, DataError> {
        let given = [("data.join", self.join.is_some()), ("data.cache", self.cache.is_some())];
        match given.into_iter().find(|(_, given)| *given) {
            Some((key, _)) if !source.has_sounds() => refuse(
                key,
                "belongs to recordings; remove it, or write `train = { sounds = \"…\", tsv = \"…\" }`",
            ),
            Some(("data.join", _)) if matches!(source, DataSource::Melodies { .. }) => {
                refuse("data.join", "belongs to recordings in files; remove it, or write `max_length`")
            }
            _ => Ok(source),
        }
    }

    /// Refuses what belongs to `shapes`.
    fn refuse_of_shapes(&self) -> Result<(), DataError> {
        let given = [("data.asked", self.asked.is_some()), ("data.captions", self.captions.is_some())];
        match given.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => refuse(key, "belongs to `builtin = \"shapes\"`; remove it, or write that"),
            None => Ok(()),
        }
    }

    fn builtin_source(&self, name: &str) -> Result<DataSource, DataError> {
        let usual = LengthRange::default();
        let lengths = LengthRange {
            min: self.min_length.unwrap_or(usual.min.min(self.max_length.unwrap_or(usual.min))),
            max: self.max_length.unwrap_or(usual.max.max(self.min_length.unwrap_or(usual.max))),
        };
        let task = Builtin::named(name, lengths).map_err(|error| DataError::Config {
            key: match error {
                builtin::Error::Lengths { .. } => "data.max_length".into(),
                _ => "data.builtin".into(),
            },
            problem: error.to_string(),
        })?;
        let given = [("data.min_length", self.min_length), ("data.max_length", self.max_length)];
        if let (false, Some((key, _))) =
            (matches!(task, Builtin::Symbols(_)), given.iter().find(|(_, length)| length.is_some()))
        {
            return refuse(key, "belongs to copy, reverse and sort; remove it");
        }
        Ok(DataSource::Builtin { task, examples: self.examples })
    }

    /// What the table amounts to. Relative paths start at `base`, the folder of the configuration file.
    pub fn resolve(&self, base: &Path) -> Result<DataSource, DataError> {
        if let Some(join) = &self.join {
            join.validate()?;
        }
        self.source(base).and_then(|source| self.refuse_of_sounds(source))
    }

    fn source(&self, base: &Path) -> Result<DataSource, DataError> {
        if let Some(name) = &self.builtin {
            for (key, given) in
                [("data.train", &self.train), ("data.valid", &self.valid), ("data.test", &self.test)]
            {
                if given.is_some() {
                    return refuse(key, "files and `builtin` exclude each other; remove one of them");
                }
            }
            if name == builtin::SHAPES {
                return self.shapes_source();
            }
            self.refuse_of_shapes()?;
            if name == builtin::MELODIES {
                return Ok(self.melodies_source());
            }
            return self.builtin_source(name);
        }
        self.refuse_of_shapes()?;
        for (key, given) in [
            ("data.min_length", self.min_length.is_some()),
            ("data.max_length", self.max_length.is_some()),
            ("data.examples", self.examples.is_some()),
        ] {
            if given {
                return refuse(
                    key,
                    "belongs to a built-in task; remove it, or write `builtin = \"phrases\"`",
                );
            }
        }
        let Some(train) = &self.train else {
            let remedy = "is missing; write `train = { source = \"train.en\", target = \"train.de\" }` \
                          or `builtin = \"phrases\"`";
            return refuse("data.train", remedy);
        };
        let part = |key: &str, files: &Option<FilesConfig>| {
            files.as_ref().map(|files| files.resolve(key, base)).transpose()
        };
        Ok(DataSource::Files {
            train: train.resolve("data.train", base)?,
            valid: part("data.valid", &self.valid)?,
            test: part("data.test", &self.test)?,
            skip_bad: self.skip_bad,
        })
    }
}

impl FilesConfig {
    /// Which kind of corpus is meant. `key` is where this stands in the configuration, for messages;
    /// relative paths start at `base`.
    pub fn resolve(&self, key: &str, base: &Path) -> Result<Files, DataError> {
        let FilesConfig { source, target, tsv, jsonl, text, images, idx, sounds, .. } = self;
        if let Some(folder) = sounds {
            return self.resolve_sounds(key, &base.join(folder), base);
        }
        let files = match (source, target, tsv, jsonl, text, images, idx) {
            (Some(source), Some(target), None, None, None, None, None) => {
                Files::Parallel { source: base.join(source), target: base.join(target) }
            }
            (None, None, Some(path), None, None, None, None) => {
                Files::Tsv { path: base.join(path), columns: self.columns.unwrap_or([0, 1]) }
            }
            (None, None, None, Some(path), None, None, None) => {
                let keys = self.keys.clone().unwrap_or_else(|| ["source".into(), "target".into()]);
                Files::Jsonl { path: base.join(path), keys }
            }
            (None, None, None, None, Some(path), None, None) => Files::Single { path: base.join(path) },
            (None, None, Some(list), None, None, Some(folder), None) => {
                let (folder, list) = (base.join(folder), base.join(list));
                Files::Images { folder, list, format: ListFormat::Tsv }
            }
            (None, None, None, Some(list), None, Some(folder), None) => {
                let (folder, list) = (base.join(folder), base.join(list));
                Files::Images { folder, list, format: ListFormat::Jsonl }
            }
            (None, None, None, None, None, None, Some([images, labels])) => {
                Files::Idx { images: base.join(images), labels: base.join(labels) }
            }
            (None, None, None, None, None, Some(_), None) => {
                return refuse(
                    key,
                    "`images` without a list; add `tsv = \"…\"` or `jsonl = \"…\"`, the names of the images and \
                     their captions or labels",
                );
            }
            (Some(_), None, ..) => {
                return refuse(
                    key,
                    "`source` without `target`; add `target = \"…\"`, the file of its translations",
                );
            }
            (None, Some(_), ..) => {
                return refuse(
                    key,
                    "`target` without `source`; add `source = \"…\"`, or write `text` for a language model",
                );
            }
            _ => {
                let one = "write exactly one of `source` with `target`, `tsv`, `jsonl`, `text`, `sounds` with `tsv` or \
                           `jsonl`, `images` with `tsv` or `jsonl`, or `idx`";
                return refuse(key, one);
            }
        };
        self.refuse_columns(key, &files)?;
        Ok(files)
    }

    /// A folder of recordings, and its list.
    fn resolve_sounds(&self, key: &str, folder: &Path, base: &Path) -> Result<Files, DataError> {
        let others = [&self.source, &self.target, &self.text, &self.images];
        let alone = others.iter().all(|other| other.is_none()) && self.idx.is_none();
        let (list, format) = match (&self.tsv, &self.jsonl) {
            (Some(list), None) if alone => (list, ListFormat::Tsv),
            (None, Some(list)) if alone => (list, ListFormat::Jsonl),
            (None, None) if alone => {
                return refuse(
                    key,
                    "`sounds` without a list; add `tsv = \"…\"` or `jsonl = \"…\"`, the names of the recordings and \
                     what is said in them",
                );
            }
            _ => return refuse(key, "`sounds` goes with one of `tsv` and `jsonl` only; remove the others"),
        };
        let files = Files::Sounds { folder: folder.to_owned(), list: base.join(list), format };
        self.refuse_columns(key, &files)?;
        Ok(files)
    }

    /// Refuses columns and keys of what has none to choose.
    fn refuse_columns(&self, key: &str, files: &Files) -> Result<(), DataError> {
        if self.columns.is_some() && !matches!(files, Files::Tsv { .. }) {
            return refuse(key, "`columns` goes with `tsv` only; remove it");
        }
        if self.keys.is_some() && !matches!(files, Files::Jsonl { .. }) {
            return refuse(key, "`keys` goes with `jsonl` only; remove it");
        }
        Ok(())
    }
}

impl Files {
    /// Opens the corpus at its start.
    pub fn open(&self, skip_bad: bool) -> Result<FileCorpus, DataError> {
        match self {
            Self::Parallel { source, target } => FileCorpus::parallel(source, target, skip_bad),
            Self::Tsv { path, columns } => FileCorpus::tsv(path, *columns, skip_bad),
            Self::Jsonl { path, keys } => FileCorpus::jsonl(path, keys.clone(), skip_bad),
            Self::Single { path } => FileCorpus::single(path, skip_bad),
            Self::Images { .. } | Self::Idx { .. } => {
                refuse("data.train", "are images, and texts are wanted")
            }
            Self::Sounds { .. } => refuse("data.train", "are recordings, and texts are wanted"),
        }
    }

    /// Whether these are images.
    pub fn are_images(&self) -> bool {
        matches!(self, Self::Images { .. } | Self::Idx { .. })
    }

    /// Whether these are recordings.
    pub fn are_sounds(&self) -> bool {
        matches!(self, Self::Sounds { .. })
    }

    /// Opens the set of recordings, brought to so many samples a second.
    pub fn open_sounds(
        &self,
        rate: u32,
        limits: SoundLimits,
        skip_bad: bool,
    ) -> Result<SoundFiles, DataError> {
        match self {
            Self::Sounds { folder, list, format } => {
                let list =
                    SoundList { format: *format, skip_bad, rate, limits, ..SoundList::new(folder, list) };
                SoundFiles::open(list)
            }
            _ => refuse(
                "data.train",
                "are no recordings, and these are wanted; write { sounds = \"…\", tsv = \"…\" }",
            ),
        }
    }

    /// Opens the set of images, whose texts are captions or labels.
    pub fn open_images(&self, texts: Texts, skip_bad: bool) -> Result<Arc<dyn ImageSet>, DataError> {
        match self {
            Self::Images { folder, list, format } => {
                let files = ImageFiles { format: *format, skip_bad, ..ImageFiles::new(folder, list, texts) };
                Ok(Arc::new(ImageFolder::open(files)?))
            }
            Self::Idx { images, labels } if texts == Texts::Labels => {
                Ok(Arc::new(IdxSet::open(images, labels)?))
            }
            Self::Idx { .. } => {
                refuse("data.train", "has labels, and captions are wanted; write `task = \"classify\"`")
            }
            _ => refuse(
                "data.train",
                "are texts, and images are wanted; write { images = \"…\", tsv = \"…\" }",
            ),
        }
    }
}

fn refuse<T>(key: &str, problem: &str) -> Result<T, DataError> {
    Err(DataError::Config { key: key.to_owned(), problem: problem.to_owned() })
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
