//! Tables that several commands print.

use gatto::metrics::{Figures, LabelCount};
use unicode_width::UnicodeWidthStr;

/// Precision, recall and F1 of labels, a row for each below a heading.
pub(super) fn of_labels<'a>(
    heading: &str,
    counts: impl Iterator<Item = (&'a str, &'a LabelCount)>,
) -> Vec<String> {
    let counts: Vec<_> = counts.collect();
    let width = counts.iter().map(|(name, _)| name.width()).chain([heading.width()]).max().unwrap_or(0);
    let mut rows = vec![format!("{}  precision    recall        F1     count", padded(heading, width))];
    rows.extend(counts.iter().map(|(name, count)| {
        let Figures { precision, recall, f1 } = count.figures();
        let [precision, recall, f1] = [precision, recall, f1].map(|share| 100.0 * share);
        format!("{}  {precision:7.2} %  {recall:6.2} %  {f1:6.2} %  {:>8}", padded(name, width), count.gold)
    }));
    rows
}

/// A text with spaces behind it, as wide as a column.
pub(super) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}
