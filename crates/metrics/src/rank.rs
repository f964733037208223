//! Whether two vectors put the same things first: rank correlation, with ties.
//!
//! Only the order of values counts. Both measures are 1 for the same order and −1 for the opposite
//! one, and undefined for fewer than two values, for vectors of different lengths, for a vector
//! whose values are all the same, and for values without an order (NaN).

use std::cmp::Ordering;

/// Kendall's τ-b, from the pairs of places that both vectors put in the same order (concordant), in
/// opposite orders (discordant), or that one of them ties:
///
/// ```text
/// τ = (C − D) / √((N − Tx)(N − Ty))        N = n(n−1)/2 pairs, of which x ties Tx and y ties Ty
/// ```
///
/// In O(n log n): once sorted by x, the discordant pairs are the inversions of y (Knight 1966).
pub fn kendall_tau<X: PartialOrd, Y: PartialOrd>(x: &[X], y: &[Y]) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    // Ranks have a total order, and stand for the values in all that follows.
    let mut ranked: Vec<(usize, usize)> = doubled_ranks(x)?.into_iter().zip(doubled_ranks(y)?).collect();
    ranked.sort_unstable();
    let tied_both = tied_pairs(&ranked);
    let (sorted, mut other): (Vec<usize>, Vec<usize>) = ranked.into_iter().unzip();
    let discordant = sort_counting_inversions(&mut other);
    let (tied_x, tied_y) = (tied_pairs(&sorted), tied_pairs(&other));

    let pairs = pairs_of(x.len());
    // Concordant and discordant together are what neither vector ties.
    let ordered = pairs + tied_both - tied_x - tied_y;
    let norm = ((pairs - tied_x) as f64 * (pairs - tied_y) as f64).sqrt();
    quotient(ordered as f64 - 2.0 * discordant as f64, norm)
}

/// Spearman's ρ: Pearson's correlation of the ranks, where equal values share the mean of theirs.
pub fn spearman_rho<X: PartialOrd, Y: PartialOrd>(x: &[X], y: &[Y]) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    // Whatever the ties, ranks sum to n(n+1)/2; doubled, their mean is n + 1.
    let mean = x.len() as f64 + 1.0;
    let (mut both, mut square_x, mut square_y) = (0.0, 0.0, 0.0);
    for (x, y) in doubled_ranks(x)?.into_iter().zip(doubled_ranks(y)?) {
        let (x, y) = (x as f64 - mean, y as f64 - mean);
        both += x * y;
        square_x += x * x;
        square_y += y * y;
    }
    quotient(both, (square_x * square_y).sqrt())
}

/// `None` where the norm is zero, which is where a vector is constant.
fn quotient(part: f64, norm: f64) -> Option<f64> {
    (norm > 0.0).then(|| (part / norm).clamp(-1.0, 1.0))
}

/// Twice the rank of each value, so that the mean of tied ranks is whole. Ranks count from one.
fn doubled_ranks<T: PartialOrd>(values: &[T]) -> Option<Vec<usize>> {
    let ordered = |value: &T| value.partial_cmp(value).is_some();
    if !values.iter().all(ordered) {
        return None;
    }
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| values[a].partial_cmp(&values[b]).unwrap_or(Ordering::Equal));
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for tied in places.chunk_by(|&a, &b| values[a] == values[b]) {
        // Ranks before+1 to before+k, whose mean is before + (k+1)/2.
        tied.iter().for_each(|&place| ranks[place] = 2 * before + tied.len() + 1);
        before += tied.len();
    }
    Some(ranks)
}

/// Pairs of equal values among sorted ones.
fn tied_pairs<T: PartialEq>(sorted: &[T]) -> usize {
    sorted.chunk_by(|a, b| a == b).map(|tied| pairs_of(tied.len())).sum()
}

fn pairs_of(count: usize) -> usize {
    count * count.saturating_sub(1) / 2
}

