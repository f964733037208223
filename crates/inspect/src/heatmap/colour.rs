//! The colours of cells, in steps: a sequential scale for shares and a diverging one for signed values, each for a
//! light and a dark ground.
//!
//! Both are safe for colour-blind readers. The sequential scale goes from the ground's own colour through green to
//! blue (or, on a dark ground, to pale yellow) with lightness that only falls (or rises), so it can be read in grey
//! too. The diverging scale sets blue against orange, which remain apart in every common form of colour blindness.

use std::fmt::Write;

use super::Scale;
use crate::terminal::Colour;

/// The number of the strongest step; step 0 is nothing. Signed values count from its negative.
pub(super) const STEPS: i32 = 32;

/// What is behind the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    Light,
    Dark,
}

// Nothing but black and white can be read on every colour.
const DARK_INK: Colour = [0x00, 0x00, 0x00];
const LIGHT_INK: Colour = [0xff, 0xff, 0xff];

/// The colours between which a scale is blended, at equal distances from nothing to the most.
fn stops(scale: Scale, negative: bool, ground: Ground) -> &'static [Colour] {
    match (scale, ground, negative) {
        (Scale::Share | Scale::Largest, Ground::Light, _) => &[
            [0xfa, 0xfb, 0xf6],
            [0xd9, 0xec, 0xc3],
            [0x86, 0xcb, 0xb0],
            [0x3a, 0x94, 0xb4],
            [0x23, 0x5a, 0x9a],
            [0x12, 0x26, 0x5c],
        ],
        (Scale::Share | Scale::Largest, Ground::Dark, _) => &[
            [0x1c, 0x1f, 0x26],
            [0x23, 0x3a, 0x66],
            [0x1f, 0x68, 0x80],
            [0x3f, 0x9c, 0x7e],
            [0xa2, 0xcc, 0x6a],
            [0xfd, 0xf3, 0xa6],
        ],
        (Scale::Signed, Ground::Light, false) => &[
            [0xfa, 0xfa, 0xf8],
            [0xfd, 0xd3, 0xa2],
            [0xf1, 0x96, 0x45],
            [0xc2, 0x5b, 0x0c],
            [0x76, 0x33, 0x04],
        ],
        (Scale::Signed, Ground::Light, true) => &[
            [0xfa, 0xfa, 0xf8],
            [0xb9, 0xd7, 0xee],
            [0x63, 0xa3, 0xd4],
            [0x24, 0x68, 0xac],
            [0x0c, 0x35, 0x6b],
        ],
        (Scale::Signed, Ground::Dark, false) => &[
            [0x1c, 0x1f, 0x26],
            [0x66, 0x36, 0x12],
            [0xb4, 0x5d, 0x13],
            [0xf0, 0x97, 0x42],
            [0xff, 0xdc, 0xb0],
        ],
        (Scale::Signed, Ground::Dark, true) => &[
            [0x1c, 0x1f, 0x26],
            [0x17, 0x3d, 0x68],
            [0x27, 0x6f, 0xb0],
            [0x6a, 0xac, 0xe0],
            [0xc6, 0xe2, 0xf8],
        ],
    }
}

/// The step of a value on a scale that ends at `limit`.
pub(crate) fn step(value: f32, limit: f32) -> i32 {
    // Divided in double precision: the largest float over the smallest is finite there.
    let part = f64::from(value) / f64::from(limit);
    if part.is_finite() { (part.clamp(-1.0, 1.0) * f64::from(STEPS)).round() as i32 } else { 0 }
}

/// The colour of a step.
pub(super) fn colour(scale: Scale, step: i32, ground: Ground) -> Colour {
    blended(scale, f64::from(step) / f64::from(STEPS), ground)
}

/// The colour of a part of the whole scale, from 0 to 1, or from -1 for signed values.
pub(crate) fn blended(scale: Scale, part: f64, ground: Ground) -> Colour {
    let stops = stops(scale, part < 0.0, ground);
    let place = part.abs().min(1.0) * (stops.len() - 1) as f64;
    let below = (place as usize).min(stops.len() - 2);
    let part = place - below as f64;
    let (from, to) = (stops[below], stops[below + 1]);
    std::array::from_fn(|channel| {
        (f64::from(from[channel]) * (1.0 - part) + f64::from(to[channel]) * part).round() as u8
    })
}

