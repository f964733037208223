//! The same examples with disturbed sources, and how much worse a model is at them.

use super::figures::{Chance, Figure, Found, bracketed, number};
use super::flags::Asked;
use super::outcome::Outcome;
use super::table::{self, Side};
use anyhow::Result;
use gatto::data::{Example, Noise};
use gatto::model::{Saved, Task};
use serde_json::{Value, json};

/// What a model made of sources with noise of one kind.
pub(super) struct Effect {
    kind: Noise,
    /// Examples whose source is another.
    changed: usize,
    /// The figures, those of clean sources among them.
    figures: Vec<Figure>,
}

/// Measures again with each kind of noise that is asked for. Targets stay as they are, but the labels of words,
/// which go where their words go.
pub(super) fn effects(
    asked: &Asked,
    saved: &Saved,
    examples: &[Example],
    measure: impl Fn(&[Example]) -> Result<Outcome>,
) -> Result<Vec<Effect>> {
    let effect = |kind| {
        let numbered = (0..).zip(examples);
        let disturbed: Vec<Example> =
            numbered.map(|(number, example)| disturbed(kind, asked, saved, number, example)).collect();
        let beside = examples.iter().zip(&disturbed);
        let changed = beside.filter(|(clean, noisy)| clean.source != noisy.source).count();
        Ok(Effect { kind, changed, figures: measure(&disturbed)?.figures })
    };
    asked.kinds().into_iter().map(effect).collect()
}

/// An example with noise; as it is where the model could not read it otherwise.
fn disturbed(kind: Noise, asked: &Asked, saved: &Saved, number: u64, example: &Example) -> Example {
    let found = kind.disturb(&example.source, asked.noise_rate, asked.seed, number);
    if saved.encode_source(0, &found.text).is_err() {
        return example.clone();
    }
    let target = match saved.task {
        Task::Label => found.labels(&example.target),
        _ => example.target.clone(),
    };
    Example { source: found.text, target, alignment: None, group: example.group.clone() }
}

/// A figure on clean and on noisy sources, and how much worse the latter is.
struct Drop {
    clean: Option<f64>,
    noisy: Option<f64>,
    drop: Found,
}

impl Drop {
    fn of(clean: &Figure, effect: &Effect, chance: &Chance) -> Option<Self> {
        let noisy = effect.figures.iter().find(|noisy| noisy.key == clean.key)?;
        Some(Self { clean: clean.of_all(), noisy: noisy.of_all(), drop: clean.drop_to(noisy, chance) })
    }

    /// Whether there might be as much without noise.
    fn is_chance(&self) -> bool {
        self.drop.interval.is_some_and(|interval| interval.low <= 0.0 && interval.high >= 0.0)
    }
}

/// A table of what noise did to some figures.
pub(super) fn text(effects: &[Effect], asked: &Asked, figures: &[&Figure], chance: &Chance) -> String {
    let header = ["", "", "clean", "noisy", "drop", "", "sources changed"].map(str::to_owned);
    let mut rows = vec![header.to_vec()];
    for effect in effects {
        for (place, figure) in figures.iter().enumerate() {
            let Some(found) = Drop::of(figure, effect, chance) else { continue };
            let first = |text: String| if place == 0 { text } else { String::new() };
            let mut interval = found.drop.interval.map(bracketed).unwrap_or_default();
            if found.is_chance() {
                interval += "  within chance";
            }
            rows.push(vec![
                first(effect.kind.to_string()),
                figure.name.clone(),
                number(found.clean),
                number(found.noisy),
                number(found.drop.value),
                interval,
                first(format!("{} of {}", effect.changed, figure.measure.len())),
            ]);
        }
    }
    let sides = [Side::Left, Side::Left, Side::Right, Side::Right, Side::Right, Side::Left, Side::Left];
    format!("with noise, each word with probability {}:\n", asked.noise_rate) + &table::text(&sides, &rows)
}

pub(super) fn json(effects: &[Effect], asked: &Asked, figures: &[Figure], chance: &Chance) -> Value {
    let kind = |effect: &Effect| {
        let found = figures.iter().filter_map(|figure| {
            let Drop { clean, noisy, drop } = Drop::of(figure, effect, chance)?;
            let mut found = drop.json();
            found["drop"] = found["value"].take();
            found["clean"] = clean.into();
            found["noisy"] = noisy.into();
            if let Some(object) = found.as_object_mut() {
                object.remove("value");
            }
            Some((figure.key.to_owned(), found))
        });
        json!({ "kind": effect.kind.name(), "changed": effect.changed, "figures": found.collect::<Value>() })
    };
    json!({
        "rate": asked.noise_rate, "seed": asked.seed, "kinds": effects.iter().map(kind).collect::<Vec<_>>(),
    })
}
