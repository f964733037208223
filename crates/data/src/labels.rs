//! Labels: the names that sources, or their words, are sorted under, and the ids of the names.
//!
//! A corpus of labels is one of pairs. The target is the label of the whole source, spaces and all, or
//! one label for each word of it; words and their labels are separated by white space.
//!
//! ```text
//! one long string of cliches⇥negative
//! The cat is here⇥DET NOUN AUX ADV
//! ```

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::Read;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::corpus::{Corpus, Position};
use crate::error::LineProblem;
use crate::{DataError, Example, files};

/// The most labels that are told apart.
pub const MAX_LABELS: usize = 65_536;

/// The longest name in bytes.
const MAX_NAME: usize = 256;
/// The largest file that is read; [`MAX_LABELS`] of [`MAX_NAME`] bytes, each of them escaped, fit.
const MAX_FILE: u64 = 64 << 20;
const FILE: &str = "labels.json";

/// What a label is given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The whole source.
    Sequence,
    /// Each word of the source.
    Word,
}

impl Unit {
    /// The labels of an example, one for each unit of its source.
    pub fn names(self, example: &Example) -> Result<Vec<&str>, LineProblem> {
        for (side, text) in [("source", &example.source), ("target", &example.target)] {
            if text.trim().is_empty() {
                return Err(LineProblem::Empty { side });
            }
        }
        let names: Vec<&str> = match self {
            Self::Sequence => vec![example.target.trim()],
            Self::Word => example.target.split_whitespace().collect(),
        };
        let words = example.source.split_whitespace().count();
        if self == Self::Word && words != names.len() {
            return Err(LineProblem::LabelCount { words, labels: names.len() });
        }
        match names.iter().find(|name| !is_name(name)) {
            Some(name) => Err(LineProblem::NotALabel { label: shortened(name) }),
            None => Ok(names),
        }
    }
}

/// The labels that a model tells apart, by id: their names in order, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Labels {
    /// Finds the labels of a whole corpus, which is then back at its start. Ids follow the order of the
    /// names, so that they depend on which labels there are, and on nothing else.
    pub fn learn(unit: Unit, corpus: &mut dyn Corpus) -> Result<Self, DataError> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        corpus.seek(&Position::start())?;
        while let Some(example) = corpus.next()? {
            match unit.names(&example) {
                Ok(found) => {
                    for name in found {
                        if !names.contains(name) {
                            names.insert(name.to_owned());
                        }
                    }
                }
                Err(problem) => corpus.reject(problem)?,
            }
            if names.len() > MAX_LABELS {
                return Err(DataError::TooManyLabels { most: MAX_LABELS });
            }
        }
        corpus.seek(&Position::start())?;
        if names.is_empty() {
            return Err(DataError::NoLabels);
        }
        let ids = names.iter().cloned().zip(0..).collect();
        Ok(Self { names: names.into_iter().collect(), ids })
    }

    /// How many there are; every id is below.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The id of a label, if there is such a label.
    pub fn id(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// The label with this id, if there is one.
    pub fn name(&self, id: u32) -> Option<&str> {
        self.names.get(id as usize).map(String::as_str)
    }

    /// All labels, by id.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The ids of an example's labels, one for each unit of its source.
    pub fn ids(&self, unit: Unit, example: &Example) -> Result<Vec<u32>, LineProblem> {
        let known = |name: &str| {
            self.id(name)
                .ok_or_else(|| LineProblem::UnknownLabel { label: shortened(name), known: self.some_names() })
        };
        unit.names(example)?.into_iter().map(known).collect()
    }

    /// The first few names, for messages.
    fn some_names(&self) -> String {
        const FEW: usize = 20;
        let mut names: Vec<String> = self.names.iter().take(FEW).map(|name| shortened(name)).collect();
        if self.len() > FEW {
            names.push("…".to_owned());
        }
        names.join(", ")
    }

    /// Writes `labels.json` into a folder.
    pub fn save(&self, folder: &Path) -> Result<(), DataError> {
        Ok(files::replace(&folder.join(FILE), |out| {
            serde_json::to_writer_pretty(&mut *out, &self.names)?;
            out.write_all(b"\n")
        })?)
    }

    /// Whether a folder holds labels.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// Reads what [`Labels::save`] wrote; ids follow the order of the file.
    pub fn load(folder: &Path) -> Result<Self, DataError> {
        let path = folder.join(FILE);
        let wrong = |problem: String| DataError::Labels { path: path.clone(), problem };
        let mut text = Vec::new();
        // One byte more than may be, so that a larger file shows.
        let mut file = files::open(&path)?.take(MAX_FILE + 1);
        file.read_to_end(&mut text).map_err(|error| DataError::Read { path: path.clone(), error })?;
        if text.len() as u64 > MAX_FILE {
            return Err(wrong("it is larger than 64 MiB".into()));
        }
        serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
    }

    /// Adds a label behind the others, or says what is wrong with it.
    fn add(&mut self, name: String) -> Result<(), String> {
        if !is_name(&name) {
            return Err(format!("\"{}\" is no name of a label", shortened(&name)));
        }
        if self.len() == MAX_LABELS {
            return Err(format!("there are more than {MAX_LABELS} labels"));
        }
        if self.ids.insert(name.clone(), self.len() as u32).is_some() {
            return Err(format!("label \"{}\" stands twice", shortened(&name)));
        }
        self.names.push(name);
        Ok(())
    }
}

/// Labels are read one by one, so that no file can make more of them than may be.
impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = Labels;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of names")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut found: A) -> Result<Labels, A::Error> {
                let mut labels = Labels::default();
                while let Some(name) = found.next_element()? {
                    labels.add(name).map_err(A::Error::custom)?;
                }
                if labels.is_empty() {
                    return Err(A::Error::custom("the list is empty"));
                }
                Ok(labels)
            }
        }

        deserializer.deserialize_seq(Names)
    }
}

/// Whether a label may be called so: something to see, in one line, and not a whole text.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && name.len() <= MAX_NAME && !name.contains(char::is_control)
}

/// A label as messages show it.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if name.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
