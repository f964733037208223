//! How a recurrent decoder looks back at the source, and what it remembers of that.

use super::recurrent_step::ReadyMaps;
use crate::config::{AttentionConfig, FeedKind, QueryKind};
use crate::memory::{Memory, row_ids};
use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use gatto_nn::attention::{Attention, Choosing, Looked, Remembered, Source};
use gatto_nn::recurrent::LayerLook;
use gatto_nn::{Initial, Linear, Preparing, tanh};

/// An attention, and where what it sees meets the decoder's state.
#[derive(Module, Debug)]
pub(crate) struct Looking {
    pub(super) look: Attention,
    /// h̃ = tanh(W_c [c; s] + b_c).
    pub(super) meeting: Linear,
    /// β = σ(w·s + b), the share of what was seen that is let through.
    pub(super) gate: Option<Linear>,
    /// W_e and b_e, for the vector of the token before: h̃ = tanh(W_c [c; s] + b_c + W_e E y + b_e).
    pub(super) words: Option<Linear>,
    /// These maps for plain rows, once weights are ready.
    #[module(skip)]
    pub(super) ready: Option<ReadyMaps>,
    #[module(skip)]
    query: QueryKind,
    #[module(skip)]
    pub(super) feed: FeedKind,
    /// How many of a context's last values are fed.
    #[module(skip)]
    pub(super) fed: usize,
    /// Whether a step has to know what the steps before it looked at.
    #[module(skip)]
    pub(super) carried: bool,
    /// How a hard focus chooses unless told otherwise.
    #[module(skip)]
    pub(super) at_prediction: Choosing,
}

/// What a decoder with attention carries from step to step.
#[derive(Clone, Debug)]
pub(crate) struct LookingState {
    pub(super) source: Source,
    /// What is fed of the step before: h̃ [B, H], c [B, states] or the end of c.
    pub(super) fed: Option<Tensor<2>>,
    /// What is known of earlier looks.
    pub(super) remembered: Remembered,
    /// Steps made.
    pub(super) step: usize,
}

impl LookingState {
    pub(super) fn select(self, rows: &[usize]) -> Self {
        let ids = row_ids(rows, &self.source.mask.device());
        let select = |part: Tensor<2>| part.select(0, ids.clone());
        Self {
            source: self.source.select(rows, None),
            fed: self.fed.map(select),
            remembered: self.remembered.select(&ids),
            step: self.step,
        }
    }

    /// The state behind `steps` steps that nothing is remembered of.
    pub(super) fn later(self, steps: usize) -> Self {
        Self { step: self.step + steps, ..self }
    }

    /// The state behind a step that looked and made `met` [B, 1, H] of it.
    pub(super) fn behind(self, looked: &Looked, met: &Tensor<3>, looking: &Looking) -> Self {
        Self {
            fed: match looking.feed {
                FeedKind::Nothing => None,
                FeedKind::Attentional => Some(met.clone().squeeze_dim::<2>(1)),
                FeedKind::Context | FeedKind::Place => {
                    Some(looking.end_of(looked.context.clone().squeeze_dim::<2>(1)))
                }
            },
            remembered: self.remembered.clone().behind(looked),
            ..self.later(1)
        }
    }

    /// Each row once for every position: [B, N] → [B·S, N].
    pub(super) fn for_each_position(&self, part: Tensor<2>) -> Tensor<2> {
        let positions = self.source.mask.dims()[1];
        part.unsqueeze_dim::<3>(1).repeat_dim(1, positions).flatten(0, 1)
    }
}

impl Looking {
    /// For a decoder of width `width`, with token vectors of `embedding`, that looks at states of width `states`, of which
    /// the last `places` tell where they stand.
    pub(crate) fn new(
        config: &AttentionConfig,
        width: usize,
        embedding: usize,
        [states, places]: [usize; 2],
        initial: &mut Initial,
    ) -> Self {
        Self {
            look: Attention::new(&config.settings(width, states), initial),
            meeting: Linear::new(states + width, width, initial),
            gate: config.gate.then(|| Linear::new(width, 1, initial)),
            words: config.deep_output.then(|| Linear::new(embedding, width, initial)),
            ready: None,
            query: config.query,
            feed: config.feed,
            fed: config.fed(states, places),
            carried: config.is_carried(),
            at_prediction: config.at_prediction(),
        }
    }

    /// Makes the weights ready for prediction.
    pub(crate) fn prepare(&mut self, how: Preparing<'_>) {
        self.look.prepare(how);
        self.meeting.prepare(how);
        self.gate.iter_mut().chain(&mut self.words).for_each(|linear| linear.prepare(how));
        self.ready = ReadyMaps::new(self);
    }

    /// Whether the state before a step asks, and not the one behind it.
    pub(super) fn asks_before(&self) -> bool {
        self.query == QueryKind::Previous
    }

    /// Ready to look at a source: its keys are made here, once.
    pub(super) fn start(&self, memory: &Memory) -> LookingState {
        let [batch, positions, _] = memory.states.dims();
        let device = memory.states.device();
        let zeros = |width| Tensor::zeros([batch, width], &device);
        let Memory { states, mask, identities, .. } = memory;
        LookingState {
            source: self.look.source(states.clone(), mask.clone(), identities.clone()),
            fed: match self.feed {
                FeedKind::Nothing => None,
                FeedKind::Attentional => Some(zeros(self.meeting.bias.dims()[0])),
                FeedKind::Context | FeedKind::Place => Some(zeros(self.fed)),
            },
            remembered: self.look.nothing_yet(batch, positions, &device),
            step: 0,
        }
    }

