//! Which sizes of recurrent layers can be built.

use super::{Complaint, DEEPEST, WIDEST, rate, within};
use crate::config::{MOST_PARAMETERS, RecurrentDecoderConfig, RecurrentEncoderConfig};
use gatto_nn::recurrent::Cell;

/// Looks at the encoder at `at`, which reads vectors of width `input`.
pub(super) fn check_recurrent_encoder(
    at: &str,
    cell: Cell,
    settings: &RecurrentEncoderConfig,
    input: usize,
) -> Result<(), Complaint> {
    let RecurrentEncoderConfig { width, embedding, layers, bidirectional, reversed, dropout } = *settings;
    sizes(at, width, embedding, layers, dropout)?;
    parameters(at, cell, 1 + usize::from(bidirectional), width, input, layers)?;
    match bidirectional && reversed {
        true => Err(Complaint::new(
            format!("{at}.reversed"),
            "has no meaning beside `bidirectional = true`; remove one of them",
        )),
        false => Ok(()),
    }
}

/// Looks at the decoder at `at`, whose cell reads vectors of width `input`.
pub(super) fn check_recurrent_decoder(
    at: &str,
    cell: Cell,
    settings: &RecurrentDecoderConfig,
    input: usize,
) -> Result<(), Complaint> {
    let RecurrentDecoderConfig { width, embedding, layers, dropout, output, .. } = *settings;
    sizes(at, width, embedding, layers, dropout)?;
    within(format!("{at}.output"), output.unwrap_or(width), WIDEST)?;
    parameters(at, cell, 1, width, input, layers)
}

fn sizes(
    at: &str,
    width: usize,
    embedding: Option<usize>,
    layers: usize,
    dropout: f64,
) -> Result<(), Complaint> {
    within(format!("{at}.width"), width, WIDEST)?;
    within(format!("{at}.embedding"), embedding.unwrap_or(width), WIDEST)?;
    within(format!("{at}.layers"), layers, DEEPEST)?;
    rate(format!("{at}.dropout"), dropout)
}

/// Refuses layers that no memory holds. `input` is the width of what the first of them reads.
fn parameters(
    at: &str,
    cell: Cell,
    directions: usize,
    width: usize,
    input: usize,
    layers: usize,
) -> Result<(), Complaint> {
    let [gates, directions, width, input, layers] =
        [cell.gates(), directions, width, input, layers].map(|size| size as u64);
    let inputs = input + (layers - 1) * directions * width; // of all layers together
    let count = directions * gates * width * (inputs + layers * width);
    if count <= MOST_PARAMETERS {
        return Ok(());
    }
    Err(Complaint::new(
        format!("{at}.width"),
        format!(
            "makes layers of {count} parameters, and at most {MOST_PARAMETERS} can be built; write a smaller \
             width, or fewer layers"
        ),
    ))
}
