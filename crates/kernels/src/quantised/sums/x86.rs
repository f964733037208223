//! Sums with instructions of x86.

use super::{GROUP, Line, Panel, STRIP, WIDTH};
use crate::activation::activate;
use crate::ending::Ending;
use crate::product::ViewMut;
use std::arch::x86_64::*;

/// Strips of a panel.
const ACROSS: usize = WIDTH / STRIP;

/// Σ (p + 128) q comes out of the instruction, and 128 Σ q is taken away from it.
#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) fn vnni<const R: usize>(
    panel: &Panel<'_>,
    rows: [&[[u8; GROUP]]; R],
    scales: [f32; R],
    to: &mut ViewMut<'_>,
    place: (usize, usize),
) {
    let depth = panel.depth;
    assert!(rows.iter().all(|row| row.len() == depth), "quantised: rows of another length");
    let strips: [&[Line]; ACROSS] = std::array::from_fn(|strip| &panel.strips[strip * depth..][..depth]);
    let mut sums = [[_mm512_setzero_si512(); ACROSS]; R];
    for k in 0..depth {
        let mut lines = [_mm512_setzero_si512(); ACROSS];
        for c in 0..ACROSS {
            // SAFETY: k is below the depth, to which strips have been cut.
            #[allow(unsafe_code, reason = "checks of four slices would double the inner loop")]
            let Line(line) = unsafe { strips[c].get_unchecked(k) };
            lines[c] = in_registers(line);
        }
        for r in 0..R {
            // SAFETY: rows are as long as strips are deep.
            #[allow(unsafe_code, reason = "checks of six slices would double the inner loop")]
            let p = unsafe { *rows[r].get_unchecked(k) };
            let p = _mm512_set1_epi32(i32::from_ne_bytes(p));
            for c in 0..ACROSS {
                sums[r][c] = _mm512_dpbusd_epi32(sums[r][c], p, lines[c]);
            }
        }
    }
    finish(panel, &apart(&sums), scales, to, place);
}

/// The same for so few rows that weights are not there as fast as they are multiplied: they are read from front to back, as
/// machines foresee, one strip behind the other. Terms that lie side by side have sums of their own, which do not wait for one
/// another; all are exact, so that their order makes no difference.
#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) fn vnni_by_strips<const R: usize>(
    panel: &Panel<'_>,
    rows: [&[[u8; GROUP]]; R],
    scales: [f32; R],
    to: &mut ViewMut<'_>,
    place: (usize, usize),
) {
    /// Lines side by side.
    const SIDE: usize = 4;
    let depth = panel.depth;
    assert!(rows.iter().all(|row| row.len() == depth), "quantised: rows of another length");
    let mut found = [[_mm512_setzero_si512(); ACROSS]; R];
    for (index, strip) in panel.strips.chunks_exact(depth.max(1)).enumerate() {
        let mut sums = [[_mm512_setzero_si512(); SIDE]; R];
        let (whole, rest) = strip.as_chunks::<SIDE>();
        for (k, lines) in whole.iter().enumerate() {
            for side in 0..SIDE {
                let line = in_registers(&lines[side].0);
                for r in 0..R {
                    // SAFETY: rows are as long as strips are deep.
                    #[allow(unsafe_code, reason = "a check for each row would double the inner loop")]
                    let p = unsafe { *rows[r].get_unchecked(k * SIDE + side) };
                    let p = _mm512_set1_epi32(i32::from_ne_bytes(p));
                    sums[r][side] = _mm512_dpbusd_epi32(sums[r][side], p, line);
                }
            }
        }
        for (k, Line(line)) in (whole.len() * SIDE..).zip(rest) {
            for r in 0..R {
                let p = _mm512_set1_epi32(i32::from_ne_bytes(rows[r][k]));
                sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], p, in_registers(line));
            }
        }
        for r in 0..R {
            let [a, b, c, d] = sums[r];
            found[r][index] = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
        }
    }
    finish(panel, &found, scales, to, place);
}

/// Sums one by one in another place. What is done with them row after row has them in memory, and if that were the same place,
/// each would be written there with every term.
#[target_feature(enable = "avx512f")]
#[inline]
fn apart<const R: usize>(sums: &[[__m512i; ACROSS]; R]) -> [[__m512i; ACROSS]; R] {
    let mut found = [[_mm512_setzero_si512(); ACROSS]; R];
    for r in 0..R {
        for c in 0..ACROSS {
            found[r][c] = sums[r][c];
        }
    }
    found
}

/// From sums of (p + 128) q to y: what [`Panel::finish`] does, for a strip of columns at a time and in registers.
#[target_feature(enable = "avx512f")]
#[inline]
fn finish<const R: usize>(
    panel: &Panel<'_>,
    sums: &[[__m512i; ACROSS]; R],
    scales: [f32; R],
    to: &mut ViewMut<'_>,
    (row, column): (usize, usize),
) {
    let Ending { bias, activation, add } = panel.ending;
    for (c, (of_columns, totals)) in panel.scales.chunks(STRIP).zip(panel.totals.chunks(STRIP)).enumerate() {
        let (from, count) = (c * STRIP, of_columns.len());
        let (of_columns, above) = (floats(of_columns), _mm512_slli_epi32::<7>(integers(totals)));
        let bias = bias.map(|bias| floats(&bias[panel.from + from..][..count]));
        for r in 0..R {
            let sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[r][c], above));
            let mut y = _mm512_mul_ps(sum, _mm512_mul_ps(_mm512_set1_ps(scales[r]), of_columns));
            if let Some(bias) = bias {
                y = _mm512_add_ps(y, bias);
            }
            if let Some(activation) = activation {
                let mut values = [0.0; STRIP];
                write(y, &mut values);
                activate(activation, &mut values);
                y = floats(&values);
            }
            let to = &mut to.row(row + r)[column + from..][..count];
            if add {
                y = _mm512_add_ps(y, floats(to));
            }
            write(y, to);
        }
    }
}

