//! A tree as text: a line for each candidate, what was let go of before what was followed.
//!
//! ```text
//! step                  p   log p
//!      ● start
//!   1  ┠─◆ un       0.50   −0.69  greedy
//!   2  ┃ ├─× cane   0.20   −2.30  beaten by 0.51
//!   2  ┃ ◆ gatto    0.40   −1.61  overtaken; greedy
//!   1  ● il         0.45   −0.80
//! ```
//!
//! The path of the best result is a straight line at the left. A hypothesis that leaves it is a line of its own, one
//! place further to the right; so the tree is as wide as hypotheses branch, and as long as it must be.

use super::words::{decimal, probability};
use super::{Look, Node, Tree};
use crate::label::{Align, columns, fit};
use crate::terminal::{Colour, Colours, NARROWEST, indexed, line};

/// The columns of the step in front of the tree.
const STEP: usize = 5;
/// The columns of p and log p behind it.
const NUMBERS: usize = 15;
/// The tree and its tokens have at least so many columns.
const NARROWEST_TREE: usize = 10;
/// Words have at least so many columns, or none.
const NARROWEST_WORDS: usize = 6;

// Bright enough for a dark terminal, and dark enough for a light one.
const BEST: Colour = [0x2f, 0x93, 0xd4];
const GREEDY: Colour = [0xe0, 0x70, 0x10];
const QUIET: Colour = [0x8a, 0x8a, 0x8a];

/// Draws the tree in at most `width` columns (32 at least).
pub fn terminal(tree: &Tree, width: usize, colours: Colours) -> String {
    let mut drawing = Drawing { tree, colours, rows: Vec::new() };
    drawing.grow(None, String::new());
    drawing.text(width.max(NARROWEST))
}

struct Drawing<'a> {
    tree: &'a Tree,
    colours: Colours,
    rows: Vec<Row>,
}

/// A node, and the lines of others in front of its sign.
struct Row {
    node: usize,
    before: String,
}

