//! What the lines of `metrics.jsonl` say: an object each, with its `kind`, its `step`, and figures by name.

use super::lines::each_line;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use utoipa::ToSchema;

/// The most curves of a run, and the longest name of one.
const MOST_CURVES: usize = 64;
const LONGEST_NAME: usize = 64;
/// The most validations whose samples are shown.
const MOST_SAMPLES: usize = 64;
/// The most examples of a validation.
const MOST_EXAMPLES: usize = 16;

/// What of a run is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Only what came behind this step.
    pub(crate) after: Option<u64>,
    /// The most points of a curve; at least 2.
    pub(crate) points: usize,
}

/// A figure as it changed from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Curve {
    /// Its name, such as `train.loss`.
    pub(crate) name: String,
    /// The steps, in order.
    pub(crate) steps: Vec<u64>,
    /// The figure at each of them.
    pub(crate) values: Vec<f64>,
}

/// What was written at a validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Sampled {
    /// Updates made before.
    pub(crate) step: u64,
    /// The same examples each time.
    pub(crate) examples: Vec<Example>,
}

/// An example, and what was written of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Example {
    /// The text that was read; nothing of an image or a recording.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) source: Option<String>,
    /// What is wanted.
    pub(crate) reference: String,
    /// What was written.
    pub(crate) output: String,
}

/// A run in short.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    pub(super) step: u64,
    pub(super) train_loss: Option<f64>,
    pub(super) valid_loss: Option<f64>,
    /// The best validation, and its loss.
    pub(super) best: Option<(u64, Option<f64>)>,
    pub(super) seconds: Option<f64>,
    /// Seconds between its last two lines of training.
    pub(super) between: Option<f64>,
}

/// All that is shown of a run's figures.
pub(super) struct Gathered {
    pub(super) curves: Vec<Curve>,
    pub(super) samples: Vec<Sampled>,
}

/// A line: its kind, its step, and the rest.
fn entry(line: &[u8]) -> Option<(String, u64, Map<String, Value>)> {
    let Value::Object(mut found) = serde_json::from_slice(line).ok()? else { return None };
    let step = found.remove("step")?.as_u64()?;
    let Value::String(kind) = found.remove("kind")? else { return None };
    Some((kind, step, found))
}

/// A run in short. Lines that are none are passed over: a run that was killed may leave one.
pub(super) fn summary(file: File) -> io::Result<Summary> {
    let mut found = Summary::default();
    let mut seconds_before = None;
    each_line(BufReader::new(file), |line| {
        let Some((kind, step, figures)) = entry(line) else { return };
        let number = |key: &str| figures.get(key).and_then(Value::as_f64);
        found.step = step;
        found.seconds = number("seconds").or(found.seconds);
        match kind.as_str() {
            "train" => {
                found.train_loss = number("loss");
                let seconds = number("seconds");
                found.between = seconds.zip(seconds_before).map(|(now, before): (f64, f64)| now - before);
                seconds_before = seconds;
            }
            "valid" => {
                found.valid_loss = number("loss");
                if figures.get("best").and_then(Value::as_bool) == Some(true) {
                    found.best = Some((step, number("loss")));
                }
            }
            _ => {}
        }
    })?;
    Ok(found)
}

/// The curves and samples of a run.
pub(super) fn gather(file: File, wanted: &Wanted) -> io::Result<Gathered> {
    let mut curves: BTreeMap<String, Thinned<(u64, f64)>> = BTreeMap::new();
    let mut samples = Thinned::new(MOST_SAMPLES);
    each_line(BufReader::new(file), |line| {
        let Some((kind, step, figures)) = entry(line) else { return };
        if wanted.after.is_some_and(|after| step <= after) {
            return;
        }
        if kind == "samples" {
            let examples = figures.get("examples").cloned().unwrap_or_default();
            if let Ok(mut examples) = serde_json::from_value::<Vec<Example>>(examples) {
                examples.truncate(MOST_EXAMPLES);
                samples.push(Sampled { step, examples });
            }
            return;
        }
        for (key, value) in &figures {
            let (Some(value), name) = (value.as_f64(), format!("{kind}.{key}")) else { continue };
            let room = curves.len() < MOST_CURVES && name.len() <= LONGEST_NAME;
            if room || curves.contains_key(&name) {
                curves.entry(name).or_insert_with(|| Thinned::new(wanted.points)).push((step, value));
            }
        }
    })?;
    let curve = |(name, points): (String, Thinned<(u64, f64)>)| {
        let (steps, values) = points.finish().into_iter().unzip();
        Curve { name, steps, values }
    };
    Ok(Gathered { curves: curves.into_iter().map(curve).collect(), samples: samples.finish() })
}

/// So many of a sequence at most, evenly far apart, its ends among them; whatever its length, no more than twice as many
/// are kept.
struct Thinned<T> {
    most: usize,
    /// Every `stride`-th is kept.
    stride: usize,
    count: usize,
    kept: Vec<T>,
    last: Option<T>,
}

impl<T: Clone> Thinned<T> {
    fn new(most: usize) -> Self {
        Self { most: most.max(2), stride: 1, count: 0, kept: Vec::new(), last: None }
    }

    fn push(&mut self, item: T) {
        self.last = None;
        if self.count.is_multiple_of(self.stride) {
            if self.kept.len() == 2 * self.most {
                let mut place = 0..;
                self.kept.retain(|_| place.next().is_some_and(|place: usize| place.is_multiple_of(2)));
                self.stride *= 2;
            }
            if self.count.is_multiple_of(self.stride) {
                self.kept.push(item);
            } else {
                self.last = Some(item);
            }
        } else {
            self.last = Some(item);
        }
        self.count += 1;
    }

    fn finish(self) -> Vec<T> {
        let all: Vec<T> = self.kept.into_iter().chain(self.last).collect();
        if all.len() <= self.most {
            return all;
        }
        (0..self.most).map(|place| all[place * (all.len() - 1) / (self.most - 1)].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned_evenly_and_keep_their_ends() {
        for (length, most) in [(0, 5), (1, 5), (5, 5), (6, 5), (11, 5), (1000, 10), (99_999, 100), (7, 1)] {
            let mut thinned = Thinned::new(most);
            (0..length).for_each(|item: usize| thinned.push(item));
            assert!(thinned.kept.len() <= 2 * most.max(2));
            let found = thinned.finish();
            assert_eq!(found.len(), length.min(most.max(2)), "{length} to {most}");
            assert_eq!(found.first().copied(), (length > 0).then_some(0));
            assert_eq!(found.last().copied(), length.checked_sub(1));
            let gaps = || found.windows(2).map(|pair| pair[1] - pair[0]);
            let (least, widest) = (gaps().min().unwrap_or(1), gaps().max().unwrap_or(1));
            assert!(least >= 1 && widest <= 4 * (length / most.max(2) + 1), "{length} to {most}: {found:?}");
        }
    }
}
