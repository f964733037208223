//! The recurrent layer as one operation of the gradient graph, on the CPU.

use super::{Cell, CellState, LayerInput, LayerOutput, LayerWeights};
use crate::flex::{Gradient, Operand, Values, operation, plain};
use burn::tensor::{Shape, Tensor};
use gatto_kernels::recurrent as kernel;
use std::sync::Arc;

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    cell: Cell,
    shape: kernel::Shape,
    reverse: bool,
    mask: Values,
    /// x, W_x, W_h, b, h₀, c₀.
    inputs: [Values; 6],
    tape: Arc<kernel::Tape>,
}

impl Kept {
    fn arguments(&self) -> kernel::Args<'_> {
        arguments(self.cell, self.shape, self.reverse, &self.mask, self.inputs.each_ref())
    }
}

/// The arguments of the kernel, from x, W_x, W_h, b, h₀ and c₀.
pub(super) fn arguments<'a>(
    cell: Cell,
    shape: kernel::Shape,
    reverse: bool,
    mask: &'a Values,
    inputs: [&'a Values; 6],
) -> kernel::Args<'a> {
    let [x, w_x, w_h, bias, h0, c0] = inputs.map(Values::slice);
    let c0 = if cell == Cell::Lstm { c0 } else { &[] };
    kernel::Args { cell, shape, reverse, x, mask: mask.slice(), w_x, w_h, bias, h0, c0, look: None }
}

impl Gradient<6> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 6] {
        let kernel::Shape { batch, steps, input, width } = self.shape;
        let gates = self.cell.gates() * width;
        let found = kernel::backward(&self.arguments(), &self.tape, output);
        let state = Shape::new([batch, width]);
        [
            Some((found.x, Shape::new([batch, steps, input]))),
            Some((found.w_x, Shape::new([input, gates]))),
            Some((found.w_h, Shape::new([width, gates]))),
            Some((found.bias, Shape::new([self.cell.bias_blocks() * width]))),
            Some((found.h0, state.clone())),
            (self.cell == Cell::Lstm).then_some((found.c0, state)),
        ]
    }
}

/// x, W_x, W_h, b, h₀ and c₀ as the operation takes them, if all of them live on the CPU.
pub(super) fn operands(input: &LayerInput, weights: &LayerWeights) -> Option<[Operand; 6]> {
    let first = &input.first;
    Some([
        Operand::of(&input.x)?,
        Operand::of(&weights.input)?,
        Operand::of(&weights.recurrent)?,
        Operand::of(&weights.bias)?,
        Operand::of(&first.hidden)?,
        Operand::of(first.cell.as_ref().unwrap_or(&first.hidden))?,
    ])
}

/// Runs the fused layer if every tensor lives on the CPU.
pub(super) fn layer(kind: Cell, input: &LayerInput, weights: &LayerWeights) -> Option<LayerOutput> {
    let [batch, steps, features] = input.x.dims();
    let width = weights.recurrent.dims()[0];
    let shape = kernel::Shape { batch, steps, input: features, width };
    let mask = Operand::of(&input.mask)?.values;
    let shape_out = [batch, kind.out_rows(steps), width];
    let cell_state = input.first.cell.as_ref().unwrap_or(&input.first.hidden);
    let states = [&weights.recurrent, &weights.input, &input.first.hidden, cell_state];
    let learns = states.iter().any(|part| part.is_autodiff());
    if let Some(ready) = weights.ready.0.as_ref().filter(|_| !learns && !input.x.is_autodiff()) {
        let [x, bias] = [Operand::of(&input.x)?.values, Operand::of(&weights.bias)?.values];
        let [h0, c0] = [Operand::of(&input.first.hidden)?.values, Operand::of(cell_state)?.values];
        let arguments = kernel::Args {
            cell: kind,
            shape,
            reverse: input.reverse,
            x: x.slice(),
            mask: mask.slice(),
            w_x: &[],
            w_h: &[],
            bias: bias.slice(),
            h0: h0.slice(),
            c0: if kind == Cell::Lstm { c0.slice() } else { &[] },
            look: None,
        };
        let out = plain(kernel::forward_prepared(&arguments, ready), shape_out);
        return Some(read(kind, out, steps, input.reverse));
    }
    let operands = operands(input, weights)?;
    let inputs = operands.each_ref().map(|operand| operand.values.clone());
    let arguments = arguments(kind, shape, input.reverse, &mask, inputs.each_ref());
    let out = if operands.iter().any(Operand::is_tracked) {
        let (out, tape) = kernel::forward(&arguments);
        let inputs = inputs.clone();
        let remember =
            || Kept { cell: kind, shape, reverse: input.reverse, mask, inputs, tape: Arc::new(tape) };
        operation(operands, out, shape_out, remember)
    } else {
        plain(kernel::forward_only(&arguments), shape_out)
    };
    Some(read(kind, out, steps, input.reverse))
}

/// The states and the last state out of the kernel's output [B, T (+ 1), H].
pub(super) fn read(kind: Cell, out: Tensor<3>, steps: usize, reverse: bool) -> LayerOutput {
    let [batch, _, width] = out.dims();
    let row = |at: usize| out.clone().narrow(1, at, 1).reshape([batch, width]); // [B, H]
    let hidden = row(if reverse { 0 } else { steps - 1 });
    let cell = (kind == Cell::Lstm).then(|| row(steps));
    let states = if kind == Cell::Lstm { out.clone().narrow(1, 0, steps) } else { out.clone() };
    LayerOutput { states, last: CellState { hidden, cell } }
}
