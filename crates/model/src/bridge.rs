//! From the encoder's last states to the decoder's first.
//!
//! s₀ = c where both have the same shape; else s₀ = tanh(W c + b), learned for every layer (and
//! c₀ = W c + b for an LSTM's cell state, which is not bounded).

use burn::module::Module;
use burn::tensor::Tensor;
use gatto_nn::recurrent::CellState;
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
    /// Whether there is a cell state beside the hidden one.
    pub(crate) cell: bool,
    pub(crate) width: usize,
    pub(crate) layers: usize,
}

impl Bridge {
    pub(crate) fn new(from: &Shore, to: &Shore, initial: &mut Initial) -> Self {
        let mut learned = |needed: bool| needed.then(|| Linear::new(from.width, to.width, initial));
        let other = from.width != to.width;
        let other_cell = to.cell && (other || !from.cell);
        let layers = (0..to.layers)
            .map(|layer| {
                let partner = layer + from.layers >= to.layers; // a layer without one has nothing to learn
                Crossing { hidden: learned(partner && other), cell: learned(partner && other_cell) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, Tolerance};
    use gatto_nn::recurrent::Cell;

    /// One state per layer, all its values 1 + layer.
    fn states(cell: Cell, width: usize, layers: usize) -> Vec<CellState> {
        let full = |layer: usize| Tensor::full([1, width], 1.0 + layer as f32, &Device::flex());
        let state =
            |layer| CellState { hidden: full(layer), cell: (cell == Cell::Lstm).then(|| full(layer) * 10.0) };
        (0..layers).map(state).collect()
    }

    fn bridge(from: (Cell, usize, usize), to: (Cell, usize, usize)) -> (Bridge, Vec<CellState>) {
        let shore = |(cell, width, layers)| Shore { cell: cell == Cell::Lstm, width, layers };
        let bridge = Bridge::new(&shore(from), &shore(to), &mut Initial::new(1, &Device::flex()));
        let blank = states(to.0, to.1, to.2).iter().map(|state| state.map(|part| part * 0.0)).collect();
        let found = bridge.forward(&states(from.0, from.1, from.2), blank);
        (bridge, found)
    }

    fn first_values(states: &[CellState]) -> Vec<f32> {
        states.iter().map(|state| state.hidden.clone().slice([0..1, 0..1]).into_scalar::<f32>()).collect()
    }

    #[test]
    fn layers_are_paired_from_the_top() {
        for (layers, expected) in [
            ((2, 2), vec![1.0, 2.0]),
            ((1, 3), vec![0.0, 0.0, 1.0]), // the lower ones start from nothing
            ((3, 1), vec![3.0]),
            ((3, 2), vec![2.0, 3.0]),
        ] {
            let (bridge, found) = bridge((Cell::Gru, 3, layers.0), (Cell::Gru, 3, layers.1));
            assert_eq!(first_values(&found), expected, "{layers:?}");
            assert_eq!(bridge.num_params(), 0, "equal shapes pass as they are");
        }
    }

    #[test]
    fn only_what_differs_is_learned_and_only_where_there_is_a_partner() {
        let (wider, _) = bridge((Cell::Gru, 3, 1), (Cell::Gru, 5, 2));
        assert_eq!(wider.num_params(), 3 * 5 + 5);
        let (into_lstm, found) = bridge((Cell::Gru, 3, 2), (Cell::Lstm, 3, 2));
        assert_eq!(into_lstm.num_params(), 2 * (3 * 3 + 3), "a cell state has to come from somewhere");
        assert_eq!(first_values(&found), [1.0, 2.0]);
        let (from_lstm, _) = bridge((Cell::Lstm, 3, 1), (Cell::Rnn, 3, 1));
        assert_eq!(from_lstm.num_params(), 0);
        let (both, _) = bridge((Cell::Lstm, 3, 1), (Cell::Lstm, 4, 1));
        assert_eq!(both.num_params(), 2 * (3 * 4 + 4));
    }

    #[test]
    fn a_learned_first_state_is_bounded_and_a_cell_state_is_not() {
        let (bridge, found) = bridge((Cell::Lstm, 3, 1), (Cell::Lstm, 4, 1));
        let [from] = &states(Cell::Lstm, 3, 1)[..] else { unreachable!("one layer") };
        let crossing = &bridge.layers[0];
        let hidden = crossing.hidden.as_ref().unwrap().forward(from.hidden.clone()).tanh();
        let cell = crossing.cell.as_ref().unwrap().forward(from.cell.clone().unwrap());
        let near = Tolerance::absolute(1e-6);
        found[0].hidden.to_data().assert_approx_eq::<f32>(&hidden.into_data(), near);
        found[0].cell.as_ref().unwrap().to_data().assert_approx_eq::<f32>(&cell.into_data(), near);
    }
}
