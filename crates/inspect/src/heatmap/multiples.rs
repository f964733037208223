//! All heads of an attention in one picture: small, with a layer in every row, in colours that mean the same in all
//! of them. Tokens stand at the outer edges while there is room for them.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::colour;
use super::heads::Grid;
use super::layout::{BAR_WIDTH, LABEL_GAP, LEGEND_HEIGHT, MARGIN, NAME_HEIGHT, TITLE_HEIGHT, title_width};
use super::numbers::{Numbers, exact};
use super::{Heatmap, Panel, Token};
use crate::label::{isolate, shorten, text_width};
use crate::svg::{Document, number};

/// Between two heads.
const GAP: f64 = 16.0;
/// Over each head, for its number.
const CAPTION: f64 = 20.0;
/// Cells are as large as leaves the picture within about this.
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 1000.0;
/// A head is at least as wide as `head 12` above it.
const NARROWEST: f64 = 52.0;
const SMALLEST_CELL: f64 = 2.0;
const LARGEST_CELL: f64 = 16.0;
/// Tokens beside smaller cells could not be read.
const LABELLED_CELL: f64 = 9.0;
const LONGEST_LABEL: usize = 16;

/// The measures of a picture of all heads.
pub(super) struct Multiples<'a> {
    heatmap: &'a Heatmap,
    grid: &'a Grid,
    pub(super) width: f64,
    pub(super) height: f64,
    cell: f64,
    font: f64,
    left: f64,
    top: f64,
    /// From one head to the next.
    across: f64,
    down: f64,
    labelled: bool,
}

impl<'a> Multiples<'a> {
    pub(super) fn new(heatmap: &'a Heatmap, grid: &'a Grid) -> Self {
        let (rows, columns) = (heatmap.target.len() as f64, heatmap.source.len() as f64);
        let (layers, heads) = (grid.layers.len() as f64, grid.heads as f64);
        let room = (WIDTH / heads - GAP) / columns;
        let cell = room.min((HEIGHT / layers - CAPTION - GAP) / rows);
        let cell = cell.clamp(SMALLEST_CELL, LARGEST_CELL).floor();
        let labelled = cell >= LABELLED_CELL;
        let font = (cell - 1.0).min(12.0);
        let widest =
            |tokens: &[Token]| tokens.iter().map(|token| text_width(&label(token), font)).fold(0.0, f64::max);
        let corner = text_width(heatmap.axes.columns, 11.0).max(text_width(heatmap.axes.rows, 11.0)) + 16.0;
        let beside = if labelled { widest(&heatmap.target) } else { 0.0 };
        let above = if labelled { widest(&heatmap.source) } else { 0.0 };
        let left = (MARGIN + beside.max(corner).max(56.0) + LABEL_GAP).ceil();
        let title = if heatmap.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        let top = (MARGIN + title + NAME_HEIGHT + CAPTION + above.max(24.0) + LABEL_GAP).ceil();
        let across = (columns * cell).max(NARROWEST) + GAP;
        let down = rows * cell + CAPTION + GAP;
        let width = (left + heads * across - GAP).max(left + BAR_WIDTH) + MARGIN;
        let width = width.max(title_width(&heatmap.title)).ceil();
        let height = top + layers * down - CAPTION - GAP + LEGEND_HEIGHT + 8.0;
        Self { heatmap, grid, width, height, cell, font, left, top, across, down, labelled }
    }

    /// Draws them; `hints` tell those who point at a head where it looks most.
    pub(super) fn draw(&self, document: &mut Document, title_bottom: f64, hints: bool) {
        let numbers = Numbers::common(&self.heatmap.panels);
        document.label(MARGIN, title_bottom + 13.0, "name", &isolate(&shorten(&self.grid.name, 40)));
        let right = self.left - LABEL_GAP;
        document.label(right, self.top - 20.0, "note end", &format!("{} →", self.heatmap.axes.columns));
        document.label(right, self.top - 6.0, "note end", &format!("{} ↓", self.heatmap.axes.rows));
        for (index, panel) in self.heatmap.panels.iter().enumerate() {
            let (layer, head) = (index / self.grid.heads, index % self.grid.heads);
            let x = self.left + head as f64 * self.across;
            let y = self.top + layer as f64 * self.down;
            if head == 0 {
                self.row(document, layer, y);
            }
            let above = if layer == 0 { self.column(document, x) } else { 0.0 };
            document.label(x, y - above - 6.0, "note", &format!("head {}", head + 1));
            self.head(document, panel, &numbers, (x, y), hints);
        }
        let bottom = self.height - LEGEND_HEIGHT + 4.0;
        super::picture::draw_bar(document, self.left, bottom, self.heatmap.panels[0].scale, &numbers);
    }