/// The lanes of a register for so many numbers, all if they are more.
#[inline(always)]
fn lanes(count: usize) -> __mmask16 {
    ((1u32 << count.min(STRIP)) - 1) as __mmask16
}

/// The first sixteen of some numbers; zeros where they are fewer.
#[target_feature(enable = "avx512f")]
#[inline]
fn floats(values: &[f32]) -> __m512 {
    // SAFETY: only lanes that there are values for are read.
    #[allow(unsafe_code, reason = "loads take pointers")]
    unsafe {
        _mm512_maskz_loadu_ps(lanes(values.len()), values.as_ptr())
    }
}

/// The same of integers.
#[target_feature(enable = "avx512f")]
#[inline]
fn integers(values: &[i32]) -> __m512i {
    // SAFETY: only lanes that there are values for are read.
    #[allow(unsafe_code, reason = "loads take pointers")]
    unsafe {
        _mm512_maskz_loadu_epi32(lanes(values.len()), values.as_ptr())
    }
}

/// As many of sixteen numbers as there is room for.
#[target_feature(enable = "avx512f")]
#[inline]
fn write(values: __m512, to: &mut [f32]) {
    // SAFETY: only lanes that there is room for are written.
    #[allow(unsafe_code, reason = "stores take pointers")]
    unsafe {
        _mm512_mask_storeu_ps(to.as_mut_ptr(), lanes(to.len()), values);
    }
}

/// q is widened to the sixteen bits of p, where products of pairs are summed without loss; what a strip has is widened once
/// for all rows. `P` registers of it are taken at a time: as many as leave room for the sums of `R` rows.
#[target_feature(enable = "avx2")]
pub(super) fn avx2<const R: usize, const P: usize>(
    panel: &Panel<'_>,
    rows: [&[[i16; GROUP]]; R],
    scales: [f32; R],
    to: &mut ViewMut<'_>,
    place: (usize, usize),
) {
    /// Columns whose groups fill a register.
    const EIGHT: usize = 8;
    const { assert!((STRIP / EIGHT).is_multiple_of(P)) };
    let strip = &panel.strips[..panel.depth];
    assert!(rows.iter().all(|row| row.len() == strip.len()), "quantised: rows of another length");
    let mut found = [[0; STRIP]; R];
    for first in (0..STRIP / EIGHT).step_by(P) {
        let mut sums = [[[_mm256_setzero_si256(); 2]; P]; R];
        for (k, Line(line)) in strip.iter().enumerate() {
            let eights = line.as_chunks::<EIGHT>().0;
            for part in 0..P {
                let [low, high]: [__m128i; 2] = in_registers(&eights[first + part]);
                let (low, high) = (_mm256_cvtepi8_epi16(low), _mm256_cvtepi8_epi16(high));
                for r in 0..R {
                    // SAFETY: k is below the length of the strip, which is that of every row.
                    #[allow(unsafe_code, reason = "checks of six slices would double the inner loop")]
                    let p = unsafe { *rows[r].get_unchecked(k) };
                    let p = _mm256_set1_epi64x(together(p));
                    let [of_low, of_high] = &mut sums[r][part];
                    *of_low = _mm256_add_epi32(*of_low, _mm256_madd_epi16(low, p));
                    *of_high = _mm256_add_epi32(*of_high, _mm256_madd_epi16(high, p));
                }
            }
        }
        for (sums, found) in sums.into_iter().zip(&mut found) {
            let places = found.as_chunks_mut::<EIGHT>().0[first..].iter_mut();
            for ([low, high], found) in sums.into_iter().zip(places) {
                // Two halves of the sums of columns 0 1 4 5 | 2 3 6 7, and then in their order.
                let both = _mm256_hadd_epi32(low, high);
                *found = eight(_mm256_permute4x64_epi64::<0b1101_1000>(both));
            }
        }
    }
    for (row, (found, scale)) in found.iter().zip(scales).enumerate() {
        panel.finish(found, scale, to, (place.0 + row, place.1));
    }
}

/// Four numbers as one, as they stand in memory.
#[inline(always)]
fn together(numbers: [i16; GROUP]) -> i64 {
    let [[a, b], [c, d], [e, f], [g, h]] = numbers.map(i16::to_ne_bytes);
    i64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// Groups as a register, or as several.
#[inline(always)]
fn in_registers<R: Copy, const N: usize>(groups: &[[i8; GROUP]; N]) -> R {
    const { assert!(size_of::<R>() == N * GROUP) };
    // SAFETY: as many bytes, and any bytes make a register.
    #[allow(unsafe_code, reason = "there is no safe way from bytes to registers")]
    unsafe {
        std::ptr::from_ref(groups).cast::<R>().read_unaligned()
    }
}

/// A register as numbers.
#[inline(always)]
fn eight(register: __m256i) -> [i32; 8] {
    // SAFETY: as many bytes, and any bytes make numbers.
    #[allow(unsafe_code, reason = "there is no safe way from registers to numbers")]
    unsafe {
        std::mem::transmute(register)
    }
}
