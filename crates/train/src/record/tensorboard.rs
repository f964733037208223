//! Event files as TensorBoard reads them.
//!
//! An event file is a row of records, each an `Event` message of Protocol Buffers in TFRecord framing:
//!
//! ```text
//! u64 length | u32 masked CRC-32C of the length | the message | u32 masked CRC-32C of the message      (little-endian)
//! ```
//!
//! The first event names the version of the format. A directory holds one file per start of the program, read
//! in the order of their names, `events.out.tfevents.<seconds>.gatto.<number>`.
//!
//! A run that was killed may have written figures later than the checkpoint from which it resumes. Its new file
//! therefore opens with a `SessionLog` of status `START` at the first step to be repeated: TensorBoard then
//! drops what it has read of that step and later ones. A record cut off by the kill ends its file for the
//! reader, who goes on with the next.
//!
//! Times are given by the caller, in seconds since 1970.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use prost::Message;

const PREFIX: &str = "events.out.tfevents.";
const HOST: &str = "gatto";

/// Writes one event file.
#[derive(Debug)]
pub struct EventWriter {
    file: BufWriter<File>,
    path: PathBuf,
}

impl EventWriter {
    /// Starts an event file in a directory, which is made if it does not exist.
    pub fn create(directory: &Path, wall_time: f64) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let (path, file) = new_file(directory, wall_time)?;
        let mut writer = Self { file: BufWriter::new(file), path };
        writer.write(wall_time, 0, What::FileVersion("brain.Event:2".to_owned()))?;
        Ok(writer)
    }

    /// Continues the run in a directory, in a new file. What its other files say of `first_step` and later is
    /// void: a run that resumes from the checkpoint of step `n` gives `n + 1`. `checkpoint` is its path.
    pub fn append(directory: &Path, wall_time: f64, first_step: u64, checkpoint: &str) -> io::Result<Self> {
        let mut writer = Self::create(directory, wall_time)?;
        let start =
            SessionLog { status: SessionStatus::Start.into(), checkpoint_path: checkpoint.to_owned() };
        writer.write(wall_time, first_step, What::SessionLog(start))?;
        writer.flush()?;
        Ok(writer)
    }

    /// Where this writer writes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one figure. Tags that share what stands before a `/` are shown together.
    pub fn scalar(&mut self, tag: &str, value: f32, step: u64, wall_time: f64) -> io::Result<()> {
        let value = SummaryValue {
            tag: tag.to_owned(),
            metadata: None,
            value: Some(summary_value::Value::SimpleValue(value)),
        };
        self.write(wall_time, step, What::Summary(Summary { value: vec![value] }))
    }

    /// Writes a text, which TensorBoard shows as Markdown.
    pub fn text(&mut self, tag: &str, text: &str, step: u64, wall_time: f64) -> io::Result<()> {
        let tensor = TensorProto {
            dtype: DT_STRING,
            tensor_shape: Some(TensorShape::default()),
            string_val: vec![text.as_bytes().to_vec()],
        };
        let plugin = PluginData { plugin_name: "text".to_owned() };
        let value = SummaryValue {
            tag: tag.to_owned(),
            metadata: Some(SummaryMetadata { plugin_data: Some(plugin) }),
            value: Some(summary_value::Value::Tensor(tensor)),
        };
        self.write(wall_time, step, What::Summary(Summary { value: vec![value] }))
    }

    /// Hands everything written so far to the operating system. Dropping the writer does too, but hides errors.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn write(&mut self, wall_time: f64, step: u64, what: What) -> io::Result<()> {
        // The format's steps are signed.
        let step = i64::try_from(step).map_err(|_| io::Error::other(format!("step {step} is too large")))?;
        self.file.write_all(&record(&Event { wall_time, step, what: Some(what) }))
    }
}

