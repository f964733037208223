//! What the layers of a stack have read: the keys and values of the columns so far.
//!
//! Columns that were read in one pass are one piece. Those that are written one after the other lie on pages. Neither ever
//! changes: when rows are chosen, only what says which place belongs to which row of the state does. A page has room for the
//! columns to come, so that writing one asks for no memory; if another state has the page as well, a new one is begun.

use crate::attention::KeysValues;
use crate::flex::{Values, plain};
use crate::sharing::followed_by;
use burn::tensor::{Device, Tensor};
use gatto_kernels::attention::{Piece as KernelPiece, Places};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// For how many columns a new page has room: as many as there are, but no more and no fewer than these.
const PAGE: RangeInclusive<usize> = 32..=256;

/// The columns so far; none before the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Those that were read in one pass.
    read: Option<Piece>,
    /// Those behind them, and how many are on each page.
    pages: Vec<(Arc<Page>, usize)>,
    /// Where each of these lies on its page for each row of the state: [columns, R].
    places: OfRows,
    /// R, once something is on a page.
    rows: usize,
}

/// Columns that were read in one pass.
#[derive(Clone, Debug)]
struct Piece {
    layers: Arc<Vec<Readable>>,
    /// Which row of them belongs to each row; all in order if empty.
    rows: OfRows,
}

/// Keys and values as tensors, and beside them the same as plain values, where they live on the CPU and outside any gradient.
#[derive(Clone, Debug)]
pub(super) struct Readable {
    pub(super) tensors: KeysValues,
    values: Option<[Values; 2]>,
}

/// The keys and the values of every layer, [places, C] of each.
#[derive(Clone, Debug)]
struct Page {
    width: usize,
    layers: Vec<[Vec<f32>; 2]>,
}

/// Numbers, as many for each row of the state, of which rows are chosen.
#[derive(Clone, Debug, Default)]
struct OfRows {
    numbers: Vec<u32>,
    /// Memory for the next choice.
    spare: Vec<u32>,
}

impl OfRows {
    /// Of each `count` numbers those of `rows`.
    fn select(&mut self, count: usize, rows: &[usize]) {
        self.spare.clear();
        for numbers in self.numbers.chunks_exact(count.max(1)) {
            self.spare.extend(rows.iter().map(|&row| numbers[row]));
        }
        std::mem::swap(&mut self.numbers, &mut self.spare);
    }
}

impl Readable {
    pub(super) fn new(tensors: KeysValues) -> Self {
        let both = Values::of(&tensors.keys).zip(Values::of(&tensors.values));
        Self { values: both.map(|(keys, values)| [keys, values]), tensors }
    }

    /// Each part as `change` makes it.
    pub(super) fn map(&self, change: impl Fn(Tensor<3>) -> Tensor<3>) -> Self {
        Self::new(self.tensors.map(change))
    }

    /// Whether [`Readable::piece`] gives something.
    pub(super) fn is_plain(&self) -> bool {
        self.values.is_some()
    }

    /// Where the columns lie, of which `rows` says whose are whose; `None` if they do not lie on the CPU, or are in a gradient.
    pub(super) fn piece<'a>(&'a self, rows: Option<&'a [u32]>) -> Option<KernelPiece<'a>> {
        let ([keys, values], columns) = (self.values.as_ref()?, self.tensors.keys.dims()[1]);
        Some(KernelPiece {
            keys: keys.slice(),
            values: values.slice(),
            columns,
            places: Places::Together(rows),
        })
    }
}

impl Page {
    /// A page with room for so many places.
    fn new(layers: usize, width: usize, places: usize) -> Self {
        let list = || Vec::with_capacity(places * width);
        Self { width, layers: (0..layers).map(|_| [list(), list()]).collect() }
    }

    /// How many places are taken.
    fn taken(&self) -> usize {
        self.layers.first().map_or(0, |[keys, _]| keys.len() / self.width)
    }

    /// How many places there are.
    fn size(&self) -> usize {
        self.layers.first().map_or(0, |[keys, _]| keys.capacity() / self.width)
    }

    /// Takes so many places more, which are zeros for now.
    fn take(&mut self, places: usize) {
        let len = (self.taken() + places) * self.width;
        self.layers.iter_mut().flatten().for_each(|list| list.resize(len, 0.0));
    }
}

