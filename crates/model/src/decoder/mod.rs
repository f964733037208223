//! What writes the target. A new decoder is a file here and a line in the list.

mod looking;
mod recurrent;
mod recurrent_step;
mod transformer;

pub(crate) use looking::Looking;
pub(crate) use recurrent::{RecurrentDecoder, RecurrentState};
pub(crate) use transformer::{TransformerDecoder, TransformerState};

use crate::encoder::Features;

use crate::memory::{Memory, Tokens};
use crate::output::{Output, Unscored};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use gatto_nn::attention::{Choice, Choosing};
use gatto_nn::recurrent::Network;
use gatto_nn::transformer::{Looks, Stack};
use gatto_nn::{Embedding, Noise, Preparing};

/// The list of decoders.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "a model has one")]
pub(crate) enum Decoder {
    /// Recurrent layers.
    Recurrent(RecurrentDecoder),
    /// Layers of self-attention.
    Transformer(TransformerDecoder),
}

/// What an encoder may use as its own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lent<'a> {
    pub(crate) embedding: Option<&'a Embedding>,
    pub(crate) network: Option<&'a Network>,
    pub(crate) stack: Option<&'a Stack>,
    pub(crate) features: Option<&'a Features>,
}

/// All that a decoder carries from step to step.
#[derive(Clone, Debug)]
pub struct State(Kind);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a batch has one")]
enum Kind {
    Recurrent(RecurrentState),
    Transformer(TransformerState),
}

/// Where a decoder looked at each of its steps.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// The weights α: [B, T, positions].
    pub weights: Tensor<3>,
    /// Of a focus that chooses one position.
    pub choice: Option<Choice>,
}

impl Alignment {
    /// One after the other along T.
    fn joined(parts: Vec<Self>) -> Self {
        let weights = Tensor::cat(parts.iter().map(|part| part.weights.clone()).collect(), 1);
        let choices: Option<Vec<Choice>> = parts.into_iter().map(|part| part.choice).collect();
        let choice = choices.map(|choices| Choice {
            log_weights: Tensor::cat(choices.iter().map(|choice| choice.log_weights.clone()).collect(), 1),
            baseline: choices
                .into_iter()
                .map(|choice| choice.baseline)
                .collect::<Option<Vec<_>>>()
                .map(|baselines| Tensor::cat(baselines, 1)),
        });
        Self { weights, choice }
    }
}

/// What some steps of a decoder made.
pub(crate) struct Written {
    /// What the output layer reads: [B, T, width].
    pub(crate) features: Tensor<3>,
    /// Where it looked, if it has no heads; see [`Written::alignment`].
    pub(crate) alignment: Option<Alignment>,
    /// The features had it looked at one position alone, for each: [B, T, positions, width]. Only
    /// where [`Choosing::Everything`] was asked for.
    pub(crate) candidates: Option<Tensor<4>>,
    /// Where each layer's heads looked among the decoder's own columns: [B, H, T, columns].
    pub(crate) heads: Looks,
    /// Where they looked at the source: [B, H, T, positions].
    pub(crate) cross_heads: Looks,
}

impl Written {
    /// What a decoder without heads made.
    fn new(features: Tensor<3>, alignment: Option<Alignment>, candidates: Option<Tensor<4>>) -> Self {
        Self { features, alignment, candidates, heads: Looks::default(), cross_heads: Looks::default() }
    }

    /// Where it looked at the source: for heads the mean over all of them.
    pub(crate) fn alignment(&self) -> Option<Alignment> {
        self.alignment.clone().or_else(|| {
            let weights = averaged(&self.cross_heads.clone().tensors())?;
            Some(Alignment { weights, choice: None })
        })
    }
}

/// The mean over all layers and heads, each [B, H, T, S]: [B, T, S].
fn averaged(layers: &[Tensor<4>]) -> Option<Tensor<3>> {
    let means = layers.iter().map(|layer| layer.clone().mean_dim(1).squeeze_dim::<3>(1));
    means.reduce(|sum, mean| sum + mean).map(|sum| sum / layers.len() as f64)
}

impl State {
    /// The state with only these rows, in this order; a row may be taken more than once.
    pub fn select(self, rows: &[usize]) -> Self {
        match self.0 {
            Kind::Recurrent(state) => Self(Kind::Recurrent(state.select(rows))),
            Kind::Transformer(state) => Self(Kind::Transformer(state.select(rows))),
        }
    }
}

