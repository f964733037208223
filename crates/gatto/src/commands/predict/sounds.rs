//! What is said in recordings, and when.
//!
//! Recordings are cut at their pauses; pieces of several recordings are transcribed together, and what was heard in the
//! pieces of one is put together again.

use super::one_line;
use crate::cli::Predict;
use crate::commands::sounds::{Given, Piece, Recording, Sounds, standard_input};
use crate::lines::{Lines, write_output};
use anyhow::{Result, bail, ensure};
use gatto::inspect::look::{HeardWord, heard_words};
use gatto::model::{AttentionKind, Prediction, Request, Saved, Writers};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;

/// Seconds of pieces that wait to be transcribed together, at most.
const WAITING: f64 = 600.0;

/// What was heard in a piece.
struct Heard {
    start: f64,
    end: f64,
    /// None where nothing is to be heard.
    written: Option<(Prediction, Vec<HeardWord>)>,
}

/// A recording of which some pieces have been heard.
struct Open {
    name: String,
    pieces: Vec<Heard>,
    /// Whether all of it has been read.
    whole: bool,
}

/// Recordings on their way.
struct Desk<'a> {
    saved: &'a Saved,
    arguments: &'a Predict,
    writers: &'a Writers<'a>,
    progress: ProgressBar,
    /// Those that were not written yet, and how many were.
    open: VecDeque<Open>,
    written: usize,
    /// The pieces that wait, and the recordings that they are of.
    waiting: Vec<(usize, Piece)>,
}

pub(super) fn predict(
    saved: &Saved,
    arguments: &Predict,
    writers: &Writers<'_>,
    sounds: &Sounds,
) -> Result<()> {
    let mut chunks = recordings(arguments, sounds)?;
    let mut desk = Desk {
        saved,
        arguments,
        writers,
        progress: progress(arguments, sounds),
        open: VecDeque::new(),
        written: 0,
        waiting: Vec::new(),
    };
    write_output(arguments.output.as_deref(), |out| {
        for chunk in &mut chunks {
            for recording in chunk? {
                desk.take(&recording?, sounds, out)?;
            }
            desk.transcribe(out)?;
        }
        desk.progress.finish_and_clear();
        Ok(())
    })
}

type Chunks<'a> = Box<dyn Iterator<Item = Result<Vec<Result<Recording>>>> + 'a>;

/// The recordings that are named, or the one that comes on standard input, as they arrive.
fn recordings<'a>(arguments: &'a Predict, sounds: &'a Sounds) -> Result<Chunks<'a>> {
    let at_once = 4 * arguments.batch as usize;
    let opened = move |names: Vec<String>| names.iter().map(|name| sounds.open(name)).collect::<Vec<_>>();
    let lines = match (&arguments.files[..], &arguments.input) {
        ([], Some(path)) => Lines::open(Some(path))?,
        ([], None) => match standard_input(sounds.preparer.preparation().rate)? {
            Given::Sound(recording) => return Ok(Box::new(std::iter::once(Ok(vec![Ok(recording)])))),
            Given::Names(input) => Lines::of(input),
        },
        (files, _) => {
            let name = |file: &std::path::PathBuf| match file.to_str() {
                Some(name) => Ok(name.to_owned()),
                None => bail!("{}: the name is not UTF-8; rename the file", file.display()),
            };
            let names = files.iter().map(name).collect::<Result<Vec<_>>>()?;
            let chunks: Vec<Vec<String>> = names.chunks(at_once).map(<[String]>::to_vec).collect();
            return Ok(Box::new(chunks.into_iter().map(move |names| Ok(opened(names)))));
        }
    };
    Ok(Box::new(lines.chunks(at_once).map(move |names| names.map(opened))))
}

