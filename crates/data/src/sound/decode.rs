//! Reading sound files: WAV, FLAC, Ogg Vorbis and MP3, told by their content, whatever their names end in.
//!
//! A file is read piece by piece: each is decoded, its channels are mixed, and its rate is changed at once, so that
//! nothing is ever held but the result. What a header tells is checked before the first piece; what it does not tell,
//! as soon as it is known. A file that has fewer samples than its header says is an error, not a shorter recording, and so
//! is one that is damaged in what is wanted of it. A part that is whole is read, whatever the rest is like.

use std::fs::{self, File};
use std::io::{Cursor, Read, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::{Deserialize, Serialize};
use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error as Fault;
use symphonia::core::formats::{FormatOptions, FormatReader, SeekMode, SeekTo, TrackType};
use symphonia::core::io::{MediaSource, MediaSourceStream, ReadBytes};
use symphonia::core::units::Timestamp;
use symphonia::default::formats::{FlacReader, MpaReader, OggReader, WavReader};

use super::error::{SoundError, SoundProblem};
use super::pages::Pages;
use super::piped::Piped;
use super::recording::{LEAST_RATE, MOST_RATE, Sound};
use super::resample::Resampler;

/// What a sound file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SoundLimits {
    /// The most bytes of a file. They are read piece by piece, so that this is not about memory.
    pub bytes: u64,
    /// The most seconds that are taken into memory, of a whole file or of a part.
    pub seconds: f64,
    /// The most channels that are mixed.
    pub channels: usize,
    /// The most samples a second.
    pub rate: u32,
}

impl Default for SoundLimits {
    fn default() -> Self {
        Self { bytes: 4 << 30, seconds: 60.0, channels: 24, rate: 384_000 }
    }
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoundFormat {
    /// RIFF/WAVE with whole numbers of 8 to 32 bits, floating point, A-law or µ-law.
    Wav,
    /// FLAC.
    Flac,
    /// Ogg with Vorbis or FLAC inside.
    Ogg,
    /// MPEG-1 and 2, layer III.
    Mp3,
}

impl SoundFormat {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wav => "WAV",
            Self::Flac => "FLAC",
            Self::Ogg => "Ogg",
            Self::Mp3 => "MP3",
        }
    }
}

/// What the header of a sound file tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoundInfo {
    /// The format.
    pub format: SoundFormat,
    /// Samples a second of each channel.
    pub rate: u32,
    /// How many channels there are.
    pub channels: usize,
    /// How long it is, if that is told; of an MP3 file it may be a guess.
    pub seconds: Option<f64>,
}

/// What of a file is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Samples a second; as the file has them if none are told.
    pub rate: Option<u32>,
    /// From which second to which; all if none are told.
    pub part: Option<(f64, f64)>,
}

/// What the header of a file tells, without decoding it.
///
/// # Errors
/// If the file is missing, none of the formats, or broken at its beginning.
pub fn sound_info(path: &Path, limits: &SoundLimits) -> Result<SoundInfo, SoundError> {
    let source = open(path, limits).map_err(|problem| SoundError::of(path, problem))?;
    guarded(|| Ok(Opened::new(source, limits, Length::Guessed)?.info))
        .map_err(|problem| SoundError::of(path, problem))
}

/// Reads a sound file, or a part of it.
///
/// # Errors
/// If the file is missing, no sound, broken, empty or beyond the limits, or has no such part.
pub fn decode_file(path: &Path, wanted: &Wanted, limits: &SoundLimits) -> Result<Sound, SoundError> {
    let source = open(path, limits).map_err(|problem| SoundError::of(path, problem))?;
    guarded(|| Opened::new(source, limits, Length::Told)?.decode(wanted, limits))
        .map_err(|problem| SoundError::of(path, problem))
}

/// Decodes the bytes of a sound file.
///
/// # Errors
/// As [`decode_file`].
pub fn decode_bytes(bytes: Vec<u8>, wanted: &Wanted, limits: &SoundLimits) -> Result<Sound, SoundError> {
    let length = bytes.len() as u64;
    if length > limits.bytes {
        return Err(SoundError::unnamed(SoundProblem::TooManyBytes { bytes: length, most: limits.bytes }));
    }
    guarded(|| Opened::new(Cursor::new(bytes), limits, Length::Told)?.decode(wanted, limits))
        .map_err(SoundError::unnamed)
}

/// The decoders are made for hostile files; should one fail all the same, it is the file's fault.
fn guarded<T>(read: impl FnOnce() -> Result<T, SoundProblem>) -> Result<T, SoundProblem> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(SoundProblem::Broken("the decoder gave up".into())))
}

