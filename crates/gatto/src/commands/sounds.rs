//! What several commands read of sounds: files that are named, and recordings that are held out.
//!
//! A recording may be longer than what fits into memory, and than what a model has ever heard at once. It is read in
//! stretches of a few minutes, which are cut at their pauses; what is behind the last cut of a stretch begins the next.

use crate::cli::{Held, HeldPart};
use anyhow::{Context, Result, bail, ensure};
use gatto::data::Part;
use gatto::data::builtin::MELODIES;
use gatto::data::random::mixed;
use gatto::data::sound::{
    Frames, JoinConfig, Joined, Measured, PauseSettings, Preparer, Sound, SoundExample, SoundFiles,
    SoundLimits, SoundList, SoundProblem, SoundSet, Transcript, Wanted, decode_bytes, decode_file, pieces,
    sound_info,
};
use gatto::model::{CONFIG, Saved};
use gatto::train::{Config, ConfigFile, Origin, corpora};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds of a recording that are in memory at once.
const STRETCH: f64 = 300.0;
/// The longest piece that is transcribed at once unless told otherwise, in seconds.
const LONGEST_PIECE: f64 = 20.0;
/// The most bytes and seconds of a recording that comes on standard input, all of which is in memory.
const MOST_BYTES: u64 = 1 << 30;
const MOST_SECONDS: f64 = 7200.0;

/// What a model of sounds reads: files, standard input, and the melodies that it could have learnt from.
pub(super) struct Sounds {
    pub(super) preparer: Preparer,
    config: Config,
    longest: f64,
}

/// A recording that is read in stretches.
pub(super) struct Recording {
    pub(super) name: String,
    source: Source,
    /// What is said in it, if it is a melody.
    pub(super) said: Option<Transcript>,
    /// How long it is, as far as it tells.
    pub(super) seconds: Option<f64>,
}

enum Source {
    File(PathBuf),
    /// All of it, in memory.
    Whole(Sound),
}

/// A part of a recording that is transcribed at once.
#[derive(Clone)]
pub(super) struct Piece {
    /// From which second of the recording to which.
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) sound: Sound,
    /// None if nothing is to be heard.
    pub(super) frames: Option<Frames>,
}

impl Sounds {
    /// Those of a model; none if it reads texts or images. Pieces are at most so many seconds long; if none are told, as
    /// long as recordings of its training could be.
    pub(super) fn of(saved: &Saved, model: &Path, longest: Option<f64>) -> Result<Option<Self>> {
        let Some(preparer) = saved.preparer()? else { return Ok(None) };
        let config = ConfigFile::read(&model.join(CONFIG), &[])?.config;
        let longest = longest.or(config.train.max_seconds).unwrap_or(LONGEST_PIECE);
        Ok(Some(Self { preparer, config, longest }))
    }

    /// A recording by name: a file or, where there is no such file, a melody such as `melodies/test/7`.
    pub(super) fn open(&self, name: &str) -> Result<Recording> {
        let path = Path::new(name);
        if let (false, Some(SoundExample { sound, said, .. })) = (path.exists(), self.melody(name)?) {
            return Ok(Recording::whole(name, sound, Some(said)));
        }
        let seconds = sound_info(path, &SoundLimits::default())?.seconds;
        Ok(Recording { name: name.to_owned(), source: Source::File(path.to_owned()), said: None, seconds })
    }

    /// The melody that is called so.
    fn melody(&self, name: &str) -> Result<Option<SoundExample>> {
        let parts: Vec<&str> = name.split('/').collect();
        let [MELODIES, part, number] = parts[..] else { return Ok(None) };
        let part = match part {
            "train" => Part::Train,
            "valid" => Part::Valid,
            "test" => Part::Test,
            _ => return Ok(None),
        };
        let drawn = self.config.data.builtin.as_deref() == Some(MELODIES);
        let (true, Ok(number)) = (drawn, number.parse::<u64>()) else { return Ok(None) };
        let set = corpora::open_sounds(&self.config, Path::new(""), part)?.map(|sounds| sounds.set);
        Ok(set.filter(|set| number < set.len()).map(|set| set.get(number)).transpose()?)
    }

