//! A matrix of weights made ready once for many products at prediction: as it is, or in eight bits.
//!
//! Either way a row of a product is what it would be alone, whatever stands beside it and however many threads there
//! are.

use crate::ending::Ending;
use crate::packed::{ACROSS, Panels, lanes};
use crate::parts::{Grain, Parts, in_parts, in_parts_of};
use crate::product::{View, ViewMut};
use crate::quantised::{self, Quantised};
use std::ops::Range;

/// A matrix `[I, O]` that is ready to be multiplied by rows.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// In panels, as the registers of this machine read it.
    Floats(Packed),
    /// In eight bits.
    Bytes(Quantised),
}

/// A matrix in panels.
#[derive(Clone, Debug)]
pub struct Packed(pub(crate) Panels);

impl Prepared {
    /// The weights `[I, O]`, or `[O, I]` if `transposed`, as they are.
    ///
    /// # Panics
    /// If their number is another.
    pub fn floats(weight: &[f32], input: usize, output: usize, transposed: bool) -> Self {
        assert_eq!(weight.len(), input * output, "prepared: the weight is not [{input}, {output}]");
        let view = match transposed {
            true => View::new(weight, output, input).transposed(),
            false => View::new(weight, input, output),
        };
        Self::Floats(Packed(Panels::new(view, ACROSS * lanes())))
    }

    /// The same in eight bits.
    ///
    /// # Panics
    /// As [`Prepared::floats`].
    pub fn bytes(weight: &[f32], input: usize, output: usize, transposed: bool) -> Self {
        Self::Bytes(Quantised::new(weight, input, output, transposed))
    }

    /// A matrix that is in eight bits already, as [`crate::quantised::quantise`] leaves it.
    ///
    /// # Panics
    /// If the number of values is not that of `input` rows with a scale for each column.
    pub fn of_bytes(values: &[i8], scales: &[f32], input: usize) -> Self {
        Self::Bytes(Quantised::of_rows(values, scales, input))
    }

    /// I and O.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Floats(Packed(panels)) => panels.shape(),
            Self::Bytes(weight) => weight.shape(),
        }
    }

    /// Some columns of the matrix, in this order, ready like the whole: each sum that they give is, to the bit, that of
    /// the same column of the whole.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn columns(&self, ids: &[u32]) -> Self {
        match self {
            Self::Floats(Packed(panels)) => Self::Floats(Packed(panels.gathered(ids))),
            Self::Bytes(weight) => Self::Bytes(weight.gathered(ids)),
        }
    }

    /// x W + b for rows of I numbers, or x W without a bias.
    ///
    /// # Panics
    /// If lengths do not fit.
    pub fn forward(&self, x: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
        let (input, output) = self.shape();
        let rows = Rows::new(x, input, matches!(self, Self::Bytes(_)));
        assert!(bias.is_none_or(|bias| bias.len() == output), "prepared: the bias is not [{output}]");
        let part = |inside: Range<usize>, columns: Range<usize>, to: ViewMut<'_>| {
            self.part(&rows, inside, columns, Ending::bias(bias), to);
        };
        // SAFETY: with an ending that does not add, a part writes all of its place and reads nothing of it.
        #[allow(unsafe_code, reason = "what is overwritten at once is not zeroed before")]
        unsafe {
            in_parts([rows.count, input, output], self.grain(), part)
        }
    }

    /// What parts of a product are made of: columns that are computed together.
    fn grain(&self) -> Grain {
        match self {
            Self::Floats(Packed(panels)) => Grain { align: panels.width(), bytes: size_of::<f32>() },
            Self::Bytes(_) => Quantised::GRAIN,
        }
    }

    /// Some rows and columns of a product, on the calling thread.
    fn part(
        &self,
        x: &Rows<'_>,
        inside: Range<usize>,
        columns: Range<usize>,
        ending: Ending<'_>,
        to: ViewMut<'_>,
    ) {
        match (self, &x.bytes) {
            (Self::Floats(Packed(panels)), _) => {
                panels.multiply_columns(columns, to, x.floats.rows(inside.start, inside.len()), ending);
            }
            (Self::Bytes(weight), Some(bytes)) => weight.multiply(bytes, inside, columns, ending, to),
            (Self::Bytes(_), None) => unreachable!("rows are in bytes where weights are"),
        }
    }

    /// `to += a · W`, or `to = a · W`, on the calling thread.
    pub(crate) fn multiply(&self, to: ViewMut<'_>, a: View<'_>, add: bool) {
        match self {
            Self::Floats(Packed(panels)) => panels.multiply(to, a, add),
            Self::Bytes(weight) => {
                let values: Vec<f32> = (0..to.rows).flat_map(|row| a.row(row)).copied().collect();
                let (rows, ending) =
                    (quantised::Rows::new(&values, a.shape().1), Ending { add, ..Ending::default() });
                weight.multiply(&rows, 0..to.rows, 0..to.columns, ending, to);
            }
        }
    }
}

