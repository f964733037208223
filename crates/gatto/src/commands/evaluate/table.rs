//! Rows of cells, in columns as wide as their widest cell.

use unicode_width::UnicodeWidthStr;

/// Where a cell stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The rows as text, indented by two, two spaces between columns; `sides` has one entry per column.
pub(super) fn text(sides: &[Side], rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..sides.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), side) in row.iter().zip(&widths).zip(sides) {
            let blank = " ".repeat(width - cell.width());
            line += "  ";
            line += &if *side == Side::Left { format!("{cell}{blank}") } else { format!("{blank}{cell}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_a_terminal_shows() {
        let rows = [["猫", "7"], ["cats", "12"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(text(&[Side::Left, Side::Right], &rows), "  猫     7\n  cats  12\n");
    }
}
