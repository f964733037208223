//! Overlays and maps as one HTML file that needs nothing else: no network, no other file.
//!
//! The images lie in the page as PNG and the weights as JSON; its script lays the one over the other.

use gatto_data::images::{Grid, Image, PixelBox};
use serde::Serialize;

use super::light::{self, SHADE, Shade, glow};
use super::maps::{Map, Maps};
use super::sheet::address;
use super::{Focus, Overlay, View, most};
use crate::heatmap::page::rounded;
use crate::label::visible;
use crate::offline::{Page, SAVE_SCRIPT};

const BODY: &str = include_str!("page/body.html");
const STYLES: [&str; 2] = [STAGE_STYLE, include_str!("page/page.css")];
/// What the page of failures has too.
pub(super) const STAGE_STYLE: &str = include_str!("page/stage.css");
pub(super) const STAGE_SCRIPTS: [&str; 2] = [include_str!("page/light.js"), include_str!("page/stage.js")];
/// In the order in which they need each other.
const SCRIPTS: [&str; 6] = [
    SAVE_SCRIPT,
    STAGE_SCRIPTS[0],
    STAGE_SCRIPTS[1],
    include_str!("page/picture.js"),
    include_str!("page/maps.js"),
    include_str!("page/page.js"),
];
/// Images have at most so many pixels on their longer side.
const IMAGE_SIDE: usize = 512;
/// So many colours of the scale lie in a page; those between them are blended.
const COLOURS: usize = 65;
/// Weights have so many digits, counted from the first of the largest.
const DIGITS: i32 = 4;

/// What was seen in one image: by a model that writes words, by one that has maps, or by one that has both.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Where the words looked.
    pub overlay: Option<&'a Overlay>,
    /// Where the layers and heads looked.
    pub maps: Option<&'a Maps>,
}

impl<'a> From<&'a Overlay> for Seen<'a> {
    fn from(overlay: &'a Overlay) -> Self {
        Self { overlay: Some(overlay), maps: None }
    }
}

impl<'a> From<&'a Maps> for Seen<'a> {
    fn from(maps: &'a Maps) -> Self {
        Self { overlay: None, maps: Some(maps) }
    }
}

