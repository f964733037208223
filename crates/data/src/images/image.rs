//! Images as bytes, and as the numbers that a model reads.

use super::error::{ImageError, ImageProblem};

/// The most pixels on one side of an image in memory.
pub const LONGEST_SIDE: usize = 65_535;

/// An image of one byte per channel: grey (1 channel) or red, green and blue (3 channels).
///
/// Bytes come row after row, from left to right, the channels of a pixel together: `[height, width, channels]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    height: usize,
    width: usize,
    channels: usize,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Image({} × {} × {})", self.height, self.width, self.channels)
    }
}

/// Whether there can be such an image, and it has this many values.
fn check_shape([height, width, channels]: [usize; 3], values: usize) -> Result<(), ImageError> {
    let fits = |side: usize| (1..=LONGEST_SIDE).contains(&side);
    let shape = fits(height) && fits(width) && matches!(channels, 1 | 3);
    if shape && height * width * channels == values {
        return Ok(());
    }
    Err(ImageError::unnamed(ImageProblem::Shape { height, width, channels, bytes: values }))
}

impl Image {
    /// An image of these bytes.
    ///
    /// # Errors
    /// If a side is 0 or above [`LONGEST_SIDE`], there are not 1 or 3 channels, or the bytes are not as many as
    /// the image needs.
    pub fn new(height: usize, width: usize, channels: usize, bytes: Vec<u8>) -> Result<Self, ImageError> {
        check_shape([height, width, channels], bytes.len())?;
        Ok(Self { height, width, channels, bytes })
    }

    /// An image of one colour, whose channels are as many as those of the colour.
    ///
    /// # Errors
    /// As [`Image::new`].
    pub fn filled(height: usize, width: usize, colour: &[u8]) -> Result<Self, ImageError> {
        if height > LONGEST_SIDE || width > LONGEST_SIDE || colour.len() > 3 {
            return Self::new(height, width, colour.len(), Vec::new());
        }
        Self::new(height, width, colour.len(), colour.repeat(height * width))
    }

    /// An image whose shape is right by construction.
    pub(crate) fn built(height: usize, width: usize, channels: usize, bytes: Vec<u8>) -> Self {
        debug_assert_eq!(height * width * channels, bytes.len());
        Self { height, width, channels, bytes }
    }

    /// How many rows of pixels there are.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How many pixels a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// 1 or 3.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All bytes: `[height, width, channels]`.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All bytes, to change; there are always as many.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The channels of a pixel, or `None` outside of the image.
    pub fn pixel(&self, row: usize, column: usize) -> Option<&[u8]> {
        (row < self.height && column < self.width)
            .then(|| &self.bytes[(row * self.width + column) * self.channels..][..self.channels])
    }

    /// The bytes of a row, which is below the height.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.width * self.channels..][..self.width * self.channels]
    }

    /// The same image in grey: 0.299 red + 0.587 green + 0.114 blue (BT.601).
    pub fn grey(&self) -> Self {
        if self.channels == 1 {
            return self.clone();
        }
        let grey = |pixel: &[u8]| {
            let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(u32::from);
            ((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8
        };
        let bytes = self.bytes.chunks_exact(3).map(grey).collect();
        Self::built(self.height, self.width, 1, bytes)
    }

    /// The same image with three channels.
    pub fn coloured(&self) -> Self {
        if self.channels == 3 {
            return self.clone();
        }
        let bytes = self.bytes.iter().flat_map(|&grey| [grey; 3]).collect();
        Self::built(self.height, self.width, 3, bytes)
    }

    /// The same image with 1 or 3 channels.
    ///
    /// # Errors
    /// If `channels` is another number.
    pub fn with_channels(&self, channels: usize) -> Result<Self, ImageError> {
        match channels {
            1 => Ok(self.grey()),
            3 => Ok(self.coloured()),
            _ => Err(ImageError::unnamed(ImageProblem::Shape {
                height: self.height,
                width: self.width,
                channels,
                bytes: self.bytes.len(),
            })),
        }
    }

    /// The image as its mirror shows it.
    pub fn flipped(&self) -> Self {
        let rows = (0..self.height).map(|row| self.row(row));
        let bytes = rows.flat_map(|row| row.chunks_exact(self.channels).rev().flatten().copied()).collect();
        Self::built(self.height, self.width, self.channels, bytes)
    }

    /// A part of the image.
    ///
    /// # Errors
    /// If it is empty or reaches outside.
    pub fn cut(&self, top: usize, left: usize, height: usize, width: usize) -> Result<Self, ImageError> {
        let inside = |from: usize, length: usize, side: usize| {
            length > 0 && from.checked_add(length).is_some_and(|end| end <= side)
        };
        if !inside(top, height, self.height) || !inside(left, width, self.width) {
            return Err(ImageError::unnamed(ImageProblem::Cut {
                part: [top, left, height, width],
                height: self.height,
                width: self.width,
            }));
        }
        let channels = self.channels;
        let rows = (top..top + height).map(|row| &self.row(row)[left * channels..][..width * channels]);
        Ok(Self::built(height, width, channels, rows.flatten().copied().collect()))
    }
}

/// What is taken off the values of each channel, and what they are divided by then; values are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalisation {
    /// The mean of red, green and blue; grey images use the first.
    pub mean: [f32; 3],
    /// The standard deviation of red, green and blue; grey images use the first.
    pub deviation: [f32; 3],
}

