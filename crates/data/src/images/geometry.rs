//! Boxes in an image, and the grid of regions that a model divides an image into.
//!
//! A [`PixelBox`] is measured in pixels from the top left corner of an image: the pixel in row `y` and
//! column `x` is the square from `x` to `x + 1` and from `y` to `y + 1`. Sides may lie between pixels, since
//! the regions of a grid need not be whole pixels.

use serde::{Deserialize, Serialize};

/// An upright rectangle of an image. Its right and bottom sides are no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PixelBox {
    /// Where it begins, from the left of the image.
    pub left: f32,
    /// Where it begins, from the top of the image.
    pub top: f32,
    /// Where it ends, from the left of the image.
    pub right: f32,
    /// Where it ends, from the top of the image.
    pub bottom: f32,
}

impl PixelBox {
    /// A box with these sides.
    pub fn new(left: f32, top: f32, right: f32, bottom: f32) -> Self {
        Self { left, top, right, bottom }
    }

    /// A whole image.
    pub fn whole(height: usize, width: usize) -> Self {
        Self::new(0.0, 0.0, width as f32, height as f32)
    }

    /// How wide it is; 0 if its sides are the wrong way round.
    pub fn width(&self) -> f32 {
        (self.right - self.left).max(0.0)
    }

    /// How high it is; 0 if its sides are the wrong way round.
    pub fn height(&self) -> f32 {
        (self.bottom - self.top).max(0.0)
    }

    /// How many pixels it covers.
    pub fn area(&self) -> f32 {
        self.width() * self.height()
    }

    /// The point in its middle, as x and y.
    pub fn centre(&self) -> (f32, f32) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    /// What it has in common with another box: a box of no area if there is nothing.
    pub fn common(&self, other: &Self) -> Self {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        let (right, bottom) = (self.right.min(other.right), self.bottom.min(other.bottom));
        Self::new(left, top, right.max(left), bottom.max(top))
    }

    /// The share of this box's area that lies inside another, from 0 to 1; 0 for a box of no area.
    pub fn share_inside(&self, other: &Self) -> f32 {
        let area = self.area();
        if area > 0.0 { (self.common(other).area() / area).min(1.0) } else { 0.0 }
    }

    /// The share of this box's area that lies inside any of some boxes, where they overlap counted once.
    pub fn share_inside_any(&self, others: &[Self]) -> f32 {
        let parts: Vec<Self> =
            others.iter().map(|other| self.common(other)).filter(|part| part.area() > 0.0).collect();
        if parts.is_empty() {
            return 0.0;
        }
        // Strips between all left and right sides; in each, the boxes cover stretches from top to bottom.
        let mut sides: Vec<f32> = parts.iter().flat_map(|part| [part.left, part.right]).collect();
        sides.sort_by(f32::total_cmp);
        let mut covered = 0.0;
        for strip in sides.windows(2).filter(|strip| strip[0] < strip[1]) {
            let mut stretches: Vec<(f32, f32)> = parts
                .iter()
                .filter(|part| part.left <= strip[0] && part.right >= strip[1])
                .map(|part| (part.top, part.bottom))
                .collect();
            stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut reached = f32::NEG_INFINITY;
            for (top, bottom) in stretches {
                covered += (strip[1] - strip[0]) * (bottom - top.max(reached)).max(0.0);
                reached = reached.max(bottom);
            }
        }
        (covered / self.area()).min(1.0)
    }

    /// Common area over joint area, from 0 to 1 (intersection over union).
    pub fn likeness(&self, other: &Self) -> f32 {
        let common = self.common(other).area();
        let joint = self.area() + other.area() - common;
        if joint > 0.0 { common / joint } else { 0.0 }
    }

    /// Whether the point lies inside.
    pub fn contains(&self, x: f32, y: f32) -> bool {
        self.left <= x && x < self.right && self.top <= y && y < self.bottom
    }
}

/// A division of an image into regions of one size: the patches of a Transformer, or the cells of a
/// convolution's last map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// How many regions stand above each other.
    pub rows: usize,
    /// How many regions stand beside each other.
    pub columns: usize,
}

impl Grid {
    /// The grid of square patches with sides of `patch` pixels; none if they do not fill the image exactly.
    pub fn of_patches(height: usize, width: usize, patch: usize) -> Option<Self> {
        let fits = |side: usize| side > 0 && patch > 0 && side.is_multiple_of(patch);
        let fits = fits(height) && fits(width);
        fits.then(|| Self { rows: height / patch, columns: width / patch })
    }

    /// How many regions there are.
    pub fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// Whether there is no region.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box of the region in a row and column of an image of this height and width.
    pub fn region(&self, row: usize, column: usize, height: usize, width: usize) -> PixelBox {
        // A division of the product, so that neighbours share a side exactly.
        let across = |column: usize| (column * width) as f32 / self.columns as f32;
        let down = |row: usize| (row * height) as f32 / self.rows as f32;
        PixelBox::new(across(column), down(row), across(column + 1), down(row + 1))
    }

