//! Convolution of images, channels last.

/// The window of a convolution, and how it moves over an image that is surrounded by zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows of the window.
    pub height: usize,
    /// Columns of the window.
    pub width: usize,
    /// Rows and columns from one place of the window to the next.
    pub stride: usize,
    /// Rows and columns of zeros on every side of the image.
    pub padding: usize,
}

impl Window {
    /// A square window of odd size that stands over every `stride`-th pixel, half of it outside at the border.
    pub const fn square(size: usize, stride: usize) -> Self {
        Self { height: size, width: size, stride, padding: size / 2 }
    }

    /// Rows and columns of places that the window has in an image of so many rows and columns.
    pub fn places(self, height: usize, width: usize) -> (usize, usize) {
        let places = |image: usize, window: usize| {
            (image + 2 * self.padding).checked_sub(window).map_or(0, |room| room / self.stride.max(1) + 1)
        };
        (places(height, self.height), places(width, self.width))
    }
}
