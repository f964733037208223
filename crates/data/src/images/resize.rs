//! Changing the size of an image.
//!
//! Every new pixel is a weighted mean of the old ones around it, first along rows and then along columns. When an
//! image shrinks, the filter grows with the step between new pixels, so that nothing is stepped over (no moiré).
//! The filters are polynomials: sines would not have the same bits on every machine.

use serde::{Deserialize, Serialize};

use super::error::ImageError;
use super::image::{Image, LONGEST_SIDE};

/// How old pixels are weighed by their distance x from a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// The nearest alone: hard edges, for enlarging drawings.
    Nearest,
    /// 1 - |x|, up to 1: soft.
    Triangle,
    /// The cubic of Catmull and Rom, up to 2: sharp, and the usual choice.
    #[default]
    CatmullRom,
}

impl Filter {
    /// Beyond this distance, weights are 0.
    fn reach(self) -> f64 {
        match self {
            Self::Nearest => 0.5,
            Self::Triangle => 1.0,
            Self::CatmullRom => 2.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Self::Nearest => f64::from(u8::from(x <= 0.5)),
            Self::Triangle => (1.0 - x).max(0.0),
            Self::CatmullRom if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Self::CatmullRom if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Self::CatmullRom => 0.0,
        }
    }

    /// For each of `new` pixels in a line of `old` ones: the first old pixel that counts, and the weights from
    /// there, which sum to one.
    fn weights(self, old: usize, new: usize) -> Vec<(usize, Vec<f32>)> {
        let step = old as f64 / new as f64;
        let wide = if self == Self::Nearest { 1.0 } else { step.max(1.0) };
        let line = (0..new).map(|place| {
            let centre = (place as f64 + 0.5) * step;
            if self == Self::Nearest {
                return ((centre as usize).min(old - 1), vec![1.0]);
            }
            let first = (centre - self.reach() * wide).floor().max(0.0) as usize;
            let end = ((centre + self.reach() * wide).ceil() as usize).min(old);
            let weights: Vec<f64> =
                (first..end).map(|at| self.weight((at as f64 + 0.5 - centre) / wide)).collect();
            let sum: f64 = weights.iter().sum();
            (first, weights.iter().map(|weight| (weight / sum) as f32).collect())
        });
        line.collect()
    }
}

impl Image {
    /// The image with this height and width.
    ///
    /// # Errors
    /// If a side is 0 or above [`LONGEST_SIDE`].
    pub fn resized(&self, height: usize, width: usize, filter: Filter) -> Result<Self, ImageError> {
        if !(1..=LONGEST_SIDE).contains(&height) || !(1..=LONGEST_SIDE).contains(&width) {
            return Self::new(height, width, self.channels(), Vec::new());
        }
        if (height, width) == (self.height(), self.width()) {
            return Ok(self.clone());
        }
        let channels = self.channels();
        // Along rows: [old height, width, channels].
        let across = filter.weights(self.width(), width);
        let mut rows = Vec::with_capacity(self.height() * width * channels);
        for row in 0..self.height() {
            let row = self.row(row);
            for (first, weights) in &across {
                let mut sums = [0.0f32; 3];
                for (pixel, weight) in row[first * channels..].chunks_exact(channels).zip(weights) {
                    for (sum, value) in sums.iter_mut().zip(pixel) {
                        *sum += weight * f32::from(*value);
                    }
                }
                rows.extend_from_slice(&sums[..channels]);
            }
        }
        // Along columns: [height, width, channels].
        let line = width * channels;
        let mut bytes = Vec::with_capacity(height * line);
        let mut sums = vec![0.0f32; line];
        for (first, weights) in filter.weights(self.height(), height) {
            sums.fill(0.0);
            for (old, weight) in rows[first * line..].chunks_exact(line).zip(&weights) {
                for (sum, value) in sums.iter_mut().zip(old) {
                    *sum += weight * value;
                }
            }
            bytes.extend(sums.iter().map(|sum| (sum + 0.5).clamp(0.0, 255.0) as u8));
        }
        Ok(Self::built(height, width, channels, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILTERS: [Filter; 3] = [Filter::Nearest, Filter::Triangle, Filter::CatmullRom];

    #[test]
    fn sides_that_make_no_image_are_refused() {
        let image = Image::filled(3, 3, &[1, 2, 3]).unwrap();
        for (height, width) in [(0, 3), (3, 0), (70_000, 1)] {
            assert!(image.resized(height, width, Filter::CatmullRom).is_err());
        }
    }

    #[test]
    fn values_known_by_hand() {
        let ramp = Image::new(1, 4, 1, vec![0, 40, 80, 120]).unwrap();
        assert_eq!(ramp.resized(1, 2, Filter::Nearest).unwrap().bytes(), [40, 120]);
        // Weights 3/8, 3/8, 1/8 of a triangle two pixels wide; at the border what is missing is left out.
        assert_eq!(ramp.resized(1, 2, Filter::Triangle).unwrap().bytes(), [29, 91]);
        // Old pixels lie 1/4 and 3/4 beside the new ones.
        let double = ramp.resized(1, 8, Filter::Triangle).unwrap();
        assert_eq!(double.bytes(), [0, 10, 30, 50, 70, 90, 110, 120]);
    }

    #[test]
    fn fine_stripes_become_grey_and_do_not_flicker() {
        let bytes = (0..64 * 64).map(|n| if n % 2 == 0 { 0 } else { 255 }).collect();
        let image = Image::new(64, 64, 1, bytes).unwrap();
        for filter in [Filter::Triangle, Filter::CatmullRom] {
            let small = image.resized(20, 20, filter).unwrap();
            let inner = |place: &usize| (2..18).contains(&(place % 20));
            let places: Vec<usize> = (0..400).filter(inner).collect();
            assert!(places.iter().all(|place| small.bytes()[*place].abs_diff(127) < 20), "{filter:?}");
        }
    }

    #[test]
    fn a_smooth_image_survives_there_and_back() {
        let bytes = (0..32 * 32).map(|n| (n % 32 * 4 + n / 32 * 3) as u8).collect();
        let image = Image::new(32, 32, 1, bytes).unwrap();
        let back = image.resized(77, 50, Filter::CatmullRom).unwrap();
        let back = back.resized(32, 32, Filter::CatmullRom).unwrap();
        let most = image.bytes().iter().zip(back.bytes()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most <= Some(6), "{most:?}");
    }

    proptest! {
        #[test]
        fn an_image_of_one_colour_stays_so(
            height in 1usize..40, width in 1usize..40, new_height in 1usize..90, new_width in 1usize..90,
            colour in any::<[u8; 3]>(), filter in 0usize..3,
        ) {
            let image = Image::filled(height, width, &colour).unwrap();
            let resized = image.resized(new_height, new_width, FILTERS[filter]).unwrap();
            prop_assert_eq!(resized, Image::filled(new_height, new_width, &colour).unwrap());
        }

        #[test]
        fn a_mirror_commutes(width in 1usize..20, new_width in 1usize..40, bytes in any::<[u8; 60]>()) {
            let image = Image::new(1, width, 3, bytes[..3 * width].to_vec()).unwrap();
            let a = image.resized(1, new_width, Filter::CatmullRom).unwrap().flipped();
            let b = image.flipped().resized(1, new_width, Filter::CatmullRom).unwrap();
            prop_assert!(a.bytes().iter().zip(b.bytes()).all(|(a, b)| a.abs_diff(*b) <= 1));
        }
    }
}
