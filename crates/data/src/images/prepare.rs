//! From an image of any size to the pixels that a model reads, the same way each time, or with changes that teach it
//! what does not matter.
//!
//! Every change is a function of seed, epoch and example ([`Draw`]), never of what was drawn before. Where the part
//! of the image that is left came from is told by a [`View`], so that boxes go along.

use serde::{Deserialize, Serialize};

use super::geometry::PixelBox;
use super::image::{Image, Normalisation, Pixels};
use super::resize::Filter;
use super::set::{ImageText, Mention};
use crate::DataError;
use crate::random::{ChaCha8Rng, generator, mixed};
use rand::Rng;

/// How an image that has other sides than wanted is made to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// The middle of the image, as much as has the right proportions.
    #[default]
    Crop,
    /// The whole image, drawn out of proportion if need be.
    Stretch,
}

/// How images become what a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Preparation {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels of a row.
    pub width: usize,
    /// 1 for grey, 3 for colours.
    pub channels: usize,
    /// What is done about other proportions.
    pub fit: Fit,
    /// How the size is changed.
    pub filter: Filter,
    /// What values are divided by.
    pub normalisation: Normalisation,
    /// What is changed at random in training.
    pub augmentation: Augmentation,
}

impl Default for Preparation {
    fn default() -> Self {
        Self {
            height: 64,
            width: 64,
            channels: 3,
            fit: Fit::default(),
            filter: Filter::default(),
            normalisation: Normalisation::default(),
            augmentation: Augmentation::default(),
        }
    }
}

/// What is changed at random in training; by default nothing is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Augmentation {
    /// How often an image is mirrored, from 0 to 1. Not for digits, letters or captions that say *left* and *right*.
    pub flip: f32,
    /// The least share that a random part has of the area of the largest part with the proportions wanted, from
    /// 0.01; at 1 it is that largest part.
    pub crop: f32,
    /// How far the proportions of that part may be from those wanted: 4/3 is from 3:4 to 4:3. 1 keeps them.
    pub stretch: f32,
    /// How far brightness, contrast and saturation go up or down, as a share: 0.2 is from 0.8 to 1.2.
    pub colour: f32,
}

impl Default for Augmentation {
    fn default() -> Self {
        Self { flip: 0.0, crop: 1.0, stretch: 1.0, colour: 0.0 }
    }
}

/// What random changes depend on, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The seed of the run.
    pub seed: u64,
    /// The pass over the data.
    pub epoch: u64,
    /// The example within the pass.
    pub example: u64,
}

impl Draw {
    /// Random numbers for one purpose.
    pub(crate) fn generator(&self, purpose: u64) -> ChaCha8Rng {
        generator(mixed(self.seed, purpose), mixed(mixed(0, self.epoch), self.example))
    }

    /// Which of `count` captions is learnt from in this pass; 0 if there is none.
    pub fn caption(&self, count: usize) -> usize {
        ((u64::from(self.generator(CAPTION).next_u32()) * count as u64) >> 32) as usize
    }

    /// Which of `count` captions are learnt from in this pass, if it is `wanted` of them: from the first on, and where
    /// there are fewer, some again.
    pub fn captions(&self, count: usize, wanted: usize) -> impl Iterator<Item = usize> {
        let first = self.caption(count);
        (0..wanted).map(move |number| (first + number) % count.max(1))
    }
}

const CHANGES: u64 = 0x1a4e;
const CAPTION: u64 = 0xca97;

/// Which part of an image was taken, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The part, in pixels of the image as it was.
    pub part: PixelBox,
    /// Whether it was mirrored.
    pub flipped: bool,
    /// Rows of the result.
    pub height: usize,
    /// Columns of the result.
    pub width: usize,
}

impl View {
    /// Where a box of the image is in the result; what was cut off is gone from it, and a box of which nothing is
    /// left is `None`.
    pub fn map(&self, found: &PixelBox) -> Option<PixelBox> {
        let left = found.common(&self.part);
        if left.area() <= 0.0 {
            return None;
        }
        let across = |x: f32| (x - self.part.left) * self.width as f32 / self.part.width();
        let down = |y: f32| (y - self.part.top) * self.height as f32 / self.part.height();
        let mapped = PixelBox::new(across(left.left), down(left.top), across(left.right), down(left.bottom));
        Some(match self.flipped {
            false => mapped,
            true => {
                let side = self.width as f32;
                PixelBox { left: side - mapped.right, right: side - mapped.left, ..mapped }
            }
        })
    }

    /// A text with the boxes that the result has. A word of whose boxes nothing is left names nothing.
    pub fn map_text(&self, ImageText { text, mentions }: ImageText) -> ImageText {
        let mentions = mentions.into_iter().filter_map(|Mention { word, boxes }| {
            let boxes: Vec<PixelBox> = boxes.iter().filter_map(|found| self.map(found)).collect();
            (!boxes.is_empty()).then_some(Mention { word, boxes })
        });
        ImageText { text, mentions: mentions.collect() }
    }
}

/// An image that is ready for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Its values.
    pub pixels: Pixels,
    /// Where they came from.
    pub view: View,
}