impl Columns {
    /// Columns as every layer has made them.
    pub(super) fn new(layers: Vec<KeysValues>) -> Self {
        let layers: Vec<Readable> = layers.into_iter().map(Readable::new).collect();
        let piece = |layers| Piece { layers: Arc::new(layers), rows: OfRows::default() };
        Self { read: Some(layers).filter(|layers| !layers.is_empty()).map(piece), ..Self::default() }
    }

    /// Begins one more column of so many rows, which is zeros for now: see [`Columns::last_mut`].
    pub(super) fn begin(&mut self, layers: usize, width: usize, rows: usize) {
        let fits = |page: &mut Arc<Page>| {
            Arc::get_mut(page).is_some_and(|page| page.width == width && page.taken() + rows <= page.size())
        };
        if !self.pages.last_mut().is_some_and(|(page, _)| fits(page)) {
            let columns = self.places.numbers.len() / self.rows.max(1);
            let columns = columns.clamp(*PAGE.start(), *PAGE.end());
            self.pages.push((Arc::new(Page::new(layers, width, rows * columns)), 0));
        }
        if let Some((page, columns)) = self.pages.last_mut() {
            let first = page.taken() as u32;
            Arc::make_mut(page).take(rows);
            self.places.numbers.extend(first..first + rows as u32);
            (*columns, self.rows) = (*columns + 1, rows);
        }
    }

    /// Where a layer's keys and values of the column go that was begun last: [R, C] of each.
    pub(super) fn last_mut(&mut self, layer: usize) -> [&mut [f32]; 2] {
        let Some((page, _)) = self.pages.last_mut() else { return [&mut [], &mut []] };
        let page = Arc::make_mut(page);
        let len = self.rows * page.width;
        page.layers[layer].each_mut().map(|list| {
            let first = list.len() - len;
            &mut list[first..]
        })
    }

    /// Where they live; `None` while there are none.
    pub(super) fn device(&self) -> Option<Device> {
        let read = self.read.as_ref().map(|piece| piece.layers[0].tensors.keys.device());
        read.or_else(|| self.pages.first().map(|_| Device::flex()))
    }

    /// R, once something is on a page.
    pub(super) fn rows(&self) -> Option<usize> {
        (!self.pages.is_empty()).then_some(self.rows)
    }

    /// The columns of only these rows, in this order.
    pub(super) fn select(mut self, rows: &[usize]) -> Self {
        if let Some(Piece { rows: of_rows, .. }) = &mut self.read {
            match of_rows.numbers.is_empty() {
                true => of_rows.numbers.extend(rows.iter().map(|&row| row as u32)),
                false => of_rows.select(of_rows.numbers.len(), rows),
            }
        }
        self.places.select(self.rows, rows);
        Self { rows: rows.len(), ..self }
    }

    /// What a layer has read, and `new` behind it, in one piece.
    pub(super) fn followed_by(&self, layer: usize, new: KeysValues) -> KeysValues {
        let joined = |before: KeysValues, rows: Option<&[usize]>, more: KeysValues| KeysValues {
            keys: followed_by(before.keys, rows, more.keys),
            values: followed_by(before.values, rows, more.values),
        };
        let more = match self.written(layer) {
            Some(written) => joined(written, None, new),
            None => new,
        };
        let Some(Piece { layers, rows }) = &self.read else { return more };
        let rows: Vec<usize> = rows.numbers.iter().map(|&row| row as usize).collect();
        joined(layers[layer].tensors.clone(), (!rows.is_empty()).then_some(&rows), more)
    }

    /// What is on the pages of a layer, if there is something.
    fn written(&self, layer: usize) -> Option<KeysValues> {
        let (rows, width) = (self.rows, self.pages.first()?.0.width);
        let columns = self.places.numbers.len() / rows.max(1);
        let [keys, values] = [0, 1].map(|part| {
            let mut joined = vec![0.0; rows * columns * width];
            let of_pages = self.pages.iter().flat_map(|(page, columns)| std::iter::repeat_n(page, *columns));
            let columns_of = self.places.numbers.chunks_exact(rows.max(1)).zip(of_pages).enumerate();
            for (column, (places, page)) in columns_of {
                for (row, &place) in places.iter().enumerate() {
                    let from = &page.layers[layer][part][place as usize * width..][..width];
                    joined[(row * columns + column) * width..][..width].copy_from_slice(from);
                }
            }
            plain(joined, [rows, columns, width])
        });
        Some(KeysValues { keys, values })
    }

