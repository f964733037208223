//! Heatmaps as text.

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
    let panels = vec![panel("erasure", Scale::Signed, vec![vec![-1.2, 0.0, 0.31], vec![2.0, -0.04, 0.5]])];
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
    samples
        .push(attention("a", "averyverylongtokenthatneverendsandneverwill 机器学习机器学习机器学习机器学习"));
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
