//! Matrices as they are sent: as lists of numbers, or as bytes, of which a number takes a little more than one.
//!
//! ```text
//! value ≈ least + byte / 255 · scale,   |error| ≤ scale / 510
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatto_model::Matrix;
use serde::Serialize;
use utoipa::ToSchema;

/// The largest byte.
const MOST: f64 = 255.0;

/// A matrix that is sent.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Sent {
    /// Row after row.
    Plain(Vec<Vec<f32>>),
    /// As bytes.
    Compact(Compact),
}

/// A matrix as bytes: value = least + byte / 255 · scale, wrong by scale / 510 at most.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Compact {
    rows: usize,
    columns: usize,
    /// The least value.
    least: f32,
    /// How far the greatest value lies above it.
    scale: f32,
    /// A byte for each value, row after row, as base64.
    values: String,
}

impl Sent {
    pub(crate) fn new(matrix: Matrix, compact: bool) -> Self {
        if compact { Self::Compact(Compact::new(&matrix)) } else { Self::Plain(matrix) }
    }
}

impl Compact {
    /// What is no number counts as the least value.
    fn new(matrix: &Matrix) -> Self {
        let (rows, columns) = (matrix.len(), matrix.first().map_or(0, Vec::len));
        let finite = || matrix.iter().flatten().copied().filter(|value| value.is_finite());
        let least = finite().fold(f32::INFINITY, f32::min);
        let least = if least.is_finite() { least } else { 0.0 };
        // Two numbers of opposite sign may be further apart than a float tells; such a matrix is nobody's attention.
        let scale = (finite().fold(least, f32::max) - least).min(f32::MAX);
        let byte = |value: f32| {
            let share = (f64::from(value) - f64::from(least)) / f64::from(scale).max(f64::MIN_POSITIVE);
            if value.is_finite() { (share * MOST).round().clamp(0.0, MOST) as u8 } else { 0 }
        };
        let values: Vec<u8> = matrix.iter().flatten().map(|&value| byte(value)).collect();
        Self { rows, columns, least, scale, values: STANDARD.encode(values) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sent: &Compact) -> Matrix {
        let bytes = STANDARD.decode(&sent.values).unwrap();
        assert_eq!(bytes.len(), sent.rows * sent.columns);
        let value = |byte: &u8| sent.least + f32::from(*byte) / 255.0 * sent.scale;
        bytes.chunks(sent.columns.max(1)).map(|row| row.iter().map(value).collect()).collect()
    }

    fn compact(matrix: &Matrix) -> Compact {
        match Sent::new(matrix.clone(), true) {
            Sent::Compact(sent) => sent,
            Sent::Plain(_) => unreachable!("it was asked to be compact"),
        }
    }

    #[test]
    fn values_are_wrong_by_half_a_byte_at_most() {
        let matrix: Matrix = (0..37u8)
            .map(|row| {
                (0..23u8).map(|column| f32::from(row * 7 % 31) * 0.013 - f32::from(column) * 0.11).collect()
            })
            .collect();
        let sent = compact(&matrix);
        let bound = sent.scale / 510.0 * 1.0001;
        for (found, expected) in read(&sent).iter().flatten().zip(matrix.iter().flatten()) {
            assert!((found - expected).abs() <= bound, "{found} for {expected}, and {bound} is allowed");
        }
        assert!(sent.least < 0.0 && sent.least + sent.scale > 0.0, "both signs are there");
        assert_eq!(Sent::new(matrix.clone(), false), Sent::Plain(matrix));
    }

    #[test]
    fn odd_matrices_are_sent_too() {
        assert_eq!(read(&compact(&vec![vec![0.25; 3]; 2])), vec![vec![0.25; 3]; 2]);
        assert_eq!((compact(&Vec::new()).rows, compact(&Vec::new()).columns), (0, 0));
        let odd = compact(&vec![vec![f32::NAN, 1.0, f32::INFINITY, 3.0]]);
        assert_eq!(read(&odd), vec![vec![1.0, 1.0, 1.0, 3.0]]);
        assert!(compact(&vec![vec![f32::MIN, f32::MAX]]).scale.is_finite());
    }

    #[test]
    fn bytes_are_smaller_than_numbers() {
        let weights: Matrix = (1..=300u16)
            .map(|row| (1..=300u16).map(|column| 1.0 / f32::from(row + column)).collect())
            .collect();
        let length = |compact| serde_json::to_string(&Sent::new(weights.clone(), compact)).unwrap().len();
        assert!(
            length(true) < 300 * 300 * 4 / 3 + 200 && length(true) * 6 < length(false),
            "{}",
            length(false)
        );
    }
}
