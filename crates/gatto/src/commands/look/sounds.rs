//! When a model listens in a recording.

use super::picture::{Format, PNG_SCALE, colours, columns, save};
use super::sources;
use crate::cli::Look;
use crate::commands::sounds::{Piece, Recording, Sounds};
use anyhow::{Context, Result, bail, ensure};
use gatto::inspect::look;
use gatto::inspect::spectrogram::{self, Spectrogram};
use gatto::model::{AttentionKind, Request, Saved, Writers};
use std::io::Write;

pub(super) fn look(saved: &Saved, arguments: &Look, format: Option<Format>) -> Result<()> {
    refuse(saved, arguments)?;
    let sounds = Sounds::of(saved, &arguments.model, None)?.context("the model reads no sounds")?;
    let mut found = Vec::new();
    for name in sources(arguments)? {
        let recording = sounds.open(&name)?;
        let pieces = sounds.pieces(&recording).collect::<Result<Vec<_>>>()?.concat();
        ensure!(
            arguments.target.is_none() || pieces.len() == 1,
            "--target is for one piece, and {name} is heard in {}; cut it at its pauses",
            pieces.len()
        );
        for piece in &pieces {
            if let Some(picture) = drawn(saved, &sounds, &recording, piece, pieces.len() == 1, arguments)? {
                match format {
                    Some(_) => found.push(picture),
                    None => {
                        let text = spectrogram::terminal(&picture, columns(), colours());
                        writeln!(std::io::stdout().lock(), "{text}")?;
                    }
                }
            }
        }
    }
    let (Some(format), Some(path)) = (format, &arguments.output) else { return Ok(()) };
    format.check_sentences(path, found.len())?;
    let bytes = match (format, found.first().context("there is nothing to be heard")?) {
        (Format::Html, _) => spectrogram::html(&found.iter().collect::<Vec<_>>()).into_bytes(),
        (Format::Svg, picture) => spectrogram::svg(picture).into_bytes(),
        (Format::Png, picture) => spectrogram::png(picture, PNG_SCALE)?,
    };
    save(path, &bytes)
}

/// Refuses flags that are for texts, and models that listen nowhere.
fn refuse(saved: &Saved, arguments: &Look) -> Result<()> {
    let model = arguments.model.display();
    for (flag, given) in [
        ("--attention", arguments.attention.is_some()),
        ("--layer", arguments.layer.is_some()),
        ("--heads", arguments.heads),
        ("--words", arguments.words),
        ("--no-end", arguments.no_end),
        ("--explain", arguments.explain),
    ] {
        ensure!(!given, "{flag} is for texts or images, and {model} reads sounds");
    }
    if !saved.plan.attentions().contains(&AttentionKind::Cross) {
        bail!(
            "{model}: has no attention, so there is nothing to look at\n  hint: add [attention] to its configuration"
        );
    }
    Ok(())
}

/// The picture of a piece; none if nothing is to be heard in it.
fn drawn(
    saved: &Saved,
    sounds: &Sounds,
    recording: &Recording,
    piece: &Piece,
    whole: bool,
    arguments: &Look,
) -> Result<Option<Spectrogram>> {
    let Some(frames) = &piece.frames else { return Ok(None) };
    let (tokens, text) = match &arguments.target {
        Some(target) => {
            let tokens = saved.tokens.target.encode(target);
            (tokens.clone(), saved.tokens.target.decode(&tokens))
        }
        None => {
            let best = Writers::alone(saved)?.best(&[Request::free(frames)], 1, 1)?;
            let written = best.into_iter().flatten().next().context("nothing was written")?;
            (written.hypothesis.tokens, written.text)
        }
    };
    let traces = saved.trace_sounds(&[(frames, tokens)])?;
    let trace = traces.into_iter().next().context("there is no trace")?;
    let title = match whole {
        true => format!("{} → {text}", recording.name),
        false => format!("{}, {:.1}–{:.1} s → {text}", recording.name, piece.start, piece.end),
    };
    let known = recording.said.as_ref().filter(|_| whole).map_or(&[][..], |said| &said.mentions);
    // What is drawn are powers, whatever the model's values are divided by.
    let powers = sounds.preparer.powers(&piece.sound);
    let features = sounds.preparer.preparation().features;
    let highest = features.highest.unwrap_or(f64::from(sounds.preparer.preparation().rate) / 2.0);
    let picture = look::spectrogram(&title, powers, (features.lowest, highest), &trace, &text, known)?;
    Ok(Some(picture.with_sound(piece.sound.wav())))
}