/// Makes a file whose name sorts after those of all event files there, even if the clock went back.
fn new_file(directory: &Path, wall_time: f64) -> io::Result<(PathBuf, File)> {
    let mut last = None;
    for entry in fs::read_dir(directory)? {
        last = last.max(entry?.file_name().to_str().and_then(start_of));
    }
    let now = (wall_time as u64, 0);
    let (seconds, mut number) = match last {
        Some((seconds, number)) if (seconds, number) >= now => (seconds, number + 1),
        _ => now,
    };
    loop {
        let path = directory.join(format!("{PREFIX}{seconds:010}.{HOST}.{number:04}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// The seconds and the number in an event file's name; the number is 0 in a file of another program.
fn start_of(file_name: &str) -> Option<(u64, u64)> {
    let (seconds, rest) = file_name.strip_prefix(PREFIX)?.split_once('.')?;
    let number = rest.strip_prefix(HOST).and_then(|rest| rest.strip_prefix('.')?.parse().ok());
    Some((seconds.parse().ok()?, number.unwrap_or(0)))
}

/// An event in TFRecord framing.
fn record(event: &Event) -> Vec<u8> {
    let message = event.encode_to_vec();
    let length = (message.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(message.len() + 16);
    record.extend_from_slice(&length);
    record.extend_from_slice(&masked_crc(&length).to_le_bytes());
    record.extend_from_slice(&message);
    record.extend_from_slice(&masked_crc(&message).to_le_bytes());
    record
}

/// CRC-32C, rotated and shifted: the sum of data that contains its own sum would be degenerate.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

// The parts of TensorFlow's `event.proto`, `summary.proto` and `tensor.proto` that are written here.

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5, 7")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum What {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
    #[prost(message, tag = "7")]
    SessionLog(SessionLog),
}

#[derive(Clone, PartialEq, Message)]
struct SessionLog {
    #[prost(enumeration = "SessionStatus", tag = "1")]
    status: i32,
    #[prost(string, tag = "2")]
    checkpoint_path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
enum SessionStatus {
    Unspecified = 0,
    Start = 1,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<SummaryValue>,
}

#[derive(Clone, PartialEq, Message)]
struct SummaryValue {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(message, optional, tag = "9")]
    metadata: Option<SummaryMetadata>,
    #[prost(oneof = "summary_value::Value", tags = "2, 8")]
    value: Option<summary_value::Value>,
}

mod summary_value {
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(super) enum Value {
        #[prost(float, tag = "2")]
        SimpleValue(f32),
        #[prost(message, tag = "8")]
        Tensor(super::TensorProto),
    }
}

#[derive(Clone, PartialEq, Message)]
struct SummaryMetadata {
    #[prost(message, optional, tag = "1")]
    plugin_data: Option<PluginData>,
}

#[derive(Clone, PartialEq, Message)]
struct PluginData {
    #[prost(string, tag = "1")]
    plugin_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct TensorProto {
    #[prost(int32, tag = "1")]
    dtype: i32,
    #[prost(message, optional, tag = "2")]
    tensor_shape: Option<TensorShape>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    string_val: Vec<Vec<u8>>,
}

/// TensorFlow's number for a tensor of strings.
const DT_STRING: i32 = 7;

/// Without dimensions, the shape of a scalar.
#[derive(Clone, PartialEq, Message)]
struct TensorShape {}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: f64 = 1_700_000_000.25;

    /// A directory of one test, removed at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("gatto-tensorboard-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }

        fn file_names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("the directory");
            let mut names: Vec<String> = entries
                .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// CRC-32C bit by bit, masked: independent of the crate that writes it.
    fn slow_masked_crc(bytes: &[u8]) -> u32 {
        let mut crc = !0_u32;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (if crc & 1 == 1 { 0x82f6_3b78 } else { 0 });
            }
        }
        (!crc).rotate_right(15).wrapping_add(0xa282_ead8)
    }

    /// The events of a file, with every sum checked; a record cut off at the end is left out.
    fn read(bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while rest.len() >= 12 {
            let (head, tail) = rest.split_at(12);
            let sum = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            assert_eq!(sum(&head[8..]), slow_masked_crc(&head[..8]), "the length's sum");
            let length = u64::from_le_bytes(head[..8].try_into().expect("eight bytes")) as usize;
            if tail.len() < length + 4 {
                break;
            }
            assert_eq!(sum(&tail[length..length + 4]), slow_masked_crc(&tail[..length]), "the message's sum");
            events.push(Event::decode(&tail[..length]).expect("a message"));
            rest = &tail[length + 4..];
        }
        events
    }

    fn scalar_of(event: &Event) -> Option<(&str, f32, i64)> {
        let Some(What::Summary(summary)) = &event.what else { return None };
        match &summary.value[..] {
            [SummaryValue { tag, value: Some(summary_value::Value::SimpleValue(value)), .. }] => {
                Some((tag, *value, event.step))
            }
            _ => None,
        }
    }

    /// The bytes of the same file from the package `tensorboard` 2.21.0: `RecordWriter` over `Event`s of
    /// file version, `SessionLog(START, "ck")` at step 8, and `loss/train` = 1.5 at step 7.
    #[test]
    fn bytes_are_those_of_tensorboard() {
        #[rustfmt::skip]
        let expected = [
            24, 0, 0, 0, 0, 0, 0, 0, 163, 127, 75, 34, 9, 0, 0, 16, 64, 252, 84, 217, 65, 26, 13, 98, 114, 97, 105,
            110, 46, 69, 118, 101, 110, 116, 58, 50, 51, 141, 47, 233,
            19, 0, 0, 0, 0, 0, 0, 0, 12, 145, 50, 27, 9, 0, 0, 16, 64, 252, 84, 217, 65, 16, 8, 58, 6, 8, 1, 18, 2,
            99, 107, 250, 102, 108, 87,
            32, 0, 0, 0, 0, 0, 0, 0, 41, 237, 169, 80, 9, 0, 0, 16, 64, 252, 84, 217, 65, 16, 7, 42, 19, 10, 17, 10,
            10, 108, 111, 115, 115, 47, 116, 114, 97, 105, 110, 21, 0, 0, 192, 63, 75, 162, 115, 52_u8,
        ];
        let scratch = Scratch::new("golden");
        let mut writer = EventWriter::append(&scratch.0, TIME, 8, "ck").expect("a writer");
        writer.scalar("loss/train", 1.5, 7, TIME).expect("a scalar");
        writer.flush().expect("a flush");
        assert_eq!(fs::read(writer.path()).expect("the file"), expected);
    }

    #[test]
    fn figures_are_read_back() {
        let scratch = Scratch::new("figures");
        let mut writer = EventWriter::create(&scratch.0, TIME).expect("a writer");
        writer.scalar("loss", 0.0, 0, TIME).expect("a zero");
        writer.scalar("loss", f32::INFINITY, 1, TIME + 1.0).expect("an infinity");
        writer.text("config", "task = \"translate\"", 0, TIME).expect("a text");
        writer.scalar("è/日本", -1e-30, 1 << 40, TIME).expect("a tag beyond ASCII");
        assert!(writer.scalar("loss", 0.0, u64::MAX, TIME).is_err());
        writer.flush().expect("a flush");
        let events = read(&fs::read(writer.path()).expect("the file"));
        assert_eq!(events[0].what, Some(What::FileVersion("brain.Event:2".to_owned())));
        assert_eq!(events[2].wall_time, TIME + 1.0);
        let figures: Vec<_> = events.iter().filter_map(scalar_of).collect();
        assert_eq!(figures, [("loss", 0.0, 0), ("loss", f32::INFINITY, 1), ("è/日本", -1e-30, 1 << 40)]);
        assert_eq!(events.len(), 5);
    }

    #[test]
    fn a_resumed_run_opens_a_later_file_with_a_start() {
        let scratch = Scratch::new("resume");
        let mut first = EventWriter::create(&scratch.0, TIME).expect("a writer");
        first.scalar("loss", 3.0, 1, TIME).expect("a scalar");
        first.flush().expect("a flush");
        let second = EventWriter::append(&scratch.0, TIME, 2, "checkpoints/1").expect("the same second");
        let third = EventWriter::append(&scratch.0, TIME - 100.0, 2, "").expect("the clock went back");
        EventWriter::create(&scratch.0, TIME + 1.0).expect("a second later");
        assert_eq!(
            scratch.file_names(),
            [
                "events.out.tfevents.1700000000.gatto.0000",
                "events.out.tfevents.1700000000.gatto.0001",
                "events.out.tfevents.1700000000.gatto.0002",
                "events.out.tfevents.1700000001.gatto.0000",
            ]
        );
        assert!(third.path() > second.path());
        let events = read(&fs::read(second.path()).expect("the file"));
        let start = SessionLog { status: 1, checkpoint_path: "checkpoints/1".to_owned() };
        assert_eq!((events[1].step, &events[1].what), (2, &Some(What::SessionLog(start))));
    }

    #[test]
    fn a_file_cut_anywhere_keeps_its_whole_records() {
        let scratch = Scratch::new("cut");
        let mut writer = EventWriter::create(&scratch.0, TIME).expect("a writer");
        for step in 0..3 {
            writer.scalar("loss", step as f32, step, TIME).expect("a scalar");
        }
        writer.flush().expect("a flush");
        let bytes = fs::read(writer.path()).expect("the file");
        let whole = read(&bytes);
        for length in 0..bytes.len() {
            let events = read(&bytes[..length]);
            assert_eq!(events, whole[..events.len()]);
            assert!(events.len() < whole.len());
        }
    }

    #[test]
    fn other_files_do_not_disturb() {
        assert_eq!(start_of("events.out.tfevents.1700000000.host.12.0"), Some((1_700_000_000, 0)));
        assert_eq!(start_of("events.out.tfevents.1700000000.gatto.0012"), Some((1_700_000_000, 12)));
        assert_eq!(start_of("events.out.tfevents.x.gatto.0"), None);
        assert_eq!(start_of("notes.txt"), None);
    }
}
