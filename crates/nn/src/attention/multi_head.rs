//! Attention of several heads: each looks for something else, and all look at once.
//!
//! Q = X W_q, K = M W_k, V = M W_v; for every head softmax(Q Kᵀ / √D + bias) V; side by side they
//! go through W_o (Vaswani et al., 2017). Without projections it is the idea as it is first taught:
//! scores x_i · m_j, one head, and the vectors themselves are what is averaged.
//!
//! Letters: `B` sentences, `T` queries, `S` keys, `H` heads, `D` width of a head, `C` = H · D.

use super::scaled::{Comparison, Sight, attend};
use crate::{Initial, Linear, Noise, Preparing};
use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

/// The choices that make an attention of several heads.
#[derive(Clone, Copy, Debug)]
pub struct MultiHeadSettings {
    /// C: width of queries, and of what comes out.
    pub width: usize,
    /// Width of what is looked at.
    pub states: usize,
    /// H.
    pub heads: usize,
    /// Whether queries, keys, values and the result have maps of their own.
    pub projected: bool,
    /// Dropout on the weights.
    pub dropout: f64,
}

/// An attention of several heads with its parameters.
#[derive(Module, Debug)]
pub struct MultiHead {
    query: Option<Linear>,
    key: Option<Linear>,
    value: Option<Linear>,
    output: Option<Linear>,
    #[module(skip)]
    heads: usize,
    #[module(skip)]
    dropout: f64,
    /// Heads that give nought, from 0.
    #[module(skip)]
    masked: Vec<usize>,
}

/// What is looked at, as attention sees it: made once and passed.
#[derive(Clone, Debug)]
pub struct KeysValues {
    /// [B, S, C].
    pub keys: Tensor<3>,
    /// [B, S, C].
    pub values: Tensor<3>,
}

impl KeysValues {
    /// Each part as `change` makes it.
    pub fn map(&self, change: impl Fn(Tensor<3>) -> Tensor<3>) -> Self {
        Self { keys: change(self.keys.clone()), values: change(self.values.clone()) }
    }
}

/// What a look gave.
#[derive(Clone, Debug)]
pub struct Seen {
    /// [B, T, C].
    pub output: Tensor<3>,
    /// Where every head looked, outside any gradient: [B, H, T, S].
    pub weights: Tensor<4>,
}

impl MultiHead {
    /// An attention with first values from `initial`.
    pub fn new(settings: MultiHeadSettings, initial: &mut Initial) -> Self {
        let MultiHeadSettings { width, states, heads, projected, dropout } = settings;
        let mut map = |from: usize| projected.then(|| Linear::new(from, width, initial));
        let [query, key, value, output] = [width, states, states, width].map(&mut map);
        Self { query, key, value, output, heads, dropout, masked: Vec::new() }
    }

    /// Makes the weights ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        let maps = [&mut self.query, &mut self.key, &mut self.value, &mut self.output];
        maps.into_iter().flatten().for_each(|map| map.prepare(how));
    }

    /// The maps of queries, keys, values and the result, if it has them.
    pub(crate) fn maps(&self) -> Option<[&Linear; 4]> {
        let [query, key, value, output] =
            [&self.query, &self.key, &self.value, &self.output].map(Option::as_ref);
        Some([query?, key?, value?, output?])
    }

    /// What the rows of `x` [B, T, C] ask for.
    pub fn queries(&self, x: Tensor<3>) -> Tensor<3> {
        mapped(&self.query, x)
    }

    /// What the rows of `states` [B, S, …] answer to, and with.
    pub fn keys_values(&self, states: Tensor<3>) -> KeysValues {
        KeysValues { keys: mapped(&self.key, states.clone()), values: mapped(&self.value, states) }
    }

    /// What scores of queries of `width` are multiplied by.
    pub fn scale(&self, width: usize) -> f64 {
        if self.query.is_some() { ((width / self.heads) as f64).sqrt().recip() } else { 1.0 }
    }

    /// Looks for `queries` [B, T, C] among keys.
    pub fn look(&self, queries: Tensor<3>, at: &KeysValues, sight: &Sight, noise: &mut Noise) -> Seen {
        let scale = self.scale(queries.dims()[2]);
        let comparison = Comparison { heads: self.heads, scale, dropout: self.dropout };
        let (context, weights) = attend(queries, at, comparison, sight, noise);
        Seen { output: mapped(&self.output, self.unmasked(context)), weights }
    }

    /// Has a head, counted from 0, give nought from now on, wherever it looks: what all heads give is then
    /// [c_1, …, 0, …, c_H] before W_o. Whether there is such a head.
    pub(crate) fn mask(&mut self, head: usize) -> bool {
        let is_new = !self.masked.contains(&head);
        if head < self.heads && is_new {
            self.masked.push(head);
        }
        head < self.heads
    }

    /// What heads give, with nought in the places of those that are masked: [B, T, C].
    fn unmasked(&self, context: Tensor<3>) -> Tensor<3> {
        if self.masked.is_empty() {
            return context;
        }
        let width = context.dims()[2];
        let mut kept = vec![1.0; width];
        self.mask_rows(&mut kept, width);
        let kept = Tensor::from_data(TensorData::new(kept, [1, 1, width]), &context.device());
        context * kept
    }

    /// The same over plain rows of `width`.
    pub(crate) fn mask_rows(&self, rows: &mut [f32], width: usize) {
        let head = width / self.heads.max(1);
        for &masked in &self.masked {
            rows.chunks_exact_mut(width.max(1)).for_each(|row| row[masked * head..][..head].fill(0.0));
        }
    }
}

/// Every row through a map, if there is one.
fn mapped(map: &Option<Linear>, x: Tensor<3>) -> Tensor<3> {
    match map {
        Some(map) => map.forward(x),
        None => x,
    }
}