impl Decoder {
    /// Its layers of self-attention, if it has any.
    pub(crate) fn stack_mut(&mut self) -> Option<&mut Stack> {
        match self {
            Self::Transformer(decoder) => Some(&mut decoder.stack),
            Self::Recurrent(_) => None,
        }
    }

    /// Its token vectors.
    pub(crate) fn embedding(&self) -> &Embedding {
        match self {
            Self::Recurrent(decoder) => &decoder.embedding,
            Self::Transformer(decoder) => &decoder.embedding,
        }
    }

    /// The same, to be changed.
    pub(crate) fn embedding_mut(&mut self) -> &mut Embedding {
        match self {
            Self::Recurrent(decoder) => &mut decoder.embedding,
            Self::Transformer(decoder) => &mut decoder.embedding,
        }
    }

    /// The state before the first token, for `batch` rows.
    pub(crate) fn start(&self, memory: Option<&Memory>, batch: usize, device: &Device) -> State {
        match self {
            Self::Recurrent(decoder) => State(Kind::Recurrent(decoder.start(memory, batch, device))),
            Self::Transformer(decoder) => State(Kind::Transformer(decoder.start(memory))),
        }
    }

    /// Reads tokens [B, T] after those that made `state`: what it makes of them, and the state behind
    /// the last token. A step is this with T = 1, teacher forcing with the whole target. `choosing`
    /// is for a focus that looks at one position; if not given, it does as at prediction.
    pub(crate) fn advance(
        &self,
        tokens: &Tokens,
        state: State,
        choosing: Option<Choosing>,
        noise: &mut Noise,
    ) -> (Written, State) {
        match (self, state.0) {
            (Self::Recurrent(decoder), Kind::Recurrent(state)) => {
                let (written, state) = decoder.advance(tokens, state, choosing, noise);
                (written, State(Kind::Recurrent(state)))
            }
            (Self::Transformer(decoder), Kind::Transformer(state)) => {
                let (written, state) = decoder.advance(tokens, state, noise);
                (written, State(Kind::Transformer(state)))
            }
            _ => unreachable!("a state goes back to the decoder that it came from"),
        }
    }

    /// Reads one token per row behind those that made `state`, and leaves what the output layer reads in `rows` [R, width], without
    /// asking for memory once it has some. Tells whether it did: else nothing has changed, and [`Decoder::advance`] can do it.
    pub(crate) fn step_in_place(&self, tokens: &[u32], state: &mut State, rows: &mut Vec<f32>) -> bool {
        match (self, &mut state.0) {
            (Self::Transformer(decoder), Kind::Transformer(state)) => {
                decoder.step_in_place(tokens, state, rows)
            }
            (Self::Recurrent(decoder), Kind::Recurrent(state)) => decoder.step_in_place(tokens, state, rows),
            _ => unreachable!("a state goes back to the decoder that it came from"),
        }
    }

    /// Scores over the vocabulary: features [N, width] → [N, V]. `source` has vectors that may do double
    /// duty; its own if not given.
    pub(crate) fn project<'a>(&'a self, features: Tensor<2>, source: Option<&'a Embedding>) -> Unscored<'a> {
        Unscored { features, output: self.output(), embedding: Some(source.unwrap_or(self.embedding())) }
    }

    /// The output layer.
    pub(crate) fn output(&self) -> &Output {
        match self {
            Self::Recurrent(decoder) => &decoder.output,
            Self::Transformer(decoder) => &decoder.output,
        }
    }

    /// Makes the weights ready for prediction; `source` as for [`Decoder::project`].
    pub(crate) fn prepare(&mut self, source: Option<&Embedding>, how: Preparing<'_>) {
        let (output, embedding) = match self {
            Self::Recurrent(decoder) => {
                decoder.network.prepare(how);
                decoder.embedding.prepare(how);
                decoder.attention.iter_mut().for_each(|attention| attention.prepare(how));
                (&mut decoder.output, &decoder.embedding)
            }
            Self::Transformer(decoder) => {
                decoder.stack.prepare(how);
                decoder.embedding.prepare(how);
                (&mut decoder.output, &decoder.embedding)
            }
        };
        output.prepare(Some(source.unwrap_or(embedding)), how);
    }

    /// What an encoder may borrow.
    pub(crate) fn lend(&self) -> Lent<'_> {
        match self {
            Self::Recurrent(decoder) => Lent {
                embedding: Some(&decoder.embedding),
                network: Some(&decoder.network),
                ..Lent::default()
            },
            Self::Transformer(decoder) => {
                Lent { embedding: Some(&decoder.embedding), stack: Some(&decoder.stack), ..Lent::default() }
            }
        }
    }
}
