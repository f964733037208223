//! A picture made of tiles: images with the focus over them, and marks and text around them.
//!
//! It is drawn for a file, in which the images lie as PNG, each of them once; or for pixels, where images are drawn
//! first and all marks and text over them.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatto_data::images::{Grid, Image, PixelBox};
use resvg::tiny_skia::Pixmap;

use super::light;
use crate::axis::brief;
use crate::heatmap::colour::hex;
use crate::heatmap::layout::{BAR_WIDTH, MARGIN, TITLE_FONT};
use crate::heatmap::picture::{DARK_STYLE, STYLE};
use crate::label::{cut, isolate};
use crate::raster::Laid;
use crate::svg::{Document, number};

const OWN_STYLE: &str = "
.word { font-size: 13px; font-weight: 600; }
.under { fill: none; stroke: #000000; stroke-opacity: 0.6; }
.over { fill: none; stroke: #ffffff; }
.thing { stroke-width: 2.2; }
.over.thing { stroke-width: 1.1; stroke-dasharray: 4 3; }
.peak { stroke-width: 2.6; }
.over.peak { stroke-width: 1.2; }
";
/// How many pixels of a focus there are on its longer side, at most: browsers make the rest smooth.
const FOCUS_SIDE: usize = 96;
/// How wide the ring around the middle of the strongest region is.
const RING: f64 = 4.0;
/// How many rectangles a bar of colours has.
const BAR_STEPS: usize = 33;

/// What a picture is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    File,
    Pixels,
}

/// What lies in several tiles and only once in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// The image itself.
    Image = 0,
    /// The image as shade over colours.
    Shade = 1,
}

const NAMES: [&str; 2] = ["image", "shade"];

/// A part of the picture: its upper left corner, and its width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) at: [f64; 2],
    pub(super) size: [f64; 2],
}

/// A picture under construction.
pub(super) struct Sheet {
    pub(super) document: Document,
    purpose: For,
    layers: [Option<Arc<Pixmap>>; 2],
    laid: Vec<Laid>,
}

impl Sheet {
    /// Starts a picture of tiles of an image, which are drawn with at most `side` pixels on their longer side.
    pub(super) fn new(size: [f64; 2], title: &str, image: &Image, side: f64, purpose: For) -> Self {
        let style = format!("{STYLE}{OWN_STYLE}@media (prefers-color-scheme: dark) {{{DARK_STYLE}}}\n");
        let document = Document::new(size[0], size[1], title, &style);
        // Twice the pixels, for sharp screens.
        let image = light::at_most(image, (2.0 * side).ceil() as usize);
        let shade = light::Shade::of(&image).pixels(&image);
        let mut sheet = Self { document, purpose, layers: [None, None], laid: Vec::new() };
        match purpose {
            For::File => {
                sheet.document.empty("rect", &[("width", "100%"), ("height", "100%"), ("class", "ground")]);
                sheet.document.open("defs", &[]);
                sheet.define(Layer::Image, &image.png().unwrap_or_default());
                sheet.define(Layer::Shade, &shade.map(|shade| png(&shade)).unwrap_or_default());
                sheet.document.close();
            }
            For::Pixels => sheet.layers = [light::pixels(&image), shade].map(|pixels| pixels.map(Arc::new)),
        }
        sheet.document.open("g", &[]);
        sheet
    }

    fn define(&mut self, layer: Layer, png: &[u8]) {
        let address = address(png);
        let unit = [("width", "1"), ("height", "1"), ("preserveAspectRatio", "none")];
        let named = [("id", NAMES[layer as usize])];
        self.document.empty("image", &[&named[..], &unit[..], &[("href", &address)]].concat());
    }

    /// The images, one over the other, and what is drawn over them.
    pub(super) fn finish(self) -> (Vec<Laid>, String) {
        (self.laid, self.document.finish())
    }

    /// A title, cut where the picture ends.
    pub(super) fn title(&mut self, title: &str, width: f64) {
        if !title.is_empty() {
            let title = isolate(&cut(title, TITLE_FONT, width - 2.0 * MARGIN));
            self.document.label(MARGIN, MARGIN + TITLE_FONT, "title", &title);
        }
    }

    /// The image, or its shade.
    pub(super) fn layer(&mut self, layer: Layer, place: Place) {
        let Place { at: [x, y], size: [width, height] } = place;
        match (self.purpose, &self.layers[layer as usize]) {
            (For::File, _) => {
                let transform = format!(
                    "translate({} {}) scale({} {})",
                    number(x),
                    number(y),
                    number(width),
                    number(height)
                );
                let link = format!("#{}", NAMES[layer as usize]);
                self.document.empty("use", &[("href", &link), ("transform", &transform)]);
            }
            (For::Pixels, Some(pixels)) => {
                self.laid.push(Laid { pixels: Arc::clone(pixels), at: place.at, size: place.size });
            }
            (For::Pixels, None) => {}
        }
    }

