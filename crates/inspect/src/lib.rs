//! Looking into models and their training: what a run did, drawn so that a person can read it.
//!
//! Every picture is made from plain numbers and needs no other program to be seen: an SVG opens in any
//! browser, follows its light or dark mode, and fetches nothing.
//!
//! - [`curves`]: the curves of a training run (`curves.svg`), one panel per figure.

mod axis;
pub mod curves;
mod svg;