    /// The number of a layer, and what stands beside its rows.
    fn row(&self, document: &mut Document, layer: usize, y: f64) {
        let right = number(self.left - LABEL_GAP);
        let name = format!("layer {}", self.grid.layers.start + layer);
        // In the first row the names of the axes stand there.
        let at = if layer == 0 { y - self.above() - 6.0 } else { y - 6.0 };
        document.label(MARGIN, at, "layer", &name);
        if self.labelled {
            let size = format!("font-size:{}px", number(self.font));
            for (row, token) in self.heatmap.target.iter().enumerate() {
                let y = number(y + (row as f64 + 0.5) * self.cell + 0.36 * self.font);
                let at = [("x", right.as_str()), ("y", &y), ("class", "end"), ("style", &size)];
                document.leaf("text", &at, &isolate(&label(token)));
            }
        }
    }

    /// The room between the number of a head in the first row and its cells.
    fn above(&self) -> f64 {
        let title = if self.heatmap.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        self.top - (MARGIN + title + NAME_HEIGHT + CAPTION)
    }

    /// What stands over the columns of a head, upright; its height.
    fn column(&self, document: &mut Document, x: f64) -> f64 {
        if self.labelled {
            let size = format!("font-size:{}px", number(self.font));
            for (column, token) in self.heatmap.source.iter().enumerate() {
                let x = number(x + (column as f64 + 0.5) * self.cell + 0.36 * self.font);
                let y = number(self.top - 5.0);
                let turn = format!("rotate(-90 {x} {y})");
                let at = [("x", x.as_str()), ("y", &y), ("style", &size), ("transform", &turn)];
                document.leaf("text", &at, &isolate(&label(token)));
            }
        }
        self.above()
    }

    /// One head: a path for each colour, which is a tenth of a rectangle for each cell.
    fn head(
        &self,
        document: &mut Document,
        panel: &Panel,
        numbers: &Numbers,
        (x, y): (f64, f64),
        hints: bool,
    ) {
        let mut paths: BTreeMap<i32, String> = BTreeMap::new();
        let (mut most, mut strongest) = (f32::NEG_INFINITY, (0, 0));
        for (row, values) in panel.values.iter().enumerate() {
            for (column, &value) in values.iter().enumerate() {
                if value > most {
                    (most, strongest) = (value, (row, column));
                }
                let step = colour::step(value, numbers.limit);
                let [x, y] = [x + column as f64 * self.cell, y + row as f64 * self.cell].map(number);
                // Writing to a string cannot fail.
                let _ = write!(paths.entry(step).or_default(), "M{x} {y}h{0}v{0}h-{0}z", self.cell);
            }
        }
        document.open("g", &[("shape-rendering", "crispEdges")]);
        if hints {
            let [target, source] = [&self.heatmap.target[strongest.0], &self.heatmap.source[strongest.1]]
                .map(|token| isolate(&shorten(&token.text, 40)));
            let value = exact(most, panel.scale);
            document.leaf("title", &[], &format!("{}: most {target} ← {source}, {value}", panel.name));
        }
        for (step, path) in paths {
            document.empty("path", &[("class", &colour::class(panel.scale, step)), ("d", &path)]);
        }
        document.close();
        let (rows, columns) = (panel.values.len() as f64, self.heatmap.source.len() as f64);
        let [x, y, width, height] =
            [x - 0.5, y - 0.5, columns * self.cell + 1.0, rows * self.cell + 1.0].map(number);
        let frame =
            [("x", x.as_str()), ("y", &y), ("width", &width), ("height", &height), ("class", "frame")];
        document.empty("rect", &frame);
    }
}

