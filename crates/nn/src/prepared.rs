//! Weights made ready for prediction: in the order in which registers read them, or in eight bits.
//!
//! It is asked for once, when a model is loaded to be used, and holds as long as its parameters do not change;
//! a model that learns has no such weights. Where gradients are asked for, the parameters themselves are used.
//!
//! A model that is loaded has its weights made ready straight from the file, through a [`Supply`]. What was made
//! ready need not be a parameter as well: that then stays blank, a shape without values.

use crate::flex::{Operand, Values, is_plain, plain};
use burn::module::{Param, ParamId};
use burn::tensor::Tensor;
use gatto_kernels::Ending;
use gatto_kernels::prepared::{Map, Prepared, forward_all};
use gatto_kernels::quantised::Quantised;
use gatto_kernels::recurrent::{Cell, PreparedWeights};
use std::ops::Range;
use std::sync::Arc;

/// How weights are kept for prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// As they are.
    #[default]
    Float,
    /// In eight bits, each column with a scale; what they are multiplied by, too.
    Int8,
}

/// The values of a matrix of weights, row after row.
#[derive(Clone, Copy, Debug)]
pub enum Matrix<'a> {
    /// As they are.
    Floats(&'a [f32]),
    /// In eight bits, and the scale of each column.
    Bytes(&'a [i8], &'a [f32]),
}

/// Gives the values of parameters that are not in their model yet.
pub trait Supply {
    /// Calls `take` with the values of a parameter, or does nothing if they cannot be had. It is not asked for parameters
    /// that are needed besides: those have their values already.
    fn supply(&self, id: ParamId, take: &mut dyn FnMut(Matrix<'_>));
}

/// How the weights of a model are made ready.
#[derive(Clone, Copy)]
pub struct Preparing<'a> {
    precision: Precision,
    supply: Option<&'a dyn Supply>,
    /// Whether no parameter has values yet.
    blank: bool,
}

impl From<Precision> for Preparing<'_> {
    fn from(precision: Precision) -> Self {
        Self { precision, supply: None, blank: false }
    }
}

impl<'a> Preparing<'a> {
    /// From values that are not in the model.
    pub fn from_supply(precision: Precision, supply: &'a dyn Supply) -> Self {
        Self { precision, supply: Some(supply), blank: false }
    }

    /// A trial with a model that has no values, to see which of them would be asked for.
    pub fn trial(supply: &'a dyn Supply) -> Self {
        Self { precision: Precision::Float, supply: Some(supply), blank: true }
    }

    /// The values of a parameter that is needed besides; none where they do not live on the CPU, or there are none yet.
    pub(crate) fn values<const D: usize>(&self, parameter: &Param<Tensor<D>>) -> Option<Values> {
        if self.blank { None } else { Values::of(&parameter.val()) }
    }

    /// Shows the values of a weight to `take`, if it lives on the CPU; if it is `shared`, those of the parameter.
    fn read(&self, weight: &Param<Tensor<2>>, shared: bool, take: &mut dyn FnMut(Matrix<'_>)) {
        let values = weight.val();
        match self.supply.filter(|_| !shared) {
            Some(supply) if is_plain(&values) => supply.supply(weight.id, take),
            Some(_) => {}
            None if self.blank => {}
            None => {
                if let Some(values) = Operand::of(&values) {
                    take(Matrix::Floats(values.values.slice()));
                }
            }
        }
    }

    fn prepared(&self, weight: &Param<Tensor<2>>, transposed: bool) -> Option<Prepared> {
        let mut found = None;
        let take = &mut |values: Matrix<'_>| {
            found = Some(values.prepare(weight.dims(), transposed, self.precision));
        };
        self.read(weight, transposed, take);
        found
    }
}

impl Matrix<'_> {
    /// A matrix of these sizes made ready. What is in eight bits stays so, and has its columns as columns.
    fn prepare(self, [rows, columns]: [usize; 2], transposed: bool, precision: Precision) -> Prepared {
        let (input, output) = if transposed { (columns, rows) } else { (rows, columns) };
        match self {
            Self::Bytes(values, scales) => Prepared::of_bytes(values, scales, rows),
            Self::Floats(values) if precision == Precision::Int8 && input <= Quantised::MOST_ROWS => {
                Prepared::bytes(values, input, output, transposed)
            }
            Self::Floats(values) => Prepared::floats(values, input, output, transposed),
        }
    }

    /// Some of `all` columns made ready.
    fn prepare_columns(self, rows: usize, all: usize, range: Range<usize>, precision: Precision) -> Prepared {
        let (sizes, within) = ([rows, range.len()], range.clone());
        match self {
            _ if range == (0..all) => self.prepare(sizes, false, precision),
            Self::Floats(values) => {
                Matrix::Floats(&columns(values, all, within)).prepare(sizes, false, precision)
            }
            Self::Bytes(values, scales) => {
                let values = columns(values, all, within);
                Matrix::Bytes(&values, &scales[range]).prepare(sizes, false, precision)
            }
        }
    }
}