impl Preparation {
    /// Refuses settings that make no sense.
    pub fn validate(&self) -> Result<(), DataError> {
        let wrong = |key: &str, problem: &str| {
            Err(DataError::Config { key: key.to_owned(), problem: problem.to_owned() })
        };
        let side = |side: usize| (1..=4096).contains(&side);
        let Augmentation { flip, crop, stretch, colour } = self.augmentation;
        match () {
            () if !side(self.height) => wrong("height", "is from 1 to 4096 pixels; write 64, for instance"),
            () if !side(self.width) => wrong("width", "is from 1 to 4096 pixels; write 64, for instance"),
            () if !matches!(self.channels, 1 | 3) => wrong("channels", "is 1 for grey or 3 for colours"),
            () if !(0.0..=1.0).contains(&flip) => {
                wrong("augmentation.flip", "is from 0 to 1; write 0.5, for instance")
            }
            () if !(0.01..=1.0).contains(&crop) => {
                wrong("augmentation.crop", "is from 0.01 to 1; write 0.5, for instance")
            }
            () if !(1.0..=4.0).contains(&stretch) => {
                wrong("augmentation.stretch", "is from 1 to 4; write 1.33, for instance")
            }
            () if !(0.0..1.0).contains(&colour) => {
                wrong("augmentation.colour", "is from 0 to below 1; write 0.2, for instance")
            }
            () => self.normalisation.validate().map_err(|error| match error {
                DataError::Config { key, problem } => {
                    DataError::Config { key: format!("normalisation.{key}"), problem }
                }
                other => other,
            }),
        }
    }

    /// Makes an image ready: as it is, or changed as [`Preparation::augmentation`] says if there is a draw.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn prepare(&self, image: &Image, draw: Option<Draw>) -> Result<Prepared, DataError> {
        self.validate()?;
        let mut changes = draw.map(|draw| Changes { rng: draw.generator(CHANGES) });
        let [top, left, height, width] = match &mut changes {
            Some(changes) if self.augmentation.crop < 1.0 || self.augmentation.stretch > 1.0 => {
                changes.part(image, self)
            }
            _ => self.middle(image),
        };
        let flipped = changes.as_mut().is_some_and(|changes| changes.unit() < self.augmentation.flip);
        let whole = (height, width) == (image.height(), image.width());
        let cut = if whole { image.clone() } else { image.cut(top, left, height, width)? };
        let mut made = cut.resized(self.height, self.width, self.filter)?;
        if flipped {
            made = made.flipped();
        }
        if let Some(changes) = changes.as_mut().filter(|_| self.augmentation.colour > 0.0) {
            changes.colours(&mut made, self.augmentation.colour);
        }
        if made.channels() != self.channels {
            made = made.with_channels(self.channels)?;
        }
        let [top, left, bottom, right] = [top, left, top + height, left + width].map(|side| side as f32);
        let part = PixelBox::new(left, top, right, bottom);
        let view = View { part, flipped, height: self.height, width: self.width };
        Ok(Prepared { pixels: self.normalisation.apply(&made), view })
    }

    /// Top, left, height and width of what is taken without a draw.
    fn middle(&self, image: &Image) -> [usize; 4] {
        let (height, width) = (image.height(), image.width());
        if self.fit == Fit::Stretch {
            return [0, 0, height, width];
        }
        // As wide as the image, or as high, whichever fits.
        let (wide, high) = (width * self.height, height * self.width);
        let (part_height, part_width) = match wide <= high {
            true => ((wide / self.width).clamp(1, height), width),
            false => (height, (high / self.height).clamp(1, width)),
        };
        [(height - part_height) / 2, (width - part_width) / 2, part_height, part_width]
    }
}

/// Random changes to one image.
struct Changes {
    rng: ChaCha8Rng,
}

impl Changes {
    /// From 0 to below 1, of 24 bits.
    fn unit(&mut self) -> f32 {
        (self.rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32
    }

    fn between(&mut self, least: f32, most: f32) -> f32 {
        least + (most - least) * self.unit()
    }

    /// A random part of an image with nearly the proportions wanted: of the largest such part, a share of its area
    /// between the least and all.
    fn part(&mut self, image: &Image, wanted: &Preparation) -> [usize; 4] {
        let (height, width) = (image.height() as f32, image.width() as f32);
        let Augmentation { crop, stretch, .. } = wanted.augmentation;
        let proportions = match wanted.fit {
            Fit::Crop => wanted.width as f32 / wanted.height as f32,
            Fit::Stretch => width / height,
        };
        // Either way with the same chance: from 1/stretch to 1, or from 1 to stretch.
        let odd = self.between(1.0, stretch);
        let odd = if self.unit() < 0.5 { 1.0 / odd } else { odd };
        let proportions = proportions * odd;
        let share = self.between(crop, 1.0).sqrt(); // of each side
        let part_width = width.min(height * proportions) * share;
        let part_height = height.min(width / proportions) * share;
        let (part_height, part_width) = (
            (part_height.round() as usize).clamp(1, image.height()),
            (part_width.round() as usize).clamp(1, image.width()),
        );
        let mut place = |room: usize| ((self.unit() * (room + 1) as f32) as usize).min(room);
        [place(image.height() - part_height), place(image.width() - part_width), part_height, part_width]
    }

    /// Other brightness, contrast and saturation.
    fn colours(&mut self, image: &mut Image, most: f32) {
        let [brightness, contrast, saturation] = [(); 3].map(|()| self.between(1.0 - most, 1.0 + most));
        let grey: u64 = image.grey().bytes().iter().map(|byte| u64::from(*byte)).sum();
        let mean = grey as f32 / (image.height() * image.width()) as f32;
        let channels = image.channels();
        for pixel in image.bytes_mut().chunks_exact_mut(channels) {
            let own = match pixel {
                [red, green, blue] => {
                    0.299 * f32::from(*red) + 0.587 * f32::from(*green) + 0.114 * f32::from(*blue)
                }
                _ => f32::from(pixel[0]),
            };
            for value in pixel {
                let saturated = own + (f32::from(*value) - own) * saturation;
                let contrasted = mean + (saturated - mean) * contrast;
                *value = (contrasted * brightness + 0.5).clamp(0.0, 255.0) as u8;
            }
        }
    }
}
