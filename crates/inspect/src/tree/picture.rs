//! A tree as an SVG picture. It follows the reader's light or dark mode, fetches nothing, and tells the story of a
//! candidate to whoever points at it.

use super::layout::Layout;
use super::words::{decimal, probability};
use super::{Look, Node, Tree};
use crate::label::{cut, isolate, shorten, text_width, visible};
use crate::raster::{self, PngError};
use crate::svg::{Document, number};

/// The colours of Okabe and Ito (2008) that remain apart for colour-blind readers; and no path is told by its colour
/// alone: the best is broad and filled, that of greedy search is in dashes, and what was pruned has no box.
pub(super) const STYLE: &str = "
.tree text { fill: currentColor; }
.tree .title { font-size: 15px; font-weight: 600; }
.tree .line { font-size: 13px; }
.tree .note { color: #5c6067; font-size: 12px; }
.tree .token { font-size: 14px; }
.tree .numbers { font-size: 11px; }
.tree .words { font-size: 11px; }
.edge { fill: none; stroke: #8a8f98; stroke-width: 1.5; }
.edge-pruned { stroke: #b4b8bf; stroke-width: 1.2; stroke-dasharray: 2 3; }
.edge-result { stroke: #0072b2; stroke-width: 2; }
.edge-greedy { stroke: #d55e00; stroke-width: 3; stroke-dasharray: 7 4; }
.edge-best { stroke: #0072b2; stroke-width: 5; }
.root { fill: #0072b2; }
.tree .kept rect { fill: #f3f4f6; stroke: #8a8f98; }
.tree .pruned rect { fill: #ffffff; }
.tree .pruned { color: #5c6067; }
.tree .result rect { fill: #e0effa; stroke: #0072b2; stroke-width: 1.5; }
.tree .greedy rect { fill: #fdece1; stroke: #d55e00; stroke-width: 2; stroke-dasharray: 7 4; }
.tree .best rect { fill: #0072b2; stroke: #0072b2; }
.tree .best { color: #ffffff; }
";
pub(super) const DARK_STYLE: &str = "
.tree .note { color: #a0a4aa; }
.edge { stroke: #7d838d; }
.edge-pruned { stroke: #565b64; }
.edge-result { stroke: #56b4e9; }
.edge-greedy { stroke: #f08a3c; }
.edge-best { stroke: #56b4e9; }
.root { fill: #56b4e9; }
.tree .kept rect { fill: #24272e; stroke: #7d838d; }
.tree .pruned rect { fill: #16181c; }
.tree .pruned { color: #a0a4aa; }
.tree .result rect { fill: #16324a; stroke: #56b4e9; }
.tree .greedy rect { fill: #43260f; stroke: #f08a3c; }
.tree .best rect { fill: #56b4e9; stroke: #56b4e9; }
.tree .best { color: #06121c; }
";
const GROUND: &str = "
svg { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; color: #222222; }
.ground { fill: #ffffff; }
";
const DARK_GROUND: &str = "
svg { color: #e8e8e8; }
.ground { fill: #16181c; }
";
const LEGEND: &str = "In a box: the token, its probability p, and log p of all tokens up to it. Without a box: pruned at \
                      this step, and why.";

const MARGIN: f64 = 18.0;
const LINE: f64 = 21.0;
/// From the top of a row to that of the next.
const ROW: f64 = 62.0;
/// From the top of a box to where lines meet it.
const MIDDLE: f64 = 20.0;
const PADDING: f64 = 9.0;
/// Between two columns, for the lines.
const CHANNEL: f64 = 32.0;
const CORNER: f64 = 7.0;
const NARROWEST_BOX: f64 = 58.0;
/// A token has at most so many characters.
const LONGEST_TOKEN: usize = 18;
/// Smaller than this, letters cannot be read.
const SMALLEST_SCALE: f32 = 0.7;
const SWATCH: f64 = 22.0;
/// A picture is at least as wide as its lines of text, up to this.
const WIDEST_FOR_TEXT: f64 = 900.0;

/// Draws the tree, a column for each step.
pub fn svg(tree: &Tree) -> String {
    Picture::new(tree, true).draw(For::File)
}

/// The same as a PNG with `scale` pixels for each of the SVG's; 2 is sharp on most screens. A tree so large that it would
/// have too many pixels has fewer for each, as long as it can be read.
pub fn png(tree: &Tree, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = Picture::new(tree, true);
    let size = [picture.width, picture.height];
    let fitting = raster::fitting(size, scale);
    let scale = if fitting < SMALLEST_SCALE { scale } else { fitting };
    raster::png(size, scale, || picture.draw(For::Pixels))
}

/// Where a picture goes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum For {
    /// A file of its own, which tells stories.
    File,
    /// Pixels, which cannot.
    Pixels,
    /// A page that has a style sheet, a heading and a script.
    Page,
}

/// A picture that has been measured.
pub(super) struct Picture<'a> {
    tree: &'a Tree,
    layout: Layout,
    /// The left edge and the width of each column.
    columns: Vec<(f64, f64)>,
    header: Vec<Line>,
    width: f64,
    height: f64,
}

/// A line over the tree.
struct Line {
    /// The path that it speaks of.
    look: Option<Look>,
    name: String,
    text: String,
    numbers: String,
}

impl Line {
    fn note(text: &str) -> Self {
        Self { look: None, name: String::new(), text: text.to_owned(), numbers: String::new() }
    }

    /// The room that everything but the text needs.
    fn around(&self) -> f64 {
        match self.look {
            Some(_) => SWATCH + text_width(&format!("{}  {}", self.name, self.numbers), self.font()) + 16.0,
            None => 0.0,
        }
    }

    fn font(&self) -> f64 {
        if self.look.is_some() { 13.0 } else { 12.0 }
    }

    /// The whole, with as much of the text as fits.
    fn within(&self, width: f64) -> String {
        let text = isolate(&cut(&self.text, self.font(), (width - self.around()).max(40.0)));
        format!("{} {text} {}", self.name, self.numbers).trim().to_owned()
    }
}

impl<'a> Picture<'a> {
    pub(super) fn new(tree: &'a Tree, pruned: bool) -> Self {
        let layout = Layout::new(tree, pruned);
        let mut widths = vec![NARROWEST_BOX; tree.steps];
        for (node, _) in tree.nodes.iter().zip(&layout.rows).filter(|(_, row)| row.is_some()) {
            widths[node.step] = widths[node.step].max(inner_width(node) + 2.0 * PADDING).ceil();
        }
        let mut right = MARGIN + 6.0;
        let column = |width: f64| {
            let left = right + CHANNEL;
            right = left + width;
            (left, width)
        };
        let columns: Vec<(f64, f64)> = widths.into_iter().map(column).collect();
        let header = header(tree);
        let lines = header.iter().map(|line| line.around() + text_width(&line.text, line.font()));
        let title = if tree.title.is_empty() { 0.0 } else { text_width(&tree.title, 15.0) };
        let text = lines.fold(title, f64::max) + 2.0 * MARGIN;
        let mut picture = Self { tree, layout, columns, header, width: 0.0, height: 0.0 };
        picture.width = (right + MARGIN).max(text.min(WIDEST_FOR_TEXT)).ceil();
        picture.height = picture.top(For::File) + picture.layout.height as f64 * ROW + MARGIN;
        picture
    }

    /// Where the first row begins.
    fn top(&self, wanted: For) -> f64 {
        if wanted == For::Page {
            return LINE + 14.0;
        }
        let title = if self.tree.title.is_empty() { 0.0 } else { 28.0 };
        MARGIN + title + self.header.len() as f64 * LINE + 34.0
    }

    pub(super) fn draw(&self, wanted: For) -> String {
        let top = self.top(wanted);
        let height = top + self.layout.height as f64 * ROW + MARGIN;
        let mut document = match wanted {
            For::Page => {
                let right = self.columns.last().map_or(0.0, |(left, width)| left + width) + MARGIN;
                Document::within(right, height, "the hypotheses of the search")
            }
            _ => {
                let style = format!(
                    "{GROUND}{STYLE}@media (prefers-color-scheme: dark) {{{DARK_GROUND}{DARK_STYLE}}}\n"
                );
                Document::new(self.width, height, &self.spoken(), &style)
            }
        };
        if wanted != For::Page {
            document.empty("rect", &[("width", "100%"), ("height", "100%"), ("class", "ground")]);
        }
        document.open("g", &[("class", "tree")]);
        if wanted != For::Page {
            self.draw_header(&mut document);
        }
        for (step, (left, _)) in self.columns.iter().enumerate() {
            document.label(*left, top - 10.0, "note", &format!("step {}", step + 1));
        }
        self.draw_edges(&mut document, top);
        for number in 0..self.tree.nodes.len() {
            self.draw_node(&mut document, number, top, wanted);
        }
        document.finish()
    }

    /// What a screen reader says of it.
    fn spoken(&self) -> String {
        let names = self.header.iter().filter(|line| line.look.is_some());
        let lines = names.map(|line| format!("{} {} {}", line.name, line.text, line.numbers));
        [self.tree.title.clone()].into_iter().chain(lines).collect::<Vec<_>>().join("; ")
    }

    fn draw_header(&self, document: &mut Document) {
        let mut y = MARGIN;
        let room = self.width - 2.0 * MARGIN;
        if !self.tree.title.is_empty() {
            document.label(MARGIN, y + 15.0, "title", &isolate(&cut(&self.tree.title, 15.0, room)));
            y += 28.0;
        }
        for line in &self.header {
            let (mut x, base) = (MARGIN, y + 14.0);
            if let Some(look) = line.look {
                let class = format!("edge edge-{}", name(look));
                document.line((x, base - 4.5), (x + SWATCH, base - 4.5), &class);
                x += SWATCH + 8.0;
            }
            let class = if line.look.is_some() { "line" } else { "note" };
            document.label(x, base, class, &line.within(room));
            y += LINE;
        }
    }

    /// The lines between nodes: those that matter most last, over the others.
    fn draw_edges(&self, document: &mut Document, top: f64) {
        let mut edges = Vec::new();
        let parents = std::iter::once(None).chain((0..self.tree.nodes.len()).map(Some));
        for parent in parents {
            let Some(from) = parent.map_or(Some(0), |parent| self.layout.rows[parent]) else { continue };
            for (child, row) in self.layout.shown(self.tree, parent) {
                edges.push((self.tree.nodes[child].look(), parent, child, from, row));
            }
        }
        edges.sort_by_key(|(look, ..)| {
            [Look::Pruned, Look::Kept, Look::Result, Look::Greedy, Look::Best]
                .iter()
                .position(|other| other == look)
        });
        let middle = |row: usize| top + row as f64 * ROW + MIDDLE;
        for (look, parent, child, from, row) in edges {
            let start = parent.map_or(MARGIN + 6.0, |parent| {
                let (left, width) = self.columns[self.tree.nodes[parent].step];
                left + width
            });
            let end = self.columns[self.tree.nodes[child].step].0;
            let (class, number) = (format!("edge edge-{}", name(look)), child.to_string());
            let way = way((start, middle(from)), (end, middle(row)));
            document.empty("path", &[("d", &way), ("class", &class), ("data-to", &number)]);
        }
        let (x, y) = (number(MARGIN + 6.0), number(middle(0)));
        document.empty("circle", &[("cx", &x), ("cy", &y), ("r", "6"), ("class", "root")]);
    }

    fn draw_node(&self, document: &mut Document, index: usize, top: f64, wanted: For) {
        let Some(row) = self.layout.rows[index] else { return };
        let node = &self.tree.nodes[index];
        let (left, width) = self.columns[node.step];
        let top = top + row as f64 * ROW;
        let class = format!("node {}", name(node.look()));
        if wanted == For::Page {
            let (number, spoken) =
                (index.to_string(), format!("{}: {}", visible(&node.text), node.story(self.tree)));
            let known =
                [("class", class.as_str()), ("data-node", &number), ("tabindex", "-1"), ("role", "img")];
            document.open("g", &[&known[..], &[("aria-label", spoken.as_str())]].concat());
        } else {
            document.open("g", &[("class", &class)]);
        }
        if wanted == For::File {
            document.leaf("title", &[], &self.hint(index));
        }
        let words = node.short();
        let height = number(if words.is_empty() { 40.0 } else { 54.0 });
        let (x, y, wide) = (number(left), number(top), number(width));
        let frame = [("x", x.as_str()), ("y", &y), ("width", &wide), ("height", &height), ("rx", "7")];
        document.empty("rect", &frame);
        let text = left + PADDING;
        document.label(text, top + 17.0, "token", &isolate(&shorten(&node.text, LONGEST_TOKEN)));
        document.label(text, top + 32.0, "numbers", &numbers(node));
        if !words.is_empty() {
            document.label(text, top + 46.0, "words", &words);
        }
        document.close();
    }

    /// What a node tells whoever points at it.
    fn hint(&self, index: usize) -> String {
        let node = &self.tree.nodes[index];
        let tokens =
            self.tree.path(index).into_iter().map(|node| isolate(&shorten(&self.tree.nodes[node].text, 40)));
        let score = node.score.map(|score| format!(", score {}", decimal(score))).unwrap_or_default();
        format!(
            "{}\nlog p of the token {}, of all {}{score}\n{}",
            tokens.collect::<Vec<_>>().join(" "),
            decimal(f64::from(node.log_probability)),
            decimal(node.sum),
            node.story(self.tree)
        )
    }
}

/// A line from the right edge of a box to the left edge of another, with round corners.
fn way(from: (f64, f64), to: (f64, f64)) -> String {
    let ([x1, y1], [x2, y2]) = ([from.0, from.1].map(number), [to.0, to.1].map(number));
    if to.1 <= from.1 {
        return format!("M{x1} {y1}H{x2}");
    }
    let turn = from.0 + CHANNEL / 2.0;
    let [before, at, behind] = [turn - CORNER, turn, turn + CORNER].map(number);
    let [below, above] = [from.1 + CORNER, to.1 - CORNER].map(number);
    format!("M{x1} {y1}H{before}Q{at} {y1} {at} {below}V{above}Q{at} {y2} {behind} {y2}H{x2}")
}

fn numbers(node: &Node) -> String {
    format!("p {} · {}", probability(node.log_probability), decimal(node.sum))
}

fn inner_width(node: &Node) -> f64 {
    let token = text_width(&shorten(&node.text, LONGEST_TOKEN), 14.0);
    token.max(text_width(&numbers(node), 11.0)).max(text_width(&node.short(), 11.0))
}

/// The class of what is drawn so.
fn name(look: Look) -> &'static str {
    match look {
        Look::Best => "best",
        Look::Greedy => "greedy",
        Look::Result => "result",
        Look::Pruned => "pruned",
        Look::Kept => "kept",
    }
}

fn header(tree: &Tree) -> Vec<Line> {
    let summary = tree.summary();
    let mut lines = Vec::new();
    if let Some((beam, (text, numbers))) = summary.best {
        lines.push(Line { look: Some(Look::Best), name: format!("{beam}:"), text, numbers });
    }
    if let Some((text, numbers)) = summary.greedy {
        lines.push(Line { look: Some(Look::Greedy), name: "greedy search:".to_owned(), text, numbers });
    }
    if summary.same {
        lines.push(Line::note("Greedy search writes the same."));
    }
    lines.push(Line::note(LEGEND));
    lines
}
