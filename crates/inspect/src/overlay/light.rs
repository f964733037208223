//! The focus as pixels: colours that run smoothly from region to region, and over them the image as shade, which makes
//! the colours darker where it is dark. So one sees both: how much was looked at a place, by its colour, and what is
//! there.
//!
//! The middle of a region has exactly the colour of its weight. Between middles runs the cubic of Catmull and Rom, so
//! that what is round stays round; it is cut off at nothing and at the largest weight, beyond which it could swing.

use gatto_data::images::{Filter, Grid, Image};
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8};

use crate::heatmap::Scale;
use crate::heatmap::colour::{Ground, blended};
use crate::terminal::Colour;

/// The grey of what was not looked at.
const GREY: f64 = 84.0;
/// Where on the scale of colours the smallest weight begins: what is darker would be lost on the grey.
const FIRST: f64 = 0.4;
/// How much of the light the darkest part of the image takes. Even there the strongest colour is far lighter than the
/// grey where the image is white.
pub(super) const SHADE: f64 = 0.4;

/// The colour of a part of the largest weight, from 0 to 1.
pub(super) fn glow(part: f64) -> Colour {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    let colour = blended(Scale::Share, FIRST + (1.0 - FIRST) * part, Ground::Dark);
    let strength = 1.0 - (1.0 - part).powi(2);
    colour.map(|channel| (f64::from(channel) * strength + GREY * (1.0 - strength)).round() as u8)
}

/// The part of the strongest colour that a weight has.
pub(super) fn part(weight: f32, limit: f32) -> f64 {
    // Divided in double precision: the largest float over the smallest is finite there.
    if limit > 0.0 { (f64::from(weight) / f64::from(limit)).min(1.0) } else { 0.0 }
}

/// The image as shade, in black that hides more where the image is darker.
pub(super) struct Shade {
    /// Lighter than this casts no shade, and darker than that all of it: the range of the image's greys, so that a pale
    /// image can be seen too.
    pub(super) levels: [u8; 2],
}

impl Shade {
    pub(super) fn of(image: &Image) -> Self {
        let mut counts = [0usize; 256];
        for &grey in image.grey().bytes() {
            counts[usize::from(grey)] += 1;
        }
        let pixels: usize = counts.iter().sum();
        // A hundredth at either end counts for nothing.
        let level = |share: f64| {
            let mut seen = 0;
            let found = counts.iter().position(|count| {
                seen += count;
                seen as f64 >= share * pixels as f64
            });
            found.unwrap_or(255) as u8
        };
        let (dark, light) = (level(0.01), level(0.99));
        // Greys are spread to three times their range at most: what is even should stay even.
        let room = 85u8.saturating_sub(light - dark);
        let low = dark.saturating_sub(room / 2);
        let high = light.saturating_add(room - (dark - low));
        Self { levels: [low.min(high.saturating_sub(85)), high] }
    }

    /// How much light is left over a grey, from 0 to 1.
    pub(super) fn light(&self, grey: u8) -> f64 {
        let [low, high] = self.levels.map(f64::from);
        1.0 - SHADE * (1.0 - ((f64::from(grey) - low) / (high - low)).clamp(0.0, 1.0))
    }

    /// What can be laid over colours.
    pub(super) fn pixels(&self, image: &Image) -> Option<Pixmap> {
        let mut pixels = Pixmap::new(image.width() as u32, image.height() as u32)?;
        for (pixel, &grey) in pixels.pixels_mut().iter_mut().zip(image.grey().bytes()) {
            let hides = ((1.0 - self.light(grey)) * 255.0).round() as u8;
            *pixel = PremultipliedColorU8::from_rgba(0, 0, 0, hides).unwrap_or(*pixel);
        }
        Some(pixels)
    }
}

