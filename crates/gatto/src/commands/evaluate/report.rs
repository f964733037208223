//! What is printed: all that was found, as text or as one JSON object.

use super::figures::{self, Chance, Figure, tabled};
use super::groups::{Breakdown, by_length};
use super::noise::{self, Effect};
use super::outcome::{Detail, Outcome};
use super::table::Side;
use super::{alignment, labels, texts, worst};
use crate::cli::Evaluate;
use anyhow::Result;
use gatto::data::Example;
use gatto::metrics::AlignmentErrorRate;
use serde_json::{Map, Value, json};
use std::io::Write;

/// All that was found.
pub(super) struct Report<'a> {
    pub(super) arguments: &'a Evaluate,
    pub(super) examples: &'a [Example],
    /// Words of each, by which they are grouped; none if they have no length.
    pub(super) lengths: Vec<usize>,
    pub(super) outcome: &'a Outcome,
    pub(super) alignment: Option<AlignmentErrorRate>,
    pub(super) effects: &'a [Effect],
}

impl Report<'_> {
    pub(super) fn print(&self) -> Result<()> {
        let figures = &self.outcome.figures;
        let in_tables = if self.arguments.json { figures.len() } else { tabled(figures).count() };
        let tables = 1 + usize::from(self.column().is_some()) + 2 * self.effects.len();
        let work = self.examples.len() * (figures.len() + in_tables * tables);
        let chance = Chance::new(self.arguments.asked.seed, work);
        let report = match self.arguments.json {
            true => self.json(&chance).to_string() + "\n",
            false => self.text(&chance),
        };
        chance.finish();
        Ok(std::io::stdout().lock().write_all(report.as_bytes())?)
    }

    /// What groups are called, if there are any but those of length.
    fn column(&self) -> Option<String> {
        let asked = &self.arguments.asked;
        asked.by.clone().or_else(|| asked.by_file.as_ref().map(|path| path.display().to_string()))
    }

    fn text(&self, chance: &Chance) -> String {
        let outcome = self.outcome;
        let figures = &outcome.figures;
        let mut text = match (&outcome.detail, figures.first()) {
            (Detail::Texts(told), Some(figure)) => texts::text(told, figure, chance),
            (Detail::Labels(counts), _) => figures::lines(figures, chance) + &labels::text(counts),
            _ => figures::lines(figures, chance),
        };
        let shown: Vec<&Figure> = tabled(figures).collect();
        let what = match &outcome.detail {
            Detail::Texts(_) => "length",
            Detail::Captions => "caption length",
            Detail::Transcripts => "length of the text",
            _ => "source length",
        };
        if !self.lengths.is_empty() {
            text += &format!("by {what} in words:\n");
            text += &Breakdown::of(by_length(&self.lengths), shown.clone(), chance).text(Side::Right);
        }
        if let Some(column) = self.column() {
            text += &format!("by {column}:\n");
            text += &Breakdown::by_value(self.examples, shown.clone(), chance).text(Side::Left);
        }
        if !self.effects.is_empty() {
            text += &noise::text(self.effects, &self.arguments.asked, &shown, chance);
        }
        if let Some(found) = &self.alignment {
            text += &alignment::text(found);
        }
        if self.arguments.worst > 0 {
            text += &worst::text(outcome, self.examples, self.arguments.worst);
        }
        text + &worst::wrong_text(outcome, self.examples, self.arguments.wrong)
    }

    fn json(&self, chance: &Chance) -> Value {
        let Self { outcome, examples, .. } = self;
        let bootstrap = &chance.bootstrap;
        let mut report = Map::new();
        let mut add = |key: &str, value: Value| report.insert(key.to_owned(), value);
        add("examples", examples.len().into());
        add("figures", figures::whole_json(&outcome.figures, chance));
        add(
            "intervals",
            json!({
                "confidence": bootstrap.confidence, "resamples": bootstrap.resamples, "seed": bootstrap.seed,
            }),
        );
        let every = || outcome.figures.iter().collect();
        let by_length = by_length(&self.lengths);
        let exact: Vec<f64> = by_length.iter().map(|group| self.exact_match(&group.members)).collect();
        let mut lengths = Breakdown::of(by_length, every(), chance).json();
        if matches!(outcome.detail, Detail::None) {
            let all: Vec<usize> = (0..examples.len()).collect();
            add("exact_match", self.exact_match(&all).into());
            lengths.iter_mut().zip(exact).for_each(|(group, share)| group["exact_match"] = share.into());
        }
        let by_length = match outcome.detail {
            Detail::Captions => "by_caption_length",
            Detail::Transcripts => "by_text_length",
            _ => "by_source_length",
        };
        if !self.lengths.is_empty() {
            add(by_length, lengths.into());
        }
        if let Some(column) = self.column() {
            let groups = Breakdown::by_value(examples, every(), chance).json();
            add("by", json!({ "column": column, "groups": groups }));
        }
        if !self.effects.is_empty() {
            add("noise", noise::json(self.effects, &self.arguments.asked, &outcome.figures, chance));
        }
        if let Some(found) = &self.alignment {
            add("alignment", alignment::json(found));
        }
        if self.arguments.worst > 0 {
            add("worst", worst::json(outcome, examples, self.arguments.worst));
        }
        match &outcome.detail {
            Detail::None | Detail::Captions | Detail::Transcripts => {}
            Detail::Labels(counts) => labels::json(counts, &mut report),
            Detail::Texts(told) => texts::json(told, &mut report),
        }
        Value::Object(report)
    }

    /// The share of right outputs among some examples.
    fn exact_match(&self, chosen: &[usize]) -> f64 {
        let right = chosen
            .iter()
            .filter(|&&example| self.outcome.answers.get(example).is_some_and(|answer| answer.right));
        right.count() as f64 / chosen.len().max(1) as f64
    }
}