impl Default for Normalisation {
    fn default() -> Self {
        Self::HALF
    }
}

impl Normalisation {
    /// Values from -1 to 1.
    pub const HALF: Self = Self { mean: [0.5; 3], deviation: [0.5; 3] };
    /// What the models trained on `ImageNet` expect.
    pub const IMAGENET: Self = Self { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };

    /// The mean and deviation of some images themselves. A channel that never changes is divided by one.
    pub fn of<'a>(images: impl IntoIterator<Item = &'a Image>) -> Self {
        let mut count = [0u64; 3];
        let mut sum = [0u64; 3];
        let mut squares = [0u64; 3];
        for image in images {
            for pixel in image.bytes.chunks_exact(image.channels) {
                for channel in 0..3 {
                    let value = u64::from(pixel[channel.min(pixel.len() - 1)]);
                    count[channel] += 1;
                    sum[channel] += value;
                    squares[channel] += value * value;
                }
            }
        }
        let mut found = Self { mean: [0.0; 3], deviation: [1.0; 3] };
        for channel in (0..3).filter(|&channel| count[channel] > 0) {
            let pixels = count[channel] as f64;
            let mean = sum[channel] as f64 / pixels;
            let deviation = (squares[channel] as f64 / pixels - mean * mean).max(0.0).sqrt();
            found.mean[channel] = (mean / 255.0) as f32;
            // Rounding must not make a channel of one value count as changing.
            found.deviation[channel] = if deviation > 1e-3 { (deviation / 255.0) as f32 } else { 1.0 };
        }
        found
    }

    /// Refuses what would make no finite values.
    pub fn validate(&self) -> Result<(), crate::DataError> {
        let wrong = |key: &str, problem: &str| {
            Err(crate::DataError::Config { key: key.to_owned(), problem: problem.to_owned() })
        };
        if self.mean.iter().any(|mean| !mean.is_finite()) {
            return wrong("mean", "must be finite; write [0.5, 0.5, 0.5], for instance");
        }
        match self.deviation.iter().all(|deviation| deviation.is_finite() && *deviation > 0.0) {
            true => Ok(()),
            false => wrong("deviation", "must be above 0; write [0.5, 0.5, 0.5], for instance"),
        }
    }

    /// The numbers that a model reads.
    pub fn apply(&self, image: &Image) -> Pixels {
        // All 256 values of a channel, so that a pixel costs a look-up.
        let table: Vec<[f32; 256]> = (0..image.channels)
            .map(|channel| {
                std::array::from_fn(|byte| {
                    (byte as f32 / 255.0 - self.mean[channel]) / self.deviation[channel]
                })
            })
            .collect();
        let mut values = Vec::with_capacity(image.bytes.len());
        for pixel in image.bytes.chunks_exact(image.channels) {
            values.extend(pixel.iter().zip(&table).map(|(&byte, table)| table[usize::from(byte)]));
        }
        Pixels { height: image.height, width: image.width, channels: image.channels, values }
    }

    /// Normalised values as an image again, for people to look at; what is too dark or too bright is cut off.
    pub fn undo(&self, pixels: &Pixels) -> Image {
        let byte = |(value, channel): (&f32, usize)| {
            let value = value * self.deviation[channel] + self.mean[channel];
            (value * 255.0).round().clamp(0.0, 255.0) as u8
        };
        let channels = (0..pixels.channels).cycle();
        let bytes = pixels.values.iter().zip(channels).map(byte).collect();
        Image::built(pixels.height, pixels.width, pixels.channels, bytes)
    }
}

