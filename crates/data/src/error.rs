//! Everything that can go wrong between a file and a batch. A message names the file, the line and
//! the remedy.

use std::io;
use std::path::PathBuf;

use crate::tokens::Kind;

/// What went wrong with the data.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file cannot be opened or read.
    #[error("{}: cannot be read: {error}; check the path, its permissions and that the file is whole", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },

    /// A folder stands where a file is wanted.
    #[error("{}: is a folder; name the file inside it", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },

    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),

    /// A line of a corpus cannot be used.
    #[error("{}, line {line}: {problem}, or set `skip_bad = true` to pass over such lines", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },

    /// An example of a corpus without files cannot be used.
    #[error("example {number} of the corpus: {problem}")]
    Example {
        /// The example, counted from one.
        number: u64,
        /// What is wrong with it.
        problem: LineProblem,
    },

    /// One of two aligned files ends before the other.
    #[error(
        "{} has no line {line}, but {} goes on; line n of one must belong to line n of the other: \
         check which lines are missing, or set `skip_bad = true` to leave the surplus lines out",
        ended.display(), longer.display()
    )]
    Uneven {
        /// The shorter file.
        ended: PathBuf,
        /// The longer file.
        longer: PathBuf,
        /// The first line that the shorter file lacks, counted from one.
        line: u64,
    },

    /// Examples are to be grouped by a column, and a line has none of that name.
    #[error("{}, line {line}: has no column {column} to group by; its columns are {there}", path.display())]
    NoSuchColumn {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: u64,
        /// The column that is wanted.
        column: String,
        /// Those that there are.
        there: String,
    },

    /// A column of TSV is called by a name.
    #[error(
        "{}: the columns of TSV are numbers, counted from 0, so that `{column}` is none of them; write the \
         number of the column to group by",
        path.display()
    )]
    ColumnName {
        /// The file.
        path: PathBuf,
        /// The column that is wanted.
        column: String,
    },

    /// Examples are to be grouped by a column, and lines have none.
    #[error("{}: its lines have no columns, so that there is no `{column}` to group by", path.display())]
    NoColumns {
        /// The file.
        path: PathBuf,
        /// The column that is wanted.
        column: String,
    },

    /// Examples are to be grouped by a column, and a task that makes them has none.
    #[error("a built-in task has no columns, so that there is no `{column}` to group by")]
    BuiltinColumns {
        /// The column that is wanted.
        column: String,
    },

    /// A saved position is not one of this corpus.
    #[error(
        "{corpus}: has no example boundary at {at}: it has changed since the position was saved; put the old corpus back, or start anew"
    )]
    Position {
        /// The file, or the kind of corpus.
        corpus: String,
        /// Where the position points.
        at: String,
    },

    /// Keys of a configuration do not go together, or a value makes no sense.
    #[error("`{key}`: {problem}")]
    Config {
        /// The key at fault.
        key: String,
        /// What is wrong, and what to write.
        problem: String,
    },

    /// A pass over the corpus gave nothing to train on.
    #[error(
        "the corpus has no usable example ({read} read, {skipped} bad lines passed over, {too_long} longer \
         than max_length = {max_length} tokens); check the files, or raise `max_length`"
    )]
    NoExamples {
        /// Examples read.
        read: u64,
        /// Bad lines passed over.
        skipped: u64,
        /// Examples dropped because a side was longer than `max_length`.
        too_long: u64,
        /// The limit in force.
        max_length: usize,
    },

    /// A built-in task cannot be had as asked.
    #[error(transparent)]
    Builtin(#[from] crate::builtin::Error),

    /// A scene of the built-in task `shapes` cannot be had as asked.
    #[error(transparent)]
    Shapes(#[from] crate::builtin::shapes::ShapesError),

    /// An image, or a list of images, cannot be used.
    #[error(transparent)]
    Image(Box<crate::images::ImageError>),

    /// A recording, or a list of recordings, cannot be used.
    #[error(transparent)]
    Sound(Box<crate::sound::SoundError>),

    /// A melody of the built-in task `melodies` cannot be had as asked.
    #[error(transparent)]
    Melodies(#[from] crate::builtin::melodies::MelodiesError),

    /// A file holds no statistics of sounds.
    #[error("{}: is not what Gatto wrote of the sounds of a corpus: {problem}; train again, or restore the file", path.display())]
    Statistics {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// What is read ahead comes no more.
    #[error(transparent)]
    Ahead(#[from] crate::ahead::AheadError),

    /// There is no text to learn a vocabulary from.
    #[error("there is no text to learn a vocabulary from; check that the training files are not empty")]
    NoText,

    /// The vocabulary has no room for what every vocabulary of its kind holds.
    #[error(
        "a vocabulary of kind `{kind}` has at least {least} tokens; write `size = {least}` or more, not {size}"
    )]
    Size {
        /// The kind of tokens.
        kind: Kind,
        /// The size asked for.
        size: usize,
        /// The least size possible.
        least: usize,
    },

    /// The text does not make a vocabulary.
    #[error("no vocabulary of kind `{kind}` can be learnt: {problem}")]
    Learning {
        /// The kind of tokens.
        kind: Kind,
        /// Why, and what to do.
        problem: String,
    },

    /// A file is no tokenizer that can be used here.
    #[error("{}: is not a tokenizer that Gatto wrote: {problem}; train again, or restore the file", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// There is no label to learn.
    #[error("there is no label to learn; check that the training files are not empty")]
    NoLabels,

    /// There are more labels than can be told apart.
    #[error(
        "the training corpus has more than {most} different labels; check that its target is a label and not \
         text (`columns` or `keys` of `data.train`)"
    )]
    TooManyLabels {
        /// The most labels possible.
        most: usize,
    },

    /// A file holds no labels that can be used here.
    #[error("{}: is not a list of labels that Gatto wrote: {problem}; train again, or restore the file", path.display())]
    Labels {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl From<crate::images::ImageError> for DataError {
    fn from(error: crate::images::ImageError) -> Self {
        Self::Image(Box::new(error))
    }
}

impl From<crate::sound::SoundError> for DataError {
    fn from(error: crate::sound::SoundError) -> Self {
        Self::Sound(Box::new(error))
    }
}

/// Why a line of a corpus cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// Longer than [`crate::corpus::MAX_LINE`].
    #[error("the line is longer than 1 MiB; split it into sentences")]
    TooLong,
    /// Not UTF-8.
    #[error("the line is not valid UTF-8; convert the file (`iconv -f LATIN1 -t UTF-8`)")]
    NotUtf8,
    /// Nothing but white space.
    #[error("the {side} is empty; give it text")]
    Empty {
        /// `source` or `target`.
        side: &'static str,
    },
    /// Too few columns.
    #[error(
        "there is no column {column} (counted from 0): the line has {found}; check `columns` and the tabs of the line"
    )]
    NoColumn {
        /// The column that is wanted.
        column: usize,
        /// How many columns there are.
        found: usize,
    },
    /// Not JSON, or not an object.
    #[error("the line is not a JSON object ({problem}); write one object per line")]
    NotJson {
        /// What the JSON reader says.
        problem: String,
    },
    /// The object lacks a key.
    #[error("the object has no key \"{key}\"; add it, or name another in `keys`")]
    NoKey {
        /// The key that is wanted.
        key: String,
    },
    /// The value of a key is no text.
    #[error("the value of \"{key}\" is not a string; write it in quotes")]
    NotText {
        /// The key.
        key: String,
    },
    /// A time that makes no sense.
    #[error(
        "the time {found} makes no sense; write `start` and `end` in seconds, both or none, the end after the start"
    )]
    Time {
        /// What stands there.
        found: String,
    },
    /// Times of words that make no sense.
    #[error("the times of words (`mentions`) make no sense ({problem}); correct them, or leave them out")]
    Mentions {
        /// What is wrong with them.
        problem: String,
    },
    /// Too many columns.
    #[error("the line has {found} columns, but there are at most {most}; check its tabs")]
    MoreColumns {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A label that was not learnt.
    #[error(
        "the label \"{label}\" is none of those learnt ({known}); correct it, or train anew on examples of it"
    )]
    UnknownLabel {
        /// The label.
        label: String,
        /// Those that were learnt, or the first of them.
        known: String,
    },
    /// More or fewer labels than words.
    #[error(
        "the source has {words} words, but the target {labels} labels; write one label for each word, with \
         spaces between them"
    )]
    LabelCount {
        /// How many words there are.
        words: usize,
        /// How many labels there are.
        labels: usize,
    },
    /// Too long for a label, or more than a line.
    #[error(
        "\"{label}\" is no label, which has at most 256 bytes and no control characters; check that the target \
         is a label and not text"
    )]
    NotALabel {
        /// What stands in its place.
        label: String,
    },
}

/// A file could not be written; what was there before is untouched.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written: {error}; check that the folder exists, is writable and has room", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}
