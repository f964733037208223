//! A step of the recurrent decoder over plain rows at prediction, which asks for no memory: the fused twin of
//! [`RecurrentDecoder::advance`] for one token, where attention has a soft focus and remembers nothing of earlier looks but what is
//! fed.

use super::looking::{Looking, LookingState};
use super::recurrent::{RecurrentDecoder, RecurrentState};
use crate::config::FeedKind;
use burn::tensor::{Device, Tensor, TensorData};
use gatto_kernels::maths::{sigmoid, tanh_in_place};
use gatto_nn::ReadyMap;
use gatto_nn::attention::LookRoom;
use gatto_nn::recurrent::{PlainStates, select_rows};

/// What is carried from step to step as plain values, and what a step works with.
#[derive(Clone, Debug)]
pub(super) struct PlainState {
    layers: PlainStates,
    /// The context c [R, width], where it is fed at every step.
    context: Option<Rows>,
    /// What is fed of the step before, if something is: [R, F].
    fed: Option<Rows>,
    /// R.
    rows: usize,
    room: Room,
}

/// Plain rows [R, width].
#[derive(Clone, Debug)]
struct Rows {
    values: Vec<f32>,
    width: usize,
}

impl Rows {
    /// None where they do not live on the CPU.
    fn of(tensor: &Tensor<2>) -> Option<Self> {
        Some(Self { values: tensor.clone().try_into_vec_as::<f32>().ok()?, width: tensor.dims()[1] })
    }

    fn tensor(self, rows: usize) -> Tensor<2> {
        Tensor::from_data(TensorData::new(self.values, [rows, self.width]), &Device::flex())
    }
}

/// A copy of a state has its own.
#[derive(Debug, Default)]
struct Room {
    /// Token vectors: [R, C].
    vectors: Vec<f32>,
    /// What they bring into the output: [R, H].
    words: Vec<f32>,
    /// What the layers read: [R, I].
    input: Vec<f32>,
    /// What was looked at: [R, states].
    seen: Vec<f32>,
    /// The share of it that is let through: [R, 1].
    shares: Vec<f32>,
    /// It and the state, side by side.
    both: Vec<f32>,
    look: LookRoom,
    spare: Vec<f32>,
}

impl Clone for Room {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The maps of a [`Looking`] for plain rows.
#[derive(Clone, Debug)]
pub(super) struct ReadyMaps {
    meeting: ReadyMap,
    gate: Option<ReadyMap>,
    words: Option<ReadyMap>,
}

impl ReadyMaps {
    /// None where weights are not ready.
    pub(super) fn new(looking: &Looking) -> Option<Self> {
        let of = |map: &Option<gatto_nn::Linear>| match map {
            Some(map) => Some(Some(map.ready()?)),
            None => Some(None),
        };
        Some(Self { meeting: looking.meeting.ready()?, gate: of(&looking.gate)?, words: of(&looking.words)? })
    }

    /// Lets the share of what was seen through that the states `asked` [R, H] ask for.
    fn through(&self, asked: &[f32], rows: usize, seen: &mut [f32], shares: &mut Vec<f32>) {
        let Some(gate) = &self.gate else { return };
        gate.forward(asked, shares);
        for (seen, &share) in seen.chunks_exact_mut((seen.len() / rows.max(1)).max(1)).zip(&*shares) {
            let share = sigmoid(share);
            seen.iter_mut().for_each(|value| *value *= share);
        }
    }
}

impl PlainState {
    /// Takes out of a state what it carries; none, and nothing is taken, where something does not live on the CPU.
    fn take(state: &mut RecurrentState) -> Option<Self> {
        let plain = |tensor: Option<&Tensor<2>>| match tensor {
            Some(tensor) => Some(Some(Rows::of(tensor)?)),
            None => Some(None),
        };
        let fed = state.looking.as_ref().and_then(|looking| looking.fed.as_ref());
        let plain = Self {
            layers: PlainStates::new(&state.layers)?,
            context: plain(state.context.as_ref())?,
            fed: plain(fed)?,
            rows: state.layers.first()?.hidden.dims()[0],
            room: Room::default(),
        };
        (state.layers, state.context) = (Vec::new(), None);
        if let Some(looking) = &mut state.looking {
            looking.fed = None;
        }
        Some(plain)
    }

