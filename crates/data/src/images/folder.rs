//! A folder of image files, and a list that says what is said of each.
//!
//! | list | a line |
//! |---|---|
//! | TSV | `photos/cat.jpg⇥a cat on a table⇥the cat looks at us` |
//! | JSONL, captions | `{"image": "photos/cat.jpg", "captions": ["a cat on a table", "the cat looks at us"]}` |
//! | JSONL, labels | `{"image": "photos/cat.jpg", "label": "cat"}` |
//!
//! Names are paths inside the folder; links there are followed. An image may stand in several lines: its captions are
//! those of all of them, in order. Of labels an image has one. The list may be gzipped.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::decode::{DecodeLimits, decode_file, of_system};
use super::error::{ImageError, ImageProblem};
use super::set::{ImageExample, ImageSet, ImageText};
use crate::corpus::Lines;
use crate::error::LineProblem;
use crate::skipped::Skipped;
use crate::{DataError, files};

/// What stands in the lines of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// Columns separated by tabs, the first of which is the image.
    Tsv,
    /// JSON objects.
    Jsonl,
}

impl ListFormat {
    /// JSONL if the file is called `.jsonl` or `.jsonl.gz`, else TSV.
    pub fn of(path: &Path) -> Self {
        let name = path.to_string_lossy();
        match name.strip_suffix(".gz").unwrap_or(&name).ends_with(".jsonl") {
            true => Self::Jsonl,
            false => Self::Tsv,
        }
    }
}

/// What the texts of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Texts {
    /// Any number of captions for each image.
    Captions,
    /// One label for each image.
    Labels,
}

/// Where images and their texts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFiles {
    /// The folder that names start from.
    pub folder: PathBuf,
    /// The list.
    pub list: PathBuf,
    /// What its lines are.
    pub format: ListFormat,
    /// What its texts are.
    pub texts: Texts,
    /// Whether lines and images that cannot be used are counted and passed over, instead of stopping at the first.
    pub skip_bad: bool,
    /// What an image may cost.
    pub limits: DecodeLimits,
}

impl ImageFiles {
    /// A folder and its list, of the format that its name tells, with the usual limits; bad images are errors.
    pub fn new(folder: impl Into<PathBuf>, list: impl Into<PathBuf>, texts: Texts) -> Self {
        let list = list.into();
        let format = ListFormat::of(&list);
        Self { folder: folder.into(), list, format, texts, skip_bad: false, limits: DecodeLimits::default() }
    }
}

/// Images in a folder, decoded when they are asked for.
#[derive(Clone, Debug)]
pub struct ImageFolder {
    files: ImageFiles,
    images: Vec<Listed>,
    skipped: Skipped,
}

/// An image that a list names.
#[derive(Clone, Debug)]
struct Listed {
    name: String,
    /// The first line that names it.
    line: u64,
    texts: Vec<String>,
}

impl ImageFolder {
    /// Reads the list, and looks whether the images are there. None is decoded yet.
    ///
    /// # Errors
    /// If the list cannot be read or names no image, or, without `skip_bad`, at the first line or image that cannot
    /// be used.
    pub fn open(files: ImageFiles) -> Result<Self, DataError> {
        let mut folder = Self { images: Vec::new(), skipped: Skipped::default(), files };
        let mut known: HashMap<PathBuf, usize> = HashMap::new();
        let list = folder.files.list.clone();
        let mut lines = Lines::new(&list, files::open(&list)?);
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let added = match line {
                Ok(line) if line.trim().is_empty() => continue,
                Ok(line) => folder.add(&line, number, &mut known),
                Err(problem) => Err(folder.bad_line(number, problem)),
            };
            match added {
                Err(error) if folder.files.skip_bad => folder.skipped.pass(error)?,
                other => other?,
            }
        }
        if folder.images.is_empty() {
            let problem = ImageProblem::NoImages(Box::new(folder.skipped));
            return Err(ImageError::of(&list, problem).into());
        }
        Ok(folder)
    }

    /// What was passed over while the list was read.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Where the images and their texts are.
    pub fn files(&self) -> &ImageFiles {
        &self.files
    }

    fn bad_line(&self, line: u64, problem: LineProblem) -> DataError {
        DataError::Line { path: self.files.list.clone(), line, problem }
    }

    /// Takes in a line of the list.
    fn add(&mut self, line: &str, number: u64, known: &mut HashMap<PathBuf, usize>) -> Result<(), DataError> {
        let read = match self.files.format {
            ListFormat::Tsv => columns(line, self.files.texts),
            ListFormat::Jsonl => object(line, self.files.texts),
        };
        let (name, texts) = read.map_err(|problem| self.bad_line(number, problem))?;
        let failed = |problem| ImageError::of(Path::new(&name), problem).listed_in(&self.files.list, number);
        // `./a.png` is `a.png`.
        let parts = Path::new(&name).components().filter(|part| *part != Component::CurDir);
        match known.entry(parts.collect()) {
            Entry::Occupied(place) => {
                let image = &mut self.images[*place.get()];
                match self.files.texts {
                    Texts::Captions => image.texts.extend(texts),
                    Texts::Labels if image.texts == texts => {}
                    Texts::Labels => {
                        let [old, new] = [&image.texts, &texts].map(|texts| texts.concat());
                        return Err(failed(ImageProblem::TwoLabels(old, new)).into());
                    }
                }
            }
            Entry::Vacant(place) => {
                if !is_inside(Path::new(&name)) {
                    return Err(failed(ImageProblem::Outside).into());
                }
                let path = self.files.folder.join(&name);
                match fs::metadata(&path) {
                    Ok(found) if found.is_file() => {}
                    Ok(_) => return Err(failed(ImageProblem::NotAFile).into()),
                    Err(error) => return Err(failed(of_system(error)).into()),
                }
                place.insert(self.images.len());
                self.images.push(Listed { name, line: number, texts });
            }
        }
        Ok(())
    }
}

