//! A recurrent layer that looks at a source at every step, over all its steps.
//!
//! A state h asks: e_s = vᵀ tanh(h W_q + k_s), α = softmax(e) over the positions that exist, c = Σ α_s h_s. The state
//! before a step asks for the context c that stands behind the input x of that step (Bahdanau et al., 2015); or the state
//! after it, for the input of the next step, where the first has zeros. Of the context its last values stand there, as
//! many as are fed.
//!
//! Letters besides those of a layer: `S` positions of the source, `A` width of a key, `C` width of its states, `F` how
//! much of a context is fed.

use super::fused::{arguments, read};
use super::layer::{plain_step, running};
use super::{Cell, CellState, LayerInput, LayerWeights};
use crate::attention::additive_plain;
use crate::flex::{Gradient, Operand, Values, operation};
use burn::tensor::activation::softmax;
use burn::tensor::{Shape, Tensor};
use gatto_kernels::recurrent as kernel;
use std::sync::Arc;

/// What is looked at, and how it is asked.
#[derive(Clone, Debug)]
pub struct LayerLook {
    /// k: `[B, S, A]`.
    pub keys: Tensor<3>,
    /// The states of the source: `[B, S, C]`.
    pub states: Tensor<3>,
    /// 1 where a position exists: `[B, S]`.
    pub mask: Tensor<2>,
    /// W_q: `[H, A]`.
    pub query: Tensor<2>,
    /// v: `[A]`.
    pub vector: Tensor<1>,
    /// Whether the state after a step asks, and not the one before it.
    pub after: bool,
    /// F: how many of a context's last values are fed.
    pub fed: usize,
}

impl LayerLook {
    /// The look of the states `[B, H]` at a step that `exists` `[B, 1]` or not: α `[B, S]` and c `[B, 1, C]`.
    fn ask(&self, states: Tensor<2>, exists: Tensor<2>) -> (Tensor<2>, Tensor<3>) {
        let query = states.matmul(self.query.clone()).unsqueeze_dim::<3>(1); // [B, 1, A]
        let scores = additive_plain(query, self.keys.clone(), self.vector.clone()).squeeze_dim::<2>(1); // [B, S]
        let nowhere = self.mask.clone().equal_elem(0.0); // [B, S]
        let shares = softmax(scores.mask_fill(nowhere, -1e30), 1) * self.mask.clone() * exists;
        let context = shares.clone().unsqueeze_dim::<3>(1).matmul(self.states.clone()); // [B, 1, C]
        (shares, context)
    }
}

/// What a looking layer leaves behind.
#[derive(Clone, Debug)]
pub struct LookingOutput {
    /// The context of every step and behind it the state after it: `[B, T, C + H]`.
    pub seen: Tensor<3>,
    /// α: `[B, T, S]`; zeros on padding.
    pub weights: Tensor<3>,
    /// The state after the last step.
    pub last: CellState,
}

/// Runs a layer, whose W_x is [I + F, G·H]: the fused form where the CPU has it, the plain form elsewhere.
/// On padding there is no look: context and weights are zero.
pub fn looking_layer(kind: Cell, input: LayerInput, look: LayerLook, weights: LayerWeights) -> LookingOutput {
    match fused(kind, &input, &look, &weights) {
        Some(output) => output,
        None => looking_layer_plain(kind, input, look, weights),
    }
}

/// The layer in plain tensor operations.
pub fn looking_layer_plain(
    kind: Cell,
    input: LayerInput,
    look: LayerLook,
    weights: LayerWeights,
) -> LookingOutput {
    let LayerInput { x, mask, first, reverse } = input;
    let [batch, time, _] = x.dims();
    let mut made = vec![None; time];
    let mut state = first;
    let context = look.states.dims()[2];
    let mut seen_before = Tensor::zeros([batch, 1, context], &x.device());
    for t in running(time, reverse) {
        let exists = mask.clone().narrow(1, t, 1); // [B, 1]
        let asked_before = (!look.after).then(|| look.ask(state.hidden.clone(), exists.clone()));
        let read = asked_before.as_ref().map_or(seen_before, |(_, context)| context.clone());
        let fed = read.narrow(2, context - look.fed, look.fed);
        let beside = Tensor::cat(vec![x.clone().narrow(1, t, 1), fed], 2); // [B, 1, I + F]
        state = plain_step(kind, beside.squeeze_dim::<2>(1), exists.clone(), &state, &weights);
        let (shares, context) = asked_before.unwrap_or_else(|| look.ask(state.hidden.clone(), exists));
        seen_before = context.clone();
        let seen = Tensor::cat(vec![context, state.hidden.clone().unsqueeze_dim::<3>(1)], 2); // [B, 1, C + H]
        made[t] = Some((seen, shares.unsqueeze_dim::<3>(1)));
    }
    let (seen, shares): (Vec<_>, Vec<_>) = made.into_iter().flatten().unzip();
    LookingOutput { seen: Tensor::cat(seen, 1), weights: Tensor::cat(shares, 1), last: state }
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    cell: Cell,
    shape: kernel::Shape,
    look: Sizes,
    reverse: bool,
    /// Of the target and of the source.
    masks: [Values; 2],
    inputs: Inputs,
    tape: Arc<kernel::Tape>,
}

