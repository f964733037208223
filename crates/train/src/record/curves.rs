//! `curves.svg`: the figures of a run as a picture.

use super::journal::Entry;
use gatto_inspect::curves::{Panel, Series, svg};

/// The picture of these figures.
pub(crate) fn draw(entries: &[Entry]) -> String {
    let train = |figure: fn(&super::StepFigures) -> f64| {
        let point = |entry: &Entry| match entry {
            Entry::Train(figures) => Some((figures.step as f64, figure(figures))),
            Entry::Valid(_) | Entry::Samples(_) => None,
        };
        entries.iter().filter_map(point).collect::<Vec<_>>()
    };
    let valid = |figure: fn(&super::ValidFigures) -> Option<f64>| {
        let point = |entry: &Entry| match entry {
            Entry::Valid(figures) => Some((figures.step as f64, figure(figures)?)),
            Entry::Train(_) | Entry::Samples(_) => None,
        };
        entries.iter().filter_map(point).collect::<Vec<_>>()
    };
    let series = |name: &str, points| Series { name: name.to_owned(), points };
    let panel = |title: &str, series: Vec<Series>, logarithmic| Panel {
        title: title.to_owned(),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        logarithmic,
    };
    let mut panels = vec![
        panel(
            "loss",
            vec![series("train", train(|f| f.loss)), series("valid", valid(|f| Some(f.loss)))],
            true,
        ),
        panel(
            "share right",
            vec![
                series("answers", valid(|f| Some(f.accuracy))),
                series("whole outputs", valid(|f| f.exact_match)),
            ],
            false,
        ),
        panel("learning rate", vec![series("learning rate", train(|f| f.learning_rate))], false),
        panel("gradient norm", vec![series("gradient norm", train(|f| f.gradient_norm))], true),
        panel("tokens per second", vec![series("tokens per second", train(|f| f.tokens_per_second))], false),
    ];
    panels.retain(|panel| !panel.series.is_empty());
    svg(&panels, "step")
}
