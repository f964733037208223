//! Other views of the same heatmap: whole words instead of their pieces, and without the end token.

use std::ops::Range;

use super::{Heatmap, Panel, Scale, Token};

impl Heatmap {
    /// Whether some word stands in several pieces, so that [`Heatmap::merge_words`] changes something.
    pub fn has_pieces(&self) -> bool {
        words(&self.source).len() < self.source.len() || words(&self.target).len() < self.target.len()
    }

    /// Whether an axis has an end token beside others, so that [`Heatmap::without_end`] changes something.
    pub fn has_end(&self) -> bool {
        let ends = |tokens: &[Token]| tokens.iter().any(|token| token.word.is_none());
        let others = |tokens: &[Token]| tokens.iter().any(|token| token.word.is_some());
        (ends(&self.source) || ends(&self.target)) && others(&self.source) && others(&self.target)
    }

    /// Neighbouring pieces of a word as one token.
    ///
    /// What a target token draws from a word is the sum over the word's pieces; what a target word draws is the
    /// mean over its pieces. So the rows of a [`Scale::Share`] panel keep their sums. Of a [`Scale::Largest`] panel
    /// it is the largest of all pieces. A word is as probable as all of its pieces together.
    #[must_use]
    pub fn merge_words(&self) -> Self {
        let (columns, rows) = (words(&self.source), words(&self.target));
        let merge = |panel: &Panel| {
            let row =
                |row: &Range<usize>| columns.iter().map(|column| merged_value(panel, row, column)).collect();
            Panel { values: rows.iter().map(row).collect(), ..panel.clone() }
        };
        let product = |probabilities: &Vec<f32>| {
            rows.iter().map(|row| probabilities[row.clone()].iter().product()).collect()
        };
        Self {
            source: columns.iter().map(|word| merged_token(&self.source[word.clone()])).collect(),
            target: rows.iter().map(|word| merged_token(&self.target[word.clone()])).collect(),
            probabilities: self.probabilities.as_ref().map(product),
            panels: self.panels.iter().map(merge).collect(),
            ..self.clone()
        }
    }

    /// Without the end token's row and column, and those of other tokens that belong to no word. The rows of a
    /// [`Scale::Share`] panel are divided by what is left of them, so that they sum to what they did; a row with
    /// nothing left stays zero. An axis of end tokens alone stays as it is: there would be nothing to draw.
    #[must_use]
    pub fn without_end(&self) -> Self {
        if !self.has_end() {
            return self.clone();
        }
        let kept = |tokens: &[Token]| -> Vec<usize> {
            (0..tokens.len()).filter(|&index| tokens[index].word.is_some()).collect()
        };
        let (columns, rows) = (kept(&self.source), kept(&self.target));
        let cut = |panel: &Panel| {
            let row = |&row: &usize| {
                let all = &panel.values[row];
                let left: Vec<f32> = columns.iter().map(|&column| all[column]).collect();
                if panel.scale == Scale::Share { renormalised(left, all) } else { left }
            };
            Panel { values: rows.iter().map(row).collect(), ..panel.clone() }
        };
        let pick = |probabilities: &Vec<f32>| rows.iter().map(|&row| probabilities[row]).collect();
        Self {
            source: columns.iter().map(|&column| self.source[column].clone()).collect(),
            target: rows.iter().map(|&row| self.target[row].clone()).collect(),
            probabilities: self.probabilities.as_ref().map(pick),
            panels: self.panels.iter().map(cut).collect(),
            ..self.clone()
        }
    }
}

/// The runs of neighbouring tokens that belong to one word; an end token is a run of its own.
fn words(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if token.word.is_some() && tokens[run.start].word == token.word => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

fn merged_value(Panel { values, scale, .. }: &Panel, row: &Range<usize>, column: &Range<usize>) -> f32 {
    let pieces = values[row.clone()].iter().flat_map(|row| &row[column.clone()]);
    if *scale == Scale::Largest {
        return pieces.fold(0.0, |most, &value| most.max(value));
    }
    // In double precision, and divided before it is summed: the sum of finite numbers stays finite.
    let count = row.len() as f64;
    let sum: f64 = pieces.map(|&value| f64::from(value) / count).sum();
    sum.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}

fn renormalised(left: Vec<f32>, all: &[f32]) -> Vec<f32> {
    let sum = |values: &[f32]| values.iter().map(|&value| f64::from(value)).sum::<f64>();
    let (rest, whole) = (sum(&left), sum(all));
    if rest <= 0.0 {
        return vec![0.0; left.len()];
    }
    left.into_iter().map(|value| (f64::from(value) / rest * whole).clamp(0.0, 1.0) as f32).collect()
}

fn merged_token(pieces: &[Token]) -> Token {
    let word = pieces.first().and_then(|piece| piece.word);
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    if word.is_none() {
        return Token { text, word };
    }
    let text = join_bytes(&text);
    // The mark of a space between words says nothing once there are only words.
    let trimmed = text.trim_matches('▁');
    Token { text: if trimmed.is_empty() { text } else { trimmed.to_owned() }, word }
}

/// Bytes that stood for themselves (`<0xC3>`, `<0xA8>`) as the character that they are together (`è`).
fn join_bytes(text: &str) -> String {
    let mut joined = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let byte = rest.strip_prefix("<0x").and_then(|hex| Some((hex.get(..2)?, hex.get(2..3)?)));
        match byte.filter(|(_, end)| *end == ">").and_then(|(hex, _)| u8::from_str_radix(hex, 16).ok()) {
            // Only those that cannot stand alone were ever written so.
            Some(byte) if !byte.is_ascii() => {
                joined.push(byte);
                rest = &rest["<0x00>".len()..];
            }
            _ => {
                joined.extend_from_slice(&rest.as_bytes()[..character.len_utf8()]);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    String::from_utf8(joined).unwrap_or_else(|_| text.to_owned())
}
