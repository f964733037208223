//! Corpora in text files: two aligned files, columns of one, JSON objects, or plain text.

use std::path::Path;

use serde_json::Value;

use super::{Corpus, Lines, Position};
use crate::error::LineProblem;
use crate::files::Opened;
use crate::{DataError, Example};

/// A corpus in one or two text files, plain or gzipped, of which one line at a time is in memory.
///
/// Line ends may be `\n` or `\r\n`, and the file may begin with a byte order mark. A line that
/// cannot be used is an error, or, with `skip_bad`, counted and passed over.
pub struct FileCorpus {
    /// One per file; they advance together, line by line.
    lines: Vec<Lines<Opened>>,
    format: Format,
    /// The column that says which group an example belongs to, if someone asks.
    group: Option<Column>,
    skip_bad: bool,
    example: u64,
    line: u64,
    skipped: u64,
}

/// A column of a file: of TSV by its number from 0, of JSONL by its key.
enum Column {
    Number(usize),
    Key(String),
}

/// How a line, or a pair of lines, becomes an example.
enum Format {
    Parallel,
    Tsv { columns: [usize; 2] },
    Jsonl { keys: [String; 2] },
    Single,
}

impl FileCorpus {
    /// Two files of which line n belongs to line n.
    pub fn parallel(source: &Path, target: &Path, skip_bad: bool) -> Result<Self, DataError> {
        Ok(Self::new(vec![Lines::open(source)?, Lines::open(target)?], Format::Parallel, skip_bad))
    }

    /// Columns separated by tabs; `columns` are those of source and target, counted from 0.
    pub fn tsv(path: &Path, columns: [usize; 2], skip_bad: bool) -> Result<Self, DataError> {
        Ok(Self::new(vec![Lines::open(path)?], Format::Tsv { columns }, skip_bad))
    }

    /// One JSON object per line; `keys` are those of source and target.
    pub fn jsonl(path: &Path, keys: [String; 2], skip_bad: bool) -> Result<Self, DataError> {
        Ok(Self::new(vec![Lines::open(path)?], Format::Jsonl { keys }, skip_bad))
    }

    /// Text for a language model: each line is a target, and its source is empty. Blank lines, which
    /// part paragraphs, are passed over and not counted.
    pub fn single(path: &Path, skip_bad: bool) -> Result<Self, DataError> {
        Ok(Self::new(vec![Lines::open(path)?], Format::Single, skip_bad))
    }

    fn new(lines: Vec<Lines<Opened>>, format: Format, skip_bad: bool) -> Self {
        Self { lines, format, group: None, skip_bad, example: 0, line: 0, skipped: 0 }
    }

    /// Gives every example the value of a column as its group: of TSV the number of a column, counted from
    /// 0, of JSONL a key. A line without it is an error, with `skip_bad` too.
    pub fn grouped_by(mut self, column: &str) -> Result<Self, DataError> {
        let path = || self.lines[0].path().to_owned();
        self.group = Some(match self.format {
            Format::Jsonl { .. } => Column::Key(column.to_owned()),
            Format::Tsv { .. } => match column.parse() {
                Ok(number) => Column::Number(number),
                Err(_) => return Err(DataError::ColumnName { path: path(), column: column.to_owned() }),
            },
            Format::Parallel | Format::Single => {
                return Err(DataError::NoColumns { path: path(), column: column.to_owned() });
            }
        });
        Ok(self)
    }

