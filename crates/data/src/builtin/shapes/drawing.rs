//! From a scene to pixels.
//!
//! The coverage of a pixel by an object is taken from the distance of its centre to the outline, in pixels:
//! `½ - distance`, from 0 to 1. Objects are laid down from the front to the back, and each takes its share of the
//! light that those before it let through; what is left shows the background. The share that an object takes also
//! tells which pixels are its own.

use super::outline::REACH;
use super::scene::{Object, Scene, UNITS};
use crate::images::{Image, PixelBox};

/// The least share of a pixel that an object must take for the pixel to be one of its own.
const OWN: f32 = 0.3;

/// A scene that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The picture, square and of three channels.
    pub image: Image,
    /// The box around what is to be seen of each object, in whole pixels.
    pub boxes: Vec<PixelBox>,
}

impl Scene {
    /// Draws the scene with so many pixels from side to side, at least one.
    pub fn drawn(&self, side: usize) -> Drawing {
        let side = side.max(1);
        let unit = f32::from(UNITS) / side as f32; // of one pixel
        let mut light = vec![1.0f32; side * side]; // what those before let through
        let mut colours = vec![[0.0f32; 3]; side * side];
        let mut boxes = vec![PixelBox::new(0.0, 0.0, 0.0, 0.0); self.objects().len()];
        for (number, object) in self.objects().iter().enumerate().rev() {
            boxes[number] = lay_down(object, side, unit, &mut light, &mut colours);
        }
        let background = self.background();
        let (first, second) = (background.first.map(f32::from), background.second.map(f32::from));
        let noise = f32::from(background.noise);
        let mut bytes = Vec::with_capacity(side * side * 3);
        for (pixel, (light, colour)) in light.iter().zip(&colours).enumerate() {
            let (x, y) = ((pixel % side) as f32 + 0.5, (pixel / side) as f32 + 0.5);
            let behind = if *light > 0.0 { background.share(x * unit, y * unit) } else { 0.0 };
            let grain = background.noise_at(pixel);
            for channel in 0..3 {
                let ground = first[channel] + (second[channel] - first[channel]) * behind;
                let value = colour[channel] + light * ground + noise * grain[channel];
                bytes.push((value + 0.5).clamp(0.0, 255.0) as u8);
            }
        }
        Drawing { image: Image::built(side, side, 3, bytes), boxes }
    }
}

/// Draws an object behind those that were drawn before, and says where it is to be seen.
fn lay_down(
    object: &Object,
    side: usize,
    unit: f32,
    light: &mut [f32],
    colours: &mut [[f32; 3]],
) -> PixelBox {
    let reach = f32::from(object.radius) * REACH;
    let first = |centre: u16| (((f32::from(centre) - reach) / unit).floor().max(1.0) as usize - 1).min(side);
    let last = |centre: u16| (((f32::from(centre) + reach) / unit).ceil().max(0.0) as usize + 1).min(side);
    let shade = f32::from(object.shade);
    let colour = object.colour.channels().map(|value| (f32::from(value) + shade).clamp(0.0, 255.0));
    let (mut left, mut top, mut right, mut bottom) = (side, side, 0, 0);
    for row in first(object.y)..last(object.y) {
        for column in first(object.x)..last(object.x) {
            let pixel = row * side + column;
            let (x, y) = ((column as f32 + 0.5) * unit, (row as f32 + 0.5) * unit);
            let coverage = (0.5 - object.distance(x, y) / unit).clamp(0.0, 1.0);
            let share = light[pixel] * coverage;
            if share > 0.0 {
                for (sum, value) in colours[pixel].iter_mut().zip(colour) {
                    *sum += share * value;
                }
                light[pixel] *= 1.0 - coverage;
            }
            if share >= OWN {
                (left, right) = (left.min(column), right.max(column + 1));
                (top, bottom) = (top.min(row), bottom.max(row + 1));
            }
        }
    }
    if right == 0 {
        // Nothing to be seen: a point where it stands.
        let (x, y) = (f32::from(object.x) / unit, f32::from(object.y) / unit);
        return PixelBox::new(x, y, x, y);
    }
    PixelBox::new(left as f32, top as f32, right as f32, bottom as f32)
}
