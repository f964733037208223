//! One step of a recurrent cell.
//!
//! With x W_x + b already computed (`projected`), σ the logistic function and ⊙ the elementwise product:
//!
//! - `rnn`   h′ = tanh(x W_x + h W_h + b)
//! - `lstm`  i, f, g, o = split(x W_x + h W_h + b);
//!   c′ = σ(f) ⊙ c + σ(i) ⊙ tanh(g);  h′ = σ(o) ⊙ tanh(c′)   (Hochreiter & Schmidhuber, 1997; Gers et al., 2000)
//! - `gru`   r = σ(x W_r + h U_r + b_r);  z = σ(x W_z + h U_z + b_z);
//!   n = tanh(x W_n + b_n + r ⊙ (h U_n + b_u));  h′ = (1 − z) ⊙ n + z ⊙ h   (Cho et al., 2014, in the
//!   order of operations that cuDNN and PyTorch use)

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
pub use gatto_kernels::recurrent::Cell;

/// One step without a mask. `projected` = x W_x + b [B, G·H]; for the GRU the hidden candidate's
/// bias b_u `[H]` comes apart, since it enters behind the reset gate.
pub(crate) fn step(
    kind: Cell,
    projected: Tensor<2>,
    state: &CellState,
    recurrent: Tensor<2>,
    candidate_bias: Option<Tensor<1>>,
) -> CellState {
    let remembered = state.hidden.clone().matmul(recurrent); // [B, G·H]
    match (kind, &state.cell) {
        (Cell::Lstm, Some(cell)) => {
            let [i, f, g, o] = split(projected + remembered);
            let cell = sigmoid(f) * cell.clone() + sigmoid(i) * g.tanh();
            CellState { hidden: sigmoid(o) * cell.clone().tanh(), cell: Some(cell) }
        }
        (Cell::Gru, _) => {
            let [xr, xz, xn] = split(projected);
            let [hr, hz, hn] = split(remembered);
            let hn = match candidate_bias {
                Some(bias) => hn + bias.unsqueeze(),
                None => hn,
            };
            let r = sigmoid(xr + hr);
            let z = sigmoid(xz + hz);
            let n = (xn + r * hn).tanh();
            CellState { hidden: n.clone() + z * (state.hidden.clone() - n), cell: None }
        }
        _ => CellState { hidden: (projected + remembered).tanh(), cell: None },
    }
}

fn split<const N: usize>(blocks: Tensor<2>) -> [Tensor<2>; N] {
    let width = blocks.dims()[1] / N;
    std::array::from_fn(|block| blocks.clone().narrow(1, block * width, width))
}

/// What one layer carries from step to step, [B, H] each.
#[derive(Clone, Debug)]
pub struct CellState {
    /// The output h.
    pub hidden: Tensor<2>,
    /// The LSTM's cell state c.
    pub cell: Option<Tensor<2>>,
}

impl CellState {
    /// The state before anything was read.
    pub fn zeros(kind: Cell, batch: usize, width: usize, device: &burn::tensor::Device) -> Self {
        let zeros = || Tensor::zeros([batch, width], device);
        Self { hidden: zeros(), cell: (kind == Cell::Lstm).then(zeros) }
    }

    /// Applies `change` to every part.
    pub fn map(&self, mut change: impl FnMut(Tensor<2>) -> Tensor<2>) -> Self {
        Self { hidden: change(self.hidden.clone()), cell: self.cell.clone().map(change) }
    }

    /// Combines the parts of two states.
    pub fn zip(&self, other: &Self, mut combine: impl FnMut(Tensor<2>, Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            hidden: combine(self.hidden.clone(), other.hidden.clone()),
            cell: self.cell.clone().zip(other.cell.clone()).map(|(a, b)| combine(a, b)),
        }
    }

    /// Two directions side by side: [B, 2·H].
    pub fn beside(&self, other: &Self) -> Self {
        self.zip(other, |a, b| Tensor::cat(vec![a, b], 1))
    }
}
