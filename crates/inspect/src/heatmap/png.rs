//! A heatmap as a PNG picture: its SVG, drawn on a light ground.
//!
//! The letters are those of the embedded font, so a picture is the same on every machine; only for characters that
//! it does not have are the machine's own fonts searched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, FaceInfo, ID, Source, Style, Weight};
use resvg::usvg::{FontResolver, Options, Tree};

use super::Heatmap;
use super::picture::Picture;

static FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");
/// More pixels are refused before memory is asked for: at four bytes each, these are 256 MiB.
const MOST_PIXELS: f64 = (1u32 << 26) as f64;

/// Why a picture cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// The picture has more pixels than memory should be spent on, or none.
    #[error("a picture of {width} × {height} pixels cannot be made; try another scale, or SVG")]
    Size {
        /// Its width in pixels.
        width: f64,
        /// Its height in pixels.
        height: f64,
    },
    /// The SVG was not understood.
    #[error("the picture cannot be drawn: {0}")]
    Draw(#[from] resvg::usvg::Error),
    /// The pixels could not be written as PNG.
    #[error("the picture cannot be written: {0}")]
    Encode(String),
}

/// The picture with `scale` pixels for each of the SVG's; 2 is sharp on most screens.
pub fn png(heatmap: &Heatmap, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = Picture::new(heatmap);
    let [width, height] = picture.size().map(|side| (side * f64::from(scale)).ceil());
    // Also false for a scale that is no number.
    let drawable = width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS;
    let pixels = if drawable { Pixmap::new(width as u32, height as u32) } else { None };
    let mut pixels = pixels.ok_or(PngError::Size { width, height })?;
    let tree = parse(&picture.draw(false))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

/// Reads an SVG and shapes its text.
pub(super) fn parse(svg: &str) -> Result<Tree, PngError> {
    let (database, font) = embedded().clone();
    let mut options = Options::default();
    *options.fontdb_mut() = database;
    let searched = AtomicBool::new(false);
    options.font_resolver = FontResolver {
        select_font: Box::new(move |_, _| font),
        select_fallback: Box::new(move |character, tried, fonts| {
            // Slow on a machine with many fonts, so only for those who need it.
            if !searched.swap(true, Ordering::Relaxed) {
                add_system_fonts(Arc::make_mut(fonts));
            }
            let search = FontResolver::default_fallback_selector();
            let plain = search(character, &[tried, &unlike(fonts)].concat(), fonts);
            plain.or_else(|| search(character, tried, fonts))
        }),
    };
    Ok(Tree::from_str(svg, &options)?)
}

fn add_system_fonts(fonts: &mut Database) {
    fonts.load_system_fonts();
    // The characters of a colour font are small images, which are not drawn: a box can at least be seen.
    let colourful: Vec<ID> =
        fonts.faces().filter(|face| is_named(face, &["Emoji"])).map(|face| face.id).collect();
    colourful.into_iter().for_each(|face| fonts.remove_face(face));
}

/// The fonts that look least like the embedded one, and so are asked last.
fn unlike(fonts: &Database) -> Vec<ID> {
    let regular = |face: &FaceInfo| face.weight == Weight::NORMAL && face.style == Style::Normal;
    let ornate = |face: &FaceInfo| is_named(face, &["Serif", "Mono", "Ming", "Song"]);
    fonts.faces().filter(|face| !regular(face) || ornate(face)).map(|face| face.id).collect()
}

fn is_named(face: &FaceInfo, parts: &[&str]) -> bool {
    face.families.iter().any(|(family, _)| parts.iter().any(|part| family.contains(part)))
}

/// A database that holds only the embedded font.
fn embedded() -> &'static (Database, Option<ID>) {
    static EMBEDDED: OnceLock<(Database, Option<ID>)> = OnceLock::new();
    EMBEDDED.get_or_init(|| {
        let mut database = Database::new();
        let font = database.load_font_source(Source::Binary(Arc::new(FONT))).first().copied();
        (database, font)
    })
}

#[cfg(test)]
mod tests {
    use super::super::colour::{Ground, colour};
    use super::super::samples::{attention, hostile, panel, words};
    use super::super::{MOST_TOKENS, Scale, svg};
    use super::*;

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
