//! Sums of products of eight-bit integers, for each instruction set that has a way of its own.

use crate::ending::Ending;
use crate::product::ViewMut;

/// Columns of a panel: as many strips as are multiplied together where registers are many.
pub(super) const WIDTH: usize = 64;
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

impl Default for Integers {
    fn default() -> Self {
        Self::Plain(Vec::new())
    }
}

impl Integers {
    /// So many zeros for these instructions; in the same memory, if these were for them as well.
    pub(super) fn become_zeros(&mut self, instructions: Instructions, len: usize) {
        match (instructions, &mut *self) {
            #[cfg(target_arch = "x86_64")]
            (Instructions::Vnni, Self::Vnni(values)) => refill(values, [128; GROUP], len),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Vnni, _) => *self = Self::Vnni(vec![[128; GROUP]; len]),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, Self::Avx2(values)) => refill(values, [0; GROUP], len),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, _) => *self = Self::Avx2(vec![[0; GROUP]; len]),
            (Instructions::Plain, Self::Plain(values)) => refill(values, [0; GROUP], len),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Plain, _) => *self = Self::Plain(vec![[0; GROUP]; len]),
        }
    }

    /// The memory that they hold.
    pub(super) fn bytes(&self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Vnni(values) => values.capacity() * size_of::<[u8; GROUP]>(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(values) => values.capacity() * size_of::<[i16; GROUP]>(),
            Self::Plain(values) => values.capacity() * size_of::<[i8; GROUP]>(),
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

/// Has a list hold a value so many times, and nothing else.
fn refill<T: Copy>(list: &mut Vec<T>, value: T, len: usize) {
    list.clear();
    list.resize(len, value);
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

    /// From sums of p q to y.
    #[inline(always)]
    fn finish(&self, sums: &[i32; STRIP], scale: f32, to: &mut ViewMut<'_>, (row, column): (usize, usize)) {
        let count = self.scales.len();
        // Loops of a length that is known, also for the last columns.
        let scales: [f32; STRIP] = match self.scales.try_into() {
            Ok(scales) => scales,
            Err(_) => std::array::from_fn(|column| self.scales.get(column).copied().unwrap_or(0.0)),
        };
        let values: [f32; STRIP] =
            std::array::from_fn(|column| sums[column] as f32 * (scale * scales[column]));
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
mod x86;