impl Desk<'_> {
    /// Takes in a recording, and writes what is done.
    fn take(&mut self, recording: &Recording, sounds: &Sounds, out: &mut dyn Write) -> Result<()> {
        let number = self.written + self.open.len();
        self.open.push_back(Open { name: recording.name.clone(), pieces: Vec::new(), whole: false });
        for pieces in sounds.pieces(recording) {
            for mut piece in pieces? {
                piece.sound.samples = Vec::new();
                self.waiting.push((number, piece));
            }
            let seconds: f64 = self.waiting.iter().map(|(_, piece)| piece.end - piece.start).sum();
            if seconds >= WAITING || self.waiting.len() >= 4 * self.arguments.batch as usize {
                self.transcribe(out)?;
            }
        }
        if let Some(open) = self.open.back_mut() {
            open.whole = true;
        }
        Ok(())
    }

    /// Transcribes the pieces that wait, and writes the recordings that are whole.
    fn transcribe(&mut self, out: &mut dyn Write) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let frames: Vec<_> = waiting.iter().filter_map(|(_, piece)| piece.frames.as_ref()).collect();
        let requests: Vec<Request<'_>> = frames.iter().map(|frames| Request::free(*frames)).collect();
        let batch = self.arguments.batch as usize;
        let found: Vec<Prediction> = match requests.is_empty() {
            true => Vec::new(),
            false => self.writers.best(&requests, 1, batch)?.into_iter().flatten().collect(),
        };
        let listens = self.saved.plan.attentions().contains(&AttentionKind::Cross);
        let alone = self.arguments.together.with.is_empty(); // several listen elsewhere
        let mut traces = Vec::new();
        if self.arguments.json && listens && alone {
            let written = found.iter().map(|found| found.hypothesis.tokens.clone());
            let pairs: Vec<_> = frames.iter().copied().zip(written).collect();
            traces = self.saved.trace_sounds(&pairs)?;
        }
        let (mut found, mut traces) = (found.into_iter(), traces.into_iter());
        for (number, piece) in &waiting {
            let written = piece.frames.as_ref().and_then(|_| found.next()).map(|prediction| {
                let words = traces.next().map(|trace| heard_words(&trace, &prediction.text));
                (prediction, words.unwrap_or_default())
            });
            let heard = Heard { start: piece.start, end: piece.end, written };
            self.open[number - self.written].pieces.push(heard);
            self.progress.inc((piece.end * 1000.0) as u64 - (piece.start * 1000.0) as u64);
        }
        while let Some(open) = self.open.pop_front_if(|open| open.whole) {
            self.written += 1;
            match self.arguments.json {
                true => writeln!(out, "{}", self.as_json(&open))?,
                false => writeln!(out, "{}", text(&open))?,
            }
        }
        Ok(out.flush()?)
    }

    fn as_json(&self, open: &Open) -> Value {
        let word = |piece: &Heard, word: &HeardWord| {
            let mut object = json!({ "word": word.written.text, "probability": word.written.probability });
            if let Some((start, end)) = word.heard {
                object["start"] = json!(rounded((piece.start + start).min(piece.end)));
                object["end"] = json!(rounded((piece.start + end).min(piece.end)));
            }
            object
        };
        let words = open.pieces.iter().flat_map(|piece| {
            let words = piece.written.iter().flat_map(|(_, words)| words);
            words.map(|found| word(piece, found)).collect::<Vec<_>>()
        });
        let piece = |piece: &Heard| {
            let mut object = json!({ "start": rounded(piece.start), "end": rounded(piece.end), "text": "" });
            if let Some((prediction, _)) = &piece.written {
                let hypothesis = &prediction.hypothesis;
                let token = |&id: &u32| self.saved.tokens.target.token(id);
                object["text"] = json!(prediction.text);
                object["tokens"] = json!(hypothesis.tokens.iter().map(token).collect::<Vec<_>>());
                object["log_probabilities"] = json!(hypothesis.log_probabilities);
                object["score"] = json!(hypothesis.score());
                object["normalised_score"] = json!(prediction.score);
                object["finished"] = json!(hypothesis.finished);
            }
            object
        };
        json!({
            "source": open.name,
            "seconds": rounded(open.pieces.last().map_or(0.0, |piece| piece.end)),
            "text": text(open),
            "words": words.collect::<Vec<_>>(),
            "pieces": open.pieces.iter().map(piece).collect::<Vec<_>>(),
        })
    }
}

/// Milliseconds are all that there is to tell.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn text(open: &Open) -> String {
    let texts = open.pieces.iter().filter_map(|piece| piece.written.as_ref());
    let texts: Vec<String> = texts.map(|(prediction, _)| one_line(prediction.text.trim())).collect();
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Refuses flags that do not go with what is put together of pieces.
pub(super) fn check_flags(arguments: &Predict) -> Result<()> {
    let given = [
        ("--n-best", arguments.n_best.is_some()),
        ("--alternatives", arguments.alternatives.is_some()),
        ("--sample", arguments.sampling.sample),
        ("--alignment", arguments.alignment.is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        bail!("{flag} is for texts and images, and a recording is heard in pieces; see when with --json");
    }
    ensure!(
        arguments.constrain.given().is_none(),
        "{} is for texts and images, and a recording is heard in pieces",
        arguments.constrain.given().unwrap_or_default()
    );
    Ok(())
}

/// Seconds done so far, in thousandths, on a terminal.
fn progress(arguments: &Predict, sounds: &Sounds) -> ProgressBar {
    let known = |name: &std::path::PathBuf| sounds.open(name.to_str()?).ok()?.seconds;
    let seconds: Option<f64> = arguments.files.iter().map(known).sum();
    let template = match seconds.filter(|seconds| *seconds > 0.0) {
        Some(_) => "{bar:30} {percent}% heard  {eta} left",
        None => "{spinner} {elapsed} heard",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let length = seconds.map(|seconds| (seconds * 1000.0) as u64).filter(|length| *length > 0);
    length.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style)
}
