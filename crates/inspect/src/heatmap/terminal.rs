//! A heatmap as text: coloured blocks with numbers in a terminal, shades with numbers elsewhere.
//!
//! It fits a given width. While there is room, a cell holds its number and columns are headed by their tokens. With
//! more tokens, cells are two columns of blocks, columns are headed by their positions, and a list below says which
//! token is which. What is wider still is split into parts, one below the other.

use std::fmt::Write;

use super::colour::{self, Ground, colour, ink, step};
use super::numbers::Numbers;
use super::{Heatmap, Panel, Scale, Token, side_by_side};
use crate::label::{Align, columns, fit, visible};
use crate::terminal::{Colours, NARROWEST, indexed, line};

const WIDEST_LABEL: usize = 20;
/// Cells with numbers: wide enough for `0.93` or `−12.3` and the space around it, no wider than looks like a cell.
const NUMBER_CELL: std::ops::RangeInclusive<usize> = 7..=10;
pub(super) const BLOCK_CELL: usize = 2;
const PROBABILITY_WIDTH: usize = 5;

/// Draws the panels one below the other in at most `width` columns (32 at least); several heads side by side, if each
/// of them fits.
pub fn terminal(heatmap: &Heatmap, width: usize, colours: Colours) -> String {
    let width = width.max(NARROWEST);
    let mut text = String::new();
    if !heatmap.title.is_empty() {
        line(&mut text, &fit(&heatmap.title, width, Align::Left));
    }
    if let Some(heads) = heatmap.grid().filter(|_| heatmap.panels.len() > 1)
        && side_by_side::fit_side_by_side(heatmap, width)
    {
        side_by_side::draw(&mut text, &Grid::blocks(heatmap, width, colours), heads);
        return text;
    }
    let grid = Grid::new(heatmap, width, colours);
    for panel in &heatmap.panels {
        grid.panel(&mut text, panel);
    }
    if !grid.numbered {
        grid.list(&mut text);
    }
    text
}

/// The measures of a drawing, in columns of the terminal.
pub(super) struct Grid<'a> {
    pub(super) heatmap: &'a Heatmap,
    colours: Colours,
    pub(super) width: usize,
    /// The label of a row, with the space behind it.
    label: usize,
    /// The probability of a row's token, with the space behind it; zero if there is none.
    probability: usize,
    cell: usize,
    /// Whether cells hold numbers.
    numbered: bool,
    /// How many cells stand in a line.
    pub(super) across: usize,
}

impl<'a> Grid<'a> {
    /// Blocks without numbers.
    pub(super) fn blocks(heatmap: &'a Heatmap, width: usize, colours: Colours) -> Self {
        let grid = Self::new(heatmap, width, colours);
        let across = (width - grid.before()) / BLOCK_CELL;
        Self { cell: BLOCK_CELL, numbered: false, across, ..grid }
    }

    fn new(heatmap: &'a Heatmap, width: usize, colours: Colours) -> Self {
        let widest = |tokens: &[Token]| tokens.iter().map(|token| columns(&token.text)).max().unwrap_or(0);
        let label = widest(&heatmap.target).clamp(1, WIDEST_LABEL.min(width / 4)) + 1;
        let probability = if heatmap.probabilities.is_some() { PROBABILITY_WIDTH } else { 0 };
        let (room, sources) = (width - label - probability, heatmap.source.len());
        // A space between the token and its neighbours.
        let wanted = (widest(&heatmap.source) + 1).clamp(*NUMBER_CELL.start(), *NUMBER_CELL.end());
        let numbered = sources * NUMBER_CELL.start() <= room;
        let cell = if numbered { wanted.min(room / sources) } else { BLOCK_CELL };
        Self { heatmap, colours, width, label, probability, cell, numbered, across: (room / cell).max(1) }
    }

    /// One panel: its name, then its columns in as many parts as they need.
    fn panel(&self, text: &mut String, panel: &Panel) {
        let numbers = Numbers::of(panel);
        let unit = if self.numbered { numbers.caption() } else { String::new() };
        let name = format!("{} {unit}", visible(&panel.name));
        line(text, "");
        line(text, &fit(name.trim_end(), self.width, Align::Left));
        let sources: Vec<usize> = (0..self.heatmap.source.len()).collect();
        for part in sources.chunks(self.across) {
            if part.first() != Some(&0) {
                line(text, "");
            }
            self.head(text, part);
            for row in 0..self.heatmap.target.len() {
                let mut row_text = self.row_head(row);
                for &column in part {
                    row_text += &self.cell(panel.values[row][column], &numbers, panel.scale);
                }
                line(text, &row_text);
            }
        }
        self.legend(text, panel.scale, &numbers);
    }

    /// What stands before the cells.
    pub(super) fn before(&self) -> usize {
        self.label + self.probability
    }