/// Sorts by merging halves, and returns how many pairs stood in the wrong order.
fn sort_counting_inversions(values: &mut [usize]) -> usize {
    if values.len() < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut inversions = sort_counting_inversions(left) + sort_counting_inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if right[r] < left[l] {
            // It overtakes everything that is left of the left half.
            inversions += left.len() - l;
            merged.push(right[r]);
            r += 1;
        } else {
            merged.push(left[l]);
            l += 1;
        }
    }
    merged.extend_from_slice(&left[l..]);
    merged.extend_from_slice(&right[r..]);
    values.copy_from_slice(&merged);
    inversions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// x, y, τ-b and ρ of SciPy 1.17.1:
    ///
    /// ```text
    /// python3 -c 'import sys, json; from scipy.stats import kendalltau, spearmanr
    /// for x, y in json.load(sys.stdin): print(kendalltau(x, y).statistic, spearmanr(x, y).statistic)'
    /// ```
    ///
    /// with the pairs of vectors below, as a list, on its standard input.
    const SCIPY: &[(&[f64], &[f64], f64, f64)] = &[
        (&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0], 0.9999999999999999, 0.9999999999999999),
        (&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 4.0, 3.0, 2.0, 1.0], -0.9999999999999999, -0.9999999999999999),
        (&[12.0, 2.0, 1.0, 12.0, 2.0], &[1.0, 4.0, 7.0, 1.0, 0.0], -0.4714045207910316, -0.5407380704358752),
        (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2.0, 1.0, 4.0, 3.0, 6.0, 5.0], 0.6, 0.8285714285714287),
        (&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0], &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 0.0, 0.0),
        (&[0.0, 0.0, 0.0, 1.0], &[0.1, 0.2, 0.3, 0.05], -0.7071067811865477, -0.7745966692414834),
        (
            &[0.5, 0.25, 0.125, 0.0625, 0.0625],
            &[0.4, 0.3, 0.1, 0.1, 0.1],
            0.8819171036881969,
            0.9176629354822471,
        ),
        (
            &[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0],
            &[2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0, 2.0, 8.0, 4.0],
            0.14757295747452434,
            0.1384567651467695,
        ),
        (&[-1.5, 2.25], &[1e+300, -1e+300], -1.0, -0.9999999999999999),
    ];

    #[test]
    fn agrees_with_scipy() {
        for (x, y, tau, rho) in SCIPY {
            let found = (kendall_tau(x, y).unwrap(), spearman_rho(x, y).unwrap());
            assert!((found.0 - tau).abs() < 1e-12, "τ of {x:?} and {y:?}: {} and not {tau}", found.0);
            assert!((found.1 - rho).abs() < 1e-12, "ρ of {x:?} and {y:?}: {} and not {rho}", found.1);
        }
    }

    #[test]
    fn undefined_is_none() {
        let undefined: [(&[f64], &[f64]); 8] = [
            (&[], &[]),
            (&[1.0], &[1.0]),
            (&[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0]),
            (&[1.0, 2.0, 3.0], &[0.0, -0.0, 0.0]),
            (&[1.0, 2.0], &[1.0, 2.0, 3.0]),
            (&[1.0, 2.0, 3.0], &[1.0, 2.0]),
            (&[1.0, f64::NAN, 3.0], &[1.0, 2.0, 3.0]),
            (&[1.0, 2.0, 3.0], &[f64::NAN; 3]),
        ];
        for (x, y) in undefined {
            assert_eq!(kendall_tau(x, y), None, "τ of {x:?} and {y:?}");
            assert_eq!(spearman_rho(x, y), None, "ρ of {x:?} and {y:?}");
        }
    }

    #[test]
    fn infinite_values_and_other_types_have_an_order_too() {
        assert_eq!(kendall_tau(&[f32::NEG_INFINITY, 0.5, f32::INFINITY], &["a", "b", "c"]), Some(1.0));
        assert_eq!(spearman_rho(&[1, 2, 3], &[0.3_f32, 0.2, 0.1]), Some(-1.0));
    }

    /// τ-b by its definition, pair by pair.
    fn plain_tau(x: &[i8], y: &[i8]) -> Option<f64> {
        let (mut difference, mut untied_x, mut untied_y) = (0.0, 0.0, 0.0);
        for b in 0..x.len() {
            for a in 0..b {
                let (x, y) = (f64::from((x[a] - x[b]).signum()), f64::from((y[a] - y[b]).signum()));
                difference += x * y;
                untied_x += x.abs();
                untied_y += y.abs();
            }
        }
        (untied_x * untied_y > 0.0).then(|| difference / f64::sqrt(untied_x * untied_y))
    }

    /// ρ by its definition: the rank of a value is one more than the values below it, plus half the others
    /// that equal it.
    fn plain_rho(x: &[i8], y: &[i8]) -> Option<f64> {
        let ranks = |values: &[i8]| -> Vec<f64> {
            let rank = |v: i8| {
                let below = values.iter().filter(|&&w| w < v).count() as f64;
                let equal = values.iter().filter(|&&w| w == v).count() as f64;
                below + (equal + 1.0) / 2.0
            };
            values.iter().map(|&v| rank(v)).collect()
        };
        let (x, y) = (ranks(x), ranks(y));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let covariance = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).map(|(v, w)| (v - mean(a)) * (w - mean(b))).sum()
        };
        let norm = covariance(&x, &x) * covariance(&y, &y);
        (norm > 1e-9).then(|| covariance(&x, &y) / norm.sqrt())
    }

    fn close(a: Option<f64>, b: Option<f64>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12,
            (a, b) => a == b,
        }
    }

    proptest! {
        #[test]
        fn both_are_their_definition(pairs in prop::collection::vec((-3_i8..4, -9_i8..10), 0..40)) {
            let (x, y): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            prop_assert!(close(kendall_tau(&x, &y), plain_tau(&x, &y)));
            prop_assert!(close(spearman_rho(&x, &y), plain_rho(&x, &y)));
        }

        #[test]
        fn only_order_counts(pairs in prop::collection::vec((-50_i8..50, -5_i8..5), 2..30)) {
            let (x, y): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let stretched: Vec<f64> = x.iter().map(|&v| f64::from(v).exp()).collect();
            let opposite: Vec<i8> = x.iter().map(|v| -v).collect();
            for measure in [kendall_tau::<i8, i8>, spearman_rho::<i8, i8>] {
                let found = measure(&x, &y);
                prop_assert_eq!(found, measure(&y, &x));
                prop_assert_eq!(found.map(|value| -value), measure(&opposite, &y));
                prop_assert!(found.is_none_or(|value| (-1.0..=1.0).contains(&value)));
                let constant = x.iter().all(|v| *v == x[0]);
                prop_assert_eq!(measure(&x, &x), (!constant).then_some(1.0));
            }
            prop_assert_eq!(kendall_tau(&stretched, &y), kendall_tau(&x, &y));
            prop_assert_eq!(spearman_rho(&stretched, &y), spearman_rho(&x, &y));
        }
    }
}