    /// The boxes of all regions, row after row, as a model lists its positions.
    pub fn regions(&self, height: usize, width: usize) -> Vec<PixelBox> {
        let places = (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        places.map(|(row, column)| self.region(row, column, height, width)).collect()
    }

    /// For each region, the share of it that some boxes cover: with an attention's weights, `Σ weight × share`
    /// is how much of the attention lies on what the boxes hold.
    pub fn covered(&self, height: usize, width: usize, boxes: &[PixelBox]) -> Vec<f32> {
        self.regions(height, width).iter().map(|region| region.share_inside_any(boxes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_are_of_the_first_box() {
        let (small, large) = (PixelBox::new(2.0, 2.0, 4.0, 4.0), PixelBox::new(3.0, 0.0, 11.0, 10.0));
        assert_eq!(small.share_inside(&large), 0.5);
        assert_eq!(large.share_inside(&small), 2.0 / 80.0);
        assert_eq!(small.likeness(&large), 2.0 / 82.0);
        assert_eq!(small.likeness(&small), 1.0);
        let apart = PixelBox::new(20.0, 20.0, 21.0, 21.0);
        assert_eq!((small.share_inside(&apart), small.common(&apart).area()), (0.0, 0.0));
        let none = PixelBox::new(3.0, 3.0, 3.0, 3.0);
        assert_eq!((none.share_inside(&large), none.likeness(&none)), (0.0, 0.0));
    }

    #[test]
    fn boxes_that_overlap_are_counted_once() {
        let region = PixelBox::new(0.0, 0.0, 10.0, 10.0);
        let (a, b) = (PixelBox::new(-5.0, 0.0, 5.0, 4.0), PixelBox::new(3.0, 2.0, 30.0, 6.0));
        // 5 × 4, and 7 × 4 without the 2 × 2 that both hold.
        assert_eq!(region.share_inside_any(&[a, b]), 0.44);
        assert_eq!(region.share_inside_any(&[a, b, a]), 0.44);
        assert_eq!(region.share_inside_any(&[]), 0.0);
    }

    #[test]
    fn patches_must_fill_the_image() {
        assert_eq!(Grid::of_patches(64, 96, 16), Some(Grid { rows: 4, columns: 6 }));
        for (height, width, patch) in [(64, 64, 0), (64, 65, 16), (63, 64, 16), (0, 64, 16)] {
            assert_eq!(Grid::of_patches(height, width, patch), None);
        }
    }

    #[test]
    fn regions_come_row_after_row() {
        let grid = Grid { rows: 2, columns: 3 };
        let regions = grid.regions(20, 30);
        assert_eq!(regions.len(), grid.len());
        assert_eq!(regions[1], PixelBox::new(10.0, 0.0, 20.0, 10.0));
        assert_eq!(regions[5], PixelBox::new(20.0, 10.0, 30.0, 20.0));
        let shares = grid.covered(20, 30, &[PixelBox::new(5.0, 0.0, 30.0, 5.0)]);
        assert_eq!(shares, [0.25, 0.5, 0.5, 0.0, 0.0, 0.0]);
    }

    proptest! {
        #[test]
        fn a_grid_divides_the_image(
            rows in 1usize..15, columns in 1usize..15, height in 1usize..300, width in 1usize..300,
            x in 0.0f32..1.0, y in 0.0f32..1.0,
        ) {
            let regions = Grid { rows, columns }.regions(height, width);
            let whole = PixelBox::whole(height, width);
            let sum: f32 = regions.iter().map(PixelBox::area).sum();
            prop_assert!((sum / whole.area() - 1.0).abs() < 1e-4);
            let (x, y) = (x * width as f32, y * height as f32);
            if x < width as f32 && y < height as f32 {
                prop_assert_eq!(regions.iter().filter(|region| region.contains(x, y)).count(), 1);
            }
        }

        #[test]
        fn shares_of_any_lie_between_the_largest_and_the_sum(
            boxes in prop::collection::vec((0u8..40, 0u8..40, 0u8..40, 0u8..40), 1..5)
        ) {
            let region = PixelBox::new(5.0, 5.0, 30.0, 25.0);
            let boxes: Vec<PixelBox> = boxes
                .into_iter()
                .map(|(l, t, w, h)| PixelBox::new(l.into(), t.into(), f32::from(l) + f32::from(w), f32::from(t) + f32::from(h)))
                .collect();
            // Whole numbers: counting pixels is exact.
            let inside = (5..30u8).flat_map(|x| (5..25u8).map(move |y| (f32::from(x), f32::from(y))));
            let counted = inside.filter(|(x, y)| boxes.iter().any(|b| b.contains(*x, *y))).count();
            prop_assert!((region.share_inside_any(&boxes) - counted as f32 / 500.0).abs() < 1e-5);
        }
    }
}
