//! A folder of sound files, and a list that says what is said in each.
//!
//! | list | a line |
//! |---|---|
//! | TSV | `talks/one.flac⇥good morning⇥anna⇥12.5⇥14.0` |
//! | JSONL | `{"path": "talks/one.flac", "text": "good morning", "speaker": "anna", "start": 12.5, "end": 14.0}` |
//!
//! Speaker and times may be left out, and so may the text where it is not wanted; a column of TSV between others is then
//! left empty. Times are seconds of the file, of which only this part is read; a file may stand in several lines. JSONL may
//! also tell when words sound, in seconds of that part: `"mentions": [{"word": 0, "start": 0.1, "end": 0.5}]`. Names are
//! paths inside the folder; links there are followed. The list may be gzipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::decode::{SoundLimits, Wanted, decode_file, of_system, sound_info};
use super::error::{SoundError, SoundProblem};
use super::set::{Mention, SoundExample, SoundSet, Transcript};
use crate::corpus::Lines;
use crate::error::LineProblem;
use crate::images::{ListFormat, is_inside};
use crate::skipped::Skipped;
use crate::{DataError, files};

/// Where recordings and their texts are.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundList {
    /// The folder that names start from.
    pub folder: PathBuf,
    /// The list.
    pub list: PathBuf,
    /// What its lines are.
    pub format: ListFormat,
    /// Whether every line must have a text, as for training.
    pub texts: bool,
    /// Whether lines and recordings that cannot be used are counted and passed over, instead of stopping at the first.
    pub skip_bad: bool,
    /// Samples a second of the sounds that are given.
    pub rate: u32,
    /// What a recording may cost.
    pub limits: SoundLimits,
}

impl SoundList {
    /// A folder and its list, of the format that its name tells, with texts, 16,000 samples a second and the usual limits;
    /// bad recordings are errors.
    pub fn new(folder: impl Into<PathBuf>, list: impl Into<PathBuf>) -> Self {
        let list = list.into();
        let format = ListFormat::of(&list);
        Self {
            folder: folder.into(),
            list,
            format,
            texts: true,
            skip_bad: false,
            rate: 16_000,
            limits: SoundLimits::default(),
        }
    }
}

/// Recordings in a folder, decoded when they are asked for.
#[derive(Clone, Debug)]
pub struct SoundFiles {
    list: SoundList,
    sounds: Vec<Listed>,
    skipped: Skipped,
}

/// A recording, or a part of one, that a list names.
#[derive(Clone, Debug)]
struct Listed {
    name: String,
    line: u64,
    said: Transcript,
    part: Option<(f64, f64)>,
}

impl SoundFiles {
    /// Reads the list, and looks whether the files are there. None is decoded yet.
    ///
    /// # Errors
    /// If the list cannot be read or names no recording, or, without `skip_bad`, at the first line or file that cannot be
    /// used.
    pub fn open(list: SoundList) -> Result<Self, DataError> {
        let mut all = Self { sounds: Vec::new(), skipped: Skipped::default(), list };
        let path = all.list.list.clone();
        let mut lines = Lines::new(&path, files::open(&path)?);
        let mut number = 0;
        while let Some(line) = lines.next()? {
            number += 1;
            let added = match line {
                Ok(line) if line.trim().is_empty() => continue,
                Ok(line) => all.read(&line, number),
                Err(problem) => Err(all.bad_line(number, problem)),
            };
            match added {
                Ok(listed) => all.sounds.push(listed),
                Err(error) if all.list.skip_bad => all.skipped.pass(error)?,
                Err(error) => return Err(error),
            }
        }
        if all.sounds.is_empty() {
            return Err(SoundError::of(&path, SoundProblem::NoSounds(Box::new(all.skipped))).into());
        }
        Ok(all)
    }

    /// What was passed over while the list was read.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// Where the recordings and their texts are.
    pub fn list(&self) -> &SoundList {
        &self.list
    }

    fn bad_line(&self, line: u64, problem: LineProblem) -> DataError {
        DataError::Line { path: self.list.list.clone(), line, problem }
    }

    fn read(&self, line: &str, number: u64) -> Result<Listed, DataError> {
        let read = match self.list.format {
            ListFormat::Tsv => columns(line),
            ListFormat::Jsonl => object(line),
        };
        let checked = read.and_then(|listed| match () {
            () if listed.name.is_empty() => Err(LineProblem::Empty { side: "name of the recording" }),
            () if self.list.texts && listed.said.text.is_empty() => {
                Err(LineProblem::Empty { side: "text of the recording" })
            }
            () => Ok(listed),
        });
        let listed = Listed { line: number, ..checked.map_err(|problem| self.bad_line(number, problem))? };
        let failed =
            |problem| SoundError::of(Path::new(&listed.name), problem).listed_in(&self.list.list, number);
        if !is_inside(Path::new(&listed.name)) {
            return Err(failed(SoundProblem::Outside).into());
        }
        match fs::metadata(self.list.folder.join(&listed.name)) {
            Ok(found) if found.is_file() => Ok(listed),
            Ok(_) => Err(failed(SoundProblem::NotAFile).into()),
            Err(error) => Err(failed(of_system(error)).into()),
        }
    }

