//! Reading image files: PNG, JPEG, WebP and BMP, told by their content.
//!
//! Sizes are checked before memory is taken: the bytes of a file before it is read, and the pixels that its
//! header tells before they are decoded. What is transparent is laid on white, 16 bits become 8, an animation gives
//! its first image, and a photograph that says which side is up is turned so.

use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::image::metadata::Orientation;
use ::image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use serde::{Deserialize, Serialize};

use super::error::{ImageError, ImageProblem};
use super::image::{Image, LONGEST_SIDE};

/// What an image file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DecodeLimits {
    /// The most bytes of a file.
    pub bytes: u64,
    /// The most pixels of an image. Decoding takes up to 32 bytes for each.
    pub pixels: u64,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self { bytes: 64 << 20, pixels: 40_000_000 }
    }
}

/// Memory for each pixel: eight of the largest format, and what decoders hold beside it.
const BYTES_PER_PIXEL: u64 = 32;
/// Memory that even a small image may take.
const LEAST_MEMORY: u64 = 4 << 20;

/// Reads an image file; three channels, or one if the file is grey.
///
/// # Errors
/// If the file is missing, no image, broken or beyond the limits.
pub fn decode_file(path: &Path, limits: &DecodeLimits) -> Result<Image, ImageError> {
    let failed = |problem| ImageError::of(path, problem);
    let bytes = read_whole(path, limits.bytes).map_err(failed)?;
    decode(&bytes, limits).map_err(failed)
}

/// Decodes the bytes of an image file.
///
/// # Errors
/// If they are no image, broken or beyond the limits.
pub fn decode_bytes(bytes: &[u8], limits: &DecodeLimits) -> Result<Image, ImageError> {
    decode(bytes, limits).map_err(ImageError::unnamed)
}

/// The bytes of a regular file, unless there are too many.
fn read_whole(path: &Path, most: u64) -> Result<Vec<u8>, ImageProblem> {
    // A pipe would wait for ever to be opened, so that one looks first.
    let found = fs::metadata(path).map_err(of_system)?;
    if !found.is_file() {
        return Err(ImageProblem::NotAFile);
    }
    if found.len() > most {
        return Err(ImageProblem::TooManyBytes { bytes: found.len(), most });
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    // It may have grown since.
    let file = File::open(path).map_err(of_system)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(of_system)?;
    match bytes.len() as u64 {
        length if length > most => Err(ImageProblem::TooManyBytes { bytes: length, most }),
        _ => Ok(bytes),
    }
}

pub(super) fn of_system(error: std::io::Error) -> ImageProblem {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ImageProblem::Missing,
        _ => ImageProblem::Read(error),
    }
}

fn decode(bytes: &[u8], limits: &DecodeLimits) -> Result<Image, ImageProblem> {
    if bytes.len() as u64 > limits.bytes {
        return Err(ImageProblem::TooManyBytes { bytes: bytes.len() as u64, most: limits.bytes });
    }
    let format = match ::image::guess_format(bytes) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Bmp)) => format,
        _ => return Err(ImageProblem::Format),
    };
    if format == ImageFormat::Jpeg && !ends(bytes) {
        return Err(ImageProblem::Broken("it is cut short".into()));
    }
    // The decoders are made for hostile files; should one fail all the same, it is the file's fault.
    let decoded = catch_unwind(AssertUnwindSafe(|| decode_format(bytes, format, limits)));
    decoded.unwrap_or_else(|_| Err(ImageProblem::Broken("the decoder gave up".into())))
}

fn decode_format(bytes: &[u8], format: ImageFormat, limits: &DecodeLimits) -> Result<Image, ImageProblem> {
    let memory = |pixels: u64| LEAST_MEMORY.saturating_add(pixels.saturating_mul(BYTES_PER_PIXEL));
    let mut bounds = Limits::no_limits();
    bounds.max_image_width = Some(LONGEST_SIDE as u32);
    bounds.max_image_height = Some(LONGEST_SIDE as u32);
    bounds.max_alloc = Some(memory(limits.pixels));
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(bounds.clone());
    let mut decoder = reader.into_decoder().map_err(|error| of_decoder(&error))?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > limits.pixels {
        return Err(ImageProblem::TooManyPixels { height, width, most: limits.pixels });
    }
    bounds.max_alloc = Some(memory(pixels));
    decoder.set_limits(bounds).map_err(|error| of_decoder(&error))?;
    // What does not say which side is up is upright.
    let upright = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut decoded = DynamicImage::from_decoder(decoder).map_err(|error| of_decoder(&error))?;
    decoded.apply_orientation(upright);
    flat(&decoded)
}

fn of_decoder(error: &::image::ImageError) -> ImageProblem {
    match error {
        ::image::ImageError::Limits(_) => ImageProblem::Memory,
        other => ImageProblem::Broken(other.to_string()),
    }
}

/// One or three channels of a byte each, on white.
fn flat(decoded: &DynamicImage) -> Result<Image, ImageProblem> {
    let (height, width) = (decoded.height() as usize, decoded.width() as usize);
    let grey = !decoded.color().has_color();
    let bytes = match (grey, decoded.color().has_alpha()) {
        (true, false) => decoded.to_luma8().into_raw(),
        (false, false) => decoded.to_rgb8().into_raw(),
        (true, true) => on_white::<2>(&decoded.to_luma_alpha8().into_raw()),
        (false, true) => on_white::<4>(&decoded.to_rgba8().into_raw()),
    };
    let channels = if grey { 1 } else { 3 };
    Image::new(height, width, channels, bytes).map_err(|error| error.problem)
}

/// Pixels whose last channel says how much they cover, without it.
fn on_white<const CHANNELS: usize>(bytes: &[u8]) -> Vec<u8> {
    let pixels = bytes.chunks_exact(CHANNELS);
    let flat = pixels.flat_map(|pixel| {
        let (colour, cover) = pixel.split_at(CHANNELS - 1);
        let cover = u32::from(cover[0]);
        colour.iter().map(move |value| ((u32::from(*value) * cover + 255 * (255 - cover) + 127) / 255) as u8)
    });
    flat.collect()
}

/// Whether the image of a JPEG file has an end: decoders fill up what is missing with grey. What stands behind the end
/// (another image, a film, notes of a camera) does not matter.
fn ends(bytes: &[u8]) -> bool {
    const END: u8 = 0xd9;
    const SCAN: u8 = 0xda;
    let mut at = 2; // behind the mark of the start
    loop {
        // A mark may be filled up with `ff` before its number.
        while bytes.get(at) == Some(&0xff) && bytes.get(at + 1) == Some(&0xff) {
            at += 1;
        }
        let (Some(0xff), Some(&mark)) = (bytes.get(at), bytes.get(at + 1)) else { return false };
        at += 2;
        match mark {
            END => return true,
            0x01 | 0xd0..=0xd8 => continue, // marks that stand alone
            _ => {}
        }
        let Some(&[high, low]) = bytes.get(at..at + 2) else { return false };
        at += usize::from(u16::from_be_bytes([high, low]));
        if mark == SCAN {
            // Data goes on up to a mark that is neither a stuffed zero nor a restart.
            let rest = bytes.get(at..).unwrap_or_default();
            let next = rest
                .windows(2)
                .position(|pair| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xd0..=0xd7 | 0xff));
            let Some(next) = next else { return false };
            at += next;
        }
    }
}
