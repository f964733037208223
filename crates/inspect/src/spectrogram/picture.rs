//! The spectrogram, and below it a row for every token, as SVG and PNG.

use std::sync::Arc;

use super::{Heard, Spectrogram};
use crate::axis::Axis;
use crate::heatmap::Scale;
use crate::heatmap::colour::{self, Ground};
use crate::heatmap::layout::{MARGIN, TITLE_FONT, TITLE_HEIGHT};
use crate::heatmap::picture::{DARK_STYLE, STYLE};
use crate::label::{cut, isolate, text_width};
use crate::overlay::{address, pixels};
use crate::raster::{self, Laid, PngError};
use crate::svg::{Document, number};

const OWN_STYLE: &str = "
.token { font-size: 12px; }
.begins { stroke: #ffffff; stroke-opacity: 0.75; stroke-dasharray: 2 3; }
.known { fill: none; stroke: #d4007a; stroke-width: 1.2; }
.tick { stroke: #c4c7cc; }
";
/// How wide the axis of time is: so much for a second, within these limits.
const SECOND: f64 = 240.0;
const NARROWEST: f64 = 420.0;
const WIDEST: f64 = 1400.0;
/// How high the spectrogram is.
const HEIGHT: f64 = 150.0;
/// Rows of tokens: their height where they are few, and where they are many.
const ROW: f64 = 18.0;
const LOW_ROW: f64 = 13.0;
const AXIS_HEIGHT: f64 = 26.0;
/// A line of what things mean.
const NOTE: f64 = 15.0;
const LABEL_FONT: f64 = 12.0;
const WIDEST_LABEL: f64 = 110.0;

/// The spectrogram with the beginnings of tokens, by where the model listened, as lines in it; then each token with its
/// weights over the same time, and a frame where it really sounds, if that is known.
pub fn svg(spectrogram: &Spectrogram) -> String {
    Picture::new(spectrogram).draw(true).1
}

/// The same picture with `scale` pixels for each of the SVG's; 2 is sharp on most screens.
///
/// # Errors
/// If there would be too many pixels.
pub fn png(spectrogram: &Spectrogram, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = Picture::new(spectrogram);
    raster::png_over([picture.width, picture.height], scale, || picture.draw(false))
}

/// A picture that has been measured.
struct Picture<'a> {
    found: &'a Spectrogram,
    width: f64,
    height: f64,
    /// Where the axis of time begins and the spectrogram stands.
    left: f64,
    top: f64,
    /// How wide the axis of time is.
    wide: f64,
    row: f64,
}

impl<'a> Picture<'a> {
    fn new(found: &'a Spectrogram) -> Self {
        let label =
            found.tokens.iter().map(|token| text_width(&token.token, LABEL_FONT)).fold(40.0, f64::max);
        let left = MARGIN + label.min(WIDEST_LABEL) + 10.0;
        let wide = (found.span().1 * SECOND).clamp(NARROWEST, WIDEST);
        let row = if found.tokens.len() > 40 { LOW_ROW } else { ROW };
        let title = if found.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        let top = MARGIN + title;
        let rows = found.tokens.len() as f64 * row;
        let height = top + HEIGHT + AXIS_HEIGHT + rows + 8.0 + notes(found).len() as f64 * NOTE + MARGIN;
        // Behind the rows stand probabilities.
        let width = left + wide + 44.0 + MARGIN;
        Self { found, width: width.ceil(), height: height.ceil(), left, top, wide, row }
    }

    /// Where a second stands.
    fn x(&self, seconds: f64) -> f64 {
        let (start, length) = self.found.span();
        self.left + ((seconds - start) / length).clamp(0.0, 1.0) * self.wide
    }

    fn draw(&self, file: bool) -> (Vec<Laid>, String) {
        let scales = [Scale::Largest];
        let style = format!(
            "{STYLE}{OWN_STYLE}{}@media (prefers-color-scheme: dark) {{{DARK_STYLE}{}}}\n",
            colour::style(&scales, Ground::Light),
            colour::style(&scales, Ground::Dark)
        );
        let mut document = Document::new(self.width, self.height, &self.found.title, &style);
        if file {
            document.empty("rect", &[("width", "100%"), ("height", "100%"), ("class", "ground")]);
        }
        if !self.found.title.is_empty() {
            let title = isolate(&cut(&self.found.title, TITLE_FONT, self.width - 2.0 * MARGIN));
            document.label(MARGIN, MARGIN + TITLE_FONT, "title", &title);
        }
        let laid = self.spectrogram(&mut document, file);
        self.axis(&mut document);
        for (number, token) in self.found.tokens.iter().enumerate() {
            self.token(&mut document, number, token);
        }
        self.legend(&mut document);
        (laid, document.finish())
    }

    fn spectrogram(&self, document: &mut Document, file: bool) -> Vec<Laid> {
        let end = self.found.timeline.start + self.found.frames.len() as f64 * self.found.frames.hop;
        let (at, size) = ([self.left, self.top], [self.x(end) - self.left, HEIGHT]);
        let mut laid = Vec::new();
        if let Some(image) = self.found.image() {
            if file {
                let address = address(&image.png().unwrap_or_default());
                let [[x, y], [width, height]] = [at.map(number), size.map(number)];
                let place = [("x", x.as_str()), ("y", &y), ("width", &width), ("height", &height)];
                let link = [("preserveAspectRatio", "none"), ("href", &address)];
                document.empty("image", &[&place[..], &link[..]].concat());
            } else {
                laid.extend(pixels(&image).map(|pixels| Laid { pixels: Arc::new(pixels), at, size }));
            }
        }
        let (low, high) = self.found.pitches;
        document.label(self.left - 6.0, self.top + 10.0, "note end", &hertz(high));
        document.label(self.left - 6.0, self.top + HEIGHT, "note end", &hertz(low));
        for token in &self.found.tokens {
            if let Some((start, _)) = self.found.timeline.heard(&token.weights) {
                let x = self.x(start);
                document.line((x, self.top), (x, self.top + HEIGHT), "begins");
            }
        }
        laid
    }

    /// Seconds, between the spectrogram and the rows.
    fn axis(&self, document: &mut Document) {
        let (start, length) = self.found.span();
        let y = self.top + HEIGHT;
        for tick in Axis::horizontal([0.0, start + length].into_iter()).ticks {
            if tick.value <= start + length {
                let x = self.x(tick.value);
                document.line((x, y), (x, y + 4.0), "tick");
                document.label(x, y + 16.0, "note middle", &format!("{} s", tick.label));
            }
        }
    }

    fn token(&self, document: &mut Document, row: usize, token: &Heard) {
        let y = self.top + HEIGHT + AXIS_HEIGHT + row as f64 * self.row;
        let high = self.row - 2.0;
        let label = isolate(&cut(&token.token, LABEL_FONT, WIDEST_LABEL));
        document.label(self.left - 8.0, y + high - 3.0, "token end", &label);
        let most = token.most();
        document.open("g", &[("shape-rendering", "crispEdges")]);
        let strip = [self.left, y, self.wide, high].map(number);
        self.rectangle(document, &strip, "s0");
        for (place, &weight) in token.weights.iter().enumerate() {
            let step = colour::step(weight, most);
            if step > 0 {
                let (from, to) = self.found.timeline.stretch(place);
                let x = self.x(from);
                let cell = [x, y, self.x(to) - x, high].map(number);
                self.rectangle(document, &cell, &colour::class(Scale::Largest, step));
            }
        }
        document.close();
        if let Some((from, to)) = token.known {
            let x = self.x(from);
            let frame = [x, y + 0.5, (self.x(to) - x).max(1.0), high - 1.0].map(number);
            self.rectangle(document, &frame, "known");
        }
        if let Some(probability) = token.probability {
            let text = format!("{:.2}", probability.clamp(0.0, 1.0));
            document.label(self.left + self.wide + 6.0, y + high - 3.0, "note", &text);
        }
    }

    fn rectangle(&self, document: &mut Document, [x, y, width, height]: &[String; 4], class: &str) {
        let place = [("x", x.as_str()), ("y", y), ("width", width), ("height", height), ("class", class)];
        document.empty("rect", &place);
    }

    fn legend(&self, document: &mut Document) {
        let notes = notes(self.found);
        let first = self.height - MARGIN - notes.len() as f64 * NOTE + 12.0;
        for (line, note) in notes.into_iter().enumerate() {
            document.label(self.left, first + line as f64 * NOTE, "note", note);
        }
    }
}

/// What things mean.
fn notes(found: &Spectrogram) -> Vec<&'static str> {
    let mut notes = vec!["a row: where the model listened, the darkest where it did most"];
    if found.tokens.iter().any(|token| token.known.is_some()) {
        notes.push("a frame: when it sounds");
    }
    if found.tokens.iter().any(|token| token.probability.is_some()) {
        notes.push("behind a row: how probable it was");
    }
    notes
}

/// A pitch as it is shown.
fn hertz(pitch: f64) -> String {
    match pitch {
        high if high >= 1000.0 => format!("{} kHz", number((high / 100.0).round() / 10.0)),
        low => format!("{} Hz", number(low.round())),
    }
}
