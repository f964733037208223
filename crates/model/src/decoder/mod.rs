//! What writes the target. A new decoder is a file here and a line in the list.

mod recurrent;

pub(crate) use recurrent::{Lent, RecurrentDecoder, RecurrentState};

use crate::memory::{Memory, Tokens};
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use gatto_nn::Noise;

/// The list of decoders.
#[derive(Module, Debug)]
pub(crate) enum Decoder {
    /// Recurrent layers.
    Recurrent(RecurrentDecoder),
}

/// All that a decoder carries from step to step.
#[derive(Clone, Debug)]
pub struct State(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Recurrent(RecurrentState),
}

impl State {
    /// The state with only these rows, in this order; a row may be taken more than once.
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        match &self.0 {
            Kind::Recurrent(state) => Self(Kind::Recurrent(state.select(rows))),
        }
    }
}

impl Decoder {
    /// The state before the first token, for `batch` rows.
    pub(crate) fn start(&self, memory: Option<&Memory>, batch: usize, device: &Device) -> State {
        match self {
            Self::Recurrent(decoder) => State(Kind::Recurrent(decoder.start(memory, batch, device))),
        }
    }

    /// Reads tokens [B, T] after those that made `state`: features for the output layer
    /// [B, T, width], and the state behind the last token. A step is this with T = 1, teacher
    /// forcing with the whole target.
    pub(crate) fn advance(&self, tokens: &Tokens, state: State, noise: &mut Noise) -> (Tensor<3>, State) {
        match (self, state.0) {
            (Self::Recurrent(decoder), Kind::Recurrent(state)) => {
                let (features, state) = decoder.advance(tokens, state, noise);
                (features, State(Kind::Recurrent(state)))
            }
        }
    }

    /// Scores over the vocabulary: features [N, width] → [N, V].
    pub(crate) fn project(&self, features: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Recurrent(decoder) => decoder.project(features),
        }
    }

    /// What an encoder may borrow.
    pub(crate) fn lend(&self) -> Lent<'_> {
        match self {
            Self::Recurrent(decoder) => decoder.lend(),
        }
    }
}
