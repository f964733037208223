//! The captions that a model got wrong, on one page: what it wrote, what would be true, why it is wrong, and where it
//! looked for each word.

use gatto_data::images::Grid;
use serde::Serialize;

use super::html::{FocusData, PictureData, STAGE_SCRIPTS, STAGE_STYLE, colours, focus_data, text};
use super::light::SHADE;
use super::{Overlay, OverlayError};
use crate::heatmap::page::rounded;
use crate::label::{shorten, visible};
use crate::offline::Page;

const BODY: &str = include_str!("page/failures.html");
const STYLES: [&str; 2] = [STAGE_STYLE, include_str!("page/failures.css")];
const SCRIPTS: [&str; 3] = [STAGE_SCRIPTS[0], STAGE_SCRIPTS[1], include_str!("page/failures.js")];

/// A page shows at most so many captions, the worst.
pub const MOST_FAILURES: usize = 100;
/// More references, reasons, kinds or figures of a caption than this are left out.
const MOST_LINES: usize = 16;
/// A line of text has at most so many characters.
const LONGEST_LINE: usize = 600;
/// The captions of a page have at most so many weights together, each of them some six bytes.
const MOST_WEIGHTS: usize = 1_000_000;
/// All images together have at most so many bytes; the longer side of each is the first of these at which they do.
const IMAGE_BYTES: usize = 12_000_000;
const IMAGE_SIDES: [usize; 5] = [320, 224, 160, 112, 64];
const DIGITS: i32 = 3;

/// A caption that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The image, and what was written with where the model looked; the first view is shown. Its title is the image's
    /// name.
    pub overlay: Overlay,
    /// Which of the words are wrong, counted from zero.
    pub wrong: Vec<usize>,
    /// What would have been right.
    pub references: Vec<String>,
    /// Why it is wrong, in sentences.
    pub reasons: Vec<String>,
    /// What kinds of error these are, in a word or two each, the main one first: captions can be chosen by them.
    pub kinds: Vec<String>,
    /// How good the caption is: the lowest come first.
    pub score: f32,
    /// Other figures with their names, such as log-probability and pointing; captions can be ordered by them.
    pub figures: Vec<(String, f32)>,
}

#[derive(Serialize)]
struct PageData {
    title: String,
    colours: Vec<[u8; 3]>,
    shade: f64,
    /// How many captions there are that are not shown.
    left_out: usize,
    cards: Vec<CardData>,
}

#[derive(Serialize)]
struct CardData {
    name: String,
    picture: PictureData,
    grid: Grid,
    words: Vec<FocusData>,
    wrong: Vec<usize>,
    references: Vec<String>,
    reasons: Vec<String>,
    kinds: Vec<String>,
    score: f64,
    figures: Vec<(String, f64)>,
}

/// A page of these captions, the worst first. They can be ordered by score, by figure and by kind of error, and chosen
/// by kind and by text. Beyond [`MOST_FAILURES`], or where a page would become too large, the best of them are left out,
/// which the page says.
pub fn failures_page(title: &str, failures: &[Failure]) -> Result<String, OverlayError> {
    failures.iter().try_for_each(check)?;
    let mut worst: Vec<&Failure> = failures.iter().collect();
    worst.sort_by(|one, other| one.score.total_cmp(&other.score));
    let mut weights = 0;
    let fits = |failure: &&&Failure| {
        let overlay = &failure.overlay;
        weights += overlay.views[0].words.len() * overlay.grid.len();
        weights <= MOST_WEIGHTS
    };
    // The first always fits: an overlay alone has few enough.
    let shown: Vec<&Failure> = worst.iter().take(MOST_FAILURES).take_while(fits).copied().collect();
    let cards = shown.iter().zip(pictures(&shown)).map(|(failure, picture)| card(failure, picture)).collect();
    let left_out = failures.len() - shown.len();
    let shown_title = if title.is_empty() { "What the model got wrong".to_owned() } else { visible(title) };
    let data = PageData { title: shown_title.clone(), colours: colours(), shade: SHADE, left_out, cards };
    let page = Page {
        title: &shown_title,
        style: &STYLES.concat(),
        scripts: &SCRIPTS,
        body: BODY,
        data: &data,
        plays: false,
    };
    Ok(page.html())
}

fn check(failure: &Failure) -> Result<(), OverlayError> {
    let words = failure.overlay.views[0].words.len();
    if let Some(&word) = failure.wrong.iter().find(|word| **word >= words) {
        return Err(OverlayError::Wrong { word, words });
    }
    let figures = failure.figures.iter().map(|(name, value)| (name.as_str(), *value));
    match figures.chain([("score", failure.score)]).find(|(_, value)| !value.is_finite()) {
        Some((what, value)) => Err(OverlayError::Figure { what: shorten(what, 40), value }),
        None => Ok(()),
    }
}

/// The images, as large as leaves the page within its limit.
fn pictures(failures: &[&Failure]) -> Vec<PictureData> {
    let mut found = Vec::new();
    for side in IMAGE_SIDES {
        found = failures.iter().map(|failure| PictureData::new(&failure.overlay.image, side)).collect();
        let bytes: usize = found.iter().map(|picture: &PictureData| picture.address.len()).sum();
        if bytes <= IMAGE_BYTES {
            break;
        }
    }
    found
}

fn card(failure: &Failure, picture: PictureData) -> CardData {
    let overlay = &failure.overlay;
    let lines = |texts: &[String]| -> Vec<String> {
        texts.iter().take(MOST_LINES).map(|line| shorten(line, LONGEST_LINE)).collect()
    };
    let figures = failure.figures.iter().take(MOST_LINES);
    CardData {
        name: text(&overlay.title),
        picture,
        grid: overlay.grid,
        words: overlay.views[0].words.iter().map(|focus| focus_data(overlay, focus, DIGITS)).collect(),
        wrong: failure.wrong.clone(),
        references: lines(&failure.references),
        reasons: lines(&failure.reasons),
        kinds: lines(&failure.kinds),
        score: rounded(failure.score, 4),
        figures: figures.map(|(name, value)| (shorten(name, 40), rounded(*value, 4))).collect(),
    }
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
