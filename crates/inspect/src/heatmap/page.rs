//! What lies in a page as JSON: every view of every heatmap, and of heads also their means and maxima.

use std::collections::BTreeSet;

use serde::Serialize;

use super::colour::STEPS;
use super::heads::{Grid, Head};
use super::html::Start;
use super::numbers::Numbers;
use super::{Heatmap, Panel, Scale, Token};
use crate::label::visible;

#[derive(Serialize)]
pub(super) struct PageData {
    steps: i32,
    /// The colours of a downloaded picture.
    style: String,
    /// What is seen first.
    start: StartData,
    heatmaps: Vec<HeatmapData>,
}

#[derive(Serialize)]
struct StartData {
    chart: usize,
    layer: Option<usize>,
    head: String,
    all: bool,
    merged: bool,
    endless: bool,
}

#[derive(Serialize)]
struct HeatmapData {
    title: String,
    charts: Vec<ChartData>,
}

#[derive(Serialize)]
struct ChartData {
    name: String,
    columns: &'static str,
    rows: &'static str,
    /// How many different tokens belong to no word.
    specials: usize,
    grid: Option<GridData>,
    views: Vec<ViewData>,
}

#[derive(Serialize)]
struct GridData {
    layers: Vec<usize>,
    heads: usize,
}

#[derive(Serialize)]
struct ViewData {
    merged: bool,
    endless: bool,
    source: Vec<String>,
    target: Vec<String>,
    probabilities: Option<Vec<f64>>,
    panels: Vec<PanelData>,
}

#[derive(Serialize)]
struct PanelData {
    name: String,
    /// Of which layer it is, if of one.
    layer: Option<usize>,
    /// Its number, `mean` or `max`.
    head: Option<String>,
    scale: &'static str,
    limit: f32,
    unit: i32,
    decimals: usize,
    caption: String,
    ticks: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl PageData {
    pub(super) fn new(sentences: &[&[Heatmap]], start: Start, style: String) -> Self {
        let Start { chart, choice, all, merged, endless } = start;
        let (layer, head) = (choice.layer, head_name(choice.head));
        let start = StartData { chart, layer, head, all, merged, endless };
        let heatmaps = sentences.iter().map(|charts| heatmap_data(charts)).collect();
        Self { steps: STEPS, style, start, heatmaps }
    }
}

fn head_name(head: Head) -> String {
    match head {
        Head::Number(number) => number.to_string(),
        Head::Mean => "mean".to_owned(),
        Head::Max => "max".to_owned(),
    }
}

fn heatmap_data(charts: &[Heatmap]) -> HeatmapData {
    let title = charts.first().map_or("", |chart| chart.title.as_str());
    let title = if title.is_empty() { String::new() } else { visible(title) };
    HeatmapData { title, charts: charts.iter().map(chart_data).collect() }
}

fn chart_data(heatmap: &Heatmap) -> ChartData {
    // Means and maxima are made of merged words, but before the end is left out: each head by itself may have
    // looked at nothing else.
    let mut views = vec![view_data(&heatmap.with_choices(), false, false)];
    if heatmap.has_end() {
        views.push(view_data(&heatmap.with_choices().without_end(), false, true));
    }
    if heatmap.has_pieces() {
        let merged = heatmap.merge_words().with_choices();
        views.push(view_data(&merged, true, false));
        if merged.has_end() {
            views.push(view_data(&merged.without_end(), true, true));
        }
    }
    let grid = heatmap.grid.as_ref();
    for view in &mut views {
        for (panel, choice) in view.panels.iter_mut().zip(grid.map(Grid::choices).unwrap_or_default()) {
            (panel.layer, panel.head) = (choice.layer, Some(head_name(choice.head)));
        }
    }
    let tokens = heatmap.source.iter().chain(&heatmap.target);
    let specials: BTreeSet<&str> =
        tokens.filter(|token| token.word.is_none()).map(|token| token.text.as_str()).collect();
    ChartData {
        name: grid.map(|grid| visible(&grid.name)).unwrap_or_default(),
        columns: heatmap.axes.columns,
        rows: heatmap.axes.rows,
        specials: specials.len(),
        grid: grid.map(|grid| GridData { layers: grid.layers.clone().collect(), heads: grid.heads }),
        views,
    }
}

fn view_data(heatmap: &Heatmap, merged: bool, endless: bool) -> ViewData {
    let texts = |tokens: &[Token]| tokens.iter().map(|token| visible(&token.text)).collect();
    ViewData {
        merged,
        endless,
        source: texts(&heatmap.source),
        target: texts(&heatmap.target),
        probabilities: heatmap.probabilities.as_ref().map(|all| all.iter().map(|&p| rounded(p, 4)).collect()),
        panels: heatmap.panels.iter().map(|panel| panel_data(panel, heatmap.grid())).collect(),
    }
}

fn panel_data(panel: &Panel, grid: Option<&Grid>) -> PanelData {
    let numbers = Numbers::of(panel);
    // One more than are ever shown, so that rounding twice seldom differs from rounding once.
    let decimals = 5 - f64::from(numbers.limit).log10().floor() as i32;
    let row = |row: &Vec<f32>| row.iter().map(|&value| rounded(value, decimals)).collect();
    PanelData {
        name: visible(&grid.map_or(panel.name.clone(), |grid| grid.full_name(&panel.name))),
        layer: None,
        head: None,
        scale: if panel.scale == Scale::Signed { "signed" } else { "share" },
        limit: numbers.limit,
        unit: numbers.unit.unwrap_or(0),
        decimals: numbers.decimals,
        caption: numbers.caption(),
        ticks: numbers.ticks().into_iter().map(|(_, text)| text).collect(),
        values: panel.values.iter().map(row).collect(),
    }
}

/// A value without the digits that nobody reads, but that would make most of the page.
pub(crate) fn rounded(value: f32, decimals: i32) -> f64 {
    let text = format!("{:.*}", decimals.clamp(0, 60) as usize, value);
    text.parse().unwrap_or(f64::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_but_not_lost() {
        assert_eq!([0.123_456_7, 1.0, 0.0].map(|value| rounded(value, 5)), [0.12346, 1.0, 0.0]);
        assert_eq!(rounded(1.234_567e-20, 25), 1.23457e-20);
        assert_eq!(rounded(f32::MAX, -34), f64::from(f32::MAX));
    }
}
