//! What holds from a file to a batch.

mod files;
mod prepared;
mod stream;

use super::*;

/// A small image in which every pixel is different.
fn picture(height: usize, width: usize, channels: usize) -> Image {
    let bytes = (0..height * width * channels).map(|n| (n * 37 % 251) as u8).collect();
    Image::new(height, width, channels, bytes).unwrap()
}
