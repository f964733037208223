//! `gatto score`

use super::images::Images;
use super::sounds::Sounds;
use super::sources::too_long;
use crate::cli::Score;
use crate::lines::{Lines, write_output};
use anyhow::{Result, ensure};
use gatto::Device;
use gatto::model::{Asked, Saved, Writers};
use gatto::search::Hypothesis;

pub(crate) fn run(arguments: Score) -> Result<()> {
    super::compute(&arguments.compute.clone(), move |device| score(&arguments, device))?
}

fn score(arguments: &Score, device: &Device) -> Result<()> {
    let saved = arguments.loading.load(&arguments.model, device)?;
    let others = super::others(&arguments.together, |path| arguments.loading.load(path, device))?;
    let models = std::iter::once(&saved).chain(&others).collect();
    let writers = Writers::together(models, arguments.together.mean.into())?;
    let (sources, targets) = (lines(&arguments.source)?, lines(&arguments.target)?);
    ensure!(
        sources.len() == targets.len(),
        "{} has {} lines and {} has {}; each source needs one target",
        arguments.source.display(),
        sources.len(),
        arguments.target.display(),
        targets.len()
    );
    let images = Images::of(&saved, &arguments.model)?;
    let sounds = Sounds::of(&saved, &arguments.model, None)?;
    let bar = super::bar(sources.len(), "scored");
    let at_once = arguments.batch as usize * 16;
    write_output(None, |out| {
        for (number, (sources, targets)) in sources.chunks(at_once).zip(targets.chunks(at_once)).enumerate() {
            let place =
                |index| format!("{}, line {}", arguments.source.display(), number * at_once + index + 1);
            let images = match &images {
                Some(images) => images.pixels(sources)?,
                None => Vec::new(),
            };
            let frames = match &sounds {
                Some(sounds) => sources.iter().map(|name| sounds.whole(name)).collect::<Result<Vec<_>>>()?,
                None => Vec::new(),
            };
            let asked: Vec<Asked<'_>> = match (&saved.plan.images, &saved.plan.sound) {
                (Some(_), _) => images.iter().map(Asked::Image).collect(),
                (_, Some(_)) => frames.iter().map(Asked::Sound).collect(),
                _ => sources.iter().map(|source| Asked::Text(source)).collect(),
            };
            let found = writers.score_each(&asked, targets, arguments.batch as usize);
            let found = found.map_err(|error| too_long(error, place))?;
            for ((source, target), found) in sources.iter().zip(targets).zip(&found) {
                match arguments.json {
                    true => writeln!(out, "{}", as_json(&saved, source, target, found))?,
                    false => writeln!(out, "{:.6}", found.score())?,
                }
            }
            bar.inc(sources.len() as u64);
        }
        bar.finish_and_clear();
        Ok(())
    })
}

fn lines(path: &std::path::Path) -> Result<Vec<String>> {
    let mut lines = Lines::open(Some(path))?;
    let mut found = Vec::new();
    while let Some(line) = lines.next()? {
        found.push(line);
    }
    ensure!(!found.is_empty(), "{}: is empty; write one line for each pair", path.display());
    Ok(found)
}

fn as_json(saved: &Saved, source: &str, target: &str, found: &Hypothesis) -> serde_json::Value {
    let tokens: Vec<&str> = found.tokens.iter().map(|&id| saved.tokens.target.token(id)).collect();
    serde_json::json!({
        "source": source,
        "target": target,
        "tokens": tokens,
        "log_probabilities": found.log_probabilities,
        "score": found.score(),
    })
}
