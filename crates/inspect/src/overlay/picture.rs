//! The image once per word, with the focus over it, as SVG and PNG.

use super::sheet::{For, Layer, Place, Sheet, fitted, short};
use super::{Agreement, Focus, Overlay, Shown};
use crate::axis::brief;
use crate::heatmap::layout::{BAR_WIDTH, MARGIN, TITLE_HEIGHT};
use crate::label::{cut, isolate, shorten, text_width};
use crate::raster::{self, PngError};

/// A picture is no wider than this; further words stand in further lines.
const WIDEST: f64 = 1040.0;
const NARROWEST: f64 = 420.0;
/// Between two tiles, and between two lines of them.
const GAP: f64 = 16.0;
const LINE_GAP: f64 = 12.0;
/// Over a tile, for its word; and below it, for its numbers.
const WORD_HEIGHT: f64 = 20.0;
const NOTE_HEIGHT: f64 = 18.0;
const WORD_FONT: f64 = 13.0;
const NOTE_FONT: f64 = 11.0;
const NAME_HEIGHT: f64 = 24.0;
const LEGEND_HEIGHT: f64 = 48.0;
/// A tile of a narrow image has at least this room for its word.
const NARROWEST_CELL: f64 = 96.0;

/// The image itself, then once for each word with its focus, in lines that wrap.
///
/// Each word has its probability beside it, if that is known; below are its largest weight and, where boxes are known,
/// whether it lies in one of them and how much of all the weight does.
pub fn svg(overlay: &Overlay, shown: Shown) -> String {
    Picture::new(overlay, shown).draw(For::File).1
}

/// The same picture with `scale` pixels for each of the SVG's; 2 is sharp on most screens.
pub fn png(overlay: &Overlay, shown: Shown, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = Picture::new(overlay, shown);
    raster::png_over([picture.width, picture.height], scale, || picture.draw(For::Pixels))
}

/// A picture that has been measured.
pub(super) struct Picture<'a> {
    overlay: &'a Overlay,
    shown: Shown,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The longer side of a tile.
    side: f64,
    tile: [f64; 2],
    /// From one tile to the next.
    pitch: [f64; 2],
    pub(super) columns: usize,
    top: f64,
}

impl<'a> Picture<'a> {
    pub(super) fn new(overlay: &'a Overlay, shown: Shown) -> Self {
        let tiles = overlay.view(shown).words.len() + 1;
        let side = match tiles {
            ..=5 => 220.0,
            6..=13 => 172.0,
            _ => 132.0,
        };
        let tile = fitted(&overlay.image, side);
        let cell = tile[0].max(NARROWEST_CELL);
        let pitch = [cell + GAP, WORD_HEIGHT + tile[1] + NOTE_HEIGHT + LINE_GAP];
        let most = ((WIDEST - 2.0 * MARGIN + GAP) / pitch[0]).floor().max(1.0) as usize;
        // Lines of about the same length.
        let lines = tiles.div_ceil(most);
        let columns = tiles.div_ceil(lines);
        let title = if overlay.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        let top = MARGIN + title + NAME_HEIGHT;
        let width = 2.0 * MARGIN + columns as f64 * pitch[0] - GAP;
        let width = width.max(text_width(&overlay.title, 15.0).min(WIDEST - 2.0 * MARGIN) + 2.0 * MARGIN);
        let height = top + lines as f64 * pitch[1] - LINE_GAP + LEGEND_HEIGHT + MARGIN;
        let (width, height) = (width.max(NARROWEST).ceil(), height.ceil());
        Self { overlay, shown, width, height, side, tile, pitch, columns, top }
    }

    fn draw(&self, purpose: For) -> (Vec<raster::Laid>, String) {
        let (overlay, view) = (self.overlay, self.overlay.view(self.shown));
        let spoken = format!("{}: {}", overlay.title, view.name);
        let spoken = spoken.trim_start_matches(": ");
        let mut sheet = Sheet::new([self.width, self.height], spoken, &overlay.image, self.side, purpose);
        sheet.title(&overlay.title, self.width);
        let name = isolate(&shorten(&view.name, 60));
        sheet.document.label(MARGIN, self.top - NAME_HEIGHT + 13.0, "name", &name);
        let first = self.place(0);
        sheet.document.label(first.at[0], first.at[1] - 6.0, "note", "image");
        sheet.layer(Layer::Image, first);
        let limits = view.limits(self.shown.alike);
        for (index, (focus, limit)) in view.words.iter().zip(&limits).enumerate() {
            self.word(&mut sheet, focus, *limit, self.place(index + 1));
        }
        self.legend(&mut sheet, limits.iter().copied().fold(0.0, f32::max));
        sheet.finish()
    }