fn open(path: &Path, limits: &SoundLimits) -> Result<File, SoundProblem> {
    // A pipe would wait for ever to be opened, so that one looks first.
    let found = fs::metadata(path).map_err(of_system)?;
    match found.len() {
        _ if !found.is_file() => Err(SoundProblem::NotAFile),
        bytes if bytes > limits.bytes => Err(SoundProblem::TooManyBytes { bytes, most: limits.bytes }),
        _ => File::open(path).map_err(of_system),
    }
}

pub(super) fn of_system(error: std::io::Error) -> SoundProblem {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => SoundProblem::Missing,
        _ => SoundProblem::Read(error),
    }
}

/// What is wanted to be known of the length of a file whose header does not tell it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// A guess, from the size of the file.
    Guessed,
    /// Nothing: what is decoded must not end where a guess says.
    Told,
}

/// A file whose header was read, and is within the limits.
struct Opened {
    info: SoundInfo,
    reader: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    /// Samples of each channel, if the header tells them and does not guess.
    frames: Option<u64>,
    /// Of Ogg, which pages are there.
    pages: Option<Pages>,
    /// When the first piece begins, in samples.
    origin: Option<i64>,
}

impl Opened {
    fn new<S: MediaSource + 'static>(
        mut source: S,
        limits: &SoundLimits,
        length: Length,
    ) -> Result<Self, SoundProblem> {
        let (format, start) = format_of(&mut source)?;
        let pages = match (format, length) {
            (SoundFormat::Ogg, Length::Told) => Some(Pages::read(&mut source).map_err(SoundProblem::Read)?),
            _ => None,
        };
        let source = match (format, length) {
            (SoundFormat::Wav, _) => Piped::of_wav(source, start),
            // Where it cannot go back, the reader takes a length from a tag, and guesses none.
            (SoundFormat::Mp3, Length::Told) => Piped::forwards(source),
            _ => Piped::not(source),
        };
        let source = source.map_err(SoundProblem::Read)?;
        let mut stream = MediaSourceStream::new(Box::new(source), Default::default());
        stream.ignore_bytes(start).map_err(SoundProblem::Read)?;
        let failed = |fault| of_reader(format, fault);
        let options = FormatOptions::default();
        let reader: Box<dyn FormatReader> = match format {
            SoundFormat::Wav => Box::new(WavReader::try_new(stream, options).map_err(failed)?),
            SoundFormat::Flac => Box::new(FlacReader::try_new(stream, options).map_err(failed)?),
            SoundFormat::Ogg => Box::new(OggReader::try_new(stream, options).map_err(failed)?),
            SoundFormat::Mp3 => Box::new(MpaReader::try_new(stream, options).map_err(failed)?),
        };
        let codec =
            |problem: &str| SoundProblem::Codec { format: format.name(), problem: problem.to_owned() };
        let track =
            reader.default_track(TrackType::Audio).ok_or_else(|| codec("no kind of sound that is known"))?;
        let Some(CodecParameters::Audio(told)) = &track.codec_params else { return Err(codec("no sound")) };
        let decoder = symphonia::default::get_codecs()
            .make_audio_decoder(told, &AudioDecoderOptions::default())
            .map_err(|fault| codec(&fault.to_string()))?;
        let rate = told.sample_rate.unwrap_or(0);
        if !(LEAST_RATE..=limits.rate.min(MOST_RATE)).contains(&rate) {
            return Err(SoundProblem::Rate { rate, most: limits.rate.min(MOST_RATE) });
        }
        let channels = told.channels.as_ref().map_or(0, |channels| channels.count());
        if channels > limits.channels {
            return Err(SoundProblem::TooManyChannels { channels, most: limits.channels });
        }
        let (frames, track) = (track.num_frames, track.id);
        let seconds = frames.map(|frames| frames as f64 / f64::from(rate));
        // The length of an MP3 file is often a guess from its first pieces.
        let frames = frames.filter(|_| format != SoundFormat::Mp3);
        // Of an Ogg file without its end, the length is that of what is there.
        let frames = frames.filter(|_| pages.as_ref().is_none_or(|pages| pages.ends(track)));
        let info = SoundInfo { format, rate, channels, seconds };
        Ok(Self { info, reader, decoder, track, frames, pages, origin: None })
    }

    fn decode(mut self, wanted: &Wanted, limits: &SoundLimits) -> Result<Sound, SoundProblem> {
        let rate = self.info.rate;
        let to = wanted.rate.unwrap_or(rate);
        if !(LEAST_RATE..=MOST_RATE).contains(&to) {
            return Err(SoundProblem::Rate { rate: to, most: MOST_RATE });
        }
        let (from, until) = self.range(wanted)?;
        let most = (limits.seconds * f64::from(rate)).floor() as u64;
        let told = self.frames.map(|frames| frames.min(until).saturating_sub(from));
        if let Some(frames) =
            told.or((until < u64::MAX).then(|| until - from)).filter(|frames| *frames > most)
        {
            let seconds = Some(frames as f64 / f64::from(rate));
            return Err(SoundProblem::TooLong { seconds, most: limits.seconds });
        }
        if let Some(pages) = &self.pages {
            pages.check(self.track, from, until).map_err(|lost| lost.problem(rate))?;
        }
        let mut place = self.seek(from);
        if place > from {
            return Err(damaged(from, place.min(until), rate));
        }
        let mut resampler = Resampler::new(rate, to);
        let mut sound = Sound { samples: Vec::new(), rate: to };
        let (mut values, mut mixed, mut kept) = (Vec::new(), Vec::new(), 0);
        while place < until {
            let Some(packet) = self.next(place)? else { break };
            let begins = self.begins(&packet).max(place);
            if begins > place.max(from) && place < until {
                return Err(damaged(place.max(from), begins.min(until), rate));
            }
            place = begins;
            let decoded = self.decoder.decode(&packet).map_err(of_decoder)?;
            let spec = decoded.spec();
            // A stream may change its mind on the way.
            if spec.rate() != rate {
                return Err(SoundProblem::Broken("its rate changes on the way".into()));
            }
            let channels = spec.channels().count();
            if channels == 0 || channels > limits.channels {
                return Err(SoundProblem::TooManyChannels { channels, most: limits.channels });
            }
            values.clear();
            decoded.copy_to_vec_interleaved::<f32>(&mut values);
            let frames = values.len() / channels;
            let skipped = from.saturating_sub(place).min(frames as u64) as usize;
            let wanted = until.saturating_sub(place).min(frames as u64) as usize;
            place += frames as u64;
            mixed.clear();
            mixed.extend(
                values
                    .chunks_exact(channels)
                    .take(wanted)
                    .skip(skipped)
                    .map(|frame| frame.iter().sum::<f32>() / channels as f32),
            );
            if mixed.iter().any(|value| !value.is_finite()) {
                return Err(SoundProblem::Broken("it holds values that are no numbers".into()));
            }
            kept += mixed.len() as u64;
            if kept > most {
                return Err(SoundProblem::TooLong { seconds: self.info.seconds, most: limits.seconds });
            }
            resampler.push(&mixed, &mut sound.samples);
        }
        resampler.finish(&mut sound.samples);
        match (kept, wanted.part) {
            (0, None) => Err(SoundProblem::Empty),
            (0, Some((start, end))) => {
                Err(SoundProblem::NoPart { start, end, length: place as f64 / f64::from(rate) })
            }
            _ => Ok(sound),
        }
    }

    /// The samples of the part that is wanted.
    fn range(&self, wanted: &Wanted) -> Result<(u64, u64), SoundProblem> {
        let Some((start, end)) = wanted.part else { return Ok((0, u64::MAX)) };
        let length = self.info.seconds.unwrap_or(f64::INFINITY);
        let told = |seconds: f64| (seconds * f64::from(self.info.rate)).round();
        let (from, until) = (told(start), told(end));
        // Ends are often rounded up.
        let beyond = self.frames.is_some_and(|frames| from >= frames as f64);
        if !(0.0 <= from && from < until && until < 1e15) || beyond {
            return Err(SoundProblem::NoPart { start, end, length });
        }
        Ok((from as u64, until as u64))
    }

    /// Goes to a sample or before it, and tells where that is. Only where it is exact: a piece of WAV or FLAC can be
    /// decoded without those before it.
    fn seek(&mut self, from: u64) -> u64 {
        if from == 0 || !matches!(self.info.format, SoundFormat::Wav | SoundFormat::Flac) {
            return 0;
        }
        let to = SeekTo::Timestamp { ts: Timestamp::new(from as i64), track_id: self.track };
        match self.reader.seek(SeekMode::Accurate, to) {
            Ok(there) => {
                self.decoder.reset();
                u64::try_from(there.actual_ts.get()).unwrap_or(0)
            }
            // From the beginning, then.
            Err(_) => {
                let start = SeekTo::Timestamp { ts: Timestamp::new(0), track_id: self.track };
                let _ = self.reader.seek(SeekMode::Accurate, start);
                0
            }
        }
    }

    /// The sample at which a piece begins, as far as the format tells: what was lost before it is not counted else.
    fn begins(&mut self, packet: &symphonia::core::packet::Packet) -> u64 {
        let at = packet.pts.get().saturating_add_unsigned(packet.trim_start.get());
        match self.info.format {
            // Its pieces say which they are.
            SoundFormat::Flac => u64::try_from(at).unwrap_or(0),
            // Some recordings are cut out of others, whose time they keep.
            SoundFormat::Ogg => u64::try_from(at - *self.origin.get_or_insert(at)).unwrap_or(0),
            SoundFormat::Wav | SoundFormat::Mp3 => 0,
        }
    }

    /// The next piece of the sound, or none at its end.
    fn next(&mut self, place: u64) -> Result<Option<symphonia::core::packet::Packet>, SoundProblem> {
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) if packet.track_id != self.track => {}
                Ok(Some(packet)) => return Ok(Some(packet)),
                Ok(None) => break,
                // What does not know its length ends where it ends.
                Err(Fault::IoError(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    match self.frames {
                        None => break,
                        Some(_) => return Err(cut_short()),
                    }
                }
                // Another recording begins in the same file, of which none is wanted.
                Err(Fault::ResetRequired) => break,
                Err(fault) => return Err(of_decoder(fault)),
            }
        }
        match self.frames {
            Some(frames) if place < frames => Err(cut_short()),
            _ => Ok(None),
        }
    }
}

