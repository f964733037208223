//! Scaled dot-product attention with padding and dropout: `cargo bench -p gatto-kernels --bench attention`.

mod beside;

use beside::{Beside, values};
use gatto_kernels::attention::{Args, Attended, Gradients, Shape, backward, forward, forward_steady};
use gatto_kernels::batched;
use gatto_kernels::dropout::{Dropout, keep_mask};

/// `[B, first, second, D]` → `[B, second, first, D]`.
fn swapped(x: &[f32], [first, second, width]: [usize; 3]) -> Vec<f32> {
    let mut y = vec![0.0; x.len()];
    let sentence = first * second * width;
    for (y, x) in y.chunks_exact_mut(sentence).zip(x.chunks_exact(sentence)) {
        for at in 0..first * second {
            let (i, j) = (at / second, at % second);
            y[(j * first + i) * width..][..width].copy_from_slice(&x[at * width..][..width]);
        }
    }
    y
}

/// `[B, count, H·D]` → `[B, H, count, D]`.
fn split(shape: Shape, count: usize, x: &[f32]) -> Vec<f32> {
    swapped(x, [count, shape.heads, shape.width])
}

/// `[B, H, count, D]` → `[B, count, H·D]`.
fn joined(shape: Shape, count: usize, x: &[f32]) -> Vec<f32> {
    swapped(x, [shape.heads, count, shape.width])
}

/// Queries times keys, `[B·H, T, D] · [B·H, S, D]ᵀ`.
fn scores(shape: Shape) -> batched::Shape {
    let Shape { batch, heads, queries, keys, width } = shape;
    batched::Shape { batch: batch * heads, rows: queries, inner: width, columns: keys, transposed: true }
}

/// Weights times values, `[B·H, T, S] · [B·H, S, D]`.
fn contexts(shape: Shape) -> batched::Shape {
    let Shape { batch, heads, queries, keys, width } = shape;
    batched::Shape { batch: batch * heads, rows: queries, inner: keys, columns: width, transposed: false }
}

/// `f` of every value and of what belongs to its row.
fn by_rows(x: &[f32], of_rows: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let mut y = x.to_vec();
    for (row, &of_row) in y.chunks_exact_mut(x.len() / of_rows.len()).zip(of_rows) {
        row.iter_mut().for_each(|x| *x = f(*x, of_row));
    }
    y
}

/// What is added to the scores, `[B, H, T, S]`: −∞ where a query does not see a key.
fn hidden(args: &Args<'_>) -> Vec<f32> {
    let Shape { batch, heads, queries, keys, .. } = args.shape;
    let of = |at: usize| {
        let (b, t, s) = (at / keys / queries / heads, at / keys % queries, at % keys);
        let exists = args.mask.is_none_or(|mask| mask[b * keys + s] != 0.0);
        let seen = exists && args.causal.is_none_or(|first| s <= first + t);
        if seen { 0.0 } else { f32::NEG_INFINITY }
    };
    (0..batch * heads * queries * keys).map(of).collect()
}

fn softmax(scores: &[f32], width: usize) -> Vec<f32> {
    let rows = scores.chunks_exact(width);
    let largest: Vec<f32> = rows.map(|row| row.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b))).collect();
    let shifted = by_rows(scores, &largest, |x, most| x - most);
    let exponentials: Vec<f32> = shifted.iter().map(|x| x.exp()).collect();
    let sums: Vec<f32> = exponentials.chunks_exact(width).map(|row| row.iter().sum()).collect();
    by_rows(&exponentials, &sums, |x, sum| x / sum)
}

