//! How good a translation is: BLEU, chrF and TER with the scores of sacreBLEU 2.6, and whether the
//! difference between two systems is more than chance.
//!
//! A metric turns each line into a few numbers, its sufficient statistics ([`Statistics`]). Summed
//! over a corpus, they give the corpus score; summed over lines drawn at random, they give
//! confidence intervals and significance tests ([`significance`]) without reading the text again.
//!
//! ```
//! use gatto_metrics::translation::{Bleu, Metric, References};
//!
//! let output = ["The cat sits on the mat.", "It sleeps."];
//! let streams = [
//!     ["The cat is sitting on the mat.", "It is asleep."],
//!     ["The cat sits upon the mat.", "It sleeps."],
//! ];
//! let references = References::streams(&streams)?;
//!
//! let bleu = Bleu::default();
//! let statistics = bleu.statistics(&output, &references)?;
//! let score = bleu.corpus_score(&statistics)?;
//! assert_eq!(
//!     score.to_string(),
//!     "BLEU = 61.80 100.0/87.5/66.7/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 10 ref_len = 10)"
//! );
//! assert!(bleu.signature(&statistics).to_string().starts_with("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp"));
//! # Ok::<(), gatto_metrics::translation::TranslationError>(())
//! ```
//!
//! Where Unicode versions differ, characters new in one of them may be told apart differently:
//! sacreBLEU lower-cases with the tables of its Python, and its tokenizer `intl` takes categories
//! from the Python package `regex`; here they come from Rust's standard library and `regex-syntax`.

mod bleu;
mod chrf;
mod corpus;
mod edits;
mod error;
mod metric;
mod ngrams;
mod numpy_random;
mod signature;
pub mod significance;
mod ter;
mod tercom;
mod text;
mod tokenize;

pub use bleu::{Bleu, BleuScore, Smoothing};
pub use chrf::{Chrf, ChrfScore};
pub use corpus::{References, Statistics};
pub use edits::EditSearch;
pub use error::TranslationError;
pub use metric::{Metric, Sampled, Score};
pub use ngrams::NgramCounts;
pub use signature::Signature;
pub use ter::{Ter, TerScore};
pub use tokenize::Tokenizer;
