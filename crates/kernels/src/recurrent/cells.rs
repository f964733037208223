//! The arithmetic of one row at one step, forward and backward: everything but the products.
//!
//! All functions are compiled into the vectorised loop of their caller. Slices are `[H]` unless stated.

use crate::maths::{sigmoid, tanh};

/// Splits `[n·H]` into its `n` blocks.
#[inline(always)]
fn blocks<const N: usize>(data: &[f32], width: usize) -> [&[f32]; N] {
    std::array::from_fn(|block| &data[block * width..][..width])
}

#[inline(always)]
fn blocks_mut<const N: usize>(data: &mut [f32], width: usize) -> [&mut [f32]; N] {
    let mut rest = data;
    std::array::from_fn(|_| {
        let (block, tail) = std::mem::take(&mut rest).split_at_mut(width);
        rest = tail;
        block
    })
}

/// `gates` `[H]`: sums → new state.
#[inline(always)]
pub(super) fn rnn(gates: &mut [f32], bias: &[f32], h: &mut [f32]) {
    let width = h.len();
    let (gates, bias) = (&mut gates[..width], &bias[..width]);
    for j in 0..width {
        gates[j] = tanh(gates[j] + bias[j]);
        h[j] = gates[j];
    }
}

/// `gates` `[4·H]`: sums → i, f, g, o.
#[inline(always)]
pub(super) fn lstm(gates: &mut [f32], bias: &[f32], c_before: &[f32], c: &mut [f32], h: &mut [f32]) {
    let width = h.len();
    let [i, f, g, o] = blocks_mut(gates, width);
    let [bias_i, bias_f, bias_g, bias_o] = blocks(bias, width);
    let (c_before, c) = (&c_before[..width], &mut c[..width]);
    for j in 0..width {
        i[j] = sigmoid(i[j] + bias_i[j]);
        f[j] = sigmoid(f[j] + bias_f[j]);
        g[j] = tanh(g[j] + bias_g[j]);
        o[j] = sigmoid(o[j] + bias_o[j]);
        c[j] = f[j] * c_before[j] + i[j] * g[j];
        h[j] = o[j] * tanh(c[j]);
    }
}

/// `gates` `[3·H]`: sums (for n those of the input alone) → r, z, n; `hidden` : `h W_hn` → with its bias.
#[inline(always)]
pub(super) fn gru(gates: &mut [f32], bias: &[f32], hidden: &mut [f32], h_before: &[f32], h: &mut [f32]) {
    let width = h.len();
    let [r, z, n] = blocks_mut(gates, width);
    let [bias_r, bias_z, bias_n, bias_hidden] = blocks(bias, width);
    let (hidden, h_before) = (&mut hidden[..width], &h_before[..width]);
    for j in 0..width {
        r[j] = sigmoid(r[j] + bias_r[j]);
        z[j] = sigmoid(z[j] + bias_z[j]);
        hidden[j] += bias_hidden[j];
        n[j] = tanh(n[j] + bias_n[j] + r[j] * hidden[j]);
        h[j] = (1.0 - z[j]) * n[j] + z[j] * h_before[j];
    }
}

/// `d_h`: gradient of the new state → the part for the state before that bypasses `W_h` (none).
#[inline(always)]
pub(super) fn rnn_backward(gates: &[f32], d_gates: &mut [f32], d_h: &mut [f32]) {
    let width = d_h.len();
    let (gates, d_gates) = (&gates[..width], &mut d_gates[..width]);
    for j in 0..width {
        d_gates[j] = d_h[j] * (1.0 - gates[j] * gates[j]);
        d_h[j] = 0.0;
    }
}

/// `d_h` as in [`rnn_backward`]; `d_c`: gradient of the new cell state → of the one before.
#[inline(always)]
pub(super) fn lstm_backward(
    gates: &[f32],
    c_before: &[f32],
    c: &[f32],
    d_gates: &mut [f32],
    d_h: &mut [f32],
    d_c: &mut [f32],
) {
    let width = d_h.len();
    let [i, f, g, o] = blocks(gates, width);
    let [d_i, d_f, d_g, d_o] = blocks_mut(d_gates, width);
    let (c_before, c, d_c) = (&c_before[..width], &c[..width], &mut d_c[..width]);
    for j in 0..width {
        let tanh_c = tanh(c[j]);
        let cell = d_c[j] + d_h[j] * o[j] * (1.0 - tanh_c * tanh_c);
        d_i[j] = cell * g[j] * i[j] * (1.0 - i[j]);
        d_f[j] = cell * c_before[j] * f[j] * (1.0 - f[j]);
        d_g[j] = cell * i[j] * (1.0 - g[j] * g[j]);
        d_o[j] = d_h[j] * tanh_c * o[j] * (1.0 - o[j]);
        d_c[j] = cell * f[j];
        d_h[j] = 0.0;
    }
}

/// `d_h`: gradient of the new state → the part for the state before that passes through z.
#[inline(always)]
pub(super) fn gru_backward(
    gates: &[f32],
    hidden: &[f32],
    h_before: &[f32],
    d_gates: &mut [f32],
    d_hidden: &mut [f32],
    d_h: &mut [f32],
) {
    let width = d_h.len();
    let [r, z, n] = blocks(gates, width);
    let [d_r, d_z, d_n] = blocks_mut(d_gates, width);
    let (hidden, h_before, d_hidden) = (&hidden[..width], &h_before[..width], &mut d_hidden[..width]);
    for j in 0..width {
        let d_sum = d_h[j] * (1.0 - z[j]) * (1.0 - n[j] * n[j]);
        d_n[j] = d_sum;
        d_r[j] = d_sum * hidden[j] * r[j] * (1.0 - r[j]);
        d_z[j] = d_h[j] * (h_before[j] - n[j]) * z[j] * (1.0 - z[j]);
        d_hidden[j] = d_sum * r[j];
        d_h[j] *= z[j];
    }
}