fn label(token: &Token) -> String {
    shorten(&token.text, LONGEST_LABEL)
}

#[cfg(test)]
mod tests {
    use super::super::colour::{Ground, colour};
    use super::super::samples::{diagonal, heads, words};
    use super::super::{Scale, png, svg};
    use super::*;
    use crate::raster::parse;
    use crate::svg::assert_well_formed;
    use resvg::tiny_skia::Pixmap;

    #[test]
    fn every_head_is_drawn_with_its_numbers_and_its_strongest_cell() {
        let picture = svg(&heads(2, 3));
        assert_well_formed(&picture);
        for head in 1..=3 {
            assert_eq!(picture.matches(&format!(">head {head}<")).count(), 2, "{picture}");
        }
        for layer in ["layer 1", "layer 2"] {
            assert_eq!(picture.matches(&format!(">{layer}<")).count(), 1, "{picture}");
        }
        assert!(picture.contains("<title>layer 1, head 1: most il ← the, 0.7213</title>"), "{picture}");
        assert!(picture.contains("<title>layer 2, head 3: most il ← here, 0.7213</title>"), "{picture}");
        assert!(picture.contains("source →") && picture.contains("target ↓"));
        assert_eq!(picture.matches(">gatto<").count(), 2, "beside each layer");
        assert_eq!(picture.matches(">cat<").count(), 3, "over each head");
    }

    #[test]
    fn a_colour_means_the_same_in_every_head() {
        let layers = vec![vec![vec![vec![1.0, 0.0]], vec![vec![0.5, 0.5]]]];
        let heatmap = Heatmap::of_heads("", "attention", words("a b"), words("c"), layers).unwrap();
        let multiples = Multiples::new(&heatmap, heatmap.grid().unwrap());
        let picture = Pixmap::decode_png(&png(&heatmap, 1.0).unwrap()).unwrap();
        let pixel = |head: f64, column: f64| {
            let x = multiples.left + head * multiples.across + (column + 0.5) * multiples.cell;
            let found = picture.pixel(x as u32, (multiples.top + 0.5 * multiples.cell) as u32).unwrap();
            [found.red(), found.green(), found.blue()]
        };
        let found = [pixel(0.0, 0.0), pixel(0.0, 1.0), pixel(1.0, 0.0), pixel(1.0, 1.0)];
        assert_eq!(found, [32, 0, 16, 16].map(|step| colour(Scale::Share, step, Ground::Light)));
    }

    #[test]
    fn many_heads_of_many_tokens_stay_within_the_picture() {
        let long = "Donaudampfschifffahrtsgesellschaft MMMMMMMMMMMMMM 图书馆图书馆图书馆 الخشبية";
        for (tokens, layers, heads) in [(4, 1, 2), (4, 6, 8), (40, 6, 8), (60, 2, 16), (1, 1, 3)] {
            let tokens = words(&long.split(' ').cycle().take(tokens).collect::<Vec<_>>().join(" "));
            let matrix = || diagonal(tokens.len(), tokens.len());
            let matrices = vec![vec![matrix(); heads]; layers];
            let all =
                Heatmap::of_heads(long, "self-attention", tokens.clone(), tokens.clone(), matrices).unwrap();
            for heatmap in [all.clone(), all.layer(layers).unwrap()] {
                let tree = parse(&svg(&heatmap)).unwrap();
                let (size, drawn) = (tree.size(), tree.root().abs_bounding_box());
                assert!(drawn.left() >= -0.5 && drawn.top() >= -0.5, "{drawn:?}");
                let fits = drawn.right() <= size.width() + 0.5 && drawn.bottom() <= size.height() + 0.5;
                assert!(fits, "{drawn:?} {size:?}");
            }
        }
    }

    #[test]
    fn one_layer_of_several_keeps_its_number() {
        let picture = svg(&heads(3, 2).layer(2).unwrap());
        assert!(picture.contains(">layer 2<") && !picture.contains(">layer 1<"), "{picture}");
        assert!(picture.contains("<title>layer 2, head 1: "), "{picture}");
    }
}
