//! What a Vision Transformer saw of an image, from the weights of its own layers.

use gatto_model::{ImageTrace, Matrix};

/// Attention rollout (Abnar & Zuidema, 2020): what goes from every token of the first layer to every token of
/// the last, if a layer passes on what its heads look at and, by its residual connection, as much of what
/// stands there already. With A the mean over a layer's heads and à = ½ A + ½ I with rows that sum to 1,
///
/// ```text
/// R = Ã_L · Ã_{L-1} · … · Ã_1
/// ```
///
/// `layers` are the weights of every head of every layer, the first layer first, all of one square size;
/// without a layer there is nothing.
pub fn rollout_layers(layers: &[Vec<Matrix>]) -> Matrix {
    let mut passed: Option<Matrix> = None;
    for heads in layers {
        let layer = with_residual(&mean(heads));
        passed = Some(match passed {
            None => layer,
            Some(before) => product(&layer, &before),
        });
    }
    passed.unwrap_or_default()
}

/// [`rollout_layers`] for the whole image, a weight per patch that sum to 1: the row of the class token or,
/// without one, the mean over all patches. Empty for what is no Vision Transformer.
pub fn rollout(trace: &ImageTrace) -> Vec<f32> {
    let mut row = over_patches(&rollout_layers(&trace.layers), trace.class_token);
    let sum: f32 = row.iter().sum();
    if sum > 0.0 {
        row.iter_mut().for_each(|weight| *weight /= sum);
    }
    row
}

/// What every head of every layer saw for the whole image: the weights of the class token over the patches,
/// which sum to 1 with that of the class token itself; without one, the mean over all patches.
pub fn class_maps(trace: &ImageTrace) -> Vec<Vec<Vec<f32>>> {
    let of_layer =
        |heads: &Vec<Matrix>| heads.iter().map(|head| over_patches(head, trace.class_token)).collect();
    trace.layers.iter().map(of_layer).collect()
}

fn over_patches(weights: &Matrix, class_token: bool) -> Vec<f32> {
    match (class_token, weights.first()) {
        (true, Some(row)) => row.get(1..).unwrap_or_default().to_vec(),
        (false, Some(row)) => {
            let column = |at: usize| weights.iter().map(|row| row[at]).sum::<f32>() / weights.len() as f32;
            (0..row.len()).map(column).collect()
        }
        (_, None) => Vec::new(),
    }
}

fn mean(heads: &[Matrix]) -> Matrix {
    let mut sum = heads.first().cloned().unwrap_or_default();
    for head in heads.iter().skip(1) {
        for (sum, row) in sum.iter_mut().zip(head) {
            sum.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
        }
    }
    sum.iter_mut().flatten().for_each(|weight| *weight /= heads.len() as f32);
    sum
}

fn with_residual(weights: &Matrix) -> Matrix {
    let row = |(at, row): (usize, &Vec<f32>)| {
        let mut row: Vec<f32> = row.iter().map(|weight| 0.5 * weight).collect();
        if let Some(own) = row.get_mut(at) {
            *own += 0.5;
        }
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|weight| *weight /= sum);
        row
    };
    weights.iter().enumerate().map(row).collect()
}

fn product(left: &Matrix, right: &Matrix) -> Matrix {
    let row = |weights: &Vec<f32>| {
        let mut sums = vec![0.0; right.first().map_or(0, Vec::len)];
        for (weight, right) in weights.iter().zip(right) {
            sums.iter_mut().zip(right).for_each(|(sum, value)| *sum += weight * value);
        }
        sums
    };
    left.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatto_data::images::Grid;
    use proptest::prelude::*;

    fn close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        }
    }

    /// Two layers over two tokens: one of two heads, and one of one.
    fn layers() -> Vec<Vec<Matrix>> {
        let first = vec![vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![vec![0.2, 0.8], vec![0.6, 0.4]]];
        let second = vec![vec![vec![0.0, 1.0], vec![0.5, 0.5]]];
        vec![first, second]
    }

    #[test]
    fn layers_are_rolled_out_from_the_first_to_the_last() {
        // Means over heads 0.6 0.4 / 0.3 0.7; with the residual 0.8 0.2 / 0.15 0.85 and 0.5 0.5 / 0.25 0.75.
        let found = rollout_layers(&layers());
        close(&found[0], &[0.5 * 0.8 + 0.5 * 0.15, 0.5 * 0.2 + 0.5 * 0.85]);
        close(&found[1], &[0.25 * 0.8 + 0.75 * 0.15, 0.25 * 0.2 + 0.75 * 0.85]);
        assert_eq!(rollout_layers(&[]), Matrix::new());
    }

    #[test]
    fn the_class_token_looks_at_patches() {
        let trace = |class_token| ImageTrace {
            grid: Grid { rows: 1, columns: if class_token { 1 } else { 2 } },
            target: Vec::new(),
            log_probabilities: Vec::new(),
            choices: Vec::new(),
            weights: None,
            layers: layers(),
            class_token,
        };
        assert_eq!(class_maps(&trace(true)), [vec![vec![0.0], vec![0.8]], vec![vec![1.0]]]);
        let means = class_maps(&trace(false));
        close(&means[0][1], &[0.4, 0.6]);
        close(&means[1][0], &[0.25, 0.75]);
        close(&rollout(&trace(true)), &[1.0]);
        close(&rollout(&trace(false)), &[(0.475 + 0.3125) / 2.0, (0.525 + 0.6875) / 2.0]);
        assert!(rollout(&ImageTrace { layers: Vec::new(), ..trace(true) }).is_empty());
    }

    proptest! {
        #[test]
        fn rows_sum_to_one(weights in prop::collection::vec(0.01f32..1.0, 3 * 2 * 16)) {
            let layers: Vec<Vec<Matrix>> = weights
                .chunks(2 * 16)
                .map(|heads| heads.chunks(16).map(|head| {
                    head.chunks(4).map(|row| {
                        let sum: f32 = row.iter().sum();
                        row.iter().map(|weight| weight / sum).collect()
                    }).collect()
                }).collect())
                .collect();
            for row in rollout_layers(&layers) {
                prop_assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                prop_assert!(row.iter().all(|weight| *weight > 0.0));
            }
        }
    }
}
