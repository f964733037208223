//! The recurrent decoder: s_t = f(s_{t−1}, y_{t−1}), p(y_t) = softmax(W s_t + b).
//!
//! The context c of the whole source may stand beside every input. With attention each step has a
//! context c_t of its own: asked for by s_{t−1} it enters the cell, asked for by s_t it does not; either
//! way h̃_t = tanh(W_c [c_t; s_t] + b_c) is what the output layer sees. h̃_t or c_t may be fed to the next step.

use super::looking::{Looking, LookingState};
use super::recurrent_step::PlainState;
use super::{Alignment, Written};
use crate::bridge::Bridge;
use crate::memory::{Memory, Tokens, row_ids};
use crate::output::Output;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use gatto_nn::attention::{Choosing, Looked};
use gatto_nn::recurrent::{CellState, LayerLook, Network, NetworkOutput, Reading};
use gatto_nn::{Embedding, Noise, dropout};

/// Token vectors, recurrent layers, and the output layer.
#[derive(Module, Debug)]
pub(crate) struct RecurrentDecoder {
    pub(crate) embedding: Embedding,
    pub(crate) network: Network,
    /// How the context becomes the first state; without one it starts from zeros.
    pub(crate) bridge: Option<Bridge>,
    /// How it looks back at the source.
    pub(crate) attention: Option<Looking>,
    pub(crate) output: Output,
    /// Whether the context stands beside every input.
    #[module(skip)]
    pub(crate) fed_at_every_step: bool,
    #[module(skip)]
    pub(crate) dropout: f64,
}

/// What is carried from step to step.
#[derive(Clone, Debug)]
pub(crate) struct RecurrentState {
    /// One state per layer.
    pub(super) layers: Vec<CellState>,
    /// The context c [B, width], where it is fed at every step.
    pub(super) context: Option<Tensor<2>>,
    pub(super) looking: Option<LookingState>,
    /// What steps over plain rows have left, in place of all of this but the source that is looked at.
    pub(super) plain: Option<PlainState>,
}

impl RecurrentState {
    pub(crate) fn select(mut self, rows: &[usize]) -> Self {
        if self.select_plain(rows) {
            return self;
        }
        let Some(first) = self.layers.first() else { return self };
        let ids = row_ids(rows, &first.hidden.device());
        let select = |part: Tensor<2>| part.select(0, ids.clone());
        Self {
            layers: self.layers.iter().map(|state| state.map(select)).collect(),
            context: self.context.map(select),
            looking: self.looking.map(|looking| looking.select(rows)),
            plain: None,
        }
    }
}

impl RecurrentDecoder {
    pub(crate) fn start(&self, memory: Option<&Memory>, batch: usize, device: &Device) -> RecurrentState {
        let zeros = || self.network.zeros(batch, device);
        let layers = match (&self.bridge, memory) {
            (Some(bridge), Some(memory)) => bridge.forward(&memory.summary, zeros()),
            _ => zeros(),
        };
        let context = memory.filter(|_| self.fed_at_every_step).and_then(Memory::context);
        let looking = self.attention.as_ref().zip(memory).map(|(looking, memory)| looking.start(memory));
        RecurrentState { layers, context, looking, plain: None }
    }

    pub(crate) fn advance(
        &self,
        tokens: &Tokens,
        state: RecurrentState,
        choosing: Option<Choosing>,
        noise: &mut Noise,
    ) -> (Written, RecurrentState) {
        let [_, time] = tokens.ids.dims();
        let RecurrentState { layers, context, looking, .. } = state.settled();
        let mut input = dropout(self.embedding.forward(tokens.ids.clone()), self.dropout, noise); // [B, T, C]
        let words = self.attention.as_ref().and_then(|attention| attention.words(&input)); // [B, T, H]
        if let Some(context) = &context {
            let repeated = context.clone().unsqueeze_dim::<3>(1).repeat_dim(1, time); // [B, T, width]
            input = Tensor::cat(vec![input, repeated], 2); // [B, T, C + width]
        }
        let steps = Steps { input, words, mask: tokens.mask.clone() };
        let (written, layers, looking) = match (&self.attention, looking) {
            (Some(attention), Some(before)) => {
                let choosing = choosing.unwrap_or(attention.at_prediction);
                let in_one = if steps.input.is_autodiff() { attention.of_layer(&before) } else { None };
                let done = in_one.and_then(|look| self.looking(attention, &steps, &layers, &before, look));
                let (written, layers, after) = match (done, attention.carried) {
                    (Some(done), _) => done,
                    (_, true) => self.one_by_one(attention, steps, layers, before, choosing, noise),
                    (_, false) => self.all_at_once(attention, steps, layers, before, choosing, noise),
                };
                (written, layers, Some(after))
            }
            (_, looking) => {
                let read = self.read(steps, layers, noise);
                (Written::new(read.states, None, None), read.last, looking)
            }
        };
        let written = Written {
            features: dropout(written.features, self.dropout, noise), // [B, T, H]
            candidates: written.candidates.map(|candidates| dropout(candidates, self.dropout, noise)),
            ..written
        };
        (written, RecurrentState { layers, context, looking, plain: None })
    }

    fn read(&self, steps: Steps, layers: Vec<CellState>, noise: &mut Noise) -> NetworkOutput {
        self.network.forward(steps.input, steps.mask, Some(layers), Reading::Forward, noise)
    }

