//! What the layers of a stack have read: the keys and values of the columns so far.
//!
//! Each pass leaves a piece, which never changes again. When rows are chosen, only what says which row of a piece
//! belongs to which row of the state does.

use crate::attention::KeysValues;
use crate::flex::{Operand, Values, plain};
use crate::sharing::followed_by;
use burn::tensor::Device;
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

/// The keys and values of every layer.
#[derive(Debug)]
enum Made {
    /// Of some columns. Beside them the same as plain values, where they live on the CPU and outside any gradient.
    Columns { count: usize, layers: Vec<KeysValues>, values: Option<Vec<[Values; 2]>> },
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
        let Some(first) = layers.first() else { return };
        let count = first.keys.dims()[1];
        let plain = |layer: &KeysValues| {
            if layer.keys.is_autodiff() || layer.values.is_autodiff() {
                return None;
            }
            Some([Operand::of(&layer.keys)?.values, Operand::of(&layer.values)?.values])
        };
        let values = layers.iter().map(plain).collect();
        self.0.push(Piece { made: Arc::new(Made::Columns { count, layers, values }), rows: None });
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

    /// What a layer has read, where it lies; `None` if it does not lie on the CPU.
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
            Self::Columns { layers, .. } => layers[layer].clone(),
            Self::Column { width, layers } => {
                let tensor = |values: &Vec<f32>| plain(values.clone(), [values.len() / width, 1, *width]);
                let [keys, values] = &layers[layer];
                KeysValues { keys: tensor(keys), values: tensor(values) }
            }
        }
    }

    fn device(&self) -> Device {
        match self {
            Self::Columns { layers, .. } => layers[0].keys.device(),
            Self::Column { .. } => Device::flex(),
        }
    }

    fn is_plain(&self) -> bool {
        matches!(self, Self::Column { .. } | Self::Columns { values: Some(_), .. })
    }
}

impl Piece {
    fn of_layer(&self, layer: usize) -> Option<KernelPiece<'_>> {
        let rows = self.rows.as_deref();
        match &*self.made {
            Made::Columns { count, values, .. } => {
                let [keys, values] = values.as_ref()?.get(layer)?;
                Some(KernelPiece { keys: keys.slice(), values: values.slice(), columns: *count, rows })
            }
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