    /// Where a tile stands.
    fn place(&self, index: usize) -> Place {
        let (line, column) = (index / self.columns, index % self.columns);
        let x = MARGIN + column as f64 * self.pitch[0];
        let y = self.top + line as f64 * self.pitch[1] + WORD_HEIGHT;
        Place { at: [x, y], size: self.tile }
    }

    /// One word: its tile, and what stands around it.
    fn word(&self, sheet: &mut Sheet, focus: &Focus, limit: f32, place: Place) {
        let [x, y] = place.at;
        let right = x + self.pitch[0] - GAP;
        sheet.document.open("g", &[]);
        let agreement = self.overlay.agreement(focus);
        sheet.document.leaf("title", &[], &hint(focus, agreement));
        sheet.focus(&focus.weights, self.overlay.grid, limit, place, true);
        let [height, width] = [self.overlay.image.height(), self.overlay.image.width()];
        for thing in &focus.boxes {
            sheet.thing(thing, [height, width], place);
        }
        let probability = focus.probability.map(|value| format!("{:.2}", value.clamp(0.0, 1.0)));
        let room = probability.as_ref().map_or(0.0, |text| text_width(text, NOTE_FONT) + 6.0);
        let word = isolate(&cut(&focus.word, WORD_FONT, right - x - room));
        sheet.document.label(x, y - 6.0, "word", &word);
        if let Some(text) = probability {
            sheet.document.label(right, y - 6.0, "note end", &text);
        }
        let below = y + place.size[1] + 13.0;
        sheet.document.label(x, below, "note", &format!("most {}", short(focus.most())));
        if let Some(agreement) = agreement {
            sheet.document.label(right, below, "note end", &told(agreement));
        }
        sheet.document.close();
    }

    /// What colours and marks mean.
    fn legend(&self, sheet: &mut Sheet, limit: f32) {
        let top = self.height - MARGIN - LEGEND_HEIGHT + 22.0;
        let view = self.overlay.view(self.shown);
        let ticks = match self.shown.alike {
            true => vec![(0.0, "0".to_owned()), (0.5, short(limit / 2.0)), (1.0, short(limit))],
            false => vec![(0.0, "0".to_owned()), (1.0, "most of the word".to_owned())],
        };
        sheet.bar(MARGIN, top, &ticks);
        let mut lines = Vec::new();
        if view.words.iter().any(|focus| focus.probability.is_some()) {
            lines.push("beside a word: its probability");
        }
        if view.words.iter().any(|focus| !focus.boxes.is_empty()) {
            lines.push("dashed: where it is; %: of the weight inside");
            lines.push("✓ the ring, at the most weight, is inside");
        } else {
            lines.push("ring: the most weight");
        }
        let left = MARGIN + BAR_WIDTH + 28.0;
        // Two columns of notes where there is room, else as many lines as fit.
        let beside = self.width - left - MARGIN;
        let mut at = [left, top + 8.0];
        for line in lines {
            let wide = text_width(line, NOTE_FONT);
            if at[0] > left && at[0] + wide > left + beside {
                at = [left, at[1] + 15.0];
            }
            sheet.document.label(at[0], at[1], "note", line);
            at[0] += wide + 20.0;
        }
    }
}

/// How a focus agrees with its boxes, in short.
pub(super) fn told(agreement: Agreement) -> String {
    format!("{} {:.0} %", if agreement.hit { "✓" } else { "✗" }, f64::from(agreement.inside) * 100.0)
}

/// What a tile tells those who point at it.
fn hint(focus: &Focus, agreement: Option<Agreement>) -> String {
    let mut hint = format!("{}: most {}", isolate(&shorten(&focus.word, 40)), brief(f64::from(focus.most())));
    if let Some(probability) = focus.probability {
        hint += &format!(", probability {probability:.4}");
    }
    if let Some(agreement) = agreement {
        hint += &format!(", inside the boxes {:.1} %", f64::from(agreement.inside) * 100.0);
    }
    hint
}

#[cfg(test)]
#[path = "picture_tests.rs"]
mod tests;