    /// No step depends on what another has looked at: the recurrent layers run first, then all look.
    fn all_at_once(
        &self,
        attention: &Looking,
        steps: Steps,
        layers: Vec<CellState>,
        before: LookingState,
        choosing: Choosing,
        noise: &mut Noise,
    ) -> (Written, Vec<CellState>, LookingState) {
        let words = steps.words.clone();
        let read = self.read(steps, layers, noise);
        let looked = attention.look(read.states.clone(), &before, choosing);
        let candidates = (choosing == Choosing::Everything)
            .then(|| attention.meet_everywhere(read.states.clone(), &before.source, words.clone()));
        let time = read.states.dims()[1];
        let context = attention.through(looked.context, &read.states);
        let features = attention.meet(context, read.states, words); // [B, T, H]
        let alignment = Some(Alignment { weights: looked.weights, choice: looked.choice });
        (Written::new(features, alignment, candidates), read.last, before.later(time))
    }

    /// One layer that learns and looks at every step does so by itself, over all steps at once.
    fn looking(
        &self,
        attention: &Looking,
        steps: &Steps,
        layers: &[CellState],
        before: &LookingState,
        look: LayerLook,
    ) -> Option<(Written, Vec<CellState>, LookingState)> {
        let (input, mask) = (steps.input.clone(), steps.mask.clone());
        let read = self.network.forward_looking(input, mask, layers, look)?;
        let after = attention.behind_layer(before.clone(), &read.seen);
        let alignment = Some(Alignment { weights: read.weights, choice: None });
        let features = attention.meet_layer(read.seen, steps.words.clone());
        Some((Written::new(features, alignment, None), vec![read.last], after))
    }

    /// Each step reads what the one before it has looked at, or looks before it reads.
    fn one_by_one(
        &self,
        attention: &Looking,
        steps: Steps,
        mut layers: Vec<CellState>,
        mut looking: LookingState,
        choosing: Choosing,
        noise: &mut Noise,
    ) -> (Written, Vec<CellState>, LookingState) {
        let time = steps.input.dims()[1];
        let (mut features, mut alignments, mut candidates) = (Vec::new(), Vec::new(), Vec::new());
        for t in 0..time {
            let step = steps.at(t).beside(looking.fed.clone());
            let words = step.words.clone();
            let asked_before = attention.asks_before().then(|| {
                let query = top(&layers).unsqueeze_dim::<3>(1); // [B, 1, H]
                let looked = attention.look(query.clone(), &looking, choosing);
                Looked { context: attention.through(looked.context, &query), ..looked }
            });
            let context = asked_before.as_ref().map(|looked| looked.context.clone().squeeze_dim::<2>(1));
            if choosing == Choosing::Everything && context.is_some() {
                let everywhere = step.everywhere(&looking);
                let states = self.read(everywhere, repeated(&layers, &looking), noise).states; // [B·S, 1, H]
                candidates.push(attention.meet_each(states, &looking.source, words.clone())); // [B, 1, S, H]
            }
            let read = self.read(step.beside(context), layers, noise);
            let looked =
                asked_before.unwrap_or_else(|| attention.look(read.states.clone(), &looking, choosing));
            if choosing == Choosing::Everything && !attention.asks_before() {
                let states = read.states.clone();
                candidates.push(attention.meet_everywhere(states, &looking.source, words.clone()));
            }
            let context = match attention.asks_before() {
                true => looked.context.clone(),
                false => attention.through(looked.context.clone(), &read.states),
            };
            let met = attention.meet(context, read.states, words); // [B, 1, H]
            looking = looking.behind(&looked, &met, attention);
            features.push(met);
            alignments.push(Alignment { weights: looked.weights, choice: looked.choice });
            layers = read.last;
        }
        let candidates = (!candidates.is_empty()).then(|| Tensor::cat(candidates, 1));
        let alignment = Some(Alignment::joined(alignments));
        let written = Written::new(Tensor::cat(features, 1), alignment, candidates);
        (written, layers, looking)
    }
}

/// The hidden state of the last layer: [B, H].
fn top(layers: &[CellState]) -> Tensor<2> {
    match layers.last() {
        Some(state) => state.hidden.clone(),
        None => unreachable!("a decoder has layers: its configuration was checked"),
    }
}

/// Every row as often as there are positions to choose from.
fn repeated(layers: &[CellState], looking: &LookingState) -> Vec<CellState> {
    layers.iter().map(|state| state.map(|part| looking.for_each_position(part))).collect()
}

/// What recurrent layers read: inputs [B, T, I] and their mask [B, T]; and what the tokens bring into the output.
struct Steps {
    input: Tensor<3>,
    words: Option<Tensor<3>>,
    mask: Tensor<2>,
}

impl Steps {
    fn at(&self, t: usize) -> Self {
        Self {
            input: self.input.clone().narrow(1, t, 1),
            words: self.words.clone().map(|words| words.narrow(1, t, 1)),
            mask: self.mask.clone().narrow(1, t, 1),
        }
    }

    /// One step with [B, width] beside its input.
    fn beside(self, more: Option<Tensor<2>>) -> Self {
        match more {
            Some(more) => {
                Self { input: Tensor::cat(vec![self.input, more.unsqueeze_dim::<3>(1)], 2), ..self }
            }
            None => self,
        }
    }

    /// One step for every position that may be chosen, its state beside the input: [B·S, 1, I + H].
    fn everywhere(&self, looking: &LookingState) -> Self {
        let input = looking.for_each_position(self.input.clone().squeeze_dim::<2>(1));
        let states = looking.source.states.clone().flatten::<2>(0, 1); // [B·S, H]
        let mask = looking.for_each_position(self.mask.clone());
        Self { input: input.unsqueeze_dim::<3>(1), words: None, mask }.beside(Some(states))
    }
}
