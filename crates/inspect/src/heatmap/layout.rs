//! Where everything stands in the picture of a heatmap, in pixels. Cells shrink as tokens become many, and the
//! labels of columns lean and then stand upright as cells become narrow.

use super::Heatmap;
use super::numbers::Numbers;
use crate::label::{shorten, text_width};

pub(crate) const MARGIN: f64 = 18.0;
pub(crate) const TITLE_HEIGHT: f64 = 28.0;
pub(crate) const NAME_HEIGHT: f64 = 24.0;
pub(super) const LEGEND_HEIGHT: f64 = 46.0;
pub(crate) const BAR_WIDTH: f64 = 130.0;
pub(crate) const TITLE_FONT: f64 = 15.0;
pub(super) const NAME_FONT: f64 = 13.0;
/// Between a label and the cells.
pub(super) const LABEL_GAP: f64 = 8.0;
/// Room for `0.93` beside a row.
const PROBABILITY_WIDTH: f64 = 38.0;
const PANEL_GAP: f64 = 30.0;
const ROW_GAP: f64 = 14.0;
/// Panels stand side by side as long as the picture is no wider than this.
const WIDEST: f64 = 1500.0;
const NARROWEST: f64 = 320.0;
/// Cells become narrower than they might be where all of them would fill more than this.
const ROOM: f64 = 720.0;
/// The name of a panel has at most so many characters.
const LONGEST_NAME: usize = 72;
/// A picture is made wider for its title up to this.
const WIDEST_FOR_TITLE: f64 = 900.0;
/// A label has at most so many characters.
const LONGEST_LABEL: usize = 24;
/// The sine, and the cosine, of 45°.
const SLANT: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// How the labels of columns are turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Not at all.
    Flat,
    /// By 45°.
    Slanted,
    /// By 90°, reading upwards.
    Upright,
}

/// The measures of a picture.
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) cell_width: f64,
    pub(super) cell_height: f64,
    pub(super) row_font: f64,
    pub(super) column_font: f64,
    pub(super) number_font: f64,
    pub(super) turn: Turn,
    /// The height of the labels of columns.
    pub(super) label_height: f64,
    /// The width of the column of probabilities; zero if there is none.
    pub(super) probability_width: f64,
    /// The labels as they are written: those of rows, and those of columns.
    pub(super) rows: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) frames: Vec<Frame>,
}

/// Where the cells of a panel begin, and whether the labels of rows stand beside it.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) labelled: bool,
}

impl Layout {
    pub(super) fn new(heatmap: &Heatmap) -> Self {
        let cell_height = (560.0 / heatmap.target.len() as f64).clamp(13.0, 30.0).floor();
        let labels = |tokens: &[super::Token]| -> Vec<String> {
            tokens.iter().map(|token| shorten(&token.text, LONGEST_LABEL)).collect()
        };
        let (rows, columns) = (labels(&heatmap.target), labels(&heatmap.source));
        let widest = |labels: &[String], font| labels.iter().map(|l| text_width(l, font)).fold(0.0, f64::max);

        let room = ROOM / columns.len() as f64;
        let wanted = (widest(&columns, 12.0) + 8.0).ceil();
        // Wide enough for the labels if these are few and short.
        let cell_width =
            if wanted <= room.min(84.0) { wanted.max(46.0) } else { room.clamp(13.0, 46.0).floor() };
        let row_font = (cell_height - 2.0).min(13.0);
        let turn = match cell_width {
            _ if widest(&columns, 12.0) <= cell_width - 4.0 => Turn::Flat,
            18.0.. => Turn::Slanted,
            _ => Turn::Upright,
        };
        let column_font = if turn == Turn::Upright { (cell_width - 2.0).min(12.0) } else { 12.0 };
        let longest = widest(&columns, column_font);
        let (label_height, overhang) = match turn {
            Turn::Flat => (column_font + 10.0, 0.0),
            Turn::Slanted => {
                let last = columns.iter().enumerate().map(|(index, label)| {
                    let end = (index as f64 + 0.5) * cell_width + text_width(label, column_font) * SLANT;
                    end - columns.len() as f64 * cell_width
                });
                (longest * SLANT + column_font + 4.0, last.fold(0.0, f64::max) + 4.0)
            }
            Turn::Upright => (longest + 8.0, 0.0),
        };

        let probability_width = if heatmap.probabilities.is_some() { PROBABILITY_WIDTH } else { 0.0 };
        // At least as wide as what stands in the corner.
        let left = MARGIN + widest(&rows, row_font).max(60.0) + LABEL_GAP + probability_width;
        let left = left.ceil();
        let mut layout = Self {
            width: 0.0,
            height: 0.0,
            cell_width,
            cell_height,
            row_font,
            column_font,
            number_font: number_font(heatmap, cell_width, cell_height),
            turn,
            label_height,
            probability_width,
            rows,
            columns,
            frames: Vec::new(),
        };
        layout.place(heatmap, left, overhang);
        layout
    }

