//! Sums of products of eight-bit integers, for each instruction set that has a way of its own.

use crate::ending::Ending;
use crate::product::ViewMut;

/// Columns of a panel: as many strips as are multiplied together where registers are many.
pub(crate) const WIDTH: usize = 64;
/// Columns of a strip, which lie together.
pub(super) const STRIP: usize = 16;
/// Terms of a sum that stand side by side.
pub(super) const GROUP: usize = 4;
/// The most rows of x that are multiplied together.
pub(super) const MOST_ROWS: usize = 6;

/// The instructions that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instructions {
    /// AVX-512 with VNNI: four products and their sum in one.
    #[cfg(target_arch = "x86_64")]
    Vnni,
    /// AVX2: products of sixteen bits, which rows have from the start.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Whatever there is.
    Plain,
}

impl Instructions {
    /// The fastest that the machine has.
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
                return Self::Vnni;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Plain
    }

    /// All that the machine has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let best = Self::best();
        #[cfg(target_arch = "x86_64")]
        let all = match best {
            Self::Vnni => vec![Self::Vnni, Self::Avx2, Self::Plain],
            Self::Avx2 => vec![Self::Avx2, Self::Plain],
            Self::Plain => vec![Self::Plain],
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = vec![best];
        all
    }
}

/// Integers p of rows, by fours, in the form that some instructions read.
pub(super) enum Integers {
    /// p + 128, for AVX-512 with VNNI.
    #[cfg(target_arch = "x86_64")]
    Vnni(Vec<[u8; GROUP]>),
    /// p in sixteen bits, for AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Vec<[i16; GROUP]>),
    /// p, for whatever there is.
    Plain(Vec<[i8; GROUP]>),
}

impl Integers {
    /// So many zeros for these instructions.
    pub(super) fn zeros(instructions: Instructions, len: usize) -> Self {
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Vnni => Self::Vnni(vec![[128; GROUP]; len]),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => Self::Avx2(vec![[0; GROUP]; len]),
            Instructions::Plain => Self::Plain(vec![[0; GROUP]; len]),
        }
    }

    /// Columns of weights that are multiplied together. As few as keep registers busy: what is read of them then stays in the
    /// first cache while one row comes after the other.
    pub(super) fn columns(&self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Vnni(_) => WIDTH,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => STRIP,
            Self::Plain(_) => STRIP,
        }
    }
}

/// [`GROUP`] rows of a strip: a group of terms of each of its columns, which fill a line of the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [[i8; GROUP]; STRIP]);

/// Some columns of a matrix, at most [`WIDTH`]: one strip behind the other.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) strips: &'a [Line],
    /// Lines of a strip.
    pub(super) depth: usize,
    pub(super) scales: &'a [f32],
    #[cfg(target_arch = "x86_64")]
    pub(super) totals: &'a [i32],
    /// The first of the columns in the whole matrix.
    pub(super) from: usize,
    pub(super) ending: Ending<'a>,
}