    fn path(&self, listed: &Listed) -> PathBuf {
        self.list.folder.join(&listed.name)
    }
}

impl SoundSet for SoundFiles {
    fn len(&self) -> u64 {
        self.sounds.len() as u64
    }

    fn name(&self, index: u64) -> String {
        let listed = &self.sounds[index as usize];
        match listed.part {
            None => listed.name.clone(),
            Some((start, end)) => format!("{} {start}–{end} s", listed.name),
        }
    }

    fn said(&self, index: u64) -> Result<Transcript, DataError> {
        Ok(self.sounds[index as usize].said.clone())
    }

    fn get(&self, index: u64) -> Result<SoundExample, DataError> {
        let listed = &self.sounds[index as usize];
        let path = self.path(listed);
        let wanted = Wanted { rate: Some(self.list.rate), part: listed.part };
        let sound =
            decode_file(&path, &wanted, &self.list.limits).and_then(|sound| match sound.is_silent() {
                true => Err(SoundError::of(&path, SoundProblem::Silent)),
                false => Ok(sound),
            });
        let sound = sound.map_err(|error| error.listed_in(&self.list.list, listed.line))?;
        Ok(SoundExample { name: self.name(index), sound, said: listed.said.clone() })
    }

    fn identity(&self, index: u64) -> Result<Option<String>, DataError> {
        let listed = &self.sounds[index as usize];
        let path = self.path(listed);
        let Ok(found) = fs::metadata(&path) else { return Ok(None) };
        let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        // Without a time, a changed file could not be told from the old one.
        let Some(changed) = changed else { return Ok(None) };
        // Brought to another rate before, a sound is not what it would have been.
        let (part, rate) = (listed.part, self.list.rate);
        let path = fs::canonicalize(&path).unwrap_or(path);
        Ok(Some(format!("{}; {} bytes; {changed:?}; {part:?}; {rate}", path.display(), found.len())))
    }

    fn seconds(&self, index: u64) -> Result<Option<f64>, DataError> {
        let listed = &self.sounds[index as usize];
        if let Some((start, end)) = listed.part {
            return Ok(Some(end - start));
        }
        let told = sound_info(&self.path(listed), &self.list.limits);
        Ok(told.map_err(|error| error.listed_in(&self.list.list, listed.line))?.seconds)
    }
}

fn columns(line: &str) -> Result<Listed, LineProblem> {
    let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
    let column = |number: usize| columns.get(number).copied().filter(|text| !text.is_empty());
    let time = |number: usize| {
        let told =
            column(number).map(|text| text.parse().map_err(|_| LineProblem::Time { found: text.to_owned() }));
        told.transpose()
    };
    if columns.len() > 5 {
        return Err(LineProblem::MoreColumns { found: columns.len(), most: 5 });
    }
    let said = Transcript {
        text: column(1).unwrap_or_default().to_owned(),
        mentions: Vec::new(),
        speaker: column(2).map(str::to_owned),
    };
    Ok(Listed { name: columns[0].to_owned(), line: 0, said, part: part(time(3)?, time(4)?)? })
}

fn object(line: &str) -> Result<Listed, LineProblem> {
    let object: serde_json::Map<String, Value> =
        serde_json::from_str(line).map_err(|error| LineProblem::NotJson { problem: error.to_string() })?;
    let value = |key: &str| object.get(key).filter(|value| !value.is_null());
    let text = |key: &str| match value(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
        Some(_) => Err(LineProblem::NotText { key: key.to_owned() }),
    };
    let time = |key: &str| match value(key) {
        None => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or_else(|| LineProblem::Time { found: value.to_string() }),
    };
    let name = text("path")?.ok_or_else(|| LineProblem::NoKey { key: "path".into() })?;
    let mut said =
        Transcript { speaker: text("speaker")?, ..Transcript::new(text("text")?.unwrap_or_default()) };
    if let Some(mentions) = value("mentions") {
        said.mentions = serde_json::from_value(mentions.clone())
            .map_err(|error| LineProblem::Mentions { problem: error.to_string() })?;
        let words = crate::words::split(&said.text).len();
        let good =
            |mention: &Mention| mention.word < words && 0.0 <= mention.start && mention.start < mention.end;
        if !said.mentions.iter().all(good) || !said.mentions.is_sorted_by(|a, b| a.word < b.word) {
            let problem = format!(
                "words are counted from 0 to {}, in order, and end after they start",
                words.max(1) - 1
            );
            return Err(LineProblem::Mentions { problem });
        }
    }
    Ok(Listed { name, line: 0, said, part: part(time("start")?, time("end")?)? })
}

fn part(start: Option<f64>, end: Option<f64>) -> Result<Option<(f64, f64)>, LineProblem> {
    match (start, end) {
        (None, None) => Ok(None),
        (Some(start), Some(end)) if 0.0 <= start && start < end && end.is_finite() => Ok(Some((start, end))),
        (Some(start), Some(end)) => Err(LineProblem::Time { found: format!("{start} to {end}") }),
        (Some(one), None) | (None, Some(one)) => Err(LineProblem::Time { found: format!("{one} alone") }),
    }
}
