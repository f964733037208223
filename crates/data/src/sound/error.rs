//! What can be wrong with a recording.

use std::path::{Path, PathBuf};

use crate::skipped::{Reason, Skipped};

/// A recording, or a list of recordings, that cannot be used. The message names the file, the line that asked for it,
/// and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{}{problem}", place(path.as_deref(), listed.as_ref()))]
pub struct SoundError {
    /// The file, if the recording has one.
    pub path: Option<PathBuf>,
    /// The list, and the line in it, counted from one, that names the recording.
    pub listed: Option<(PathBuf, u64)>,
    /// What is wrong.
    pub problem: SoundProblem,
}

fn place(path: Option<&Path>, listed: Option<&(PathBuf, u64)>) -> String {
    let path = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    let listed = listed.map(|(list, line)| format!("{}, line {line}: ", list.display())).unwrap_or_default();
    listed + &path
}

impl SoundError {
    /// A problem with a recording that has no file.
    pub(crate) fn unnamed(problem: SoundProblem) -> Self {
        Self { path: None, listed: None, problem }
    }

    /// A list that names no recording that can be used.
    pub fn no_sounds(list: &Path, skipped: Skipped) -> Self {
        Self::of(list, SoundProblem::NoSounds(Box::new(skipped)))
    }

    /// A problem with a file.
    pub(crate) fn of(path: &Path, problem: SoundProblem) -> Self {
        Self { path: Some(path.to_owned()), listed: None, problem }
    }

    /// The same problem, of a recording that a line of a list names.
    pub(crate) fn listed_in(mut self, list: &Path, line: u64) -> Self {
        self.listed = Some((list.to_owned(), line));
        self
    }
}

/// What is wrong with a recording.
#[derive(Debug, thiserror::Error)]
pub enum SoundProblem {
    /// There is no such file.
    #[error("the recording is not there; check the name and the folder")]
    Missing,
    /// A folder, a pipe or a device.
    #[error("is no file; name a sound file")]
    NotAFile,
    /// The system does not let it be read.
    #[error("cannot be read: {0}; check its permissions and the disk")]
    Read(std::io::Error),
    /// A name that leads out of the folder of recordings.
    #[error(
        "the name leads out of the folder of recordings; write a path inside it, without `..` and without `/` before it"
    )]
    Outside,
    /// Not one of the formats.
    #[error(
        "is no WAV, FLAC, Ogg Vorbis or MP3 file{found}; convert it (`ffmpeg -i FILE out.wav`), or correct the name"
    )]
    Format {
        /// What it looks like, or nothing.
        found: &'static str,
    },
    /// One of the formats, with something else inside.
    #[error(
        "is {format}, but what it holds ({problem}) cannot be decoded; convert it (`ffmpeg -i FILE out.wav`)"
    )]
    Codec {
        /// The format.
        format: &'static str,
        /// What the decoder says.
        problem: String,
    },
    /// The file is cut short or damaged.
    #[error("the recording is broken ({0}); fetch it again, or remove it")]
    Broken(String),
    /// No samples.
    #[error("the recording is empty; record it again, or remove it")]
    Empty,
    /// Nothing but silence.
    #[error("the recording is silent from beginning to end; record it again, or remove it")]
    Silent,
    /// More bytes than may be read.
    #[error(
        "the file has {bytes} bytes, but no more than {most} are read; make it smaller, or raise the limit of bytes"
    )]
    TooManyBytes {
        /// How many there are.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// Longer than may be taken into memory.
    #[error(
        "the recording is {} long, but no more than {most} seconds are read; cut it at its pauses, name its parts \
         with `start` and `end`, or raise the limit of seconds", length(*seconds)
    )]
    TooLong {
        /// Its length, if its file tells it.
        seconds: Option<f64>,
        /// The limit.
        most: f64,
    },
    /// More channels than may be.
    #[error(
        "the recording has {channels} channels, but no more than {most} are mixed; take out those that matter"
    )]
    TooManyChannels {
        /// How many there are.
        channels: usize,
        /// The limit.
        most: usize,
    },
    /// A sample rate that makes no sense.
    #[error(
        "the recording has {rate} samples a second, but rates are from {} to {most}; check the file",
        super::LEAST_RATE
    )]
    Rate {
        /// Samples a second.
        rate: u32,
        /// The limit.
        most: u32,
    },
    /// A part that is not in the recording.
    #[error(
        "there is nothing from {start} to {end} seconds in a recording of {length} seconds; correct `start` and `end`"
    )]
    NoPart {
        /// Where the part begins.
        start: f64,
        /// Where it ends.
        end: f64,
        /// How long the recording is.
        length: f64,
    },
    /// Frames of one batch differ in their bands.
    #[error(
        "recording {number} of the batch has {found} values in a frame, the first has {expected}; prepare them alike"
    )]
    Uneven {
        /// Which, counted from one.
        number: usize,
        /// Its values.
        found: usize,
        /// Those of the first.
        expected: usize,
    },
    /// A list names no recording that can be used.
    #[error("there is no usable recording; passed over: {0}; check the list and the folder")]
    NoSounds(Box<Skipped>),
}

fn length(seconds: Option<f64>) -> String {
    match seconds {
        Some(seconds) => format!("{seconds:.1} seconds"),
        None => "too".into(),
    }
}

impl SoundProblem {
    /// The reason under which a recording with this problem is counted; none if the fault is not the recording's.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Missing | Self::NotAFile | Self::Read(_) => Some(Reason::Missing),
            Self::Outside => Some(Reason::Outside),
            Self::TooManyBytes { .. } | Self::TooLong { .. } | Self::TooManyChannels { .. } => {
                Some(Reason::TooLarge)
            }
            Self::Empty | Self::Silent => Some(Reason::Empty),
            Self::NoPart { .. } => Some(Reason::BadLine),
            Self::NoSounds(_) | Self::Uneven { .. } => None,
            Self::Format { .. } | Self::Codec { .. } | Self::Broken(_) | Self::Rate { .. } => {
                Some(Reason::Broken)
            }
        }
    }
}