/// The colour of text on a colour: dark or light, whichever stands out more.
pub(super) fn ink(on: Colour) -> Colour {
    if contrast(DARK_INK, on) >= contrast(LIGHT_INK, on) { DARK_INK } else { LIGHT_INK }
}

/// The contrast of two colours, from 1 to 21, as the Web Content Accessibility Guidelines measure it.
fn contrast(one: Colour, other: Colour) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Relative luminance, from 0 to 1.
fn luminance(colour: Colour) -> f64 {
    let linear = |channel: u8| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
}

/// A colour as style sheets write it.
pub(crate) fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The class of a step: `s0` to `s32` for shares, `n32` to `n1` and `p0` to `p32` for signed values.
pub(crate) fn class(scale: Scale, step: i32) -> String {
    let letter = match scale {
        Scale::Share | Scale::Largest => 's',
        Scale::Signed if step < 0 => 'n',
        Scale::Signed => 'p',
    };
    format!("{letter}{}", step.abs())
}

/// The steps of a scale, from its low end to its high end.
pub(super) fn steps(scale: Scale) -> std::ops::RangeInclusive<i32> {
    match scale {
        Scale::Share | Scale::Largest => 0..=STEPS,
        Scale::Signed => -STEPS..=STEPS,
    }
}

/// A style sheet with a rule per step. In pictures the cell is a group of a rectangle and a text, on the page it is
/// the cell of a table: each takes the properties that it knows.
pub(crate) fn style(scales: &[Scale], ground: Ground) -> String {
    let mut rules = String::new();
    for &scale in scales {
        for step in steps(scale) {
            let fill = colour(scale, step, ground);
            let (class, fill, ink) = (class(scale, step), hex(fill), hex(ink(fill)));
            // Writing to a string cannot fail.
            let _ = writeln!(rules, ".{class}{{fill:{fill};background:{fill};color:{ink}}}");
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUNDS: [Ground; 2] = [Ground::Light, Ground::Dark];

    fn lightness(scale: Scale, steps: impl Iterator<Item = i32>, ground: Ground) -> Vec<f64> {
        steps.map(|step| luminance(colour(scale, step, ground))).collect()
    }

    #[test]
    fn a_stronger_value_is_always_further_from_the_ground() {
        for ground in GROUNDS {
            for (scale, sign) in [(Scale::Share, 1), (Scale::Signed, 1), (Scale::Signed, -1)] {
                let lightness = lightness(scale, (0..=STEPS).map(|step| sign * step), ground);
                let rises = lightness.windows(2).all(|pair| pair[0] < pair[1]);
                let falls = lightness.windows(2).all(|pair| pair[0] > pair[1]);
                assert!(
                    if ground == Ground::Light { falls } else { rises },
                    "{scale:?} {ground:?} {lightness:?}"
                );
            }
        }
    }

    #[test]
    fn numbers_can_be_read_on_every_colour() {
        for ground in GROUNDS {
            for scale in [Scale::Share, Scale::Signed] {
                for step in steps(scale) {
                    let fill = colour(scale, step, ground);
                    assert!(contrast(ink(fill), fill) >= 4.5, "{scale:?} {step} {ground:?}");
                }
            }
        }
    }

    /// Brettel's and Viénot's simplification: who lacks the red or the green cones confuses the two, and sees blue.
    #[test]
    fn for_and_against_differ_without_red_and_green() {
        for ground in GROUNDS {
            for step in 8..=STEPS {
                let [red, green, blue] = colour(Scale::Signed, step, ground).map(f64::from);
                let [other_red, other_green, other_blue] =
                    colour(Scale::Signed, -step, ground).map(f64::from);
                let yellow = ((red + green) - (other_red + other_green)) / 2.0;
                let distance = yellow.hypot(blue - other_blue);
                assert!(distance > 40.0, "step {step}, {ground:?}: {distance}");
            }
        }
    }

    #[test]
    fn steps_end_where_the_scale_ends() {
        assert_eq!([0.0, 0.5, 1.0, 7.0, -1.0].map(|value| step(value, 1.0)), [0, 16, 32, 32, -32]);
        assert_eq!(step(f32::MAX, f32::MIN_POSITIVE), 32);
        assert_eq!(step(0.0, 0.0), 0);
    }
}