    /// Adds what a layer has read to a list, where it lies. What [`Columns::are_plain`] does not hold of is left out.
    pub(super) fn of_layer<'a>(&'a self, layer: usize, to: &mut Vec<KernelPiece<'a>>) {
        to.extend(self.read.as_ref().and_then(|Piece { layers, rows }| {
            layers.get(layer)?.piece(Some(&rows.numbers[..]).filter(|rows| !rows.is_empty()))
        }));
        let mut places = &self.places.numbers[..];
        for (page, columns) in &self.pages {
            let (own, behind) = places.split_at(columns * self.rows);
            let [keys, values] = &page.layers[layer];
            to.push(KernelPiece { keys, values, columns: *columns, places: Places::Apart(own) });
            places = behind;
        }
    }

    /// Whether [`Columns::of_layer`] gives all.
    pub(super) fn are_plain(&self) -> bool {
        self.read.as_ref().is_none_or(|piece| piece.layers.iter().all(Readable::is_plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a column of rows whose keys are these numbers, and whose values are a hundred more.
    fn write(columns: &mut Columns, numbers: &[f32]) {
        columns.begin(1, 2, numbers.len());
        let [keys, values] = columns.last_mut(0);
        for (row, &number) in numbers.iter().enumerate() {
            keys[row * 2..][..2].fill(number);
            values[row * 2..][..2].fill(number + 100.0);
        }
    }

    /// The keys of each row as they are read in place, and as tensors.
    fn read(columns: &Columns, rows: usize) -> Vec<Vec<f32>> {
        let mut pieces = Vec::new();
        columns.of_layer(0, &mut pieces);
        let mut found = vec![Vec::new(); rows];
        for piece in pieces {
            let Places::Apart(places) = piece.places else { panic!("nothing was read in one pass") };
            assert_eq!(places.len(), piece.columns * rows);
            for (at, &place) in places.iter().enumerate() {
                found[at % rows].push(piece.keys[place as usize * 2]);
                assert_eq!(piece.values[place as usize * 2], piece.keys[place as usize * 2] + 100.0);
            }
        }
        let all = columns.written(0).expect("columns");
        let joined: Vec<f32> = found.iter().flatten().flat_map(|&key| [key, key]).collect();
        assert_eq!(all.keys.try_into_vec_as::<f32>().expect("keys"), joined);
        found
    }

    #[test]
    fn rows_are_chosen_and_nothing_is_moved() {
        let mut columns = Columns::default();
        write(&mut columns, &[1.0, 2.0]);
        let mut columns = columns.select(&[1, 0, 1]);
        write(&mut columns, &[3.0, 4.0, 5.0]);
        assert_eq!(read(&columns, 3), [[2.0, 3.0], [1.0, 4.0], [2.0, 5.0]]);
        assert_eq!(read(&columns.select(&[2, 0]), 2), [[2.0, 5.0], [2.0, 3.0]]);
    }

    #[test]
    fn states_that_share_a_page_do_not_write_over_each_other() {
        let mut one = Columns::default();
        write(&mut one, &[1.0]);
        let mut two = one.clone();
        write(&mut one, &[2.0]);
        write(&mut two, &[3.0]);
        assert_eq!((read(&one, 1), read(&two, 1)), (vec![vec![1.0, 2.0]], vec![vec![1.0, 3.0]]));
    }

    #[test]
    fn pages_are_few() {
        let mut columns = Columns::default();
        (0..1000).for_each(|number| write(&mut columns, &[number as f32, 0.0]));
        let expected: Vec<f32> = (0..1000).map(|number| number as f32).collect();
        assert_eq!(read(&columns, 2)[0], expected);
        assert_eq!(
            columns.pages.iter().map(|(_, columns)| *columns).collect::<Vec<_>>(),
            [32, 32, 64, 128, 256, 256, 232]
        );
    }
}
