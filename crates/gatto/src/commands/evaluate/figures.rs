//! A named figure, of all examples or of some, with the interval that chance leaves it.

use crate::commands::bar;
use gatto::metrics::{Bootstrap, Interval, Measure};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::cmp::Ordering;

/// How many figures stand in a table; the JSON report has all.
const TABLED: usize = 2;

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// How intervals are drawn, and how far that is.
pub(super) struct Chance {
    pub(super) bootstrap: Bootstrap,
    bar: ProgressBar,
}

impl Chance {
    /// Draws from a seed; `examples` will be drawn from in all, those of one figure after another.
    pub(super) fn new(seed: u64, examples: usize) -> Self {
        Self { bootstrap: Bootstrap::new(seed), bar: bar(examples, "examples drawn from") }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A figure that can be had of any examples.
pub(super) struct Figure {
    /// Its name in the JSON report.
    pub(super) key: &'static str,
    /// Its name in the text.
    pub(super) name: String,
    pub(super) better: Better,
    /// What a value is multiplied with to be shown: 100 for shares.
    scale: f64,
    /// Whether its first two sums are things that can be counted, some of all.
    counted: bool,
    /// Whether it compares between groups.
    pub(super) comparable: bool,
    signature: Option<String>,
    pub(super) measure: Measure,
}

/// A figure of some examples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) value: Option<f64>,
    pub(super) interval: Option<Interval>,
}

impl Figure {
    /// A share or a rate, shown in percent with what it is a share of.
    pub(super) fn share(key: &'static str, name: &str, better: Better, measure: Measure) -> Self {
        Self { scale: 100.0, counted: true, ..Self::score(key, name, better, measure) }
    }

    /// A figure between 0 and 1 that is shown in percent.
    pub(super) fn percent(key: &'static str, name: &str, better: Better, measure: Measure) -> Self {
        Self { counted: false, ..Self::share(key, name, better, measure) }
    }

    /// A figure that is shown as it is.
    pub(super) fn score(key: &'static str, name: &str, better: Better, measure: Measure) -> Self {
        let name = name.to_owned();
        let (scale, counted, comparable, signature) = (1.0, false, true, None);
        Self { key, name, better, scale, counted, comparable, signature, measure }
    }

    /// The same figure, which groups are not compared by.
    pub(super) fn of_the_whole(self) -> Self {
        Self { comparable: false, ..self }
    }

    /// The same figure, with what others need to get the same.
    pub(super) fn signed(self, signature: String) -> Self {
        Self { signature: Some(signature), ..self }
    }

    /// The figure of some examples.
    pub(super) fn of(&self, chosen: &[usize], chance: &Chance) -> Found {
        let value = self.measure.of(chosen).map(|value| value * self.scale);
        let interval = self.measure.interval(chosen, &chance.bootstrap).filter(|_| value.is_some());
        chance.bar.inc(chosen.len() as u64);
        Found { value, interval: interval.map(|interval| self.scaled(interval)) }
    }

    /// The figure of all examples, with its interval.
    pub(super) fn of_whole(&self, chance: &Chance) -> Found {
        self.of(&self.all(), chance)
    }

    /// The figure of all examples.
    pub(super) fn of_all(&self) -> Option<f64> {
        self.measure.of(&self.all()).map(|value| value * self.scale)
    }

    /// The figure of one example.
    pub(super) fn of_one(&self, example: usize) -> Option<f64> {
        self.measure.of(&[example]).map(|value| value * self.scale)
    }

    /// The numbers of all examples.
    fn all(&self) -> Vec<usize> {
        (0..self.measure.len()).collect()
    }

    /// How much worse this is on other examples: those of `other`, one for each of these.
    pub(super) fn drop_to(&self, other: &Self, chance: &Chance) -> Found {
        let (above, below) = match self.better {
            Better::Higher => (self, other),
            Better::Lower => (other, self),
        };
        chance.bar.inc(2 * self.measure.len() as u64);
        let Some(drop) = above.measure.above(&below.measure, &chance.bootstrap) else {
            return Found { value: None, interval: None };
        };
        let interval = drop.interval.map(|interval| self.scaled(interval));
        Found { value: Some(drop.value * self.scale), interval }
    }

    fn scaled(&self, Interval { low, high }: Interval) -> Interval {
        Interval { low: low * self.scale, high: high * self.scale }
    }

    /// Whether some examples are served worse than all: not even chance would bring them there.
    pub(super) fn is_worse(&self, found: &Found, all: Option<f64>) -> bool {
        match (found.interval, all, self.better) {
            _ if !self.comparable => false,
            (Some(interval), Some(all), Better::Higher) => interval.high < all,
            (Some(interval), Some(all), Better::Lower) => interval.low > all,
            _ => false,
        }
    }

    /// What stands behind its values.
    pub(super) fn unit(&self) -> &'static str {
        if self.scale == 100.0 { " %" } else { "" }
    }

    /// A line about all examples, with the name in so many columns.
    fn line(&self, width: usize, chance: &Chance) -> String {
        let found = self.of_whole(chance);
        let mut line = format!("{:width$}  {}{:2}", self.name, number(found.value), self.unit());
        if self.counted {
            let sums = self.measure.sums(&self.all());
            line += &format!("  ({} of {})", sums[0], sums[1]);
        }
        if let Some(interval) = found.interval {
            line += &format!("  {}", bracketed(interval));
        }
        if let Some(signature) = &self.signature {
            line += &format!("  {signature}");
        }
        line.truncate(line.trim_end().len());
        line
    }
}

impl Better {
    /// Which of two values comes first if the worst does.
    pub(super) fn worst_first(self, a: f64, b: f64) -> Ordering {
        match self {
            Self::Higher => a.total_cmp(&b),
            Self::Lower => b.total_cmp(&a),
        }
    }
}

impl Found {
    pub(super) fn json(&self) -> Value {
        json!({
            "value": self.value, "low": self.interval.map(|found| found.low),
            "high": self.interval.map(|found| found.high),
        })
    }
}

/// A number as it stands in a column.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| format!("{:>6}", "none"), |value| format!("{value:6.2}"))
}

pub(super) fn bracketed(Interval { low, high }: Interval) -> String {
    format!("[{low:.2}, {high:.2}]")
}

/// Lines about all examples, one for each figure.
pub(super) fn lines(figures: &[Figure], chance: &Chance) -> String {
    let width = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    figures.iter().map(|figure| figure.line(width, chance) + "\n").collect()
}

/// Figures of all examples, with their signatures, for the JSON report.
pub(super) fn whole_json(figures: &[Figure], chance: &Chance) -> Value {
    let of = |figure: &Figure| {
        let mut found = figure.of_whole(chance).json();
        found["name"] = figure.name.as_str().into();
        found["better"] = if figure.better == Better::Higher { "higher" } else { "lower" }.into();
        if let Some(signature) = &figure.signature {
            found["signature"] = signature.as_str().into();
        }
        (figure.key.to_owned(), found)
    };
    figures.iter().map(of).collect()
}

/// The figures that stand in tables.
pub(super) fn tabled(figures: &[Figure]) -> impl Iterator<Item = &Figure> {
    figures.iter().filter(|figure| figure.comparable).take(TABLED)
}
