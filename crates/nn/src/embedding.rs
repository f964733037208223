//! A vector for every token.

use crate::flex::{Gradient, Operand, Values, operation};
use crate::{Initial, Preparing};
use burn::module::{Module, Param, ParamId};
use burn::tensor::{Int, Shape, Tensor};
use gatto_kernels::embedding::{self as kernel, Rows};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A table of token vectors, [V, C].
#[derive(Module, Debug)]
pub struct Embedding {
    /// One row per token.
    pub weight: Param<Tensor<2>>,
    /// Where the gradients of what is read go, if not into one of the whole table.
    #[module(skip)]
    reads: Option<Reads>,
    /// The table as plain values, once it is ready.
    #[module(skip)]
    ready: Option<Values>,
}

impl Embedding {
    /// A table for `vocabulary` tokens, each number drawn with this standard deviation. At 1, tokens
    /// are far apart from the start, which recurrent layers learn from fastest; a table that is an
    /// output layer as well wants 1 / √width, or its scores start too large.
    pub fn new(vocabulary: usize, width: usize, deviation: f64, initial: &mut Initial) -> Self {
        Self { weight: initial.normal([vocabulary, width], deviation), reads: None, ready: None }
    }

    /// Leaves the gradients of what is read from now on in `reads`, and not in one of the whole table. Where the table does not
    /// live on the CPU, that changes nothing.
    pub fn note(&mut self, reads: &Reads) {
        self.reads = Some(reads.clone());
    }

    /// Makes the table ready for prediction.
    pub fn prepare(&mut self, how: Preparing<'_>) {
        self.ready = how.values(&self.weight);
    }

    /// The vectors of tokens as plain rows, in place of what is in a list; whether the table is ready for it.
    pub fn read(&self, tokens: &[u32], to: &mut Vec<f32>) -> bool {
        let Some(table) = &self.ready else { return false };
        to.clear();
        kernel::read(table.slice(), self.width(), tokens, to);
        true
    }

    /// The vectors of `tokens` [B, T], as [B, T, C].
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        match self.fused(&tokens) {
            Some(vectors) => vectors,
            None => embedding_plain(self.weight.val(), tokens),
        }
    }

    fn fused(&self, tokens: &Tensor<2, Int>) -> Option<Tensor<3>> {
        let weight = Operand::of(&self.weight.val())?;
        let ([vocabulary, width], [batch, time]) = (self.weight.dims(), tokens.dims());
        let ids = tokens.clone().try_into_vec_as::<u32>().ok()?;
        let vectors = kernel::forward(weight.values.slice(), width, &ids);
        let reads = self.reads.clone().map(|reads| (reads, self.weight.id));
        Some(operation([weight], vectors, [batch, time, width], || Kept { ids, vocabulary, width, reads }))
    }

    /// Width of a vector, C.
    pub fn width(&self) -> usize {
        self.weight.dims()[1]
    }
}

/// Rows of a table [V, C] in plain tensor operations: those of `tokens` [B, T], as [B, T, C].
pub fn embedding_plain(weight: Tensor<2>, tokens: Tensor<2, Int>) -> Tensor<3> {
    burn::tensor::module::embedding(weight, tokens)
}

/// The gradients of rows that were read, by table: what backward passes leave here grows until it is taken.
#[derive(Clone, Debug, Default)]
pub struct Reads(Arc<Mutex<HashMap<ParamId, Rows>>>);

impl Reads {
    /// Takes what was left for a table.
    pub fn take(&self, table: ParamId) -> Option<Rows> {
        self.locked().remove(&table)
    }

    /// The lock, also where a panic, which ends the whole anyway, has left it.
    fn locked(&self) -> MutexGuard<'_, HashMap<ParamId, Rows>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the backward pass reads again.
#[derive(Clone, Debug)]
struct Kept {
    ids: Vec<u32>,
    vocabulary: usize,
    width: usize,
    reads: Option<(Reads, ParamId)>,
}

impl Gradient<1> for Kept {
    fn gradients(&self, output: &[f32]) -> [Option<(Vec<f32>, Shape)>; 1] {
        if let Some((reads, table)) = &self.reads {
            reads.locked().entry(*table).or_insert_with(|| Rows::new(self.width)).add(&self.ids, output);
            return [None];
        }
        let mut rows = Rows::new(self.width);
        rows.add(&self.ids, output);
        [Some((rows.whole(self.vocabulary * self.width), Shape::new([self.vocabulary, self.width])))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Precision;
    use crate::prepared::{Matrix, Supply};
    use burn::tensor::Device;

    struct Nothing;

    impl Supply for Nothing {
        fn supply(&self, _: ParamId, _: &mut dyn FnMut(Matrix<'_>)) {}
    }

    #[test]
    fn a_table_without_values_is_not_made_ready() {
        let device = Device::flex();
        let [mut blank, mut drawn] = [Initial::blank(&device), Initial::new(1, &device)]
            .map(|mut initial| Embedding::new(7, 3, 1.0, &mut initial));
        blank.prepare(Preparing::trial(&Nothing));
        drawn.prepare(Precision::Float.into());
        let mut vectors = Vec::new();
        assert!(!blank.read(&[2], &mut vectors) && vectors.is_empty());
        assert!(drawn.read(&[2], &mut vectors) && vectors.len() == 3);
    }

    #[test]
    fn what_is_read_and_its_gradient_are_those_of_the_plain_form() {
        let device = Device::flex().autodiff();
        let mut table = Embedding::new(7, 3, 1.0, &mut Initial::new(5, &device));
        let tokens = Tensor::<2, Int>::from_data([[6, 0, 6], [2, 6, 0]], &device);
        let seed = Tensor::<3>::from_data(
            [
                [[1.0, 2.0, 3.0], [0.5, 0.0, -1.0], [4.0, 4.0, 4.0]],
                [[0.0, 7.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]],
            ],
            &device,
        );
        let gradient = |table: &Embedding, vectors: Tensor<3>| {
            let mut pass = (vectors * seed.clone()).sum().backward();
            table.weight.val().grad_remove(&mut pass).map(|found| found.try_into_vec_as::<f32>().unwrap())
        };
        let plain = embedding_plain(table.weight.val(), tokens.clone());
        let fused = table.forward(tokens.clone());
        assert_eq!(
            plain.clone().try_into_vec_as::<f32>().unwrap(),
            fused.clone().try_into_vec_as::<f32>().unwrap()
        );
        let expected = gradient(&table, plain).unwrap();
        assert_eq!(gradient(&table, fused).unwrap(), expected);

        let reads = Reads::default();
        table.note(&reads);
        assert_eq!(gradient(&table, table.forward(tokens.clone())), None, "the table as a whole has none");
        assert_eq!(gradient(&table, table.forward(tokens)), None);
        let rows = reads.take(table.weight.id).unwrap();
        assert!(rows.from(0).map(|(id, _)| id).eq([0, 2, 6]), "only what was read");
        let twice: Vec<f32> = expected.iter().map(|value| 2.0 * value).collect();
        assert_eq!(rows.whole(21), twice, "two passes are one sum");
        assert!(reads.take(table.weight.id).is_none(), "what was taken is gone");
    }
}