impl ImageSet for ImageFolder {
    fn len(&self) -> u64 {
        self.images.len() as u64
    }

    fn get(&self, index: u64) -> Result<ImageExample, DataError> {
        let listed = &self.images[index as usize];
        let image = decode_file(&self.files.folder.join(&listed.name), &self.files.limits)
            .map_err(|error| error.listed_in(&self.files.list, listed.line))?;
        let texts = listed.texts.iter().map(ImageText::new).collect();
        Ok(ImageExample { name: listed.name.clone(), image, texts })
    }

    fn texts(&self, index: u64) -> Result<Vec<String>, DataError> {
        Ok(self.images[index as usize].texts.clone())
    }
}

/// Whether a name stays inside the folder that it starts from.
pub(crate) fn is_inside(name: &Path) -> bool {
    let stays = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    name.components().next().is_some() && name.components().all(stays)
}

type Line = (String, Vec<String>);

fn columns(line: &str, texts: Texts) -> Result<Line, LineProblem> {
    let mut columns = line.split('\t').map(str::trim);
    let name = columns.next().unwrap_or_default().to_owned();
    let said: Vec<String> = columns.filter(|text| !text.is_empty()).map(str::to_owned).collect();
    checked(name, said, texts, || match line.contains('\t') {
        true => LineProblem::Empty { side: "text of the image" },
        false => LineProblem::NoColumn { column: 1, found: 1 },
    })
}

fn object(line: &str, texts: Texts) -> Result<Line, LineProblem> {
    let object: serde_json::Map<String, Value> =
        serde_json::from_str(line).map_err(|error| LineProblem::NotJson { problem: error.to_string() })?;
    let text = |key: &str, value: &Value| match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        _ => Err(LineProblem::NotText { key: key.to_owned() }),
    };
    let missing = |key: &str| LineProblem::NoKey { key: key.to_owned() };
    let name = text("image", object.get("image").ok_or_else(|| missing("image"))?)?;
    let keys: &[&str] = match texts {
        Texts::Captions => &["captions", "caption"],
        Texts::Labels => &["label"],
    };
    let Some((key, value)) = keys.iter().find_map(|key| Some((*key, object.get(*key)?))) else {
        return Err(missing(keys[0]));
    };
    let said = match value {
        Value::Array(values) if texts == Texts::Captions => {
            values.iter().map(|value| text(key, value)).collect::<Result<Vec<String>, _>>()?
        }
        value => vec![text(key, value)?],
    };
    let said = said.into_iter().filter(|text| !text.is_empty()).collect();
    checked(name, said, texts, || LineProblem::Empty { side: "text of the image" })
}

fn checked(
    name: String,
    said: Vec<String>,
    texts: Texts,
    without: impl Fn() -> LineProblem,
) -> Result<Line, LineProblem> {
    if name.is_empty() {
        return Err(LineProblem::Empty { side: "name of the image" });
    }
    match (said.len(), texts) {
        (0, _) => Err(without()),
        // A label has nothing to be told apart from.
        (2.., Texts::Labels) => Err(LineProblem::NotALabel { label: said.join("\\t") }),
        _ => Ok((name, said)),
    }
}