/// The image with at most this many pixels on its longer side, in its own proportions.
pub(super) fn at_most(image: &Image, side: usize) -> Image {
    let longest = image.height().max(image.width());
    if longest <= side {
        return image.clone();
    }
    let scaled = |length: usize| ((length * side + longest / 2) / longest).max(1);
    let [height, width] = [scaled(image.height()), scaled(image.width())];
    // Both sides are from 1 to `side`, which is never refused.
    image.resized(height, width, Filter::CatmullRom).unwrap_or_else(|_| image.clone())
}

/// An image that can be drawn.
pub(crate) fn pixels(image: &Image) -> Option<Pixmap> {
    let mut pixels = Pixmap::new(image.width() as u32, image.height() as u32)?;
    for (pixel, bytes) in pixels.pixels_mut().iter_mut().zip(image.bytes().chunks_exact(image.channels())) {
        let [red, green, blue] = [0, 1, 2].map(|channel| bytes[channel.min(bytes.len() - 1)]);
        // A colour that hides all is never refused.
        *pixel = PremultipliedColorU8::from_rgba(red, green, blue, 255).unwrap_or(*pixel);
    }
    Some(pixels)
}

/// Weights in the colours of their parts of `limit`, `height` × `width` pixels.
pub(super) fn focus(weights: &[f32], grid: Grid, limit: f32, [height, width]: [usize; 2]) -> Option<Image> {
    let weights = spread(weights, grid, [height, width]);
    let bytes = weights.into_iter().flat_map(|weight| glow(part(weight, limit))).collect();
    Image::new(height, width, 3, bytes).ok()
}

/// The weights of `height` × `width` points at equal distances, row after row.
pub(super) fn spread(weights: &[f32], grid: Grid, [height, width]: [usize; 2]) -> Vec<f32> {
    let (down, across) = (curves(grid.rows, height), curves(grid.columns, width));
    // Along rows: [rows, width].
    let rows: Vec<f32> = weights
        .chunks_exact(grid.columns)
        .flat_map(|row| across.iter().map(move |curve| curve.at(|column| row[column])))
        .collect();
    let most = super::most(weights);
    let mut values = Vec::with_capacity(height * width);
    for curve in &down {
        values.extend((0..width).map(|column| curve.at(|row| rows[row * width + column]).clamp(0.0, most)));
    }
    values
}

/// Four regions along a line, and how much each of them counts at a point between the second and the third.
struct Curve {
    regions: [usize; 4],
    counts: [f64; 4],
}

impl Curve {
    fn at(&self, weight: impl Fn(usize) -> f32) -> f32 {
        // In double precision: the largest floats have no sum in single.
        let terms =
            self.regions.iter().zip(self.counts).map(|(&region, count)| f64::from(weight(region)) * count);
        terms.sum::<f64>().clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
    }
}

/// The curve for each of `points` at equal distances along a line of `regions`. Beyond the outermost middles, the
/// outermost regions go on.
fn curves(regions: usize, points: usize) -> Vec<Curve> {
    let curve = |point: usize| {
        let place = (point as f64 + 0.5) * regions as f64 / points as f64 - 0.5;
        let place = place.clamp(0.0, (regions - 1) as f64);
        let (first, t) = (place as usize, place.fract());
        let near = |offset: usize| (first + offset).saturating_sub(1).min(regions - 1);
        let counts = [
            ((2.0 - t) * t - 1.0) * t / 2.0,
            ((3.0 * t - 5.0) * t * t + 2.0) / 2.0,
            ((4.0 - 3.0 * t) * t + 1.0) * t / 2.0,
            (t - 1.0) * t * t / 2.0,
        ];
        Curve { regions: [0, 1, 2, 3].map(near), counts }
    };
    (0..points).map(curve).collect()
}

