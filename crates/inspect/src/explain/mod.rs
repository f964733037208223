//! Is attention an explanation? Two other ways to ask which parts of a source an output depends on, and
//! how far they agree with where the model looked. The parts of a text are its tokens, those of an image
//! its regions.
//!
//! - gradient × input: Σ_c (∂ log p(y_t) / ∂x_ic) · x_ic, how much log p(y_t) would change if the vector
//!   of source token i, or all pixels of region i, grew a little (Simonyan et al., 2014; Denil et al., 2014).
//! - erasure: log p(y_t) less what it is when source token i is left out (Li et al., 2016), or region i has
//!   the mean colour everywhere (Zeiler & Fergus, 2014).
//!
//! [`report()`] averages over many sentences, and [`ImageSurvey`] over many images: rank correlations of each
//! with attention, and how far p(y_t) falls when the parts that got most attention are left out, beside random
//! ones (after Jain & Wallace, 2019, and Wiegreffe & Pinter, 2019). Where it is known what the words of a
//! caption name, [`Pointing`] tells how much of each lies on that.
//!
//! A Vision Transformer's own attention has maps of its own: [`rollout()`] over all layers, and [`class_maps`],
//! what each head saw.

mod images;
mod pointing;
mod report;
mod rollout;
mod survey;

pub use images::{ImageExplanation, blanked, explain_image};
pub use pointing::{Figures, Method, Pointed, Pointing, hits};
pub use report::{Fall, Report, report};
pub use rollout::{class_maps, rollout, rollout_layers};
pub use survey::{ImageCase, ImageReport, ImageSurvey};

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use gatto_data::tokens::END;
use gatto_data::{Padded, Sources};
use gatto_model::{Forced, MOST_SCORES, Matrix, Model, ModelError, Saved, Trace, log_probabilities};
use gatto_nn::Noise;

/// A trace beside other answers to the same question, each a row per target token and a column per
/// source token.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Where the model looked.
    pub trace: Trace,
    /// Gradient × input.
    pub gradient: Matrix,
    /// What leaving a token out costs, in nats; the end is never left out.
    pub erasure: Matrix,
}

/// Targets that are computed together.
const BATCH: usize = 64;

/// A source, and an answer to it that is to be explained.
trait Case {
    /// So many copies of the source, to be read together.
    fn copies(&self, rows: usize) -> Result<Sources, ModelError>;

    /// The tokens of the answer, with the end; or its label alone.
    fn answer(&self) -> Vec<u32>;

    /// The most copies that are computed together.
    fn most(&self) -> usize;

    /// log p of every token of the answer when parts of the source are left out, for each choice of parts.
    fn without(&self, saved: &Saved, left_out: &[Vec<usize>]) -> Result<Matrix, ModelError>;
}

/// A source text and a target.
struct TextCase<'a>(&'a Forced);

impl Case for TextCase<'_> {
    fn copies(&self, rows: usize) -> Result<Sources, ModelError> {
        Ok(Sources::Tokens(Padded::new(&vec![ended(&self.0.0); rows])))
    }

    fn answer(&self) -> Vec<u32> {
        ended(&self.0.1)
    }

    fn most(&self) -> usize {
        BATCH
    }

    fn without(&self, saved: &Saved, left_out: &[Vec<usize>]) -> Result<Matrix, ModelError> {
        let (source, target) = self.0;
        let mut found = Vec::with_capacity(left_out.len());
        // Of what is left out only the probabilities are kept, some pairs at a time.
        for some in left_out.chunks(BATCH) {
            let pairs: Vec<Forced> =
                some.iter().map(|left_out| (without(source, left_out), target.clone())).collect();
            found.extend(saved.trace(&pairs, BATCH)?.into_iter().map(|trace| trace.log_probabilities));
        }
        Ok(found)
    }
}

/// Explains a target, token by token. The model must have been loaded whole.
pub fn explain(saved: &Saved, pair: &Forced) -> Result<Explanation, ModelError> {
    if !saved.model.is_whole() {
        return Err(ModelError::NotWhole);
    }
    let Some(trace) = saved.trace(std::slice::from_ref(pair), 1)?.pop() else {
        unreachable!("as many traces as pairs")
    };
    let case = TextCase(pair);
    let mut erasure = erasure(saved, &case, &trace.log_probabilities, pair.0.len())?;
    erasure.iter_mut().for_each(|costs| costs.push(0.0)); // the end
    Ok(Explanation { trace, gradient: gradient(&saved.model.clone().train(), &case)?, erasure })
}

/// Gradient × input of every part of the source for every token of the answer; nothing if the model reads
/// no source.
fn gradient(model: &Model, case: &impl Case) -> Result<Matrix, ModelError> {
    let answer = case.answer();
    let steps = answer.len();
    let mut found = Vec::with_capacity(steps);
    let most = (MOST_SCORES / (steps * model.vocabularies().target).max(1)).clamp(1, case.most());
    for first in (0..steps).step_by(most) {
        // One copy of the case for each token of the answer, which alone counts there: one backward pass
        // then gives the gradients of all of them, apart.
        let rows = most.min(steps - first);
        let sources = case.copies(rows)?;
        let targets = Padded::new(&vec![answer.clone(); rows]);
        let Some(vectors) = model.source_vectors(&sources) else { return Ok(Vec::new()) };
        let vectors = vectors.detach().require_grad(); // [rows, S, C]
        let memory = model.encode_vectors(&sources, vectors.clone());
        let told = memory.as_ref().and_then(|memory| model.tell(memory, &mut Noise::none()));
        let logits = match told {
            Some(told) => told.logits, // [rows, labels]
            None => {
                let inputs = model.teacher_inputs(&targets);
                model.forward(&inputs, memory.as_ref(), &mut Noise::none()).logits // [rows·steps, V]
            }
        };
        let mut own = vec![0.0f32; rows * steps];
        (0..rows).for_each(|row| own[row * steps + first + row] = 1.0);
        let own = Tensor::<1>::from_data(TensorData::new(own, [rows * steps]), &vectors.device());
        let gradients = (log_probabilities(logits, &targets) * own).sum().backward();
        let positions = vectors.dims()[1];
        let products = vectors.grad(&gradients).map(|gradient| gradient * vectors.inner()); // [rows, S, C]
        let sums = products.map(|products| products.sum_dim(2).try_into_vec_as::<f32>().unwrap_or_default());
        let sums = sums.unwrap_or_else(|| vec![0.0; rows * positions]); // nothing depends on the source
        found.extend(sums.chunks_exact(positions).map(<[f32]>::to_vec));
    }
    Ok(found)
}

/// What leaving out each of the first `parts` of the source costs every token of the answer, whose log p is
/// `whole` when nothing is left out.
fn erasure(saved: &Saved, case: &impl Case, whole: &[f32], parts: usize) -> Result<Matrix, ModelError> {
    let each: Vec<Vec<usize>> = (0..parts).map(|part| vec![part]).collect();
    let erased = case.without(saved, &each)?;
    let of_token = |(t, log): (usize, &f32)| erased.iter().map(|left| log - left[t]).collect();
    Ok(whole.iter().enumerate().map(of_token).collect())
}

fn ended(tokens: &[u32]) -> Vec<u32> {
    [tokens, &[END]].concat()
}

/// The tokens but for those at `left_out`.
fn without(tokens: &[u32], left_out: &[usize]) -> Vec<u32> {
    let kept = tokens.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    kept.map(|(_, &token)| token).collect()
}
