//! Overlays as text.

use unicode_width::UnicodeWidthStr;

use super::super::samples::{GRID, boxed, caption, hostile, image, maps};
use super::*;
use crate::overlay::Focus;

/// Without what sets colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn without_colours_regions_are_digits() {
    let weights =
        |at: usize| (0..4).map(|region| if region == at { 0.6 } else { 0.2 * region as f32 / 3.0 }).collect();
    let grid = Grid { rows: 2, columns: 2 };
    let words = vec![Focus::new("cat", weights(1)).with_probability(0.93), Focus::new("sleeps", weights(2))];
    let overlay = Overlay::of_words("a title", image(8, 8), grid, words).unwrap();
    let expected = "\
a title
attention

cat           0.93  sleeps
· 9                 · 1
2 3                 9 3
most 0.60           most 0.60

· nothing, 9 the most of the word
";
    assert_eq!(terminal(&overlay, 80, Colours::None, Shown::default()), expected);
}

#[test]
fn colours_are_half_blocks_of_the_image_and_the_focus() {
    let overlay = boxed();
    let text = terminal(&overlay, 80, Colours::True, Shown::default());
    assert!(text.contains("\x1b[38;2;230;210;60;48;2;230;210;60m▀"), "the image: {text:?}");
    let lines: Vec<String> = plain(&text).lines().map(str::to_owned).collect();
    assert_eq!(lines[2], format!("{:18}  {:18}  {:18}", "image", "square", "yellow").trim_end());
    let blocks = ["▀".repeat(18), "▀".repeat(18), "▀".repeat(18)].join("  ");
    assert_eq!(lines[3..12], vec![blocks; 9]);
    assert_eq!(lines[12].trim_start(), "most 0.24 ✓ 94 %    most 0.64 ✗ 0 %");
    assert_eq!(plain(&text), plain(&terminal(&overlay, 80, Colours::Indexed, Shown::default())));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long = "averyverylongtokenthatneverends 机器学习机器学习机器 القطة a cat ".repeat(5);
    let fine = Grid { rows: 60, columns: 100 };
    let words = vec![Focus::new("cat", vec![0.5; fine.len()])];
    let fine = Overlay::of_words("", image(60, 100), fine, words).unwrap();
    for overlay in [
        caption(&long, image(64, 64)),
        caption("a cat", image(8, 200)),
        caption("a", image(200, 8)),
        hostile(),
        fine,
    ] {
        for width in [0, 32, 40, 80, 81, 200] {
            for colours in [Colours::None, Colours::Indexed, Colours::True] {
                for line in plain(&terminal(&overlay, width, colours, Shown::default())).lines() {
                    assert!(line.width() <= width.max(NARROWEST), "{width}: {line:?}");
                }
            }
        }
    }
}

#[test]
fn nothing_in_a_word_reaches_the_terminal_as_a_command() {
    let text = terminal(&hostile(), 200, Colours::None, Shown::default());
    assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn many_regions_keep_their_largest_weight() {
    let mut weights = vec![0.0; 100];
    weights[57] = 1.0;
    let grid = Grid { rows: 10, columns: 10 };
    let pooled = pooled(&weights, grid, [3, 4]);
    assert_eq!(pooled.iter().filter(|&&weight| weight == 1.0).count(), 2, "{pooled:?}");
    assert_eq!(sampled(&weights, grid, [10, 10]), weights);
}

#[test]
fn maps_have_rollout_or_the_last_layer() {
    let text = maps_terminal(&maps(2, 3), 80, Colours::None);
    assert!(text.contains("attention rollout") && !text.contains("head"), "{text}");
    let heads =
        maps(2, 3).heads.iter().map(|layer| layer.iter().map(|map| map.weights.clone()).collect()).collect();
    let maps = Maps::new("", image(8, 8), GRID, Vec::new(), heads).unwrap();
    let text = maps_terminal(&maps, 80, Colours::None);
    assert!(text.contains("layer 2, head 3"), "{text}");
}
