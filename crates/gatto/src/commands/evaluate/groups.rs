//! Figures of groups of examples: by the length of the source, and by the values of a column.

use super::figures::{Chance, Figure, Found, bracketed, number};
use super::table::{self, Side};
use gatto::data::{Example, words};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Groups of source length, in words.
const LENGTHS: [RangeInclusive<usize>; 8] =
    [1..=3, 4..=5, 6..=7, 8..=9, 10..=11, 12..=14, 15..=19, 20..=usize::MAX];
/// The most groups of a column that are shown; the JSON report has all.
const SHOWN: usize = 20;
/// The longest name that is shown, in characters.
const LONGEST_NAME: usize = 40;

/// Some examples, and what they have in common.
pub(super) struct Group {
    /// What it is called in a table.
    name: String,
    /// What it is called in the JSON report.
    json: Value,
    /// The numbers of its examples.
    pub(super) members: Vec<usize>,
}

/// The words of the source, or of the text of a language model.
pub(super) fn length(example: &Example) -> usize {
    let text = if example.source.is_empty() { &example.target } else { &example.source };
    words::split(text).len()
}

/// Examples of similar length, the shortest first, by the length of each. A group without examples is left out.
pub(super) fn by_length(lengths: &[usize]) -> Vec<Group> {
    let group = |range: &RangeInclusive<usize>| {
        let last = (*range.end() < usize::MAX).then_some(*range.end());
        let members: Vec<usize> = (0..lengths.len()).filter(|&at| range.contains(&lengths[at])).collect();
        Group {
            name: match last {
                Some(last) => format!("{}–{last}", range.start()),
                None => format!("{}+", range.start()),
            },
            json: json!({ "from": range.start(), "to": last }),
            members,
        }
    };
    LENGTHS.iter().map(group).filter(|group| !group.members.is_empty()).collect()
}

/// Examples of the same value, in the order of the values.
fn by_value(examples: &[Example]) -> Vec<Group> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, example) in examples.iter().enumerate() {
        found.entry(example.group.as_deref().unwrap_or_default()).or_default().push(number);
    }
    let group =
        |(value, members): (&str, _)| Group { name: shown(value), json: json!({ "value": value }), members };
    found.into_iter().map(group).collect()
}

/// A value as it stands in a table: one line, and not too long.
fn shown(value: &str) -> String {
    let clean: String = value.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    match clean.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None if clean.trim().is_empty() => "(empty)".to_owned(),
        None => clean,
    }
}

/// Groups of one kind with their figures.
pub(super) struct Breakdown<'a> {
    figures: Vec<&'a Figure>,
    rows: Vec<Row>,
}

/// A group with its figures.
struct Row {
    group: Group,
    found: Vec<Found>,
    /// Whether each figure is worse than that of all examples, beyond chance.
    worse: Vec<bool>,
}

impl<'a> Breakdown<'a> {
    pub(super) fn of(groups: Vec<Group>, figures: Vec<&'a Figure>, chance: &Chance) -> Self {
        let whole: Vec<Option<f64>> = figures.iter().map(|figure| figure.of_all()).collect();
        let row = |group: Group| {
            let found: Vec<Found> = figures.iter().map(|figure| figure.of(&group.members, chance)).collect();
            let beside = figures.iter().zip(&found).zip(&whole);
            let worse = beside.map(|((figure, found), whole)| figure.is_worse(found, *whole)).collect();
            Row { group, found, worse }
        };
        let rows = groups.into_iter().map(row).collect();
        Self { figures, rows }
    }

