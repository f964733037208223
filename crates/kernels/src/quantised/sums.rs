//! Sums of products of eight-bit integers, for each instruction set that has a way of its own.

use crate::ending::Ending;
use crate::product::ViewMut;

/// Columns of a panel.
pub(crate) const WIDTH: usize = 64;
/// Terms of a sum that stand side by side.
pub(super) const GROUP: usize = 4;
/// Bytes of a group of rows of a panel.
pub(super) const PANEL: usize = WIDTH * GROUP;
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
}

/// Some columns of a matrix, at most [`WIDTH`].
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) groups: &'a [[i8; PANEL]],
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
                x86::vnni::<R>(self, self.taken(values, first), scales, to, place);
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "the only way to call a function for some machines")]
            Integers::Avx2(values) => unsafe {
                let rows = self.taken(values, first);
                match R {
                    1 => x86::avx2::<R, 4>(self, rows, scales, to, place),
                    2 | 3 => x86::avx2::<R, 2>(self, rows, scales, to, place),
                    _ => x86::avx2::<R, 1>(self, rows, scales, to, place),
                }
            },
            Integers::Plain(values) => {
                for (row, (values, scale)) in self.taken::<_, R>(values, first).iter().zip(scales).enumerate()
                {
                    self.finish(&plain(self.groups, values), scale, to, (place.0 + row, place.1));
                }
            }
        }
    }

    /// As many rows of integers as long as the panel, from `first` on.
    #[inline(always)]
    fn taken<'v, T, const R: usize>(&self, values: &'v [T], first: usize) -> [&'v [T]; R] {
        let depth = self.groups.len();
        std::array::from_fn(|row| &values[first + row * depth..][..depth])
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
    fn finish(&self, sums: &[i32; WIDTH], scale: f32, to: &mut ViewMut<'_>, (row, column): (usize, usize)) {
        let count = self.scales.len();
        let mut values = [0.0; WIDTH];
        for ((value, &sum), s) in values.iter_mut().zip(sums).zip(self.scales) {
            *value = sum as f32 * (scale * s);
        }
        self.ending.write(self.from, &values, &mut to.row(row)[column..][..count]);
    }
}

/// Σ p q of each column.
fn plain(groups: &[[i8; PANEL]], row: &[[i8; GROUP]]) -> [i32; WIDTH] {
    let mut sums = [0; WIDTH];
    for (group, p) in groups.iter().zip(row) {
        for (sum, q) in sums.iter_mut().zip(group.as_chunks::<GROUP>().0) {
            for (&p, &q) in p.iter().zip(q) {
                *sum += i32::from(p) * i32::from(q);
            }
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{GROUP, PANEL, Panel, ViewMut, WIDTH};
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
        const ACROSS: usize = PANEL / 64;
        assert!(rows.iter().all(|row| row.len() == panel.groups.len()), "quantised: rows of another length");
        let mut sums = [[_mm512_setzero_si512(); ACROSS]; R];
        for (k, group) in panel.groups.iter().enumerate() {
            let group: [__m512i; ACROSS] = registers(group);
            for r in 0..R {
                // SAFETY: rows are as long as the panel.
                #[allow(unsafe_code, reason = "checks of six slices would double the inner loop")]
                let p = unsafe { *rows[r].get_unchecked(k) };
                let p = _mm512_set1_epi32(i32::from_ne_bytes(p));
                for c in 0..ACROSS {
                    sums[r][c] = _mm512_dpbusd_epi32(sums[r][c], p, group[c]);
                }
            }
        }
        for (row, (sums, scale)) in sums.into_iter().zip(scales).enumerate() {
            panel.finish(&panel.lowered(integers(sums)), scale, to, (place.0 + row, place.1));
        }
    }

    /// q is widened to the sixteen bits of p, where products of pairs are summed without loss; what a panel has is widened once
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
        const { assert!((WIDTH / EIGHT).is_multiple_of(P)) };
        assert!(rows.iter().all(|row| row.len() == panel.groups.len()), "quantised: rows of another length");
        let mut found = [[0; WIDTH]; R];
        for first in (0..WIDTH / EIGHT).step_by(P) {
            let mut sums = [[[_mm256_setzero_si256(); 2]; P]; R];
            for (k, group) in panel.groups.iter().enumerate() {
                let group = group.as_chunks::<32>().0;
                for part in 0..P {
                    let [low, high]: [__m128i; 2] = registers(&group[first + part]);
                    let (low, high) = (_mm256_cvtepi8_epi16(low), _mm256_cvtepi8_epi16(high));
                    for r in 0..R {
                        // SAFETY: k is below the length of the panel, which is that of every row.
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

    /// Bytes as registers.
    #[inline(always)]
    fn registers<R: Copy, const N: usize, const B: usize>(bytes: &[i8; B]) -> [R; N] {
        const { assert!(size_of::<[R; N]>() == B) };
        // SAFETY: as many bytes, and any bytes make a register.
        #[allow(unsafe_code, reason = "there is no safe way from bytes to registers")]
        unsafe {
            std::ptr::from_ref(bytes).cast::<[R; N]>().read_unaligned()
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
