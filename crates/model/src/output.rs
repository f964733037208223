//! The output layer: o = s W + b, one score per token; or, through a narrower vector, o = tanh(s W_n + b_n) W + b.

use crate::memory::row_ids;
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use gatto_kernels::maths::tanh_in_place;
use gatto_nn::loss::{Projection, Targets, cross_entropy, projected_cross_entropy};
use gatto_nn::{Embedding, Initial, Linear, Preparing, Ready, ReadyMap, tanh};

/// The most scores that [`Output::answers`] has in memory, unless a row has more.
const SLICE: usize = 4 << 20;

/// Features [N, width] that wait for their scores: a vocabulary is wide, and not everybody wants to see them.
#[derive(Debug)]
pub struct Unscored<'a> {
    pub(crate) features: Tensor<2>,
    pub(crate) output: &'a Output,
    /// The vectors that may do double duty.
    pub(crate) embedding: Option<&'a Embedding>,
}

impl Unscored<'_> {
    /// The scores themselves: [N, V].
    pub fn scores(self) -> Tensor<2> {
        self.output.scores(self.features, self.embedding)
    }

    /// The scores as plain values; those of some tokens alone, [N, U], if they are given.
    pub(crate) fn values(self, columns: Option<&Columns>) -> Vec<f32> {
        let plain = |tensor: Tensor<2>| tensor.try_into_vec_as::<f32>().unwrap_or_default();
        match columns {
            Some(_) => {
                let mut scores = Vec::new();
                self.output.score(&plain(self.features), columns, &mut Vec::new(), &mut scores);
                scores
            }
            None => plain(self.scores()),
        }
    }

    /// The loss of every row: `[N]`.
    pub fn losses(self, targets: &Targets) -> Tensor<1> {
        self.output.losses(self.features, self.embedding, targets)
    }

    /// The losses and the best answers, outside any gradient.
    pub fn answers(self, targets: &Targets) -> Answers {
        self.output.answers(&self.features, self.embedding, targets)
    }
}

/// What is known of answers without their scores.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The loss of each row, times its weight.
    pub losses: Vec<f32>,
    /// The token or label of the highest score in each row.
    pub best: Vec<u32>,
}

/// The part of an output layer that scores some tokens: weights `[H, U]`.
pub(crate) struct Columns(ReadyMap);

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
    /// The same for plain rows: what makes them narrower, if something does, and what scores tokens.
    #[module(skip)]
    plain: Option<(Option<ReadyMap>, ReadyMap)>,
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
            plain: None,
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
        let narrow = self.narrow.as_ref().map(Linear::ready);
        self.plain = match (narrow, ReadyMap::new(&self.ready, &self.bias.val())) {
            (None, Some(scores)) => Some((None, scores)),
            (Some(Some(narrow)), Some(scores)) => Some((Some(narrow), scores)),
            _ => None,
        };
    }

    /// Whether [`Output::score`] has what it needs.
    pub(crate) fn can_score(&self) -> bool {
        self.plain.is_some()
    }

    /// The scores of plain rows [N, width], once weights are ready: [N, V], or [N, U] of some tokens alone. `narrowed` is memory for
    /// what is between.
    pub(crate) fn score(
        &self,
        rows: &[f32],
        columns: Option<&Columns>,
        narrowed: &mut Vec<f32>,
        scores: &mut Vec<f32>,
    ) {
        let Some((narrow, all)) = &self.plain else { return };
        let map = columns.map_or(all, |Columns(some)| some);
        match narrow {
            Some(narrow) => {
                narrow.forward(rows, narrowed);
                tanh_in_place(narrowed);
                map.forward(narrowed, scores);
            }
            None => map.forward(rows, scores),
        }
    }

    /// What scores these tokens, if the weights are ready.
    pub(crate) fn columns(&self, tokens: &[u32]) -> Option<Columns> {
        self.plain.as_ref()?;
        let rows: Vec<usize> = tokens.iter().map(|&token| token as usize).collect();
        let bias = self.bias.val();
        let bias = bias.clone().select(0, row_ids(&rows, &bias.device()));
        ReadyMap::new(&self.ready.columns(tokens), &bias).map(Columns)
    }

    /// Scores [N, V] of features [N, width]; `embedding` holds the vectors that do double duty.
    pub(crate) fn scores(&self, features: Tensor<2>, embedding: Option<&Embedding>) -> Tensor<2> {
        let features = self.narrowed(features);
        match self.ready.forward(&features, Some(&self.bias.val())) {
            Some(scores) => scores,
            None => self.projection(embedding).logits(features),
        }
    }

    /// The loss of every row of features [N, width], [N], without scores that anybody could look at.
    fn losses(&self, features: Tensor<2>, embedding: Option<&Embedding>, targets: &Targets) -> Tensor<1> {
        projected_cross_entropy(self.narrowed(features), self.projection(embedding), targets)
    }

    /// [`Output::losses`] and the best answers, outside any gradient: some rows after the others.
    fn answers(&self, features: &Tensor<2>, embedding: Option<&Embedding>, targets: &Targets) -> Answers {
        let (rows, mut answers) = (targets.ids.len(), Answers::default());
        let count = (SLICE / self.bias.dims()[0].max(1)).max(1);
        for first in (0..rows).step_by(count) {
            let own = first..rows.min(first + count);
            let scores = self.scores(features.clone().narrow(0, first, own.len()), embedding);
            let best = scores.clone().argmax(1).try_into_vec_as::<u32>().unwrap_or_default();
            let (ids, weights) = (targets.ids[own.clone()].to_vec(), targets.weights[own].to_vec());
            let targets = Targets { ids, weights, smoothing: targets.smoothing };
            let losses = cross_entropy(scores, &targets).try_into_vec_as::<f32>().unwrap_or_default();
            answers.best.extend(best);
            answers.losses.extend(losses);
        }
        answers
    }

    fn narrowed(&self, features: Tensor<2>) -> Tensor<2> {
        match &self.narrow {
            Some(narrow) => tanh(narrow.forward(features)),
            None => features,
        }
    }

    fn projection(&self, embedding: Option<&Embedding>) -> Projection {
        let (weight, transposed) = match (&self.weight, embedding) {
            (Some(weight), _) => (weight.val(), false),
            (None, Some(embedding)) => (embedding.weight.val(), true),
            (None, None) => unreachable!("scores come from a weight, or from token vectors"),
        };
        Projection { weight, transposed, bias: self.bias.val() }
    }
}
