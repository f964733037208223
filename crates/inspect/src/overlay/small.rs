//! Maps as a picture: those over all heads large, then every head of every layer small.

use super::maps::{Map, Maps};
use super::sheet::{For, Layer, Place, Sheet, fitted, short};
use super::{most, peak};
use crate::axis::brief;
use crate::heatmap::layout::{MARGIN, TITLE_HEIGHT};
use crate::label::{cut, isolate, shorten, text_width};
use crate::raster::{self, PngError};

/// The longer side of a large tile, and the longest and the shortest of a small one.
const LARGE: f64 = 300.0;
const SMALL: [f64; 2] = [36.0, 132.0];
/// All heads together are about as wide as this.
const WIDTH: f64 = 1000.0;
const GAP: f64 = 16.0;
const SMALL_GAP: f64 = 8.0;
const LABEL_HEIGHT: f64 = 20.0;
const NOTE_HEIGHT: f64 = 18.0;
/// Beside a layer, for its number.
const LAYER_WIDTH: f64 = 60.0;
const LEGEND_HEIGHT: f64 = 50.0;
/// Between the large tiles and the heads.
const BELOW: f64 = 14.0;

/// The image, the maps over all heads, and the heads: a layer in every row. Every map is scaled to its own largest
/// weight.
pub fn maps_svg(maps: &Maps) -> String {
    Picture::new(maps).draw(For::File).1
}

/// The same picture with `scale` pixels for each of the SVG's; 2 is sharp on most screens.
pub fn maps_png(maps: &Maps, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = Picture::new(maps);
    raster::png_over([picture.width, picture.height], scale, || picture.draw(For::Pixels))
}

struct Picture<'a> {
    maps: &'a Maps,
    width: f64,
    height: f64,
    large: [f64; 2],
    /// How many large tiles stand in a line, the image itself among them.
    across: usize,
    small: [f64; 2],
    top: f64,
    /// Where the heads begin.
    heads: f64,
}

impl<'a> Picture<'a> {
    fn new(maps: &'a Maps) -> Self {
        let large = fitted(&maps.image, LARGE);
        let tiles = maps.large.len() + 1;
        let pitch = [large[0] + GAP, LABEL_HEIGHT + large[1] + NOTE_HEIGHT];
        let across = ((WIDTH + GAP) / pitch[0]).floor().clamp(1.0, tiles as f64) as usize;
        let title = if maps.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        let top = MARGIN + title;
        let heads = top + tiles.div_ceil(across) as f64 * pitch[1] + BELOW;
        let columns = maps.heads.first().map_or(0, Vec::len);
        let room = (WIDTH - LAYER_WIDTH) / columns.max(1) as f64 - SMALL_GAP;
        let small = fitted(&maps.image, room.clamp(SMALL[0], SMALL[1]).floor());
        let rows = maps.heads.len() as f64 * (small[1] + SMALL_GAP);
        let below = if columns > 0 { LABEL_HEIGHT + rows } else { 0.0 };
        let width =
            (across as f64 * pitch[0] - GAP).max(LAYER_WIDTH + columns as f64 * (small[0] + SMALL_GAP));
        let width = width.max(text_width(&maps.title, 15.0).min(WIDTH)).max(380.0) + 2.0 * MARGIN;
        let height = heads + below + LEGEND_HEIGHT + MARGIN;
        Self { maps, width: width.ceil(), height: height.ceil(), large, across, small, top, heads }
    }

    fn draw(&self, purpose: For) -> (Vec<raster::Laid>, String) {
        let maps = self.maps;
        let spoken = if maps.title.is_empty() { "Where the model looks" } else { &maps.title };
        let mut sheet = Sheet::new([self.width, self.height], spoken, &maps.image, LARGE, purpose);
        sheet.title(&maps.title, self.width);
        let place = self.place(0);
        sheet.document.label(place.at[0], place.at[1] - 6.0, "note", "image");
        sheet.layer(Layer::Image, place);
        for (index, map) in maps.large.iter().enumerate() {
            let place = self.place(index + 1);
            let name = isolate(&cut(&map.name, 13.0, place.size[0]));
            sheet.document.label(place.at[0], place.at[1] - 6.0, "word", &name);
            self.map(&mut sheet, map, place, true);
            let note = format!("most {}", short(most(&map.weights)));
            sheet.document.label(place.at[0], place.at[1] + place.size[1] + 13.0, "note", &note);
        }
        self.heads(&mut sheet);
        let ticks = [(0.0, "0".to_owned()), (1.0, "most of each map".to_owned())];
        sheet.bar(MARGIN, self.height - MARGIN - LEGEND_HEIGHT + 20.0, &ticks);
        sheet.finish()
    }

    /// Where a large tile stands.
    fn place(&self, index: usize) -> Place {
        let (line, column) = (index / self.across, index % self.across);
        let x = MARGIN + column as f64 * (self.large[0] + GAP);
        let y = self.top + line as f64 * (LABEL_HEIGHT + self.large[1] + NOTE_HEIGHT) + LABEL_HEIGHT;
        Place { at: [x, y], size: self.large }
    }

    fn heads(&self, sheet: &mut Sheet) {
        let first = self.heads + LABEL_HEIGHT;
        for (layer, heads) in self.maps.heads.iter().enumerate() {
            let y = first + layer as f64 * (self.small[1] + SMALL_GAP);
            let middle = y + self.small[1] / 2.0 + 4.0;
            sheet.document.label(MARGIN, middle, "note", &format!("layer {}", layer + 1));
            for (head, map) in heads.iter().enumerate() {
                let x = MARGIN + LAYER_WIDTH + head as f64 * (self.small[0] + SMALL_GAP);
                if layer == 0 {
                    let name = match self.small[0] {
                        48.0.. => format!("head {}", head + 1),
                        _ => (head + 1).to_string(),
                    };
                    sheet.document.label(x, y - 6.0, "note", &name);
                }
                self.map(sheet, map, Place { at: [x, y], size: self.small }, false);
            }
        }
    }

    fn map(&self, sheet: &mut Sheet, map: &Map, place: Place, ring: bool) {
        let limit = most(&map.weights);
        sheet.document.open("g", &[]);
        let region = peak(&map.weights).map_or(String::new(), |peak| {
            format!(
                " in row {}, column {}",
                peak / self.maps.grid.columns + 1,
                peak % self.maps.grid.columns + 1
            )
        });
        let hint = format!("{}: most {}{region}", shorten(&map.name, 60), brief(f64::from(limit)));
        sheet.document.leaf("title", &[], &hint);
        sheet.focus(&map.weights, self.maps.grid, limit, place, ring);
        sheet.document.close();
    }
}

#[cfg(test)]
#[path = "small_tests.rs"]
mod tests;