    /// Only these rows, in this order.
    fn select(&mut self, rows: &[usize]) {
        let spare = &mut self.room.spare;
        for Rows { values, width } in self.context.iter_mut().chain(&mut self.fed) {
            select_rows(values, *width, rows, spare);
        }
        self.layers.select(rows, spare);
        self.rows = rows.len();
    }
}

impl RecurrentState {
    /// The same with what it carries in tensors again, if it had plain values.
    pub(super) fn settled(mut self) -> Self {
        let Some(PlainState { layers, context, fed, rows, .. }) = self.plain.take() else { return self };
        if let Some(looking) = &mut self.looking {
            looking.fed = fed.map(|fed| fed.tensor(rows));
        }
        Self { layers: layers.tensors(), context: context.map(|context| context.tensor(rows)), ..self }
    }

    /// Only these rows of a state that is plain, in this order; tells whether it is.
    pub(super) fn select_plain(&mut self, rows: &[usize]) -> bool {
        let Some(plain) = &mut self.plain else { return false };
        let of = plain.rows;
        plain.select(rows);
        let looking = self.looking.take();
        self.looking =
            looking.map(|looking| LookingState { source: looking.source.select(rows, Some(of)), ..looking });
        true
    }
}

impl RecurrentDecoder {
    /// As [`Decoder::step_in_place`](super::Decoder::step_in_place).
    pub(super) fn step_in_place(
        &self,
        tokens: &[u32],
        state: &mut RecurrentState,
        made: &mut Vec<f32>,
    ) -> bool {
        let attention = match (&self.attention, &state.looking) {
            (None, None) => None,
            (Some(attention), Some(looking))
                if attention.ready.is_some() && attention.look.can_look_in_place(&looking.source) =>
            {
                Some(attention)
            }
            _ => return false,
        };
        if !self.network.can_step_in_place() {
            return false;
        }
        if state.plain.is_none() {
            state.plain = PlainState::take(state);
        }
        let Some(PlainState { layers, context, fed, rows, room }) = &mut state.plain else { return false };
        let Room { vectors, words, input, seen, shares, both, look, .. } = room;
        if !self.embedding.read(tokens, vectors) {
            return false;
        }
        let rows = *rows;
        let looked = attention.and_then(|attention| attention.ready.as_ref().map(|maps| (attention, maps)));
        let context = context.as_ref().map_or(&[][..], |context| &context.values);
        let (Some((attention, maps)), Some(looking)) = (looked, &mut state.looking) else {
            beside([vectors, context], rows, input);
            self.network.step_in_place(input, layers);
            made.clear();
            made.extend_from_slice(layers.top());
            return true;
        };
        let before = attention.asks_before();
        if before {
            attention.look.look_in_place(layers.top(), rows, &looking.source, look, seen);
            maps.through(layers.top(), rows, seen, shares);
        }
        let fed_before = fed.as_ref().map_or(&[][..], |fed| &fed.values);
        beside([vectors, context, fed_before, if before { seen } else { &[] }], rows, input);
        self.network.step_in_place(input, layers);
        if !before {
            attention.look.look_in_place(layers.top(), rows, &looking.source, look, seen);
        }
        if let (FeedKind::Context | FeedKind::Place, Some(Rows { values, width })) =
            (attention.feed, &mut *fed)
        {
            let wide = seen.len() / rows.max(1);
            values.clear();
            seen.chunks_exact(wide.max(1)).for_each(|seen| values.extend_from_slice(&seen[wide - *width..]));
        }
        if !before {
            maps.through(layers.top(), rows, seen, shares);
        }
        beside([seen, layers.top()], rows, both);
        maps.meeting.forward(both, made);
        if let Some(map) = &maps.words {
            map.forward(vectors, words);
            made.iter_mut().zip(&*words).for_each(|(made, word)| *made += word);
        }
        tanh_in_place(made);
        if let (FeedKind::Attentional, Some(fed)) = (attention.feed, fed) {
            fed.values.clone_from(made);
        }
        looking.step += 1;
        true
    }
}

/// Rows side by side, in place of what is in a list; a part may be empty.
fn beside<const N: usize>(parts: [&[f32]; N], rows: usize, to: &mut Vec<f32>) {
    to.clear();
    for row in 0..rows {
        for part in parts {
            let width = part.len() / rows;
            to.extend_from_slice(&part[row * width..][..width]);
        }
    }
}