impl Drawing<'_> {
    /// Adds the rows of what stands behind a node whose sign has `before` in front of it: first what branches off, then
    /// what goes on in the same column.
    fn grow(&mut self, mut node: Option<usize>, before: String) {
        loop {
            let children = self.tree.behind(node).to_vec();
            let goes_on = |&&first: &&usize| self.tree.nodes[first].look() != Look::Pruned;
            let next = children.first().filter(goes_on).copied();
            let branches = &children[usize::from(next.is_some())..];
            let best = next.is_some_and(|next| self.tree.nodes[next].look() == Look::Best);
            for (place, &branch) in branches.iter().enumerate() {
                let last = next.is_none() && place + 1 == branches.len();
                let (fork, beside) = match (best, last) {
                    (true, _) => ("┠─", "┃ "),
                    (false, false) => ("├─", "│ "),
                    (false, true) => ("└─", "  "),
                };
                self.rows.push(Row { node: branch, before: format!("{before}{fork}") });
                self.grow(Some(branch), format!("{before}{beside}"));
            }
            let Some(next) = next else { return };
            self.rows.push(Row { node: next, before: before.clone() });
            node = Some(next);
        }
    }

    fn text(&self, width: usize) -> String {
        let (tree, mut text) = (self.tree, String::new());
        if !tree.title.is_empty() {
            line(&mut text, &fit(&tree.title, width, Align::Left));
        }
        self.summary(&mut text, width);
        let label = |row: &Row| row.before.chars().count() + 2 + columns(&tree.nodes[row.node].text);
        let words = |row: &Row| self.words(&tree.nodes[row.node]).chars().count();
        let wanted = self.rows.iter().map(label).max().unwrap_or(0).max(NARROWEST_TREE);
        let longest = self.rows.iter().map(words).max().unwrap_or(0);
        // Words may be cut, but only when the tree has been.
        let room = width - STEP - NUMBERS;
        let trunk = wanted.min(room.saturating_sub(longest + 2)).max(NARROWEST_TREE);
        let said = room.saturating_sub(trunk + 2);
        let said = if said < NARROWEST_WORDS.min(longest) { 0 } else { said.min(longest) };
        line(&mut text, "");
        line(&mut text, &format!("{:STEP$}{:trunk$}{:>6} {:>8}", "step", "", "p", "log p"));
        line(&mut text, &format!("{:STEP$}{}", "", self.paint("● start", self.look_of_start())));
        for row in &self.rows {
            self.row(&mut text, row, trunk, said);
        }
        let signs = "● best ◆ greedy ○ kept × pruned";
        let signs =
            if self.tree.greedy_differs() { signs.to_owned() } else { signs.replace("◆ greedy ", "") };
        line(&mut text, &format!("\n{signs}"));
        text
    }

    /// What search writes, and greedy search.
    fn summary(&self, text: &mut String, width: usize) {
        let summary = self.tree.summary();
        let best = summary.best.map(|(name, (wrote, numbers))| (name, wrote, numbers, Look::Best));
        let greedy =
            summary.greedy.map(|(wrote, numbers)| ("greedy search".to_owned(), wrote, numbers, Look::Greedy));
        for (name, wrote, numbers, look) in best.into_iter().chain(greedy) {
            let room = width.saturating_sub(name.chars().count() + numbers.chars().count() + 3);
            // Without room for both, the numbers go to a line of their own.
            let (room, numbers) = match room {
                12.. => (room.min(columns(&wrote)), format!(" {numbers}")),
                _ => (
                    width - name.chars().count() - 2,
                    format!("\n  {}", fit(&numbers, width - 2, Align::Left)),
                ),
            };
            let wrote = fit(&wrote, room, Align::Left);
            line(text, &format!("{}: {}{numbers}", self.paint(&name, look), wrote.trim_end()));
        }
        if summary.same {
            line(text, &fit("greedy search writes the same", width, Align::Left));
        }
    }

    fn look_of_start(&self) -> Look {
        self.tree.first.first().map_or(Look::Kept, |&first| self.tree.nodes[first].look())
    }

    fn row(&self, text: &mut String, row: &Row, trunk: usize, said: usize) {
        let node = &self.tree.nodes[row.node];
        let look = node.look();
        // Of many branches the last ones are seen.
        let deepest = trunk / 2;
        let depth = row.before.chars().count();
        let before: String = match depth > deepest {
            true => std::iter::once('…').chain(row.before.chars().skip(depth + 1 - deepest)).collect(),
            false => row.before.clone(),
        };
        let room = trunk - before.chars().count() - 2;
        let token = fit(&node.text, room, Align::Left);
        let sum = fit(&decimal(node.sum), 8, Align::Right);
        let numbers = format!("{:>6} {sum}", probability(node.log_probability));
        let words = match self.words(node) {
            words if said > 0 && !words.is_empty() => format!("  {}", fit(&words, said, Align::Left)),
            _ => String::new(),
        };
        let rest = match look {
            Look::Pruned => self.paint(&format!("{token}{numbers}{words}"), look),
            _ => format!("{}{numbers}{words}", self.paint(&token, look)),
        };
        let step = format!("{:>3}  ", node.step + 1);
        let sign = self.paint(sign(look), look);
        line(text, &format!("{step}{}{sign} {rest}", self.lines(&before)));
    }

    /// What became of a node, beside it.
    fn words(&self, node: &Node) -> String {
        let greedy = node.look() == Look::Greedy;
        match (node.short(), greedy) {
            (short, false) => short,
            (short, true) if short.is_empty() => "greedy".to_owned(),
            (short, true) if short.starts_with("greedy") => short,
            (short, true) => format!("{short}; greedy"),
        }
    }

    /// The lines in front of a node, that of the best path in its colour.
    fn lines(&self, before: &str) -> String {
        match self.colours {
            Colours::None => before.to_owned(),
            _ => before
                .chars()
                .map(|sign| match sign {
                    '┃' | '┠' => self.paint(&sign.to_string(), Look::Best),
                    _ => sign.to_string(),
                })
                .collect(),
        }
    }

    fn paint(&self, content: &str, look: Look) -> String {
        let (bold, colour) = match look {
            Look::Best => ("1;", BEST),
            Look::Greedy => ("1;", GREEDY),
            Look::Result => ("", BEST),
            Look::Pruned => ("", QUIET),
            Look::Kept => return content.to_owned(),
        };
        let [red, green, blue] = colour;
        match self.colours {
            Colours::None => content.to_owned(),
            Colours::Indexed => format!("\x1b[{bold}38;5;{}m{content}\x1b[0m", indexed(colour)),
            Colours::True => format!("\x1b[{bold}38;2;{red};{green};{blue}m{content}\x1b[0m"),
        }
    }
}

fn sign(look: Look) -> &'static str {
    match look {
        Look::Best => "●",
        Look::Greedy => "◆",
        Look::Result | Look::Kept => "○",
        Look::Pruned => "×",
    }
}