fn times(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// What the backward pass reads, by heads.
struct Kept {
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    weights: Vec<f32>,
    factors: Option<Vec<f32>>,
    dropped: Vec<f32>,
}

/// `hidden` is made once for a batch, and not timed.
fn plain(args: &Args<'_>, hidden: &[f32]) -> (Vec<f32>, Kept) {
    let shape = args.shape;
    let (q, k, v) = (
        split(shape, shape.queries, args.q),
        split(shape, shape.keys, args.k),
        split(shape, shape.keys, args.v),
    );
    let products = batched::forward(scores(shape), &q, &k);
    let scaled: Vec<f32> = products.iter().map(|x| x * args.scale).collect();
    let seen: Vec<f32> = scaled.iter().zip(hidden).map(|(x, hidden)| x + hidden).collect();
    let weights = softmax(&seen, shape.keys);
    let factors = args.dropout.map(|Dropout { key, offset, rate }| {
        let mut factors = vec![0.0; weights.len()];
        keep_mask(key, offset, rate, &mut factors);
        factors
    });
    let dropped = factors.as_ref().map_or_else(|| weights.clone(), |factors| times(&weights, factors));
    let context = joined(shape, shape.queries, &batched::forward(contexts(shape), &dropped, &v));
    (context, Kept { q, k, v, weights, factors, dropped })
}

fn plain_backward(args: &Args<'_>, kept: &Kept, context: &[f32]) -> [Vec<f32>; 3] {
    let (shape, keys) = (args.shape, args.shape.keys);
    let gradient = split(shape, shape.queries, context);
    let (of_dropped, v) = batched::backward(contexts(shape), &kept.dropped, &kept.v, &gradient);
    let of_weights =
        kept.factors.as_ref().map_or_else(|| of_dropped.clone(), |factors| times(&of_dropped, factors));
    let products = times(&of_weights, &kept.weights);
    let sums: Vec<f32> = products.chunks_exact(keys).map(|row| row.iter().sum()).collect();
    let centred = by_rows(&of_weights, &sums, |g, sum| g - sum);
    let of_scores: Vec<f32> = times(&centred, &kept.weights).iter().map(|g| g * args.scale).collect();
    let (q, k) = batched::backward(scores(shape), &kept.q, &kept.k, &of_scores);
    [joined(shape, shape.queries, &q), joined(shape, keys, &k), joined(shape, keys, &v)]
}

fn main() {
    let mut table = Beside::new("attention");
    // Sentences, heads, queries, keys, whether the future is hidden; the last are steps of a search.
    for (work, batch, heads, queries, keys, causal) in [
        ("W1", 64, 4, 24, 24, false),
        ("W1r", 25, 4, 60, 60, true),
        ("W3, a step", 160, 4, 1, 30, false),
        ("W3b, a step", 160, 8, 1, 30, false),
    ] {
        let shape = Shape { batch, heads, queries, keys, width: 64 };
        let of = |count: usize, seed: u32| values(batch * count * heads * 64, seed);
        let (q, k, v, gradient) = (of(queries, 1), of(keys, 2), of(keys, 3), of(queries, 4));
        // The last third of every other sentence is padding.
        let mask: Vec<f32> =
            (0..batch * keys).map(|at| f32::from(at / keys % 2 == 0 || at % keys < 2 * keys / 3)).collect();
        let learning = queries > 1;
        let args = Args {
            shape,
            q: &q,
            k: &k,
            v: &v,
            scale: 0.125,
            mask: Some(&mask),
            causal: causal.then_some(0),
            bias: None,
            dropout: learning.then_some(Dropout { key: 1, offset: 0, rate: 0.1 }),
        };
        let hidden = hidden(&args);
        let size = format!("{work}, {batch} × {heads} × {queries} × {keys} × 64");
        if !learning {
            table.compare(&size, || [plain(&args, &hidden).0], || [forward_steady(&args).context]);
            continue;
        }
        table.compare(&size, || [plain(&args, &hidden).0], || [forward(&args).context]);
        let (_, kept) = plain(&args, &hidden);
        let Attended { weights, .. } = forward(&args);
        table.compare(
            &format!("{size}, backward"),
            || plain_backward(&args, &kept, &gradient),
            || {
                let Gradients { q, k, v, .. } = backward(&args, &weights, &gradient);
                [q, k, v]
            },
        );
    }
    table.finish();
}
