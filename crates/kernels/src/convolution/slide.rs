//! Windows times weights: a tile of some places and some registers of channels stays in registers over the whole sum.

use super::field::Field;
use crate::instructions::arch;
use crate::packed::{ACROSS, Panels, Tiles, in_tiles, most_rows};
use pulp::{Simd, WithSimd};
use std::mem::MaybeUninit;

/// A grid of windows over a field, and the weights that all of them are multiplied by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slide<'a> {
    pub(super) field: Field<'a>,
    /// Where the first window begins.
    pub(super) first: usize,
    /// Values from a window to the one below it.
    pub(super) down: usize,
    /// Values from a window to the one on its right.
    pub(super) right: usize,
    /// Rows of a window.
    pub(super) segments: usize,
    /// Values of a row of a window.
    pub(super) segment: usize,
    /// Rows of windows.
    pub(super) rows: usize,
    /// Columns of windows.
    pub(super) columns: usize,
    /// `[segments · segment, O]`.
    pub(super) panels: &'a Panels,
    /// `[O]`.
    pub(super) bias: Option<&'a [f32]>,
}

/// Where the sums of the windows are written, `O` values for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Those of the first window.
    pub(super) first: usize,
    /// Values from one row of windows to the next.
    pub(super) down: usize,
    /// Values from one window to the next.
    pub(super) right: usize,
}

impl Slide<'_> {
    /// Writes the sums of all windows, on the calling thread.
    pub(super) fn write(self, to: &mut [MaybeUninit<f32>], grid: Grid) {
        let Self { field, rows, columns, segments, segment, panels, .. } = self;
        if rows == 0 || columns == 0 {
            return;
        }
        let (depth, output) = panels.shape();
        assert_eq!(depth, segments * segment, "convolution: the panels are not those of the window");
        let last = self.first + (rows - 1) * self.down + (columns - 1) * self.right;
        let reach = last + segments.saturating_sub(1) * field.row + segment;
        assert!(depth == 0 || reach <= field.values.len(), "convolution: a window leaves the field");
        let last = grid.first + (rows - 1) * grid.down + (columns - 1) * grid.right;
        assert!(
            grid.right >= output && last + output <= to.len(),
            "convolution: there is no room for a place"
        );
        assert!(self.bias.is_none_or(|bias| bias.len() == output), "convolution: the bias is not [O]");
        arch().dispatch(Writing { slide: self, to, grid });
    }
}

struct Writing<'a, 'b> {
    slide: Slide<'a>,
    to: &'b mut [MaybeUninit<f32>],
    grid: Grid,
}

impl WithSimd for Writing<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { slide, to, grid } = self;
        let ((_, output), width) = (slide.panels.shape(), slide.panels.width());
        assert_eq!(width, ACROSS * S::F32_LANES, "convolution: the panels are of other registers");
        let all = slide.rows * slide.columns;
        for from in (0..output).step_by(width) {
            let (panel, count) = (S::as_simd_f32s(slide.panels.panel(from)).0, width.min(output - from));
            let mut places = Places::<S> { slide: &slide, panel, from, count, to, grid };
            match count > S::F32_LANES {
                true => in_tiles(simd, all, most_rows::<S>(ACROSS), &mut Across::<ACROSS, S>(&mut places)),
                false => in_tiles(simd, all, most_rows::<S>(1), &mut Across::<1, S>(&mut places)),
            }
        }
    }
}

/// All windows times one or two registers of a panel. They are counted row by row, and a tile may go on in the next row:
/// the rows of a small image are shorter than a tile.
struct Places<'a, 'b, S: Simd> {
    slide: &'a Slide<'a>,
    panel: &'a [S::f32s],
    /// The first channel that is written, and how many are.
    from: usize,
    count: usize,
    to: &'b mut [MaybeUninit<f32>],
    grid: Grid,
}

/// The same with the registers that hold its channels.
struct Across<'p, 'a, 'b, const A: usize, S: Simd>(&'p mut Places<'a, 'b, S>);

impl<S: Simd, const A: usize> Tiles<S> for Across<'_, '_, '_, A, S> {
    #[inline(always)]
    fn tile<const R: usize>(&mut self, simd: S, place: usize) {
        let Places { slide, panel, from, count, to, grid } = &mut *self.0;
        let (mut row, mut column) = (place / slide.columns, place % slide.columns);
        let (mut starts, mut goals) = ([0; R], [0; R]);
        for r in 0..R {
            starts[r] = slide.first + row * slide.down + column * slide.right;
            goals[r] = grid.first + row * grid.down + column * grid.right + *from;
            column += 1;
            if column == slide.columns {
                (row, column) = (row + 1, 0);
            }
        }
        let sums = windows_times::<S, R, A>(simd, slide, starts, panel);
        let bias = slide.bias.map(|bias| &bias[*from..*from + *count]);
        for (goal, mut sums) in goals.into_iter().zip(sums) {
            if let Some(bias) = bias {
                let (whole, rest) = S::as_simd_f32s(bias);
                for (sum, bias) in sums.iter_mut().zip(whole) {
                    *sum = simd.add_f32s(*sum, *bias);
                }
                if !rest.is_empty() {
                    sums[A - 1] = simd.add_f32s(sums[A - 1], simd.partial_load_f32s(rest));
                }
            }
            let to = &mut to[goal..goal + *count];
            // SAFETY: the values are only written, by the lines that follow.
            #[allow(unsafe_code, reason = "what is overwritten at once is not zeroed before")]
            let to = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<f32>(), to.len()) };
            let (whole, rest) = S::as_mut_simd_f32s(to);
            whole.iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
            if !rest.is_empty() {
                simd.partial_store_f32s(rest, sums[A - 1]);
            }
        }
    }
}

/// The sums of the windows that begin at `starts`, with the first `A` of the registers of each row of a panel.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "other forms of this loop were seen to spill the sums")]
fn windows_times<S: Simd, const R: usize, const A: usize>(
    simd: S,
    slide: &Slide<'_>,
    starts: [usize; R],
    panel: &[S::f32s],
) -> [[S::f32s; A]; R] {
    let Slide { field, segments, segment, .. } = *slide;
    let mut sums = [[simd.splat_f32s(0.0); A]; R];
    for u in 0..segments {
        let windows: [*const f32; R] =
            std::array::from_fn(|r| field.values.as_ptr().wrapping_add(starts[r] + u * field.row));
        let weights = panel.as_ptr().wrapping_add(u * segment * ACROSS);
        for k in 0..segment {
            let weights = weights.wrapping_add(k * ACROSS);
            for r in 0..R {
                // SAFETY: `Slide::write` has checked that the last window lies inside the field, and that a panel has as many
                // rows as a window has values; `with_simd`, that a row is of `ACROSS` registers, and `A` is no more.
                #[allow(unsafe_code, reason = "checks of twelve slices would double the inner loop")]
                unsafe {
                    let value = simd.splat_f32s(*windows[r].add(k));
                    for a in 0..A {
                        sums[r][a] = simd.mul_add_e_f32s(value, *weights.add(a), sums[r][a]);
                    }
                }
            }
        }
    }
    sums
}
