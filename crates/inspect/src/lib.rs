//! Looking into models and their training: what a run did, drawn so that a person can read it.
//!
//! Every picture is made from plain numbers and needs no other program to be seen: an SVG opens in any
//! browser, follows its light or dark mode, and fetches nothing.
//!
//! - [`curves`]: the curves of a training run (`curves.svg`), one panel per figure.
//! - [`heatmap`]: where a model looks, between source and target tokens.
//! - [`explain`]: other answers to what an output depends on, and how far they agree with attention.
//! - [`tree`]: what a beam search followed, and what it let go of at which step and why.
//! - [`overlay`]: where in an image a model looked, word by word or head by head; and what it got wrong there.
//! - [`spectrogram`]: when in a sound a model listened, token by token.
//! - [`look`]: from what a model did to a picture of it.

mod axis;
pub mod curves;
pub mod explain;
pub mod heatmap;
mod label;
pub mod look;
mod offline;
pub mod overlay;
mod raster;
pub mod spectrogram;
mod svg;
mod terminal;
pub mod tree;
