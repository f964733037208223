//! Axes of plots: their ends, their round ticks, and how numbers are shown beside them.

/// An axis: its ends, and where it is marked.
pub(crate) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    pub(crate) ticks: Vec<Tick>,
}

pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

impl Axis {
    /// A horizontal axis for these values. It starts at zero if they start near it.
    pub(crate) fn horizontal(values: impl Iterator<Item = f64> + Clone) -> Self {
        let Some((low, high)) = ends(values.clone()) else {
            return Self { low: 0.0, high: 1.0, logarithmic: false, ticks: Vec::new() };
        };
        let low = if low > 0.0 && low < 0.1 * high { 0.0 } else { low };
        let (low, high) = widen(low, high);
        let smallest_step = if values.into_iter().all(|x| x.fract() == 0.0) { 1.0 } else { 0.0 };
        Self { low, high, logarithmic: false, ticks: linear_ticks(low, high, 8, smallest_step) }
    }

    /// The vertical axis for these values, with some air at both ends.
    pub(crate) fn vertical(values: impl Iterator<Item = f64>, logarithmic: bool) -> Self {
        let Some((low, high)) = ends(values) else {
            return Self { low: 0.0, high: 1.0, logarithmic: false, ticks: Vec::new() };
        };
        if logarithmic {
            let air = ((high.ln() - low.ln()) * 0.05).exp().max(1.1);
            let (low, high) = ((low / air).max(f64::MIN_POSITIVE), (high * air).min(f64::MAX));
            return Self { low, high, logarithmic, ticks: logarithmic_ticks(low, high) };
        }
        // From zero if that wastes little: heights can then be compared.
        let from_zero = low >= 0.0 && low < 0.3 * high;
        let (low, high) = widen(if from_zero { 0.0 } else { low }, high);
        let air = 0.05 * (high - low);
        let (low, high) = (if from_zero { low } else { low - air }, high + air);
        Self { low, high, logarithmic, ticks: linear_ticks(low, high, 5, 0.0) }
    }

    /// Where on the axis a value stands: 0 at its low end, 1 at its high end.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        if self.logarithmic {
            return (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln());
        }
        (value - self.low) / (self.high - self.low)
    }
}

/// The least and the greatest value.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// The ends as they are, or a range around them if they are so close that nothing could be told apart.
fn widen(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if high - low > (size * 1e-9).max(1e-290) {
        return (low, high);
    }
    let room = if size > 1e-280 { 0.1 * size } else { 1.0 };
    (low - room, high + room)
}

/// Ticks at multiples of 1, 2 or 5 × 10ⁿ, about `wanted` of them.
fn linear_ticks(low: f64, high: f64, wanted: usize, smallest_step: f64) -> Vec<Tick> {
    let rough = (high - low) / wanted as f64;
    let magnitude = power_of_ten(rough.log10().floor() as i32);
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * magnitude >= rough * 0.7);
    let step = (factor.unwrap_or(10.0) * magnitude).max(smallest_step);
    let first = (low / step - 1e-6).ceil();
    let count = ((high / step + 1e-6).floor() - first).clamp(0.0, 20.0) as usize;
    let values: Vec<f64> = (0..=count).map(|index| (first + index as f64) * step).collect();
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    values.into_iter().map(|value| Tick { value, label: tick_label(value, step, largest) }).collect()
}

/// Ticks at powers of ten, or between them too if there are few, or linear ones if the range is narrow.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let stride = ((last - first) / 6).max(1) as usize;
    for factors in [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]] {
        let values: Vec<f64> = (first..=last)
            .step_by(stride)
            .flat_map(|exponent| factors.iter().map(move |factor| factor * power_of_ten(exponent)))
            .filter(|value| (low..=high).contains(value))
            .collect();
        if values.len() >= 3 {
            return values.into_iter().map(|value| Tick { value, label: brief(value) }).collect();
        }
    }
    linear_ticks(low, high, 5, 0.0)
}

/// 10ⁿ, correctly rounded (`powi` is not).
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::MIN_POSITIVE)
}

/// How numbers of this size are shown: divided by what, and followed by what.
fn unit(size: f64) -> (f64, String) {
    match size {
        0.0 => (1.0, String::new()),
        _ if !(1e-3..1e12).contains(&size) => {
            let exponent = (size.log10() + 1e-9).floor() as i32;
            (power_of_ten(exponent), format!("e{exponent}"))
        }
        _ if size >= 1e9 => (1e9, "G".to_owned()),
        _ if size >= 1e6 => (1e6, "M".to_owned()),
        _ if size >= 1e4 => (1e3, "k".to_owned()),
        _ => (1.0, String::new()),
    }
}

/// A tick's label: as many decimals as its step needs, in the unit of the largest tick.
fn tick_label(value: f64, step: f64, largest: f64) -> String {
    let (unit, suffix) = unit(largest);
    let decimals = (-(step / unit).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    format!("{:.decimals$}{suffix}", value / unit).replace('-', "−")
}

/// A value to four significant digits, without idle zeros.
pub(crate) fn brief(value: f64) -> String {
    let (unit, suffix) = unit(value.abs());
    let value = value / unit;
    let decimals =
        if value == 0.0 { 0 } else { (3 - value.abs().log10().floor() as i32).clamp(0, 7) as usize };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{suffix}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&linear_ticks(0.0, 1.0, 5, 0.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&linear_ticks(-3.2, 9.0, 5, 0.0)), ["−2", "0", "2", "4", "6", "8"]);
        assert_eq!(labels(&linear_ticks(0.0, 8000.0, 8, 1.0))[..3], ["0", "1000", "2000"]);
        assert_eq!(labels(&linear_ticks(0.0, 4e4, 5, 1.0))[..3], ["0", "10k", "20k"]);
        assert_eq!(labels(&linear_ticks(0.0, 2.0, 8, 1.0)), ["0", "1", "2"]);
        assert_eq!(labels(&linear_ticks(1e-5, 6e-5, 5, 0.0))[..2], ["1e−5", "2e−5"]);
    }

    #[test]
    fn logarithmic_ticks_suit_the_range() {
        assert_eq!(labels(&logarithmic_ticks(1e-4, 1.0)), ["1e−4", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(&logarithmic_ticks(0.9, 11.0)), ["1", "3", "10"]);
        assert_eq!(labels(&logarithmic_ticks(2.0, 2.4)), ["2.0", "2.1", "2.2", "2.3", "2.4"]);
        assert!(logarithmic_ticks(1e-300, 1e300).len() <= 8);
    }

    #[test]
    fn values_are_brief() {
        let shown = [0.0, 1.0, -2.5, 0.123456, 98765.0, 1234.5678, 3e-4, 1e300].map(brief);
        assert_eq!(shown, ["0", "1", "−2.5", "0.1235", "98.77k", "1235", "3e−4", "1e300"]);
    }
}