/// Some of the columns of rows of `all`.
fn columns<T: Copy>(values: &[T], all: usize, range: Range<usize>) -> Vec<T> {
    values.chunks_exact(all.max(1)).flat_map(|row| &row[range.clone()]).copied().collect()
}

/// A matrix of weights, if it was made ready.
#[derive(Clone, Debug, Default)]
pub struct Ready(Option<Arc<Prepared>>);

impl Ready {
    /// A weight `[I, O]`, or `[O, I]` if `transposed`: then it is in use as it is besides. Not ready where it does not
    /// live on the CPU.
    pub fn new(weight: &Param<Tensor<2>>, transposed: bool, how: Preparing<'_>) -> Self {
        Self(how.prepared(weight, transposed).map(Arc::new))
    }

    /// The weight, if it is ready.
    pub(crate) fn prepared(&self) -> Option<Arc<Prepared>> {
        self.0.clone()
    }

    /// Some of its columns, in this order; not ready if it is not.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn columns(&self, ids: &[u32]) -> Self {
        Self(self.0.as_ref().map(|weight| Arc::new(weight.columns(ids))))
    }

    /// x W of plain rows [N, I], in place of what is in a list; whether the weight is ready.
    pub(crate) fn map(&self, x: &[f32], to: &mut Vec<f32>) -> bool {
        let Some(weight) = &self.0 else { return false };
        let (input, output) = weight.shape();
        to.resize(x.len() / input.max(1) * output, 0.0);
        forward_all(x, [Map { weight, ending: Ending::default(), to }]);
        true
    }

    /// Whether it was made ready.
    pub fn is_ready(&self) -> bool {
        self.0.is_some()
    }

    /// x W + b, or x W; none if it is not ready or gradients may be asked for.
    pub fn forward(&self, x: &Tensor<2>, bias: Option<&Tensor<1>>) -> Option<Tensor<2>> {
        let weight = self.0.as_ref()?;
        if x.is_autodiff() {
            return None;
        }
        let (x, rows) = (Operand::of(x)?, x.dims()[0]);
        let bias = match bias {
            Some(bias) => Some(Operand::of(bias)?),
            None => None,
        };
        let y = weight.forward(x.values.slice(), bias.as_ref().map(|bias| bias.values.slice()));
        Some(plain(y, [rows, weight.shape().1]))
    }
}

/// y = x W + b of plain rows, with a weight that is ready.
#[derive(Clone, Debug)]
pub struct ReadyMap {
    weight: Arc<Prepared>,
    bias: Values,
}

impl ReadyMap {
    /// None where the weight is not ready.
    pub fn new(weight: &Ready, bias: &Tensor<1>) -> Option<Self> {
        Some(Self { weight: weight.0.clone()?, bias: Values::of(bias)? })
    }

    /// The y of rows `x` [N, I]: [N, O].
    pub fn forward(&self, x: &[f32], y: &mut Vec<f32>) {
        let (input, output) = self.weight.shape();
        y.resize(x.len() / input.max(1) * output, 0.0);
        forward_all(x, [self.to(self.ending(), y)]);
    }

    /// What becomes of the products.
    pub(crate) fn ending(&self) -> Ending<'_> {
        Ending::bias(Some(self.bias.slice()))
    }

    /// The map with an ending and a place for what it makes.
    pub(crate) fn to<'a>(&'a self, ending: Ending<'a>, to: &'a mut [f32]) -> Map<'a> {
        Map { weight: &self.weight, ending, to }
    }

    /// x += y of these rows.
    pub(crate) fn add(&self, rows: &[f32], x: &mut [f32]) {
        forward_all(rows, [self.to(Ending { add: true, ..self.ending() }, x)]);
    }
}

/// The weights of a recurrent layer, if they were made ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyLayer(pub(crate) Option<Arc<PreparedWeights>>);

impl ReadyLayer {
    pub(crate) fn new(
        cell: Cell,
        input: &Param<Tensor<2>>,
        recurrent: &Param<Tensor<2>>,
        how: Preparing<'_>,
    ) -> Self {
        let [width, all] = recurrent.dims();
        let (mut input, mut found) = (how.prepared(input, false), None);
        let take = &mut |values: Matrix<'_>| {
            let columns = |range| values.prepare_columns(width, all, range, how.precision);
            found = input.take().map(|input| Arc::new(PreparedWeights::of(cell, width, input, columns)));
        };
        how.read(recurrent, false, take);
        Self(found)
    }
}
