//! Overlays for the tests.

use gatto_data::images::{Grid, Image, PixelBox};

use super::{Focus, Map, Maps, Overlay};

pub(super) const GRID: Grid = Grid { rows: 4, columns: 4 };

/// A picture with a light square in its upper right quarter.
pub(super) fn image(height: usize, width: usize) -> Image {
    let mut image = Image::filled(height, width, &[60, 90, 40]).unwrap();
    for row in 0..height / 2 {
        for column in width / 2..width {
            image.bytes_mut()[(row * width + column) * 3..][..3].copy_from_slice(&[230, 210, 60]);
        }
    }
    image
}

/// A round focus around a point of the grid.
pub(super) fn round(grid: Grid, [row, column]: [f32; 2], wide: f32) -> Vec<f32> {
    let place = |region: usize| [region / grid.columns, region % grid.columns].map(|place| place as f32);
    let weight = |region: usize| {
        let [y, x] = place(region);
        (-((y - row).powi(2) + (x - column).powi(2)) / (2.0 * wide * wide)).exp()
    };
    let weights: Vec<f32> = (0..grid.len()).map(weight).collect();
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// A caption of these words, each of which looks a little further along the image.
pub(super) fn caption(text: &str, image: Image) -> Overlay {
    let count = text.split_whitespace().count().max(2) - 1;
    let word = |(index, word): (usize, &str)| {
        let along = index as f32 / count as f32 * 3.0;
        Focus::new(word, round(GRID, [3.0 - along, along], 0.8)).with_probability(1.0 - 0.04 * along)
    };
    let words = text.split_whitespace().enumerate().map(word).collect();
    Overlay::of_words(format!("sample.png: {text}"), image, GRID, words).unwrap()
}

/// A word that looks where it should, and one that does not.
pub(super) fn boxed() -> Overlay {
    let right = PixelBox::new(16.0, 0.0, 32.0, 16.0);
    let words = vec![
        Focus::new("square", round(GRID, [0.5, 2.5], 0.6)).with_boxes(vec![right]),
        Focus::new("yellow", round(GRID, [3.0, 0.0], 0.6)).with_boxes(vec![right]),
    ];
    Overlay::of_words("", image(32, 32), GRID, words).unwrap()
}

pub(super) const HOSTILE: [&str; 6] = [
    "</script><img src=x onerror=alert(1)>",
    "<!--",
    "]]>&amp;\"'",
    "\u{0}\u{1b}[31m\u{202e}",
    "a\u{2028}b\u{ffff}",
    "",
];

/// Text that breaks what does not escape it.
pub(super) fn hostile() -> Overlay {
    let words = HOSTILE.iter().map(|word| Focus::new(*word, round(GRID, [1.0, 1.0], 1.0))).collect();
    Overlay::of_words(HOSTILE.concat(), image(9, 31), GRID, words).unwrap()
}

/// So many layers of so many heads, and rollout.
pub(super) fn maps(layers: usize, heads: usize) -> Maps {
    let weights = |layer: usize, head: usize| round(GRID, [layer as f32 % 4.0, head as f32 % 4.0], 0.9);
    let layer = |layer: usize| (0..heads).map(|head| weights(layer, head)).collect();
    let rollout = Map::new("attention rollout", round(GRID, [0.5, 2.5], 1.0));
    Maps::new("a sample", image(32, 32), GRID, vec![rollout], (0..layers).map(layer).collect()).unwrap()
}