/// x, W_x, W_h, b, h₀, c₀; keys, states, W_q, v.
type Inputs = [Values; 10];

/// The sizes of a look, and who asks.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    positions: usize,
    width: usize,
    context: usize,
    after: bool,
    fed: usize,
}

impl Kept {
    fn arguments(&self) -> kernel::Args<'_> {
        with_look(self.cell, self.shape, self.look, self.reverse, &self.masks, &self.inputs)
    }
}

fn with_look<'a>(
    cell: Cell,
    shape: kernel::Shape,
    look: Sizes,
    reverse: bool,
    [target, source]: &'a [Values; 2],
    inputs: &'a Inputs,
) -> kernel::Args<'a> {
    let [x, w_x, w_h, bias, h0, c0, keys, states, w_q, vector] = inputs.each_ref();
    let [keys, states, w_q, vector] = [keys, states, w_q, vector].map(Values::slice);
    let Sizes { positions, width, context, after, fed } = look;
    let mask = source.slice();
    let look = kernel::Look { positions, width, context, keys, states, mask, w_q, vector, after, fed };
    let layer = arguments(cell, shape, reverse, target, [x, w_x, w_h, bias, h0, c0]);
    kernel::Args { look: Some(look), ..layer }
}

impl Gradient<10> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 10] {
        let kernel::Shape { batch, steps, input, width } = self.shape;
        let Sizes { positions, width: of_key, context, fed, .. } = self.look;
        let gates = self.cell.gates() * width;
        let found = kernel::backward(&self.arguments(), &self.tape, output);
        let state = Shape::new([batch, width]);
        [
            Some((found.x, Shape::new([batch, steps, input]))),
            Some((found.w_x, Shape::new([input + fed, gates]))),
            Some((found.w_h, Shape::new([width, gates]))),
            Some((found.bias, Shape::new([self.cell.bias_blocks() * width]))),
            Some((found.h0, state.clone())),
            (self.cell == Cell::Lstm).then_some((found.c0, state)),
            Some((found.look.keys, Shape::new([batch, positions, of_key]))),
            Some((found.look.states, Shape::new([batch, positions, context]))),
            Some((found.look.w_q, Shape::new([width, of_key]))),
            Some((found.look.vector, Shape::new([of_key]))),
        ]
    }
}

/// Runs the fused layer if every tensor lives on the CPU.
fn fused(kind: Cell, input: &LayerInput, look: &LayerLook, weights: &LayerWeights) -> Option<LookingOutput> {
    let [batch, steps, features] = input.x.dims();
    let ([_, positions, of_key], context) = (look.keys.dims(), look.states.dims()[2]);
    let width = weights.recurrent.dims()[0];
    let shape = kernel::Shape { batch, steps, input: features, width };
    let sizes = Sizes { positions, width: of_key, context, after: look.after, fed: look.fed };
    let masks = [Operand::of(&input.mask)?.values, Operand::of(&look.mask)?.values];
    let [x, input_weights, recurrent, bias, hidden, cell] = super::fused::operands(input, weights)?;
    let [keys, states] = [Operand::of(&look.keys)?, Operand::of(&look.states)?];
    let [query, vector] = [Operand::of(&look.query)?, Operand::of(&look.vector)?];
    let operands = [x, input_weights, recurrent, bias, hidden, cell, keys, states, query, vector];
    let inputs = operands.each_ref().map(|operand| operand.values.clone());
    let (out, tape) = kernel::forward(&with_look(kind, shape, sizes, input.reverse, &masks, &inputs));
    let reverse = input.reverse;
    let remember = || Kept { cell: kind, shape, look: sizes, reverse, masks, inputs, tape: Arc::new(tape) };
    let seen = context + width;
    let shape_out = [batch, kind.out_rows(steps), seen + positions];
    let layer = read(kind, operation(operands, out, shape_out, remember), steps, reverse);
    Some(LookingOutput {
        seen: layer.states.clone().narrow(2, 0, seen),
        weights: layer.states.narrow(2, seen, positions),
        last: layer.last.map(|part| part.narrow(1, context, width)),
    })
}