/// A product with weights that are ready, and where it goes.
#[derive(Debug)]
pub struct Map<'a> {
    /// `[I, O]`.
    pub weight: &'a Prepared,
    /// What becomes of the sums.
    pub ending: Ending<'a>,
    /// `[N, O]`.
    pub to: &'a mut [f32],
}

/// Products of the same rows `x` `[N, I]`, each with weights of its own, side by side.
///
/// # Panics
/// If lengths do not fit.
pub fn forward_all<const N: usize>(x: &[f32], maps: [Map<'_>; N]) {
    let Some(input) = maps.first().map(|map| map.weight.shape().0) else { return };
    let rows = Rows::new(x, input, maps.iter().any(|map| matches!(map.weight, Prepared::Bytes(_))));
    let parts = maps.map(|Map { weight, ending, to }| {
        let (own, output) = weight.shape();
        assert_eq!((own, to.len()), (input, rows.count * output), "prepared: not all maps fit the rows");
        assert!(ending.bias.is_none_or(|bias| bias.len() == output), "prepared: the bias is not [{output}]");
        Parts::new(to, [rows.count, input, output], weight.grain(), (weight, ending))
    });
    in_parts_of(parts, |(weight, ending), inside, columns, to| {
        weight.part(&rows, inside, columns, *ending, to)
    });
}

/// Rows that are multiplied, in the forms that weights ask for.
struct Rows<'a> {
    count: usize,
    floats: View<'a>,
    bytes: Option<quantised::Rows>,
}

