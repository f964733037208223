//! Weights made ready for prediction: in the order in which registers read them, or in eight bits.
//!
//! It is asked for once, when a model is loaded to be used, and holds as long as its parameters do not change;
//! a model that learns has no such weights. Where gradients are asked for, the parameters themselves are used.

use crate::flex::{Operand, plain};
use burn::tensor::Tensor;
use gatto_kernels::prepared::Prepared;
use gatto_kernels::recurrent::{Cell, PreparedWeights};
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

impl Precision {
    fn prepare(self, weight: &[f32], input: usize, output: usize, transposed: bool) -> Prepared {
        match self {
            Self::Float => Prepared::floats(weight, input, output, transposed),
            Self::Int8 => Prepared::bytes(weight, input, output, transposed),
        }
    }
}

/// A matrix of weights, if it was made ready.
#[derive(Clone, Debug, Default)]
pub struct Ready(Option<Arc<Prepared>>);

impl Ready {
    /// A weight `[I, O]`, or `[O, I]` if `transposed`; not ready where it does not live on the CPU.
    pub fn new(weight: &Tensor<2>, transposed: bool, precision: Precision) -> Self {
        let [rows, columns] = weight.dims();
        let (input, output) = if transposed { (columns, rows) } else { (rows, columns) };
        let prepare = |weight: Operand| precision.prepare(weight.values.slice(), input, output, transposed);
        Self(Operand::of(weight).map(prepare).map(Arc::new))
    }

    /// The weight, if it is ready.
    pub(crate) fn prepared(&self) -> Option<Arc<Prepared>> {
        self.0.clone()
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

/// The weights of a recurrent layer, if they were made ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyLayer(pub(crate) Option<Arc<PreparedWeights>>);

impl ReadyLayer {
    pub(crate) fn new(cell: Cell, input: &Tensor<2>, recurrent: &Tensor<2>, precision: Precision) -> Self {
        let width = recurrent.dims()[0];
        let weights = Operand::of(input).zip(Operand::of(recurrent));
        Self(weights.map(|(input, recurrent)| {
            let prepare = |weight: &[f32], input, output| precision.prepare(weight, input, output, false);
            let (w_x, w_h) = (input.values.slice(), recurrent.values.slice());
            Arc::new(PreparedWeights::new(cell, w_x, w_h, width, prepare))
        }))
    }
}