/// A page that shows what was seen in these images, with a chooser if there are several.
///
/// Pointing at a word lights its regions, and pointing at a region lights the words that looked there; kinds of weights,
/// smooth colours or blocks, boxes and the scale of colours can be chosen, and the picture downloaded.
pub fn html(seen: &[Seen<'_>]) -> String {
    let mut pictures: Vec<&Image> = Vec::new();
    let items: Vec<ItemData> = seen.iter().map(|seen| item(*seen, &mut pictures)).collect();
    let title = match items.as_slice() {
        [item] if !item.title.is_empty() => item.title.clone(),
        _ => "Where the model looks".to_owned(),
    };
    let pictures = pictures.into_iter().map(|image| PictureData::new(image, IMAGE_SIDE)).collect();
    let data = PageData { colours: colours(), shade: SHADE, pictures, items };
    Page { title: &title, style: &STYLES.concat(), scripts: &SCRIPTS, body: BODY, data: &data, plays: false }
        .html()
}

#[derive(Serialize)]
struct PageData {
    colours: Vec<[u8; 3]>,
    shade: f64,
    pictures: Vec<PictureData>,
    items: Vec<ItemData>,
}

/// An image, and which of its greys cast shade.
#[derive(Serialize)]
pub(super) struct PictureData {
    pub(super) address: String,
    levels: [u8; 2],
}

impl PictureData {
    pub(super) fn new(image: &Image, side: usize) -> Self {
        let image = light::at_most(image, side);
        Self { address: address(&image.png().unwrap_or_default()), levels: Shade::of(&image).levels }
    }
}

#[derive(Serialize)]
struct ItemData {
    title: String,
    caption: Option<CaptionData>,
    maps: Option<MapsData>,
}

#[derive(Serialize)]
struct CaptionData {
    title: String,
    picture: usize,
    grid: Grid,
    views: Vec<ViewData>,
}

#[derive(Serialize)]
struct ViewData {
    name: String,
    words: Vec<FocusData>,
}

#[derive(Serialize)]
pub(super) struct FocusData {
    word: String,
    weights: Vec<f64>,
    probability: Option<f64>,
    /// Left, top, right and bottom as shares of the image.
    boxes: Vec<[f64; 4]>,
    inside: Option<f64>,
    hit: bool,
}

#[derive(Serialize)]
struct MapsData {
    title: String,
    picture: usize,
    grid: Grid,
    large: Vec<MapData>,
    heads: Vec<Vec<MapData>>,
}

#[derive(Serialize)]
struct MapData {
    name: String,
    weights: Vec<f64>,
}

/// The scale of colours, from nothing to the most.
pub(super) fn colours() -> Vec<[u8; 3]> {
    (0..COLOURS).map(|step| glow(step as f64 / (COLOURS - 1) as f64)).collect()
}

/// Text of a page; nothing stays nothing.
pub(super) fn text(text: &str) -> String {
    if text.is_empty() { String::new() } else { visible(text) }
}

fn item<'a>(seen: Seen<'a>, pictures: &mut Vec<&'a Image>) -> ItemData {
    let titles = [seen.overlay.map(Overlay::title), seen.maps.map(Maps::title)];
    let title = titles.into_iter().flatten().find(|title| !title.is_empty()).map(text).unwrap_or_default();
    let mut picture = |image: &'a Image| match pictures.last() {
        // The words and the maps are mostly of the same image.
        Some(last) if *last == image => pictures.len() - 1,
        _ => {
            pictures.push(image);
            pictures.len() - 1
        }
    };
    let caption = seen.overlay.map(|overlay| CaptionData {
        title: text(&overlay.title),
        picture: picture(&overlay.image),
        grid: overlay.grid,
        views: overlay.views.iter().map(|view| view_data(overlay, view)).collect(),
    });
    let maps = seen.maps.map(|maps| MapsData {
        title: text(&maps.title),
        picture: picture(&maps.image),
        grid: maps.grid,
        large: maps.large.iter().map(map_data).collect(),
        heads: maps.heads.iter().map(|layer| layer.iter().map(map_data).collect()).collect(),
    });
    ItemData { title, caption, maps }
}

fn view_data(overlay: &Overlay, view: &View) -> ViewData {
    ViewData {
        name: text(&view.name),
        words: view.words.iter().map(|focus| focus_data(overlay, focus, DIGITS)).collect(),
    }
}

/// A word with its weights in so many digits.
pub(super) fn focus_data(overlay: &Overlay, focus: &Focus, digits: i32) -> FocusData {
    let [height, width] = [overlay.image.height(), overlay.image.width()];
    let whole = PixelBox::whole(height, width);
    let share = |side: f32, length: usize| rounded(side / length as f32, 4);
    let sides = |thing: PixelBox| {
        let [left, right] = [thing.left, thing.right].map(|x| share(x, width));
        let [top, bottom] = [thing.top, thing.bottom].map(|y| share(y, height));
        [left, top, right, bottom]
    };
    let inside = focus.boxes.iter().map(|thing| thing.common(&whole)).filter(|thing| thing.area() > 0.0);
    let agreement = overlay.agreement(focus);
    FocusData {
        word: visible(&focus.word),
        weights: shortened(&focus.weights, digits),
        probability: focus.probability.map(|value| rounded(value.clamp(0.0, 1.0), 4)),
        boxes: inside.map(sides).collect(),
        inside: agreement.map(|agreement| rounded(agreement.inside, 4)),
        hit: agreement.is_some_and(|agreement| agreement.hit),
    }
}

fn map_data(map: &Map) -> MapData {
    MapData { name: text(&map.name), weights: shortened(&map.weights, DIGITS) }
}

/// Weights without the digits that nobody sees, but that would make most of the page.
fn shortened(weights: &[f32], digits: i32) -> Vec<f64> {
    let most = f64::from(most(weights));
    let decimals = if most > 0.0 { digits - 1 - most.log10().floor() as i32 } else { 0 };
    weights.iter().map(|&weight| rounded(weight, decimals)).collect()
}

#[cfg(test)]
#[path = "html_tests.rs"]
pub(super) mod tests;
