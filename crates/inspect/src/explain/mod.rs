//! Is attention an explanation? Two other ways to ask which source tokens an output token depends on,
//! and how far they agree with where the model looked.
//!
//! - gradient × input: Σ_c (∂ log p(y_t) / ∂x_ic) · x_ic, how much log p(y_t) would change if the vector
//!   of source token i grew a little (Simonyan et al., 2014; Denil et al., 2014).
//! - erasure: log p(y_t) less what it is when source token i is left out (Li et al., 2016).
//!
//! [`report()`] averages over many sentences: rank correlations of each with attention, and how far
//! p(y_t) falls when the tokens that got most attention are deleted, beside random ones (after Jain &
//! Wallace, 2019, and Wiegreffe & Pinter, 2019).

mod report;

pub use report::{Fall, Report, report};

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use gatto_data::Padded;
use gatto_data::tokens::END;
use gatto_model::{Forced, MOST_SCORES, Model, ModelError, Saved, Trace, log_probabilities};

/// A trace beside other answers to the same question, each a row per target token and a column per
/// source token.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Where the model looked.
    pub trace: Trace,
    /// Gradient × input.
    pub gradient: Vec<Vec<f32>>,
    /// What leaving a token out costs, in nats; the end is never left out.
    pub erasure: Vec<Vec<f32>>,
}

/// Targets that are computed together.
const BATCH: usize = 64;

/// Explains a target, token by token. The model must have been loaded whole.
pub fn explain(saved: &Saved, pair: &Forced) -> Result<Explanation, ModelError> {
    if !saved.model.is_whole() {
        return Err(ModelError::NotWhole);
    }
    let (trace, erasure) = erasure(saved, pair)?;
    Ok(Explanation { trace, gradient: gradient(&saved.model.clone().train(), pair), erasure })
}

/// Gradient × input of every source token for every target token.
fn gradient(model: &Model, (source, target): &Forced) -> Vec<Vec<f32>> {
    let ended = |tokens: &[u32]| [tokens, &[END]].concat();
    let (source, target) = (ended(source), ended(target));
    let (steps, positions) = (target.len(), source.len());
    let mut found = Vec::with_capacity(steps);
    let most = (MOST_SCORES / (steps * model.vocabularies().target)).clamp(1, BATCH);
    for first in (0..steps).step_by(most) {
        // One copy of the pair for each target token, which alone counts there: one backward pass
        // then gives the gradients of all of them, apart.
        let rows = most.min(steps - first);
        let sources = Padded::new(&vec![source.clone(); rows]);
        let targets = Padded::new(&vec![target.clone(); rows]);
        let Some(vectors) = model.source_vectors(&sources) else { return Vec::new() };
        let vectors = vectors.detach().require_grad(); // [rows, S, C]
        let memory = model.encode_vectors(&sources, vectors.clone());
        let inputs = model.teacher_inputs(&targets);
        let forward = model.forward(&inputs, memory.as_ref(), &mut gatto_nn::Noise::none());
        let mut own = vec![0.0f32; rows * steps];
        (0..rows).for_each(|row| own[row * steps + first + row] = 1.0);
        let own = Tensor::<1>::from_data(TensorData::new(own, [rows * steps]), &vectors.device());
        let gradients = (log_probabilities(forward.logits, &targets) * own).sum().backward();
        let products = vectors.grad(&gradients).map(|gradient| gradient * vectors.inner()); // [rows, S, C]
        let sums = products.map(|products| products.sum_dim(2).try_into_vec_as::<f32>().unwrap_or_default());
        let sums = sums.unwrap_or_else(|| vec![0.0; rows * positions]); // nothing depends on the source
        found.extend(sums.chunks_exact(positions).map(<[f32]>::to_vec));
    }
    found
}

/// The trace of a pair, and what leaving each source token out costs every target token.
fn erasure(saved: &Saved, pair: &Forced) -> Result<(Trace, Vec<Vec<f32>>), ModelError> {
    let (source, target) = pair;
    let mut pairs = vec![pair.clone()];
    pairs.extend((0..source.len()).map(|left_out| (without(source, &[left_out]), target.clone())));
    // Of what is left out only the probabilities are kept, some pairs at a time.
    let (mut whole, mut erased) = (None, Vec::with_capacity(source.len()));
    for pairs in pairs.chunks(BATCH) {
        for trace in saved.trace(pairs, BATCH)? {
            match &whole {
                None => whole = Some(trace),
                Some(_) => erased.push(trace.log_probabilities),
            }
        }
    }
    let Some(whole) = whole else { unreachable!("as many traces as pairs") };
    let cost = |t: usize, left: &Vec<f32>| whole.log_probabilities[t] - left[t];
    let of_token = |t: usize| erased.iter().map(|left| cost(t, left)).chain([0.0]).collect();
    let costs = (0..whole.target.len()).map(of_token).collect();
    Ok((whole, costs))
}

/// The tokens but for those at `left_out`.
fn without(tokens: &[u32], left_out: &[usize]) -> Vec<u32> {
    let kept = tokens.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    kept.map(|(_, &token)| token).collect()
}
