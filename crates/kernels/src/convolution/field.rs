//! Parts of images that stay in the cache, with the zeros around them.

use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Values of a band that stay in the second cache beside the weights.
const BAND: usize = 1 << 16;
/// Less than so many products are not split over the threads.
const LITTLE: usize = 1 << 17;
/// Bands for each thread, so that none waits long for the last.
const SHARES: usize = 4;

/// Some rows of an image.
#[derive(Clone, Debug)]
pub(super) struct Band {
    pub(super) image: usize,
    pub(super) rows: Range<usize>,
}

/// Cuts `batch` images of `rows` rows into bands, where a row stands for `values` values to keep and `products`
/// multiplications to make.
pub(super) fn bands(batch: usize, rows: usize, values: usize, products: usize) -> Vec<Band> {
    let threads = if batch * rows * products < LITTLE { 1 } else { rayon::current_num_threads() };
    let share = if threads == 1 { rows } else { (batch * rows).div_ceil(SHARES * threads) };
    let most = (BAND / values.max(1)).min(share).max(1);
    bands_of(batch, rows, most)
}

/// Cuts `batch` images of `rows` rows into bands of at most `most` rows, about as many in each.
pub(super) fn bands_of(batch: usize, rows: usize, most: usize) -> Vec<Band> {
    let count = rows.div_ceil(most.max(1)).max(1);
    let size = rows.div_ceil(count).max(1);
    let of_image =
        |image| (0..rows).step_by(size).map(move |from| Band { image, rows: from..(from + size).min(rows) });
    (0..batch).flat_map(of_image).collect()
}

/// A new vector of which `write` makes the values of each band, `row` for every row of it, with a vector for its own
/// use. The bands are those of whole images, in order.
///
/// # Safety
/// `write` writes all values that it is given.
#[allow(unsafe_code, reason = "zeroing what is overwritten at once would cost a pass over memory")]
pub(super) unsafe fn new_in_bands(
    bands: &[Band],
    row: usize,
    write: impl Fn(&mut Vec<f32>, &Band, &mut [MaybeUninit<f32>]) + Sync,
) -> Vec<f32> {
    let len = bands.iter().map(|band| band.rows.len() * row).sum();
    let mut result = Box::new_uninit_slice(len);
    let mut rest = &mut result[..];
    let mut parts = Vec::with_capacity(bands.len());
    for band in bands {
        let (part, tail) = rest.split_at_mut(band.rows.len() * row);
        rest = tail;
        if !part.is_empty() {
            parts.push((band, part));
        }
    }
    match parts.len() {
        1 => parts.into_iter().for_each(|(band, to)| write(&mut Vec::new(), band, to)),
        _ => parts.into_par_iter().for_each_init(Vec::new, |scratch, (band, to)| write(scratch, band, to)),
    }
    // SAFETY: the parts cover the whole, and `write` has written each.
    unsafe { result.assume_init() }.into_vec()
}

/// A rectangle of pixels, some of which may lie outside the image.
#[derive(Clone, Debug)]
pub(super) struct Area {
    pub(super) rows: Range<isize>,
    pub(super) columns: Range<isize>,
}

/// The pixels of an area, row by row, `row` values for each row of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) values: &'a [f32],
    pub(super) row: usize,
}

impl<'a> Field<'a> {
    /// An area of an image `[H, W, C]` with zeros outside: the image itself where that will do, else a copy in `scratch`.
    pub(super) fn of(
        image: &'a [f32],
        [height, width, channels]: [usize; 3],
        area: &Area,
        scratch: &'a mut Vec<f32>,
    ) -> Self {
        let row = area.columns.len() * channels;
        if area.columns == (0..width as isize) && area.rows.start >= 0 && area.rows.end <= height as isize {
            return Self { values: &image[area.rows.start as usize * row..][..area.rows.len() * row], row };
        }
        scratch.resize(area.rows.len() * row, 0.0);
        let clamp = |column: isize| column.clamp(0, width as isize) as usize;
        let inside = clamp(area.columns.start)..clamp(area.columns.end);
        let from = (inside.start as isize - area.columns.start) as usize * channels;
        let from = if inside.is_empty() { 0 } else { from };
        let count = inside.len() * channels;
        for (to, y) in scratch.chunks_exact_mut(row.max(1)).zip(area.rows.clone()) {
            if y < 0 || y >= height as isize {
                to.fill(0.0);
                continue;
            }
            let source = &image[(y as usize * width + inside.start) * channels..][..count];
            to[..from].fill(0.0);
            to[from..from + count].copy_from_slice(source);
            to[from + count..].fill(0.0);
        }
        Self { values: scratch, row }
    }
}