/// The height and width of the pixels of a focus: the same number for each region, about `side` on the longer side.
pub(super) fn resolution(grid: Grid, side: usize) -> [usize; 2] {
    let each = (side / grid.rows.max(grid.columns)).max(1);
    [grid.rows * each, grid.columns * each]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GRID: Grid = Grid { rows: 2, columns: 3 };

    #[test]
    fn middles_have_the_weights_of_their_regions() {
        let weights = [0.0, 1.0, 0.25, 0.5, 0.0, 3.0];
        assert_eq!(spread(&weights, GRID, [2, 3]), weights);
        let wide = spread(&weights, GRID, [10, 15]);
        for (region, &weight) in weights.iter().enumerate() {
            let (row, column) = (region / 3 * 5 + 2, region % 3 * 5 + 2);
            assert_eq!(wide[row * 15 + column], weight);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_brighter_than_the_brightest_region(
            weights in prop::collection::vec(0.0f32..1e30, 6), height in 1usize..40, width in 1usize..40,
        ) {
            let spread = spread(&weights, GRID, [height, width]);
            let most = weights.iter().copied().fold(0.0, f32::max);
            prop_assert_eq!(spread.len(), height * width);
            prop_assert!(spread.iter().all(|value| (0.0..=most).contains(value)));
        }
    }

    fn luminance([red, green, blue]: Colour) -> f64 {
        0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue)
    }

    #[test]
    fn more_weight_is_lighter() {
        let steps: Vec<f64> = (0..=16).map(|step| luminance(glow(f64::from(step) / 16.0))).collect();
        assert!(steps.windows(2).all(|pair| pair[0] <= pair[1]), "{steps:?}");
        assert_eq!(glow(0.0), [84; 3]);
        assert!(luminance(glow(1.0)) * (1.0 - SHADE) > 1.5 * GREY, "also where the image is black");
    }

    #[test]
    fn shade_is_as_the_image() {
        let bytes: Vec<u8> = (0..=255).collect();
        let all = Shade::of(&Image::new(16, 16, 1, bytes).unwrap());
        assert_eq!((all.light(0), all.light(255)), (0.6, 1.0));
        assert!((all.light(128) - 0.8).abs() < 0.01);
        for grey in [0, 100, 255] {
            let even = Shade::of(&Image::filled(4, 4, &[grey]).unwrap());
            assert!(even.levels[1] - even.levels[0] >= 85, "{:?}", even.levels);
            assert!((0.6..=1.0).contains(&even.light(grey)));
        }
        let pale = Shade::of(&Image::new(1, 2, 1, vec![200, 240]).unwrap());
        assert!(pale.light(240) - pale.light(200) > 0.15, "{:?}", pale.levels);
        let drawn = all.pixels(&Image::new(1, 2, 1, vec![0, 255]).unwrap()).unwrap();
        assert_eq!([0, 1].map(|pixel| drawn.pixels()[pixel].alpha()), [102, 0]);
    }

    #[test]
    fn large_images_shrink_in_their_proportions() {
        let image = Image::filled(1024, 512, &[9, 8, 7]).unwrap();
        let small = at_most(&image, 100);
        assert_eq!((small.height(), small.width(), small.pixel(3, 3)), (100, 50, Some(&[9, 8, 7][..])));
        assert_eq!(at_most(&image, 1024), image);
        let thin = Image::filled(1, 4000, &[5]).unwrap();
        assert_eq!((at_most(&thin, 64).height(), at_most(&thin, 64).width()), (1, 64));
    }

    #[test]
    fn weights_of_every_size_have_colours() {
        assert_eq!(part(f32::MAX, f32::MIN_POSITIVE), 1.0);
        assert_eq!(part(0.0, 0.0), 0.0);
        let drawn = focus(&[f32::MAX; 6], GRID, f32::MAX, [4, 6]).unwrap();
        assert_eq!(drawn.pixel(0, 0), Some(&glow(1.0)[..]));
        assert_eq!(focus(&[0.0; 6], GRID, 0.0, [4, 6]).unwrap().pixel(3, 3), Some(&[84; 3][..]));
    }
}
