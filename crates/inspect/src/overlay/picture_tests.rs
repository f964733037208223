//! Overlays as SVG and PNG.

use gatto_data::images::{Grid, Image};
use resvg::tiny_skia::Pixmap;

use super::super::light::{Shade, glow};
use super::super::samples::{GRID, boxed, caption, hostile, image, round};
use super::*;
use crate::raster::parse;
use crate::svg::assert_well_formed;

#[test]
fn a_tile_is_the_image_a_focus_and_numbers() {
    let picture = svg(&boxed(), Shown::default());
    assert_well_formed(&picture);
    assert_eq!(picture.matches("href=\"#image\"").count(), 1);
    assert_eq!(picture.matches("href=\"#shade\"").count(), 2);
    assert_eq!(picture.matches("href=\"data:image/png;base64,").count(), 4, "two images and two focuses");
    assert_eq!(picture.matches("class=\"over thing\"").count(), 2);
    assert_eq!(picture.matches("class=\"over peak\"").count(), 2);
    for text in
        [">square<", ">yellow<", ">✓ 94 %<", ">✗ 0 %<", ">most 0.24<", ">attention<", ">most of the word<"]
    {
        assert!(picture.contains(text), "{text}\n{picture}");
    }
}

#[test]
fn on_one_scale_the_legend_has_numbers() {
    let overlay = caption("a cat sleeps", image(64, 64));
    let most = overlay.views()[0].limits(true)[0];
    let picture = svg(&overlay, Shown { alike: true, ..Shown::default() });
    assert!(
        picture.contains(&format!(">{}<", short(most))) && !picture.contains("most of the word"),
        "{picture}"
    );
}

#[test]
fn hostile_text_is_text() {
    let picture = svg(&hostile(), Shown::default());
    assert_well_formed(&picture);
    parse(&picture).unwrap();
    assert!(!picture.contains("<script") && !picture.contains("<img"));
    assert!(png(&hostile(), Shown::default(), 1.0).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn everything_stands_within_the_picture() {
    let long = "Donaudampfschifffahrtsgesellschaft MMMMMMMMMMMMMMMMMM 图书馆图书馆图书馆图书馆 الخشبية a ";
    for (words, [height, width]) in
        [(1, [64, 64]), (3, [8, 8]), (5, [20, 90]), (12, [90, 20]), (1, [1, 500]), (1, [500, 1])]
    {
        let overlay = caption(&long.repeat(words), image(height, width));
        let tree = parse(&svg(&overlay, Shown::default())).unwrap();
        let (size, drawn) = (tree.size(), tree.root().abs_bounding_box());
        assert!(drawn.left() >= -0.5 && drawn.top() >= -0.5, "{drawn:?}");
        let fits = drawn.right() <= size.width() + 0.5 && drawn.bottom() <= size.height() + 0.5;
        assert!(fits && size.width() <= 1100.0, "{drawn:?} {size:?}");
    }
}

#[test]
fn lines_wrap_and_are_about_as_long_as_each_other() {
    let columns = |words: usize| {
        let overlay = caption(&"word ".repeat(words), image(64, 64));
        Picture::new(&overlay, Shown::default()).columns
    };
    assert_eq!([1, 3, 4, 6, 12, 25, 60].map(columns), [2, 4, 3, 4, 5, 6, 6]);
}

/// The colour of a pixel of a PNG.
fn pixel(picture: &Pixmap, x: f64, y: f64) -> [u8; 3] {
    let found = picture.pixel(x as u32, y as u32).unwrap();
    [found.red(), found.green(), found.blue()]
}

#[test]
fn the_focus_is_where_the_weights_are() {
    let grid = Grid { rows: 2, columns: 2 };
    let image = Image::filled(64, 64, &[255, 255, 255]).unwrap();
    let overlay =
        Overlay::of_words("", image, grid, vec![Focus::new("x", vec![0.0, 1.0, 0.0, 0.0])]).unwrap();
    let measured = Picture::new(&overlay, Shown::default());
    let drawn = Pixmap::decode_png(&png(&overlay, Shown::default(), 1.0).unwrap()).unwrap();
    let tile = measured.place(1);
    // Near the outer corners, away from the ring.
    let corner = |x: f64, y: f64| pixel(&drawn, tile.at[0] + x * tile.size[0], tile.at[1] + y * tile.size[1]);
    let light = Shade::of(overlay.image()).light(255);
    let expected = |part: f64| glow(part).map(|channel| (f64::from(channel) * light).round() as u8);
    let near = |one: [u8; 3], other: [u8; 3]| one.iter().zip(other).all(|(a, b)| a.abs_diff(b) <= 2);
    assert!(near(corner(0.95, 0.05), expected(1.0)), "{:?}", corner(0.95, 0.05));
    for (x, y) in [(0.05, 0.05), (0.05, 0.95), (0.95, 0.95)] {
        assert!(near(corner(x, y), expected(0.0)), "{x} {y}: {:?}", corner(x, y));
    }
    let first = measured.place(0);
    assert_eq!(pixel(&drawn, first.at[0] + 30.0, first.at[1] + 30.0), [255; 3], "the image as it is");
}

#[test]
fn the_file_stays_small() {
    // Noise, which no format makes smaller.
    let noise = |index: usize| ((index as u32).wrapping_mul(0x9e37_79b9) >> 21) as u8;
    let bytes = (0..1024 * 1024 * 3).map(noise).collect();
    let image = Image::new(1024, 1024, 3, bytes).unwrap();
    let grid = Grid { rows: 14, columns: 14 };
    let words = (0..20).map(|word| Focus::new("word", round(grid, [word as f32 * 0.6, 5.0], 2.0))).collect();
    let overlay = Overlay::of_words("", image, grid, words).unwrap();
    let size = svg(&overlay, Shown::default()).len();
    assert!(size < 1_500_000, "{size} bytes");
    let one = caption("cat", image_of_noise(&overlay));
    assert!(svg(&one, Shown::default()).len() < 1_500_000);
}

fn image_of_noise(overlay: &Overlay) -> Image {
    overlay.image().clone()
}

#[test]
fn the_image_of_a_picture_is_that_of_any_number_of_channels() {
    let grey = Image::filled(16, 16, &[77]).unwrap();
    let overlay = caption("cat", grey);
    let drawn = Pixmap::decode_png(&png(&overlay, Shown::default(), 2.0).unwrap()).unwrap();
    let first = Picture::new(&overlay, Shown::default()).place(0);
    assert_eq!(pixel(&drawn, 2.0 * first.at[0] + 40.0, 2.0 * first.at[1] + 40.0), [77; 3]);
    assert_eq!(overlay.grid(), GRID);
    for scale in [f32::NAN, 0.0, 1e9] {
        assert!(matches!(png(&overlay, Shown::default(), scale), Err(PngError::Size { .. })));
    }
}
