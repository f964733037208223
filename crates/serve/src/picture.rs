//! Images: decoded, and made ready for a model, which may see a part of them alone.

use crate::limits::Limits;
use crate::refusal::Refusal;
use crate::room::Hosted;
use gatto_data::images::{DecodeLimits, Image, PixelBox, Pixels, decode_bytes};

/// An image that was sent, prepared for a model.
#[derive(Debug)]
pub(crate) struct Picture {
    /// What the model reads.
    pub(crate) pixels: Pixels,
    /// The part of the image that they were made of: left, top, width and height, as shares of the upright image.
    pub(crate) covered: [f64; 4],
}

impl Picture {
    /// Decodes the bytes of an image file and makes it ready for a model.
    pub(crate) fn decode(hosted: &Hosted, bytes: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        let Some(preparation) = &hosted.saved.plan.images else {
            let (name, sources) = (hosted.name(), hosted.saved.plan.sources());
            return Err(Refusal::Bad(format!("the model `{name}` reads {sources}, and no images")));
        };
        let bounds = DecodeLimits { pixels: limits.pixels, ..DecodeLimits::default() };
        let image = decode_bytes(bytes, &bounds).map_err(|error| Refusal::Bad(error.to_string()))?;
        let prepared = preparation.prepare(&image, None).map_err(|error| Refusal::Bad(error.to_string()))?;
        Ok(Self { pixels: prepared.pixels, covered: shares(&prepared.view.part, &image) })
    }
}

/// Left, top, width and height of a part of an image, as shares of its sides.
fn shares(part: &PixelBox, image: &Image) -> [f64; 4] {
    let across = |pixels: f32| f64::from(pixels) / image.width() as f64;
    let down = |pixels: f32| f64::from(pixels) / image.height() as f64;
    [across(part.left), down(part.top), across(part.width()), down(part.height())]
}
