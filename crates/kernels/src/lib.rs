//! Fused operations for the CPU over plain `&[f32]`, each with its hand-written backward pass.
//!
//! Nothing here knows of tensors or of automatic differentiation: an operation takes slices in
//! row-major order, returns a `Vec`, and hands back what its backward pass needs (a tape) as a value.
//! The instruction set is chosen at run time, so that one binary runs on every machine; the work is
//! split over the current rayon pool, and results depend on nothing but the arguments and, where
//! sums are split, on the number of threads.
//!
//! - [`recurrent`]: a layer of plain, LSTM or GRU cells over all its steps
//! - [`linear`]: an affine map of rows
//! - [`quantised`]: the same with weights of eight bits
//! - [`prepared`]: weights made ready for many products
//! - [`attention`]: scaled dot-product attention of several heads
//! - [`rotary`]: positions as rotations of queries and keys
//! - [`norm`]: layer normalisation
//! - [`convolution`]: a window that moves over images
//! - [`group_norm`]: normalisation of an image's channels in groups
//! - [`activation`]: ReLU and GELU
//! - [`additive`]: the additive score of attention
//! - [`embedding`]: rows of a table, and the gradient of those that were read
//! - [`batched`]: one small product per sentence
//! - [`cross_entropy`]: label-smoothed cross-entropy from logits
//! - [`ctc`]: how probable labels are, whatever frames they stand at
//! - [`optimise`]: sums of squares, Adam and SGD in place
//! - [`dropout`]: masks, and values under them, from counter-based random numbers
//! - [`crew`]: whole pieces of work side by side, each on one thread
//! - [`maths`]: exp, tanh and sigmoid that vectorise
//!
//! Lengths of slices that do not fit the stated shapes are mistakes of the caller and panic;
//! what data can get wrong (a target outside the vocabulary) is an error.

pub mod activation;
pub mod additive;
pub mod attention;
pub mod batched;
pub mod convolution;
pub mod crew;
pub mod cross_entropy;
pub mod ctc;
pub mod dropout;
pub mod embedding;
mod ending;
pub mod group_norm;
mod instructions;
mod kept;
pub mod linear;
pub mod maths;
pub mod norm;
pub mod optimise;
mod packed;
mod parts;
mod pieces;
pub mod prepared;
mod product;
pub mod quantised;
pub mod recurrent;
pub mod rotary;
#[cfg(test)]
mod samples;
mod steady;
mod team;

pub use ending::Ending;
pub use kept::emptied;