impl Panel<'_> {
    /// The columns of as many rows as there are scales, whose integers begin at `first`, to the rows and columns of `to` from
    /// `place` on.
    pub(super) fn multiply(
        &self,
        integers: &Integers,
        first: usize,
        scales: &[f32],
        to: &mut ViewMut<'_>,
        place: (usize, usize),
    ) {
        match scales.len() {
            1 => self.rows::<1>(integers, first, scales, to, place),
            2 => self.rows::<2>(integers, first, scales, to, place),
            3 => self.rows::<3>(integers, first, scales, to, place),
            4 => self.rows::<4>(integers, first, scales, to, place),
            5 => self.rows::<5>(integers, first, scales, to, place),
            _ => self.rows::<MOST_ROWS>(integers, first, scales, to, place),
        }
    }

    fn rows<const R: usize>(
        &self,
        integers: &Integers,
        first: usize,
        scales: &[f32],
        to: &mut ViewMut<'_>,
        place: (usize, usize),
    ) {
        let scales: [f32; R] = std::array::from_fn(|row| scales[row]);
        match integers {
            // SAFETY: `Instructions::best` and `all` name what the machine has, and integers are made for one of these.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "the only way to call a function for some machines")]
            Integers::Vnni(values) => unsafe {
                let rows = self.taken(values, first);
                match R {
                    1 | 2 => x86::vnni_by_strips::<R>(self, rows, scales, to, place),
                    _ => x86::vnni::<R>(self, rows, scales, to, place),
                }
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "the only way to call a function for some machines")]
            Integers::Avx2(values) => unsafe {
                let rows = self.taken(values, first);
                match R {
                    1 | 2 => x86::avx2::<R, 2>(self, rows, scales, to, place),
                    _ => x86::avx2::<R, 1>(self, rows, scales, to, place),
                }
            },
            Integers::Plain(values) => {
                for (row, (values, scale)) in self.taken::<_, R>(values, first).iter().zip(scales).enumerate()
                {
                    self.finish(&plain(self.strips, values), scale, to, (place.0 + row, place.1));
                }
            }
        }
    }

    /// As many rows of integers as long as the panel, from `first` on.
    #[inline(always)]
    fn taken<'v, T, const R: usize>(&self, values: &'v [T], first: usize) -> [&'v [T]; R] {
        std::array::from_fn(|row| &values[first + row * self.depth..][..self.depth])
    }

    /// Σ p q from Σ (p + 128) q.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn lowered(&self, mut sums: [i32; WIDTH]) -> [i32; WIDTH] {
        for (sum, total) in sums.iter_mut().zip(self.totals) {
            *sum = sum.wrapping_sub(total.wrapping_mul(128));
        }
        sums
    }

    /// From sums of p q to y.
    #[inline(always)]
    fn finish<const N: usize>(
        &self,
        sums: &[i32; N],
        scale: f32,
        to: &mut ViewMut<'_>,
        (row, column): (usize, usize),
    ) {
        let count = self.scales.len();
        // Loops of a length that is known, also for the last columns.
        let scales: [f32; N] = match self.scales.try_into() {
            Ok(scales) => scales,
            Err(_) => std::array::from_fn(|column| self.scales.get(column).copied().unwrap_or(0.0)),
        };
        let values: [f32; N] = std::array::from_fn(|column| sums[column] as f32 * (scale * scales[column]));
        self.ending.write(self.from, &values, &mut to.row(row)[column..][..count]);
    }
}

/// Σ p q of each column of a strip.
fn plain(strip: &[Line], row: &[[i8; GROUP]]) -> [i32; STRIP] {
    let mut sums = [0; STRIP];
    for (Line(groups), p) in strip.iter().zip(row) {
        for (sum, q) in sums.iter_mut().zip(groups) {
            for (&p, &q) in p.iter().zip(q) {
                *sum += i32::from(p) * i32::from(q);
            }
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{GROUP, Line, Panel, STRIP, ViewMut, WIDTH};
    use std::arch::x86_64::*;

    /// Σ (p + 128) q comes out of the instruction, and 128 Σ q is taken away from it.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn vnni<const R: usize>(
        panel: &Panel<'_>,
        rows: [&[[u8; GROUP]]; R],
        scales: [f32; R],
        to: &mut ViewMut<'_>,
        place: (usize, usize),
    ) {
        const ACROSS: usize = WIDTH / STRIP;
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
        for (row, (sums, scale)) in sums.into_iter().zip(scales).enumerate() {
            panel.finish(&panel.lowered(integers(sums)), scale, to, (place.0 + row, place.1));
        }
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
        let mut found = [[0; WIDTH]; R];
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
                let sum = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
                found[r][index * STRIP..][..STRIP].copy_from_slice(&integers::<_, 1, STRIP>([sum]));
            }
        }
        for (row, (found, scale)) in found.into_iter().zip(scales).enumerate() {
            panel.finish(&panel.lowered(found), scale, to, (place.0 + row, place.1));
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
                    *found = integers([_mm256_permute4x64_epi64::<0b1101_1000>(both)]);
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

    /// Registers as numbers.
    #[inline(always)]
    fn integers<R: Copy, const N: usize, const I: usize>(registers: [R; N]) -> [i32; I] {
        const { assert!(size_of::<[R; N]>() == size_of::<[i32; I]>()) };
        // SAFETY: as many bytes, and any bytes make numbers.
        #[allow(unsafe_code, reason = "there is no safe way from registers to numbers")]
        unsafe {
            std::ptr::from_ref(&registers).cast::<[i32; I]>().read_unaligned()
        }
    }
}
