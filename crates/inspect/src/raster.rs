//! PNG pictures: an SVG, drawn on a light ground.
//!
//! The letters are those of the embedded font, so a picture is the same on every machine; only for characters that
//! it does not have are the machine's own fonts searched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Color, FilterQuality, Pixmap, PixmapPaint, Transform};
use resvg::usvg::fontdb::{Database, FaceInfo, ID, Source, Style, Weight};
use resvg::usvg::{FontResolver, Options, Tree};

static FONT: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
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

/// An image that lies in a picture, stretched to fill a part of it.
pub(crate) struct Laid {
    pub(crate) pixels: Arc<Pixmap>,
    /// Where its upper left corner is.
    pub(crate) at: [f64; 2],
    /// Its width and height in the picture.
    pub(crate) size: [f64; 2],
}

/// The picture that `draw` gives as an SVG of this size, with `scale` pixels for each of the SVG's.
pub(crate) fn png(size: [f64; 2], scale: f32, draw: impl FnOnce() -> String) -> Result<Vec<u8>, PngError> {
    png_over(size, scale, || (Vec::new(), draw()))
}

/// The same with images below the SVG, one over the other on a white ground. Images that lie in the SVG itself would
/// not be drawn: their decoders are left out.
pub(crate) fn png_over(
    size: [f64; 2],
    scale: f32,
    draw: impl FnOnce() -> (Vec<Laid>, String),
) -> Result<Vec<u8>, PngError> {
    let [width, height] = size.map(|side| (side * f64::from(scale)).ceil());
    // Also false for a scale that is no number.
    let drawable = width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS;
    let pixels = if drawable { Pixmap::new(width as u32, height as u32) } else { None };
    let mut pixels = pixels.ok_or(PngError::Size { width, height })?;
    let (images, svg) = draw();
    let tree = parse(&svg)?;
    if !images.is_empty() {
        pixels.fill(Color::WHITE);
    }
    for image in &images {
        lay(&mut pixels, image, scale);
    }
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

/// Stretches an image over its part of the picture.
fn lay(pixels: &mut Pixmap, image: &Laid, scale: f32) {
    let wide = [image.pixels.width(), image.pixels.height()];
    let [across, down] =
        [0, 1].map(|side| (image.size[side] * f64::from(scale) / f64::from(wide[side])) as f32);
    let [left, top] = image.at.map(|place| place as f32 * scale);
    let paint = PixmapPaint { quality: FilterQuality::Bilinear, ..PixmapPaint::default() };
    let transform = Transform::from_row(across, 0.0, 0.0, down, left, top);
    pixels.draw_pixmap(0, 0, image.pixels.as_ref().as_ref(), &paint, transform, None);
}

/// The scale that is asked for, or the largest below it at which a picture of this size has no more pixels than are made.
pub(crate) fn fitting([width, height]: [f64; 2], scale: f32) -> f32 {
    // A little less, as sides are rounded up.
    let most = ((MOST_PIXELS - width - height - 1.0) / (width * height)).sqrt() * 0.999;
    // A scale that is no number stays one.
    if most < f64::from(scale) { most as f32 } else { scale }
}

/// Reads an SVG and shapes its text.
pub(crate) fn parse(svg: &str) -> Result<Tree, PngError> {
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
