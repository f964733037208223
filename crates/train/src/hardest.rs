//! Learning from the examples that a model knows least (Shrivastava et al., 2016; Kawaguchi & Lu, 2020).
//!
//! Late in a training most examples are known by heart, and say nothing. To find that out costs a pass without gradients, and
//! what is left is learnt from. The pass is made with weights in eight bits: losses are only compared.

use crate::learning::{Lesson, cut};
use crate::validation::Tally;
use burn::module::Module;
use gatto_data::Batch;
use gatto_kernels::crew::Crew;
use gatto_model::Model;
use gatto_nn::Precision;

impl Lesson<'_> {
    /// Of each batch a share of its examples, those with the largest loss over all their answers, in their order and one at
    /// least.
    pub(crate) fn hardest(&self, model: &Model, batches: &[Batch], share: f64, crew: &Crew) -> Vec<Batch> {
        let mut plain = model.valid();
        plain.prepare(Precision::Int8);
        let parts: Vec<Batch> = batches.iter().flat_map(|batch| cut(batch, batches.len(), crew)).collect();
        let tallies = crew.each(parts, |part| Tally::of(&plain, self.task, &part, &self.ask(&plain, &part)));
        let mut losses = tallies.into_iter().flatten().map(|tally| tally.loss);
        let of_batch = |batch: &Batch| {
            let mut examples: Vec<(usize, f64)> = (0..batch.rows()).zip(losses.by_ref()).collect();
            // Of examples with the same loss, the first.
            examples.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            // A little less, as a share that is a whole number of examples may come out above it.
            let count = (share * batch.rows() as f64 - 1e-9).ceil() as usize;
            let mut hardest: Vec<usize> =
                examples.into_iter().map(|(row, _)| row).take(count.max(1)).collect();
            hardest.sort_unstable();
            batch.select(&hardest)
        };
        batches.iter().map(of_batch).collect()
    }
}
