//! Heatmaps for the tests.

use super::{Heatmap, Panel, Scale, Token};

/// Each word as a token.
pub(super) fn words(text: &str) -> Vec<Token> {
    text.split_whitespace().enumerate().map(|(index, word)| Token::piece(word, index)).collect()
}

pub(super) fn panel(name: &str, scale: Scale, values: Vec<Vec<f32>>) -> Panel {
    Panel { name: name.to_owned(), scale, values }
}

/// A soft diagonal, as attention draws it.
pub(super) fn diagonal(sources: usize, targets: usize) -> Vec<Vec<f32>> {
    let row = |row: usize| {
        let middle = row as f32 * sources as f32 / targets as f32;
        let weights: Vec<f32> =
            (0..sources).map(|column| (-(column as f32 - middle).powi(2)).exp()).collect();
        let sum: f32 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    };
    (0..targets).map(row).collect()
}

/// Attention between the words of two sentences.
pub(super) fn attention(source: &str, target: &str) -> Heatmap {
    let (source, target) = (words(source), words(target));
    let values = diagonal(source.len(), target.len());
    Heatmap::new("a sample", source, target, vec![panel("attention", Scale::Share, values)]).unwrap()
}

/// So many layers of so many heads, each of which looks a little further to the right.
pub(super) fn heads(layers: usize, heads: usize) -> Heatmap {
    let (source, target) = (words("the cat sleeps here"), words("il gatto dorme qui"));
    let matrix = |shift: usize| {
        let mut rows = diagonal(source.len(), target.len());
        rows.iter_mut().for_each(|row| row.rotate_right(shift % source.len()));
        rows
    };
    let layer = |layer: usize| (0..heads).map(|head| matrix(layer + head)).collect();
    let layers = (0..layers).map(layer).collect();
    Heatmap::of_heads("a sample", "attention", source.clone(), target.clone(), layers).unwrap()
}

/// Text that breaks what does not escape it.
pub(super) fn hostile() -> Heatmap {
    let texts = [
        "</script><img src=x onerror=alert(1)>",
        "<!--",
        "]]>&amp;\"'",
        "\u{0}\u{1b}[31m\u{202e}",
        "a\u{2028}b\u{ffff}",
    ];
    let tokens: Vec<Token> =
        texts.iter().enumerate().map(|(index, text)| Token::piece(*text, index)).collect();
    let values = diagonal(texts.len(), texts.len());
    let panels =
        vec![panel(texts[0], Scale::Share, values.clone()), panel("</style>", Scale::Signed, values)];
    Heatmap::new(texts.concat(), tokens.clone(), tokens, panels).unwrap()
}
