//! From the encoder's last states to the decoder's first.
//!
//! s₀ = c where both have the same shape; else s₀ = tanh(W c + b), learned for every layer (and
//! c₀ = W c + b for an LSTM's cell state, which is not bounded).

use burn::module::Module;
use burn::tensor::Tensor;
use gatto_nn::recurrent::{Cell, CellState};
use gatto_nn::{Initial, Linear};

/// A way into each of the decoder's layers.
#[derive(Module, Debug)]
pub(crate) struct Bridge {
    layers: Vec<Crossing>,
}

/// The way into one layer: `None` where a state passes as it is.
#[derive(Module, Debug)]
struct Crossing {
    hidden: Option<Linear>,
    cell: Option<Linear>,
}

/// The states on one side of a bridge.
pub(crate) struct Shore {
    pub(crate) cell: Cell,
    pub(crate) width: usize,
    pub(crate) layers: usize,
}

impl Bridge {
    pub(crate) fn new(from: &Shore, to: &Shore, initial: &mut Initial) -> Self {
        let mut learned = |needed: bool| needed.then(|| Linear::new(from.width, to.width, initial));
        let layers = (0..to.layers)
            .map(|_| Crossing {
                hidden: learned(from.width != to.width),
                cell: learned(to.cell == Cell::Lstm && (from.width != to.width || from.cell != Cell::Lstm)),
            })
            .collect();
        Self { layers }
    }

    /// The decoder's first states. Layers are paired from the top, so that the last layer that has
    /// read meets the last that writes; `blank` is what a layer without a partner starts from.
    pub(crate) fn forward(&self, summary: &[CellState], blank: Vec<CellState>) -> Vec<CellState> {
        let above = self.layers.len().saturating_sub(summary.len()); // decoder layers without a partner
        let skipped = summary.len().saturating_sub(self.layers.len());
        self.layers
            .iter()
            .zip(blank)
            .enumerate()
            .map(|(layer, (crossing, blank))| match layer.checked_sub(above) {
                Some(partner) => crossing.forward(&summary[partner + skipped], blank.cell.is_some()),
                None => blank,
            })
            .collect()
    }
}

impl Crossing {
    fn forward(&self, from: &CellState, to_cell: bool) -> CellState {
        let hidden = match &self.hidden {
            Some(linear) => linear.forward(from.hidden.clone()).tanh(),
            None => from.hidden.clone(),
        };
        // A cell state comes from a cell state if there is one.
        let carried: Tensor<2> = from.cell.clone().unwrap_or_else(|| from.hidden.clone());
        let cell = to_cell.then(|| match &self.cell {
            Some(linear) => linear.forward(carried),
            None => carried,
        });
        CellState { hidden, cell }
    }
}
