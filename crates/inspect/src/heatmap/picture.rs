//! A heatmap as an SVG picture. It follows the reader's light or dark mode, fetches nothing, and tells the value of
//! a cell to whoever points at it.

use super::colour::{self, Ground};
use super::layout::{
    BAR_WIDTH, Frame, LABEL_GAP, Layout, MARGIN, TITLE_FONT, TITLE_HEIGHT, Turn, panel_name,
};
use super::multiples::Multiples;
use super::numbers::{Numbers, exact};
use super::{Heatmap, Panel, Scale};
use crate::label::{cut, isolate, shorten};
use crate::svg::{Document, number};

/// What the text, the ground and the frames of a picture look like.
pub(crate) const STYLE: &str = "
svg { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; color: #222222; }
.ground { fill: #ffffff; }
.frame { fill: none; stroke: #c4c7cc; }
text { fill: currentColor; }
.title { font-size: 15px; font-weight: 600; }
.name { font-size: 13px; font-weight: 600; }
.layer { font-weight: 600; }
.note { color: #666666; font-size: 11px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
";
/// The same on a dark ground.
pub(crate) const DARK_STYLE: &str = "
svg { color: #e8e8e8; }
.ground { fill: #16181c; }
.frame { stroke: #4a4f58; }
.note { color: #a0a4aa; }
";

/// Draws the panels on their common axes.
///
/// Numbers stand in the cells if they fit; each cell tells its value when it is pointed at. Panels stand side by
/// side where there is room, else below each other. Several heads are drawn small, all of them at once.
pub fn svg(heatmap: &Heatmap) -> String {
    Picture::new(heatmap).draw(true)
}

/// A picture that has been measured.
pub(super) struct Picture<'a> {
    heatmap: &'a Heatmap,
    measures: Measures<'a>,
}

enum Measures<'a> {
    Panels(Box<Layout>),
    Heads(Multiples<'a>),
}

impl<'a> Picture<'a> {
    pub(super) fn new(heatmap: &'a Heatmap) -> Self {
        let measures = match &heatmap.grid {
            Some(grid) if heatmap.panels.len() > 1 => Measures::Heads(Multiples::new(heatmap, grid)),
            _ => Measures::Panels(Box::new(Layout::new(heatmap))),
        };
        Self { heatmap, measures }
    }

    /// Width and height.
    pub(super) fn size(&self) -> [f64; 2] {
        match &self.measures {
            Measures::Panels(layout) => [layout.width, layout.height],
            Measures::Heads(multiples) => [multiples.width, multiples.height],
        }
    }

    /// The picture with or without what it tells those who point at a cell.
    pub(super) fn draw(&self, hints: bool) -> String {
        let (heatmap, [width, height]) = (self.heatmap, self.size());
        let mut document = Document::new(width, height, &spoken(heatmap), &style(heatmap));
        document.empty("rect", &[("width", "100%"), ("height", "100%"), ("class", "ground")]);
        let mut bottom = MARGIN;
        if !heatmap.title.is_empty() {
            let title = isolate(&cut(&heatmap.title, TITLE_FONT, width - 2.0 * MARGIN));
            document.label(MARGIN, MARGIN + TITLE_FONT, "title", &title);
            bottom += TITLE_HEIGHT;
        }
        match &self.measures {
            Measures::Heads(multiples) => multiples.draw(&mut document, bottom, hints),
            Measures::Panels(layout) => {
                for (panel, frame) in heatmap.panels.iter().zip(&layout.frames) {
                    draw_panel(&mut document, layout, frame, heatmap, panel);
                    draw_cells(&mut document, layout, frame, heatmap, panel, hints);
                }
            }
        }
        document.finish()
    }
}

/// What a screen reader says of it.
fn spoken(heatmap: &Heatmap) -> String {
    let names: Vec<&str> = match &heatmap.grid {
        Some(grid) => vec![grid.name.as_str()],
        None => heatmap.panels.iter().map(|panel| panel.name.as_str()).collect(),
    };
    [heatmap.title.as_str(), &names.join(", ")].join(": ").trim_start_matches(": ").to_owned()
}

fn style(heatmap: &Heatmap) -> String {
    let has = |signed: bool| heatmap.panels.iter().any(|panel| (panel.scale == Scale::Signed) == signed);
    let scales = [(Scale::Share, has(false)), (Scale::Signed, has(true))];
    let scales: Vec<Scale> = scales.into_iter().filter(|(_, has)| *has).map(|(scale, _)| scale).collect();
    format!(
        "{STYLE}{}@media (prefers-color-scheme: dark) {{{DARK_STYLE}{}}}\n",
        colour::style(&scales, Ground::Light),
        colour::style(&scales, Ground::Dark)
    )
}

fn draw_panel(document: &mut Document, layout: &Layout, frame: &Frame, heatmap: &Heatmap, panel: &Panel) {
    let name_y = frame.top - layout.label_height - 8.0;
    document.label(frame.left, name_y, "name", &isolate(&panel_name(panel)));
    draw_column_labels(document, layout, frame);
    if frame.labelled {
        draw_row_labels(document, layout, frame, heatmap);
    }
    let bottom = frame.top + layout.rows.len() as f64 * layout.cell_height;
    draw_bar(document, frame.left, bottom + 12.0, panel.scale, &Numbers::of(panel));
}

fn draw_column_labels(document: &mut Document, layout: &Layout, frame: &Frame) {
    let size = format!("font-size:{}px", number(layout.column_font));
    for (column, label) in layout.columns.iter().enumerate() {
        let x = frame.left + (column as f64 + 0.5) * layout.cell_width;
        let y = frame.top - LABEL_GAP + 1.0;
        let (angle, class, x) = match layout.turn {
            Turn::Flat => (0, "middle", x),
            // The foot of the first letter stands over the middle of the cell.
            Turn::Slanted => (-45, "label", x + 2.0),
            Turn::Upright => (-90, "label", x + 0.36 * layout.column_font),
        };
        let (x, y) = (number(x), number(y));
        let turn = format!("rotate({angle} {x} {y})");
        let turned = [("x", x.as_str()), ("y", &y), ("class", class), ("style", &size), ("transform", &turn)];
        document.leaf("text", if angle == 0 { &turned[..4] } else { &turned }, &isolate(label));
    }
}

fn draw_row_labels(document: &mut Document, layout: &Layout, frame: &Frame, heatmap: &Heatmap) {
    let right = frame.left - LABEL_GAP - layout.probability_width;
    let size = format!("font-size:{}px", number(layout.row_font));
    document.label(right, frame.top - 20.0, "note end", &format!("{} →", heatmap.axes.columns));
    document.label(right, frame.top - 6.0, "note end", &format!("{} ↓", heatmap.axes.rows));
    if layout.probability_width > 0.0 {
        document.label(frame.left - LABEL_GAP, frame.top - 6.0, "note end", "prob.");
    }
    for (row, label) in layout.rows.iter().enumerate() {
        let y = number(frame.top + (row as f64 + 0.5) * layout.cell_height + 0.36 * layout.row_font);
        let x = number(right);
        document.leaf("text", &[("x", &x), ("y", &y), ("class", "end"), ("style", &size)], &isolate(label));
        if let Some(probabilities) = &heatmap.probabilities {
            let x = number(frame.left - LABEL_GAP);
            let text = format!("{:.2}", probabilities[row]);
            let small = format!("font-size:{}px", number(layout.row_font.min(11.0)));
            document.leaf("text", &[("x", &x), ("y", &y), ("class", "note end"), ("style", &small)], &text);
        }
    }
}

fn draw_cells(
    document: &mut Document,
    layout: &Layout,
    frame: &Frame,
    heatmap: &Heatmap,
    panel: &Panel,
    hints: bool,
) {
    let numbers = Numbers::of(panel);
    let (width, height) = (layout.cell_width, layout.cell_height);
    let (rect_width, rect_height) = (number(width - 1.0), number(height - 1.0));
    let size = format!("font-size:{}px", number(layout.number_font));
    let names = |tokens: &[super::Token]| -> Vec<String> {
        tokens.iter().map(|token| isolate(&shorten(&token.text, 40))).collect()
    };
    let (sources, targets) = (names(&heatmap.source), names(&heatmap.target));
    for (row, values) in panel.values.iter().enumerate() {
        let y = frame.top + row as f64 * height;
        for (column, &value) in values.iter().enumerate() {
            let x = frame.left + column as f64 * width;
            let class = colour::class(panel.scale, colour::step(value, numbers.limit));
            document.open("g", &[("class", &class)]);
            if hints {
                let hint = format!("{} ← {}: {}", targets[row], sources[column], exact(value, panel.scale));
                document.leaf("title", &[], &hint);
            }
            let (left, top) = (number(x + 0.5), number(y + 0.5));
            document.empty(
                "rect",
                &[("x", &left), ("y", &top), ("width", &rect_width), ("height", &rect_height)],
            );
            if layout.number_font > 0.0 {
                let (x, y) = (number(x + width / 2.0), number(y + height / 2.0 + 0.36 * layout.number_font));
                let attributes = [("x", x.as_str()), ("y", &y), ("class", "middle"), ("style", &size)];
                document.leaf("text", &attributes, &numbers.short(value));
            }
            document.close();
        }
    }
    let [x, y] = [frame.left - 0.5, frame.top - 0.5].map(number);
    let grid_width = number(layout.columns.len() as f64 * width + 1.0);
    let grid_height = number(layout.rows.len() as f64 * height + 1.0);
    let frame =
        [("x", x.as_str()), ("y", &y), ("width", &grid_width), ("height", &grid_height), ("class", "frame")];
    document.empty("rect", &frame);
}

/// What the colours mean: a bar from the low end to the high end of the scale.
pub(super) fn draw_bar(document: &mut Document, left: f64, top: f64, scale: Scale, numbers: &Numbers) {
    let steps = colour::steps(scale);
    let width = BAR_WIDTH / f64::from(*steps.end() - *steps.start() + 1);
    let (y, height) = (number(top), "10");
    // No seams between neighbours.
    document.open("g", &[("shape-rendering", "crispEdges")]);
    for (place, step) in steps.enumerate() {
        let (x, wide) = (number(left + place as f64 * width), number(width));
        let class = colour::class(scale, step);
        document
            .empty("rect", &[("x", &x), ("y", &y), ("width", &wide), ("height", height), ("class", &class)]);
    }
    document.close();
    let (x, bar_width) = (number(left), number(BAR_WIDTH));
    let outline =
        [("x", x.as_str()), ("y", &y), ("width", &bar_width), ("height", height), ("class", "frame")];
    document.empty("rect", &outline);
    for (place, text) in numbers.ticks() {
        let class = match place {
            0.0 => "note",
            1.0 => "note end",
            _ => "note middle",
        };
        document.label(left + place * BAR_WIDTH, top + 23.0, class, &text);
    }
}

#[cfg(test)]
#[path = "picture_tests.rs"]
mod tests;
