//! A heatmap as text: coloured blocks with numbers in a terminal, shades with numbers elsewhere.
//!
//! It fits a given width. While there is room, a cell holds its number and columns are headed by their tokens. With
//! more tokens, cells are two columns of blocks, columns are headed by their positions, and a list below says which
//! token is which. What is wider still is split into parts, one below the other.

use std::fmt::Write;

use super::colour::{self, Colour, Ground, colour, ink, step};
use super::label::{Align, columns, fit, visible};
use super::numbers::Numbers;
use super::{Heatmap, Panel, Scale, Token};

/// Which colours the terminal knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// None: shades and numbers. For files, pipes and `NO_COLOR`.
    None,
    /// A palette of 256.
    Indexed,
    /// Red, green and blue, eight bits each.
    True,
}

/// Narrower terminals are written to as if they were this wide.
const NARROWEST: usize = 32;
const WIDEST_LABEL: usize = 20;
/// Cells with numbers: wide enough for `0.93` or `−12.3` and the space around it, no wider than looks like a cell.
const NUMBER_CELL: std::ops::RangeInclusive<usize> = 7..=10;
const BLOCK_CELL: usize = 2;
const PROBABILITY_WIDTH: usize = 5;

/// Draws the panels one below the other in at most `width` columns (32 at least).
pub fn terminal(heatmap: &Heatmap, width: usize, colours: Colours) -> String {
    let grid = Grid::new(heatmap, width.max(NARROWEST), colours);
    let mut text = String::new();
    if !heatmap.title.is_empty() {
        line(&mut text, &fit(&heatmap.title, grid.width, Align::Left));
    }
    for panel in &heatmap.panels {
        grid.panel(&mut text, panel);
    }
    if !grid.numbered {
        grid.list(&mut text);
    }
    text
}

/// The measures of a drawing, in columns of the terminal.
struct Grid<'a> {
    heatmap: &'a Heatmap,
    colours: Colours,
    width: usize,
    /// The label of a row, with the space behind it.
    label: usize,
    /// The probability of a row's token, with the space behind it; zero if there is none.
    probability: usize,
    cell: usize,
    /// Whether cells hold numbers.
    numbered: bool,
    /// How many cells stand in a line.
    across: usize,
}