impl<'a> Rows<'a> {
    fn new(x: &'a [f32], input: usize, bytes: bool) -> Self {
        let count = x.len() / input.max(1);
        assert_eq!(x.len(), count * input, "prepared: x is not of rows of {input}");
        let floats = View::new(x, count, input);
        Self { count, floats, bytes: bytes.then(|| quantised::Rows::new(x, input)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::samples::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_mapped_in_either_form(
            rows in 0usize..40, input in 1usize..70, output in 1usize..150, transposed: bool, biased: bool, seed: u32,
        ) {
            let (x, weight) = (values(rows * input, seed), values(input * output, seed ^ 1));
            let bias = values(output, seed ^ 2);
            let bias = biased.then_some(&bias[..]);
            let at = |i: usize, o: usize| if transposed { o * input + i } else { i * output + o };
            let floats = Prepared::floats(&weight, input, output, transposed);
            let bytes = Prepared::bytes(&weight, input, output, transposed);
            prop_assert_eq!((floats.shape(), bytes.shape()), ((input, output), (input, output)));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
            for (prepared, allowed) in [(&floats, 1e-4), (&bytes, input as f64 / 100.0)] {
                let y = prepared.forward(&x, bias);
                for (n, y) in y.iter().enumerate() {
                    let (row, o) = (n / output, n % output);
                    let term = |i: usize| f64::from(x[row * input + i]) * f64::from(weight[at(i, o)]);
                    let exact = (0..input).map(term).sum::<f64>() + bias.map_or(0.0, |bias| f64::from(bias[o]));
                    prop_assert!((f64::from(*y) - exact).abs() < allowed, "{} and not {}", y, exact);
                }
                prop_assert_eq!(&pool.install(|| prepared.forward(&x, bias)), &y);
                let alone: Vec<f32> = x.chunks_exact(input).flat_map(|row| prepared.forward(row, bias)).collect();
                prop_assert_eq!(&alone, &y);
                let mut sums = vec![1.0; rows * (output + 3)];
                if rows > 0 {
                    let to = ViewMut::strided(&mut sums, rows, output, output + 3);
                    prepared.multiply(to, View::new(&x, rows, input), true);
                }
                let mut ended = [vec![0.5; rows * output], vec![0.5; rows * output]];
                let [first, second] = &mut ended;
                let relu = Ending { bias, activation: Some(Activation::Relu), add: false };
                let added = Ending { bias, activation: None, add: true };
                pool.install(|| forward_all(&x, [
                    Map { weight: prepared, ending: relu, to: first },
                    Map { weight: prepared, ending: added, to: second },
                ]));
                prop_assert_eq!(&ended[0], &y.iter().map(|y| y.max(0.0)).collect::<Vec<_>>());
                prop_assert_eq!(&ended[1], &y.iter().map(|y| 0.5 + y).collect::<Vec<_>>());
                let plain = prepared.forward(&x, None);
                for (sums, plain) in sums.chunks_exact(output + 3).zip(plain.chunks_exact(output)) {
                    let added: Vec<f32> = plain.iter().map(|y| 1.0 + y).collect();
                    prop_assert_eq!(&sums[..output], &added);
                    prop_assert_eq!(&sums[output..], &[1.0; 3]);
                }
            }
        }

        #[test]
        fn some_columns_give_what_they_give_among_all(
            rows in 0usize..20, input in 1usize..70, output in 1usize..300, transposed: bool, biased: bool,
            chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..200), seed: u32,
        ) {
            let (x, weight) = (values(rows * input, seed), values(input * output, seed ^ 1));
            let bias = values(output, seed ^ 2);
            let ids: Vec<u32> = chosen.iter().map(|id| id.index(output) as u32).collect();
            let of_these = |row: &[f32]| ids.iter().map(|&id| row[id as usize]).collect::<Vec<f32>>();
            let few = of_these(&bias);
            for prepared in
                [Prepared::floats(&weight, input, output, transposed), Prepared::bytes(&weight, input, output, transposed)]
            {
                let gathered = prepared.columns(&ids);
                prop_assert_eq!(gathered.shape(), (input, ids.len()));
                let whole = prepared.forward(&x, biased.then_some(&bias));
                let expected: Vec<f32> = whole.chunks_exact(output).flat_map(of_these).collect();
                let found = gathered.forward(&x, biased.then_some(&few));
                let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&found), bits(&expected));
                // What was taken can be taken from again.
                let first: Vec<u32> = (0..ids.len() as u32).rev().collect();
                let again = gathered.columns(&first).forward(&x, None);
                let plain = gathered.forward(&x, None);
                let turned = plain.chunks_exact(ids.len().max(1)).flat_map(|row| row.iter().rev().copied());
                prop_assert_eq!(bits(&again), bits(&turned.collect::<Vec<_>>()));
            }
        }
    }

    /// One row and two, which are split by columns alone, and columns that do not come out even.
    #[test]
    fn threads_share_what_is_large_and_change_nothing() {
        let (input, output) = (1100, 701);
        let (x, weight, bias) = (values(2 * input, 1), values(input * output, 2), values(output, 3));
        for prepared in
            [Prepared::floats(&weight, input, output, false), Prepared::bytes(&weight, input, output, false)]
        {
            for rows in [1, 2] {
                let ended = |threads: usize, activation: Option<Activation>, add: bool| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                    let mut to = values(rows * output, 4);
                    let ending = Ending { bias: Some(&bias), activation, add };
                    let x = &x[..rows * input];
                    pool.install(|| forward_all(x, [Map { weight: &prepared, ending, to: &mut to }]));
                    to.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                for (activation, add) in [(None, false), (Some(Activation::Gelu), true)] {
                    let alone = ended(1, activation, add);
                    for threads in [2, 3] {
                        assert_eq!(ended(threads, activation, add), alone, "{rows} rows, {threads} threads");
                    }
                }
            }
        }
    }

    #[test]
    fn a_column_that_is_not_there_is_not_given() {
        let weight = values(6, 3);
        for prepared in [Prepared::floats(&weight, 2, 3, false), Prepared::bytes(&weight, 2, 3, false)] {
            assert_eq!(prepared.columns(&[]).shape(), (2, 0));
            assert!(std::panic::catch_unwind(|| prepared.columns(&[0, 3])).is_err());
        }
    }
}