    /// A recording that is heard at once; an error if it is longer than what can be.
    pub(super) fn whole(&self, name: &str) -> Result<Frames> {
        let recording = self.open(name)?;
        let mut pieces = self.pieces(&recording).collect::<Result<Vec<_>>>()?.concat();
        let one = if pieces.len() == 1 { pieces.pop() } else { None };
        let frames = one.and_then(|piece| piece.frames);
        frames.with_context(|| {
            let longest = self.longest;
            format!("{name}: is silent, or longer than {longest} seconds, which are heard at once; cut it at its pauses")
        })
    }

    /// The pieces of a recording, stretch by stretch.
    pub(super) fn pieces<'a>(
        &'a self,
        recording: &'a Recording,
    ) -> impl Iterator<Item = Result<Vec<Piece>>> + 'a {
        let mut next = Some(0.0);
        std::iter::from_fn(move || {
            let start = next.take()?;
            match self.stretch(recording, start) {
                Ok((found, rest)) => {
                    next = rest;
                    Some(Ok(found))
                }
                Err(error) => Some(Err(error)),
            }
        })
    }

    /// The pieces of the stretch that begins at a second, and where the next begins, if there is one.
    fn stretch(&self, recording: &Recording, start: f64) -> Result<(Vec<Piece>, Option<f64>)> {
        let rate = self.preparer.preparation().rate;
        let (sound, ends) = match &recording.source {
            Source::Whole(sound) => {
                let sample = |seconds: f64| (seconds * f64::from(sound.rate)).round() as usize;
                let first = sample(start).min(sound.samples.len());
                let last = sample(start + STRETCH).min(sound.samples.len());
                let part = Sound { samples: sound.samples[first..last].to_vec(), rate: sound.rate };
                (part, last == sound.samples.len())
            }
            Source::File(path) => {
                let limits = SoundLimits { seconds: STRETCH + 1.0, ..SoundLimits::default() };
                let wanted = Wanted { rate: Some(rate), part: Some((start, start + STRETCH)) };
                match decode_file(path, &wanted, &limits) {
                    Ok(sound) => {
                        let ends = sound.seconds() + 0.5 / f64::from(rate) < STRETCH;
                        (sound, ends)
                    }
                    Err(error) if matches!(error.problem, SoundProblem::NoPart { .. }) => {
                        ensure!(start > 0.0, "{}: the recording is empty; record it again", recording.name);
                        return Ok((Vec::new(), None));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let mut cuts = pieces(&sound, self.longest, &PauseSettings::default());
        // What goes on behind the stretch is cut with what follows.
        let left = if ends || cuts.len() < 2 { None } else { cuts.pop() };
        let seconds = |sample: usize| start + sample as f64 / f64::from(sound.rate.max(1));
        let piece = |cut: &std::ops::Range<usize>| {
            let samples = sound.samples[cut.clone()].to_vec();
            let part = Sound { samples, rate: sound.rate };
            let frames = (!part.is_silent()).then(|| self.preparer.prepare(&part, None).frames);
            Piece { start: seconds(cut.start), end: seconds(cut.end), sound: part, frames }
        };
        let found = cuts.iter().map(piece).collect();
        let behind = left.map_or(sound.samples.len(), |left| left.start);
        Ok((found, (!ends).then(|| seconds(behind))))
    }
}

impl Recording {
    /// One that is in memory.
    pub(super) fn whole(name: &str, sound: Sound, said: Option<Transcript>) -> Self {
        let seconds = Some(sound.seconds());
        Self { name: name.to_owned(), source: Source::Whole(sound), said, seconds }
    }
}

/// What stands on standard input.
pub(super) enum Given {
    /// Names, one per line.
    Names(Box<dyn BufRead + Send>),
    /// A recording.
    Sound(Recording),
}

/// Looks at standard input: a sound file begins with other bytes than any name.
pub(super) fn standard_input(rate: u32) -> Result<Given> {
    let mut input = BufReader::new(std::io::stdin());
    let head = input.fill_buf().context("standard input cannot be read")?;
    let marks: [&[u8]; 5] = [b"RIFF", b"fLaC", b"OggS", b"ID3", &[0xff]];
    if !marks.iter().any(|mark| head.starts_with(mark)) {
        return Ok(Given::Names(Box::new(input)));
    }
    let mut bytes = Vec::new();
    input.take(MOST_BYTES + 1).read_to_end(&mut bytes).context("standard input cannot be read")?;
    ensure!(
        bytes.len() as u64 <= MOST_BYTES,
        "standard input: is longer than {} MiB; write it into a file, and give its name",
        MOST_BYTES >> 20
    );
    let limits = SoundLimits { seconds: MOST_SECONDS, ..SoundLimits::default() };
    let sound =
        decode_bytes(bytes, &Wanted { rate: Some(rate), part: None }, &limits).context("standard input")?;
    Ok(Given::Sound(Recording::whole("standard input", sound, None)))
}

/// The recordings that figures are measured on: a list that was named, or a part of the model's data. At most so many of
/// a built-in task, unless told otherwise.
pub(super) fn held(
    held: &Held,
    saved: &Saved,
    model: &Path,
    of_a_builtin_task: u64,
) -> Result<(Arc<dyn SoundSet>, u64)> {
    if held.source.is_some() || held.text.is_some() || held.images.is_some() {
        bail!(
            "{}: reads sounds; give --data FILE, a list of recordings with what is said in them, and --sounds DIR",
            model.display()
        );
    }
    let file = ConfigFile::read(&model.join(CONFIG), &[])?;
    let rate = saved.plan.sound.unwrap_or_default().rate;
    let (set, usual): (Arc<dyn SoundSet>, _) = match &held.data {
        Some(list) => {
            let folder = held.sounds.clone().or_else(|| list.parent().map(PathBuf::from)).unwrap_or_default();
            let seconds = file.config.train.most_seconds().max(LONGEST_PIECE);
            let limits = SoundLimits { seconds, ..SoundLimits::default() };
            let files = SoundFiles::open(SoundList { rate, limits, ..SoundList::new(folder, list) })?;
            let set: Arc<dyn SoundSet> = Arc::new(Measured::new(Arc::new(files), seconds, None)?);
            (joined(set, held, &file.config)?, u64::MAX)
        }
        None => {
            let base = Origin::load(model).map_or(file.base, |origin| origin.base);
            let (part, name) = match held.part {
                HeldPart::Valid => (Part::Valid, "valid"),
                HeldPart::Test => (Part::Test, "test"),
                HeldPart::Unseen => bail!("--part unseen is for images of the built-in task shapes"),
            };
            let sounds = corpora::open_sounds(&file.config, &base, part)?.with_context(|| {
                let other = if part == Part::Test { ", or --part valid" } else { "" };
                let path = model.join(CONFIG);
                format!(
                    "{}: names no {name} data\n  hint: give --data FILE and --sounds DIR{other}",
                    path.display()
                )
            })?;
            if sounds.skipped.total() > 0 {
                let note = format!("note: recordings that are passed over: {}", sounds.skipped);
                writeln!(std::io::stderr(), "{note}").ok();
            }
            (sounds.set, if file.config.data.builtin.is_some() { of_a_builtin_task } else { u64::MAX })
        }
    };
    let count = held.examples.unwrap_or(usual).min(set.len());
    Ok((set, count))
}

/// Recordings as they are, or joined as they are asked for.
fn joined(set: Arc<dyn SoundSet>, held: &Held, config: &Config) -> Result<Arc<dyn SoundSet>> {
    let Some((least, most)) = held.join else { return Ok(set) };
    let join = JoinConfig { least, most, ..config.data.join.unwrap_or_default() };
    let count = held.examples.unwrap_or(join.held_out);
    let joined = Joined::new(set, join, mixed(config.seed, Part::Test as u64), count).context("--join")?;
    Ok(Arc::new(joined))
}