    /// Places the panels: side by side where there is room, then in further rows.
    fn place(&mut self, heatmap: &Heatmap, left: f64, overhang: f64) {
        let grid_width = self.columns.len() as f64 * self.cell_width;
        let grid_height = self.rows.len() as f64 * self.cell_height;
        // A panel is at least as wide as its name, and as its bar of colours with the numbers at its ends.
        let names = heatmap.panels.iter().map(|panel| text_width(&panel_name(panel), NAME_FONT));
        let pitch = names.fold(grid_width.max(BAR_WIDTH + 24.0), f64::max) + PANEL_GAP;
        let beside = ((WIDEST - left - MARGIN + PANEL_GAP) / pitch).floor().max(1.0) as usize;
        let across = heatmap.panels.len().min(beside);
        let title_height = if heatmap.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        let panel_height = NAME_HEIGHT + self.label_height + grid_height + LEGEND_HEIGHT;
        for index in 0..heatmap.panels.len() {
            let (row, column) = (index / across, index % across);
            self.frames.push(Frame {
                left: left + column as f64 * pitch,
                top: MARGIN
                    + title_height
                    + row as f64 * (panel_height + ROW_GAP)
                    + NAME_HEIGHT
                    + self.label_height,
                labelled: column == 0,
            });
        }
        let down = heatmap.panels.len().div_ceil(across) as f64;
        let right = (pitch - PANEL_GAP).max(grid_width + overhang);
        let width = left + (across as f64 - 1.0) * pitch + right + MARGIN;
        self.width = width.max(title_width(&heatmap.title)).max(NARROWEST).ceil();
        self.height = (MARGIN + title_height + down * (panel_height + ROW_GAP) - ROW_GAP + 8.0).ceil();
    }
}

/// How wide a picture is at least, for its title to be read.
pub(super) fn title_width(title: &str) -> f64 {
    (text_width(title, TITLE_FONT) + 2.0 * MARGIN).min(WIDEST_FOR_TITLE)
}

/// The name of a panel, cut, with the unit of its numbers.
pub(super) fn panel_name(panel: &super::Panel) -> String {
    format!("{} {}", shorten(&panel.name, LONGEST_NAME), Numbers::of(panel).caption()).trim_end().to_owned()
}

/// The size of the numbers in the cells; zero if they would not fit.
fn number_font(heatmap: &Heatmap, cell_width: f64, cell_height: f64) -> f64 {
    let mut longest = 0.0f64;
    for panel in &heatmap.panels {
        let numbers = Numbers::of(panel);
        for value in panel.values.iter().flatten() {
            longest = longest.max(text_width(&numbers.short(*value), 1.0));
        }
    }
    let font = ((cell_width - 5.0) / longest).min(cell_height - 4.0).min(12.0);
    if font < 8.0 { 0.0 } else { font }
}
