//! Spectrograms as one HTML file that needs nothing else: no network, no other file.
//!
//! The pictures lie in the page as PNG, the sounds as WAV and the weights as JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::{Heard, Spectrogram};
use crate::heatmap::Scale;
use crate::heatmap::colour::{Ground, blended};
use crate::heatmap::page::rounded;
use crate::label::visible;
use crate::offline::Page;
use crate::overlay::address;

const BODY: &str = include_str!("page/body.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 1] = [include_str!("page/page.js")];
/// So many colours of the scale lie in a page.
const COLOURS: usize = 33;
/// Weights have so many decimals: they are shares of one.
const DECIMALS: i32 = 5;

/// A page that shows these spectrograms, with a chooser if there are several.
///
/// The sound plays, and a cursor goes over the spectrogram and the tokens; the token that is being listened to is lit.
/// A click on a token, or anywhere on the axis of time, plays from there.
pub fn html(spectrograms: &[&Spectrogram]) -> String {
    let items: Vec<ItemData> = spectrograms.iter().map(|found| item(found)).collect();
    let title = match items.as_slice() {
        [item] if !item.title.is_empty() => item.title.clone(),
        _ => "When the model listens".to_owned(),
    };
    let scale = |ground| {
        let part = |step: usize| step as f64 / (COLOURS - 1) as f64;
        (0..COLOURS).map(|step| blended(Scale::Largest, part(step), ground)).collect()
    };
    let data = PageData { light: scale(Ground::Light), dark: scale(Ground::Dark), items };
    let (style, scripts) = (STYLE, &SCRIPTS);
    Page { title: &title, style, scripts, body: BODY, data: &data, plays: true }.html()
}

#[derive(Serialize)]
struct PageData {
    light: Vec<[u8; 3]>,
    dark: Vec<[u8; 3]>,
    items: Vec<ItemData>,
}

#[derive(Serialize)]
struct ItemData {
    title: String,
    picture: String,
    sound: Option<String>,
    pitches: [f64; 2],
    /// Where the axis begins, how long it is, and how long the spectrogram.
    start: f64,
    seconds: f64,
    drawn: f64,
    step: f64,
    tokens: Vec<TokenData>,
}

#[derive(Serialize)]
struct TokenData {
    token: String,
    weights: Vec<f64>,
    probability: Option<f64>,
    heard: Option<[f64; 2]>,
    known: Option<[f64; 2]>,
}

fn item(found: &Spectrogram) -> ItemData {
    let (start, seconds) = found.span();
    let picture = found.image().and_then(|image| image.png().ok()).unwrap_or_default();
    ItemData {
        title: if found.title.is_empty() { String::new() } else { visible(&found.title) },
        picture: address(&picture),
        sound: found.sound.as_ref().map(|wav| format!("data:audio/wav;base64,{}", STANDARD.encode(wav))),
        pitches: [found.pitches.0, found.pitches.1],
        start,
        seconds,
        drawn: found.frames.len() as f64 * found.frames.hop,
        step: found.timeline.step,
        tokens: found.tokens.iter().map(|token| token_data(found, token)).collect(),
    }
}

fn token_data(found: &Spectrogram, token: &Heard) -> TokenData {
    TokenData {
        token: visible(&token.token),
        weights: token.weights.iter().map(|weight| rounded(*weight, DECIMALS)).collect(),
        probability: token.probability.map(|value| rounded(value.clamp(0.0, 1.0), 4)),
        heard: found.timeline.heard(&token.weights).map(|(start, end)| [start, end]),
        known: token.known.map(|(start, end)| [start, end]),
    }
}