    /// The group of an example that stands in a line.
    fn group_of(&self, line: &str) -> Result<Option<String>, DataError> {
        let refuse = |column: String, there: String| DataError::NoSuchColumn {
            path: self.lines[0].path().to_owned(),
            line: self.line,
            column,
            there,
        };
        match &self.group {
            None => Ok(None),
            Some(Column::Number(number)) => match line.split('\t').nth(*number) {
                Some(value) => Ok(Some(value.trim().to_owned())),
                None => {
                    let last = line.split('\t').count() - 1;
                    let there = if last == 0 { "0 alone".to_owned() } else { format!("0 to {last}") };
                    Err(refuse(number.to_string(), there))
                }
            },
            Some(Column::Key(key)) => {
                let object: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
                match object.get(key) {
                    Some(Value::String(value)) => Ok(Some(value.trim().to_owned())),
                    Some(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => {
                        Ok(Some(value.to_string()))
                    }
                    _ => {
                        let there =
                            object.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
                        let there: Vec<String> = there.map(|(key, _)| format!("\"{key}\"")).collect();
                        Err(refuse(format!("\"{key}\""), there.join(", ")))
                    }
                }
            }
        }
    }

    /// Reads one line of every file. `None` at the end; an inner `None` is a blank line that is no example.
    fn read(&mut self) -> Result<Option<Option<Example>>, DataError> {
        let mut found = Vec::with_capacity(2);
        for lines in &mut self.lines {
            found.push(lines.next()?);
        }
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        self.line += 1;
        let mut texts = Vec::with_capacity(2);
        for (file, line) in found.into_iter().enumerate() {
            match line {
                Some(line) => texts.push(line.map_err(|problem| self.bad(file, problem))?),
                None => {
                    let longer = self.lines[1 - file].path().to_owned();
                    return Err(DataError::Uneven {
                        ended: self.lines[file].path().to_owned(),
                        longer,
                        line: self.line,
                    });
                }
            }
        }
        if matches!(self.format, Format::Single) && is_empty(&texts[0]) {
            return Ok(Some(None));
        }
        let line = self.group.is_some().then(|| texts[0].clone());
        let [source, target] = self.format.sides(texts).map_err(|problem| self.bad(0, problem))?;
        if is_empty(&target) {
            return Err(self.bad(self.lines.len() - 1, LineProblem::Empty { side: "target" }));
        }
        if is_empty(&source) && !matches!(self.format, Format::Single) {
            return Err(self.bad(0, LineProblem::Empty { side: "source" }));
        }
        let group = line.map_or(Ok(None), |line| self.group_of(&line))?;
        Ok(Some(Some(Example { group, ..Example::new(source, target) })))
    }

    fn bad(&self, file: usize, problem: LineProblem) -> DataError {
        DataError::Line { path: self.lines[file].path().to_owned(), line: self.line, problem }
    }
}

fn is_empty(text: &str) -> bool {
    text.trim().is_empty()
}

impl Format {
    /// Source and target out of the lines, one per file.
    fn sides(&self, lines: Vec<String>) -> Result<[String; 2], LineProblem> {
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        match self {
            Self::Parallel => Ok([first, lines.next().unwrap_or_default()]),
            Self::Single => Ok([String::new(), first]),
            Self::Tsv { columns } => {
                let found: Vec<&str> = first.split('\t').collect();
                let column = |column: usize| match found.get(column) {
                    Some(text) => Ok((*text).to_owned()),
                    None => Err(LineProblem::NoColumn { column, found: found.len() }),
                };
                Ok([column(columns[0])?, column(columns[1])?])
            }
            Self::Jsonl { keys } => {
                let mut object: serde_json::Map<String, Value> = serde_json::from_str(&first)
                    .map_err(|error| LineProblem::NotJson { problem: error.to_string() })?;
                let mut side = |key: &String| match object.get_mut(key) {
                    Some(Value::String(text)) => Ok(text.clone()),
                    Some(_) => Err(LineProblem::NotText { key: key.clone() }),
                    None => Err(LineProblem::NoKey { key: key.clone() }),
                };
                Ok([side(&keys[0])?, side(&keys[1])?])
            }
        }
    }
}

impl Corpus for FileCorpus {
    fn next(&mut self) -> Result<Option<Example>, DataError> {
        loop {
            match self.read() {
                Ok(Some(Some(example))) => {
                    self.example += 1;
                    return Ok(Some(example));
                }
                Ok(Some(None)) => {}
                Ok(None) => return Ok(None),
                Err(DataError::Line { .. } | DataError::Uneven { .. }) if self.skip_bad => self.skipped += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn position(&self) -> Position {
        Position {
            example: self.example,
            line: self.line,
            offsets: self.lines.iter().map(Lines::offset).collect(),
            skipped: self.skipped,
        }
    }

    fn seek(&mut self, to: &Position) -> Result<(), DataError> {
        let start = vec![0; self.lines.len()];
        let offsets = if to == &Position::start() { &start } else { &to.offsets };
        if offsets.len() != self.lines.len() {
            let corpus = self.lines[0].path().display().to_string();
            let at = format!("example {} of a corpus of {} files", to.example, offsets.len());
            return Err(DataError::Position { corpus, at });
        }
        for (lines, offset) in self.lines.iter_mut().zip(offsets) {
            lines.seek(*offset)?;
        }
        (self.example, self.line, self.skipped) = (to.example, to.line, to.skipped);
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn reject(&mut self, problem: LineProblem) -> Result<(), DataError> {
        if !self.skip_bad {
            return Err(self.bad(self.lines.len() - 1, problem)); // what stands last is the target
        }
        self.example = self.example.saturating_sub(1);
        self.skipped += 1;
        Ok(())
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