    /// The focus with the image as shade over it, and a ring around the middle of the strongest region.
    pub(super) fn focus(&mut self, weights: &[f32], grid: Grid, limit: f32, place: Place, ring: bool) {
        let side = place.size[0].max(place.size[1]).ceil() as usize;
        let resolution = light::resolution(grid, FOCUS_SIDE.min(side));
        if let Some(image) = light::focus(weights, grid, limit, resolution) {
            self.lay(&image, place);
        }
        self.layer(Layer::Shade, place);
        if let Some(peak) = super::peak(weights).filter(|_| ring) {
            let middle = |index: usize, count: usize, start: f64, length: f64| {
                start + (index as f64 + 0.5) / count as f64 * length
            };
            let x = middle(peak % grid.columns, grid.columns, place.at[0], place.size[0]);
            let y = middle(peak / grid.columns, grid.rows, place.at[1], place.size[1]);
            let [x, y, radius] = [x, y, RING].map(number);
            for class in ["under peak", "over peak"] {
                self.document.empty("circle", &[("cx", &x), ("cy", &y), ("r", &radius), ("class", class)]);
            }
        }
    }

    /// Where something is: what of a box in pixels of an image is inside the image, as an outline in dashes.
    pub(super) fn thing(&mut self, thing: &PixelBox, [height, width]: [usize; 2], place: Place) {
        let thing = thing.common(&PixelBox::whole(height, width));
        if thing.area() <= 0.0 {
            return;
        }
        // Not half outside of the image.
        let fitted = |side: f32, count: usize, start: f64, length: f64| {
            (start + f64::from(side) / count as f64 * length)
                .clamp(start + 1.0, (start + length - 1.0).max(start + 1.0))
        };
        let [left, right] = [thing.left, thing.right].map(|x| fitted(x, width, place.at[0], place.size[0]));
        let [top, bottom] = [thing.top, thing.bottom].map(|y| fitted(y, height, place.at[1], place.size[1]));
        let [x, y, wide, high] = [left, top, right - left, bottom - top].map(number);
        for class in ["under thing", "over thing"] {
            let at = [("x", x.as_str()), ("y", &y), ("width", &wide), ("height", &high), ("class", class)];
            self.document.empty("rect", &at);
        }
    }

    /// What the colours mean: a bar from nothing to the most.
    pub(super) fn bar(&mut self, left: f64, top: f64, ticks: &[(f64, String)]) {
        let width = BAR_WIDTH / BAR_STEPS as f64;
        let (y, height) = (number(top), "10");
        // No seams between neighbours.
        self.document.open("g", &[("shape-rendering", "crispEdges")]);
        for step in 0..BAR_STEPS {
            let (x, wide) = (number(left + step as f64 * width), number(width));
            let fill = hex(light::glow(step as f64 / (BAR_STEPS - 1) as f64));
            let at = [("x", x.as_str()), ("y", &y), ("width", &wide), ("height", height), ("fill", &fill)];
            self.document.empty("rect", &at);
        }
        self.document.close();
        let (x, wide) = (number(left), number(BAR_WIDTH));
        let at = [("x", x.as_str()), ("y", &y), ("width", &wide), ("height", height), ("class", "frame")];
        self.document.empty("rect", &at);
        for (place, text) in ticks {
            let class = if *place == 0.0 {
                "note"
            } else if *place == 1.0 {
                "note end"
            } else {
                "note middle"
            };
            self.document.label(left + place * BAR_WIDTH, top + 23.0, class, text);
        }
    }

    fn lay(&mut self, image: &Image, place: Place) {
        match self.purpose {
            For::Pixels => {
                let laid = |pixels| Laid { pixels: Arc::new(pixels), at: place.at, size: place.size };
                self.laid.extend(light::pixels(image).map(laid));
            }
            For::File => {
                let address = address(&image.png().unwrap_or_default());
                let [[x, y], [width, height]] = [place.at.map(number), place.size.map(number)];
                let at = [("x", x.as_str()), ("y", &y), ("width", &width), ("height", &height)];
                let link = [("preserveAspectRatio", "none"), ("href", &address)];
                self.document.empty("image", &[&at[..], &link[..]].concat());
            }
        }
    }
}

/// The width and height of an image in a square of this side.
pub(super) fn fitted(image: &Image, side: f64) -> [f64; 2] {
    let [height, width] = [image.height(), image.width()].map(|side| side as f64);
    let longest = height.max(width);
    // An image of one row can still be seen.
    [width, height].map(|length| (length / longest * side).round().max(6.0))
}

/// The bytes of a PNG; none if the encoder refuses, which it does not.
fn png(pixels: &Pixmap) -> Vec<u8> {
    pixels.encode_png().unwrap_or_default()
}

/// A PNG as an address that needs no file.
pub(crate) fn address(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

/// A weight in two digits or so.
pub(super) fn short(value: f32) -> String {
    let value = f64::from(value);
    match value {
        0.001..1000.0 => {
            let decimals = (1 - value.log10().floor() as i32).clamp(0, 4) as usize;
            format!("{value:.decimals$}")
        }
        _ => {
            // The fourth digit of a very small or very large number tells nothing here.
            let text = format!("{value:.1e}");
            brief(text.parse().unwrap_or(value))
        }
    }
}