pub(super) fn cut_short() -> SoundProblem {
    SoundProblem::Broken("it is cut short".into())
}

/// What lies from one sample to another is not there.
pub(super) fn damaged(from: u64, until: u64, rate: u32) -> SoundProblem {
    let seconds = |sample: u64| sample as f64 / f64::from(rate.max(1));
    SoundProblem::Broken(format!("it is damaged from {:.2} to {:.2} seconds", seconds(from), seconds(until)))
}

fn of_reader(format: SoundFormat, fault: Fault) -> SoundProblem {
    match fault {
        Fault::Unsupported(problem) => {
            SoundProblem::Codec { format: format.name(), problem: problem.to_owned() }
        }
        other => of_decoder(other),
    }
}

fn of_decoder(fault: Fault) -> SoundProblem {
    match fault {
        Fault::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => cut_short(),
        Fault::IoError(error) => match error.raw_os_error() {
            Some(_) => SoundProblem::Read(error),
            None => SoundProblem::Broken(error.to_string()),
        },
        other => SoundProblem::Broken(other.to_string()),
    }
}

/// The format of a file, and where it begins: tags of ID3 stand before MP3, and sometimes before FLAC.
fn format_of(source: &mut impl MediaSource) -> Result<(SoundFormat, u64), SoundProblem> {
    let mut start = 0;
    // Some files have a tag twice.
    for _ in 0..4 {
        source.seek(SeekFrom::Start(start)).map_err(SoundProblem::Read)?;
        let mut head = Vec::new();
        source.by_ref().take(16).read_to_end(&mut head).map_err(SoundProblem::Read)?;
        match &head[..] {
            [] if start == 0 => return Err(SoundProblem::Empty),
            [] => return Err(cut_short()),
            [b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] => {
                let length = [a, b, c, d].iter().fold(0, |sum, byte| sum << 7 | u64::from(**byte & 0x7f));
                let footer = if flags & 0x10 != 0 { 10 } else { 0 };
                start += 10 + length + footer;
            }
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => {
                return Ok((SoundFormat::Wav, start));
            }
            [b'f', b'L', b'a', b'C', ..] => return Ok((SoundFormat::Flac, start)),
            [b'O', b'g', b'g', b'S', ..] => return Ok((SoundFormat::Ogg, start)),
            // The mark of a frame, layer III, with a rate.
            [0xff, mark, rate, ..] if mark & 0xe6 == 0xe2 && rate & 0x0c != 0x0c => {
                return Ok((SoundFormat::Mp3, start));
            }
            head => return Err(SoundProblem::Format { found: looks_like(head) }),
        }
    }
    Err(SoundProblem::Format { found: "" })
}

