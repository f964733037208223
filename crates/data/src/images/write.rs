//! Images to files, for people to look at.

use std::io;
use std::path::Path;

use ::image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};

use super::image::Image;
use crate::{WriteError, files};

impl Image {
    /// Writes the image as a PNG file, whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), WriteError> {
        files::replace(path, |out| out.write_all(&self.png()?))
    }

    /// The bytes of a PNG file of the image.
    ///
    /// # Errors
    /// If the encoder refuses it, which it does not.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let colours = if self.channels() == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
        let mut bytes = Vec::new();
        PngEncoder::new(&mut bytes)
            .write_image(self.bytes(), self.width() as u32, self.height() as u32, colours)
            .map_err(io::Error::other)?;
        Ok(bytes)
    }
}
