//! All heads of an attention as text: those of a layer side by side, as many as fit.

use super::heads::Grid as Heads;
use super::numbers::Numbers;
use super::terminal::{BLOCK_CELL, Grid};
use super::{Heatmap, Panel};
use crate::label::{Align, fit, visible};
use crate::terminal::{Colours, NARROWEST, line};

/// Between two heads.
const GAP: usize = 2;
/// A head is at least as wide as `head 12` over it.
const NARROWEST_HEAD: usize = 7;

/// Whether heads can be compared in `width` columns: at least two of a layer stand whole side by side. Else one of them
/// is better seen alone.
pub fn fit_side_by_side(heatmap: &Heatmap, width: usize) -> bool {
    let grid = Grid::blocks(heatmap, width.max(NARROWEST), Colours::None);
    let wanted = heatmap.grid().map_or(1, |heads| heads.heads.min(2));
    room(&grid) >= wanted
}

/// From one head to the next.
fn pitch(grid: &Grid) -> usize {
    (grid.heatmap.source.len() * BLOCK_CELL).max(NARROWEST_HEAD) + GAP
}

/// How many heads fit into a line.
fn room(grid: &Grid) -> usize {
    (grid.width - grid.before() + GAP) / pitch(grid)
}

/// Draws the heads of each layer in lines of at most the grid's width.
pub(super) fn draw(text: &mut String, grid: &Grid, heads: &Heads) {
    let numbers = Numbers::common(&grid.heatmap.panels);
    line(text, "");
    line(text, &fit(&visible(&heads.name), grid.width, Align::Left));
    let (wide, across) = (pitch(grid), room(grid).max(1));
    for (layer, panels) in heads.layers.clone().zip(grid.heatmap.panels.chunks(heads.heads)) {
        for (part, panels) in panels.chunks(across).enumerate() {
            line(text, "");
            line(text, &names(grid, layer, part * across, panels.len(), wide));
            rows(text, grid, panels, &numbers, wide);
        }
    }
    grid.legend(text, grid.heatmap.panels[0].scale, &numbers);
    grid.list(text);
}

/// The number of the layer, and those of its heads over them. Where the layer's leaves no room, it is a line above.
fn names(grid: &Grid, layer: usize, first: usize, heads: usize, wide: usize) -> String {
    let before = grid.before();
    let name = format!("layer {layer}");
    let start = match name.len() < before {
        true => format!("{name:before$}"),
        false => format!("{name}\n{}", " ".repeat(before)),
    };
    let head = |head: usize| format!("{:wide$}", format!("head {}", first + head + 1));
    start + &(0..heads).map(head).collect::<String>()
}

/// The positions of the columns of each head, and then a line per row.
fn rows(text: &mut String, grid: &Grid, panels: &[Panel], numbers: &Numbers, wide: usize) {
    let columns: Vec<usize> = (0..grid.heatmap.source.len()).collect();
    let padding = " ".repeat(wide - columns.len() * BLOCK_CELL);
    for digits in grid.positions(&columns) {
        line(text, &(" ".repeat(grid.before()) + &(digits + &padding).repeat(panels.len())));
    }
    for row in 0..grid.heatmap.target.len() {
        let mut row_text = grid.row_head(row);
        for panel in panels {
            for &value in &panel.values[row] {
                row_text += &grid.cell(value, numbers, panel.scale);
            }
            row_text += &padding;
        }
        line(text, &row_text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{diagonal, heads, words};
    use super::super::terminal;
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_heads_of_a_layer_stand_side_by_side() {
        let expected = "\
a sample

attention

layer 1
      head 1    head 2
       1 2 3 4   1 2 3 4
   il ██▒▒        ██▒▒
gatto ░░▓▓░░      ░░▓▓░░
dorme   ░░▓▓░░  ░░  ░░▓▓
  qui     ▒▒██  ██    ▒▒

layer 2
      head 1    head 2
       1 2 3 4   1 2 3 4
   il   ██▒▒        ██▒▒
gatto   ░░▓▓░░  ░░  ░░▓▓
dorme ░░  ░░▓▓  ▓▓░░  ░░
  qui ██    ▒▒  ▒▒██
      0  ░░▒▒▓▓██ 0.8

1 the  2 cat  3 sleeps  4 here
";
        assert_eq!(terminal(&heads(2, 2), 80, Colours::None), expected);
    }

    #[test]
    fn heads_that_do_not_fit_stand_below() {
        let text = terminal(&heads(1, 5), 32, Colours::None);
        assert!(text.contains("head 1    head 2") && text.contains("head 5"), "{text}");
        for tokens in [1, 3, 12, 20] {
            let axis = words(&"机器学习 ".repeat(tokens));
            let matrices = vec![vec![diagonal(tokens, tokens); 3]; 2];
            let heatmap = Heatmap::of_heads("t", "self-attention", axis.clone(), axis, matrices).unwrap();
            let heatmap = heatmap.with_probabilities(vec![0.5; tokens]).unwrap();
            for width in [0, 32, 40, 80, 200] {
                for line in terminal(&heatmap, width, Colours::None).lines() {
                    assert!(line.width() <= width.max(32), "{tokens} {width}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn two_heads_fit_or_not() {
        let wide = words(&"a ".repeat(20));
        let of = |heads: usize| {
            let layers = vec![vec![diagonal(20, 1); heads]];
            Heatmap::of_heads("", "x", wide.clone(), words("b"), layers).unwrap()
        };
        // `b `, 20 cells of two columns, and so once more behind a gap.
        assert_eq!([41, 42].map(|width| fit_side_by_side(&of(1), width)), [false, true]);
        assert_eq!([83, 84].map(|width| fit_side_by_side(&of(5), width)), [false, true]);
        // Those that do not are drawn one below the other, with their numbers.
        assert!(terminal(&of(5), 83, Colours::None).contains("\nlayer 1, head 5\n"));
    }
}