    /// Looks for every query [B, T, H] from this state on.
    pub(super) fn look(&self, query: Tensor<3>, state: &LookingState, choosing: Choosing) -> Looked {
        self.look.look(query, &state.source, &state.remembered, state.step, choosing)
    }

    /// The share of contexts [B, T, states] that is let through for the states [B, T, H] that asked.
    pub(super) fn through(&self, context: Tensor<3>, asked: &Tensor<3>) -> Tensor<3> {
        match &self.gate {
            Some(gate) => context * sigmoid(gate.forward(asked.clone())),
            None => context,
        }
    }

    /// What a recurrent layer needs to do all of its looks by itself from this state on, where it can.
    pub(super) fn of_layer(&self, state: &LookingState) -> Option<LayerLook> {
        let fits = match (self.query, self.feed) {
            (QueryKind::Previous, FeedKind::Nothing) => self.gate.is_none(),
            // Nothing has been seen yet.
            (QueryKind::Current, FeedKind::Context | FeedKind::Place) => state.step == 0,
            _ => false,
        };
        let fed = if self.asks_before() { state.source.states.dims()[2] } else { self.fed };
        self.look.of_layer(&state.source, !self.asks_before(), fed).filter(|_| fits)
    }

    /// The state behind the looks of a layer, which left `seen` [B, T, states + H].
    pub(super) fn behind_layer(&self, state: LookingState, seen: &Tensor<3>) -> LookingState {
        let time = seen.dims()[1];
        let width = state.source.states.dims()[2];
        let last = || seen.clone().narrow(1, time - 1, 1).narrow(2, 0, width).squeeze_dim::<2>(1);
        LookingState { fed: (self.fed > 0).then(|| self.end_of(last())), ..state.later(time) }
    }

    /// What is fed of contexts [B, states].
    fn end_of(&self, contexts: Tensor<2>) -> Tensor<2> {
        let width = contexts.dims()[1];
        contexts.narrow(1, width - self.fed, self.fed)
    }

    /// What the tokens before, with vectors [B, T, C], bring into the output: [B, T, H].
    pub(super) fn words(&self, vectors: &Tensor<3>) -> Option<Tensor<3>> {
        self.words.as_ref().map(|words| words.forward(vectors.clone()))
    }

    /// tanh(W_c [c; s] + b_c), with what [`Looking::words`] brings: `context` [B, T, states], `state` [B, T, H] →
    /// [B, T, H].
    pub(super) fn meet(&self, context: Tensor<3>, state: Tensor<3>, words: Option<Tensor<3>>) -> Tensor<3> {
        self.met(Tensor::cat(vec![context, state], 2), words)
    }

    /// [`Looking::meet`] of what a looking layer leaves: [B, T, states + H] → [B, T, H].
    pub(super) fn meet_layer(&self, seen: Tensor<3>, words: Option<Tensor<3>>) -> Tensor<3> {
        if self.gate.is_none() {
            return self.met(seen, words);
        }
        let (both, width) = (seen.dims()[2], self.meeting.bias.dims()[0]);
        let state = seen.clone().narrow(2, both - width, width); // [B, T, H]
        let context = self.through(seen.narrow(2, 0, both - width), &state); // [B, T, states]
        self.meet(context, state, words)
    }

    /// [`Looking::meet`] of contexts and states that stand side by side: [B, T, states + H] → [B, T, H].
    fn met(&self, both: Tensor<3>, words: Option<Tensor<3>>) -> Tensor<3> {
        let ([batch, time, _], width) = (both.dims(), self.meeting.bias.dims()[0]);
        let met = self.meeting.forward(both.flatten::<2>(0, 1));
        let met = match words {
            Some(words) => met + words.reshape([batch * time, width]),
            None => met,
        };
        tanh(met).reshape([batch, time, width])
    }

    /// [`Looking::meet`] of every state [B, T, H] with every position alone: [B, T, S, H].
    pub(super) fn meet_everywhere(
        &self,
        state: Tensor<3>,
        source: &Source,
        words: Option<Tensor<3>>,
    ) -> Tensor<4> {
        let ([batch, time, width], [_, positions, _]) = (state.dims(), source.states.dims());
        let contexts = source.states.clone().unsqueeze_dim::<4>(1).repeat_dim(1, time); // [B, T, S, states]
        let at_each =
            |part: Tensor<3>| part.unsqueeze_dim::<4>(2).repeat_dim(2, positions).flatten::<3>(0, 1); // [B·T, S, H]
        let met = self.meet(contexts.flatten(0, 1), at_each(state), words.map(at_each)); // [B·T, S, H]
        met.reshape([batch, time, positions, width])
    }

    /// [`Looking::meet`] of states [B·S, 1, H], one for each position, with that position: [B, 1, S, H]. `words` are
    /// those of the one step [B, 1, H].
    pub(super) fn meet_each(
        &self,
        states: Tensor<3>,
        source: &Source,
        words: Option<Tensor<3>>,
    ) -> Tensor<4> {
        let ([_, _, width], [batch, positions, _]) = (states.dims(), source.states.dims());
        let words = words.map(|words| words.repeat_dim(1, positions));
        let met = self.meet(source.states.clone(), states.reshape([batch, positions, width]), words);
        met.unsqueeze_dim::<4>(1)
    }
}
