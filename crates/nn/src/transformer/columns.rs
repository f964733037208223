//! What the layers of a stack have read: the keys and values of the columns so far.
//!
//! Each pass leaves a piece, which never changes again. When rows are chosen, only what says which row of a piece
//! belongs to which row of the state does.

use crate::attention::KeysValues;
use crate::flex::{Operand, Values, plain};
use crate::sharing::followed_by;
use burn::tensor::{Device, Tensor};
use gatto_kernels::attention::Piece as KernelPiece;
use std::sync::Arc;

/// The columns so far, in order; none before the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns(Vec<Piece>);

/// Columns that were read in one pass.
#[derive(Clone, Debug)]
struct Piece {
    made: Arc<Made>,
    /// Which row of them belongs to each row; all in order if not given.
    rows: Option<Arc<[u32]>>,
}

/// Keys and values as tensors, and beside them the same as plain values, where they live on the CPU and outside any gradient.
#[derive(Clone, Debug)]
pub(super) struct Readable {
    pub(super) tensors: KeysValues,
    values: Option<[Values; 2]>,
}

impl Readable {
    pub(super) fn new(tensors: KeysValues) -> Self {
        let values = |tensor: &Tensor<3>| match tensor.is_autodiff() {
            true => None,
            false => Some(Operand::of(tensor)?.values),
        };
        let both = values(&tensors.keys).zip(values(&tensors.values));
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
        Some(KernelPiece { keys: keys.slice(), values: values.slice(), columns, rows })
    }
}

/// The keys and values of every layer.
#[derive(Debug)]
enum Made {
    /// Of some columns.
    Columns(Vec<Readable>),
    /// Of one column, as plain values alone: [B, C] of each. Few ever ask for tensors.
    Column { width: usize, layers: Vec<[Vec<f32>; 2]> },
}

impl Columns {
    /// Columns as every layer has made them.
    pub(super) fn new(layers: Vec<KeysValues>) -> Self {
        let mut columns = Self::default();
        columns.push(layers);
        columns
    }

    /// Puts columns behind those that are there.
    pub(super) fn push(&mut self, layers: Vec<KeysValues>) {
        if !layers.is_empty() {
            let layers = layers.into_iter().map(Readable::new).collect();
            self.0.push(Piece { made: Arc::new(Made::Columns(layers)), rows: None });
        }
    }

    /// Puts one column [B, `width`] behind them: the keys and the values of every layer.
    pub(super) fn push_column(&mut self, width: usize, layers: Vec<[Vec<f32>; 2]>) {
        if !layers.is_empty() {
            self.0.push(Piece { made: Arc::new(Made::Column { width, layers }), rows: None });
        }
    }

    /// Where they live; `None` while there are none.
    pub(super) fn device(&self) -> Option<Device> {
        Some(self.0.first()?.made.device())
    }

    /// The columns of only these rows, in this order.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let select = |piece: &Piece| {
            let rows = match &piece.rows {
                Some(before) => rows.iter().map(|&row| before[row]).collect(),
                None => rows.iter().map(|&row| row as u32).collect(),
            };
            Piece { made: piece.made.clone(), rows: Some(rows) }
        };
        Self(self.0.iter().map(select).collect())
    }

    /// What a layer has read, and `new` behind it, in one piece.
    pub(super) fn followed_by(&self, layer: usize, new: KeysValues) -> KeysValues {
        let mut joined: Option<(KeysValues, Option<Vec<usize>>)> = None;
        for piece in &self.0 {
            joined = Some(match joined {
                None => (piece.made.layer(layer), piece.rows()),
                Some((before, rows)) => (followed(before, rows.as_deref(), piece.chosen(layer)), None),
            });
        }
        match joined {
            Some((before, rows)) => followed(before, rows.as_deref(), new),
            None => new,
        }
    }

    /// What a layer has read, where it lies; `None` if it does not lie on the CPU, or is in a gradient.
    pub(super) fn of_layer(&self, layer: usize) -> Option<Vec<KernelPiece<'_>>> {
        self.0.iter().map(|piece| piece.of_layer(layer)).collect()
    }

    /// Whether [`Columns::of_layer`] gives all.
    pub(super) fn are_plain(&self) -> bool {
        self.0.iter().all(|piece| piece.made.is_plain())
    }
}

impl Made {
    /// The keys and values of a layer.
    fn layer(&self, layer: usize) -> KeysValues {
        match self {
            Self::Columns(layers) => layers[layer].tensors.clone(),
            Self::Column { width, layers } => {
                let tensor = |values: &Vec<f32>| plain(values.clone(), [values.len() / width, 1, *width]);
                let [keys, values] = &layers[layer];
                KeysValues { keys: tensor(keys), values: tensor(values) }
            }
        }
    }

    fn device(&self) -> Device {
        match self {
            Self::Columns(layers) => layers[0].tensors.keys.device(),
            Self::Column { .. } => Device::flex(),
        }
    }

    fn is_plain(&self) -> bool {
        match self {
            Self::Columns(layers) => layers.iter().all(Readable::is_plain),
            Self::Column { .. } => true,
        }
    }
}

impl Piece {
    fn of_layer(&self, layer: usize) -> Option<KernelPiece<'_>> {
        let rows = self.rows.as_deref();
        match &*self.made {
            Made::Columns(layers) => layers.get(layer)?.piece(rows),
            Made::Column { layers, .. } => {
                let [keys, values] = layers.get(layer)?;
                Some(KernelPiece { keys, values, columns: 1, rows })
            }
        }
    }

    fn rows(&self) -> Option<Vec<usize>> {
        self.rows.as_ref().map(|rows| rows.iter().map(|&row| row as usize).collect())
    }

    /// Its rows of a layer as they are chosen.
    fn chosen(&self, layer: usize) -> KeysValues {
        let made = self.made.layer(layer);
        match self.rows() {
            Some(rows) => {
                let device = made.keys.device();
                let ids = crate::sharing::ids(&rows, &device);
                made.map(|x| x.select(0, ids.clone()))
            }
            None => made,
        }
    }
}

fn followed(before: KeysValues, rows: Option<&[usize]>, more: KeysValues) -> KeysValues {
    KeysValues {
        keys: followed_by(before.keys, rows, more.keys),
        values: followed_by(before.values, rows, more.values),
    }
}