/// An image as numbers: `[height, width, channels]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pixels {
    height: usize,
    width: usize,
    channels: usize,
    values: Vec<f32>,
}

impl Pixels {
    /// An image of these values.
    ///
    /// # Errors
    /// As [`Image::new`].
    pub fn new(height: usize, width: usize, channels: usize, values: Vec<f32>) -> Result<Self, ImageError> {
        check_shape([height, width, channels], values.len())?;
        Ok(Self { height, width, channels, values })
    }

    /// How many rows of pixels there are.
    pub fn height(&self) -> usize {
        self.height
    }

    /// How many pixels a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// 1 or 3.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All values: `[height, width, channels]`.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(height: usize, width: usize, channels: usize) -> Image {
        let bytes = (0..height * width * channels).map(|n| n as u8).collect();
        Image::new(height, width, channels, bytes).unwrap()
    }

    #[test]
    fn shapes_that_make_no_image_are_refused() {
        for (height, width, channels, bytes) in
            [(0, 2, 3, 0), (2, 0, 1, 0), (2, 2, 2, 8), (2, 2, 3, 11), (1, 70_000, 1, 70_000)]
        {
            let error = Image::new(height, width, channels, vec![0; bytes]).unwrap_err().to_string();
            assert!(error.contains(&format!("{height} × {width} × {channels}")), "{error}");
            assert!(Pixels::new(height, width, channels, vec![0.0; bytes]).is_err());
        }
        assert!(Image::filled(usize::MAX, 2, &[0]).is_err());
        assert!(Image::filled(2, 2, &[]).is_err());
        assert_eq!(Image::filled(2, 1, &[7, 8, 9]).unwrap().bytes(), [7, 8, 9, 7, 8, 9]);
    }

    #[test]
    fn parts_and_mirrors() {
        let image = numbered(3, 4, 3);
        let part = image.cut(1, 2, 2, 2).unwrap();
        assert_eq!(part.pixel(0, 0), image.pixel(1, 2));
        assert_eq!(part.pixel(1, 1), image.pixel(2, 3));
        assert_eq!(part.pixel(2, 0), None);
        assert_eq!(image.flipped().pixel(2, 0), image.pixel(2, 3));
        assert_eq!(image.flipped().flipped(), image);
        for (top, left, height, width) in [(0, 0, 4, 1), (0, 3, 1, 2), (0, 0, 0, 1), (usize::MAX, 0, 2, 1)] {
            assert!(image.cut(top, left, height, width).is_err());
        }
    }

    #[test]
    fn grey_and_back() {
        let image = Image::filled(2, 2, &[255, 0, 0]).unwrap();
        assert_eq!(image.grey().bytes(), [76; 4]);
        assert_eq!(image.grey().coloured().bytes(), [76; 12]);
        assert_eq!(Image::filled(1, 1, &[255; 3]).unwrap().grey().bytes(), [255]);
        assert!(image.with_channels(4).is_err());
    }

    #[test]
    fn normalised_images_have_mean_zero_and_deviation_one() {
        let images = [numbered(8, 9, 3), Image::filled(3, 3, &[9, 200, 31]).unwrap()];
        let normalisation = Normalisation::of(&images);
        for channel in 0..3 {
            let values: Vec<f32> = images
                .iter()
                .flat_map(|image| normalisation.apply(image).values().to_vec())
                .skip(channel)
                .step_by(3)
                .collect();
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            let squares = values.iter().map(|v| v * v).sum::<f32>() / values.len() as f32;
            assert!(mean.abs() < 1e-4 && (squares - 1.0).abs() < 1e-3, "{mean} {squares}");
        }
        assert_eq!(normalisation.undo(&normalisation.apply(&images[0])), images[0]);
        let flat = Normalisation::of([&images[1]]);
        assert_eq!(flat.deviation, [1.0; 3]);
        assert!(flat.apply(&images[1]).values().iter().all(|value| value.abs() < 1e-6));
    }

    #[test]
    fn normalisation_by_nothing_is_refused() {
        assert!(Normalisation::IMAGENET.validate().is_ok());
        for deviation in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let wrong = Normalisation { deviation: [1.0, deviation, 1.0], ..Normalisation::HALF };
            assert!(wrong.validate().unwrap_err().to_string().contains("`deviation`"));
        }
        assert!(Normalisation { mean: [f32::NAN; 3], ..Normalisation::HALF }.validate().is_err());
    }
}