    /// The token of a row, and how probable it was.
    pub(super) fn row_head(&self, row: usize) -> String {
        let mut head = fit(&self.heatmap.target[row].text, self.label - 1, Align::Right) + " ";
        if let Some(probabilities) = &self.heatmap.probabilities {
            // Writing to a string cannot fail.
            let _ = write!(head, "{:.2} ", probabilities[row]);
        }
        head
    }

    /// What stands over the columns: their tokens, or their positions with the digits one below the other.
    fn head(&self, text: &mut String, part: &[usize]) {
        let before = " ".repeat(self.before());
        if self.numbered {
            let token =
                |&column: &usize| fit(&self.heatmap.source[column].text, self.cell - 1, Align::Middle) + " ";
            return line(text, &(before + &part.iter().map(token).collect::<String>()));
        }
        self.positions(part).iter().for_each(|digits| line(text, &(before.clone() + digits)));
    }

    /// The numbers of columns, in as many lines as they have digits.
    pub(super) fn positions(&self, part: &[usize]) -> Vec<String> {
        let digits = self.heatmap.source.len().to_string().len();
        let line = |place: usize| {
            let digit = |column: &usize| {
                let position = format!("{:digits$}", column + 1);
                // The leading digits only where they change.
                let changes =
                    place + 1 == digits || (column + 1).is_multiple_of(10) || Some(column) == part.first();
                format!("{:>BLOCK_CELL$}", if changes { &position[place..=place] } else { " " })
            };
            part.iter().map(digit).collect()
        };
        (0..digits).map(line).collect()
    }

    pub(super) fn cell(&self, value: f32, numbers: &Numbers, scale: Scale) -> String {
        let place = step(value, numbers.limit);
        match (self.colours, self.numbered, scale) {
            (Colours::None, true, _) => {
                fit(&format!("{}{}", numbers.padded(value), shade(place)), self.cell - 1, Align::Right) + " "
            }
            (Colours::None, false, Scale::Share | Scale::Largest) => {
                shade(place).to_string().repeat(BLOCK_CELL)
            }
            (Colours::None, false, Scale::Signed) => format!("{}{}", sign(place), shade(place)),
            (_, true, _) => self.paint(&fit(&numbers.padded(value), self.cell, Align::Middle), scale, place),
            (_, false, _) => self.paint(&" ".repeat(BLOCK_CELL), scale, place),
        }
    }

    /// Text on the colour of a step, in that of the two inks which can be read on it.
    fn paint(&self, content: &str, scale: Scale, place: i32) -> String {
        // A terminal does not say whether it is light or dark. Most are dark, and on a light one these colours
        // can be read too: both the ground and the ink of each cell are set.
        let fill = colour(scale, place, Ground::Dark);
        let ([r, g, b], [red, green, blue]) = (fill, ink(fill));
        match self.colours {
            Colours::None => content.to_owned(),
            Colours::Indexed => {
                format!("\x1b[48;5;{};38;5;{}m{content}\x1b[0m", indexed(fill), indexed([red, green, blue]))
            }
            Colours::True => format!("\x1b[48;2;{r};{g};{b};38;2;{red};{green};{blue}m{content}\x1b[0m"),
        }
    }

    /// What the shades or colours mean.
    pub(super) fn legend(&self, text: &mut String, scale: Scale, numbers: &Numbers) {
        let ticks = numbers.ticks();
        let [low, .., high] = &ticks[..] else { return };
        let steps = colour::steps(scale);
        let bar: String = (0..=8)
            .map(|part| steps.start() + part * (steps.end() - steps.start()) / 8)
            .map(|place| match self.colours {
                Colours::None => shade(place).to_string(),
                _ => self.paint(" ", scale, place),
            })
            .collect();
        let wide = columns(&low.1) + columns(&high.1) + 11;
        let before = " ".repeat(self.before().min(self.width.saturating_sub(wide)));
        line(text, &format!("{before}{} {bar} {}", low.1, high.1));
    }

    /// Which token stands at which position, in lines that fit.
    pub(super) fn list(&self, text: &mut String) {
        text.push('\n');
        let mut used = 0;
        for (index, token) in self.heatmap.source.iter().enumerate() {
            let position = (index + 1).to_string();
            let wide = columns(&token.text).min(self.width - position.len() - 1);
            let entry = position.len() + 1 + wide;
            if used > 0 {
                let fits = used + 2 + entry <= self.width;
                text.push_str(if fits { "  " } else { "\n" });
                used = if fits { used + 2 } else { 0 };
            }
            let _ = write!(text, "{position} {}", fit(&token.text, wide, Align::Left));
            used += entry;
        }
        text.push('\n');
    }
}

/// A step without colour.
fn shade(place: i32) -> char {
    match place.abs() {
        0..=1 => ' ',
        2..=8 => '░',
        9..=16 => '▒',
        17..=24 => '▓',
        _ => '█',
    }
}

/// For or against, beside a shade that is not blank.
fn sign(place: i32) -> char {
    match place {
        -1..=1 => ' ',
        2.. => '+',
        _ => '−',
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