    /// The values of a column, that with the worst first figure first.
    pub(super) fn by_value(examples: &[Example], figures: Vec<&'a Figure>, chance: &Chance) -> Self {
        let mut found = Self::of(by_value(examples), figures, chance);
        let Some(better) = found.figures.first().map(|figure| figure.better) else { return found };
        let first = |row: &Row| row.found.first().and_then(|found| found.value);
        found.rows.sort_by(|a, b| match (first(a), first(b)) {
            (Some(a), Some(b)) => better.worst_first(a, b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        found
    }

    pub(super) fn json(&self) -> Vec<Value> {
        let row = |row: &Row| {
            let mut found = row.group.json.clone();
            found["examples"] = row.group.members.len().into();
            let figures = self.figures.iter().zip(&row.found);
            found["figures"] = figures.map(|(figure, found)| (figure.key.to_owned(), found.json())).collect();
            let worse = self.figures.iter().zip(&row.worse).filter(|(_, worse)| **worse);
            found["worse"] = worse.map(|(figure, _)| figure.key).collect();
            found
        };
        self.rows.iter().map(row).collect()
    }

    /// A table of the groups; of many, the largest.
    pub(super) fn text(&self, side: Side) -> String {
        let size = |row: &usize| self.rows[*row].group.members.len();
        let mut largest: Vec<usize> = (0..self.rows.len()).collect();
        largest.sort_by_key(|row| std::cmp::Reverse(size(row))); // of equals the first stays first
        let rest = largest.split_off(SHOWN.min(largest.len()));
        largest.sort_unstable();
        let header = ["".to_owned(), "examples".to_owned()].into_iter();
        let names = self.figures.iter().flat_map(|figure| [figure.name.clone(), String::new()]);
        let mut rows = vec![header.chain(names).collect::<Vec<_>>()];
        for row in largest.iter().map(|&row| &self.rows[row]) {
            let mut cells = vec![row.group.name.clone(), row.group.members.len().to_string()];
            for (found, worse) in row.found.iter().zip(&row.worse) {
                let interval = found.interval.map(bracketed).unwrap_or_default();
                let mark = if *worse { "  worse" } else { "" };
                cells.extend([number(found.value), interval + mark]);
            }
            rows.push(cells);
        }
        let mut sides = vec![side, Side::Right];
        self.figures.iter().for_each(|_| sides.extend([Side::Right, Side::Left]));
        let mut text = table::text(&sides, &rows);
        if !rest.is_empty() {
            let examples: usize = rest.iter().map(size).sum();
            text += &format!("  and {} more groups with {examples} examples; --json has all\n", rest.len());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Better;
    use super::*;
    use gatto::metrics::Measure;

    fn examples(groups: &[&str]) -> Vec<Example> {
        let of = |group: &&str| Example { group: Some((*group).to_owned()), ..Example::new("a b", "c") };
        groups.iter().map(of).collect()
    }

    fn exact(right: impl Iterator<Item = bool>) -> Figure {
        Figure::share("exact_match", "exact match", Better::Higher, Measure::share(right))
    }

    #[test]
    fn lengths_hold_every_example_once() {
        let texts = ["a", "a b c d", "a, b c", "a b c d e f g h i j k l m n o p q r s t u v w x y z"];
        let examples = texts.map(|text| Example::new(text, "x"));
        let groups = by_length(&examples.each_ref().map(length));
        let found: Vec<_> =
            groups.iter().map(|group| (group.name.as_str(), group.members.as_slice())).collect();
        assert_eq!(found, [("1–3", &[0][..]), ("4–5", &[1, 2]), ("20+", &[3])]);
        // A language model has a text alone.
        assert_eq!(length(&Example::new("", "a b")), 2);
    }

    #[test]
    fn a_group_that_is_served_worse_comes_first_and_is_marked() {
        let names: Vec<&str> = (0..300).map(|i| ["good", "bad", "usual"][i % 3]).collect();
        let figure = exact((0..300).map(|i| match i % 3 {
            0 => true,
            1 => i % 2 == 0,
            _ => i % 10 != 0,
        }));
        let examples = examples(&names);
        let found = Breakdown::by_value(&examples, vec![&figure], &Chance::new(1, 0));
        let text = found.text(Side::Left);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["examples", "exact", "match"]);
        assert!(lines[1].starts_with("  bad") && lines[1].ends_with("]  worse"), "{text}");
        assert!(lines[3].starts_with("  good") && lines[3].ends_with(']'), "{text}");
        assert_eq!(text.matches("worse").count(), 1, "{text}");
        let json = found.json();
        assert_eq!((&json[0]["value"], &json[0]["worse"][0]), (&json!("bad"), &json!("exact_match")));
        assert_eq!(json[2]["worse"], json!([]));
    }

    #[test]
    fn of_many_groups_the_largest_are_shown() {
        // Groups 0 to 24; group g has g + 1 examples, and the last five as many as group 19.
        let names: Vec<String> =
            (0..25).flat_map(|g: usize| vec![format!("g{g:02}"); g.min(19) + 1]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let figure = exact(names.iter().map(|_| true));
        let examples = examples(&names);
        let found = Breakdown::by_value(&examples, vec![&figure], &Chance::new(1, 0));
        let text = found.text(Side::Left);
        assert_eq!(text.lines().count(), 1 + SHOWN + 1, "{text}");
        assert!(text.ends_with("  and 5 more groups with 15 examples; --json has all\n"), "{text}");
        assert_eq!(found.json().len(), 25);
    }

    #[test]
    fn values_are_shown_on_one_line() {
        assert_eq!(shown("a\tb\u{1b}[31m"), "a b [31m");
        assert_eq!(shown("  "), "(empty)");
        assert_eq!(shown(&"è".repeat(50)).chars().count(), LONGEST_NAME + 1);
    }
}
