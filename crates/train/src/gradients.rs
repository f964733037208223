//! Gradients by parameter: sums over batches, and their norm.
//!
//! Of a table of token vectors a batch reads few rows. Its gradient is those rows alone, as long as nothing else has one for the
//! whole table: a table that is an output layer as well has.

use burn::module::Param;
use burn::tensor::Tensor;
use gatto_kernels::embedding::Rows;
use gatto_kernels::optimise::{self, sum_of_squares};
use gatto_model::Model;
use gatto_model::weights::{self, Visit, Weight};
use gatto_nn::Reads;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The gradient of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Gradient {
    /// All of it.
    Whole(Weight),
    /// The rows of a table of this shape that were read; all others are zero.
    Rows(Rows, [usize; 2]),
}

/// Gradients by the names of their parameters.
pub type Gradients = BTreeMap<String, Gradient>;

impl Gradient {
    /// Sizes of its dimensions.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Whole(weight) => &weight.shape,
            Self::Rows(_, shape) => shape,
        }
    }

    /// All its values, row-major.
    pub fn values(&self) -> Cow<'_, [f32]> {
        match self {
            Self::Whole(weight) => Cow::Borrowed(&weight.values),
            Self::Rows(rows, [count, width]) => Cow::Owned(rows.whole(count * width)),
        }
    }

    /// The same for an optimiser.
    pub(crate) fn as_kernel(&self) -> optimise::Gradient<'_> {
        match self {
            Self::Whole(weight) => optimise::Gradient::Whole(&weight.values),
            Self::Rows(rows, _) => optimise::Gradient::Rows(rows),
        }
    }

    /// The sum of both.
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole(mut sum), Self::Whole(more)) => {
                optimise::add(&mut sum.values, &more.values);
                Self::Whole(sum)
            }
            (Self::Rows(mut sum, shape), Self::Rows(more, _)) => {
                sum.merge(&more);
                Self::Rows(sum, shape)
            }
            (Self::Whole(mut whole), Self::Rows(rows, _)) | (Self::Rows(rows, _), Self::Whole(mut whole)) => {
                rows.add_to(&mut whole.values);
                Self::Whole(whole)
            }
        }
    }
}

struct OfPass<'a> {
    pass: &'a mut burn::tensor::Gradients,
    found: Gradients,
}

impl Visit for OfPass<'_> {
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>) {
        let Some(gradient) = param.val().grad_remove(self.pass) else { return };
        let shape = gradient.dims().to_vec();
        let values = gradient.try_into_vec_as::<f32>().unwrap_or_default();
        self.found.insert(name, Gradient::Whole(Weight { shape, values }));
    }
}

/// The gradients of a backward pass.
pub fn of_pass(model: &Model, mut pass: burn::tensor::Gradients) -> Gradients {
    let mut visitor = OfPass { pass: &mut pass, found: Gradients::new() };
    weights::visit(model, &mut visitor);
    visitor.found
}

struct OfReads<'a> {
    reads: &'a Reads,
    found: Gradients,
}

impl Visit for OfReads<'_> {
    fn visit<const D: usize>(&mut self, name: String, param: &Param<Tensor<D>>) {
        if let (Ok(shape), Some(rows)) =
            (<[usize; 2]>::try_from(&param.dims()[..]), self.reads.take(param.id))
        {
            self.found.insert(name, Gradient::Rows(rows, shape));
        }
    }
}

/// What backward passes have left of the token vectors that were read.
pub(crate) fn of_reads(model: &Model, reads: &Reads) -> Gradients {
    let mut visitor = OfReads { reads, found: Gradients::new() };
    weights::visit(model, &mut visitor);
    visitor.found
}

/// Adds gradients to a sum, by parameter.
pub(crate) fn add(sum: &mut Gradients, gradients: Gradients) {
    for (name, gradient) in gradients {
        let gradient = match sum.remove(&name) {
            Some(sum) => sum.plus(gradient),
            None => gradient,
        };
        sum.insert(name, gradient);
    }
}

/// The norm of all gradients together.
pub fn global_norm(gradients: &Gradients) -> f64 {
    let squares = gradients.values().map(|gradient| match gradient {
        Gradient::Whole(weight) => sum_of_squares(&weight.values),
        Gradient::Rows(rows, _) => sum_of_squares(rows.values()),
    });
    squares.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(values: [f32; 6]) -> Gradient {
        Gradient::Whole(Weight { shape: vec![3, 2], values: values.to_vec() })
    }

    fn rows(ids: &[u32], values: &[f32]) -> Gradient {
        let mut rows = Rows::new(2);
        rows.add(ids, values);
        Gradient::Rows(rows, [3, 2])
    }

    #[test]
    fn rows_and_whole_tables_are_one_sum() {
        let parts = [
            rows(&[2, 0], &[1.0, 2.0, 3.0, 4.0]),
            whole([0.5, 0.0, 0.25, 0.0, 0.0, 8.0]),
            rows(&[0], &[10.0, 20.0]),
        ];
        let expected = [13.5, 24.0, 0.25, 0.0, 1.0, 10.0];
        for order in [[0, 1, 2], [1, 0, 2], [0, 2, 1]] {
            let mut sum = Gradients::new();
            for part in order {
                add(&mut sum, [("table".to_owned(), parts[part].clone())].into());
            }
            assert_eq!(sum["table"].shape(), [3, 2]);
            assert_eq!(*sum["table"].values(), expected, "{order:?}");
            let norm = expected.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
            assert!((global_norm(&sum) - norm).abs() < 1e-12);
        }
        let read = rows(&[1, 1], &[3.0, 0.0, 0.0, 4.0]);
        assert_eq!(global_norm(&[("table".to_owned(), read)].into()), 5.0, "what was read twice is one row");
    }
}
