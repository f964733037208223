//! What tells an answer from an encoder's states, without a decoder.
//!
//! A label for a sequence comes from one vector made of all its states: the last, their mean, the
//! largest value of every feature, the state of a token before them, or Σ α_i h_i with
//! α = softmax(vᵀ tanh(W h_i + b)), whose weights can be looked at. A label for each word, or a token
//! for each position, comes from every state by itself.

use crate::config::{HeadConfig, Pooling, Task};
use crate::encoder::mean;
use crate::memory::{Memory, row_ids};
use crate::output::{Output, Unscored};
use burn::module::{Module, Param};
use burn::tensor::activation::softmax;
use burn::tensor::{Int, Tensor, TensorData};
use gatto_nn::attention::batched;
use gatto_nn::{Embedding, Initial, Linear, Noise, dropout, linear, tanh};

/// The list of heads is that of the tasks; their parameters are these.
#[derive(Module, Debug)]
pub(crate) struct Head {
    /// What weighs the states of a sequence.
    attention: Option<Weighing>,
    output: Output,
    #[module(skip)]
    task: Task,
    #[module(skip)]
    pooling: Pooling,
    #[module(skip)]
    dropout: f64,
}

/// vᵀ tanh(W h + b).
#[derive(Module, Debug)]
struct Weighing {
    inner: Linear,
    vector: Param<Tensor<2>>,
}

/// What a head made of a batch.
#[derive(Clone, Debug)]
pub struct Told {
    /// Scores of labels or tokens: [B, labels] for a sequence, [B·T, labels] for each position; of a
    /// language model of both directions those of the forward one and behind them those of the other.
    pub logits: Tensor<2>,
    /// What each state of a sequence counted, where that is learned: [B, T].
    pub weights: Option<Tensor<2>>,
}

impl Head {
    pub(crate) fn new(
        task: Task,
        settings: &HeadConfig,
        states: usize,
        answers: usize,
        tied: bool,
        initial: &mut Initial,
    ) -> Self {
        let pooling = settings.pooling.unwrap_or_default();
        let weighed = task == Task::Classify && pooling == Pooling::Attention;
        // Each direction of a language model tells by itself.
        let width = if task == Task::BidirectionalLanguageModel { states / 2 } else { states };
        Self {
            attention: weighed.then(|| Weighing {
                inner: Linear::new(states, states, initial),
                vector: initial.glorot([states, 1]),
            }),
            output: Output::new(width, settings.hidden, answers, tied, initial),
            task,
            pooling,
            dropout: settings.dropout,
        }
    }

    /// Whether a token stands before the sequence.
    pub(crate) fn reads_start(&self) -> bool {
        match self.task {
            Task::BidirectionalLanguageModel => true,
            Task::Classify => self.pooling == Pooling::ClassToken,
            _ => false,
        }
    }

    /// What is told of the states, or of `rows` among them alone: a wide vocabulary is dear.
    pub(crate) fn forward(
        &self,
        memory: &Memory,
        rows: Option<&[usize]>,
        embedding: Option<&Embedding>,
        noise: &mut Noise,
    ) -> Told {
        let (unscored, weights) = self.unscored(memory, rows, embedding, noise);
        Told { logits: unscored.scores(), weights }
    }

    /// [`Head::forward`] up to the scores, and what each state of a sequence counted.
    pub(crate) fn unscored<'a>(
        &'a self,
        memory: &Memory,
        rows: Option<&[usize]>,
        embedding: Option<&'a Embedding>,
        noise: &mut Noise,
    ) -> (Unscored<'a>, Option<Tensor<2>>) {
        let states = memory.states.clone();
        let [batch, time, width] = states.dims();
        let (features, weights) = match self.task {
            Task::Classify => self.pooled(memory),
            Task::BidirectionalLanguageModel => {
                let half = |first: usize| {
                    states.clone().narrow(2, first, width / 2).reshape([batch * time, width / 2])
                };
                (Tensor::cat(vec![half(0), half(width / 2)], 0), None)
            }
            _ => (states.reshape([batch * time, width]), None),
        };
        let features = match rows {
            Some(rows) => features.clone().select(0, row_ids(rows, &features.device())),
            None => features,
        };
        let features = dropout(features, self.dropout, noise);
        (Unscored { features, output: &self.output, embedding }, weights)
    }

    /// One vector of all states [B, width], and what each counted if that is learned.
    fn pooled(&self, memory: &Memory) -> (Tensor<2>, Option<Tensor<2>>) {
        let (states, mask) = (memory.states.clone(), memory.mask.clone());
        let [batch, time, width] = states.dims();
        let pooled = match self.pooling {
            Pooling::Mean => mean(&states, &mask),
            Pooling::Last => last(memory),
            Pooling::ClassToken => match &memory.class {
                Some(class) => class.clone(),
                None => states.narrow(1, 0, 1).squeeze_dim::<2>(1),
            },
            Pooling::Max => {
                let padding = mask.equal_elem(0.0).unsqueeze_dim::<3>(2).expand([batch, time, width]);
                states.mask_fill(padding, f32::MIN).max_dim(1).squeeze_dim::<2>(1)
            }
            Pooling::Attention => {
                let Some(Weighing { inner, vector }) = &self.attention else {
                    unreachable!("made with this pooling")
                };
                let inside = tanh(inner.forward(states.clone())).reshape([batch * time, width]);
                // A product whose sums have an order of their own, whatever stands beside a row.
                let none = Tensor::zeros([1], &inside.device());
                let scores = linear(inside, vector.val(), none).reshape([batch, time]);
                let weights = softmax(scores.mask_fill(mask.equal_elem(0.0), -1e30), 1); // [B, T]
                let sum = batched(weights.clone().unsqueeze_dim::<3>(1), states, false); // [B, 1, width]
                return (sum.squeeze_dim::<2>(1), Some(weights));
            }
        };
        (pooled, None)
    }
}

/// The last state: what recurrent layers end with, or the state at the last position that exists.
fn last(memory: &Memory) -> Tensor<2> {
    if memory.heads.is_empty()
        && let Some(context) = memory.context()
    {
        return context;
    }
    let ([batch, _, width], device) = (memory.states.dims(), memory.states.device());
    let ids = memory.lengths.iter().map(|&length| length.saturating_sub(1) as i64);
    let ids = Tensor::<1, Int>::from_data(TensorData::new(ids.collect::<Vec<_>>(), [batch]), &device);
    memory.states.clone().gather(1, ids.reshape([batch, 1, 1]).expand([batch, 1, width])).squeeze_dim::<2>(1)
}