/// What a file is that is no sound, as far as its first bytes tell.
fn looks_like(head: &[u8]) -> &'static str {
    match head {
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => " (it looks like MP4 or M4A)",
        [b'F', b'O', b'R', b'M', ..] => " (it looks like AIFF)",
        [b'c', b'a', b'f', b'f', ..] => " (it looks like CAF)",
        [0x1a, 0x45, 0xdf, 0xa3, ..] => " (it looks like Matroska or WebM)",
        [b'R', b'F', b'6', b'4', ..] => " (it looks like RF64)",
        [0x30, 0x26, 0xb2, 0x75, ..] => " (it looks like Windows Media)",
        [b'#', b'!', b'A', b'M', b'R', ..] => " (it looks like AMR)",
        [b'N', b'I', b'S', b'T', ..] => " (it looks like NIST SPHERE)",
        [0xff, mark, ..] if mark & 0xf6 == 0xf0 => " (it looks like AAC)",
        [0x1f, 0x8b, ..] => " (it is gzipped)",
        [b'P', b'K', 3, 4, ..] => " (it is a ZIP archive)",
        [0x89, b'P', b'N', b'G', ..] | [0xff, 0xd8, 0xff, ..] => " (it is an image)",
        head if head.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')) => {
            " (it looks like text)"
        }
        _ => "",
    }
}
