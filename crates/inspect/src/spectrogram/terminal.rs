//! The spectrogram as text: half-blocks of two colours, and a row for each token; without colours, shades.

use super::Spectrogram;
use crate::heatmap::Scale;
use crate::heatmap::colour::{Ground, blended};
use crate::label::{Align, columns, fit};
use crate::overlay::painted;
use crate::terminal::{Colour, Colours, NARROWEST, line};

/// Lines of the spectrogram.
const LINES: usize = 10;
const WIDEST_LABEL: usize = 14;
/// Without colours, from nothing to the most.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Draws the spectrogram and the tokens in at most `width` columns (32 at least).
pub fn terminal(spectrogram: &Spectrogram, width: usize, colours: Colours) -> String {
    let width = width.max(NARROWEST);
    let label = spectrogram.tokens.iter().map(|token| columns(&token.token)).max().unwrap_or(0);
    let label = label.clamp(4, WIDEST_LABEL);
    let wide = width - label - 7;
    let mut text = String::new();
    if !spectrogram.title.is_empty() {
        line(&mut text, &fit(&spectrogram.title, width, Align::Left));
    }
    let before = " ".repeat(label + 1);
    let (start, length) = spectrogram.span();
    // The frames may end before the axis does.
    let frames = spectrogram.frames.len() as f64 * spectrogram.frames.hop;
    let heard = ((frames / length * wide as f64).round() as usize).clamp(1, wide);
    match colours {
        Colours::None => {
            for row in spectrogram.loudness(heard, LINES).chunks(heard) {
                line(&mut text, &(before.clone() + &shaded(row)));
            }
        }
        _ => {
            let colour = |part: &f64| blended(Scale::Largest, *part, Ground::Dark);
            let pixels: Vec<Colour> = spectrogram.loudness(heard, 2 * LINES).iter().map(colour).collect();
            for pair in pixels.chunks(2 * heard) {
                line(&mut text, &(before.clone() + &painted(pair, heard, colours)));
            }
        }
    }
    line(&mut text, &(before + &axis(start, length, wide)));
    for token in &spectrogram.tokens {
        let most = f64::from(token.most()).max(f64::MIN_POSITIVE);
        let at = |column: usize| {
            let [from, to] = [column, column + 1].map(|column| start + column as f64 / wide as f64 * length);
            let timeline = &spectrogram.timeline;
            let places = timeline.place(from)..=timeline.place(to - 1e-9).max(timeline.place(from));
            token.weights[places].iter().copied().fold(0.0, f32::max)
        };
        let parts: Vec<f64> = (0..wide).map(|column| f64::from(at(column)) / most).collect();
        let row = match colours {
            Colours::None => shaded(&parts),
            _ => {
                let colour = |part: &f64| blended(Scale::Largest, *part, Ground::Dark);
                let colours_of: Vec<Colour> = parts.iter().map(colour).collect();
                painted(&[colours_of.clone(), colours_of].concat(), wide, colours)
            }
        };
        let probability = token.probability.map(|value| format!(" {:.2}", value.clamp(0.0, 1.0)));
        line(
            &mut text,
            &format!("{} {row}{}", fit(&token.token, label, Align::Right), probability.unwrap_or_default()),
        );
    }
    text
}

fn shaded(parts: &[f64]) -> String {
    let last = (SHADES.len() - 1) as f64;
    parts.iter().map(|part| SHADES[(part.clamp(0.0, 1.0) * last).round() as usize]).collect()
}

/// Seconds below the spectrogram.
fn axis(start: f64, length: f64, wide: usize) -> String {
    let end = format!("{:.1} s", start + length);
    let middle = format!("{:.1} s", start + length / 2.0);
    let room = wide.saturating_sub(3 + end.len());
    format!("0 s{}{end}", fit(&middle, room, Align::Middle))
}
