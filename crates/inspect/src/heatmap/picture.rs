//! A heatmap as an SVG picture. It follows the reader's light or dark mode, fetches nothing, and tells the value of
//! a cell to whoever points at it.

use super::colour::{self, Ground};
use super::label::{isolate, shorten};
use super::layout::{BAR_WIDTH, Frame, LABEL_GAP, Layout, MARGIN, TITLE_FONT, Turn, panel_name, text_width};
use super::numbers::{Numbers, exact};
use super::{Heatmap, Panel, Scale};
use crate::svg::{Document, number};

const STYLE: &str = "
svg { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; color: #222222; }
.ground { fill: #ffffff; }
.frame { fill: none; stroke: #c4c7cc; }
text { fill: currentColor; }
.title { font-size: 15px; font-weight: 600; }
.name { font-size: 13px; font-weight: 600; }
.note { color: #666666; font-size: 11px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
";
const DARK_STYLE: &str = "
svg { color: #e8e8e8; }
.ground { fill: #16181c; }
.frame { stroke: #4a4f58; }
.note { color: #a0a4aa; }
";

/// Draws the panels on their common axes.
///
/// Numbers stand in the cells if they fit; each cell tells its value when it is pointed at. Panels stand side by
/// side where there is room, else below each other.
pub fn svg(heatmap: &Heatmap) -> String {
    draw(heatmap, &Layout::new(heatmap), true)
}

/// The picture with or without what it tells those who point at a cell.
pub(super) fn draw(heatmap: &Heatmap, layout: &Layout, hints: bool) -> String {
    let scales: Vec<Scale> = [Scale::Share, Scale::Signed]
        .into_iter()
        .filter(|scale| heatmap.panels.iter().any(|panel| panel.scale == *scale))
        .collect();
    let style = format!(
        "{STYLE}{}@media (prefers-color-scheme: dark) {{{DARK_STYLE}{}}}\n",
        colour::style(&scales, Ground::Light),
        colour::style(&scales, Ground::Dark)
    );
    let names: Vec<&str> = heatmap.panels.iter().map(|panel| panel.name.as_str()).collect();
    let spoken = [heatmap.title.as_str(), &names.join(", ")].join(": ");
    let mut document = Document::new(layout.width, layout.height, spoken.trim_start_matches(": "), &style);
    document.empty("rect", &[("width", "100%"), ("height", "100%"), ("class", "ground")]);
    if !heatmap.title.is_empty() {
        let title = isolate(&cut(&heatmap.title, TITLE_FONT, layout.width - 2.0 * MARGIN));
        document.label(MARGIN, MARGIN + TITLE_FONT, "title", &title);
    }
    for (panel, frame) in heatmap.panels.iter().zip(&layout.frames) {
        draw_panel(&mut document, layout, frame, heatmap, panel);
        draw_cells(&mut document, layout, frame, heatmap, panel, hints);
    }
    document.finish()
}

/// As much of a line as fits into `width` pixels.
fn cut(text: &str, font: f64, width: f64) -> String {
    let mut most = text.chars().count().min(500);
    let mut line = shorten(text, most);
    while most > 1 && text_width(&line, font) > width {
        most -= 1;
        line = shorten(text, most);
    }
    line
}

fn draw_panel(document: &mut Document, layout: &Layout, frame: &Frame, heatmap: &Heatmap, panel: &Panel) {
    let name_y = frame.top - layout.label_height - 8.0;
    document.label(frame.left, name_y, "name", &isolate(&panel_name(panel)));
    draw_column_labels(document, layout, frame);
    if frame.labelled {
        draw_row_labels(document, layout, frame, heatmap);
    }
    let numbers = Numbers::of(panel);
    draw_bar(document, layout, frame, panel.scale, &numbers);
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
    document.label(right, frame.top - 20.0, "note end", "source →");
    document.label(right, frame.top - 6.0, "note end", "target ↓");
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
fn draw_bar(document: &mut Document, layout: &Layout, frame: &Frame, scale: Scale, numbers: &Numbers) {
    let top = frame.top + layout.rows.len() as f64 * layout.cell_height + 12.0;
    let steps = colour::steps(scale);
    let width = BAR_WIDTH / f64::from(*steps.end() - *steps.start() + 1);
    let (y, height) = (number(top), "10");
    // No seams between neighbours.
    document.open("g", &[("shape-rendering", "crispEdges")]);
    for (place, step) in steps.enumerate() {
        let (x, wide) = (number(frame.left + place as f64 * width), number(width));
        let class = colour::class(scale, step);
        document
            .empty("rect", &[("x", &x), ("y", &y), ("width", &wide), ("height", height), ("class", &class)]);
    }
    document.close();
    let (x, bar_width) = (number(frame.left), number(BAR_WIDTH));
    let outline =
        [("x", x.as_str()), ("y", &y), ("width", &bar_width), ("height", height), ("class", "frame")];
    document.empty("rect", &outline);
    for (place, text) in numbers.ticks() {
        let class = match place {
            0.0 => "note",
            1.0 => "note end",
            _ => "note middle",
        };
        document.label(frame.left + place * BAR_WIDTH, top + 23.0, class, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::png::parse;
    use super::super::samples::{attention, diagonal, hostile, panel, words};
    use super::*;
    use crate::svg::assert_well_formed;

    #[test]
    fn a_cell_is_a_colour_a_number_and_a_hint() {
        let values = vec![vec![0.75, 0.25]];
        let panels = vec![panel("attention", Scale::Share, values)];
        let heatmap = Heatmap::new("", words("the cat"), words("gatto"), panels).unwrap();
        let picture = svg(&heatmap);
        assert_well_formed(&picture);
        let cell = "<g class=\"s30\">\n<title>gatto ← the: 0.7500</title>\n\
            <rect x=\"86.5\" y=\"64.5\" width=\"45\" height=\"29\"/>\n\
            <text x=\"109\" y=\"83.32\" class=\"middle\" style=\"font-size:12px\">.75</text>\n</g>\n";
        assert!(picture.contains(cell), "{picture}");
    }

    #[test]
    fn hostile_text_is_text() {
        let picture = svg(&hostile());
        assert_well_formed(&picture);
        parse(&picture).unwrap();
        assert!(!picture.contains("<script") && !picture.contains("<img"));
    }

    #[test]
    fn labels_lean_and_numbers_vanish_as_tokens_become_many() {
        let turned = |count: usize| {
            let picture = svg(&attention(&"straordinario ".repeat(count), &"gatto ".repeat(count)));
            assert_well_formed(&picture);
            let numbers = picture.contains(">.");
            (picture.contains("rotate(-45"), picture.contains("rotate(-90"), numbers)
        };
        assert_eq!(turned(20), (true, false, true));
        assert_eq!(turned(80), (false, true, false));
        assert!(!svg(&attention("the cat", "il gatto")).contains("rotate("));
    }

    #[test]
    fn panels_stand_side_by_side_where_there_is_room() {
        let explained = |count: usize| {
            let names = ["attention", "gradient × input", "erasure"];
            let scales = [Scale::Share, Scale::Signed, Scale::Signed];
            let panels =
                names.iter().zip(scales).map(|(name, scale)| panel(name, scale, diagonal(count, count)));
            let tokens = words(&"word ".repeat(count));
            Heatmap::new("", tokens.clone(), tokens, panels.collect()).unwrap()
        };
        let (few, many) = (Layout::new(&explained(5)), Layout::new(&explained(60)));
        assert!(few.frames.iter().all(|frame| frame.top == few.frames[0].top));
        assert!(many.frames.iter().all(|frame| frame.left == many.frames[0].left && frame.labelled));
        for frame in few.frames.iter().chain(&many.frames) {
            assert!(frame.left > 0.0 && frame.top > 0.0);
        }
    }

    #[test]
    fn everything_stands_within_the_picture() {
        let long = "Donaudampfschifffahrtsgesellschaft MMMMMMMMMMMMMM 图书馆图书馆图书馆 الخشبية";
        for heatmap in [attention(long, long), attention(&long.repeat(9), long), hostile()] {
            let tree = parse(&svg(&heatmap)).unwrap();
            let (size, drawn) = (tree.size(), tree.root().abs_bounding_box());
            assert!(drawn.left() >= -0.5 && drawn.top() >= -0.5, "{drawn:?}");
            let fits = drawn.right() <= size.width() + 0.5 && drawn.bottom() <= size.height() + 0.5;
            assert!(fits, "{drawn:?} {size:?}");
        }
    }
}
