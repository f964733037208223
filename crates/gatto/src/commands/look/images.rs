//! Where a model looks in an image.

use super::picture::{Format, PNG_SCALE, colours, columns, save};
use super::sources;
use crate::cli::Look;
use crate::commands::images::{Images, Named};
use anyhow::{Context, Result, bail, ensure};
use gatto::data::images::{Image, Pixels};
use gatto::inspect::explain::{class_maps, explain_image, rollout};
use gatto::inspect::look;
use gatto::inspect::overlay::{self, Map, Maps, Overlay, Seen, Shown};
use gatto::model::{ImageTrace, Request, Saved, Task, Writers};
use std::io::Write;

/// What there is to see of one image.
struct Sight {
    overlay: Option<Overlay>,
    maps: Option<Maps>,
}

pub(super) fn look(saved: &Saved, arguments: &Look, format: Option<Format>) -> Result<()> {
    refuse(saved, arguments)?;
    let names = sources(arguments)?;
    let images = Images::of(saved, &arguments.model)?.context("the model reads no images")?;
    let normalisation = images.preparation.normalisation;
    let images = images.read(&names)?;
    ensure!(
        arguments.target.is_none() || images.len() == 1,
        "--target is for one image, and there are {}",
        images.len()
    );
    let mut sights = names.iter().zip(&images).map(|(name, found)| {
        let image = normalisation.undo(&found.pixels);
        Sight::of(saved, name, found, image, arguments)
    });
    let (Some(format), Some(path)) = (format, &arguments.output) else {
        return sights
            .try_for_each(|sight| Ok(write!(std::io::stdout().lock(), "{}", sight?.in_terminal())?));
    };
    format.check_sentences(path, names.len())?;
    let sights = sights.collect::<Result<Vec<_>>>()?;
    let bytes = match (format, sights.first().context("there is no image")?) {
        (Format::Html, _) => {
            let seen = sights.iter();
            let seen = seen.map(|sight| Seen { overlay: sight.overlay.as_ref(), maps: sight.maps.as_ref() });
            overlay::html(&seen.collect::<Vec<_>>()).into_bytes()
        }
        (Format::Svg, Sight { overlay: Some(found), .. }) => {
            overlay::svg(found, Shown::default()).into_bytes()
        }
        (Format::Png, Sight { overlay: Some(found), .. }) => {
            overlay::png(found, Shown::default(), PNG_SCALE)?
        }
        (Format::Svg, Sight { maps: Some(maps), .. }) => overlay::maps_svg(maps).into_bytes(),
        (Format::Png, Sight { maps: Some(maps), .. }) => overlay::maps_png(maps, PNG_SCALE)?,
        _ => bail!("there is nothing to look at"),
    };
    save(path, &bytes)
}

/// Refuses flags that are for texts, and models that look nowhere.
fn refuse(saved: &Saved, arguments: &Look) -> Result<()> {
    let model = arguments.model.display();
    for (flag, given) in [
        ("--attention", arguments.attention.is_some()),
        ("--layer", arguments.layer.is_some()),
        ("--heads", arguments.heads),
        ("--words", arguments.words),
        ("--no-end", arguments.no_end),
    ] {
        ensure!(
            !given,
            "{flag} is for texts, and {model} reads images; all there is to see is in a page: -o look.html"
        );
    }
    ensure!(
        arguments.target.is_none() || saved.task == Task::Caption,
        "{model}: is for `task = \"{}\"`, and so --target has no use",
        saved.task
    );
    ensure!(
        !saved.plan.attentions().is_empty() || arguments.explain,
        "{model}: has no attention, so there is nothing to look at\n  hint: see what its answer depends on with \
         `gatto look --explain`"
    );
    Ok(())
}

impl Sight {
    fn of(saved: &Saved, name: &str, found: &Named, image: Image, arguments: &Look) -> Result<Self> {
        let pixels = &found.pixels;
        let (tokens, text) = said(saved, pixels, arguments)?;
        let title = format!("{name} → {text}");
        let pair = (pixels, tokens);
        let trace = saved.trace_images(std::slice::from_ref(&pair), 1, true)?;
        let trace = trace.into_iter().next().context("there is no trace")?;
        let mut views = Vec::new();
        if let Some(weights) = &trace.weights {
            views.push(("attention", weights.clone()));
        }
        if arguments.explain {
            let explained = explain_image(saved, pixels, &pair.1)?;
            let size = |row: &Vec<f32>| row.iter().map(|value| value.abs()).collect();
            let cost = |row: &Vec<f32>| row.iter().map(|value| value.max(0.0)).collect();
            views.push(("gradient × input", explained.gradient.iter().map(size).collect()));
            views.push(("erasure", explained.erasure.iter().map(cost).collect()));
        }
        let overlay = match views.is_empty() {
            true => None,
            false => {
                let boxes = found.boxes(&text)?;
                Some(look::overlay(&title, image.clone(), &trace, &text, views, &boxes)?)
            }
        };
        Ok(Self { overlay, maps: maps(&title, image, &trace)? })
    }

    fn in_terminal(&self) -> String {
        let (columns, colours) = (columns(), colours());
        let overlay =
            self.overlay.iter().map(|found| overlay::terminal(found, columns, colours, Shown::default()));
        let maps = self.maps.iter().map(|maps| overlay::maps_terminal(maps, columns, colours));
        overlay.chain(maps).collect()
    }
}

/// The tokens that go through the model, and what is said of the image: a caption, or a label.
fn said(saved: &Saved, pixels: &Pixels, arguments: &Look) -> Result<(Vec<u32>, String)> {
    match (&arguments.target, saved.task) {
        (Some(target), _) => {
            let tokens = saved.tokens.target.encode(target);
            Ok((tokens.clone(), saved.tokens.target.decode(&tokens)))
        }
        (None, Task::Caption) => {
            let best = Writers::alone(saved)?.best(&[Request::free(pixels)], 1, 1)?;
            let written = best.into_iter().flatten().next().context("there is no caption")?;
            Ok((written.hypothesis.tokens, written.text))
        }
        (None, _) => {
            let told = saved.classify_images(std::slice::from_ref(pixels), 1)?;
            let label = told.first().and_then(|told| saved.labels.as_ref()?.name(told.label));
            Ok((Vec::new(), label.unwrap_or_default().to_owned()))
        }
    }
}

/// Where the heads of a Vision Transformer looked, if it is one.
fn maps(title: &str, image: Image, trace: &ImageTrace) -> Result<Option<Maps>> {
    if trace.layers.is_empty() {
        return Ok(None);
    }
    let large = vec![Map::new("attention rollout", rollout(trace))];
    Ok(Some(Maps::new(title, image, trace.grid, large, class_maps(trace))?))
}
