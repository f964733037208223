//! How a panel's numbers are written, and where its colours end.

use super::{Panel, Scale};
use crate::axis::brief;

/// How the numbers of one panel are written in its cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    scale: Scale,
    /// The value of the strongest colour: a round number that no value exceeds.
    pub(super) limit: f32,
    /// The power of ten by which the numbers in the cells are to be multiplied, if they would be too long otherwise.
    pub(super) unit: Option<i32>,
    pub(super) decimals: usize,
}

impl Numbers {
    pub(super) fn of(panel: &Panel) -> Self {
        Self::common(std::slice::from_ref(panel))
    }

    /// For several panels of one scale, so that a colour means the same in all of them.
    pub(super) fn common(panels: &[Panel]) -> Self {
        let values = panels.iter().flat_map(|panel| panel.values.iter().flatten());
        let largest = values.fold(0.0, |most: f32, value| most.max(value.abs()));
        let scale = panels.first().map_or(Scale::Share, |panel| panel.scale);
        let limit = match scale {
            Scale::Share | Scale::Largest => round_up(largest).clamp(0.05, 1.0),
            Scale::Signed => round_up(largest),
        };
        let exponent = f64::from(limit).log10().floor() as i32;
        let unit = (scale == Scale::Signed && !(-1..=2).contains(&exponent)).then_some(exponent);
        let decimals = match (scale, unit) {
            (Scale::Share | Scale::Largest, _) => 2,
            (_, Some(_)) => 1,
            (_, None) => (1 - exponent).clamp(0, 2) as usize,
        };
        Self { scale, limit, unit, decimals }
    }

    /// A value as it stands in a cell. Shares drop their zero (`.25`), signed values bear their sign.
    pub(super) fn short(&self, value: f32) -> String {
        let text = self.padded(value);
        match self.scale {
            Scale::Signed => text,
            _ => text.strip_prefix("0.").map(|rest| format!(".{rest}")).unwrap_or(text),
        }
    }

    /// The same with the zero before the point.
    pub(super) fn padded(&self, value: f32) -> String {
        let unit = self.unit.map_or(1.0, |exponent| 10f64.powi(exponent));
        let (value, decimals) = (f64::from(value) / unit, self.decimals);
        let text = match self.scale {
            Scale::Share | Scale::Largest => format!("{:.decimals$}", value.clamp(0.0, 1.0)),
            Scale::Signed => format!("{value:+.decimals$}").replace('-', "−"),
        };
        // What rounds to nothing takes no more room than that: the others stand out.
        if text.chars().any(|digit| ('1'..='9').contains(&digit)) { text } else { "0".to_owned() }
    }

    /// What follows the panel's name: the unit of the numbers in its cells.
    pub(super) fn caption(&self) -> String {
        self.unit.map_or(String::new(), |exponent| format!("(× {})", brief(10f64.powi(exponent))))
    }

    /// What stands below the low end, the middle and the high end of the bar of colours.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let limit = f64::from(self.limit);
        match self.scale {
            Scale::Share | Scale::Largest => {
                vec![(0.0, "0".to_owned()), (0.5, brief(limit / 2.0)), (1.0, brief(limit))]
            }
            Scale::Signed => {
                vec![(0.0, brief(-limit)), (0.5, "0".to_owned()), (1.0, format!("+{}", brief(limit)))]
            }
        }
    }
}

/// A value in full, for those who point at its cell: four digits.
pub(super) fn exact(value: f32, scale: Scale) -> String {
    match scale {
        Scale::Share | Scale::Largest => format!("{value:.4}"),
        Scale::Signed if value > 0.0 => format!("+{}", brief(f64::from(value))),
        Scale::Signed => brief(f64::from(value)),
    }
}

/// What counts as a round number, times a power of ten: near enough to each other that no colours are wasted.
const ROUND: [f64; 9] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// The next round number; one for nothing.
pub(crate) fn round_up(value: f32) -> f32 {
    if value <= f32::MIN_POSITIVE {
        return 1.0;
    }
    let value = f64::from(value);
    let magnitude = 10f64.powi(value.log10().floor() as i32);
    let factor = ROUND.into_iter().find(|factor| factor * magnitude >= value * (1.0 - 1e-6));
    (factor.unwrap_or(10.0) * magnitude).min(f64::from(f32::MAX)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(scale: Scale, largest: f32) -> Numbers {
        Numbers::of(&Panel { name: String::new(), scale, values: vec![vec![0.0, largest]] })
    }

    #[test]
    fn colours_end_at_a_round_number() {
        let limits = [0.0, 0.03, 0.11, 0.4, 0.93, 1.0005].map(|most| numbers(Scale::Share, most).limit);
        assert_eq!(limits, [1.0, 0.05, 0.15, 0.4, 1.0, 1.0]);
        let limits = [0.0, -0.03, 1.0, -1.1, 7.0, 3e5].map(|most| numbers(Scale::Signed, most).limit);
        assert_eq!(limits, [1.0, 0.03, 1.0, 1.5, 8.0, 3e5]);
        assert!(numbers(Scale::Signed, f32::MAX).limit.is_finite());
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let share = numbers(Scale::Share, 1.0);
        assert_eq!([0.0, 0.254, 0.999, 1.0].map(|value| share.short(value)), ["0", ".25", "1.00", "1.00"]);
        assert_eq!(share.padded(0.254), "0.25");
        let signed = numbers(Scale::Signed, 1.4);
        assert_eq!([-1.4, 0.04, 0.06].map(|value| signed.short(value)), ["−1.4", "0", "+0.1"]);
        assert_eq!(numbers(Scale::Signed, 0.3).short(-0.25), "−0.25");
        assert_eq!(numbers(Scale::Signed, 400.0).short(-250.4), "−250");
    }

    #[test]
    fn very_small_and_very_large_numbers_have_a_unit() {
        let small = numbers(Scale::Signed, 0.0031);
        assert_eq!((small.short(0.0031), small.caption()), ("+3.1".to_owned(), "(× 0.001)".to_owned()));
        let large = numbers(Scale::Signed, 2e5);
        assert_eq!((large.short(-1.5e5), large.caption()), ("−1.5".to_owned(), "(× 100k)".to_owned()));
    }

    #[test]
    fn exact_values_have_four_digits() {
        assert_eq!(exact(0.12345, Scale::Share), "0.1235");
        assert_eq!(exact(0.12345, Scale::Signed), "+0.1235");
        assert_eq!(exact(-12.0, Scale::Signed), "−12");
    }
}