impl<'a> Grid<'a> {
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
            for (row, token) in self.heatmap.target.iter().enumerate() {
                let mut row_text = fit(&token.text, self.label - 1, Align::Right) + " ";
                if let Some(probabilities) = &self.heatmap.probabilities {
                    // Writing to a string cannot fail.
                    let _ = write!(row_text, "{:.2} ", probabilities[row]);
                }
                for &column in part {
                    row_text += &self.cell(panel.values[row][column], &numbers, panel.scale);
                }
                line(text, &row_text);
            }
        }
        self.legend(text, panel.scale, &numbers);
    }

    /// What stands over the columns: their tokens, or their positions with the digits one below the other.
    fn head(&self, text: &mut String, part: &[usize]) {
        let before = self.label + self.probability;
        if self.numbered {
            let token =
                |&column: &usize| fit(&self.heatmap.source[column].text, self.cell - 1, Align::Middle) + " ";
            return line(text, &(" ".repeat(before) + &part.iter().map(token).collect::<String>()));
        }
        let digits = self.heatmap.source.len().to_string().len();
        for place in 0..digits {
            let mut positions = " ".repeat(before);
            for column in part {
                let position = format!("{:digits$}", column + 1);
                // The leading digits only where they change.
                let changes = place + 1 == digits || (column + 1) % 10 == 0 || Some(column) == part.first();
                let digit = if changes { &position[place..=place] } else { " " };
                let _ = write!(positions, "{digit:>BLOCK_CELL$}");
            }
            line(text, &positions);
        }
    }

    fn cell(&self, value: f32, numbers: &Numbers, scale: Scale) -> String {
        let place = step(value, numbers.limit);
        match (self.colours, self.numbered, scale) {
            (Colours::None, true, _) => {
                fit(&format!("{}{}", numbers.padded(value), shade(place)), self.cell - 1, Align::Right) + " "
            }
            (Colours::None, false, Scale::Share) => shade(place).to_string().repeat(BLOCK_CELL),
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
    fn legend(&self, text: &mut String, scale: Scale, numbers: &Numbers) {
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
        let before = " ".repeat((self.label + self.probability).min(self.width.saturating_sub(wide)));
        line(text, &format!("{before}{} {bar} {}", low.1, high.1));
    }

    /// Which token stands at which position, in lines that fit.
    fn list(&self, text: &mut String) {
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

fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
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

/// The nearest colour of the palette of 256: one of its cube of 6 × 6 × 6, or of its 24 greys.
fn indexed(colour: Colour) -> u8 {
    let distance = |other: Colour| -> i32 {
        colour.iter().zip(other).map(|(a, b)| (i32::from(*a) - i32::from(b)).pow(2)).sum()
    };
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let cube = (16..=231).map(|index: u8| {
        let place = index - 16;
        (index, [place / 36, place / 6 % 6, place % 6].map(|level| LEVELS[usize::from(level)]))
    });
    let greys = (232..=255).map(|index: u8| (index, [8 + 10 * (index - 232); 3]));
    cube.chain(greys).min_by_key(|(_, known)| distance(*known)).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::super::samples::{attention, hostile, panel, words};
    use super::*;

    fn small() -> Heatmap {
        let values = vec![vec![0.9, 0.1, 0.0], vec![0.25, 0.5, 0.25]];
        let panels = vec![panel("attention", Scale::Share, values)];
        Heatmap::new("the cat sleeps", words("the cat sleeps"), words("il gatto"), panels).unwrap()
    }

    /// Without what sets colours.
    fn plain(text: &str) -> String {
        let mut parts = text.split("\x1b[");
        let first = parts.next().unwrap().to_owned();
        first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
    }

    #[test]
    fn without_colours_cells_are_numbers_and_shades() {
        let expected = "\
the cat sleeps

attention
       the    cat   sleeps
   il  0.90█  0.10░     0
gatto  0.25░  0.50▒  0.25░
      0  ░░▒▒▓▓██ 1
";
        assert_eq!(terminal(&small(), 80, Colours::None), expected);
    }

    #[test]
    fn signed_values_have_signs() {
        let panels =
            vec![panel("erasure", Scale::Signed, vec![vec![-1.2, 0.0, 0.31], vec![2.0, -0.04, 0.5]])];
        let heatmap = Heatmap::new("", words("the cat sleeps"), words("il gatto"), panels).unwrap();
        let expected = "
erasure
       the    cat   sleeps
   il  −1.2▓     0   +0.3░
gatto  +2.0█     0   +0.5░
      −2 █▓▒░ ░▒▓█ +2
";
        assert_eq!(terminal(&heatmap, 80, Colours::None), expected);
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        let text = terminal(&small(), 80, Colours::True);
        assert!(text.contains("\x1b[48;2;28;31;38;38;2;255;255;255m   0   \x1b[0m"), "{text:?}");
        assert_eq!(plain(&text), plain(&terminal(&small(), 80, Colours::Indexed)));
        assert!(plain(&text).contains("gatto  0.25   0.50   0.25"), "{}", plain(&text));
        assert!(terminal(&small(), 80, Colours::Indexed).contains("\x1b[48;5;"));
    }

    #[test]
    fn the_palette_is_searched_for_the_nearest_colour() {
        assert_eq!([[0, 0, 0], [255, 255, 255], [255, 0, 0], [9, 8, 7]].map(indexed), [16, 231, 196, 232]);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = "word ".repeat(80);
        let chinese = "图书馆 ".repeat(30);
        let mut samples = vec![small(), hostile(), attention(&long, &chinese), attention(&chinese, &long)];
        samples.push(attention(
            "a",
            "averyverylongtokenthatneverendsandneverwill 机器学习机器学习机器学习机器学习",
        ));
        for heatmap in samples {
            let heatmap = heatmap.clone().with_probabilities(vec![0.5; heatmap.target().len()]).unwrap();
            for width in [0, 32, 33, 40, 80, 81, 200] {
                for colours in [Colours::None, Colours::Indexed, Colours::True] {
                    for line in plain(&terminal(&heatmap, width, colours)).lines() {
                        assert!(line.width() <= width.max(NARROWEST), "{width}: {line:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_aligned_whatever_their_script() {
        let heatmap = attention("القطة على 机器 table", "قطة 学习 e\u{301}te\u{301} cat");
        let text = plain(&terminal(&heatmap, 80, Colours::True));
        let rows: Vec<usize> = text.lines().skip(4).take(4).map(UnicodeWidthStr::width).collect();
        assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{rows:?}\n{text}");
        assert!(text.contains("\u{2068}قطة\u{2069} "), "isolated and whole: {text}");
    }

    #[test]
    fn many_columns_have_positions_and_a_list() {
        let text = terminal(&attention(&"tok ".repeat(80), "a b c"), 60, Colours::None);
        assert!(text.contains("\n   1 2 3 4 5 6 7 8 9 0 1"), "{text}");
        assert!(text.contains("79 tok  80 tok\n"), "{text}");
        let parts = text.lines().filter(|line| line.starts_with('c')).count();
        assert_eq!(parts, 3, "80 columns of 2 in lines of 58: {text}");
    }

    #[test]
    fn nothing_in_a_token_reaches_the_terminal_as_a_command() {
        let text = terminal(&hostile(), 200, Colours::None);
        assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
        assert!(!text.contains('\u{202e}'));
    }
}
