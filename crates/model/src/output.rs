//! The output layer: o = s W + b, one score per token; or, through a narrower vector, o = tanh(s W_n + b_n) W + b.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use gatto_nn::{Embedding, Initial, Linear, Preparing, Ready, linear, linear_transposed, tanh};

/// Weight `[H, V]` (or the target tokens' vectors, transposed) and bias `[V]`.
#[derive(Module, Debug)]
pub(crate) struct Output {
    /// What makes the state narrower first: a vocabulary is wide, and so most of the work is here.
    narrow: Option<Linear>,
    /// `None` where the token vectors do double duty (Press & Wolf, 2017).
    weight: Option<Param<Tensor<2>>>,
    bias: Param<Tensor<1>>,
    #[module(skip)]
    ready: Ready,
}

impl Output {
    /// `narrow`: the width before the scores, if it is another than `width`.
    pub(crate) fn new(
        width: usize,
        narrow: Option<usize>,
        vocabulary: usize,
        tied: bool,
        initial: &mut Initial,
    ) -> Self {
        Self {
            narrow: narrow.map(|narrow| Linear::new(width, narrow, initial)),
            weight: (!tied).then(|| initial.glorot([narrow.unwrap_or(width), vocabulary])),
            bias: initial.constant([vocabulary], 0.0),
            ready: Ready::default(),
        }
    }

    /// Makes the weights ready for prediction; `embedding` holds the vectors that do double duty.
    pub(crate) fn prepare(&mut self, embedding: Option<&Embedding>, how: Preparing<'_>) {
        self.narrow.iter_mut().for_each(|narrow| narrow.prepare(how));
        self.ready = match (&self.weight, embedding) {
            (Some(weight), _) => Ready::new(weight, false, how),
            (None, Some(embedding)) => Ready::new(&embedding.weight, true, how),
            (None, None) => Ready::default(),
        };
    }

    /// Scores [N, V] of features [N, width]; `embedding` holds the vectors that do double duty.
    pub(crate) fn scores(&self, features: Tensor<2>, embedding: Option<&Embedding>) -> Tensor<2> {
        let features = match &self.narrow {
            Some(narrow) => tanh(narrow.forward(features)),
            None => features,
        };
        if let Some(scores) = self.ready.forward(&features, Some(&self.bias.val())) {
            return scores;
        }
        match (&self.weight, embedding) {
            (Some(weight), _) => linear(features, weight.val(), self.bias.val()),
            (None, Some(embedding)) => linear_transposed(features, embedding.weight.val(), self.bias.val()),
            (None, None) => unreachable!("scores come from a weight, or from token vectors"),
        }
    }
}
