//! A heatmap as a PNG picture.

use super::Heatmap;
use super::picture::Picture;
use crate::raster::{self, PngError};

/// The picture with `scale` pixels for each of the SVG's; 2 is sharp on most screens.
pub fn png(heatmap: &Heatmap, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = Picture::new(heatmap);
    raster::png(picture.size(), scale, || picture.draw(false))
}

#[cfg(test)]
mod tests {
    use super::super::colour::{Ground, colour};
    use super::super::samples::{attention, hostile, panel, words};
    use super::super::{MOST_TOKENS, Scale, svg};
    use super::*;
    use crate::raster::parse;
    use resvg::tiny_skia::Pixmap;

    #[test]
    fn cells_have_the_colours_of_their_values() {
        let panels = vec![panel("attention", Scale::Share, vec![vec![1.0, 0.0]])];
        let heatmap = Heatmap::new("", words("the cat"), words("gatto"), panels).unwrap();
        let picture = Pixmap::decode_png(&png(&heatmap, 1.0).unwrap()).unwrap();
        // Near the upper left corner of the two cells, where no number stands.
        let pixel = |x, y| picture.pixel(x, y).map(|p| [p.red(), p.green(), p.blue()]).unwrap();
        assert_eq!(pixel(89, 67), colour(Scale::Share, 32, Ground::Light));
        assert_eq!(pixel(135, 67), colour(Scale::Share, 0, Ground::Light));
    }

    #[test]
    fn text_is_drawn_without_any_font_of_the_machine() {
        for letters in ["gatto", "γάτα", "кошка", "قطة", "חתול"] {
            let heatmap = attention(letters, letters);
            let tree = parse(&svg(&heatmap)).unwrap();
            assert!(tree.has_text_nodes());
            let fonts = tree.fontdb().faces().count();
            assert_eq!(fonts, 1, "{letters} is in the embedded font, so no other is searched");
        }
    }

    #[test]
    fn too_many_pixels_are_refused_before_they_are_made() {
        let heatmap = attention(&"a ".repeat(MOST_TOKENS), &"b ".repeat(MOST_TOKENS / 2));
        assert!(matches!(png(&heatmap, 1.0), Err(PngError::Size { .. })));
        let small = attention("a", "b");
        for scale in [f32::NAN, f32::INFINITY, -1.0, 0.0, 1e9] {
            assert!(matches!(png(&small, scale), Err(PngError::Size { .. })), "{scale}");
        }
    }

    #[test]
    fn hostile_text_is_drawn() {
        assert!(png(&hostile(), 1.0).unwrap().starts_with(b"\x89PNG"));
    }
}
