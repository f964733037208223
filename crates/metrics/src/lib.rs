//! How good output is: plain Rust over text and numbers, no tensors.

pub mod alignment;
mod calibration;
mod category;
mod classification;
mod distance;
mod errors;
mod exact;
mod figures;
mod input;
mod interval;
mod measure;
mod onsets;
mod perplexity;
mod places;
pub mod porter;
pub mod rank;
mod rouge;
mod spans;
mod subsequence;
mod symbols;
pub mod translation;

pub use alignment::{Alignment, AlignmentErrorRate, GoldAlignment, PharaohError};
pub use calibration::{Calibration, CalibrationBin};
pub use classification::{ConfusionMatrix, LabelCount, LabelCounts};
pub use errors::{Edits, ErrorRate, Unit};
pub use exact::ExactMatch;
pub use figures::Figures;
pub use input::InputError;
pub use interval::{Bootstrap, Interval, interval, wilson};
pub use measure::{Difference, FEWEST, Measure};
pub use onsets::{Onsets, Timed};
pub use perplexity::Perplexity;
pub use rouge::{Rouge, RougeScores};
pub use spans::{SpanCounts, SpanScheme};
